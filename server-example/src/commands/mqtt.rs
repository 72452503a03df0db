//! The command `mqtt`: lists the brokers that events are sent to, and tests one.

use std::io::{self, Write};

use mesonet_service::mqtt::{MqttBroker, MqttConfig, MqttStatus};

use super::Outcome;
use super::deliveries::DeliveryCommand;

/// Lists or tests the brokers of a configuration file.
///
/// # Errors
/// A flag or a setting is invalid, or a broker is unknown.
pub fn mqtt(command: &DeliveryCommand) -> Outcome {
    command.run(
        "mqtt",
        |config| {
            let brokers = MqttBroker::open_all(&config.mqtt, Some(&config.data))?;
            Ok(brokers.iter().map(MqttBroker::status).collect())
        },
        line,
        |config, name| config.mqtt.iter().find(|broker| broker.name == name).map(test),
    )
}

fn line(broker: &MqttStatus) -> String {
    let MqttStatus { name, address, published, published_at, left_out, .. } = broker;
    let last = published_at.map_or_else(String::new, |at| format!(", the last one {at}"));
    let left = match left_out {
        0 => String::new(),
        left_out => format!(", {left_out} left out"),
    };
    format!("{name}  {address}: {published} published{last}{left}")
}

fn test(config: &MqttConfig) -> Outcome {
    let broker = MqttBroker::open(config, None)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let test = runtime.block_on(broker.test());
    let answer = test.error.as_deref().unwrap_or("acknowledged");
    writeln!(io::stdout(), "{}: {answer} after {} ms", config.name, test.took_ms)?;
    Ok(test.is_published)
}
