//! What a webhook has delivered, kept across restarts.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use mesonet::Iso8601;
use serde::{Deserialize, Serialize};

use crate::note;

/// How many left-out alerts are remembered.
const MAX_LEFT_OUT: usize = 100;

/// What was delivered. If it is lost, alerts in force are sent again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
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
    /// Loads what was kept. It starts empty if the file is missing or cannot be used; then alerts in force
    /// are sent again.
    pub(super) fn load(path: &Path) -> Self {
        note::load(path).unwrap_or_default().unwrap_or_default()
    }

    pub(super) fn leave_out(&mut self, alert: &str, at: Iso8601, status: u16) {
        if self.left_out.len() == MAX_LEFT_OUT {
            self.left_out.pop_front();
        }
        let alert = alert.to_owned();
        self.left_out.push_back(LeftOut { alert, at, status });
    }
}
