//! Readings in memory, in columns.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

use super::SeriesSlice;
use crate::observation::{QualityCode, Series, SeriesId};

/// Readings of one series at a station: columns of one length, ascending in time.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub ts_ms: Vec<i64>,
    pub value: Vec<f64>,
    pub quality: Vec<QualityCode>,
    pub source: Vec<QualityCode>,
    pub revision: Vec<u8>,
    pub qualifier: Vec<u8>,
}

impl Columns {
    /// Some of the readings; `None` without any.
    pub(crate) fn slice<'a>(
        &'a self,
        series: &'a Arc<Series>,
        range: Range<usize>,
    ) -> Option<SeriesSlice<'a>> {
        (!range.is_empty()).then(|| SeriesSlice {
            series,
            ts_ms: &self.ts_ms[range.clone()],
            value: &self.value[range.clone()],
            quality: &self.quality[range.clone()],
            source: &self.source[range.clone()],
            revision: &self.revision[range.clone()],
            qualifier: &self.qualifier[range],
        })
    }

    fn extend(&mut self, slice: &SeriesSlice<'_>) {
        self.ts_ms.extend_from_slice(slice.ts_ms);
        self.value.extend_from_slice(slice.value);
        self.quality.extend_from_slice(slice.quality);
        self.source.extend_from_slice(slice.source);
        self.revision.extend_from_slice(slice.revision);
        self.qualifier.extend_from_slice(slice.qualifier);
    }
}

/// Readings of a station that were taken from a store, to be read again in parts.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, Reader, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::store::{Selection, StationReadings};
/// use mesonet::{ClosedWindow, StationId, Variable};
/// let selection = Selection {
///     stations: &[StationId::new("METAR", "CYYZ")],
///     variables: &[Variable::AirTemperature, Variable::WindSpeed],
///     window: ClosedWindow::new(1_722_711_600_000, 1_722_718_800_000)?,
/// };
/// let mut held = StationReadings::default();
/// store.scan(&selection, &mut |_, slices| held.add(slices))?;
/// assert_eq!(held.len(), 2);
/// let values = |span_ms| held.slices(&span_ms).map(|slice| slice.value[0]).collect::<Vec<_>>();
/// // By the ids of the series.
/// assert_eq!(values(1_722_715_200_000..1_722_715_200_001), [22.224, 29.0]);
/// assert!(values(1_722_711_600_000..1_722_715_200_000).is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct StationReadings {
    /// Sorted by id.
    series: Vec<(Arc<Series>, Columns)>,
}

impl StationReadings {
    /// The readings in a span of time (milliseconds since 1970, end excluded), as a store hands
    /// them out: one slice for each series with readings, by the ids of the series.
    pub fn slices(&self, span_ms: &Range<i64>) -> impl Iterator<Item = SeriesSlice<'_>> {
        self.series.iter().filter_map(move |(series, columns)| {
            let at = |end_ms: i64| columns.ts_ms.partition_point(|&ts_ms| ts_ms < end_ms);
            columns.slice(series, at(span_ms.start)..at(span_ms.end))
        })
    }

    /// Adds what a store hands out for the station; this must be later than what was added before.
    pub fn add(&mut self, slices: &[SeriesSlice<'_>]) {
        for slice in slices {
            let series = || Ok::<_, Infallible>(Arc::clone(slice.series));
            let Ok(columns) = self.of(slice.series.id, series);
            columns.extend(slice);
        }
    }

    /// Number of readings.
    pub fn len(&self) -> usize {
        self.series.iter().map(|(_, columns)| columns.ts_ms.len()).sum()
    }

    /// Whether there are no readings.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns of a series, which may be a new one.
    pub(crate) fn of<E>(
        &mut self,
        id: SeriesId,
        series: impl FnOnce() -> Result<Arc<Series>, E>,
    ) -> Result<&mut Columns, E> {
        let at = match self.series.binary_search_by_key(&id, |(series, _)| series.id) {
            Ok(at) => at,
            Err(at) => {
                self.series.insert(at, (series()?, Columns::default()));
                at
            }
        };
        Ok(&mut self.series[at].1)
    }
}
