//! The additions of the National Weather Service to CAP, the same in XML and in api.weather.gov's
//! JSON: event codes, the motion of storms.

use super::super::summary::{RefusalReason, Summary};
use super::area::place;
use crate::alert::{Outcome, Storm, Vtec};
use crate::time::parse_instant;
use crate::unit::knots_to_kmh;

/// Maximum number of codes of one block; real ones have one or two.
const MAX_CODES: usize = 32;

/// Reads event codes. An invalid code is left out and counted.
///
/// # Errors
/// If a code marks a test.
pub(in super::super) fn vtec<'a>(
    texts: impl Iterator<Item = &'a str>,
    summary: &mut Summary,
) -> Result<Vec<Vtec>, RefusalReason> {
    let mut codes = Vec::new();
    for text in texts.take(MAX_CODES) {
        match text.parse::<Vtec>() {
            Ok(code) if code.is_test() => {
                return Err(RefusalReason::Unofficial {
                    what: "VTEC",
                    got: code.to_string(),
                    allowed: "any class except T (test)",
                });
            }
            Ok(code) => codes.push(code),
            Err(_) => summary.unread_values.add("VTEC"),
        }
    }
    Ok(codes)
}

/// Whether the zones of these codes are fire weather zones.
pub(in super::super) fn is_fire(codes: &[Vtec]) -> bool {
    codes.iter().any(|code| &code.event.phenomenon == b"FW")
}

/// What the codes say about the state of an alert: it is in force as long as one of its events is.
pub(in super::super) fn outcome(codes: &[Vtec]) -> Option<Outcome> {
    codes.iter().map(|code| code.outcome()).min()
}

/// The motion of a storm: `TIME...storm...DIRECTION...SPEED...POINTS`. As for winds, the direction
/// is where the storm comes from, so it is reversed.
pub(in super::super) fn storm(text: &str) -> Option<Storm> {
    let mut fields = text.split("...");
    let time_ms = parse_instant(fields.next()?).ok()?;
    let _kind = fields.next()?;
    let from_deg: f64 = fields.next()?.strip_suffix("DEG")?.parse().ok()?;
    let speed_kt: f64 = fields.next()?.strip_suffix("KT")?.parse().ok()?;
    let points = fields.next()?.split_ascii_whitespace().map(place).collect::<Option<Vec<_>>>()?;
    if !(0.0..=360.0).contains(&from_deg) || !(0.0..=500.0).contains(&speed_kt) {
        return None;
    }
    Some(Storm {
        time_ms: Some(time_ms),
        speed_kmh: Some(knots_to_kmh(speed_kt)),
        direction_deg: Some((from_deg + 180.0) % 360.0),
        geometry_type: None,
        points,
    })
}
