//! Alerts and model runs of a record in process, as the JSON that the service sends.

use mesonet::model::{
    Catalogue, PointQuery, Run, RunStamp, RunStore, RunStoreError, SeriesQuery, Winds, point,
    series,
};
use mesonet::{BBox, LonLat, alert};
use pyo3::prelude::*;

use crate::alert::{clock, collection};
use crate::error::refused;
use crate::error::{json, text};
use crate::record::Record;

/// A window, a box, a place, codes of zones, and whether only active ones are meant.
type AlertsRequest = (
    (Option<i64>, Option<i64>),
    Option<(f64, f64, f64, f64)>,
    Option<(f64, f64)>,
    Vec<String>,
    bool,
);

/// The alerts with their state at a time, the latest sent first, as GeoJSON.
#[pyfunction]
#[pyo3(signature = (record, at_ms, replay, asked, language, /))]
fn record_alerts(
    py: Python<'_>,
    record: &Record,
    at_ms: i64,
    replay: bool,
    asked: AlertsRequest,
    language: &str,
) -> PyResult<String> {
    let ((start_ms, end_ms), sides, place, codes, is_active) = asked;
    let bbox = sides.map(|(west, south, east, north)| BBox::new(west, south, east, north));
    let place = place.map(|(lon, lat)| LonLat::new(lon, lat)).transpose().map_err(refused)?;
    let codes = codes.iter().map(|code| code.parse()).collect::<Result<_, _>>().map_err(refused)?;
    let query = alert::Query::default()
        .start_ms(start_ms)
        .end_ms(end_ms)
        .bbox(bbox.transpose().map_err(refused)?)
        .at(place)
        .codes(codes)
        .is_active(is_active);
    let zones = record.zones();
    let (told, _) = record.read(py, |open, _| {
        let alerts = open.alerts().map_err(text)?;
        collection(&query.select(&alerts.messages, clock(at_ms, replay), zones), zones, language)
    })?;
    Ok(told)
}

/// The models of a record with their runs, latest run first.
#[pyfunction]
#[pyo3(signature = (record, /))]
fn record_models(py: Python<'_>, record: &Record) -> PyResult<Vec<(String, Vec<String>)>> {
    let open = record.opened()?;
    let runs = || -> Result<_, RunStoreError> {
        let store = RunStore::new(open.folder.join("models"));
        let of = |model: String| {
            let stamps = store.runs(&model)?;
            Ok((model, stamps.iter().map(ToString::to_string).collect()))
        };
        store.models()?.into_iter().map(of).collect()
    };
    py.detach(runs).map_err(refused)
}

/// A model, its run if it is not the latest, and names of products.
type ModelSelection = (String, Option<String>, Vec<String>);

/// A cell by row and column, or by longitude and latitude.
#[derive(FromPyObject)]
enum CellPlace {
    Cell(usize, usize),
    LonLat(f64, f64),
}

/// A level by index or pressure, a member, and whether winds are turned to true north.
type Which = (Option<usize>, Option<f64>, Option<u8>, bool);

struct Model {
    run: Run,
    catalogue: Option<Catalogue>,
    name: String,
}

impl Model {
    fn open(record: &Record, named: &ModelSelection, turns_winds: bool) -> PyResult<Self> {
        let store = RunStore::new(record.opened()?.folder.join("models"));
        let run = match &named.1 {
            None => store.newest_run(&named.0),
            Some(run) => store.run(&named.0, run.parse::<RunStamp>().map_err(refused)?),
        };
        let catalogue = turns_winds.then(Catalogue::default);
        Ok(Self { run: run.map_err(refused)?, catalogue, name: named.0.clone() })
    }

    fn cell(&self, place: &CellPlace) -> PyResult<(usize, usize)> {
        match *place {
            CellPlace::Cell(row, column) => Ok((row, column)),
            CellPlace::LonLat(lon, lat) => {
                let at = LonLat::new(lon, lat).map_err(refused)?;
                self.run.grid().nearest(at).map_err(refused)
            }
        }
    }

    fn winds(&self) -> PyResult<Winds<'_>> {
        let Some(catalogue) = &self.catalogue else { return Ok(Winds::AsTheyAre) };
        let source = catalogue.get(&self.name).ok_or_else(|| {
            refused(format!(
                "it is not known which products of \"{}\" are winds; winds=\"grid\" gives them as they are",
                self.name
            ))
        })?;
        Ok(Winds::Earth(source.winds()))
    }
}

/// The values of one cell at one hour, given by its index or its valid time.
#[pyfunction]
#[pyo3(signature = (record, named, hour, valid_ms, place, which, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's values are converted into ours")]
fn record_model_point(
    py: Python<'_>,
    record: &Record,
    named: ModelSelection,
    hour: Option<usize>,
    valid_ms: Option<i64>,
    place: CellPlace,
    which: Which,
) -> PyResult<String> {
    let model = Model::open(record, &named, which.3)?;
    let hours = &model.run.definition().valid_ms;
    let hour = match (hour, valid_ms) {
        (Some(hour), None) => hour,
        (None, Some(valid_ms)) => hours.binary_search(&valid_ms).map_err(|_| {
            let of = |at: Option<&i64>| mesonet::Iso8601(at.copied().unwrap_or_default());
            refused(format!(
                "valid {} is not an hour of run {}; its hours are the {} from {} to {}",
                mesonet::Iso8601(valid_ms),
                model.run.definition().run,
                hours.len(),
                of(hours.first()),
                of(hours.last())
            ))
        })?,
        (None, None) => 0,
        (Some(_), Some(_)) => return Err(refused("give either hour or valid, not both")),
    };
    let fields: Vec<&str> = named.2.iter().map(String::as_str).collect();
    let asked = PointQuery::new(hour, model.cell(&place)?, &fields)
        .level(which.0)
        .level_hpa(which.1)
        .member(which.2)
        .winds(model.winds()?);
    py.detach(|| json(&point(&model.run, &asked).map_err(text)?)).map_err(refused)
}

/// The values of one cell over the hours of a run.
#[pyfunction]
#[pyo3(signature = (record, named, place, which, span_ms, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's values are converted into ours")]
fn record_model_series(
    py: Python<'_>,
    record: &Record,
    named: ModelSelection,
    place: CellPlace,
    which: Which,
    span_ms: (Option<i64>, Option<i64>),
) -> PyResult<String> {
    let model = Model::open(record, &named, which.3)?;
    let fields: Vec<&str> = named.2.iter().map(String::as_str).collect();
    let asked = SeriesQuery::new(model.cell(&place)?, &fields)
        .level(which.0)
        .level_hpa(which.1)
        .member(which.2)
        .from_ms(span_ms.0)
        .to_ms(span_ms.1)
        .winds(model.winds()?);
    py.detach(|| json(&series(&model.run, &asked).map_err(text)?)).map_err(refused)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(record_alerts, module)?)?;
    module.add_function(wrap_pyfunction!(record_models, module)?)?;
    module.add_function(wrap_pyfunction!(record_model_point, module)?)?;
    module.add_function(wrap_pyfunction!(record_model_series, module)?)
}
