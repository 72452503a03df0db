//! Files of alerts: the messages, and their state at a time.

use std::sync::Arc;

use mesonet::alert::{AlertState, Clock, Feature, Message, Query, Status, resolve};
use mesonet::feed::{FileContext, Item, Kind, Summary};
use mesonet::store::AlertStore;
use mesonet::zone::{ZoneKind, Zones};
use mesonet::{BBox, LonLat, zone};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};

use crate::error::{json, refused};
use crate::feed::{File, holds_alerts, kind_of, summary_of};

/// The messages of files, each id once, in the order they were sent; and the zones whose outlines
/// are known.
#[pyclass(frozen, module = "mesonet._mesonet")]
struct AlertMessages {
    messages: Vec<Arc<Message>>,
    zones: Zones,
}

/// Id, status, time sent, what the message refers to, and what follows it.
type MessageRow = (String, &'static str, &'static str, i64, Vec<String>, Vec<String>);
/// West, south, east and north.
type Sides = (f64, f64, f64, f64);

pub fn clock(at_ms: i64, is_replay: bool) -> Clock {
    if is_replay { Clock::replay(at_ms) } else { Clock::live(at_ms) }
}

#[pymethods]
impl AlertMessages {
    fn __len__(&self) -> usize {
        self.messages.len()
    }

    /// The state of each message, in the order they were sent.
    #[pyo3(signature = (at_ms, is_replay, /))]
    fn states(&self, py: Python<'_>, at_ms: i64, is_replay: bool) -> Vec<MessageRow> {
        py.detach(|| {
            let messages: Vec<&Message> = self.messages.iter().map(AsRef::as_ref).collect();
            let states = resolve(&messages, clock(at_ms, is_replay));
            let summary_of = messages.iter().zip(states).map(|(message, state)| {
                let Message { id, message_type, sent_ms, references, .. } = message;
                let status = Status::name(state.status);
                (
                    id.clone(),
                    message_type.name(),
                    status,
                    *sent_ms,
                    references.clone(),
                    state.next_ids,
                )
            });
            summary_of.collect()
        })
    }

    /// The alerts that meet the conditions, the latest sent first, as GeoJSON.
    #[pyo3(signature = (at_ms, is_replay, is_active, language, sides, place, /))]
    #[expect(clippy::too_many_arguments, reason = "positional, with one caller in Python")]
    fn geojson(
        &self,
        py: Python<'_>,
        at_ms: i64,
        is_replay: bool,
        is_active: bool,
        language: &str,
        sides: Option<Sides>,
        place: Option<(f64, f64)>,
    ) -> PyResult<String> {
        let bbox = sides.map(|(west, south, east, north)| BBox::new(west, south, east, north));
        let place = place.map(|(lon, lat)| LonLat::new(lon, lat));
        let query = Query::default()
            .is_active(is_active)
            .bbox(bbox.transpose().map_err(refused)?)
            .at(place.transpose().map_err(refused)?);
        let write = || {
            let found = query.select(&self.messages, clock(at_ms, is_replay), &self.zones);
            collection(&found, &self.zones, language)
        };
        py.detach(write).map_err(refused)
    }
}

/// Messages with their states as GeoJSON, the latest sent first.
pub fn collection(
    found: &[(&Message, AlertState)],
    zones: &Zones,
    language: &str,
) -> Result<String, String> {
    let newest_first = found.iter().rev();
    let features: Vec<Feature<'_>> = newest_first
        .map(|(message, state)| Feature::new(message, state, zones, language))
        .collect();
    let features = json(&features)?;
    Ok(format!(r#"{{"type":"FeatureCollection","features":{features}}}"#))
}

/// The zones of a bundle; none without one.
pub fn zones_of(bundle: Option<&PyBackedBytes>) -> PyResult<Zones> {
    bundle
        .map_or_else(|| Ok(Zones::default()), |bundle| Zones::from_bundle(bundle).map_err(refused))
}

/// The messages of files, and how each file was read.
#[pyfunction]
#[pyo3(signature = (files, zones, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is converted into ours")]
fn read_alerts(
    py: Python<'_>,
    files: Vec<File>,
    zones: Option<PyBackedBytes>,
) -> PyResult<(AlertMessages, Vec<Bound<'_, PyDict>>)> {
    let zones = zones_of(zones.as_ref())?;
    let (messages, summaries) = py.detach(|| read(&files)).map_err(refused)?;
    let summary_of = summaries.iter().map(|(kind, summary)| summary_of(py, *kind, summary));
    let summary_of = summary_of.collect::<PyResult<_>>()?;
    Ok((AlertMessages { messages, zones }, summary_of))
}

/// The parts of a file of zones: its name, and its content; of a shapefile also its table, its
/// coordinate system and its encoding.
type ZoneFile = (String, PyBackedBytes, Option<(PyBackedBytes, String, Option<String>)>);

/// The bundle of the zones of files, and of each file how many zones and rows it has, how many of these
/// were refused, and why the first were.
#[pyfunction]
#[pyo3(signature = (files, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is converted into ours")]
fn zone_bundle(
    py: Python<'_>,
    files: Vec<ZoneFile>,
) -> PyResult<(Bound<'_, PyBytes>, Vec<ZoneCounts>)> {
    let (bundle, read) = py.detach(|| bundle_of(&files)).map_err(refused)?;
    Ok((PyBytes::new(py, &bundle), read))
}

/// Zones, rows, refused rows, and why the first of these were.
type ZoneCounts = (usize, usize, usize, Vec<String>);

fn bundle_of(files: &[ZoneFile]) -> Result<(Vec<u8>, Vec<ZoneCounts>), String> {
    let (mut zones, mut read) = (Vec::new(), Vec::new());
    for (name, content, table) in files {
        // The Weather Service names its files of fire weather zones so; nothing in them says it.
        let is_fire = name.get(..2).is_some_and(|start| start.eq_ignore_ascii_case("fz"));
        let hint = is_fire.then_some(ZoneKind::Fire);
        let of_file = match table {
            None => zone::read_geojson(content, hint),
            Some((dbf, prj, cpg)) => {
                let file = zone::Shapefile { shp: content, dbf, prj, cpg: cpg.as_deref() };
                zone::read_shapefile(file, hint)
            }
        };
        let mut file = of_file.map_err(|error| format!("{name}: {error}"))?;
        file.simplify().map_err(|error| format!("{name}: {error}"))?;
        let refusals = file.refusals.iter().take(5);
        let refusals = refusals.map(|of| format!("row {}: {}", of.row, of.reason)).collect();
        read.push((file.zones.len(), file.rows, file.refused, refusals));
        zones.append(&mut file.zones);
    }
    let bundle = Zones::new(zones).to_bundle().map_err(|error| error.to_string())?;
    Ok((bundle, read))
}

/// The messages of files, and the kind and the summary of each file.
type Read = (Vec<Arc<Message>>, Vec<(Kind, Summary)>);

fn read(files: &[File]) -> Result<Read, String> {
    let store = AlertStore::default();
    let mut summaries = Vec::with_capacity(files.len());
    for (name, content, received_ms, kind) in files {
        let kind = kind_of(name, content, kind.as_deref())?;
        if !holds_alerts(kind) {
            return Err(format!("{name}: files of kind {kind} hold readings and no alerts"));
        }
        let file = FileContext::new(name, *received_ms);
        let mut messages = Vec::new();
        let mut keep = |item| {
            if let Item::Alert(message) = item {
                messages.push(message);
            }
        };
        let summary = kind
            .read(&mut &content[..], &file, &mut keep)
            .map_err(|error| format!("{name}: {error}"))?;
        summaries.push((kind, summary));
        store.append(messages).map_err(|error| error.to_string())?;
    }
    Ok((store.record().messages.clone(), summaries))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<AlertMessages>()?;
    module.add_function(wrap_pyfunction!(read_alerts, module)?)?;
    module.add_function(wrap_pyfunction!(zone_bundle, module)?)
}
