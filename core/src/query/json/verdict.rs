//! The verdict of a reading and its qualifier as members of a JSON object, formatted once for each
//! of the few verdicts.

use std::sync::LazyLock;

use crate::observation::{BaseQuality, Qualifier, Quality, ReasonQuality};

const REASONS: usize = ReasonQuality::ALL.len();

/// The member `quality` of every verdict, with the comma before it.
#[derive(Debug)]
pub(super) struct VerdictMembers(Vec<String>);

impl VerdictMembers {
    /// The members of all verdicts.
    pub(super) fn of_all() -> &'static Self {
        static OF_ALL: LazyLock<VerdictMembers> = LazyLock::new(VerdictMembers::new);
        &OF_ALL
    }

    fn new() -> Self {
        let members = BaseQuality::ALL.into_iter().flat_map(|base| {
            ReasonQuality::ALL.into_iter().map(move |reason| {
                format!(
                    ",\"quality\":{{\"baseQuality\":\"{base}\",\"reasonQuality\":\"{reason}\"}}"
                )
            })
        });
        Self(members.collect())
    }

    /// Writes the member of a verdict, and the member of a qualifier if there is one.
    pub(super) fn write(&self, of: Quality, qualifier: Option<Qualifier>, text: &mut Vec<u8>) {
        let Quality { base, reason } = of;
        text.extend_from_slice(self.0[base as usize * REASONS + reason as usize].as_bytes());
        if let Some(qualifier) = qualifier {
            text.extend_from_slice(b",\"qualifier\":\"");
            text.extend_from_slice(qualifier.name().as_bytes());
            text.push(b'"');
        }
    }
}
