//! A page of an export: where it ends, and what is in it.

use std::collections::BTreeSet;

use super::page_rows::{PageEnd, PageRows};
use super::{AddedColumns, Batches, ExportError, Format, Request, Writer, cursor};
use crate::observation::Variable;
use crate::store::Reader;

/// A planned page of an export: its end, and whether more pages follow.
///
/// The end is found when the page is planned. It does not change, even if readings arrive before
/// the rows are written. So a page planned with the cursor of the previous page neither repeats nor
/// omits rows. Late readings for the time of a page that is being written may still appear in it,
/// in addition to the planned rows; late readings for the time of an earlier page appear in no
/// page.
#[derive(Clone, Debug)]
pub struct Page {
    pub(super) rows: PageRows,
    pub(super) columns: AddedColumns,
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

    fn after(request: &Request, cursor: Option<&str>) -> Result<Option<PageEnd>, ExportError> {
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
        after: Option<PageEnd>,
        page_rows: usize,
    ) -> Result<Self, ExportError> {
        let (rows, end) = PageRows::plan(store, request, after, page_rows)?;
        Ok(Self {
            rows,
            columns: AddedColumns {
                qualifiers: request.qualifiers,
                stations: request.chosen_by.is_some(),
                form: request.form.clone(),
            },
            next_cursor: end.map(|end| cursor::encode(request, end)),
        })
    }

    /// Whether any station has a series that matches the request.
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
