//! Files of feeds as Arrow tables.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use mesonet::feed::{FeedTable, FileContext, Kind, Summary, Tally};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyCapsule, PyDict};

use crate::error::refused;

/// A table that other libraries take over without a copy, by Arrow's interface of capsules.
#[pyclass(frozen, module = "mesonet._mesonet")]
pub struct ArrowTable(pub RecordBatch);

#[pymethods]
impl ArrowTable {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The names of the columns.
    fn column_names(&self) -> Vec<String> {
        self.0.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// A stream of the one batch. A requested schema may be ignored, as the interface says.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// A file: its name without folders, its content, when it was received, and its kind if known.
type File = (String, PyBackedBytes, i64, Option<String>);

/// How each file was read, and the readings of all.
#[pyfunction]
#[pyo3(signature = (files, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is converted into ours")]
fn read_feed(py: Python<'_>, files: Vec<File>) -> PyResult<(ArrowTable, Vec<Bound<'_, PyDict>>)> {
    let (batch, summaries) = py.detach(|| read(&files)).map_err(refused)?;
    let told = summaries.iter().map(|(kind, summary)| told(py, *kind, summary));
    Ok((ArrowTable(batch), told.collect::<PyResult<_>>()?))
}

fn read(files: &[File]) -> Result<(RecordBatch, Vec<(Kind, Summary)>), String> {
    let mut table = FeedTable::default();
    let mut summaries = Vec::with_capacity(files.len());
    for (name, content, received_ms, kind) in files {
        let kind = match kind {
            Some(kind) => kind.parse::<Kind>().map_err(|error| error.to_string())?,
            None => Kind::detect(name, content).ok_or_else(|| {
                format!("{name}: of no known kind; known are {}", names().join(", "))
            })?,
        };
        if matches!(kind, Kind::Cap | Kind::NwsAlerts) {
            return Err(format!("{name}: files of kind {kind} hold alerts and no readings"));
        }
        let file = FileContext::new(name, *received_ms);
        let mut input = &content[..];
        let summary = kind
            .read(&mut input, &file, &mut |item| table.extend(item.into_report().iter()))
            .map_err(|error| format!("{name}: {error}"))?;
        summaries.push((kind, summary));
    }
    Ok((table.finish().map_err(|error| error.to_string())?, summaries))
}

fn names() -> Vec<&'static str> {
    Kind::ALL.iter().map(|kind| kind.name()).collect()
}

fn told<'py>(py: Python<'py>, kind: Kind, of: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let counts = |tally: &Tally| -> Vec<(String, u64)> {
        tally.iter().map(|(name, count)| (name.to_owned(), count)).collect()
    };
    let told = PyDict::new(py);
    told.set_item("kind", kind.name())?;
    told.set_item("read", of.read)?;
    told.set_item("refused", of.refused)?;
    told.set_item("refusals", of.refusals.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    told.set_item("readings", of.readings)?;
    told.set_item("kept_as_reported", counts(&of.kept_as_reported))?;
    told.set_item("without_variable", counts(&of.without_variable))?;
    told.set_item("unread_values", counts(&of.unread_values))?;
    Ok(told)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("FEED_KINDS", names())?;
    module.add_class::<ArrowTable>()?;
    module.add_function(wrap_pyfunction!(read_feed, module)?)
}
