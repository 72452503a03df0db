//! Bulk export: the readings of one station as rows, in pages.

mod columns;
mod csv;
mod cursor;
mod writer;

use std::collections::BTreeSet;

pub use cursor::CursorError;
pub use writer::{ExportFormat, ExportWriter};

use crate::geo::LonLat;
use crate::quality::{BaseQuality, QualityCode};
use crate::series_filter::SeriesFilter;
use crate::station::StationId;
use crate::station_rows::{Row, RowPosition, StationRows};
use crate::store::{Reader, StationSeries, StoreError};
use crate::time::HalfOpenWindow;
use crate::variable::Variable;

/// Most rows of a page, and how many it has unless it is said.
pub const MAX_PAGE_ROWS: usize = 200_000;

/// Rows that are looked through at once while the end of a page is searched.
const ROWS_AT_ONCE: usize = 16_384;

/// A request for the readings of one station.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportRequest {
    /// The station.
    pub station: StationId,
    /// The time, its end excluded.
    pub window: HalfOpenWindow,
    /// Which series and which of their rows; without any, all rows of all series.
    pub entries: Vec<ExportEntry>,
    /// Rows of a page, 1 to [`MAX_PAGE_ROWS`].
    pub page_rows: usize,
}

/// One entry of a request: the series that it matches, of these the rows that pass.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
pub struct ExportEntry {
    /// Which series.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub series: SeriesFilter,
    /// Which of their rows; the same in all entries of a request.
    #[cfg_attr(feature = "serde", serde(flatten))]
    pub rows: RowFilter,
}

/// Which rows pass. Both bounds of a range belong to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub struct RowFilter {
    /// The least value.
    pub lower_value_bound: Option<f64>,
    /// The greatest value.
    pub upper_value_bound: Option<f64>,
    /// The verdicts.
    pub quality_range: Option<QualityRange>,
}

/// Verdicts from a worst to a best in the order of the ranking; a side that is left out is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
pub struct QualityRange {
    /// The worst that passes.
    pub worst: Option<BaseQuality>,
    /// The best that passes.
    pub best: Option<BaseQuality>,
}

/// A request for an export that cannot be answered.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExportError {
    /// A cursor that cannot be used.
    #[error(transparent)]
    Cursor(#[from] CursorError),
    /// A page of no row or of too many.
    #[error("pageSize must be a whole number from 1 to {MAX_PAGE_ROWS}; got {0}")]
    PageRows(String),
    /// Entries that differ in their filters.
    #[error(
        "all requests must have the same lowerValueBound, upperValueBound and qualityRange; those \
         of requests[{0}] are not those of requests[0]"
    )]
    Filters(usize),
    /// Bounds that no value can be between.
    #[error("lowerValueBound must not be greater than upperValueBound; got {lower} and {upper}")]
    Bounds {
        /// The lower bound that was given.
        lower: f64,
        /// The upper bound that was given.
        upper: f64,
    },
    /// A range that no verdict can be in.
    #[error("worst of qualityRange must not rank above best; got {worst} and {best}")]
    Range {
        /// The worst verdict that was given.
        worst: BaseQuality,
        /// The best verdict that was given.
        best: BaseQuality,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rows could not be encoded.
    #[error("the rows could not be encoded: {0}")]
    Encoding(String),
}

/// A page of an export before its rows are written: where it ends, and whether there are more.
///
/// The end is found when the page is planned and stays, whatever comes in until the rows are
/// written. So a page that is planned with the cursor of the one before it repeats none of its
/// rows and leaves none out. Readings that come in late for the time of a page that is being
/// written may still be in it, then beyond the rows that it was planned for; those that come in
/// for the time of an earlier page are in none.
#[derive(Clone, Debug)]
pub struct ExportPage {
    coordinates: Option<LonLat>,
    rows: StationRows,
    pass: Pass,
    next_cursor: Option<String>,
}

impl ExportPage {
    /// Plans the first page of a request, or the one after a cursor.
    ///
    /// # Errors
    /// Filters that make no sense or are not the same in all entries, a page of no row or too many,
    /// a cursor that is damaged or of another request; a store that cannot read. A station that is
    /// not on record is an empty page.
    ///
    /// ```
    /// use mesonet::{ExportFormat, ExportPage, ExportRequest, HalfOpenWindow, MemoryStore, StationId};
    /// let store = MemoryStore::default();
    /// let request = ExportRequest {
    ///     station: StationId::new("METAR", "CYYZ"),
    ///     window: HalfOpenWindow::new(0, 86_400_000)?,
    ///     entries: vec![],
    ///     page_rows: 1_000,
    /// };
    /// let page = ExportPage::plan(&store, &request, None)?;
    /// assert!(!page.series_found());
    /// let mut writer = page.writer(ExportFormat::Csv)?;
    /// let mut text = Vec::new();
    /// while !writer.write(&store, &mut text, usize::MAX)? {}
    /// assert_eq!(
    ///     text,
    ///     b"lat,lon,observation_name,interval_type,interval_minutes,timestamp,value,\
    ///       quality_base,quality_reason,group_bucket_name\n",
    /// );
    /// # Ok::<(), mesonet::Error>(())
    /// ```
    pub fn plan(
        store: &dyn Reader,
        request: &ExportRequest,
        cursor: Option<&str>,
    ) -> Result<Self, ExportError> {
        request.check()?;
        let after = cursor.map(|cursor| cursor::decode(request, cursor)).transpose()?;
        let directory = store.directory()?;
        let record = directory.get(request.station);
        let series: Vec<StationSeries> = record.map_or_else(Vec::new, |record| {
            record.series.iter().filter(|known| request.matches(known)).cloned().collect()
        });
        // Nothing is later than the most recent report.
        let latest_ms = record.and_then(|record| record.update_time_ms).unwrap_or(i64::MIN);
        let last_ms = latest_ms.min(request.window.end_ms() - 1);
        let rows = StationRows::new(request.station, &series, request.window.start_ms(), last_ms);
        let rows = match after {
            Some(after) => rows.after(after),
            None => rows,
        };
        let pass = Pass::of(request);
        let end = page_end(store, rows.clone(), &pass, request.page_rows)?;
        Ok(Self {
            coordinates: record.map(|record| record.station.coordinates),
            rows: match end {
                Some(end) => rows.up_to(end),
                None => rows,
            },
            pass,
            next_cursor: end.map(|end| cursor::encode(request, end)),
        })
    }

    /// Whether the station has any series that the request means.
    pub fn series_found(&self) -> bool {
        !self.rows.series().is_empty()
    }

    /// The variables that are exported, in the order of the table of variables.
    pub fn variables(&self) -> BTreeSet<Variable> {
        self.rows.series().iter().map(|series| series.key.variable).collect()
    }

    /// The cursor of the next page; `None` for the last one.
    pub fn next_cursor(&self) -> Option<&str> {
        self.next_cursor.as_deref()
    }

    /// A writer of the rows.
    ///
    /// # Errors
    /// The head of the file could not be encoded.
    pub fn writer(self, format: ExportFormat) -> Result<ExportWriter, ExportError> {
        ExportWriter::new(self.coordinates, self.rows, self.pass, format)
    }
}

/// The last row of a page that has one after it.
fn page_end(
    store: &dyn Reader,
    mut rows: StationRows,
    pass: &Pass,
    page_rows: usize,
) -> Result<Option<RowPosition>, StoreError> {
    let ids: Vec<_> = rows.series().iter().map(|series| series.id).collect();
    let (mut seen, mut end) = (0, None);
    loop {
        let done = rows.walk(store, ROWS_AT_ONCE, &mut |row| {
            if pass.passes(&row) {
                seen += 1;
                if seen == page_rows {
                    end = Some(RowPosition { ts_ms: row.ts_ms, series: ids[row.series] });
                }
            }
        })?;
        if seen > page_rows {
            return Ok(end);
        }
        if done {
            return Ok(None);
        }
    }
}

impl ExportRequest {
    fn check(&self) -> Result<(), ExportError> {
        if !(1..=MAX_PAGE_ROWS).contains(&self.page_rows) {
            return Err(ExportError::PageRows(self.page_rows.to_string()));
        }
        let filter = self.row_filter();
        if let Some(other) = self.entries.iter().position(|entry| entry.rows != filter) {
            return Err(ExportError::Filters(other));
        }
        if let (Some(lower), Some(upper)) = (filter.lower_value_bound, filter.upper_value_bound)
            && lower > upper
        {
            return Err(ExportError::Bounds { lower, upper });
        }
        if let Some(QualityRange { worst: Some(worst), best: Some(best) }) = filter.quality_range
            && worst > best
        {
            return Err(ExportError::Range { worst, best });
        }
        Ok(())
    }

    fn matches(&self, known: &StationSeries) -> bool {
        let key = &known.series.key;
        self.entries.is_empty() || self.entries.iter().any(|entry| entry.series.matches(key))
    }

    /// The one filter of all entries.
    fn row_filter(&self) -> RowFilter {
        self.entries.first().map_or_else(RowFilter::default, |entry| entry.rows)
    }
}

/// A [`RowFilter`] made ready for many rows.
#[derive(Clone, Debug)]
struct Pass {
    lower: f64,
    upper: f64,
    /// By the byte of the verdict.
    verdicts: [bool; 256],
}

impl Pass {
    fn of(request: &ExportRequest) -> Self {
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

    fn passes(&self, row: &Row) -> bool {
        self.verdicts[usize::from(row.quality.0)] && (self.lower..=self.upper).contains(&row.value)
    }
}

#[cfg(test)]
#[path = "export_tests.rs"]
mod tests;
