//! Writes the rows of a page in one of the formats, in pieces.

use std::fmt;

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::columns::ExportColumns;
use super::csv::CsvRows;
use super::page_rows::PageRows;
use super::{ExportError, Page};
use crate::store::Reader;

/// Rows that are read from the store and encoded at once: a record batch in Arrow.
pub(super) const BATCH_ROWS: usize = 16_384;
/// The same for CSV, some 200 KB.
const CSV_ROWS: usize = 2_048;
/// Rows of a Parquet row group, which is buffered until it is full.
const GROUP_ROWS: usize = 4 * BATCH_ROWS;

/// The format in which rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a header row.
    Csv,
    /// An Arrow IPC stream.
    ArrowStream,
    /// A Parquet file.
    Parquet,
}

impl Format {
    /// Every format; the format of the interface comes first.
    pub const ALL: [Self; 3] = [Self::Csv, Self::ArrowStream, Self::Parquet];

    /// The media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv",
            Self::ArrowStream => "application/vnd.apache.arrow.stream",
            Self::Parquet => "application/vnd.apache.parquet",
        }
    }
}

/// The rows of a page while they are written; made by
/// [`Page::writer`](super::Page::writer).
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::{HalfOpenWindow, StationId, export};
/// let day = HalfOpenWindow::new(1_722_643_200_000, 1_722_729_600_000)?;
/// let request = export::Request::new(StationId::new("METAR", "CYYZ"), day);
/// let format = export::Format::Parquet;
/// assert_eq!(format.media_type(), "application/vnd.apache.parquet");
/// assert_eq!(export::Format::ALL[0].media_type(), "text/csv");
/// let mut writer: export::Writer = export::Page::plan(&store, &request, None)?.writer(format)?;
/// let mut file = Vec::new();
/// while !writer.write(&store, &mut file, 64 * 1024)? {}
/// assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer {
    rows: PageRows,
    encoder: Encoder,
}

/// The Arrow writers write to a buffer that is emptied after each batch.
enum Encoder {
    Csv { rows: Box<CsvRows>, started: bool },
    ArrowStream { columns: Box<ExportColumns>, stream: Box<StreamWriter<Vec<u8>>> },
    Parquet { columns: Box<ExportColumns>, file: Box<ArrowWriter<Vec<u8>>> },
}

/// Reads the rows of a page as Arrow record batches, whose texts are dictionaries.
#[derive(Debug)]
pub struct Batches {
    rows: PageRows,
    columns: ExportColumns,
    done: bool,
}

impl Batches {
    pub(super) fn new(page: Page) -> Self {
        let Page { rows, columns, .. } = page;
        let series = rows.series().iter().map(|series| &**series);
        let columns = ExportColumns::new(series, columns);
        Self { rows, columns, done: false }
    }

    /// The columns of each batch.
    pub fn schema(&self) -> &SchemaRef {
        self.columns.schema()
    }

    /// Reads the next rows, at most 16,384; `None` after the last. The store must be the one with
    /// which the page was planned.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn next(&mut self, store: &dyn Reader) -> Result<Option<RecordBatch>, ExportError> {
        while !self.done {
            let (done, batch) = next_batch(&mut self.rows, &mut self.columns, store)?;
            self.done = done;
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl Writer {
    pub(super) fn new(page: Page, format: Format) -> Result<Self, ExportError> {
        let Page { rows, columns, .. } = page;
        let series = rows.series().iter().map(|series| &**series);
        let encoder = match format {
            Format::Csv => {
                Encoder::Csv { rows: Box::new(CsvRows::new(series, columns)), started: false }
            }
            Format::ArrowStream => {
                let columns = Box::new(ExportColumns::new(series, columns));
                let stream = StreamWriter::try_new(Vec::new(), columns.schema());
                Encoder::ArrowStream { columns, stream: Box::new(stream.map_err(encoding)?) }
            }
            Format::Parquet => {
                let columns = Box::new(ExportColumns::new(series, columns));
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_max_row_group_row_count(Some(GROUP_ROWS))
                    .set_created_by(concat!("mesonet ", env!("CARGO_PKG_VERSION")).to_owned())
                    .build();
                let schema = columns.schema().clone();
                let file = ArrowWriter::try_new(Vec::new(), schema, Some(properties));
                Encoder::Parquet { columns, file: Box::new(file.map_err(encoding)?) }
            }
        };
        Ok(Self { rows, encoder })
    }

    /// Continues writing until the text has at least the given number of bytes or the page ends,
    /// and returns whether it has ended. Do not call it again after the end.
    ///
    /// # Errors
    /// If the store cannot read or a batch cannot be encoded. The text is then incomplete.
    pub fn write(
        &mut self,
        store: &dyn Reader,
        text: &mut Vec<u8>,
        until_bytes: usize,
    ) -> Result<bool, ExportError> {
        let Self { rows, encoder } = self;
        loop {
            let done = match encoder {
                Encoder::Csv { rows: csv, started } => {
                    if !std::mem::replace(started, true) {
                        csv.head(text);
                    }
                    let done = rows.walk(store, CSV_ROWS, &mut **csv)?;
                    csv.take(text);
                    done
                }
                Encoder::ArrowStream { columns, stream } => {
                    let (done, batch) = next_batch(rows, columns, store)?;
                    if batch.num_rows() > 0 {
                        stream.write(&batch).map_err(encoding)?;
                    }
                    if done {
                        stream.finish().map_err(encoding)?;
                    }
                    text.append(stream.get_mut());
                    done
                }
                Encoder::Parquet { columns, file } => {
                    let (done, batch) = next_batch(rows, columns, store)?;
                    file.write(&batch).map_err(encoding)?;
                    if done {
                        file.finish().map_err(encoding)?;
                    }
                    text.append(file.inner_mut());
                    done
                }
            };
            if done || text.len() >= until_bytes {
                return Ok(done);
            }
        }
    }
}

/// The next rows, and whether they are the last rows.
fn next_batch(
    rows: &mut PageRows,
    columns: &mut ExportColumns,
    store: &dyn Reader,
) -> Result<(bool, RecordBatch), ExportError> {
    let done = rows.walk(store, BATCH_ROWS, columns)?;
    Ok((done, columns.take().map_err(encoding)?))
}

pub(super) fn encoding(error: impl fmt::Display) -> ExportError {
    ExportError::Encoding(error.to_string())
}
