//! The number of decimals to which calculated values are stored.

use crate::observation::Variable;

/// Rounds a calculated value to the resolution in which its variable is reported: whole percents
/// for `relativeHumidity`, and one decimal for everything else (°C, hPa, km/h).
///
/// These are the resolutions of WMO-No. 8, volume I, annex 1.A: 0.1 K, 0.1 hPa, 1 %; wind has 0.5
/// m/s there, and 0.1 km/h is finer. The inputs are reported to these resolutions, or more
/// coarsely: further digits of a result would come only from the formula. The formulas of this
/// module do not round.
///
/// ```
/// use mesonet::Variable;
/// use mesonet::derived::{dew_point_c, to_reported_resolution};
/// let dew_point = dew_point_c(22.4, 52.0).unwrap();
/// assert_ne!(dew_point, 12.1);
/// assert_eq!(to_reported_resolution(Variable::DewPointTemperature, dew_point), 12.1);
/// assert_eq!(to_reported_resolution(Variable::RelativeHumidity, 48.27), 48.0);
/// ```
pub fn to_reported_resolution(variable: Variable, value: f64) -> f64 {
    match variable {
        Variable::RelativeHumidity => value.round(),
        // The quotient is the double nearest to the decimal number.
        _ => (value * 10.0).round() / 10.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_value_stays_and_prints_as_a_decimal() {
        for tenths in -9000..9000 {
            let value = f64::from(tenths) / 10.0;
            let rounded = to_reported_resolution(Variable::AirTemperature, value + 0.04);
            assert_eq!(rounded, value);
            assert!(rounded.to_string().len() <= "-900.0".len());
        }
        assert!(to_reported_resolution(Variable::Mslp, f64::NAN).is_nan());
    }
}
