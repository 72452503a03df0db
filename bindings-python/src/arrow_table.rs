//! Arrow tables, in and out, through the capsules of Arrow's interface.
//!
//! What [`import`] relies on: a capsule named `arrow_array_stream` holds a stream of Arrow's C
//! interface, as the interface of capsules promises. The stream is moved out of the capsule, and a
//! released stream is left there, so nothing is released twice.

use arrow_array::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_select::concat::concat_batches;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyCapsule};

use crate::error::refused;
use crate::table_columns;

/// A table that other libraries take over without a copy.
#[pyclass(frozen, module = "mesonet._mesonet")]
pub struct ArrowTable(pub RecordBatch);

const STREAM: &std::ffi::CStr = c"arrow_array_stream";

#[pymethods]
impl ArrowTable {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The names of the columns.
    fn column_names(&self) -> Vec<String> {
        self.0.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// A column; see `table_columns`.
    fn column<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<(Bound<'py, PyAny>, Option<&'static str>)> {
        let column = self.0.column_by_name(name);
        let column = column.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        table_columns::column(py, name, column)
    }

    /// Some of the rows, without a copy; fewer if there are fewer.
    fn rows(&self, start: usize, length: usize) -> Self {
        let start = start.min(self.0.num_rows());
        Self(self.0.slice(start, length.min(self.0.num_rows() - start)))
    }

    /// The rows as a stream of Arrow's IPC format, for pickles.
    fn to_ipc<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let written = || {
            let mut writer = StreamWriter::try_new(Vec::new(), &self.0.schema())?;
            writer.write(&self.0)?;
            writer.into_inner()
        };
        Ok(PyBytes::new(py, &py.detach(written).map_err(refused)?))
    }

    /// The rows that [`to_ipc`](Self::to_ipc) wrote.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "Python's bytes are passed by value")]
    fn from_ipc(py: Python<'_>, bytes: PyBackedBytes) -> PyResult<Self> {
        let read = || {
            let reader = StreamReader::try_new(&bytes[..], None)?;
            let schema = reader.schema();
            concat_batches(&schema, &reader.collect::<Result<Vec<_>, _>>()?)
        };
        py.detach(read).map(Self).map_err(refused)
    }

    /// A stream of the one batch. A requested schema may be ignored, as the interface says.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        export(py, RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema()))
    }
}

/// The stream of a table that this module makes.
pub fn export(
    py: Python<'_>,
    rows: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(rows)), STREAM)
}

/// Opens the stream of a table.
pub fn import(table: &Bound<'_, PyAny>) -> PyResult<ArrowArrayStreamReader> {
    let capsule = table.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast_into::<PyCapsule>()?;
    let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
    #[allow(unsafe_code)]
    // SAFETY: see the top of the file; the capsule lives until the stream was moved.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(stream.as_ptr()) };
    reader.map_err(refused)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ArrowTable>()
}
