//! The command `keys`: issues, lists and revokes API keys.

use std::error::Error;
use std::io::{self, Write};

use crate::config::RecordFlags;
use clap::Subcommand;
use mesonet_service::clock::system_ms;
use mesonet_service::keys::{KeyEntry, Validity, key_record};
use mesonet_service::record::FOLLOWER;

use super::{Outcome, load};

/// A subcommand of `keys`.
#[derive(Clone, Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a key and print it; it is shown only now
    Issue {
        /// Whose key it is
        #[arg(long, value_name = "TEXT")]
        label: String,
        /// How long it is valid
        #[arg(long, value_enum, default_value = "year")]
        expires: Validity,
        #[command(flatten)]
        record: RecordFlags,
    },
    /// List all keys, oldest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        record: RecordFlags,
    },
    /// Revoke a key; the running server refuses it within two seconds, a follower with the next backup
    Revoke {
        /// The id of the key, as listed
        id: String,
        #[command(flatten)]
        record: RecordFlags,
    },
}

/// Issues, lists or revokes API keys of a record.
///
/// # Errors
/// A flag is invalid, a key is unknown, or the record of keys cannot be used.
pub fn keys(command: &KeysCommand) -> Outcome {
    let any = |record: &RecordFlags| -> Result<_, Box<dyn Error>> {
        Ok(key_record(&load(record)?.record())?)
    };
    // The next backup that the follower fetches would undo the change.
    let own = |record: &RecordFlags| {
        let data = load(record)?.data;
        if data.join(FOLLOWER).exists() {
            let data = data.display();
            return Err(format!(
                "{data} follows another server and has its keys; issue and revoke them there"
            )
            .into());
        }
        any(record)
    };
    let mut out = io::stdout().lock();
    match command {
        KeysCommand::Issue { label, expires, record } => {
            let (key, entry) = own(record)?.issue(label, *expires, system_ms())?;
            writeln!(out, "{key}")?;
            eprintln!("{}; the key is not shown again", line(&entry));
        }
        KeysCommand::List { json, record } => {
            let entries = any(record)?.list()?;
            if *json {
                serde_json::to_writer(&mut out, &entries).map_err(io::Error::from)?;
                writeln!(out)?;
            } else if entries.is_empty() {
                eprintln!("no key has been issued");
            }
            for entry in entries.iter().filter(|_| !json) {
                writeln!(out, "{}", line(entry))?;
            }
        }
        KeysCommand::Revoke { id, record } => {
            writeln!(out, "{}", line(&own(record)?.revoke(id, system_ms())?))?;
        }
    }
    Ok(true)
}

fn line(entry: &KeyEntry) -> String {
    let KeyEntry { id, label, issued, expires, last_used, revoked } = entry;
    let expires = expires.map_or_else(|| "never expires".to_owned(), |at| format!("expires {at}"));
    let used = last_used.map_or_else(|| "never used".to_owned(), |at| format!("last used {at}"));
    let revoked = revoked.map_or_else(String::new, |at| format!(", revoked {at}"));
    format!("{id}  {label}: issued {issued}, {expires}, {used}{revoked}")
}
