//! A walk through the whole time of a record, in windows of about equal content.

use super::{CopyError, Original, ReferenceData};
use crate::store::StoreError;
use crate::time::{ClosedWindow, DAY_MS, HOUR_MS};

/// The longest window that may have readings: a store may hold those of one station in a window in
/// memory.
const MOST_MS: i64 = 32 * DAY_MS;

/// The windows of a record. The length of a window depends on the content of the one before.
#[derive(Debug)]
pub(super) struct WindowWalk {
    start_ms: i64,
    length_ms: i64,
    /// When the first series appeared; present weather may be from before it.
    first_ms: i64,
    /// The time of the last report; nothing is later.
    last_ms: i64,
    /// How much a window should hold.
    content: u64,
}

impl WindowWalk {
    /// Begins before everything, given the time when the first series appeared and the time of the
    /// last report.
    pub(super) fn new(span_ms: Option<(i64, i64)>, content: u64) -> Self {
        let (first_ms, last_ms) = span_ms.unwrap_or((i64::MAX, i64::MAX));
        Self { start_ms: i64::MIN, length_ms: i64::MAX, first_ms, last_ms, content }
    }

    /// Goes on from an instant.
    pub(super) fn from(self, start_ms: i64) -> Self {
        let length_ms = if start_ms > i64::MIN { DAY_MS } else { self.length_ms };
        Self { start_ms, length_ms, ..self }
    }

    /// Takes a step with each window until the end of time. A step returns how much it found. It
    /// returns `None`, and has done nothing, if the window has content but is too long for it.
    pub(super) fn each(
        mut self,
        step: &mut dyn FnMut(ClosedWindow) -> Result<Option<u64>, CopyError>,
    ) -> Result<(), CopyError> {
        let mut is_before = true;
        loop {
            if is_before && self.start_ms >= self.first_ms {
                (is_before, self.length_ms) = (false, DAY_MS);
            }
            let mut end_ms = match self.length_ms {
                i64::MAX => i64::MAX,
                length_ms => self.start_ms.saturating_add(length_ms - 1),
            };
            if is_before {
                end_ms = end_ms.min(self.first_ms - 1);
            }
            if self.start_ms > self.last_ms {
                end_ms = i64::MAX;
            }
            // A window has a start before its end, also the last one.
            end_ms = end_ms.max(self.start_ms.saturating_add(1));
            if end_ms >= i64::MAX - 1 {
                end_ms = i64::MAX;
            }
            let Ok(window) = ClosedWindow::new(self.start_ms, end_ms) else { return Ok(()) };
            let Some(found) = step(window)? else {
                self.length_ms = (self.length_ms / 2).max(MOST_MS);
                self.last_ms = i64::MAX;
                continue;
            };
            self.length_ms = match found {
                0 => self.length_ms.saturating_mul(2),
                _ if found < self.content / 2 => (self.length_ms.saturating_mul(2)).min(MOST_MS),
                _ if found > self.content => (self.length_ms / 2).clamp(HOUR_MS, MOST_MS),
                _ => self.length_ms.min(MOST_MS),
            };
            match end_ms.checked_add(1) {
                Some(next_ms) => self.start_ms = next_ms,
                None => return Ok(()),
            }
        }
    }
}

/// The time when the first series that may have readings appeared, and the time of the last report;
/// `None` if there is no series.
pub(super) fn span_ms(reference: &ReferenceData) -> Option<(i64, i64)> {
    let records = &reference.directory.stations;
    let series = records.iter().flat_map(|record| &record.series);
    let first_ms = series.map(|series| series.first_appearance_ms).min()?;
    let last_ms = records.iter().filter_map(|record| record.update_time_ms).max();
    let first_ms = first_ms.max(reference.retain_from_ms.unwrap_or(i64::MIN));
    Some((first_ms, last_ms.unwrap_or(i64::MAX)))
}

/// Whether a window is too long to hold anything.
pub(super) fn is_too_long(window: ClosedWindow) -> bool {
    window.end_ms().saturating_sub(window.start_ms()) >= MOST_MS
}

/// Whether a store keeps texts of reports.
pub(super) fn keeps_texts(reader: &dyn Original) -> Result<bool, StoreError> {
    let all = ClosedWindow::new(i64::MIN, i64::MAX);
    let Ok(all) = all else { return Ok(true) };
    match reader.scan_reports(&[], all, &mut |_, _| {}) {
        Err(StoreError::NoTexts) => Ok(false),
        scanned => scanned.map(|_| true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All windows that were searched, for a record with readings at some times.
    fn windows(span_ms: Option<(i64, i64)>, times: &[i64]) -> Vec<ClosedWindow> {
        let mut windows = Vec::new();
        let mut step = |window: ClosedWindow| {
            let found = times.iter().filter(|&&ts_ms| window.contains(ts_ms)).count() as u64;
            if found > 0 && is_too_long(window) {
                return Ok(None);
            }
            windows.push(window);
            Ok(Some(found))
        };
        WindowWalk::new(span_ms, 4).each(&mut step).unwrap();
        windows
    }

    #[test]
    fn the_windows_follow_one_another_through_all_time() {
        let day: Vec<i64> = (0..100).map(|i| 1_700_000_000_000 + i * HOUR_MS).collect();
        let far = [i64::MIN, -5 * DAY_MS, 0, 1_700_000_000_000, i64::MAX];
        let (first_ms, last_ms) = (day[0], day[99]);
        for (span_ms, times) in [
            (None, &[][..]),
            (None, &far),
            (Some((0, i64::MAX)), &far),
            // Something may be later than it should.
            (Some((0, 0)), &far),
            (Some((first_ms, last_ms)), &day),
            (Some((last_ms, last_ms)), &day),
        ] {
            let windows = windows(span_ms, times);
            assert_eq!(windows[0].start_ms(), i64::MIN);
            assert_eq!(windows[windows.len() - 1].end_ms(), i64::MAX);
            assert!(windows.windows(2).all(|two| two[0].end_ms() + 1 == two[1].start_ms()));
            assert!(windows.len() < 400, "{}", windows.len());
            let held = |window: &&ClosedWindow| times.iter().any(|&ts_ms| window.contains(ts_ms));
            assert!(windows.iter().filter(held).all(|window| !is_too_long(*window)));
        }
    }

    #[test]
    fn one_look_is_enough_before_and_after_everything() {
        let found = windows(Some((0, 1)), &[0, 1]);
        let ends: Vec<_> =
            found.iter().map(|window| (window.start_ms(), window.end_ms())).collect();
        assert_eq!(ends, [(i64::MIN, -1), (0, DAY_MS - 1), (DAY_MS, i64::MAX)]);
    }

    #[test]
    fn where_there_is_much_the_windows_become_short() {
        let many: Vec<i64> = (0..10_000).map(|i| i * HOUR_MS / 60).collect();
        let windows = windows(Some((0, many[9999])), &many);
        let longest = windows.iter().skip(30).filter(|window| window.end_ms() < many[9000]);
        assert_eq!(
            longest.map(|window| window.end_ms() - window.start_ms() + 1).max(),
            Some(HOUR_MS)
        );
    }
}
