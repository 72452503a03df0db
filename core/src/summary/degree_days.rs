//! Heating and cooling degree days.

use super::{Coverage, Extreme};
use crate::observation::Quality;

/// Degree days: how far the mean of a day's extremes is below (heating) or above (cooling) a base.
///
/// The National Weather Service rounds that mean to whole °F first; nothing is rounded here.
///
/// ```
/// use mesonet::summary::DegreeDays;
/// let base_c = (65.0 - 32.0) / 1.8;
/// // 22 °F and 6 °F: a mean of 14 °F, 51 degrees below 65 °F.
/// let [max_c, min_c] = [22.0, 6.0].map(|f: f64| (f - 32.0) / 1.8);
/// let (heating, cooling) = DegreeDays::of_extremes(max_c, min_c, base_c);
/// assert!((heating * 1.8 - 51.0).abs() < 1e-9);
/// assert_eq!(cooling, 0.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DegreeDays {
    /// The base in °C.
    pub base_c: f64,
    /// Heating degree days, in °C times days.
    pub heating: f64,
    /// Cooling degree days, in °C times days.
    pub cooling: f64,
    /// How many days they are of.
    pub days: u32,
    /// The worse verdict on the extremes.
    pub quality: Quality,
    /// How much of the period is known: for a day, the less of what is known for its extremes.
    pub coverage: Coverage,
}

impl DegreeDays {
    /// Returns the heating and the cooling degree days of a day.
    pub fn of_extremes(max_c: f64, min_c: f64, base_c: f64) -> (f64, f64) {
        let mean_c = f64::midpoint(max_c, min_c);
        ((base_c - mean_c).max(0.0), (mean_c - base_c).max(0.0))
    }

    pub(super) fn of_day(max: &Extreme, min: &Extreme, base_c: f64) -> Self {
        let (heating, cooling) = Self::of_extremes(max.value, min.value, base_c);
        let coverage = std::cmp::min_by_key(max.coverage, min.coverage, |of| of.minutes);
        Self {
            base_c,
            heating,
            cooling,
            days: 1,
            quality: max.quality.worse(min.quality),
            coverage,
        }
    }
}
