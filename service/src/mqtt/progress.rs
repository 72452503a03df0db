//! What a broker has got, kept across restarts.

use std::collections::VecDeque;
use std::path::Path;

use mesonet::Iso8601;
use serde::{Deserialize, Serialize};

use crate::note;

/// How many left-out messages are remembered.
const MAX_LEFT_OUT: usize = 20;

/// What was sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// The id of the event up to which the broker has everything.
    pub position: Option<String>,
    /// Why it is not known what the broker has, until those who listen to it were told.
    pub lost: Option<String>,
    /// The number of messages that the broker has acknowledged.
    pub published: u64,
    pub published_ms: Option<i64>,
    /// The number of messages that were left out.
    pub left_out: u64,
    /// The last of them, the newest last.
    pub last_left_out: VecDeque<MqttLeftOut>,
}

/// A message that the broker cannot take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct MqttLeftOut {
    /// Its topic.
    pub topic: String,
    /// When it was left out.
    pub at: Iso8601,
    /// Why.
    pub cause: String,
}

impl Progress {
    /// Loads what was kept. If the file cannot be used, `lost` says so.
    pub(super) fn load(path: &Path) -> Self {
        if let Ok(known) = note::load(path) {
            return known.unwrap_or_default();
        }
        let lost = Some("the note of what was sent is damaged".to_owned());
        Self { lost, ..Self::default() }
    }

    pub(super) fn leave_out(&mut self, left_out: MqttLeftOut) {
        self.left_out += 1;
        if self.last_left_out.len() == MAX_LEFT_OUT {
            self.last_left_out.pop_front();
        }
        self.last_left_out.push_back(left_out);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_note_that_cannot_be_used_is_kept_aside_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("wx.json");
        assert_eq!(Progress::load(&path), Progress::default());
        let position = Some("00000000000000ff-1041-3-17".to_owned());
        let progress = Progress { position, published: 7, ..Progress::default() };
        note::save(&path, &progress).unwrap();
        assert_eq!(Progress::load(&path), progress);
        let whole = fs::read(&path).unwrap();
        let later =
            String::from_utf8(whole.clone()).unwrap().replace("\"version\":1", "\"version\":2");
        for bytes in [&whole[..whole.len() - 1], b"", b"{}", b"null", &[0; 100], later.as_bytes()] {
            fs::write(&path, bytes).unwrap();
            let loaded = Progress::load(&path);
            assert!(loaded.lost.is_some() && loaded.position.is_none() && !path.exists());
        }
        // None of them was overwritten.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 6);
        assert_eq!(fs::read(path.with_extension("damaged")).unwrap(), whole[..whole.len() - 1]);
    }
}
