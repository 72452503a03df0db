//! The readings of many series at the positions of a grid.

use super::time_grid::{Positions, TimeGridLengthError};
use crate::lengths::check_lengths;

/// The columns of many series, one after another.
///
/// ```
/// use mesonet::query::Ragged;
/// // A series of two readings, one without any, and one of three.
/// let (ts_ms, value) = ([0, 60_000, 0, 5, 9], [1.0, 2.0, 3.0, 4.0, 5.0]);
/// let series = Ragged::new(&ts_ms, &value, &[0, 2, 2, 5])?;
/// assert_eq!(series.len(), 3);
/// assert!(Ragged::new(&ts_ms, &value, &[0, 3, 5]).is_err(), "the times of the first turn back");
/// # Ok::<(), mesonet::query::RaggedError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ragged<'a> {
    ts_ms: &'a [i64],
    value: &'a [f64],
    offsets: &'a [i64],
}

/// Columns that do not form series.
///
/// ```
/// use mesonet::query::{Ragged, RaggedError};
/// let error = Ragged::new(&[0, 1], &[0.0, 0.0], &[0, 3]).unwrap_err();
/// assert!(matches!(error, RaggedError::Offsets { .. }));
/// assert_eq!(
///     error.to_string(),
///     "offsets must ascend from 0 to the number of readings, 2; offset 1 is 3",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RaggedError {
    /// Columns of different lengths.
    #[error("lengths must match: got {0}")]
    Lengths(String),
    /// Without an offset there is no series and no end of a series.
    #[error("offsets must hold at least the 0 at which the first series begins")]
    NoOffset,
    /// An offset at which no series can begin or end.
    #[error(
        "offsets must ascend from 0 to the number of readings, {readings}; offset {index} is {got}"
    )]
    Offsets {
        /// The index of the offset.
        index: usize,
        /// The offset.
        got: i64,
        /// The number of readings.
        readings: usize,
    },
    /// A reading that is earlier than the one before it.
    #[error(
        "times must ascend within a series; reading {reading} of series {series} is earlier than the one before"
    )]
    Order {
        /// The index of the series.
        series: usize,
        /// The index of the reading in its series.
        reading: usize,
    },
    /// A table with other rows between the rows of a series.
    #[error(
        "the rows of a series must stand together; row {row} has the key of row {before}, and \
         others are between them"
    )]
    Split {
        /// The row at which the series continues.
        row: usize,
        /// The previous row of the series.
        before: usize,
    },
}

impl<'a> Ragged<'a> {
    /// Takes the times, in milliseconds since 1970, and values of all series: series `i` has the
    /// readings from `offsets[i]` up to `offsets[i + 1]`, as in Arrow's lists.
    ///
    /// # Errors
    /// The columns differ in length, the offsets do not ascend from 0 to that length, or the times
    /// of a series descend somewhere. Equal times are allowed; the last of them counts.
    pub fn new(
        ts_ms: &'a [i64],
        value: &'a [f64],
        offsets: &'a [i64],
    ) -> Result<Self, RaggedError> {
        check_lengths(&[("times", ts_ms.len()), ("values", value.len())])
            .map_err(RaggedError::Lengths)?;
        let readings = ts_ms.len();
        let (Some(&first), Some(&last)) = (offsets.first(), offsets.last()) else {
            return Err(RaggedError::NoOffset);
        };
        let refused = |index, got| Err(RaggedError::Offsets { index, got, readings });
        if first != 0 {
            return refused(0, first);
        }
        if let Some(at) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return refused(at + 1, offsets[at + 1]);
        }
        if last != readings as i64 {
            return refused(offsets.len() - 1, last);
        }
        let series = Self { ts_ms, value, offsets };
        for (index, (ts_ms, _)) in series.iter().enumerate() {
            if !ts_ms.is_sorted() {
                let descends = ts_ms.windows(2).position(|pair| pair[0] > pair[1]);
                let reading = descends.map_or(0, |at| at + 1);
                return Err(RaggedError::Order { series: index, reading });
            }
        }
        Ok(series)
    }

    /// Returns the number of series.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the series of a range of indices, with the readings in the same places.
    ///
    /// # Panics
    /// If the range ends behind the last series.
    ///
    /// ```
    /// use mesonet::query::Ragged;
    /// let series = Ragged::new(&[0, 60_000, 0], &[1.0, 2.0, 3.0], &[0, 2, 3])?;
    /// assert_eq!(series.part(1..2).len(), 1);
    /// # Ok::<(), mesonet::query::RaggedError>(())
    /// ```
    #[must_use]
    pub fn part(&self, series: std::ops::Range<usize>) -> Self {
        Self { offsets: &self.offsets[series.start..=series.end], ..*self }
    }

    fn iter(&self) -> impl Iterator<Item = (&'a [i64], &'a [f64])> + use<'a> {
        let (ts_ms, value) = (self.ts_ms, self.value);
        self.offsets.windows(2).map(move |pair| {
            let range = pair[0] as usize..pair[1] as usize;
            (&ts_ms[range.clone()], &value[range])
        })
    }
}

/// The columns of many series that are kept for several grids: they are checked once.
///
/// ```
/// use mesonet::query::{Ragged, RaggedColumns};
/// let columns = RaggedColumns::new(vec![0, 60_000, 0], vec![1.0, 2.0, 3.0], vec![0, 2, 3])?;
/// let series: Ragged = columns.series();
/// assert_eq!(series.len(), 2);
/// assert!(RaggedColumns::new(vec![1, 0], vec![1.0, 2.0], vec![0, 2]).is_err());
/// # Ok::<(), mesonet::query::RaggedError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RaggedColumns {
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    offsets: Vec<i64>,
}

impl RaggedColumns {
    /// Takes the columns of [`Ragged::new`].
    ///
    /// # Errors
    /// The errors of [`Ragged::new`].
    pub fn new(ts_ms: Vec<i64>, value: Vec<f64>, offsets: Vec<i64>) -> Result<Self, RaggedError> {
        Ragged::new(&ts_ms, &value, &offsets)?;
        Ok(Self { ts_ms, value, offsets })
    }

    /// Returns the series.
    pub fn series(&self) -> Ragged<'_> {
        Ragged { ts_ms: &self.ts_ms, value: &self.value, offsets: &self.offsets }
    }
}

/// The output for the cells of a grid: series after series, one place per position.
///
/// ```
/// use mesonet::query::GridCells;
/// let mut cells = (vec![0.0; 6], vec![0; 6], vec![0; 6]);
/// let _ = GridCells { value: &mut cells.0, age_ms: &mut cells.1, reading: &mut cells.2 };
/// ```
#[derive(Debug)]
pub struct GridCells<'a> {
    /// The values; NaN where there is no reading.
    pub value: &'a mut [f64],
    /// How old the readings are at their positions, in milliseconds; [`GridCells::NO_AGE`] where there
    /// is none.
    pub age_ms: &'a mut [i64],
    /// The indices of the readings in the columns of all series; -1 where there is none.
    pub reading: &'a mut [i64],
}

impl GridCells<'_> {
    /// Stands for the age of no reading; NumPy reads it as NaT.
    pub const NO_AGE: i64 = i64::MIN;
}

/// Fills the cells of a grid: each with the latest reading of its series at or before the position,
/// if it is at most `max_age_ms` old.
///
/// A reading whose value is NaN fills its cell like any other.
///
/// # Errors
/// If the cells do not have one place per series and position; nothing is written.
///
/// ```
/// use mesonet::query::{GridCells, Positions, Ragged, resample};
/// use mesonet::{ClosedWindow, Step, time::MINUTE_MS};
/// let positions = Positions::new(ClosedWindow::new(0, 20 * MINUTE_MS)?, Step::from_minutes(10)?);
/// let ts_ms = [5, 12, 0].map(|minute| minute * MINUTE_MS);
/// let series = Ragged::new(&ts_ms, &[20.5, 21.0, 3.0], &[0, 2, 3])?;
/// let (mut value, mut age_ms, mut reading) = ([0.0; 6], [0; 6], [0; 6]);
/// let mut cells = GridCells { value: &mut value, age_ms: &mut age_ms, reading: &mut reading };
/// resample(&series, positions, Some(15 * MINUTE_MS), &mut cells)?;
/// assert_eq!(reading, [-1, 0, 1, 2, 2, -1]);
/// assert!(value[0].is_nan());
/// assert_eq!(value[1..5], [20.5, 21.0, 3.0, 3.0]);
/// assert_eq!(age_ms[1..5], [5, 8, 0, 10].map(|minute| minute * MINUTE_MS));
/// # Ok::<(), mesonet::Error>(())
/// ```
pub fn resample(
    series: &Ragged<'_>,
    positions: Positions,
    max_age_ms: Option<i64>,
    cells: &mut GridCells<'_>,
) -> Result<(), TimeGridLengthError> {
    let GridCells { value, age_ms, reading } = cells;
    let wanted = positions.len().saturating_mul(series.len() as u64);
    for room in [value.len(), age_ms.len(), reading.len()] {
        if room as u64 != wanted {
            return Err(TimeGridLengthError { positions: wanted, room });
        }
    }
    let mut places = value.iter_mut().zip(&mut **age_ms).zip(&mut **reading);
    for_each_cell(series, positions, max_age_ms, |_, found| {
        let Some(((value, age_ms), reading)) = places.next() else { return };
        (*value, *age_ms, *reading) = match found {
            Some(found) => (found.value, found.age_ms, found.reading as i64),
            None => (f64::NAN, GridCells::NO_AGE, -1),
        };
    });
    Ok(())
}

/// The reading of a cell.
///
/// ```
/// use mesonet::query::CellReading;
/// let _ = CellReading { value: 20.5, age_ms: 0, reading: 0 };
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellReading {
    /// Its value.
    pub value: f64,
    /// How old it is at the position, in milliseconds.
    pub age_ms: i64,
    /// Its index in the columns of all series.
    pub reading: usize,
}

/// Visits the cells of a grid, series after series, with their indices and the readings that
/// [`resample`] fills them with: for outputs of other types than those of [`GridCells`].
///
/// ```
/// use mesonet::query::{Positions, Ragged, for_each_cell};
/// use mesonet::{ClosedWindow, Step, time::MINUTE_MS};
/// let positions = Positions::new(ClosedWindow::new(0, 20 * MINUTE_MS)?, Step::from_minutes(10)?);
/// let series = Ragged::new(&[5 * MINUTE_MS], &[20.5], &[0, 1])?;
/// let mut ages_min = [f32::NAN; 3];
/// for_each_cell(&series, positions, None, |cell, found| {
///     if let Some(found) = found {
///         ages_min[cell] = (found.age_ms / MINUTE_MS) as f32;
///     }
/// });
/// assert!(ages_min[0].is_nan());
/// assert_eq!(ages_min[1..], [5.0, 15.0]);
/// # Ok::<(), mesonet::Error>(())
/// ```
pub fn for_each_cell(
    series: &Ragged<'_>,
    positions: Positions,
    max_age_ms: Option<i64>,
    mut visit: impl FnMut(usize, Option<CellReading>),
) {
    let max_age_ms = max_age_ms.unwrap_or(i64::MAX);
    let walks = positions.walks();
    let (start_ms, end_ms, step_ms) = positions.parts();
    let last = positions.len() - 1;
    let mut cell = 0;
    for ((ts_ms, values), &begin) in series.iter().zip(series.offsets) {
        let mut walk = walks.of(ts_ms);
        // In place of the positions' iterator, whose steps are calls where a module goes for size.
        let mut inner_ms = start_ms;
        for position in 0..=last {
            let at_ms = if position == last { end_ms } else { inner_ms };
            inner_ms = inner_ms.wrapping_add(step_ms);
            let found = walk.to(at_ms).checked_sub(1).map(|index| {
                let age_ms = at_ms.saturating_sub(ts_ms[index]);
                CellReading { value: values[index], age_ms, reading: begin as usize + index }
            });
            visit(cell, found.filter(|found| found.age_ms <= max_age_ms));
            cell += 1;
        }
    }
}

#[cfg(test)]
#[path = "resample_tests.rs"]
mod tests;
