//! The readings of a station as rows, sorted by time, then by series id, in constant memory.

use std::sync::Arc;

use crate::observation::{QualityCode, Series, SeriesId, StationId, Variable};
use crate::store::{Reader, Selection, SeriesSlice, StationSeries, StoreError};
use crate::time::{ClosedWindow, DAY_MS};

/// The position of a row among the rows of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowPosition {
    pub ts_ms: i64,
    pub series: SeriesId,
}

/// A row, with its series as an index into [`StationRows::series`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    pub series: usize,
    pub ts_ms: i64,
    pub value: f64,
    pub quality: QualityCode,
    /// The verdict with which it came in.
    pub source: QualityCode,
    /// The revision of its report.
    pub revision: u8,
    /// The code of its qualifier.
    pub qualifier: u8,
}

/// Walks through the rows of a station. The store is scanned in windows of time, whose width is
/// doubled where readings are sparse and halved where they are dense.
#[derive(Clone, Debug)]
pub(crate) struct StationRows {
    station: StationId,
    /// Sorted by id.
    series: Vec<Arc<Series>>,
    variables: Vec<Variable>,
    /// Only rows after this one.
    after: Option<RowPosition>,
    /// Only rows up to and including this one.
    last: Option<RowPosition>,
    next_ms: i64,
    end_ms: i64,
    width_ms: i64,
}

impl StationRows {
    /// Creates a walk over the rows of these series, sorted by id, in a closed time span. The time
    /// before the series first appear is not searched.
    pub(crate) fn new(
        station: StationId,
        series: &[StationSeries],
        start_ms: i64,
        end_ms: i64,
    ) -> Self {
        let first_ms = series.iter().map(|known| known.first_appearance_ms).min();
        let mut variables: Vec<_> = series.iter().map(|known| known.series.key.variable).collect();
        variables.sort_unstable();
        variables.dedup();
        Self {
            station,
            variables,
            after: None,
            last: None,
            next_ms: start_ms.max(first_ms.unwrap_or(start_ms)),
            // Without series there is nothing to walk through.
            end_ms: if first_ms.is_some() { end_ms } else { i64::MIN },
            width_ms: DAY_MS,
            series: series.iter().map(|known| Arc::clone(&known.series)).collect(),
        }
    }

    /// Visits the next `count` rows, or a few more, because rows of the same time stay together.
    /// Returns whether these were the last rows.
    pub(crate) fn walk(
        &mut self,
        store: &dyn Reader,
        count: usize,
        visit: &mut impl FnMut(Row),
    ) -> Result<bool, StoreError> {
        let mut left = count;
        while self.next_ms <= self.end_ms && left > 0 {
            self.width_ms = self.width_ms.min(store.longest_scan_ms());
            let until_ms = self.next_ms.saturating_add(self.width_ms).min(self.end_ms);
            // A closed window must contain at least two instants.
            let window = ClosedWindow::new(self.next_ms, until_ms.max(self.next_ms + 1));
            let window = window.map_err(|error| StoreError::Columns(error.to_string()))?;
            let stations = &[self.station];
            let selection = Selection { stations, variables: &self.variables, window };
            let mut found = 0;
            let mut stopped_ms = None;
            store.scan(&selection, &mut |_, slices| {
                let mut merge = Merge::new(&self.series, slices, until_ms);
                found = merge.len();
                stopped_ms = self.merge(&mut merge, &mut left, visit);
            })?;
            self.next_ms = stopped_ms.unwrap_or(until_ms) + 1;
            if found > 2 * count {
                self.width_ms = (self.width_ms / 2).max(1);
            } else if found <= count / 2 {
                self.width_ms = self.width_ms.saturating_mul(2);
            }
        }
        Ok(self.next_ms > self.end_ms)
    }

    /// Visits rows until there are none, or the count is used up; in that case, returns the time at
    /// which it stopped.
    fn merge(
        &self,
        merge: &mut Merge<'_>,
        left: &mut usize,
        visit: &mut impl FnMut(Row),
    ) -> Option<i64> {
        // The bounds of the series indices that are included at a time.
        let from = |ts_ms| match self.after {
            Some(after) if ts_ms == after.ts_ms => {
                self.series.partition_point(|series| series.id <= after.series)
            }
            _ => 0,
        };
        let to = |ts_ms| match self.last {
            Some(last) if ts_ms == last.ts_ms => {
                self.series.partition_point(|series| series.id <= last.series)
            }
            _ => self.series.len(),
        };
        let mut ts_ms = merge.heads.iter().map(|head| head.ts_ms).min()?;
        while ts_ms != Head::ENDED {
            let meant = from(ts_ms)..to(ts_ms);
            let mut next_ms = Head::ENDED;
            for head in &mut merge.heads {
                if head.ts_ms == ts_ms {
                    let row = head.take();
                    if meant.contains(&row.series) {
                        *left = left.saturating_sub(1);
                        visit(row);
                    }
                }
                next_ms = next_ms.min(head.ts_ms);
            }
            if *left == 0 {
                return Some(ts_ms);
            }
            ts_ms = next_ms;
        }
        None
    }
}

/// Methods for the export only.
#[cfg(feature = "arrow")]
impl StationRows {
    /// Restricts the walk to rows after a position.
    pub(crate) fn after(mut self, position: RowPosition) -> Self {
        self.next_ms = self.next_ms.max(position.ts_ms);
        self.after = Some(position);
        self
    }

    /// Restricts the walk to rows up to and including a position.
    pub(crate) fn up_to(mut self, position: RowPosition) -> Self {
        self.end_ms = self.end_ms.min(position.ts_ms);
        self.last = Some(position);
        self
    }

    /// Returns the series, sorted by id.
    pub(crate) fn series(&self) -> &[Arc<Series>] {
        &self.series
    }
}

/// The slices of a scan side by side.
struct Merge<'a> {
    /// Sorted by series; slices of one series have no time in common.
    heads: Vec<Head<'a>>,
}

/// A slice and how far it has been read.
struct Head<'a> {
    /// Time of the next row, [`Head::ENDED`] after the last.
    ts_ms: i64,
    series: usize,
    at: usize,
    times_ms: &'a [i64],
    value: &'a [f64],
    quality: &'a [QualityCode],
    source: &'a [QualityCode],
    revision: &'a [u8],
    qualifier: &'a [u8],
}

impl<'a> Merge<'a> {
    fn new(series: &[Arc<Series>], slices: &[SeriesSlice<'a>], until_ms: i64) -> Self {
        let heads = slices.iter().filter_map(|slice| {
            let series = series.binary_search_by_key(&slice.series.id, |known| known.id).ok()?;
            let len = slice.ts_ms.partition_point(|&ts_ms| ts_ms <= until_ms);
            Some(Head {
                ts_ms: if len > 0 { slice.ts_ms[0] } else { Head::ENDED },
                series,
                at: 0,
                times_ms: &slice.ts_ms[..len],
                value: &slice.value[..len],
                quality: &slice.quality[..len],
                source: &slice.source[..len],
                revision: &slice.revision[..len],
                qualifier: &slice.qualifier[..len],
            })
        });
        Self { heads: heads.collect() }
    }

    fn len(&self) -> usize {
        self.heads.iter().map(|head| head.times_ms.len()).sum()
    }
}

impl Head<'_> {
    /// Later than any instant of a window that ends before it.
    const ENDED: i64 = i64::MAX;

    fn take(&mut self) -> Row {
        let Self { series, at, .. } = *self;
        let row = Row {
            series,
            ts_ms: self.ts_ms,
            value: self.value[at],
            quality: self.quality[at],
            source: self.source[at],
            revision: self.revision[at],
            qualifier: self.qualifier[at],
        };
        self.at += 1;
        self.ts_ms = self.times_ms.get(self.at).copied().unwrap_or(Self::ENDED);
        row
    }
}

#[cfg(all(test, feature = "arrow"))]
#[path = "rows_tests.rs"]
mod tests;
