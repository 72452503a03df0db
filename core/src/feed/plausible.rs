//! Values that feeds write when they do not know a place, a height or a time.

use super::summary::RefusalReason;
use crate::geo::LonLat;
use crate::time::{Iso8601, parse_instant};

/// The start of 1750. Earlier years come from a wrong clock or a damaged table; no archive that is
/// read here has a series so old.
const EARLIEST_MS: i64 = -6_942_499_200_000;

/// Heights of stations, in metres: from below the shore of the Dead Sea to above Mount Everest.
const ALTITUDES_M: std::ops::RangeInclusive<f64> = -450.0..=9000.0;

/// A place in degrees; `None` off the globe, and where the Greenwich meridian meets the equator:
/// one real buoy is there, but tables put every station there whose place is unknown.
pub(super) fn place(lon: f64, lat: f64) -> Option<LonLat> {
    let is_known = lon != 0.0 || lat != 0.0;
    LonLat::new(lon, lat).ok().filter(|_| is_known)
}

/// A height above mean sea level in metres; `None` if no station can have it, such as 9999 and
/// -999.9.
pub(super) fn altitude_m(metres: f64) -> Option<f64> {
    ALTITUDES_M.contains(&metres).then_some(metres)
}

/// The instant in a text, if it can be the time of an observation.
pub(super) fn observed(text: &str) -> Result<i64, RefusalReason> {
    observed_at(parse_instant(text)?)
}

/// The same for an instant that is read already.
pub(super) fn observed_at(ts_ms: i64) -> Result<i64, RefusalReason> {
    if ts_ms < EARLIEST_MS {
        return Err(RefusalReason::TooEarly { got: Iso8601(ts_ms).to_string() });
    }
    Ok(ts_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_an_unknown_place_or_height_is_unknown() {
        assert!(place(0.0, 0.0).is_none() && place(-0.0, 0.0).is_none());
        assert!(place(0.0, 51.5).is_some() && place(-90.0, 0.0).is_some());
        assert!(place(999.0, 99.0).is_none() && place(f64::NAN, 0.0).is_none());
        for unknown in [9999.0, -999.0, -999.9, -9999.0, 99_999.0, f64::NAN, f64::INFINITY] {
            assert_eq!(altitude_m(unknown), None, "{unknown}");
        }
        for known in [-430.0, 0.0, 999.0, 5_000.0] {
            assert_eq!(altitude_m(known), Some(known));
        }
    }

    #[test]
    fn years_before_instruments_are_refused_by_name() {
        assert_eq!(
            observed("0284-08-03T20:00:00Z").unwrap_err().to_string(),
            "0284-08-03T20:00:00Z is before 1750; instrument observations are later",
        );
        assert_eq!(observed("1750-01-01T00:00:00Z"), Ok(EARLIEST_MS));
        assert!(observed("1749-12-31T23:59:59Z").is_err());
    }
}
