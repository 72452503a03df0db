//! Value type: a number that does not stand for a missing value.

use super::limits::ValueLimits;
use crate::observation::{BaseQuality, Quality, ReasonQuality, SeriesKey, Variable};
use crate::unit::{Conversion, Resolution, Unit};

/// NaN is no value: Missing, reason Missing. An infinite value, or one that stands for "no value",
/// is Missing, reason ValueType.
pub(super) fn value(variable: Variable, value: f64, limits: &ValueLimits) -> Option<Quality> {
    without_value(value)
        .or_else(|| limits.is_sentinel(variable, value).then(|| missing(ReasonQuality::ValueType)))
}

/// The verdict on something that is not a number of any variable.
pub(crate) fn without_value(value: f64) -> Option<Quality> {
    if value.is_nan() {
        Some(missing(ReasonQuality::Missing))
    } else {
        value.is_infinite().then(|| missing(ReasonQuality::ValueType))
    }
}

/// How values of a series may be converted to the unit of the limits, if they are in another unit:
/// one conversion for each unit that the text of their unit may stand for, or for each unit of the
/// variable's dimension if the text is unknown. Empty if the values are in the unit of the limits,
/// or if their unit is of another quantity.
pub(super) fn meanings(key: &SeriesKey) -> Vec<Conversion> {
    let to = key.variable.unit();
    if key.reported_unit == to.symbol() || to == Unit::One {
        return Vec::new();
    }
    let resolved = Unit::resolve(&key.reported_unit, None);
    let units = match resolved {
        Resolution::Unknown => Unit::ALL,
        Resolution::Exact(_) | Resolution::Ambiguous(_) => resolved.units(),
    };
    units.iter().filter_map(|&from| Conversion::between(from, to).ok()).collect()
}

fn missing(reason: ReasonQuality) -> Quality {
    Quality { base: BaseQuality::Missing, reason }
}
