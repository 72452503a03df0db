//! The rows of a page: station by station, by time, then by series.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::track::Track;
use super::{ExportError, QualityRange, Request};
use crate::observation::{BaseQuality, QualityCode, Series, SeriesId, StationId};
use crate::query::rows::{Row, RowPosition, StationRows};
use crate::store::{Reader, StationRecord, StationSeries, StoreError};

/// Rows that are scanned at once when searching for the end of a page.
const ROWS_AT_ONCE: usize = 16_384;

/// The last row of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PageEnd {
    pub station: StationId,
    pub row: RowPosition,
}

/// The rows of a page, to be walked through once.
#[derive(Clone, Debug)]
pub(super) struct PageRows {
    /// The stations of the page, those with the latest rows at the end.
    stations: Vec<StationPart>,
    /// The station that is being walked through.
    at: usize,
    pass: Pass,
    /// The series of all of them, sorted by id.
    series: Vec<Arc<Series>>,
}

/// The rows of a station in a page.
#[derive(Clone, Debug)]
struct StationPart {
    station: StationId,
    track: Track,
    rows: StationRows,
    /// The places of its series among those of the page.
    series: Vec<u32>,
}

/// What is found while a page is walked through.
pub(super) trait Visit {
    /// The rows of a station begin.
    fn station(&mut self, station: StationId, track: &Track);
    /// A row, with its series as an index into [`PageRows::series`].
    fn row(&mut self, row: &Row);
}

impl PageRows {
    /// Finds the rows after the end of the page before, as many as fit; and the last of them, if more
    /// follow.
    pub(super) fn plan(
        store: &dyn Reader,
        request: &Request,
        after: Option<PageEnd>,
        page_rows: usize,
    ) -> Result<(Self, Option<PageEnd>), ExportError> {
        let directory = store.directory()?;
        let pass = Pass::of(request);
        let mut stations: Vec<StationPart> = Vec::new();
        // The row that fills the page, and the place of its station.
        let (mut seen, mut end) = (0, None);
        for &station in &request.stations {
            // A page goes on with the station that the page before ended in.
            if after.is_some_and(|after| station < after.station) {
                continue;
            }
            let Some(record) = directory.get(station) else { continue };
            let after = after.filter(|after| after.station == station).map(|after| after.row);
            let Some(part) = StationPart::new(record, request, after) else { continue };
            let found = part.count(store, &pass, &mut seen, page_rows)?;
            end = found.map(|row| (stations.len(), PageEnd { station, row })).or(end);
            stations.push(part);
            if seen > page_rows {
                break;
            }
        }
        let end = end.filter(|_| seen > page_rows);
        if let Some((at, PageEnd { row, .. })) = end {
            stations.truncate(at + 1);
            stations[at].end(row);
        }
        Ok((Self::new(stations, pass), end.map(|(_, end)| end)))
    }

    fn new(mut stations: Vec<StationPart>, pass: Pass) -> Self {
        let mut series: BTreeMap<SeriesId, &Arc<Series>> = BTreeMap::new();
        for part in &stations {
            series.extend(part.rows.series().iter().map(|of| (of.id, of)));
        }
        let series: Vec<Arc<Series>> = series.into_values().map(Arc::clone).collect();
        for part in &mut stations {
            let place = |of: &Arc<Series>| series.partition_point(|known| known.id < of.id) as u32;
            part.series = part.rows.series().iter().map(place).collect();
        }
        Self { stations, at: 0, pass, series }
    }

    /// The series of the rows, sorted by id.
    pub(super) fn series(&self) -> &[Arc<Series>] {
        &self.series
    }

    /// Visits the next `count` rows that are read, or a few more. Returns whether these were the last.
    pub(super) fn walk(
        &mut self,
        store: &dyn Reader,
        count: usize,
        visit: &mut impl Visit,
    ) -> Result<bool, StoreError> {
        let Self { stations, at, pass, .. } = self;
        let mut left = count;
        while let Some(StationPart { station, track, rows, series }) = stations.get_mut(*at) {
            visit.station(*station, track);
            let mut read = 0;
            let done = rows.walk(store, left, &mut |row| {
                read += 1;
                if pass.passes(&row) {
                    visit.row(&Row { series: series[row.series] as usize, ..row });
                }
            })?;
            if done {
                *at += 1;
            }
            left = left.saturating_sub(read);
            if left == 0 {
                break;
            }
        }
        Ok(*at >= stations.len())
    }
}

impl StationPart {
    /// The rows of a station after a position; `None` if it has no series that matches.
    fn new(record: &StationRecord, request: &Request, after: Option<RowPosition>) -> Option<Self> {
        let station = record.station.id;
        let matching = record.series.iter().filter(|known| request.matches(known));
        let series: Vec<StationSeries> = matching.cloned().collect();
        if series.is_empty() {
            return None;
        }
        // No reading is later than the most recent report.
        let latest_ms = record.update_time_ms.unwrap_or(i64::MIN);
        let last_ms = latest_ms.min(request.window.end_ms() - 1);
        let rows = StationRows::new(station, &series, request.window.start_ms(), last_ms);
        let rows = match after {
            Some(after) => rows.after(after),
            None => rows,
        };
        Some(Self { station, track: Track::of(&record.station), rows, series: Vec::new() })
    }

    fn end(&mut self, row: RowPosition) {
        self.rows = self.rows.clone().up_to(row);
    }

    /// Counts its rows up to one more than fit in the page. Returns the one that fills it.
    fn count(
        &self,
        store: &dyn Reader,
        pass: &Pass,
        seen: &mut usize,
        page_rows: usize,
    ) -> Result<Option<RowPosition>, StoreError> {
        let mut rows = self.rows.clone();
        let mut end = None;
        loop {
            let done = rows.walk(store, ROWS_AT_ONCE, &mut |row| {
                if pass.passes(&row) {
                    *seen += 1;
                    if *seen == page_rows {
                        let series = self.rows.series()[row.series].id;
                        end = Some(RowPosition { ts_ms: row.ts_ms, series });
                    }
                }
            })?;
            if done || *seen > page_rows {
                return Ok(end);
            }
        }
    }
}

/// A [`RowFilter`] prepared for many rows.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    lower: f64,
    upper: f64,
    /// For each verdict, by its byte.
    verdicts: [bool; 256],
}

impl Pass {
    pub(super) fn of(request: &Request) -> Self {
        let filter = request.row_filter();
        let QualityRange { worst, best } = filter.quality_range.unwrap_or_default();
        let (worst, best) =
            (worst.unwrap_or(BaseQuality::Suppressed), best.unwrap_or(BaseQuality::Unknown));
        Self {
            lower: filter.lower_value_bound.unwrap_or(f64::NEG_INFINITY),
            upper: filter.upper_value_bound.unwrap_or(f64::INFINITY),
            verdicts: std::array::from_fn(|code| {
                (worst..=best).contains(&QualityCode(code as u8).quality().base)
            }),
        }
    }

    pub(super) fn passes(&self, row: &Row) -> bool {
        self.verdicts[usize::from(row.quality.0)] && (self.lower..=self.upper).contains(&row.value)
    }
}
