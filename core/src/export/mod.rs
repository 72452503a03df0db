//! Bulk export: the readings of stations as rows, in pages.

pub mod archive;
mod columns;
mod csv;
mod cursor;
mod page;
mod page_rows;
mod track;
mod writer;

pub use cursor::CursorError;
pub use page::Page;
pub use writer::{Batches, Format, Writer};

use crate::observation::{BaseQuality, SeriesFilter, StationId};
use crate::query::AnswerForm;
use crate::store::{StationSeries, StoreError};
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

/// A request for the readings of one station, or of many.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// The stations, sorted by id, each once.
    pub stations: Vec<StationId>,
    /// What chose many stations, for the cursor; `None` for a request for one station, whose rows do
    /// not name it.
    pub chosen_by: Option<String>,
    /// The time window, its end excluded.
    pub window: HalfOpenWindow,
    /// The series to export, and which of their rows; if empty, all rows of all series.
    pub entries: Vec<BulkEntry>,
    /// Number of rows of a page, 1 to [`MAX_PAGE_ROWS`].
    pub page_rows: usize,
    /// Whether the rows have a column `qualifier`, which the interface does not have.
    pub qualifiers: bool,
    /// The units of the values, which are then named in a column `unit`, and the clock of a column
    /// `local_timestamp`. Bounds of values are in the units of the record.
    pub form: AnswerForm,
}

impl Request {
    /// A request for all rows of a station within a window, in pages of [`MAX_PAGE_ROWS`].
    pub fn new(station: StationId, window: HalfOpenWindow) -> Self {
        Self {
            stations: vec![station],
            chosen_by: None,
            window,
            entries: Vec::new(),
            page_rows: MAX_PAGE_ROWS,
            qualifiers: false,
            form: AnswerForm::default(),
        }
    }

    /// A request for the rows of many stations, station by station in the order of their ids, with a
    /// last column `station_id`.
    ///
    /// `chosen_by` says in any words what chose the stations: a cursor is one of the same choice.
    /// Between two pages stations may be added: those after the cursor are in the next page.
    ///
    /// ```
    /// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
    /// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
    /// #     CYYZ 032000Z 24012KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n\
    /// #     CYUL 032000Z 24012KT 15SM 27/17 A2991,CYUL,2024-08-03T20:00:00Z,45.47,-73.74\n";
    /// # let store = MemoryStore::default();
    /// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
    /// // The store has reports of Toronto Pearson and of Montreal Trudeau.
    /// use mesonet::{HalfOpenWindow, Reader, Variable};
    /// use mesonet::export::{BulkEntry, Format, Page, Request};
    /// let stations = store.directory()?.stations.iter().map(|record| record.station.id).collect();
    /// let day = HalfOpenWindow::new(1_722_643_200_000, 1_722_729_600_000)?;
    /// let air = BulkEntry { series: Variable::AirTemperature.into(), ..BulkEntry::default() };
    /// let request = Request::of_stations(stations, day, "everywhere").entries(vec![air]);
    /// let mut writer = Page::plan(&store, &request, None)?.writer(Format::Csv)?;
    /// let mut text = Vec::new();
    /// while !writer.write(&store, &mut text, 64 * 1024)? {}
    /// let text = String::from_utf8(text)?;
    /// assert!(text.lines().next().is_some_and(|head| head.ends_with(",group_bucket_name,station_id")));
    /// assert_eq!(text.lines().count(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_stations(
        mut stations: Vec<StationId>,
        window: HalfOpenWindow,
        chosen_by: impl Into<String>,
    ) -> Self {
        stations.sort_unstable();
        stations.dedup();
        let chosen_by = Some(chosen_by.into());
        Self { stations, chosen_by, ..Self::new(StationId::new("", ""), window) }
    }

    /// Sets the units of the values and the local times.
    ///
    /// ```
    /// # use mesonet::{HalfOpenWindow, StationId};
    /// use mesonet::export::{ExportError, Page, Request};
    /// use mesonet::query::{AnswerForm, AnswerUnits, UnitSystem};
    /// # let day = HalfOpenWindow::new(1_722_643_200_000, 1_722_729_600_000)?;
    /// let form = AnswerForm { units: Some(AnswerUnits::of(UnitSystem::Si)), clock: None };
    /// let request = Request::new(StationId::new("METAR", "CYYZ"), day).form(form);
    /// assert_eq!(Page::check(&request, None), Ok(()));
    /// # Ok::<(), mesonet::time::TimeError>(())
    /// ```
    #[must_use]
    pub fn form(self, form: AnswerForm) -> Self {
        Self { form, ..self }
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

/// The columns that rows have beside those of the interface, in this order after them.
#[derive(Clone, Debug, Default, PartialEq)]
struct AddedColumns {
    qualifiers: bool,
    /// A unit with the units of the form, a local time with its clock.
    form: AnswerForm,
    stations: bool,
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

#[cfg(test)]
#[path = "many_tests.rs"]
mod many_tests;
#[cfg(test)]
#[path = "export_tests.rs"]
mod tests;
