//! What a webhook has delivered, kept across restarts.

use std::collections::{BTreeSet, VecDeque};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use mesonet::Iso8601;
use serde::{Deserialize, Serialize};

/// Length of the longest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// How many left-out alerts are remembered.
const MAX_LEFT_OUT: usize = 100;

const VERSION: u32 = 1;

/// What was delivered. If it is lost, alerts in force are sent again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    version: u32,
    /// The id of the event up to which everything is delivered or left out.
    pub position: Option<String>,
    /// The alerts that were in force when they were delivered last: their end is sent too.
    pub in_force: BTreeSet<String>,
    /// The number of deliveries.
    pub delivered: u64,
    pub delivered_ms: Option<i64>,
    /// The latest alerts that the receiver did not want, the newest last.
    pub left_out: VecDeque<LeftOut>,
}

/// An alert that a receiver did not want.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = WebhookLeftOut)]
pub struct LeftOut {
    /// The id of the alert.
    pub alert: String,
    /// When it was left out.
    pub at: Iso8601,
    /// The status of the receiver's last answer.
    pub status: u16,
}

impl Progress {
    /// Loads what was kept. It starts empty if the file is missing, damaged or of another version; a
    /// file that is not used is renamed.
    pub(super) fn load(path: &Path) -> Self {
        let read = || -> io::Result<Self> {
            let mut bytes = Vec::new();
            File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
            Ok(serde_json::from_slice(&bytes)?)
        };
        let cause = match read() {
            Ok(progress) if progress.version == VERSION => return progress,
            Ok(progress) => format!("it is of version {}", progress.version),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::default(),
            Err(error) => error.to_string(),
        };
        let aside = path.with_extension("damaged");
        tracing::warn!(
            "{} is not used: {cause}; alerts in force are sent again, and the file is {} now",
            path.display(),
            aside.display()
        );
        // If it stays, the next save replaces it.
        let _ = fs::rename(path, aside);
        Self::default()
    }

    /// Writes it atomically.
    pub(super) fn save(&mut self, path: &Path) -> io::Result<()> {
        self.version = VERSION;
        let fresh = path.with_extension("new");
        let mut file = File::create(&fresh)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.sync_all()?;
        fs::rename(&fresh, path)
    }

    pub(super) fn leave_out(&mut self, alert: &str, at_ms: i64, status: u16) {
        if self.left_out.len() == MAX_LEFT_OUT {
            self.left_out.pop_front();
        }
        let alert = alert.to_owned();
        self.left_out.push_back(LeftOut { alert, at: Iso8601(at_ms), status });
    }
}
