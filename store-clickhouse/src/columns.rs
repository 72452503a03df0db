//! The readings of a station in columns, the newest version of each.

use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use mesonet::Series;
use mesonet::observation::QualityCode;
use mesonet::store::SeriesSlice;

use crate::rows::{ReadingRow, StationKey};
use crate::series::KnownSeries;

/// The first and the last instant that are asked for.
pub(crate) type Times = RangeInclusive<i64>;

/// Which readings of a window are asked for.
#[derive(Clone, Copy)]
pub(crate) enum Which {
    All,
    /// The last of each series.
    Latest,
}

/// Columns of one length. The readings of a series are together, and ascend in time.
#[derive(Clone, Debug, Default)]
pub(crate) struct StationColumns {
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    quality: Vec<QualityCode>,
    source: Vec<QualityCode>,
    revision: Vec<u8>,
    qualifier: Vec<u8>,
    version: Vec<u16>,
    /// Sorted by id.
    series: Vec<(Arc<Series>, Range<usize>)>,
}

impl StationColumns {
    pub(crate) fn len(&self) -> usize {
        self.ts_ms.len()
    }

    /// What they take in memory, with what goes with each: eight arrays, and an entry in a table.
    pub(crate) fn bytes(&self) -> usize {
        400 + 24 * self.series.len() + 22 * self.len()
    }

    /// Takes the readings of `older` together with rows, which are sorted by series, time, version
    /// and batch. What was here before is gone.
    pub(crate) fn fill(&mut self, older: &Self, rows: &[ReadingRow], table: &KnownSeries) {
        self.clear();
        self.reserve(older.len() + rows.len());
        let mut others = older.series.iter().peekable();
        for of_series in rows.chunk_by(|a, b| a.series == b.series) {
            let Some(known) = table.by_id(of_series[0].series) else { continue };
            while let Some((series, range)) = others.next_if(|(other, _)| other.id < known.id) {
                self.begin(series);
                self.extend(older, range.clone());
            }
            let same = others.next_if(|(other, _)| other.id == known.id);
            self.begin(known);
            self.merge(older, same.map_or(0..0, |(_, range)| range.clone()), of_series);
        }
        for (series, range) in others {
            self.begin(series);
            self.extend(older, range.clone());
        }
    }

    /// Adds the readings of a series from older columns and from rows. Of two with the same time,
    /// the one with the higher version counts.
    fn merge(&mut self, older: &Self, mut range: Range<usize>, rows: &[ReadingRow]) {
        for versions in rows.chunk_by(|a, b| a.ts_ms == b.ts_ms) {
            let newest = &versions[versions.len() - 1];
            let end = range.start
                + older.ts_ms[range.clone()].partition_point(|&ts_ms| ts_ms < newest.ts_ms);
            self.extend(older, range.start..end);
            range.start = end;
            if !range.is_empty() && older.ts_ms[end] == newest.ts_ms {
                range.start = end + 1;
                if older.version[end] > newest.version {
                    self.extend(older, end..end + 1);
                    continue;
                }
            }
            self.push(newest);
        }
        self.extend(older, range);
    }

    /// The series with the places of their readings in the columns, sorted by id.
    pub(crate) fn series(&self) -> impl Iterator<Item = (&Arc<Series>, Range<usize>)> {
        self.series.iter().map(|(series, range)| (series, range.clone()))
    }

    /// Narrows the places of a series to the readings from one instant to another, both included.
    pub(crate) fn between(
        &self,
        range: Range<usize>,
        (from_ms, to_ms): (i64, i64),
    ) -> Range<usize> {
        let times = &self.ts_ms[range.clone()];
        let (Some(&first_ms), Some(&last_ms)) = (times.first(), times.last()) else { return 0..0 };
        let at = |found: usize| range.start + found;
        // Nearly all readings that are looked at are asked for.
        let start = if first_ms >= from_ms { 0 } else { times.partition_point(|&ms| ms < from_ms) };
        let end =
            if last_ms <= to_ms { times.len() } else { times.partition_point(|&ms| ms <= to_ms) };
        at(start)..at(end.max(start))
    }

    pub(crate) fn slice<'a>(
        &'a self,
        series: &'a Arc<Series>,
        range: Range<usize>,
    ) -> SeriesSlice<'a> {
        SeriesSlice {
            series,
            ts_ms: &self.ts_ms[range.clone()],
            value: &self.value[range.clone()],
            quality: &self.quality[range.clone()],
            source: &self.source[range.clone()],
            revision: &self.revision[range.clone()],
            qualifier: &self.qualifier[range],
        }
    }

    /// The readings at an instant, as rows whose batch is not known.
    pub(crate) fn at(
        &self,
        station: StationKey,
        ts_ms: i64,
    ) -> impl Iterator<Item = ReadingRow> + '_ {
        self.series.iter().filter_map(move |(series, range)| {
            let at = range.start + self.ts_ms[range.clone()].binary_search(&ts_ms).ok()?;
            Some(ReadingRow {
                station,
                series: series.id.0,
                ts_ms,
                version: self.version[at],
                batch: 0,
                value: self.value[at],
                quality: self.quality[at].0,
                source: self.source[at].0,
                revision: self.revision[at],
                qualifier: self.qualifier[at],
            })
        })
    }

    fn clear(&mut self) {
        let Self { ts_ms, value, quality, source, revision, qualifier, version, series } = self;
        ts_ms.clear();
        value.clear();
        quality.clear();
        source.clear();
        revision.clear();
        qualifier.clear();
        version.clear();
        series.clear();
    }

    fn reserve(&mut self, more: usize) {
        let Self { ts_ms, value, quality, source, revision, qualifier, version, series: _ } = self;
        ts_ms.reserve(more);
        value.reserve(more);
        quality.reserve(more);
        source.reserve(more);
        revision.reserve(more);
        qualifier.reserve(more);
        version.reserve(more);
    }

    fn begin(&mut self, series: &Arc<Series>) {
        let end = self.len();
        self.series.push((Arc::clone(series), end..end));
    }

    /// Adds a reading to the series that was begun last.
    fn push(&mut self, row: &ReadingRow) {
        self.ts_ms.push(row.ts_ms);
        self.value.push(row.value);
        self.quality.push(QualityCode(row.quality));
        self.source.push(QualityCode(row.source));
        self.revision.push(row.revision);
        self.qualifier.push(row.qualifier);
        self.version.push(row.version);
        self.end();
    }

    /// Adds readings of other columns to the series that was begun last.
    fn extend(&mut self, from: &Self, range: Range<usize>) {
        self.ts_ms.extend_from_slice(&from.ts_ms[range.clone()]);
        self.value.extend_from_slice(&from.value[range.clone()]);
        self.quality.extend_from_slice(&from.quality[range.clone()]);
        self.source.extend_from_slice(&from.source[range.clone()]);
        self.revision.extend_from_slice(&from.revision[range.clone()]);
        self.qualifier.extend_from_slice(&from.qualifier[range.clone()]);
        self.version.extend_from_slice(&from.version[range]);
        self.end();
    }

    fn end(&mut self) {
        let end = self.len();
        if let Some((_, range)) = self.series.last_mut() {
            range.end = end;
        }
    }
}
