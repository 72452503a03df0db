//! The provider's verdict on a value.

use crate::observation::{Quality, SWOB_QA_SUMMARY};

/// The verdict of a `qa_summary`; unchecked if there is none.
pub(super) fn verdict(qa_summary: &str) -> Quality {
    qa_summary.parse().map_or(Quality::UNCHECKED, |flag| SWOB_QA_SUMMARY.quality(flag))
}
