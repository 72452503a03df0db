//! A record in process: the store in a folder, read while another process writes it, or opened as
//! its only writer.

use std::path::PathBuf;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use mesonet::feed::{self, Kind, metar_station};
use mesonet::intake::{FeedFile, FileReceipt};
use mesonet::observation::{SeriesFilter, SeriesId};
use mesonet::query::{Caps, ReadingsQuery, Scope, detail, details, observation_series, readings};
use mesonet::store::{
    AlertStore, EmbeddedOptions, EmbeddedReader, Fault, Maintenance, ReaderWrapper, StoreError,
    StoredReport, Watched,
};
use mesonet::zone::Zones;
use mesonet::{
    BBox, ClosedWindow, EmbeddedStore, Intake, Iso8601, LonLat, Reader, Station, StationId, Step,
    Variable,
};
use mesonet_service::origin::make_own;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use crate::alert::zones_of;
use crate::arrow_table::ArrowTable;
use crate::error::{json, refused, text};
use crate::feed::counts;
use crate::record_tables;

/// An open folder. Only the process that opened it closes it: a fork shares the lock and the
/// databases, and closing them in the fork would take them from the first process.
pub struct Open {
    process: u32,
    files: Option<OpenRecord>,
    pub intake: Intake,
    pub folder: PathBuf,
}

enum OpenRecord {
    Read(Box<EmbeddedReader>),
    /// The alerts are closed before the folder is unlocked.
    Written {
        alerts: Box<AlertStore>,
        faults: Vec<Fault>,
        store: Box<EmbeddedStore>,
    },
}

impl Open {
    fn files(&self) -> &OpenRecord {
        self.files.as_ref().expect("the files are there until this is dropped")
    }

    /// Takes in what another process has written.
    pub fn refresh(&self) -> Result<(), StoreError> {
        match self.files() {
            OpenRecord::Read(reader) => reader.refresh().map(|_| ()),
            OpenRecord::Written { .. } => Ok(()),
        }
    }

    /// The alerts on record, and which of them are damaged.
    pub fn alerts(&self) -> Result<mesonet::store::AlertRecord, StoreError> {
        match self.files() {
            OpenRecord::Read(_) => AlertStore::read(&self.folder).map(|(record, _)| record),
            OpenRecord::Written { alerts, .. } => match alerts.failure() {
                Some(error) => Err(error.clone()),
                None => Ok((*alerts.record()).clone()),
            },
        }
    }
}

impl ReaderWrapper for Open {
    fn wrapped(&self) -> &dyn Reader {
        match self.files() {
            OpenRecord::Read(reader) => &**reader,
            OpenRecord::Written { store, .. } => &**store,
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if process::id() != self.process {
            std::mem::forget(self.files.take());
        }
    }
}

/// See `mesonet.Record`.
#[pyclass(frozen, module = "mesonet._mesonet")]
pub struct Record {
    folder: PathBuf,
    process: u32,
    zones: Zones,
    open: Mutex<Option<Arc<Open>>>,
}

/// A file: its name, its content, when it was received, its kind if known, the present, and the places
/// of stations by their native ids.
type File = (String, PyBackedBytes, i64, Option<String>, i64, Vec<(String, f64, f64, Option<f64>)>);

/// A window, ids of stations or a box, names, a step in minutes, the greatest age and caps.
type ReadingsRequest = (
    (i64, i64),
    Option<Vec<String>>,
    Option<(f64, f64, f64, f64)>,
    Option<Vec<String>>,
    Option<i64>,
    Option<i64>,
    (u64, u64),
);

/// Time, revision, heading and text of a report.
type ReportText = (i64, u8, Option<String>, String);

/// A JSON text, and how many damaged blocks are missing from it.
pub type AnswerText = (String, u64);

#[pymethods]
impl Record {
    #[new]
    #[pyo3(signature = (folder, writes, zones, /))]
    #[expect(clippy::needless_pass_by_value, reason = "Python's bytes are passed by value")]
    fn open(
        py: Python<'_>,
        folder: PathBuf,
        writes: bool,
        zones: Option<PyBackedBytes>,
    ) -> PyResult<Self> {
        let zones = zones_of(zones.as_ref())?;
        let open = || -> Result<OpenRecord, StoreError> {
            if !writes {
                return EmbeddedReader::open(&folder)
                    .map(|reader| OpenRecord::Read(Box::new(reader)));
            }
            let store = Box::new(EmbeddedStore::open(&folder, EmbeddedOptions::default())?);
            let (alerts, faults) = match AlertStore::open(&folder) {
                Ok(opened) => opened,
                Err(error @ StoreError::SchemaVersion { .. }) => return Err(error),
                Err(error) => (AlertStore::unavailable(error), Vec::new()),
            };
            Ok(OpenRecord::Written { alerts: Box::new(alerts), faults, store })
        };
        let files = Some(py.detach(open).map_err(refused)?);
        let (process, intake) = (process::id(), Intake::default());
        let open = Open { process, files, intake, folder: folder.clone() };
        Ok(Self { folder, process, zones, open: Mutex::new(Some(Arc::new(open))) })
    }

    /// Closes the folder once all reads from it are done.
    fn close(&self, py: Python<'_>) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(open));
    }

    #[pyo3(signature = (file, /))]
    fn ingest<'py>(&self, py: Python<'py>, file: File) -> PyResult<Bound<'py, PyDict>> {
        let (name, content, received_ms, kind, now_ms, places) = file;
        let open = self.opened()?;
        let kind = kind.map(|kind| kind.parse::<Kind>()).transpose().map_err(refused)?;
        let stations = places
            .into_iter()
            .map(|(native_id, lon, lat, altitude_m)| {
                let place = LonLat::new(lon, lat).map_err(refused)?;
                Ok(metar_station(&native_id, None, place, altitude_m))
            })
            .collect::<PyResult<Vec<Station>>>()?;
        let known = |id| {
            let given = stations.iter().find(|station| station.id == id);
            given.or_else(|| feed::known_stations().get(&id)).cloned()
        };
        let ingest = || {
            let OpenRecord::Written { alerts, store, .. } = open.files() else {
                let folder = open.folder.display();
                return Err(format!(
                    "{folder} is open for reading; to write, open it with write=True"
                ));
            };
            let file = FeedFile {
                kind,
                known: &known,
                now_ms: Some(now_ms),
                alerts: Some(alerts),
                ..FeedFile::new(&name, received_ms)
            };
            let receipt = open.intake.read_file(&**store, &content[..], &file).map_err(text)?;
            // A server's clock does not stand still over readings that somebody brought in.
            if receipt.readings.added > 0 {
                make_own(&**store).map_err(text)?;
            }
            store.maintain(&Maintenance::default()).map_err(text)?;
            Ok(receipt)
        };
        let receipt = py.detach(ingest).map_err(refused)?;
        summary_of(py, &receipt)
    }

    /// Seals fresh readings, merges segments, and sets damaged files aside.
    fn seal(&self, py: Python<'_>) -> PyResult<()> {
        let open = self.opened()?;
        py.detach(|| match open.files() {
            OpenRecord::Written { store, .. } => {
                let all = Maintenance { seal_all: true, ..Maintenance::default() };
                store.maintain(&all).map(|_| ()).map_err(text)
            }
            OpenRecord::Read(_) => {
                Err("only a record that is open for writing can seal".to_owned())
            }
        })
        .map_err(refused)
    }

    /// Numbers of stations, segments, sealed and fresh readings, the newest time, and the faults.
    #[expect(clippy::type_complexity, reason = "one caller in Python")]
    fn health(
        &self,
        py: Python<'_>,
    ) -> PyResult<(usize, usize, u64, u64, Option<i64>, Vec<String>)> {
        let open = self.opened()?;
        let look = || -> Result<_, StoreError> {
            open.refresh()?;
            let (health, mut faults) = match open.files() {
                OpenRecord::Read(reader) => (reader.health(), AlertStore::read(&open.folder)?.1),
                OpenRecord::Written { store, faults, .. } => (store.health(), faults.clone()),
            };
            let stations = open.directory()?.stations.len();
            faults.splice(0..0, health.faults);
            let faults = faults.iter().map(ToString::to_string).collect();
            let (sealed, fresh) = (health.sealed_readings, health.fresh_readings);
            Ok((stations, health.segments, sealed, fresh, health.newest_ms, faults))
        };
        py.detach(look).map_err(refused)
    }

    fn stations(&self, py: Python<'_>) -> PyResult<ArrowTable> {
        let (batch, _) =
            self.read(py, |_, store| record_tables::stations(&*store.directory().map_err(text)?))?;
        Ok(ArrowTable(batch))
    }

    /// The readings; the step in minutes; and the coarsening as JSON.
    #[pyo3(signature = (asked, /))]
    fn readings(
        &self,
        py: Python<'_>,
        asked: ReadingsRequest,
    ) -> PyResult<(ArrowTable, u64, Option<i64>, Option<String>)> {
        let (window, stations, sides, names, step, max_age_ms, (cells, positions)) = asked;
        let window = ClosedWindow::new(window.0, window.1).map_err(refused)?;
        let names: Vec<Variable> = match names {
            None => Variable::map_variables().collect(),
            Some(names) => {
                names.iter().map(|name| name.parse()).collect::<Result<_, _>>().map_err(refused)?
            }
        };
        let sides = match (&stations, sides) {
            (_, None) => None,
            (None, Some((west, south, east, north))) => {
                Some(BBox::new(west, south, east, north).map_err(refused)?)
            }
            (Some(_), Some(_)) => return Err(refused("give either stations or bbox, not both")),
        };
        let step = step.map(Step::from_minutes).transpose().map_err(refused)?;
        let query = ReadingsQuery::new(window, names).step(step).max_age_ms(max_age_ms);
        let ((batch, step, coarsening), damaged) = self.read(py, |_, store| {
            let scope = match stations {
                None => sides.map_or(Scope::Everywhere, Scope::Box),
                Some(names) => {
                    let directory = store.directory().map_err(text)?;
                    let ids = names.iter().map(|name| directory.named(name).map_err(text));
                    Scope::Stations(ids.collect::<Result<_, _>>()?)
                }
            };
            let query = query.scope(scope);
            let found = readings(store, &query, Caps { cells, positions }).map_err(text)?;
            let coarsening = found.coarsening.as_ref().map(json).transpose()?;
            let step = found.step.map(Step::minutes);
            Ok((record_tables::readings(&found)?, step, coarsening))
        })?;
        Ok((ArrowTable(batch), damaged, step, coarsening))
    }

    #[pyo3(signature = (station, filter, window, /))]
    fn series(
        &self,
        py: Python<'_>,
        station: &str,
        filter: &str,
        window: (i64, i64),
    ) -> PyResult<(ArrowTable, u64)> {
        let filter: SeriesFilter = serde_json::from_str(filter).map_err(refused)?;
        if let Some(name) = &filter.name {
            name.parse::<Variable>().map_err(refused)?;
        }
        let window = ClosedWindow::new(window.0, window.1).map_err(refused)?;
        let (batch, damaged) = self.read(py, |_, store| {
            let station = on_record(store, station)?;
            let found = observation_series(store, station, &filter, window).map_err(text)?;
            record_tables::series(found.as_ref())
        })?;
        Ok((ArrowTable(batch), damaged))
    }

    /// The reports of a station: time, revision, heading and text.
    #[pyo3(signature = (station, window, /))]
    fn reports(
        &self,
        py: Python<'_>,
        station: &str,
        window: (i64, i64),
    ) -> PyResult<(Vec<ReportText>, u64)> {
        let window = ClosedWindow::new(window.0, window.1).map_err(refused)?;
        self.read(py, |_, store| {
            let station = on_record(store, station)?;
            let mut found = Vec::new();
            let mut visit = |_, kept: &StoredReport<'_>| {
                let (header, text) = (kept.header.map(str::to_owned), kept.text.to_owned());
                found.push((kept.ts_ms, kept.revision, header, text));
            };
            store.scan_reports(&[station], window, &mut visit).map_err(text)?;
            Ok(found)
        })
    }

    /// The details of a station, or of all of them by id.
    #[pyo3(signature = (station, at_ms, /))]
    fn details(&self, py: Python<'_>, station: Option<&str>, at_ms: i64) -> PyResult<AnswerText> {
        self.read(py, |_, store| {
            let Some(station) = station else {
                let all = details(store, at_ms).map_err(text)?;
                let by_id: std::collections::BTreeMap<String, _> =
                    all.iter().map(|of| (of.record.station.id.to_string(), of)).collect();
                return json(&by_id);
            };
            let station = on_record(store, station)?;
            json(&detail(store, station, at_ms).map_err(text)?)
        })
    }

    #[pyo3(signature = (station, series, ts_ms, /))]
    fn explain(
        &self,
        py: Python<'_>,
        station: &str,
        series: i32,
        ts_ms: i64,
    ) -> PyResult<AnswerText> {
        self.read(py, |open, store| {
            let station = store.directory().map_err(text)?.named(station).map_err(text)?;
            let found =
                open.intake.explain(store, station, SeriesId(series), ts_ms).map_err(text)?;
            let found = found.ok_or_else(|| {
                format!("station {station} has no reading of {series} at {}", Iso8601(ts_ms))
            })?;
            json(&found)
        })
    }
}

impl Record {
    /// The zones whose outlines were given.
    pub fn zones(&self) -> &Zones {
        &self.zones
    }

    /// The open folder.
    pub fn opened(&self) -> PyResult<Arc<Open>> {
        if process::id() != self.process {
            let folder = self.folder.display();
            return Err(refused(format!(
                "the record in {folder} was opened by process {}, which is not this one; open it \
                 again here",
                self.process
            )));
        }
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.clone()
            .ok_or_else(|| refused(format!("the record in {} is closed", self.folder.display())))
    }

    /// Reads without the GIL, and counts the damaged blocks that are missing from the answer.
    pub fn read<T: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&Arc<Open>, &dyn Reader) -> Result<T, String> + Send,
    ) -> PyResult<(T, u64)> {
        let open = self.opened()?;
        py.detach(|| {
            open.refresh().map_err(text)?;
            let store = Watched::new(&*open);
            let found = read(&open, &store)?;
            Ok((found, store.damage().blocks()))
        })
        .map_err(|error: String| refused(error))
    }
}

/// The station on record that a text names.
pub fn on_record(store: &dyn Reader, station: &str) -> Result<StationId, String> {
    let directory = store.directory().map_err(text)?;
    let id = directory.named(station).map_err(text)?;
    let known = directory.get(id).is_some();
    known.then_some(id).ok_or_else(|| format!("no station has the id \"{station}\""))
}

fn summary_of<'py>(py: Python<'py>, of: &FileReceipt) -> PyResult<Bound<'py, PyDict>> {
    let FileReceipt { kind, summary, readings, alerts, place_unknown, in_the_future, .. } = of;
    let summary_of = PyDict::new(py);
    summary_of.set_item("kind", kind.name())?;
    summary_of.set_item("read", summary.read)?;
    summary_of.set_item("refused", summary.refused)?;
    let refusals: Vec<String> = summary.refusals.iter().map(ToString::to_string).collect();
    summary_of.set_item("refusals", refusals)?;
    for (what, count) in [
        ("added", readings.added),
        ("replaced", readings.replaced),
        ("unchanged", readings.unchanged),
        ("overtaken", readings.overtaken),
        ("expired", readings.expired),
        ("alerts_added", alerts.added),
        ("alerts_replaced", alerts.replaced),
        ("alerts_unchanged", alerts.known),
    ] {
        summary_of.set_item(what, count)?;
    }
    summary_of.set_item("place_unknown", counts(place_unknown))?;
    summary_of.set_item("in_the_future", counts(in_the_future))?;
    Ok(summary_of)
}

/// The id of a station, which is made from its network and native id.
#[pyfunction]
#[pyo3(signature = (network, native_id, /))]
fn station_id(network: &str, native_id: &str) -> String {
    StationId::new(network, native_id).to_string()
}

/// See `mesonet.known_stations`.
#[pyfunction]
fn known_stations(py: Python<'_>) -> PyResult<ArrowTable> {
    py.detach(record_tables::known).map(ArrowTable).map_err(refused)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(station_id, module)?)?;
    module.add_function(wrap_pyfunction!(known_stations, module)?)?;
    module.add_class::<Record>()
}
