//! Values that are calculated from others. Each formula names its source.

use crate::station::StationType;

/// Height at which winds are compared: 10 m (WMO-No. 8, part I, chapter 5).
const REFERENCE_HEIGHT_M: f64 = 10.0;

/// Roughness length of an exposure class in metres.
///
/// Davenport's classes as WMO-No. 8 (part I, chapter 5, annex) gives them: open water 0.0002 m;
/// open country 0.03 m; suburban 0.5 m, the lower end of 0.5 to 1 m.
pub const fn roughness_m(exposure: StationType) -> f64 {
    match exposure {
        StationType::OpenWater => 0.0002,
        StationType::OpenCountry => 0.03,
        StationType::Suburban => 0.5,
    }
}

/// Wind speed at 10 m from that at the height of the sensor, by the logarithmic law of neutral
/// air: u₁₀ = u · ln(10/z₀) / ln(z/z₀) (WMO-No. 8, part I, chapter 5). The unit of the speed is kept.
///
/// `None` where the height is 0, which means that it is unknown, where it does not rise above the
/// roughness length, where the roughness length is not between 0 and 10 m, or where a number is
/// not finite.
///
/// ```
/// use mesonet::{StationType, roughness_m, wind_at_10m};
/// let open_water_m = roughness_m(StationType::OpenWater);
/// let at_10m = wind_at_10m(36.0, 4.0, open_water_m).unwrap();
/// assert!((at_10m - 39.33).abs() < 0.01);
/// // At 10 m the law is the identity, to the last digit.
/// assert_eq!(wind_at_10m(12.964, 10.0, 0.03), Some(12.964));
/// assert_eq!(wind_at_10m(36.0, 0.0, open_water_m), None);
/// ```
pub fn wind_at_10m(speed: f64, sensor_height_m: f64, roughness_m: f64) -> Option<f64> {
    let defined = speed.is_finite()
        && sensor_height_m.is_finite()
        && roughness_m > 0.0
        && roughness_m < REFERENCE_HEIGHT_M
        && sensor_height_m > roughness_m;
    // The difference of two logarithms, because a quotient of two heights can overflow.
    let log = |height_m: f64| libm::log(height_m) - libm::log(roughness_m);
    // The ratio first: it is exactly 1 for a sensor at 10 m.
    let at_10m = speed * (log(REFERENCE_HEIGHT_M) / log(sensor_height_m));
    Some(at_10m).filter(|at_10m| defined && at_10m.is_finite())
}

/// Pressure at the station from the altimeter setting, both in hPa, and the altitude in metres.
///
/// The altimeter setting is the station's pressure reduced to sea level through the standard
/// atmosphere, for a point 10 ft above the runway; this undoes it (Smithsonian Meteorological
/// Tables, 6th ed., 1951, p. 269): p = (Aⁿ − p₀ⁿ γ h / T₀)^(1/n) + 0.3, with p₀ = 1013.25 hPa,
/// T₀ = 288 K, γ = 6.5 K/km and n = γ R / g.
///
/// `None` where the numbers are outside of what the standard atmosphere knows: an altimeter setting
/// that is not positive, an altitude above its top.
///
/// ```
/// use mesonet::{inches_of_mercury_to_hpa, station_pressure_hpa};
/// // As MetPy's documentation has it.
/// let pressure_hpa = station_pressure_hpa(inches_of_mercury_to_hpa(29.8), 500.0).unwrap();
/// assert_eq!((pressure_hpa * 1000.0).round() / 1000.0, 950.965);
/// assert_eq!(station_pressure_hpa(1013.25, 50_000.0), None);
/// ```
pub fn station_pressure_hpa(altimeter_hpa: f64, altitude_m: f64) -> Option<f64> {
    const SEA_LEVEL_HPA: f64 = 1013.25;
    const SEA_LEVEL_K: f64 = 288.0;
    const LAPSE_K_PER_M: f64 = 0.0065;
    /// Gas constant of dry air in J/(kg K): 8.314462618 J/(mol K) by 28.96546 g/mol.
    const DRY_AIR: f64 = 8.314_462_618 / 0.028_965_46;
    const GRAVITY: f64 = 9.80665;
    let n = LAPSE_K_PER_M * DRY_AIR / GRAVITY;
    let reduction = libm::pow(SEA_LEVEL_HPA, n) * LAPSE_K_PER_M * altitude_m / SEA_LEVEL_K;
    let power = libm::pow(altimeter_hpa, n) - reduction;
    let pressure_hpa = libm::pow(power, 1.0 / n) + 0.3;
    Some(pressure_hpa)
        .filter(|pressure_hpa| altimeter_hpa > 0.0 && power > 0.0 && pressure_hpa.is_finite())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_roughness_near_zero_does_not_overflow() {
        assert!(wind_at_10m(1.0, 5.692e189, 1.408e-308).is_some());
        assert_eq!(wind_at_10m(1.0, 0.03_f64.next_up(), 0.03), None);
    }

    proptest! {
        #[test]
        fn a_derived_value_is_finite_or_none(a: f64, b: f64, c: f64) {
            prop_assert!(wind_at_10m(a, b, c).is_none_or(f64::is_finite));
            prop_assert!(station_pressure_hpa(a, b).is_none_or(f64::is_finite));
        }

        #[test]
        fn wind_grows_with_height(speed in 0.1_f64..200.0, height_m in 0.6_f64..9.9) {
            for exposure in [StationType::OpenCountry, StationType::Suburban, StationType::OpenWater] {
                prop_assert!(wind_at_10m(speed, height_m, roughness_m(exposure)).unwrap() > speed);
            }
        }

        #[test]
        fn pressure_falls_with_altitude(altimeter_hpa in 900.0_f64..1080.0, altitude_m in 0.0_f64..5000.0) {
            let low = station_pressure_hpa(altimeter_hpa, altitude_m).unwrap();
            let high = station_pressure_hpa(altimeter_hpa, altitude_m + 10.0).unwrap();
            prop_assert!(high < low && low <= altimeter_hpa + 0.3);
        }
    }
}
