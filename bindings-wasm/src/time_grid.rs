//! The time grid. Times are whole milliseconds since 1970.

use mesonet::query::{
    Caps, GridCells, LimitedBy, Pick, Positions, RaggedColumns, pick_series, plan_time_grid,
    resample,
};
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

/// Whole milliseconds in the same memory.
fn milliseconds(ts_ms: Vec<f64>, what: &str) -> Result<Vec<i64>, JsError> {
    // The loop has no branch. The wrong reading is looked for only if there is one.
    let is_whole = |&ms: &f64| (ms as i64) as f64 == ms && ms.abs() <= MAX_SAFE;
    if !ts_ms.iter().fold(true, |whole, ms| whole & is_whole(ms)) {
        let reading = ts_ms.iter().position(|ms| !is_whole(ms)).unwrap_or_default();
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

/// The readings of many series in this module's memory.
#[wasm_bindgen]
pub struct SeriesTable(RaggedColumns);

#[wasm_bindgen]
impl SeriesTable {
    /// Takes the columns of the series, one after the other.
    #[wasm_bindgen(constructor)]
    pub fn new(ts_ms: Vec<f64>, value: Vec<f64>, offsets: &[u32]) -> Result<Self, JsError> {
        let offsets = offsets.iter().map(|&offset| offset.into()).collect();
        Ok(Self(RaggedColumns::new(milliseconds(ts_ms, "tsMs")?, value, offsets)?))
    }

    /// The cells of a grid, series after series.
    pub fn resample(
        &self,
        start_ms: f64,
        end_ms: f64,
        step: f64,
        max_age_ms: Option<f64>,
    ) -> Result<Cells, JsError> {
        let positions = positions(start_ms, end_ms, step)?;
        let series = self.0.series();
        let cells = positions.len().saturating_mul(series.len() as u64);
        let mut value = room(cells, f64::NAN)?;
        let (mut age_ms, mut reading) = (room(cells, 0)?, room(cells, 0)?);
        let mut filled =
            GridCells { value: &mut value, age_ms: &mut age_ms, reading: &mut reading };
        resample(&series, positions, max_age_ms.map(|ms| ms as i64), &mut filled)?;
        Ok(Cells { value, age_ms, reading })
    }
}

/// The cells of a grid; each column can be taken once.
#[wasm_bindgen]
pub struct Cells {
    value: Vec<f64>,
    age_ms: Vec<i64>,
    reading: Vec<i64>,
}

#[wasm_bindgen]
impl Cells {
    /// The values; NaN where there is none.
    pub fn value(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.value)
    }

    /// The ages; NaN where there is no reading.
    pub fn age_ms(&mut self) -> Vec<f64> {
        let age_ms = std::mem::take(&mut self.age_ms).into_iter();
        let number = |age_ms| if age_ms == GridCells::NO_AGE { f64::NAN } else { age_ms as f64 };
        age_ms.map(number).collect()
    }

    /// The indices of the readings; -1 where there is none.
    pub fn reading(&mut self) -> Vec<i32> {
        std::mem::take(&mut self.reading).into_iter().map(|reading| reading as i32).collect()
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
