//! The readings of a series as a store provides them: in one slice or several.

use std::ops::Range;
use std::sync::Arc;

use crate::check::OneSeries;
use crate::observation::{Qualifier, Quality, Series, SeriesId, SeriesKey};
use crate::store::{SeriesSlice, StoreError};

/// One series of a station, in consecutive parts.
pub(super) struct Parts<'s, 'a> {
    slices: &'s [SeriesSlice<'a>],
    /// The number of readings in all parts, and in those before the last.
    len: usize,
    last_from: usize,
}

impl<'s, 'a> Parts<'s, 'a> {
    /// Groups the slices of a scan into the series of a station.
    pub(super) fn of_station(slices: &'s [SeriesSlice<'a>]) -> Result<Vec<Self>, StoreError> {
        slices
            .chunk_by(|one, next| one.series.id == next.series.id)
            .map(|slices| {
                for slice in slices {
                    let SeriesSlice { series, ts_ms, value, quality, source, revision, qualifier } =
                        slice;
                    let verdicts = [quality.len(), source.len()];
                    let codes = [revision.len(), qualifier.len()];
                    let lengths =
                        [ts_ms.len(), value.len(), verdicts[0], verdicts[1], codes[0], codes[1]];
                    if lengths != [lengths[0]; 6] {
                        return Err(StoreError::Columns(format!(
                            "series {}: times, values, verdicts, revisions and qualifiers must have the same length; \
                             got {lengths:?}",
                            series.id
                        )));
                    }
                }
                let len = slices.iter().map(|slice| slice.ts_ms.len()).sum();
                let last = slices.last().map_or(0, |slice| slice.ts_ms.len());
                Ok(Self { slices, len, last_from: len - last })
            })
            .collect()
    }

    /// Returns the series.
    pub(super) fn series(&self) -> &'a Arc<Series> {
        self.slices[0].series
    }

    /// Returns the stored verdict on a reading.
    pub(super) fn stored(&self, reading: usize) -> Quality {
        let (slice, at) = self.place(reading);
        slice.quality[at].quality()
    }

    /// Returns the qualifier of a reading.
    pub(super) fn qualifier(&self, reading: usize) -> Option<Qualifier> {
        let (slice, at) = self.place(reading);
        Qualifier::of_code(slice.qualifier[at])
    }

    /// Returns the reading at a moment.
    pub(super) fn at(&self, ts_ms: i64) -> Option<usize> {
        let reading = self.before(ts_ms);
        (reading < self.len && self.ts_ms(reading) == ts_ms).then_some(reading)
    }

    /// Returns the readings between two moments, both included.
    pub(super) fn between(&self, from_ms: i64, to_ms: i64) -> Range<usize> {
        let from = self.before(from_ms);
        from..self.until(to_ms).max(from)
    }

    /// Returns all readings in order: time, value, the source's verdict and the stored one.
    pub(super) fn readings(&self) -> impl Iterator<Item = (i64, f64, Quality, Quality)> + '_ {
        self.slices.iter().flat_map(|of| {
            let verdicts = of.source.iter().zip(of.quality);
            let readings = of.ts_ms.iter().zip(of.value).zip(verdicts);
            readings.map(|((&ts_ms, &value), (source, stored))| {
                (ts_ms, value, source.quality(), stored.quality())
            })
        })
    }

    #[inline]
    fn place(&self, reading: usize) -> (&SeriesSlice<'a>, usize) {
        // Usually the latest readings are requested.
        let mut part = self.slices.len() - 1;
        let mut from = self.last_from;
        while reading < from {
            part -= 1;
            from -= self.slices[part].ts_ms.len();
        }
        (&self.slices[part], reading - from)
    }
}

impl OneSeries for Parts<'_, '_> {
    fn key(&self) -> &SeriesKey {
        &self.series().key
    }

    fn id(&self) -> SeriesId {
        self.series().id
    }

    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn ts_ms(&self, reading: usize) -> i64 {
        let (slice, at) = self.place(reading);
        slice.ts_ms[at]
    }

    #[inline]
    fn value(&self, reading: usize) -> f64 {
        let (slice, at) = self.place(reading);
        slice.value[at]
    }

    #[inline]
    fn source(&self, reading: usize) -> Quality {
        let (slice, at) = self.place(reading);
        slice.source[at].quality()
    }
}
