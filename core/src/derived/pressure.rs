//! Pressure at the station and at sea level.

#![allow(clippy::inline_always, reason = "each caller has the instructions that it may use")]

use std::ops::RangeInclusive;

use super::elementary::exp;
use super::slices::slice_form;

/// Gas constant of dry air: 8.314462618 J/(mol K) (CODATA 2018) over 28.96546 g/mol (Picard et al.,
/// Metrologia 45, 2008).
pub(super) const DRY_AIR_J_PER_KG_K: f64 = 8.314_462_618 / 0.028_965_46;
/// Standard gravity (CGPM 1901).
const GRAVITY_M_PER_S2: f64 = 9.80665;
pub(super) const ZERO_CELSIUS_K: f64 = 273.15;
/// Pressures of places on the ground: about 330 hPa on Mount Everest; the highest on record,
/// reduced to sea level, is 1084 hPa (WMO archive of extremes).
pub(super) const STATION_HPA: RangeInclusive<f64> = 300.0..=1100.0;
/// Altitudes of places on the ground: from the Dead Sea at −430 m to Mount Everest at 8849 m.
const ALTITUDE_M: RangeInclusive<f64> = -500.0..=9000.0;
/// Air temperatures: −89.2 °C (Vostok, 1983) and 56.7 °C (Furnace Creek, 1913) are the extremes on
/// record.
const AIR_C: RangeInclusive<f64> = -90.0..=60.0;

/// Mean sea level pressure from the pressure at the station, both in hPa, the altitude of its
/// barometer in metres and its air temperature in °C.
///
/// The hypsometric equation for a column of dry air that has the station's temperature all the way
/// down: p₀ = p · exp(g h / (R T)) (WMO-No. 8, part I, chapter 3; the form of MetPy's
/// `altimeter_to_sea_level_pressure`). Other reductions add a lapse rate and the humidity, or use
/// the mean temperature of the last 12 hours, and differ by some tenths of a hectopascal at 500 m;
/// on high ground they differ by several, so a value from 2 km up is only rough.
///
/// `None` outside 300 to 1100 hPa, −500 to 9000 m and −90 to 60 °C, which no place on the ground
/// exceeds, and for NaN.
///
/// ```
/// use mesonet::derived::mean_sea_level_pressure_hpa;
/// // As in MetPy's documentation.
/// let mslp_hpa = mean_sea_level_pressure_hpa(950.9654, 500.0, 30.0).unwrap();
/// assert_eq!((mslp_hpa * 1000.0).round() / 1000.0, 1006.089);
/// assert_eq!(mean_sea_level_pressure_hpa(1013.2, 0.0, 15.0), Some(1013.2));
/// assert_eq!(mean_sea_level_pressure_hpa(0.0, 500.0, 15.0), None);
/// ```
#[inline(always)]
pub fn mean_sea_level_pressure_hpa(
    station_pressure_hpa: f64,
    altitude_m: f64,
    air_temperature_c: f64,
) -> Option<f64> {
    let temperature_k = air_temperature_c + ZERO_CELSIUS_K;
    // One division: the constants are divided at compile time.
    let exponent = GRAVITY_M_PER_S2 / DRY_AIR_J_PER_KG_K * altitude_m / temperature_k;
    let mslp_hpa = station_pressure_hpa * exp(exponent);
    let defined = STATION_HPA.contains(&station_pressure_hpa)
        && ALTITUDE_M.contains(&altitude_m)
        && AIR_C.contains(&air_temperature_c);
    defined.then_some(mslp_hpa)
}
slice_form!(
    mean_sea_level_pressure_hpa_into,
    mean_sea_level_pressure_hpa(station_pressure_hpa, altitude_m, air_temperature_c)
);

/// Pressure at the station from the altimeter setting, both in hPa, and the altitude in metres.
///
/// The altimeter setting is the station's pressure reduced to sea level through the standard
/// atmosphere, for a point 10 ft above the runway; this undoes it (Smithsonian Meteorological
/// Tables, 6th ed., 1951, p. 269): p = (Aⁿ − p₀ⁿ γ h / T₀)^(1/n) + 0.3, with p₀ = 1013.25 hPa,
/// T₀ = 288 K, γ = 6.5 K/km and n = γ R / g.
///
/// `None` if the numbers are outside the standard atmosphere: an altimeter setting that is not
/// positive, or an altitude above its top.
///
/// ```
/// use mesonet::unit::inches_of_mercury_to_hpa;
/// use mesonet::derived::station_pressure_hpa;
/// // As in MetPy's documentation.
/// let pressure_hpa = station_pressure_hpa(inches_of_mercury_to_hpa(29.8), 500.0).unwrap();
/// assert_eq!((pressure_hpa * 1000.0).round() / 1000.0, 950.965);
/// assert_eq!(station_pressure_hpa(1013.25, 50_000.0), None);
/// ```
pub fn station_pressure_hpa(altimeter_hpa: f64, altitude_m: f64) -> Option<f64> {
    let power = libm::pow(altimeter_hpa, ALTIMETER_POWER) - reduction(altitude_m);
    let pressure_hpa = libm::pow(power, 1.0 / ALTIMETER_POWER) + 0.3;
    Some(pressure_hpa)
        .filter(|pressure_hpa| altimeter_hpa > 0.0 && power > 0.0 && pressure_hpa.is_finite())
}
slice_form!(station_pressure_hpa_into, station_pressure_hpa(altimeter_hpa, altitude_m));

const SEA_LEVEL_K: f64 = 288.0;
const LAPSE_K_PER_M: f64 = 0.0065;
/// The power n of the altimeter setting.
const ALTIMETER_POWER: f64 = LAPSE_K_PER_M * DRY_AIR_J_PER_KG_K / GRAVITY_M_PER_S2;

/// p₀ⁿ, with p₀ = 1013.25 hPa.
const SEA_LEVEL_POWER: f64 = 3.731352269924587;

fn reduction(altitude_m: f64) -> f64 {
    SEA_LEVEL_POWER * LAPSE_K_PER_M * altitude_m / SEA_LEVEL_K
}

/// The altimeter setting of a station pressure, both in hPa: the inverse of
/// [`station_pressure_hpa`]. `None` outside 300 to 1100 hPa and −500 to 9000 m.
#[cfg(feature = "checks")]
pub(crate) fn altimeter_hpa(station_pressure_hpa: f64, altitude_m: f64) -> Option<f64> {
    if !STATION_HPA.contains(&station_pressure_hpa) || !ALTITUDE_M.contains(&altitude_m) {
        return None;
    }
    let power = libm::pow(station_pressure_hpa - 0.3, ALTIMETER_POWER) + reduction(altitude_m);
    Some(libm::pow(power, 1.0 / ALTIMETER_POWER))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_power_of_the_sea_level_pressure_is_what_it_says() {
        assert_eq!(SEA_LEVEL_POWER, libm::pow(1013.25, ALTIMETER_POWER));
    }

    proptest! {
        #[test]
        fn a_pressure_is_finite_or_none(a: f64, b: f64, c: f64) {
            prop_assert!(station_pressure_hpa(a, b).is_none_or(f64::is_finite));
            prop_assert!(mean_sea_level_pressure_hpa(a, b, c).is_none_or(f64::is_finite));
        }

        #[cfg(feature = "checks")]
        #[test]
        fn an_altimeter_setting_comes_back(
            altimeter in 900.0_f64..1080.0,
            altitude_m in -100.0_f64..4000.0,
        ) {
            let station = station_pressure_hpa(altimeter, altitude_m).unwrap();
            prop_assert!((altimeter_hpa(station, altitude_m).unwrap() - altimeter).abs() < 1e-6);
        }

        #[test]
        fn pressure_falls_with_altitude(altimeter_hpa in 900.0_f64..1080.0, altitude_m in 0.0_f64..5000.0) {
            let low = station_pressure_hpa(altimeter_hpa, altitude_m).unwrap();
            let high = station_pressure_hpa(altimeter_hpa, altitude_m + 10.0).unwrap();
            prop_assert!(high < low && low <= altimeter_hpa + 0.3);
        }

        #[test]
        fn sea_level_pressure_is_above_that_of_a_station_above_the_sea(
            station_hpa in 600.0_f64..1080.0,
            altitude_m in 0.1_f64..4000.0,
            air_c in -60.0_f64..50.0,
        ) {
            let mslp = |altitude_m, air_c| mean_sea_level_pressure_hpa(station_hpa, altitude_m, air_c).unwrap();
            prop_assert!(mslp(altitude_m, air_c) > station_hpa);
            prop_assert!(mslp(-altitude_m / 10.0, air_c) < station_hpa);
            // Cold air is heavier.
            prop_assert!(mslp(altitude_m, air_c - 1.0) > mslp(altitude_m, air_c));
        }
    }
}
