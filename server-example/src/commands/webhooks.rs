//! The command `webhooks`: lists where alerts are sent, and tests one.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use mesonet_server::RecordFlags;
use mesonet_service::webhooks::{Webhook, WebhookStatus};

use super::{Outcome, load, print};

/// The flags of `webhooks`.
#[derive(Clone, Debug, Args)]
pub struct WebhooksFlags {
    #[command(subcommand)]
    command: WebhooksCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum WebhooksCommand {
    /// List the webhooks of the configuration file, and what has arrived
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        record: RecordFlags,
    },
    /// Send a signed test to a webhook; fails if it does not arrive
    Test {
        /// Its name
        name: String,
        #[command(flatten)]
        record: RecordFlags,
    },
}

/// Lists or tests the webhooks of a configuration file.
///
/// # Errors
/// A flag or a setting is invalid, or a webhook is unknown.
pub fn webhooks(flags: &WebhooksFlags) -> Outcome {
    match &flags.command {
        WebhooksCommand::List { json, record } => {
            let config = load(record)?;
            let webhooks = Webhook::open_all(&config.webhooks, Some(&config.data))?;
            let all: Vec<WebhookStatus> = webhooks.iter().map(Webhook::status).collect();
            if all.is_empty() {
                eprintln!("the configuration file has no [[webhooks]]");
            }
            print(*json, &all, |out| {
                all.iter().try_for_each(|webhook| writeln!(out, "{}", line(webhook)))
            })?;
            Ok(true)
        }
        WebhooksCommand::Test { name, record } => {
            let config = load(record)?;
            let Some(of) = config.webhooks.iter().find(|webhook| webhook.name == *name) else {
                return Err(format!("no webhook has the name \"{name}\"").into());
            };
            let attempt = Webhook::open(of, None)?.test();
            let answer = match (&attempt.error, attempt.status) {
                (Some(error), _) => error.clone(),
                (None, status) => format!("status {}", status.unwrap_or_default()),
            };
            writeln!(io::stdout(), "{name}: {answer} after {} ms", attempt.took_ms)?;
            Ok(attempt.is_delivered)
        }
    }
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
