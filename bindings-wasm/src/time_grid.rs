//! The time grid. Times are whole milliseconds since 1970.

use mesonet::query::{
    Caps, LimitedBy, Pick, Positions, RaggedColumns, for_each_cell, pick_series, plan_time_grid,
};
use mesonet::time::MINUTE_MS;
use mesonet::{ClosedWindow, Step};
use wasm_bindgen::prelude::*;

/// The greatest whole number below which JavaScript's numbers have no gaps.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

fn positions(start_ms: f64, end_ms: f64, step: f64) -> Result<Positions, JsError> {
    let window = ClosedWindow::new(start_ms as i64, end_ms as i64)?;
    Ok(Positions::new(window, Step::from_minutes(step as i64)?))
}

/// Room for a number of values, or an error that says it is too many.
fn room<T: Clone>(cells: u64, empty: T) -> Result<Vec<T>, JsError> {
    let refused = || JsError::new(&format!("no memory is left for {cells} cells"));
    let length = usize::try_from(cells).map_err(|_| refused())?;
    let mut room = Vec::new();
    room.try_reserve_exact(length).map_err(|_| refused())?;
    room.resize(length, empty);
    Ok(room)
}

/// Added to a number up to half of it, this leaves its whole part in the low bits.
const WHOLE: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²
/// 70,000 years.
const NEAR: f64 = 2_251_799_813_685_248.0; // 2⁵¹

/// Whole milliseconds in the same memory.
fn milliseconds(ts_ms: Vec<f64>, what: &str) -> Result<Vec<i64>, JsError> {
    // Neither loop has a branch or a conversion, which takes engines longer than anything else here.
    let is_near = |&ms: &f64| (ms + WHOLE) - WHOLE == ms && ms.abs() <= NEAR;
    if ts_ms.iter().fold(true, |near, ms| near & is_near(ms)) {
        let bits = WHOLE.to_bits() as i64;
        return Ok(ts_ms.into_iter().map(|ms| (ms + WHOLE).to_bits() as i64 - bits).collect());
    }
    let is_whole = |&ms: &f64| (ms as i64) as f64 == ms && ms.abs() <= MAX_SAFE;
    if let Some(reading) = ts_ms.iter().position(|ms| !is_whole(ms)) {
        let message =
            format!("{what} must be whole milliseconds; reading {reading} is {}", ts_ms[reading]);
        return Err(JsError::new(&message));
    }
    Ok(ts_ms.into_iter().map(|ms| ms as i64).collect())
}

/// The default caps: cells and positions.
#[wasm_bindgen]
pub fn default_caps() -> Vec<f64> {
    let Caps { cells, positions } = Caps::default();
    vec![cells as f64, positions as f64]
}

/// The positions of a grid.
#[wasm_bindgen]
pub fn grid_positions(start_ms: f64, end_ms: f64, step: f64) -> Result<Vec<f64>, JsError> {
    let positions = positions(start_ms, end_ms, step)?;
    let mut times = room(positions.len(), 0.0)?;
    for (time, at_ms) in times.iter_mut().zip(positions.iter()) {
        *time = at_ms as f64;
    }
    Ok(times)
}

/// The step that fits the caps; if it is coarser, also the requested step, the factor, 0 if cells
/// limit it and 1 if positions do, and the numbers of cells and positions.
#[wasm_bindgen]
pub fn plan_grid(
    start_ms: f64,
    end_ms: f64,
    step: f64,
    stations: u32,
    names: u32,
    cells: u32,
    positions: u32,
) -> Result<Vec<f64>, JsError> {
    let window = ClosedWindow::new(start_ms as i64, end_ms as i64)?;
    let step = Step::from_minutes(step as i64)?;
    let caps = Caps { cells: cells.into(), positions: positions.into() };
    let plan = plan_time_grid(window, step, stations as usize, names as usize, caps);
    let mut told = vec![plan.step.minutes() as f64];
    if let Some(of) = plan.coarsening {
        let limited_by = match of.limited_by {
            LimitedBy::Cells => 0.0,
            LimitedBy::Positions => 1.0,
        };
        told.extend([of.requested_step as f64, of.factor as f64, limited_by]);
        told.extend([of.cells as f64, of.positions as f64]);
    }
    Ok(told)
}

/// The readings of many series in this module's memory, and room for some cells of their grids, which
/// JavaScript reads in place.
#[wasm_bindgen]
pub struct SeriesTable {
    columns: RaggedColumns,
    value: Vec<f64>,
    age_ms: Vec<f64>,
    reading: Vec<i32>,
}

#[wasm_bindgen]
impl SeriesTable {
    /// Takes the columns of the series, one after the other.
    #[wasm_bindgen(constructor)]
    pub fn new(ts_ms: Vec<f64>, value: Vec<f64>, offsets: &[u32]) -> Result<Self, JsError> {
        Self::of(milliseconds(ts_ms, "tsMs")?, value, offsets)
    }

    /// The same with times in whole minutes.
    pub fn of_minutes(ts: &[i32], value: Vec<f64>, offsets: &[u32]) -> Result<Self, JsError> {
        Self::of(ts.iter().map(|&minute| i64::from(minute) * MINUTE_MS).collect(), value, offsets)
    }

    /// Fills the room with the cells of a grid of a range of the series.
    #[allow(clippy::too_many_arguments, reason = "the interface is flat")]
    pub fn resample(
        &mut self,
        first: usize,
        end: usize,
        start_ms: f64,
        end_ms: f64,
        step: f64,
        max_age_ms: Option<f64>,
    ) -> Result<(), JsError> {
        let positions = positions(start_ms, end_ms, step)?;
        let series = self.columns.series().part(first..end);
        let cells = positions.len().saturating_mul(series.len() as u64);
        if (self.value.len() as u64) < cells {
            self.value = room(cells, 0.0)?;
            self.age_ms = room(cells, 0.0)?;
            self.reading = room(cells, 0)?;
        }
        let (value, age_ms, reading) =
            (&mut self.value[..], &mut self.age_ms[..], &mut self.reading[..]);
        let max_age_ms = max_age_ms.map(|ms| ms as i64);
        for_each_cell(&series, positions, max_age_ms, move |cell, found| {
            (value[cell], age_ms[cell], reading[cell]) = match found {
                Some(found) => (found.value, found.age_ms as f64, found.reading as i32),
                None => (f64::NAN, f64::NAN, -1),
            };
        });
        Ok(())
    }

    /// The address of the values; NaN where there is none.
    pub fn value_at(&self) -> usize {
        self.value.as_ptr() as usize
    }

    /// The address of the ages; NaN where there is no reading.
    pub fn age_ms_at(&self) -> usize {
        self.age_ms.as_ptr() as usize
    }

    /// The address of the indices of the readings; -1 where there is none.
    pub fn reading_at(&self) -> usize {
        self.reading.as_ptr() as usize
    }
}

impl SeriesTable {
    fn of(ts_ms: Vec<i64>, value: Vec<f64>, offsets: &[u32]) -> Result<Self, JsError> {
        let offsets = offsets.iter().map(|&offset| offset.into()).collect();
        let columns = RaggedColumns::new(ts_ms, value, offsets)?;
        Ok(Self { columns, value: Vec::new(), age_ms: Vec::new(), reading: Vec::new() })
    }
}

/// The series that fills each position of a grid, then its readings there; -1 for none. The times
/// of all candidates follow one another.
#[wasm_bindgen]
pub fn pick(
    ts_ms: Vec<f64>,
    offsets: &[u32],
    start_ms: f64,
    end_ms: f64,
    step: f64,
    max_age_ms: Option<f64>,
) -> Result<Vec<i32>, JsError> {
    let positions = positions(start_ms, end_ms, step)?;
    let ts_ms = milliseconds(ts_ms, "times of candidates")?;
    let candidates: Vec<&[i64]> =
        offsets.windows(2).map(|pair| &ts_ms[pair[0] as usize..pair[1] as usize]).collect();
    if let Some(which) = candidates.iter().position(|ts_ms| !ts_ms.is_sorted()) {
        let message = format!("times must ascend; those of candidate {which} do not");
        return Err(JsError::new(&message));
    }
    let (mut picks, mut scratch) = (room(positions.len(), Pick::EMPTY)?, room(positions.len(), 0)?);
    let max_age_ms = max_age_ms.map(|ms| ms as i64);
    pick_series(&candidates, positions, max_age_ms, &mut picks, &mut scratch)?;
    let of = |pick: &Pick, part: u32| if pick.is_empty() { -1 } else { part as i32 };
    let series = picks.iter().map(|pick| of(pick, pick.series));
    Ok(series.chain(picks.iter().map(|pick| of(pick, pick.reading))).collect())
}
