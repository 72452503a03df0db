//! Physical limits: values beyond them are impossible, whatever the sensor or the source says.

use super::StationSite;
use super::limits::{PhysicalLimits, ValueBounds};
use crate::derived::station_pressure_hpa;
use crate::observation::{BaseQuality, IntervalType, Quality, ReasonQuality, SeriesKey};

/// The altitudes used to judge a pressure where the altitude of the station is not known: the whole
/// range of places on the ground, from below the shore of the Dead Sea to above Mount Everest.
const ALTITUDES_M: [f64; 2] = [9000.0, -450.0];

/// The limits of one series at its station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Physical<'a> {
    pub bounds: ValueBounds,
    pub limits: &'a PhysicalLimits,
}

impl<'a> Physical<'a> {
    /// The limits of a series in the unit of the limits.
    pub(super) fn new(limits: &'a PhysicalLimits, site: &StationSite, key: &SeriesKey) -> Self {
        let ValueBounds { min, max } = limits.bounds;
        let bounds = if limits.at_sea_level {
            // The limits are brought to the height of the station through the standard atmosphere.
            let [top_m, bottom_m] =
                site.altitude_m.map_or(ALTITUDES_M, |altitude_m| [altitude_m; 2]);
            ValueBounds {
                min: station_pressure_hpa(min, top_m).unwrap_or(0.0),
                max: station_pressure_hpa(max, bottom_m).unwrap_or(f64::INFINITY),
            }
        } else {
            ValueBounds { min, max: limits.amount(key).map_or(max, |amount| max.min(amount)) }
        };
        Self { bounds, limits }
    }

    /// The verdict on a value beyond the limits.
    pub(super) fn verdict(&self, value: f64) -> Option<Quality> {
        let impossible = Quality { base: BaseQuality::Error, reason: ReasonQuality::Range };
        (!self.bounds.contains(value)).then_some(impossible)
    }
}

impl PhysicalLimits {
    /// The greatest amount of the interval of a total, if its length is known.
    fn amount(&self, key: &SeriesKey) -> Option<f64> {
        let is_total = key.interval_type == IntervalType::Cumulative && key.interval_minutes > 0;
        self.amounts.as_ref().filter(|_| is_total).map(|of| of.max(key.interval_minutes))
    }
}

#[cfg(test)]
#[path = "physical_tests.rs"]
mod tests;
