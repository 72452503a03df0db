//! The limits of the check of changes of neighbours.

use serde::Deserialize;

use super::limits::{Amount, Hours};
use crate::time::DAY_MS;

/// Limits of the check of changes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "ChangeText")]
pub(super) struct ChangeLimits {
    /// The least distance from the change of the neighbours, also in deviations.
    pub limit: f64,
    pub threshold: f64,
    pub deviation: f64,
    pub variance_per_km: f64,
    pub change_per_hour: f64,
    /// The least distance of the value itself from the neighbours' values, in deviations.
    pub level: f64,
    pub within: Hours,
    pub hold: Hours,
    /// Whether other sensors of the station may explain a fall.
    pub explained_falls: bool,
    /// The neighbours agree with a value within this number of deviations.
    pub agree: f64,
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeText {
    limit: Amount,
    threshold: Amount,
    deviation: Amount,
    variance_per_km: Amount,
    change_per_hour: Amount,
    level: Amount,
    within_hours: Hours,
    hold_hours: Hours,
    #[serde(default)]
    explained_falls: bool,
    agree: Amount,
    source: String,
}

impl TryFrom<ChangeText> for ChangeLimits {
    type Error = String;
    fn try_from(text: ChangeText) -> Result<Self, String> {
        const MOST_HOLD: Hours = Hours { ms: 2 * DAY_MS };
        let ChangeText { limit, threshold, deviation, within_hours, hold_hours, .. } = text;
        if limit.0 <= 0.0 || threshold.0 <= 0.0 || deviation.0 <= 0.0 {
            return Err("limit, threshold and deviation must be more than 0".to_owned());
        }
        if within_hours > hold_hours || hold_hours > MOST_HOLD {
            return Err("hold_hours must be at least within_hours and at most 48".to_owned());
        }
        Ok(Self {
            limit: limit.0,
            threshold: threshold.0,
            deviation: deviation.0,
            variance_per_km: text.variance_per_km.0,
            change_per_hour: text.change_per_hour.0,
            level: text.level.0,
            within: within_hours,
            hold: hold_hours,
            explained_falls: text.explained_falls,
            agree: text.agree.0,
            source: text.source,
        })
    }
}
