//! Wind at the standard height of 10 m.

#![allow(clippy::inline_always, reason = "each caller has the instructions that it may use")]

use super::elementary::log;
use super::slices::slice_form;
use crate::observation::StationType;

/// Height at which winds are compared: 10 m (WMO-No. 8, part I, chapter 5).
const REFERENCE_HEIGHT_M: f64 = 10.0;

/// Roughness length of an exposure class in metres.
///
/// Davenport's classes as given in WMO-No. 8 (part I, chapter 5, annex): open water 0.0002 m;
/// open country 0.03 m; suburban 0.5 m, the lower end of 0.5 to 1 m.
pub const fn roughness_m(exposure: StationType) -> f64 {
    match exposure {
        StationType::OpenWater => 0.0002,
        StationType::OpenCountry => 0.03,
        StationType::Suburban => 0.5,
    }
}

/// Wind speed at 10 m from that at the height of the sensor, by the logarithmic law for neutral
/// air: u₁₀ = u · ln(10/z₀) / ln(z/z₀) (WMO-No. 8, part I, chapter 5). The unit of the speed is
/// kept.
///
/// `None` if the height is 0, which means unknown, if it is not above the roughness length, if the
/// roughness length is not between 0 and 10 m, or if a number is not finite.
///
/// ```
/// use mesonet::StationType;
/// use mesonet::derived::{roughness_m, wind_at_10m};
/// let open_water_m = roughness_m(StationType::OpenWater);
/// let at_10m = wind_at_10m(36.0, 4.0, open_water_m).unwrap();
/// assert!((at_10m - 39.33).abs() < 0.01);
/// // At 10 m the law is the identity, to the last digit.
/// assert_eq!(wind_at_10m(12.964, 10.0, 0.03), Some(12.964));
/// assert_eq!(wind_at_10m(36.0, 0.0, open_water_m), None);
/// ```
#[inline(always)]
pub fn wind_at_10m(speed: f64, sensor_height_m: f64, roughness_m: f64) -> Option<f64> {
    let defined = speed.is_finite()
        && sensor_height_m.is_finite()
        && roughness_m > 0.0
        && roughness_m < REFERENCE_HEIGHT_M
        && sensor_height_m > roughness_m;
    let log_roughness = log(roughness_m);
    // The difference of two logarithms, because a quotient of two heights can overflow.
    let log_ratio = |height_m: f64| log(height_m) - log_roughness;
    // The ratio first: it is exactly 1 for a sensor at 10 m.
    let at_10m = speed * (log_ratio(REFERENCE_HEIGHT_M) / log_ratio(sensor_height_m));
    Some(at_10m).filter(|at_10m| defined && at_10m.is_finite())
}
slice_form!(wind_at_10m_into, wind_at_10m(speed, sensor_height_m, roughness_m));

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
        fn a_wind_is_finite_or_none(a: f64, b: f64, c: f64) {
            prop_assert!(wind_at_10m(a, b, c).is_none_or(f64::is_finite));
        }

        #[test]
        fn wind_grows_with_height(speed in 0.1_f64..200.0, height_m in 0.6_f64..9.9) {
            for exposure in [StationType::OpenCountry, StationType::Suburban, StationType::OpenWater] {
                prop_assert!(wind_at_10m(speed, height_m, roughness_m(exposure)).unwrap() > speed);
            }
        }
    }
}
