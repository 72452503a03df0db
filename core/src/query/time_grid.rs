//! The time grid: its positions, its caps, and the choice of a reading for each cell.
//!
//! Works on slices and the caller's buffers: nothing here allocates.

use super::walk::{PassedCounts, Walks};
use crate::time::{ClosedWindow, HOUR_MS, MINUTE_MS, Step};

/// How far before the start of a grid a reading may lie and still fill its first cells.
pub const CARRY_IN_MS: i64 = 12 * HOUR_MS;

/// The greatest age of the newest reading of a current series.
///
/// ```
/// use mesonet::query::{CURRENT_AGE_MS, Pick, Positions, pick_series};
/// use mesonet::{ClosedWindow, Step, time::HOUR_MS};
/// // At 0, at 90 minutes and a moment later.
/// let window = ClosedWindow::new(0, CURRENT_AGE_MS + 1)?;
/// let positions = Positions::new(window, Step::from_minutes(90)?);
/// let (preferred, other) = ([0], [HOUR_MS]);
/// let (mut picks, mut scratch) = ([Pick::EMPTY; 3], [0; 3]);
/// pick_series(&[&preferred, &other], positions, None, &mut picks, &mut scratch)?;
/// assert_eq!(picks.map(|pick| pick.series), [0, 0, 1]);
/// assert!(!picks.iter().any(|pick| pick.is_empty()));
/// # Ok::<(), mesonet::Error>(())
/// ```
pub const CURRENT_AGE_MS: i64 = 90 * MINUTE_MS;

/// Stands for "no reading" where an index into a column is expected.
pub const NO_READING: u32 = u32::MAX;

/// Limits on the size of an answer. The defaults are those of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Stations × names × positions.
    pub cells: u64,
    /// Positions in time.
    pub positions: u64,
}

impl Default for Caps {
    fn default() -> Self {
        Self { cells: 500_000, positions: 2_000 }
    }
}

/// The positions of a grid: start, start + step, … up to the end, and the end itself if the step
/// does not divide the span.
///
/// ```
/// use mesonet::{ClosedWindow, Step};
/// use mesonet::query::Positions;
/// use mesonet::time::MINUTE_MS;
/// let window = ClosedWindow::new(0, 25 * MINUTE_MS)?;
/// let positions = Positions::new(window, Step::from_minutes(10)?);
/// let minutes: Vec<i64> = positions.iter().map(|at_ms| at_ms / MINUTE_MS).collect();
/// assert_eq!(minutes, [0, 10, 20, 25]);
/// # Ok::<(), mesonet::time::TimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Positions {
    start_ms: i64,
    end_ms: i64,
    step_ms: i64,
}

impl Positions {
    /// Returns the positions of a window at a step.
    pub fn new(window: ClosedWindow, step: Step) -> Self {
        Self { start_ms: window.start_ms(), end_ms: window.end_ms(), step_ms: step.ms() }
    }

    /// Returns the number of positions: at least two, the start and the end.
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(self) -> u64 {
        let span_ms = self.end_ms.abs_diff(self.start_ms);
        span_ms.div_ceil(self.step_ms.unsigned_abs()) + 1
    }

    /// Begins a walk through ascending instants along the positions.
    pub(super) fn walk(self, ts_ms: &[i64]) -> PassedCounts<'_> {
        self.walks().of(ts_ms)
    }

    /// The walks through the instants of many series.
    pub(super) fn walks(self) -> Walks {
        Walks::new([self.start_ms, self.end_ms], self.len())
    }

    /// The start, the end and the step.
    pub(super) fn parts(self) -> (i64, i64, i64) {
        (self.start_ms, self.end_ms, self.step_ms)
    }

    /// Returns all positions in ascending order, in milliseconds since 1970.
    pub fn iter(self) -> impl Iterator<Item = i64> {
        let inner = (self.len() - 1) as i64;
        (0..inner).map(move |i| self.start_ms + i * self.step_ms).chain([self.end_ms])
    }
}

/// The cap that made a grid coarser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum LimitedBy {
    /// [`Caps::cells`].
    Cells,
    /// [`Caps::positions`].
    Positions,
}

/// Why an answer has a coarser step than requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Coarsening {
    /// The requested step, in minutes.
    pub requested_step: i64,
    /// How many times the requested step is used.
    pub factor: i64,
    /// The cap that required the greater factor; positions if both required the same.
    pub limited_by: LimitedBy,
    /// The number of cells of the answer: stations × names × positions.
    pub cells: u64,
    /// The number of positions of the answer.
    pub positions: u64,
}

/// The grid of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeGrid {
    /// The step that is used: the requested one or a whole multiple of it.
    pub step: Step,
    /// Its positions.
    pub positions: Positions,
    /// Present if the step differs from the requested one.
    pub coarsening: Option<Coarsening>,
}

/// Fits a grid to the caps: the smallest whole multiple of the step that satisfies both.
///
/// A grid is never refused: the factor stops growing once only the start and the end are left, even
/// if those two are still too many cells.
///
/// ```
/// use mesonet::{ClosedWindow, Step, query};
/// use mesonet::query::{Caps, Coarsening, LimitedBy, TimeGrid};
/// use mesonet::time::DAY_MS;
/// let week = ClosedWindow::new(0, 7 * DAY_MS)?;
/// // 10,000 stations × 8 names leave room for six positions: 7 days at 33.6 h.
/// let hourly = Step::from_minutes(60)?;
/// let plan: TimeGrid = query::plan_time_grid(week, hourly, 10_000, 8, Caps::default());
/// assert_eq!(plan.step.minutes(), 34 * 60);
/// let coarsening: Coarsening = plan.coarsening.expect("it does not fit");
/// assert_eq!((coarsening.factor, coarsening.limited_by), (34, LimitedBy::Cells));
/// # Ok::<(), mesonet::time::TimeError>(())
/// ```
pub fn plan_time_grid(
    window: ClosedWindow,
    step: Step,
    stations: usize,
    names: usize,
    caps: Caps,
) -> TimeGrid {
    let columns = stations as u64 * names as u64;
    let by_cells = caps.cells.checked_div(columns).unwrap_or(u64::MAX);
    let (room, limited_by) = if by_cells < caps.positions {
        (by_cells, LimitedBy::Cells)
    } else {
        (caps.positions, LimitedBy::Positions)
    };
    // Positions::len is ceil(span / step) + 1, so ceil(span / (k · step)) ≤ room − 1 gives k.
    let intervals = room.max(2) - 1;
    let span_ms = window.span_ms().unsigned_abs();
    let factor = span_ms.div_ceil(intervals.saturating_mul(step.ms().unsigned_abs())).max(1) as i64;
    let used = step.times(factor);
    let positions = Positions::new(window, used);
    let coarsening = (factor > 1).then(|| Coarsening {
        requested_step: step.minutes(),
        factor,
        limited_by,
        cells: columns.saturating_mul(positions.len()),
        positions: positions.len(),
    });
    TimeGrid { step: used, positions, coarsening }
}

/// The error for a buffer whose length is not the number of positions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("got room for {room} values; the grid has {positions}")]
pub struct TimeGridLengthError {
    pub(super) positions: u64,
    pub(super) room: usize,
}

/// Finds for each position the index of the latest instant at or before it, or [`NO_READING`] if
/// there is none.
///
/// `ts_ms` must ascend and hold at most `u32::MAX - 1` instants; `out` has one place per position.
///
/// # Errors
/// If `out` has another length: nothing is written.
///
/// ```
/// use mesonet::query::{NO_READING, Positions, TimeGridLengthError, as_of};
/// use mesonet::{ClosedWindow, Step};
/// use mesonet::time::MINUTE_MS;
/// let positions = Positions::new(ClosedWindow::new(0, 20 * MINUTE_MS)?, Step::from_minutes(10)?);
/// let mut out = [0; 3];
/// as_of(&[5 * MINUTE_MS, 10 * MINUTE_MS], positions, &mut out).unwrap();
/// assert_eq!(out, [NO_READING, 1, 1]);
/// let error: TimeGridLengthError = as_of(&[], positions, &mut out[..2]).unwrap_err();
/// assert_eq!(out, [NO_READING, 1, 1], "{error}");
/// # Ok::<(), mesonet::time::TimeError>(())
/// ```
pub fn as_of(
    ts_ms: &[i64],
    positions: Positions,
    out: &mut [u32],
) -> Result<(), TimeGridLengthError> {
    check_room(positions, out.len())?;
    let mut walk = positions.walk(ts_ms);
    for (place, at_ms) in out.iter_mut().zip(positions.iter()) {
        // Zero wraps to NO_READING.
        *place = (walk.to(at_ms) as u32).wrapping_sub(1);
    }
    Ok(())
}

/// The reading chosen for a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pick {
    /// The index of the series among the candidates.
    pub series: u32,
    /// The index of the reading in the series, or [`NO_READING`].
    pub reading: u32,
}

impl Pick {
    /// An empty cell.
    pub const EMPTY: Self = Self { series: 0, reading: NO_READING };

    /// Returns whether the cell is empty.
    pub fn is_empty(self) -> bool {
        self.reading == NO_READING
    }
}

/// Fills the cells of one variable at one station from the station's series.
///
/// `candidates` are the instants of the series, each ascending, in the order of
/// [`SeriesPreference`](crate::observation::SeriesPreference). A series is *current* at a position
/// if its newest reading there is at most [`CURRENT_AGE_MS`] old: the first current series wins. If
/// no series is current, the newest reading wins; on a tie, the reading of the first series. A
/// reading older than `max_age_ms` fills nothing.
///
/// `picks` and `scratch` have one place per position.
///
/// # Errors
/// If a buffer has another length: nothing is written.
///
/// ```
/// use mesonet::query::{Pick, Positions, pick_series};
/// use mesonet::{ClosedWindow, Step};
/// use mesonet::time::HOUR_MS;
/// let positions = Positions::new(ClosedWindow::new(0, 3 * HOUR_MS)?, Step::from_minutes(60)?);
/// let minutely = [0];
/// let hourly = [0, HOUR_MS, 2 * HOUR_MS, 3 * HOUR_MS];
/// let (mut picks, mut scratch) = ([Pick::EMPTY; 4], [0; 4]);
/// pick_series(&[&minutely, &hourly], positions, None, &mut picks, &mut scratch).unwrap();
/// // The minutely series is current for an hour and a half, then the hourly one takes over.
/// assert_eq!(picks.map(|pick| (pick.series, pick.reading)), [(0, 0), (0, 0), (1, 2), (1, 3)]);
/// # Ok::<(), mesonet::time::TimeError>(())
/// ```
pub fn pick_series(
    candidates: &[&[i64]],
    positions: Positions,
    max_age_ms: Option<i64>,
    picks: &mut [Pick],
    scratch: &mut [u32],
) -> Result<(), TimeGridLengthError> {
    check_room(positions, picks.len())?;
    check_room(positions, scratch.len())?;
    let max_age_ms = max_age_ms.unwrap_or(i64::MAX);
    picks.fill(Pick::EMPTY);
    for (series, &ts_ms) in (0_u32..).zip(candidates) {
        as_of(ts_ms, positions, scratch)?;
        for ((at_ms, pick), &reading) in positions.iter().zip(&mut *picks).zip(&*scratch) {
            if reading == NO_READING {
                continue;
            }
            let candidate_ms = ts_ms[reading as usize];
            let age_ms = at_ms - candidate_ms;
            let better = pick.is_empty() || {
                let picked_ms = candidates[pick.series as usize][pick.reading as usize];
                at_ms - picked_ms > CURRENT_AGE_MS
                    && (age_ms <= CURRENT_AGE_MS || candidate_ms > picked_ms)
            };
            if better && age_ms <= max_age_ms {
                *pick = Pick { series, reading };
            }
        }
    }
    Ok(())
}

fn check_room(positions: Positions, room: usize) -> Result<(), TimeGridLengthError> {
    let positions = positions.len();
    if room as u64 == positions { Ok(()) } else { Err(TimeGridLengthError { positions, room }) }
}

#[cfg(test)]
#[path = "time_grid_tests.rs"]
mod tests;
