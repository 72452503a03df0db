//! The command `webhooks`: lists the receivers that alerts are sent to, and tests one.

use std::io::{self, Write};

use mesonet_service::webhooks::{Webhook, WebhookConfig, WebhookStatus};

use super::Outcome;
use super::deliveries::DeliveryCommand;

/// Lists or tests the webhooks of a configuration file.
///
/// # Errors
/// A flag or a setting is invalid, or a webhook is unknown.
pub fn webhooks(command: &DeliveryCommand) -> Outcome {
    command.run(
        "webhooks",
        |config| {
            let webhooks = Webhook::open_all(&config.webhooks, Some(&config.data))?;
            Ok(webhooks.iter().map(Webhook::status).collect())
        },
        line,
        |config, name| config.webhooks.iter().find(|webhook| webhook.name == name).map(test),
    )
}

fn line(webhook: &WebhookStatus) -> String {
    let WebhookStatus { name, origin, delivered, delivered_at, left_out, .. } = webhook;
    let last = delivered_at.map_or_else(String::new, |at| format!(", the last one {at}"));
    let left = match left_out.len() {
        0 => String::new(),
        left_out => format!(", {left_out} left out"),
    };
    format!("{name}  {origin}: {delivered} delivered{last}{left}")
}

fn test(config: &WebhookConfig) -> Outcome {
    let attempt = Webhook::open(config, None)?.test();
    let answer = match (&attempt.error, attempt.status) {
        (Some(error), _) => error.clone(),
        (None, status) => format!("status {}", status.unwrap_or_default()),
    };
    writeln!(io::stdout(), "{}: {answer} after {} ms", config.name, attempt.took_ms)?;
    Ok(attempt.is_delivered)
}
