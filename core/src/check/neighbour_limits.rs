//! The limits of the check of neighbours.

use serde::Deserialize;

use super::interpolation::MOST;
use super::limits::{Amount, Hours};
use crate::time::HOUR_MS;

/// How values are compared with those around them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CompareLimits {
    pub radius_km: f64,
    pub nearest: usize,
    pub at_least: usize,
    pub deviation: f64,
    pub variance_per_km: f64,
    pub km_per_m: f64,
    pub lapse_per_m: Option<f64>,
    pub change_per_hour: f64,
    pub threshold: f64,
}

/// Limits of the neighbour check.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "NeighbourText")]
pub(super) struct NeighbourLimits {
    pub compare: CompareLimits,
    pub between: Hours,
    pub beside: Hours,
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NeighbourText {
    radius_km: Amount,
    nearest: usize,
    at_least: usize,
    deviation: Amount,
    variance_per_km: Amount,
    km_per_m: Amount,
    lapse_per_m: Option<Amount>,
    change_per_hour: Amount,
    between_hours: Hours,
    beside_hours: Hours,
    threshold: Amount,
    source: String,
}

impl TryFrom<NeighbourText> for NeighbourLimits {
    type Error = String;
    fn try_from(text: NeighbourText) -> Result<Self, String> {
        // Beyond a day, or a quarter of the globe, values say nothing about each other.
        const MOST_MS: i64 = 24 * HOUR_MS;
        const MOST_KM: f64 = 10_000.0;
        let NeighbourText { radius_km, nearest, at_least, deviation, threshold, .. } = text;
        if at_least < 2 || nearest < at_least || nearest >= MOST {
            return Err(format!(
                "at_least must be 2 or more, and nearest from at_least to {}; got {at_least} and \
                 {nearest}",
                MOST - 1
            ));
        }
        if radius_km.0 <= 0.0 || radius_km.0 > MOST_KM || deviation.0 <= 0.0 || threshold.0 <= 0.0 {
            return Err(format!(
                "radius_km, deviation and threshold must be more than 0, and radius_km at most \
                 {MOST_KM}"
            ));
        }
        if text.between_hours.ms.max(text.beside_hours.ms) > MOST_MS {
            return Err("between_hours and beside_hours must be at most 24".to_owned());
        }
        Ok(Self {
            compare: CompareLimits {
                radius_km: radius_km.0,
                nearest,
                at_least,
                deviation: deviation.0,
                variance_per_km: text.variance_per_km.0,
                km_per_m: text.km_per_m.0,
                lapse_per_m: text.lapse_per_m.map(|lapse| lapse.0),
                change_per_hour: text.change_per_hour.0,
                threshold: threshold.0,
            },
            between: text.between_hours,
            beside: text.beside_hours,
            source: text.source,
        })
    }
}
