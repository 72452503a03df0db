//! The hours by which stations are compared, and the readings that stand for them.

use super::parts::Parts;
use crate::check::Readings;
use crate::observation::{IntervalType, SeriesKey, Variable};
use crate::time::{ClosedWindow, HOUR_MS};

/// Returns the hour nearest to a moment, in hours since 1970; the later one in a tie.
pub(super) fn hour_of(ts_ms: i64) -> i64 {
    ts_ms.saturating_add(HOUR_MS / 2).div_euclid(HOUR_MS)
}

/// Returns the moments that are nearest to an hour.
pub(super) fn hour_window(hour: i64) -> Option<ClosedWindow> {
    let hour_ms = hour.saturating_mul(HOUR_MS);
    let from_ms = hour_ms.saturating_sub(HOUR_MS / 2);
    let to_ms = hour_ms.saturating_add(HOUR_MS / 2 - 1);
    ClosedWindow::new(from_ms, to_ms).ok()
}

/// Returns the series of a variable by which stations are compared, most instantaneous first:
/// reported values and short means.
pub(super) fn is_compared(parts: &[Parts<'_, '_>], variable: Variable) -> Vec<usize> {
    let is_compared = |&which: &usize| {
        let key = parts[which].key();
        let SeriesKey { calculated, interval_type, reported_unit, bucket, .. } = key;
        let momentary =
            matches!(interval_type, IntervalType::Instantaneous | IntervalType::Average);
        // The text is compared last: this runs for every series of every station.
        key.variable == variable
            && !calculated
            && momentary
            && bucket.is_empty()
            && reported_unit == variable.unit().symbol()
    };
    let mut series: Vec<usize> = (0..parts.len()).filter(is_compared).collect();
    series.sort_by_key(|&which| parts[which].series().preference);
    series
}

/// Returns the reading by which a station is compared in an hour, as series and reading: the one
/// nearest to the hour, in the first series that has any.
pub(super) fn nearest_to_hour(
    parts: &[Parts<'_, '_>],
    series: &[usize],
    hour: i64,
) -> Option<(usize, usize)> {
    let window = hour_window(hour)?;
    let hour_ms = hour.saturating_mul(HOUR_MS);
    series.iter().find_map(|&which| {
        let of = &parts[which];
        let distance = |&at: &usize| (of.ts_ms(at).abs_diff(hour_ms), of.ts_ms(at));
        let at = of.between(window.start_ms(), window.end_ms()).min_by_key(distance)?;
        Some((which, at))
    })
}
