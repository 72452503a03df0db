//! The command `mqtt`: lists where events are sent, and tests one.

use std::io::{self, Write};

use clap::{Args, Subcommand};
use mesonet_server::RecordFlags;
use mesonet_service::mqtt::{MqttBroker, MqttStatus};

use super::{Outcome, load, print};

/// The flags of `mqtt`.
#[derive(Clone, Debug, Args)]
pub struct MqttFlags {
    #[command(subcommand)]
    command: MqttCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum MqttCommand {
    /// List the brokers of the configuration file, and what has arrived
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        record: RecordFlags,
    },
    /// Send a test to a broker; fails if it does not arrive
    Test {
        /// Its name
        name: String,
        #[command(flatten)]
        record: RecordFlags,
    },
}

/// Lists or tests the brokers of a configuration file.
///
/// # Errors
/// A flag or a setting is invalid, or a broker is unknown.
pub fn mqtt(flags: &MqttFlags) -> Outcome {
    match &flags.command {
        MqttCommand::List { json, record } => {
            let config = load(record)?;
            let brokers = MqttBroker::open_all(&config.mqtt, Some(&config.data))?;
            let all: Vec<MqttStatus> = brokers.iter().map(MqttBroker::status).collect();
            if all.is_empty() {
                eprintln!("the configuration file has no [[mqtt]]");
            }
            print(*json, &all, |out| {
                all.iter().try_for_each(|broker| writeln!(out, "{}", line(broker)))
            })?;
            Ok(true)
        }
        MqttCommand::Test { name, record } => {
            let config = load(record)?;
            let Some(of) = config.mqtt.iter().find(|broker| broker.name == *name) else {
                return Err(format!("no broker of [[mqtt]] has the name \"{name}\"").into());
            };
            test(&MqttBroker::open(of, None)?)
        }
    }
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

fn test(broker: &MqttBroker) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let test = runtime.block_on(broker.test());
    let answer = test.error.as_deref().unwrap_or("acknowledged");
    writeln!(io::stdout(), "{}: {answer} after {} ms", broker.config().name, test.took_ms)?;
    Ok(test.is_published)
}
