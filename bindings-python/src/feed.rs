//! Files of feeds as Arrow tables.

use arrow_array::RecordBatch;
use mesonet::feed::{FeedKindError, FeedTable, FileContext, Kind, Summary, Tally};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use crate::arrow_table::ArrowTable;
use crate::error::refused;

/// A file: its name without folders, its content, when it was received, and its kind if known.
pub type File = (String, PyBackedBytes, i64, Option<String>);

/// How each file was read, and the readings of all.
#[pyfunction]
#[pyo3(signature = (files, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is converted into ours")]
fn read_feed(py: Python<'_>, files: Vec<File>) -> PyResult<(ArrowTable, Vec<Bound<'_, PyDict>>)> {
    let (batch, summaries) = py.detach(|| read(&files)).map_err(refused)?;
    let summary_of = summaries.iter().map(|(kind, summary)| summary_of(py, *kind, summary));
    Ok((ArrowTable(batch), summary_of.collect::<PyResult<_>>()?))
}

fn read(files: &[File]) -> Result<(RecordBatch, Vec<(Kind, Summary)>), String> {
    let mut table = FeedTable::default();
    let mut summaries = Vec::with_capacity(files.len());
    for (name, content, received_ms, kind) in files {
        let kind = kind_of(name, content, kind.as_deref())?;
        if holds_alerts(kind) {
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

/// The kind of a file: the named kind, or the kind that its content and name show.
pub fn kind_of(name: &str, content: &[u8], kind: Option<&str>) -> Result<Kind, String> {
    match kind {
        Some(kind) => kind.parse().map_err(|error: FeedKindError| error.to_string()),
        None => Kind::detect(name, content).ok_or_else(|| {
            format!("{name}: its kind is unknown; known are {}", names().join(", "))
        }),
    }
}

pub fn holds_alerts(kind: Kind) -> bool {
    matches!(kind, Kind::Cap | Kind::NwsAlerts)
}

/// The kind of a file, and whether it holds alerts; `None` if the kind is not known.
#[pyfunction]
#[pyo3(signature = (name, content, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's bytes are passed by value")]
fn detect_feed(name: &str, content: PyBackedBytes) -> Option<(&'static str, bool)> {
    Kind::detect(name, &content).map(|kind| (kind.name(), holds_alerts(kind)))
}

fn names() -> Vec<&'static str> {
    Kind::ALL.iter().map(|kind| kind.name()).collect()
}

/// How many times each name was counted.
pub fn counts(of: &Tally) -> Vec<(String, u64)> {
    of.iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

pub fn summary_of<'py>(py: Python<'py>, kind: Kind, of: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let summary_of = PyDict::new(py);
    summary_of.set_item("kind", kind.name())?;
    summary_of.set_item("read", of.read)?;
    summary_of.set_item("refused", of.refused)?;
    summary_of
        .set_item("refusals", of.refusals.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    summary_of.set_item("readings", of.readings)?;
    summary_of.set_item("kept_as_reported", counts(&of.kept_as_reported))?;
    summary_of.set_item("without_variable", counts(&of.without_variable))?;
    summary_of.set_item("unread_values", counts(&of.unread_values))?;
    Ok(summary_of)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("FEED_KINDS", names())?;
    module.add_function(wrap_pyfunction!(detect_feed, module)?)?;
    module.add_function(wrap_pyfunction!(read_feed, module)?)
}
