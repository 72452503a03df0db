//! What the commands `mqtt` and `webhooks` have in common: they list where events are sent, and test one.

use std::io::Write;

use clap::Subcommand;
use mesonet_server::{Config, RecordFlags};
use serde::Serialize;

use super::{Outcome, load, print};

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum DeliveryCommand {
    /// List those of the configuration file, and what has arrived
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        record: RecordFlags,
    },
    /// Send a test to one; fails if it does not arrive
    Test {
        /// Its name
        name: String,
        #[command(flatten)]
        record: RecordFlags,
    },
}

impl DeliveryCommand {
    /// Lists or tests the tables of a name in the configuration file: `status` gives all, and `line` the line of
    /// one; `test` returns `None` if the file has none of the name.
    ///
    /// # Errors
    /// A flag or a setting is invalid, or no table has the name.
    pub fn run<S: Serialize>(
        &self,
        table: &str,
        status: impl FnOnce(&Config) -> Result<Vec<S>, Box<dyn std::error::Error>>,
        line: impl Fn(&S) -> String,
        test: impl FnOnce(&Config, &str) -> Option<Outcome>,
    ) -> Outcome {
        match self {
            Self::List { json, record } => {
                let all = status(&load(record)?)?;
                if all.is_empty() {
                    eprintln!("the configuration file has no [[{table}]]");
                }
                print(*json, &all, |out| {
                    all.iter().try_for_each(|one| writeln!(out, "{}", line(one)))
                })?;
                Ok(true)
            }
            Self::Test { name, record } => test(&load(record)?, name)
                .unwrap_or_else(|| Err(format!("no [[{table}]] has the name \"{name}\"").into())),
        }
    }
}
