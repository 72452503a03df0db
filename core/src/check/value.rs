//! Value type: a number that does not stand for a missing value.

use super::limits::ValueLimits;
use crate::observation::{BaseQuality, Quality, ReasonQuality, Variable};

/// NaN is no value: Missing, reason Missing. An infinite value, or one that stands for "no value",
/// is Missing, reason ValueType.
pub(super) fn value(variable: Variable, value: f64, limits: &ValueLimits) -> Option<Quality> {
    without_value(value)
        .or_else(|| limits.is_sentinel(variable, value).then(|| missing(ReasonQuality::ValueType)))
}

/// The verdict on what is no number of any variable.
pub(crate) fn without_value(value: f64) -> Option<Quality> {
    if value.is_nan() {
        Some(missing(ReasonQuality::Missing))
    } else {
        value.is_infinite().then(|| missing(ReasonQuality::ValueType))
    }
}

fn missing(reason: ReasonQuality) -> Quality {
    Quality { base: BaseQuality::Missing, reason }
}
