//! The cutoff of retention, and what may move it.
//!
//! Deleted readings are gone for good, and the clock of a machine is wrong now and then, so no
//! source of time is trusted alone:
//!
//! - The cutoff is counted from the newest reading, or from the clock if that is earlier. A reading counts as
//!   the newest only together with others ([`newest_ms`]).
//! - It moves forward with the running time of the server, at most [`ADVANCE`] times as fast,
//!   whatever the clock says.
//! - It goes back at once if the clock says that it is too late.

use std::time::Duration;

use mesonet::store::{Directory, Selection, StationRecord, StoreError};
use mesonet::time::{DAY_MS, HOUR_MS};
use mesonet::{ClosedWindow, Reader, Variable};

/// Maximum number of days by which the cutoff moves forward while the server runs for a day: one
/// day to keep up, and one to catch up after time in which the server did not run.
pub const ADVANCE: i64 = 2;

/// How far the cutoff may be ahead, by the clock, before it goes back: clocks are corrected by
/// small steps all the time.
const SLACK_MS: i64 = HOUR_MS;

/// Longest time between two looks that counts in full. Even a clock that should only go forward may
/// jump.
const LONGEST: Duration = Duration::from_secs(600);

/// The cutoff of a running server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cutoff {
    /// The cutoff, milliseconds since 1970; `None` if there is none yet.
    pub at_ms: Option<i64>,
    /// Whether the record had no readings when the server started.
    began_empty: bool,
    /// The running time of the server at the last look.
    looked: Option<Duration>,
}

/// What is known at a look at the cutoff.
#[derive(Clone, Copy, Debug)]
pub struct CutoffInputs {
    /// How long readings are kept.
    pub span_ms: i64,
    /// The time of the clock.
    pub now_ms: i64,
    /// The running time of the server.
    pub ran: Duration,
    /// The newest reading that counts, if there is one.
    pub newest_ms: Option<i64>,
    /// The oldest reading, if there is one.
    pub oldest_ms: Option<i64>,
}

impl Cutoff {
    /// Starts with the cutoff that a record had when it was opened, and whether it had no readings
    /// then.
    pub fn of_record(at_ms: Option<i64>, began_empty: bool) -> Self {
        Self { at_ms, began_empty, looked: None }
    }

    /// The cutoff now; `None` if there is none yet.
    ///
    /// The first cutoff follows from the readings that the record had when the server started. In a
    /// record that was empty then, nothing is too old at first: readings that came in since may be
    /// dated by a wrong clock.
    pub fn look(&mut self, known: &CutoffInputs) -> Option<i64> {
        let CutoffInputs { span_ms, now_ms, ran, newest_ms, oldest_ms } = *known;
        let since = ran.saturating_sub(self.looked.replace(ran).unwrap_or(ran)).min(LONGEST);
        let by_clock_ms = now_ms.saturating_sub(span_ms);
        let wanted_ms =
            newest_ms.map(|newest_ms| newest_ms.saturating_sub(span_ms).min(by_clock_ms));
        self.at_ms = match (self.at_ms, wanted_ms) {
            (None, None) => None,
            (None, Some(wanted_ms)) if self.began_empty => {
                Some(oldest_ms.map_or(wanted_ms, |oldest_ms| oldest_ms.min(wanted_ms)))
            }
            (None, Some(wanted_ms)) => Some(wanted_ms),
            (Some(at_ms), _) if is_too_late(at_ms, span_ms, now_ms) => {
                Some(wanted_ms.unwrap_or(by_clock_ms))
            }
            (Some(at_ms), None) => Some(at_ms),
            (Some(at_ms), Some(wanted_ms)) => {
                let since_ms = i64::try_from(since.as_millis()).unwrap_or(0);
                Some(wanted_ms.min(at_ms.saturating_add(ADVANCE * since_ms)).max(at_ms))
            }
        };
        self.at_ms
    }
}

/// Whether a cutoff is later than the clock allows.
pub fn is_too_late(at_ms: i64, span_ms: i64, now_ms: i64) -> bool {
    at_ms > now_ms.saturating_sub(span_ms).saturating_add(SLACK_MS)
}

/// Number of reports of one station in a week that confirm one another.
const CONFIRMED: usize = 3;

/// Returns the time of the newest reading that others confirm; `None` if there is no reading.
///
/// A report counts if a hundredth of the stations, and at least two, have reported within the day
/// before it, or if its station has reported three times in the week before. In a record with one
/// station every report counts. If no report counts, the result is the oldest of the newest reports
/// of the stations.
///
/// # Errors
/// The record cannot be read.
pub fn newest_ms(record: &dyn Reader) -> Result<Option<i64>, StoreError> {
    let directory = record.directory()?;
    let mut reported = reported(&directory);
    reported.sort_by_key(|&(at_ms, _)| std::cmp::Reverse(at_ms));
    let needed = reported.len().div_ceil(100).max(2);
    for (i, &(at_ms, station)) in reported.iter().enumerate() {
        let day =
            reported[i..].partition_point(|&(ts_ms, _)| ts_ms >= at_ms.saturating_sub(DAY_MS));
        if reported.len() == 1 || day >= needed || is_confirmed(record, station, at_ms)? {
            return Ok(Some(at_ms));
        }
    }
    Ok(reported.last().map(|&(at_ms, _)| at_ms))
}

/// Returns the time at which the first series of a record appeared; `None` if there is no reading.
///
/// # Errors
/// The record cannot be read.
pub fn oldest_ms(record: &dyn Reader) -> Result<Option<i64>, StoreError> {
    let directory = record.directory()?;
    let series = directory.stations.iter().flat_map(|station| &station.series);
    Ok(series.map(|known| known.first_appearance_ms).min())
}

/// The stations that have reported, each with the time of its newest report.
fn reported(directory: &Directory) -> Vec<(i64, &StationRecord)> {
    let at = |record: &StationRecord| record.update_time_ms;
    directory.stations.iter().filter_map(|record| Some((at(record)?, &**record))).collect()
}

fn is_confirmed(
    record: &dyn Reader,
    station: &StationRecord,
    at_ms: i64,
) -> Result<bool, StoreError> {
    let mut variables: Vec<Variable> =
        station.series.iter().map(|known| known.series.key.variable).collect();
    variables.sort_unstable();
    variables.dedup();
    let Ok(window) = ClosedWindow::new(at_ms.saturating_sub(7 * DAY_MS), at_ms) else {
        return Ok(false);
    };
    let stations = [station.station.id];
    let mut times = std::collections::BTreeSet::new();
    let selection = Selection { stations: &stations, variables: &variables, window };
    record.scan(&selection, &mut |_, slices| {
        for slice in slices {
            times.extend(slice.ts_ms.iter().rev().take(CONFIRMED).copied());
        }
    })?;
    Ok(times.len() >= CONFIRMED)
}

#[cfg(test)]
#[path = "cutoff_tests.rs"]
mod tests;
