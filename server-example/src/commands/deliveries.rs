//! What the commands `mqtt` and `webhooks` share: they list the places that events are sent to, and test one.

use std::io::Write;

use crate::config::{Config, RecordFlags};
use clap::Subcommand;
use serde::Serialize;

use super::{Outcome, load, print};

/// A subcommand of both.
#[derive(Clone, Debug, Subcommand)]
pub enum DeliveryCommand {
    /// List the entries of the configuration file, and what has arrived
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        record: RecordFlags,
    },
    /// Send a test to one of them; fails if it does not arrive
    Test {
        /// Its name
        name: String,
        #[command(flatten)]
        record: RecordFlags,
    },
}

impl DeliveryCommand {
    /// Lists the entries of `[[table]]`, or tests one. `status` returns the status of all entries, `line` the line
    /// that is printed for one, and `test` tests the entry with a name; `None` means that there is none.
    ///
    /// # Errors
    /// A flag or a setting is invalid, or no entry has the name.
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
