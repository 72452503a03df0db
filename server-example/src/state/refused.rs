//! The reports that could not be read, for the operator: those of the last day, in memory.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mesonet::time::DAY_MS;
use mesonet_service::ingest::IngestSummary;

/// The most reports that are kept; the oldest go first.
pub const MOST_REFUSED: usize = 1_000;

/// A refused report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// When it came.
    pub received_ms: i64,
    /// The kind of its file.
    pub kind: &'static str,
    /// The file, as it is shown.
    pub file: String,
    /// Where it is in the file, and why it was left out.
    pub reason: String,
    /// The first bytes of its text.
    pub text: String,
}

/// The refused reports, oldest first.
#[derive(Debug, Default)]
pub struct RefusedReports(Mutex<VecDeque<Refused>>);

impl RefusedReports {
    /// Keeps the refused reports of some files.
    pub fn note(&self, summary: &IngestSummary, now_ms: i64) {
        let of_kinds = summary.kinds.iter().flat_map(|(kind, of_kind)| {
            of_kind.refused_reports.iter().map(move |report| Refused {
                received_ms: now_ms,
                kind: kind.name(),
                file: report.file.clone(),
                reason: report.reason.clone(),
                text: report.text.clone(),
            })
        });
        let mut kept = self.kept(now_ms);
        kept.extend(of_kinds);
        let more = kept.len().saturating_sub(MOST_REFUSED);
        kept.drain(..more);
    }

    /// Returns those of the last day, newest first.
    pub fn of_last_day(&self, now_ms: i64) -> Vec<Refused> {
        self.kept(now_ms).iter().rev().cloned().collect()
    }

    /// Old ones go. So do those from after the present: the clock of the machine was wrong.
    fn kept(&self, now_ms: i64) -> MutexGuard<'_, VecDeque<Refused>> {
        // Each change of the list is whole.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let day = now_ms.saturating_sub(DAY_MS)..=now_ms.saturating_add(DAY_MS);
        kept.retain(|refused| day.contains(&refused.received_ms));
        kept
    }
}

#[cfg(test)]
mod tests {
    use mesonet::feed::Kind;
    use mesonet_service::ingest::RefusedReport;

    use super::*;

    fn summary(texts: impl Iterator<Item = usize>) -> IngestSummary {
        let mut summary = IngestSummary::default();
        let of_kind = summary.kinds.entry(Kind::MetarBulletin).or_default();
        of_kind.refused_reports = texts
            .map(|number| RefusedReport {
                file: "sa.txt".to_owned(),
                reason: "line 2: no time".to_owned(),
                text: format!("METAR {number}"),
            })
            .collect();
        summary
    }

    #[test]
    fn those_of_the_last_day_are_kept_and_never_more_than_the_limit() {
        let refused = RefusedReports::default();
        refused.note(&summary(0..1), 1_000);
        refused.note(&summary(1..2), 2_000);
        let texts = |now_ms| -> Vec<String> {
            refused.of_last_day(now_ms).into_iter().map(|of| of.text).collect()
        };
        assert_eq!(texts(3_000), ["METAR 1", "METAR 0"]);
        assert_eq!(texts(DAY_MS + 1_500), ["METAR 1"]);
        assert_eq!(texts(DAY_MS + 1_500).len(), 1, "what is old is gone for good");
        refused.note(&summary(0..MOST_REFUSED + 5), DAY_MS + 1_600);
        let now = texts(DAY_MS + 1_700);
        assert_eq!((now.len(), &*now[0]), (MOST_REFUSED, "METAR 1004"));
        // A clock that was years ahead leaves nothing behind.
        refused.note(&summary(0..1), 400 * DAY_MS);
        assert_eq!(texts(10 * DAY_MS).len(), 0);
    }
}
