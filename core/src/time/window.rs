//! Windows of time.

use super::TimeError;

/// A window that includes both ends: `start ≤ t ≤ end`. Readings requests use closed windows.
///
/// ```
/// use mesonet::ClosedWindow;
/// use mesonet::time::HOUR_MS;
/// let window = ClosedWindow::new(6 * HOUR_MS, 12 * HOUR_MS)?;
/// assert!(window.contains(window.end_ms()));
/// assert_eq!(window.span_ms(), 6 * HOUR_MS);
/// let hourly: Vec<i64> = (0..24).map(|hour| hour * HOUR_MS).collect();
/// assert_eq!(window.range_in(&hourly), 6..13);
/// assert_eq!(window.widened(3 * HOUR_MS).range_in(&hourly), 3..13);
/// # Ok::<(), mesonet::time::TimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosedWindow {
    start_ms: i64,
    end_ms: i64,
}

/// A window that includes its start but not its end: `start ≤ t < end`. Exports use half-open
/// windows, so that adjacent windows share no reading.
///
/// ```
/// use mesonet::HalfOpenWindow;
/// use mesonet::time::{DAY_MS, HOUR_MS};
/// let first = HalfOpenWindow::new(0, DAY_MS)?;
/// let second = HalfOpenWindow::new(DAY_MS, 2 * DAY_MS)?;
/// assert!(!first.contains(DAY_MS) && second.contains(DAY_MS));
/// let six_hourly: Vec<i64> = (0..8).map(|count| count * 6 * HOUR_MS).collect();
/// assert_eq!((first.range_in(&six_hourly), second.range_in(&six_hourly)), (0..4, 4..8));
/// # Ok::<(), mesonet::time::TimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfOpenWindow {
    start_ms: i64,
    end_ms: i64,
}

macro_rules! window {
    ($window:ty) => {
        impl $window {
            /// Creates a window from its start and end.
            ///
            /// # Errors
            /// The start is not before the end: [`TimeError::Order`].
            pub fn new(start_ms: i64, end_ms: i64) -> Result<Self, TimeError> {
                if start_ms < end_ms {
                    Ok(Self { start_ms, end_ms })
                } else {
                    Err(TimeError::Order { start_ms, end_ms })
                }
            }

            /// Returns the start.
            pub fn start_ms(self) -> i64 {
                self.start_ms
            }

            /// Returns the end.
            pub fn end_ms(self) -> i64 {
                self.end_ms
            }

            /// Returns end minus start.
            pub fn span_ms(self) -> i64 {
                self.end_ms.saturating_sub(self.start_ms)
            }
        }
    };
}
window!(ClosedWindow);
window!(HalfOpenWindow);

impl ClosedWindow {
    /// Whether the window contains an instant, both ends included.
    pub fn contains(self, ts_ms: i64) -> bool {
        (self.start_ms..=self.end_ms).contains(&ts_ms)
    }

    /// Returns the part of the window from an instant on, which may be a single instant; `None` if
    /// nothing is left.
    #[cfg(feature = "embedded")]
    pub(crate) fn since(self, from_ms: i64) -> Option<Self> {
        let start_ms = self.start_ms.max(from_ms);
        (start_ms <= self.end_ms).then_some(Self { start_ms, ..self })
    }

    /// Returns the window with its start moved back.
    #[must_use]
    pub fn widened(self, by_ms: i64) -> Self {
        Self { start_ms: self.start_ms.saturating_sub(by_ms), ..self }
    }

    /// Returns the range of an ascending column that lies in the window.
    pub fn range_in(self, ts_ms: &[i64]) -> std::ops::Range<usize> {
        let (Some(&first), Some(&last)) = (ts_ms.first(), ts_ms.last()) else { return 0..0 };
        if first > self.end_ms || last < self.start_ms {
            return 0..0;
        }
        let start = self.start_ms.checked_sub(1).map_or(0, |before_ms| passed(ts_ms, before_ms));
        start..passed(ts_ms, self.end_ms)
    }
}

/// Counts the instants of an ascending column that are at or before an instant.
///
/// Reports come at nearly even times, so the position is interpolated from the ends of the column
/// and searched for around the guess. This touches one or two cache lines, where a binary search
/// touches one per halving. At uneven times it takes at most twice the steps of a binary search.
pub(crate) fn passed(ts_ms: &[i64], at_ms: i64) -> usize {
    let (Some(&first), Some(&last)) = (ts_ms.first(), ts_ms.last()) else { return 0 };
    if last <= at_ms {
        return ts_ms.len();
    }
    if first > at_ms {
        return 0;
    }
    // Invariant: ts_ms[low] <= at_ms < ts_ms[high].
    let share = at_ms.abs_diff(first) as f64 / last.abs_diff(first) as f64;
    let guess = ((share * (ts_ms.len() - 1) as f64) as usize).min(ts_ms.len() - 2);
    let (mut low, mut high, mut step) = (0, ts_ms.len() - 1, 1);
    if ts_ms[guess] <= at_ms {
        low = guess;
        while low + step < high {
            if ts_ms[low + step] > at_ms {
                high = low + step;
                break;
            }
            low += step;
            step *= 2;
        }
    } else {
        high = guess;
        while low + step < high {
            if ts_ms[high - step] <= at_ms {
                low = high - step;
                break;
            }
            high -= step;
            step *= 2;
        }
    }
    low + 1 + ts_ms[low + 1..high].partition_point(|&ts| ts <= at_ms)
}

impl HalfOpenWindow {
    /// Whether the window contains an instant, the start included.
    pub fn contains(self, ts_ms: i64) -> bool {
        (self.start_ms..self.end_ms).contains(&ts_ms)
    }

    /// Returns the range of an ascending column that lies in the window.
    pub fn range_in(self, ts_ms: &[i64]) -> std::ops::Range<usize> {
        let start = ts_ms.partition_point(|&ts| ts < self.start_ms);
        let end = ts_ms.partition_point(|&ts| ts < self.end_ms);
        start..end
    }
}
