//! The quality of a derived value: the worst of its inputs.

use crate::observation::{BaseQuality, Quality};

/// Applies a formula to values with verdicts: the result has the worst verdict of the inputs, the
/// first one if several rank the same.
///
/// `None` if the formula gives none, or if an input is Missing or Suppressed: there is no value to
/// derive from, or the result would reveal a value that its source withholds. An Error input still
/// gives a value, which is an Error too.
///
/// ```
/// use mesonet::{BaseQuality, Quality, ReasonQuality};
/// use mesonet::derived::{derive_with_quality, dew_point_c};
/// let doubtful = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Range };
/// let dew_point = |air, humidity| {
///     derive_with_quality([air, humidity], |[air_c, pct]| dew_point_c(air_c, pct))
/// };
/// let (_, quality) = dew_point((20.0, Quality::GOOD), (80.0, doubtful)).unwrap();
/// assert_eq!(quality, doubtful);
/// let withheld = Quality { base: BaseQuality::Suppressed, reason: ReasonQuality::Unknown };
/// assert_eq!(dew_point((20.0, Quality::GOOD), (80.0, withheld)), None);
/// ```
pub fn derive_with_quality<const N: usize>(
    inputs: [(f64, Quality); N],
    formula: impl FnOnce([f64; N]) -> Option<f64>,
) -> Option<(f64, Quality)> {
    let verdicts = inputs.iter().map(|&(_, quality)| quality);
    let worst = verdicts.reduce(Quality::worse).unwrap_or(Quality::UNCHECKED);
    if worst.base <= BaseQuality::Missing {
        return None;
    }
    formula(inputs.map(|(value, _)| value)).map(|value| (value, worst))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::ReasonQuality;

    #[test]
    fn each_pair_of_verdicts_gives_the_worse_or_nothing() {
        let of = |base| (1.0, Quality { base, reason: ReasonQuality::Unknown });
        for a in BaseQuality::ALL {
            for b in BaseQuality::ALL {
                let derived = derive_with_quality([of(a), of(b)], |[a, b]| Some(a + b));
                let worst = a.min(b);
                let wanted = (worst > BaseQuality::Missing).then_some((2.0, of(worst).1));
                assert_eq!(derived, wanted, "{a} and {b}");
            }
        }
    }

    #[test]
    fn the_first_of_equal_verdicts_gives_the_reason() {
        let of = |reason| (0.0, Quality { base: BaseQuality::Error, reason });
        let inputs = [of(ReasonQuality::Range), of(ReasonQuality::Increase)];
        let (_, quality) = derive_with_quality(inputs, |[a, _]| Some(a)).unwrap();
        assert_eq!(quality.reason, ReasonQuality::Range);
    }
}
