//! Value type: a number that does not stand for a missing value.

use super::limits::ValueLimits;
use crate::observation::{BaseQuality, Quality, ReasonQuality, Variable};

/// NaN is no value: Missing, reason Missing. An infinite value, or one that stands for "no value",
/// is Missing, reason ValueType.
pub(super) fn value(variable: Variable, value: f64, limits: &ValueLimits) -> Option<Quality> {
    let missing = |reason| Some(Quality { base: BaseQuality::Missing, reason });
    if value.is_nan() {
        missing(ReasonQuality::Missing)
    } else if value.is_infinite() || limits.is_sentinel(variable, value) {
        missing(ReasonQuality::ValueType)
    } else {
        None
    }
}
