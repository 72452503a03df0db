//! The figures in remarks: times, distances, lengths.

use super::super::group::small_number;
use super::super::visibility;

/// `mm`, or `hhmm`.
pub(super) fn hour_minute(field: &[u8]) -> Option<(Option<u8>, u8)> {
    let (hour, minute) = match field.len() {
        2 => (None, field),
        4 => (Some(small_number(&field[..2]).filter(|&hour| hour < 24)? as u8), &field[2..]),
        _ => return None,
    };
    Some((hour, small_number(minute).filter(|&minute| minute < 60)? as u8))
}

/// A distance in miles, or a length in inches: `2`, `1/2`, `1 1/2`.
pub(super) fn miles(field: &[u8]) -> Option<f64> {
    if field.contains(&b'/') {
        return visibility::fraction(field);
    }
    small_number(field).filter(|_| field.len() <= 2).map(f64::from)
}
