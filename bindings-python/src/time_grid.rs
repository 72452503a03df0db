//! The time grid: its positions, and readings at them.

use mesonet::query::{
    Caps, Coarsening, GridCells, LimitedBy, NO_READING, Pick, Positions, Ragged, pick_series,
    plan_time_grid, resample,
};
use mesonet::time::parse_instant;
use mesonet::{ClosedWindow, Step};
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::prelude::*;

use crate::error::refused;

/// Start and end in milliseconds since 1970, and the step in minutes.
pub type Grid = (i64, i64, i64);

pub fn positions((start_ms, end_ms, step): Grid) -> PyResult<Positions> {
    let window = ClosedWindow::new(start_ms, end_ms).map_err(refused)?;
    Ok(Positions::new(window, Step::from_minutes(step).map_err(refused)?))
}

/// Milliseconds since 1970 of an RFC 3339 text.
#[pyfunction]
#[pyo3(signature = (text, /))]
fn instant_ms(text: &str) -> PyResult<i64> {
    parse_instant(text).map_err(refused)
}

/// The number of positions of a grid.
#[pyfunction]
#[pyo3(signature = (grid, /))]
fn position_count(grid: Grid) -> PyResult<u64> {
    Ok(positions(grid)?.len())
}

/// Writes the positions of a grid, in milliseconds since 1970.
#[pyfunction]
#[pyo3(signature = (grid, out, /))]
fn fill_positions(grid: Grid, mut out: PyReadwriteArray1<'_, i64>) -> PyResult<()> {
    for (out, at_ms) in out.as_slice_mut()?.iter_mut().zip(positions(grid)?.iter()) {
        *out = at_ms;
    }
    Ok(())
}

/// Requested step in minutes, factor, the cap that limits it, cells and positions.
type Coarsened = (i64, i64, &'static str, u64, u64);

/// The step in minutes that fits the caps, and what made it coarser.
#[pyfunction]
#[pyo3(signature = (grid, stations, names, caps, /))]
fn plan(
    grid: Grid,
    stations: usize,
    names: usize,
    caps: (u64, u64),
) -> PyResult<(i64, Option<Coarsened>)> {
    let ((start_ms, end_ms, step), (cells, positions)) = (grid, caps);
    let window = ClosedWindow::new(start_ms, end_ms).map_err(refused)?;
    let step = Step::from_minutes(step).map_err(refused)?;
    let plan = plan_time_grid(window, step, stations, names, Caps { cells, positions });
    let as_tuple = |of: Coarsening| {
        let limited_by = match of.limited_by {
            LimitedBy::Cells => "cells",
            LimitedBy::Positions => "positions",
        };
        (of.requested_step, of.factor, limited_by, of.cells, of.positions)
    };
    Ok((plan.step.minutes(), plan.coarsening.map(as_tuple)))
}

/// See `mesonet.resample`. The outputs have a place for each series and position.
#[pyfunction]
#[pyo3(signature = (ts_ms, value, offsets, grid, max_age_ms, out, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's arrays are held while they are read")]
fn resample_into(
    py: Python<'_>,
    ts_ms: PyReadonlyArray1<'_, i64>,
    value: PyReadonlyArray1<'_, f64>,
    offsets: PyReadonlyArray1<'_, i64>,
    grid: Grid,
    max_age_ms: Option<i64>,
    out: (PyReadwriteArray1<'_, f64>, PyReadwriteArray1<'_, i64>, PyReadwriteArray1<'_, i64>),
) -> PyResult<()> {
    let positions = positions(grid)?;
    let (ts_ms, value, offsets) = (ts_ms.as_slice()?, value.as_slice()?, offsets.as_slice()?);
    let (mut values, mut ages, mut readings) = out;
    let (value_out, age_ms) = (values.as_slice_mut()?, ages.as_slice_mut()?);
    let mut cells = GridCells { value: value_out, age_ms, reading: readings.as_slice_mut()? };
    py.detach(|| {
        let series = Ragged::new(ts_ms, value, offsets).map_err(|error| error.to_string())?;
        resample(&series, positions, max_age_ms, &mut cells).map_err(|error| error.to_string())
    })
    .map_err(refused)
}

/// See `mesonet.pick_series`. The outputs have a place for each position.
#[pyfunction]
#[pyo3(signature = (candidates, grid, max_age_ms, series, reading, /))]
#[expect(clippy::needless_pass_by_value, reason = "Python's list is converted into ours")]
fn pick_into(
    py: Python<'_>,
    candidates: Vec<PyReadonlyArray1<'_, i64>>,
    grid: Grid,
    max_age_ms: Option<i64>,
    mut series: PyReadwriteArray1<'_, i64>,
    mut reading: PyReadwriteArray1<'_, i64>,
) -> PyResult<()> {
    let positions = positions(grid)?;
    let candidates =
        candidates.iter().map(|of| Ok(of.as_slice()?)).collect::<PyResult<Vec<_>>>()?;
    let (series, reading) = (series.as_slice_mut()?, reading.as_slice_mut()?);
    py.detach(|| {
        let (mut picks, mut scratch) = (vec![Pick::EMPTY; series.len()], vec![0; series.len()]);
        pick_series(&candidates, positions, max_age_ms, &mut picks, &mut scratch)?;
        for ((pick, series), reading) in picks.iter().zip(series).zip(reading) {
            (*series, *reading) = match pick.reading {
                NO_READING => (-1, -1),
                reading => (i64::from(pick.series), i64::from(reading)),
            };
        }
        Ok(())
    })
    .map_err(|error: mesonet::query::TimeGridLengthError| refused(error))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let Caps { cells, positions } = Caps::default();
    module.add("DEFAULT_CAPS", (cells, positions))?;
    module.add("MAX_CANDIDATE_READINGS", NO_READING - 1)?;
    module.add_function(wrap_pyfunction!(instant_ms, module)?)?;
    module.add_function(wrap_pyfunction!(position_count, module)?)?;
    module.add_function(wrap_pyfunction!(fill_positions, module)?)?;
    module.add_function(wrap_pyfunction!(plan, module)?)?;
    module.add_function(wrap_pyfunction!(resample_into, module)?)?;
    module.add_function(wrap_pyfunction!(pick_into, module)?)
}
