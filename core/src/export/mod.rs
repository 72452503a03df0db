//! Bulk export: the readings of one station as rows, in pages.

pub mod archive;
mod columns;
mod csv;
mod cursor;
mod track;
mod writer;

use std::collections::BTreeSet;

pub use cursor::CursorError;
pub use writer::{Batches, Format, Writer};

use track::Track;

use crate::observation::{BaseQuality, QualityCode, SeriesFilter, StationId, Variable};
use crate::query::rows::{Row, RowPosition, StationRows};
use crate::store::{Reader, StationSeries, StoreError};
use crate::time::HalfOpenWindow;

/// Maximum number of rows of a page, and the default.
///
/// ```
/// use mesonet::{HalfOpenWindow, MemoryStore, StationId};
/// use mesonet::export::{ExportError, MAX_PAGE_ROWS, Page, Request};
/// let year = HalfOpenWindow::new(1_704_067_200_000, 1_735_689_600_000)?;
/// let request = Request::new(StationId::new("METAR", "CYYZ"), year);
/// assert_eq!(request.page_rows, MAX_PAGE_ROWS);
/// let refused = Page::plan(&MemoryStore::default(), &request.page_rows(0), None);
/// assert!(matches!(refused, Err(ExportError::PageRows(_))));
/// # Ok::<(), mesonet::time::TimeError>(())
/// ```
pub const MAX_PAGE_ROWS: usize = 200_000;

/// Rows that are scanned at once when searching for the end of a page.
const ROWS_AT_ONCE: usize = 16_384;

/// A request for the readings of one station.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// The station.
    pub station: StationId,
    /// The time window, its end excluded.
    pub window: HalfOpenWindow,
    /// The series to export, and which of their rows; if empty, all rows of all series.
    pub entries: Vec<BulkEntry>,
    /// Number of rows of a page, 1 to [`MAX_PAGE_ROWS`].
    pub page_rows: usize,
    /// Whether the rows have a last column `qualifier`, which the interface does not have.
    pub qualifiers: bool,
}

impl Request {
    /// A request for all rows of a station within a window, in pages of [`MAX_PAGE_ROWS`].
    pub fn new(station: StationId, window: HalfOpenWindow) -> Self {
        Self { station, window, entries: Vec::new(), page_rows: MAX_PAGE_ROWS, qualifiers: false }
    }

    /// Sets the series to export, and which of their rows; if empty, all rows of all series.
    #[must_use]
    pub fn entries(self, entries: Vec<BulkEntry>) -> Self {
        Self { entries, ..self }
    }

    /// Sets the number of rows of a page, 1 to [`MAX_PAGE_ROWS`].
    #[must_use]
    pub fn page_rows(self, page_rows: usize) -> Self {
        Self { page_rows, ..self }
    }

    /// Sets whether the rows have a last column `qualifier`: `trace`, `at_least`, `less_than`, or
    /// empty.
    ///
    /// ```
    /// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
    /// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
    /// #     CYYZ 032000Z 24012G20KT M1/4SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
    /// # let store = MemoryStore::default();
    /// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
    /// // The store has one report of Toronto Pearson: less than a quarter of a mile.
    /// use mesonet::{HalfOpenWindow, StationId, Variable};
    /// use mesonet::export::{BulkEntry, Format, Page, Request};
    /// let day = HalfOpenWindow::new(1_722_643_200_000, 1_722_729_600_000)?;
    /// let seen = BulkEntry { series: Variable::Visibility.into(), ..BulkEntry::default() };
    /// let request = Request::new(StationId::new("METAR", "CYYZ"), day).entries(vec![seen]);
    /// let mut writer = Page::plan(&store, &request.qualifiers(true), None)?.writer(Format::Csv)?;
    /// let mut text = Vec::new();
    /// while !writer.write(&store, &mut text, 64 * 1024)? {}
    /// let text = String::from_utf8(text)?;
    /// assert!(text.lines().next().is_some_and(|head| head.ends_with(",group_bucket_name,qualifier")));
    /// assert!(text.lines().nth(1).is_some_and(|row| row.ends_with(",0.402336,Good,None,,less_than")));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn qualifiers(self, qualifiers: bool) -> Self {
        Self { qualifiers, ..self }
    }
}

/// One entry of a request: the series that it matches, and which of their rows pass.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::{BaseQuality, HalfOpenWindow, StationId, Variable};
/// use mesonet::export::{BulkEntry, Format, Page, QualityRange, Request, RowFilter};
/// let good = QualityRange { worst: Some(BaseQuality::Good), best: None };
/// let rows = RowFilter { lower_value_bound: Some(25.0), quality_range: Some(good), ..RowFilter::default() };
/// let hot = BulkEntry { series: Variable::AirTemperature.into(), rows };
/// let day = HalfOpenWindow::new(1_722_643_200_000, 1_722_729_600_000)?;
/// let request = Request::new(StationId::new("METAR", "CYYZ"), day).entries(vec![hot]);
/// let page = Page::plan(&store, &request, None)?;
/// assert_eq!(page.variables(), [Variable::AirTemperature].into());
/// let mut writer = page.writer(Format::Csv)?;
/// let mut text = Vec::new();
/// while !writer.write(&store, &mut text, 64 * 1024)? {}
/// let text = String::from_utf8(text)?;
/// let row = "43.68,-79.63,airTemperature,Instantaneous,0,2024-08-03T20:00:00Z,29.0,Good,None,";
/// assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), [row]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(expecting = "an object")]
pub struct BulkEntry {
    /// The series.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(inline))]
    pub series: SeriesFilter,
    /// Which of their rows; the same in all entries of a request.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(inline))]
    pub rows: RowFilter,
}

/// Which rows pass. Both bounds of a range are included.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RowFilter {
    /// The least value, included.
    pub lower_value_bound: Option<f64>,
    /// The greatest value, included.
    pub upper_value_bound: Option<f64>,
    /// The verdicts.
    pub quality_range: Option<QualityRange>,
}

/// Verdicts from a worst to a best in the order of the ranking; an absent side is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
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
    /// A page with no rows or with too many.
    #[error("pageSize must be a whole number from 1 to {MAX_PAGE_ROWS}; got {0}")]
    PageRows(String),
    /// Entries with different filters.
    #[error(
        "all requests must have the same lowerValueBound, upperValueBound and qualityRange; those \
         of requests[{0}] differ from those of requests[0]"
    )]
    Filters(usize),
    /// Bounds that no value can satisfy.
    #[error("lowerValueBound must not be greater than upperValueBound; got {lower} and {upper}")]
    Bounds {
        /// The lower bound that was given.
        lower: f64,
        /// The upper bound that was given.
        upper: f64,
    },
    /// A range that contains no verdict.
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

/// A planned page of an export: its end, and whether more pages follow.
///
/// The end is found when the page is planned. It does not change, even if readings arrive before
/// the rows are written. So a page planned with the cursor of the previous page neither repeats nor
/// omits rows. Late readings for the time of a page that is being written may still appear in it,
/// in addition to the planned rows; late readings for the time of an earlier page appear in no
/// page.
#[derive(Clone, Debug)]
pub struct Page {
    track: Track,
    rows: StationRows,
    pass: Pass,
    qualifiers: bool,
    next_cursor: Option<String>,
}

impl Page {
    /// Plans the first page of a request, or the page after a cursor.
    ///
    /// # Errors
    /// If filters make no sense or differ between entries, if the page has no rows or too many, if
    /// the cursor is damaged or belongs to another request, or if the store cannot read. For a
    /// station that is not on record the page is empty.
    ///
    /// ```
    /// use mesonet::{HalfOpenWindow, MemoryStore, StationId, export};
    /// let store = MemoryStore::default();
    /// let day = HalfOpenWindow::new(0, 86_400_000)?;
    /// let request = export::Request::new(StationId::new("METAR", "CYYZ"), day).page_rows(1_000);
    /// let page = export::Page::plan(&store, &request, None)?;
    /// assert!(!page.series_found());
    /// let mut writer = page.writer(export::Format::Csv)?;
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
        request: &Request,
        cursor: Option<&str>,
    ) -> Result<Self, ExportError> {
        let after = Self::after(request, cursor)?;
        Self::new(store, request, after, request.page_rows)
    }

    /// Checks a request and its cursor as [`plan`](Self::plan) does, before there is a store.
    ///
    /// # Errors
    /// The request or its cursor is invalid.
    ///
    /// ```
    /// use mesonet::export::{CursorError, ExportError, Page, Request};
    /// # use mesonet::{HalfOpenWindow, StationId};
    /// # let day = HalfOpenWindow::new(1_722_643_200_000, 1_722_729_600_000)?;
    /// let request = Request::new(StationId::new("METAR", "CYYZ"), day);
    /// assert_eq!(Page::check(&request, None), Ok(()));
    /// let refused = Page::check(&request, Some("page2"));
    /// assert_eq!(refused, Err(ExportError::Cursor(CursorError::Damaged)));
    /// # Ok::<(), mesonet::time::TimeError>(())
    /// ```
    pub fn check(request: &Request, cursor: Option<&str>) -> Result<(), ExportError> {
        Self::after(request, cursor).map(drop)
    }

    fn after(request: &Request, cursor: Option<&str>) -> Result<Option<RowPosition>, ExportError> {
        request.check()?;
        Ok(cursor.map(|cursor| cursor::decode(request, cursor)).transpose()?)
    }

    /// Plans one page of all rows, however many there are. It reads them once, so that a
    /// [`Watched`](crate::store::Watched) store knows what is missing before the first row is
    /// written.
    ///
    /// # Errors
    /// The same as for [`plan`](Self::plan).
    ///
    /// ```
    /// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
    /// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
    /// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
    /// # let store = MemoryStore::default();
    /// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
    /// // The store has one report of Toronto Pearson.
    /// use mesonet::{HalfOpenWindow, StationId, export};
    /// let window = HalfOpenWindow::new(1_722_711_600_000, 1_722_715_200_001)?;
    /// let request = export::Request::new(StationId::new("METAR", "CYYZ"), window);
    /// let mut batches: export::Batches = export::Page::whole(&store, &request)?.batches();
    /// let batch = batches.next(&store)?.ok_or("there are rows")?;
    /// assert_eq!(batch.schema_ref(), batches.schema());
    /// assert!(batch.num_rows() > 5 && batches.next(&store)?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn whole(store: &dyn Reader, request: &Request) -> Result<Self, ExportError> {
        request.check()?;
        Self::new(store, request, None, usize::MAX)
    }

    fn new(
        store: &dyn Reader,
        request: &Request,
        after: Option<RowPosition>,
        page_rows: usize,
    ) -> Result<Self, ExportError> {
        let directory = store.directory()?;
        let record = directory.get(request.station);
        let series: Vec<StationSeries> = record.map_or_else(Vec::new, |record| {
            record.series.iter().filter(|known| request.matches(known)).cloned().collect()
        });
        // No reading is later than the most recent report.
        let latest_ms = record.and_then(|record| record.update_time_ms).unwrap_or(i64::MIN);
        let last_ms = latest_ms.min(request.window.end_ms() - 1);
        let rows = StationRows::new(request.station, &series, request.window.start_ms(), last_ms);
        let rows = match after {
            Some(after) => rows.after(after),
            None => rows,
        };
        let pass = Pass::of(request);
        let end = page_end(store, rows.clone(), &pass, page_rows)?;
        Ok(Self {
            track: record.map_or_else(Track::default, |record| Track::of(&record.station)),
            rows: match end {
                Some(end) => rows.up_to(end),
                None => rows,
            },
            pass,
            qualifiers: request.qualifiers,
            next_cursor: end.map(|end| cursor::encode(request, end)),
        })
    }

    /// Whether the station has any series that matches the request.
    pub fn series_found(&self) -> bool {
        !self.rows.series().is_empty()
    }

    /// The variables that are exported, in the order of the table of variables.
    pub fn variables(&self) -> BTreeSet<Variable> {
        self.rows.series().iter().map(|series| series.key.variable).collect()
    }

    /// The cursor of the next page; `None` on the last page.
    ///
    /// ```
    /// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
    /// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
    /// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
    /// # let store = MemoryStore::default();
    /// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
    /// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
    /// use mesonet::{HalfOpenWindow, StationId};
    /// use mesonet::export::{Page, Request};
    /// let day = HalfOpenWindow::new(1_722_643_200_000, 1_722_729_600_000)?;
    /// let request = Request::new(StationId::new("METAR", "CYYZ"), day).page_rows(8);
    /// let (mut pages, mut cursor) = (0, None::<String>);
    /// loop {
    ///     let page = Page::plan(&store, &request, cursor.as_deref())?;
    ///     cursor = page.next_cursor().map(str::to_owned);
    ///     pages += 1;
    ///     // Here the rows of the page would be written.
    ///     if cursor.is_none() {
    ///         break;
    ///     }
    /// }
    /// assert_eq!(pages, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn next_cursor(&self) -> Option<&str> {
        self.next_cursor.as_deref()
    }

    /// A writer for the rows.
    ///
    /// # Errors
    /// If the header of the file cannot be encoded.
    pub fn writer(self, format: Format) -> Result<Writer, ExportError> {
        Writer::new(self, format)
    }

    /// Returns the rows as record batches.
    pub fn batches(self) -> Batches {
        Batches::new(self)
    }
}

/// The last row of a page, if more rows follow it.
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

impl Request {
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

    /// The filter that all entries share.
    fn row_filter(&self) -> RowFilter {
        self.entries.first().map_or_else(RowFilter::default, |entry| entry.rows)
    }
}

/// A [`RowFilter`] prepared for many rows.
#[derive(Clone, Debug)]
struct Pass {
    lower: f64,
    upper: f64,
    /// For each verdict, by its byte.
    verdicts: [bool; 256],
}

impl Pass {
    fn of(request: &Request) -> Self {
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
