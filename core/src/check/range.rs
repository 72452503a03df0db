//! Range: the limits of a variable by latitude and season, amounts by the length of their interval,
//! and the extremes on record.

use chrono::{Datelike, NaiveDate};

use super::limits::{Band, RangeLimits};
use crate::observation::{BaseQuality, Quality, ReasonQuality};
use crate::time::DAY_MS;

/// Latitude, north or south, from which WMO's other limits apply (WMO-No. 305, VI.6).
const HIGH_LATITUDE: f64 = 45.0;

/// The bands of a variable at a latitude, one for October to March and one for April to September.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Seasons {
    october: Option<Band>,
    april: Option<Band>,
}

impl Seasons {
    pub(super) fn new(limits: &RangeLimits, latitude: f64) -> Self {
        let (winter, summer) = if latitude.abs() > HIGH_LATITUDE {
            (limits.high_winter, limits.high_summer)
        } else {
            (limits.low_winter, limits.low_summer)
        };
        let (winter, summer) = (winter.or(limits.always), summer.or(limits.always));
        // Winter in the south is summer in the north.
        let (october, april) = if latitude >= 0.0 { (winter, summer) } else { (summer, winter) };
        Self { october, april }
    }

    /// The band that applies at an instant.
    #[inline]
    pub(super) fn at(self, ts_ms: i64) -> Option<Band> {
        if self.october == self.april || is_april_to_september(ts_ms) {
            self.april
        } else {
            self.october
        }
    }
}

fn is_april_to_september(ts_ms: i64) -> bool {
    // An instant outside any calendar counts as one in January.
    i32::try_from(ts_ms.div_euclid(DAY_MS))
        .ok()
        .and_then(NaiveDate::from_epoch_days)
        .is_some_and(|date| (4..=9).contains(&date.month()))
}

/// A value outside the error bounds is Error. A value outside the doubtful bounds, or an amount
/// above the greatest of its interval, is Doubtful. The reason is Range.
#[inline]
pub(super) fn range(value: f64, band: Band, max_amount: Option<f64>) -> Option<Quality> {
    if band.error.is_some_and(|bounds| !bounds.contains(value)) {
        Some(Quality { base: BaseQuality::Error, reason: ReasonQuality::Range })
    } else if band.doubtful.is_some_and(|bounds| !bounds.contains(value))
        || max_amount.is_some_and(|max| value > max)
    {
        Some(Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Range })
    } else {
        None
    }
}

#[cfg(test)]
#[path = "range_tests.rs"]
mod tests;
