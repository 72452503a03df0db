//! Which pressure api.weather.gov calls `barometricPressure`.

use std::ops::RangeInclusive;

use crate::derived::station_pressure_hpa;

/// What a value of `barometricPressure` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pressure {
    /// The altimeter setting.
    AltimeterSetting,
    /// The pressure at the height of the station.
    Station,
    /// Either of them.
    InDoubt,
}

/// Altimeter settings that occur: a little beyond the records of pressure at sea level, 870 and
/// 1085 hPa (WMO archive of extremes); the lowest occur in the eyes of typhoons.
const ALTIMETER_HPA: RangeInclusive<f64> = 920.0..=1085.0;

/// Tells which pressure a value is, from the height of the station. If both are possible, the value
/// of an aerodrome is the altimeter setting, as in every real document.
pub(super) fn pressure_of(hpa: f64, altitude_m: Option<f64>, is_aerodrome: bool) -> Pressure {
    let at_station =
        |altimeter_hpa| altitude_m.and_then(|m| station_pressure_hpa(altimeter_hpa, m));
    let lowest_hpa = at_station(*ALTIMETER_HPA.start()).unwrap_or(f64::NEG_INFINITY);
    let highest_hpa = at_station(*ALTIMETER_HPA.end()).unwrap_or(f64::INFINITY);
    let may_be_station = (lowest_hpa..=highest_hpa).contains(&hpa);
    match (ALTIMETER_HPA.contains(&hpa), may_be_station) {
        (false, true) => Pressure::Station,
        (true, true) if !is_aerodrome => Pressure::InDoubt,
        // The checks of the altimeter setting judge a value that is neither.
        _ => Pressure::AltimeterSetting,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pressure_of_an_aerodrome_is_its_altimeter_setting() {
        // PGUM 2026-05-14 15:54: A2983 is 1010.16 hPa, and 999 hPa at the station.
        assert_eq!(pressure_of(1010.20, Some(91.0), true), Pressure::AltimeterSetting);
        // KDDH and KAQW 2026-07-15 19:50, without a message.
        assert_eq!(pressure_of(1011.1757, Some(250.0), true), Pressure::AltimeterSetting);
        assert_eq!(pressure_of(1010.837, None, true), Pressure::AltimeterSetting);
    }

    #[test]
    fn a_height_that_leaves_one_decides_and_others_are_in_doubt() {
        // Leadville, 3,029 m: 1015 hPa cannot be the pressure there, and 704 hPa cannot be an
        // altimeter setting.
        assert_eq!(pressure_of(1015.0, Some(3_029.0), false), Pressure::AltimeterSetting);
        assert_eq!(pressure_of(704.0, Some(3_029.0), true), Pressure::Station);
        assert_eq!(pressure_of(1010.0, Some(91.0), false), Pressure::InDoubt);
        assert_eq!(pressure_of(1010.0, None, false), Pressure::InDoubt);
    }
}
