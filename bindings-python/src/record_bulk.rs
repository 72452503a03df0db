//! The bulk export of a record in process: a stream of Arrow batches, and Parquet files.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use mesonet::HalfOpenWindow;
use mesonet::export::{Batches, BulkEntry, Format, Page, Request};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow_table::export;
use crate::error::refused;
use crate::error::text;
use crate::record::{Open, Record};

/// How much of a file is written at once.
const PIECE_BYTES: usize = 4 << 20;

/// The rows of an export. They are read from the record while the caller takes them.
#[pyclass(frozen, module = "mesonet._mesonet")]
struct ArrowStream {
    page: Page,
    open: Arc<Open>,
}

#[pymethods]
impl ArrowStream {
    /// A stream from the first row. A requested schema may be ignored, as the interface says.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = self.page.clone().batches();
        export(py, BulkBatches { batches, open: Arc::clone(&self.open) })
    }
}

struct BulkBatches {
    batches: Batches,
    open: Arc<Open>,
}

impl Iterator for BulkBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.batches.next(&*self.open);
        next.map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose()
    }
}

impl RecordBatchReader for BulkBatches {
    fn schema(&self) -> SchemaRef {
        self.batches.schema().clone()
    }
}

fn request(
    py: Python<'_>,
    record: &Record,
    station: &str,
    window: (i64, i64),
    entries: &str,
    qualifiers: bool,
) -> PyResult<Request> {
    let window = HalfOpenWindow::new(window.0, window.1).map_err(refused)?;
    let entries: Vec<BulkEntry> = serde_json::from_str(entries).map_err(refused)?;
    let (station, _) = record
        .read(py, |_, store| store.directory().map_err(text)?.named(station).map_err(text))?;
    Ok(Request::new(station, window).entries(entries).qualifiers(qualifiers))
}

/// All rows as a stream, and how many damaged blocks are missing from them.
#[pyfunction]
#[pyo3(signature = (record, station, window, entries, qualifiers, /))]
fn record_bulk(
    py: Python<'_>,
    record: &Record,
    station: &str,
    window: (i64, i64),
    entries: &str,
    qualifiers: bool,
) -> PyResult<(ArrowStream, u64)> {
    let request = request(py, record, station, window, entries, qualifiers)?;
    let (page, damaged) = record.read(py, |_, store| Page::whole(store, &request).map_err(text))?;
    Ok((ArrowStream { page, open: record.opened()? }, damaged))
}

/// Writes all rows into a new Parquet file, which appears when it is complete. Returns how many
/// damaged blocks are missing.
#[pyfunction]
#[pyo3(signature = (record, path, station, window, entries, qualifiers, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's path is converted into ours")]
fn record_bulk_parquet(
    py: Python<'_>,
    record: &Record,
    path: PathBuf,
    station: &str,
    window: (i64, i64),
    entries: &str,
    qualifiers: bool,
) -> PyResult<u64> {
    let request = request(py, record, station, window, entries, qualifiers)?;
    let ((), damaged) = record.read(py, |_, store| {
        let page = Page::whole(store, &request).map_err(text)?;
        let mut writer = page.writer(Format::Parquet).map_err(text)?;
        write_whole(&path, |file| {
            let (mut piece, mut done) = (Vec::new(), false);
            while !done {
                done = writer.write(store, &mut piece, PIECE_BYTES).map_err(text)?;
                file.write_all(&piece).map_err(text)?;
                piece.clear();
            }
            Ok(())
        })
    })?;
    Ok(damaged)
}

/// Writes a file under a temporary name, and renames it when it is whole. An existing file is kept,
/// even one that appears in the meantime.
fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), String>,
) -> Result<(), String> {
    let message = |error: std::io::Error| match error.kind() {
        ErrorKind::AlreadyExists => {
            format!("{} exists already; it was not overwritten", path.display())
        }
        _ => format!("{}: {error}", path.display()),
    };
    if path.exists() {
        return Err(message(ErrorKind::AlreadyExists.into()));
    }
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(format!(".{}.unfinished", std::process::id()));
    let unfinished = Path::new(&unfinished);
    // Another thread may be writing it.
    let mut file = File::create_new(unfinished)
        .map_err(|error| format!("{}: {error}", unfinished.display()))?;
    let done = write(&mut file).and_then(|()| file.sync_all().map_err(message));
    // A link is refused if the name is taken. On a disk without links, only the check before
    // protects an existing file.
    let shown = done.and_then(|()| match fs::hard_link(unfinished, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists && !path.exists() => {
            fs::rename(unfinished, path).map_err(message)
        }
        linked => linked.map_err(message),
    });
    let _ = fs::remove_file(unfinished);
    shown
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrowStream>()?;
    module.add_function(wrap_pyfunction!(record_bulk, module)?)?;
    module.add_function(wrap_pyfunction!(record_bulk_parquet, module)?)
}
