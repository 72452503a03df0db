//! What the checks need to know about the readings of one series.

use super::SeriesReadings;
use crate::observation::{Quality, SeriesId, SeriesKey};

/// The readings of one series at one station, ascending in time. They need not be in one column: a
/// store keeps them in parts.
pub(crate) trait OneSeries {
    fn key(&self) -> &SeriesKey;
    fn id(&self) -> SeriesId;
    fn len(&self) -> usize;
    /// Time of a reading, milliseconds since 1970.
    fn ts_ms(&self, reading: usize) -> i64;
    fn value(&self, reading: usize) -> f64;
    /// The source's verdict on it.
    fn source(&self, reading: usize) -> Quality;

    /// The number of readings before a moment: the index of the first at or after it.
    fn before(&self, ts_ms: i64) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            if self.ts_ms(middle) < ts_ms {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// The number of readings at or before a moment.
    #[cfg(feature = "store")]
    fn until(&self, ts_ms: i64) -> usize {
        ts_ms.checked_add(1).map_or(self.len(), |after_ms| self.before(after_ms))
    }
}

impl OneSeries for SeriesReadings<'_> {
    fn key(&self) -> &SeriesKey {
        self.key
    }

    fn id(&self) -> SeriesId {
        self.key.id()
    }

    fn len(&self) -> usize {
        self.ts_ms.len()
    }

    #[inline]
    fn ts_ms(&self, reading: usize) -> i64 {
        self.ts_ms[reading]
    }

    #[inline]
    fn value(&self, reading: usize) -> f64 {
        self.value[reading]
    }

    #[inline]
    fn source(&self, reading: usize) -> Quality {
        self.source.get(reading).copied().unwrap_or(Quality::UNCHECKED)
    }
}
