//! The verdict of a reading as a member of a JSON object, formatted once for each of the few there
//! are.

use crate::observation::{BaseQuality, Quality, ReasonQuality};

const REASONS: usize = ReasonQuality::ALL.len();

/// The member `quality` of every verdict, with the comma before it.
#[derive(Debug)]
pub(super) struct VerdictMembers(Vec<String>);

impl VerdictMembers {
    /// Formats every verdict.
    pub(super) fn new() -> Self {
        let members = BaseQuality::ALL.into_iter().flat_map(|base| {
            ReasonQuality::ALL.into_iter().map(move |reason| {
                format!(
                    ",\"quality\":{{\"baseQuality\":\"{base}\",\"reasonQuality\":\"{reason}\"}}"
                )
            })
        });
        Self(members.collect())
    }

    /// Returns the member of a verdict.
    pub(super) fn of(&self, Quality { base, reason }: Quality) -> &[u8] {
        self.0[base as usize * REASONS + reason as usize].as_bytes()
    }
}
