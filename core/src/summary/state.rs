//! The mean of a variable: of the means of its hours.

use super::columns::{SeriesColumns, WindowReading};
use super::{Coverage, Mean};
use crate::observation::Quality;
use crate::time::{HOUR_MS, HalfOpenWindow, MINUTE_MS};

use super::hours;

/// Collects the readings of each hour.
#[derive(Debug, Default)]
pub(super) struct HourlyMeans {
    hours: Vec<HourlyMean>,
    quality: Option<Quality>,
    readings: u32,
    first_ms: i64,
    last_ms: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct HourlyMean {
    sum: f64,
    readings: u32,
    /// The series of the hour, by its place in the order of preference.
    series: usize,
}

impl HourlyMeans {
    pub(super) fn begin(&mut self, window: HalfOpenWindow) {
        self.hours.clear();
        self.hours.resize(hours::count(window), HourlyMean::default());
        (self.quality, self.readings) = (None, 0);
        (self.first_ms, self.last_ms) = (i64::MAX, i64::MIN);
    }

    /// Shows a usable reading. The series come in the order of preference, and one that comes later
    /// fills only hours without a reading.
    pub(super) fn show(
        &mut self,
        of: &SeriesColumns<'_>,
        preference: usize,
        counted: WindowReading,
        window: HalfOpenWindow,
    ) {
        // A mean of an hour ends with it.
        let (from_ms, to_ms) = counted.interval_ms;
        let at_ms = if from_ms == to_ms { to_ms } else { to_ms - 1 };
        let hour = &mut self.hours[((at_ms - window.start_ms()) / HOUR_MS) as usize];
        if hour.readings > 0 && hour.series != preference {
            return;
        }
        hour.series = preference;
        hour.sum += counted.value;
        hour.readings += 1;
        let quality = of.quality[counted.at].quality();
        self.quality = Some(self.quality.map_or(quality, |worst| worst.worse(quality)));
        self.readings += 1;
        self.first_ms = self.first_ms.min(counted.ts_ms);
        self.last_ms = self.last_ms.max(counted.ts_ms);
    }

    pub(super) fn found(&self, window: HalfOpenWindow) -> Option<Mean> {
        let quality = self.quality?;
        let (mut sum, mut terms, mut covered_ms) = (0.0, 0, 0);
        for (at, hour) in self.hours.iter().enumerate().filter(|(_, hour)| hour.readings > 0) {
            sum += hour.sum / f64::from(hour.readings);
            terms += 1;
            let start_ms = window.start_ms() + at as i64 * HOUR_MS;
            covered_ms += HOUR_MS.min(window.end_ms() - start_ms);
        }
        Some(Mean {
            sum,
            terms,
            readings: self.readings,
            first_ms: self.first_ms,
            last_ms: self.last_ms,
            quality,
            coverage: Coverage::of(covered_ms / MINUTE_MS, window),
        })
    }
}
