//! The verdicts of one station.

use std::ops::Range;
use std::sync::Arc;

use crate::check::{Checker, SeriesReadings, StationSite};
use crate::derived::DERIVED_INPUTS;
use crate::quality::{BaseQuality, Quality};
use crate::series::Series;
use crate::station::StationId;
use crate::store::{Directory, Reader, Selection, SeriesSlice, StoreError, Verdicts};
use crate::time::ClosedWindow;
use crate::variable::Variable;

/// The readings of a station whose verdicts may have changed, and those that they depend on.
pub(super) struct StationVerdicts {
    /// Place of the station in the directory.
    pub place: usize,
    pub series: Vec<SeriesVerdicts>,
}

/// The columns of one series.
pub(super) struct SeriesVerdicts {
    pub series: Arc<Series>,
    pub ts_ms: Vec<i64>,
    pub value: Vec<f64>,
    pub source: Vec<Quality>,
    /// The verdicts in the store.
    pub stored: Vec<Quality>,
    /// The verdicts that are worked out anew.
    pub verdict: Vec<Quality>,
    /// The readings whose verdicts are right: all that they depend on was read too.
    pub revised: Range<usize>,
}

impl SeriesVerdicts {
    fn new(series: &Arc<Series>) -> Self {
        Self {
            series: Arc::clone(series),
            ts_ms: Vec::new(),
            value: Vec::new(),
            source: Vec::new(),
            stored: Vec::new(),
            verdict: Vec::new(),
            revised: 0..0,
        }
    }

    fn extend(&mut self, slice: &SeriesSlice<'_>) {
        self.ts_ms.extend_from_slice(slice.ts_ms);
        self.value.extend_from_slice(slice.value);
        self.source.extend(slice.source.iter().map(|code| code.quality()));
        self.stored.extend(slice.quality.iter().map(|code| code.quality()));
        self.verdict.extend(slice.source.iter().map(|code| code.quality()));
        self.revised = 0..self.ts_ms.len();
    }

    /// The verdicts that are other than those in the store.
    pub fn changed(&self, station: StationId) -> Verdicts {
        let changed = self.revised.clone().filter(|&at| self.verdict[at] != self.stored[at]);
        let (ts_ms, quality) = changed.map(|at| (self.ts_ms[at], self.verdict[at])).unzip();
        Verdicts { station, series: self.series.id, ts_ms, quality }
    }

    pub fn readings(&self) -> SeriesReadings<'_> {
        let Self { series, ts_ms, value, source, .. } = self;
        SeriesReadings { key: &series.key, ts_ms, value, source }
    }
}

impl StationVerdicts {
    /// Reads a station and runs its own checks: those that need no other station.
    pub fn new(
        checker: &Checker,
        store: &dyn Reader,
        directory: &Directory,
        place: usize,
        (first_ms, last_ms): (i64, i64),
    ) -> Result<Self, StoreError> {
        let reach = checker.reach();
        let changed =
            (first_ms.saturating_sub(reach.ahead_ms), last_ms.saturating_add(reach.back_ms));
        let mut verdicts = Self {
            place,
            series: read(
                store,
                directory,
                place,
                changed.0.saturating_sub(reach.back_ms),
                changed.1.saturating_add(reach.ahead_ms),
            )?,
        };
        for of in &mut verdicts.series {
            let from = of.ts_ms.partition_point(|&ts_ms| ts_ms < changed.0);
            of.revised = from..of.ts_ms.partition_point(|&ts_ms| ts_ms <= changed.1);
        }
        verdicts.check(checker, &StationSite::from(&directory.stations[place].station))?;
        Ok(verdicts)
    }

    fn check(&mut self, checker: &Checker, site: &StationSite) -> Result<(), StoreError> {
        let mut columns: Vec<Vec<Quality>> =
            self.series.iter_mut().map(|of| std::mem::take(&mut of.verdict)).collect();
        let readings: Vec<_> = self.series.iter().map(SeriesVerdicts::readings).collect();
        let mut places: Vec<&mut [Quality]> = columns.iter_mut().map(Vec::as_mut_slice).collect();
        checker
            .check_station(site, &readings, &mut places)
            .map_err(|error| StoreError::Columns(error.to_string()))?;
        for (of, verdict) in self.series.iter_mut().zip(columns) {
            of.verdict = verdict;
        }
        Ok(())
    }

    /// Gives derived values the worst verdict of their inputs. One whose inputs are not checked, or
    /// are no readings, keeps the verdict of its own checks.
    pub fn judge_derived(&mut self) {
        for &(variable, inputs) in DERIVED_INPUTS {
            for derived in 0..self.series.len() {
                let key = &self.series[derived].series.key;
                if !key.calculated || key.variable != variable || inputs.is_empty() {
                    continue;
                }
                for reading in self.series[derived].revised.clone() {
                    let inputs = self.inputs_of(derived, reading, inputs);
                    let verdicts = inputs.into_iter().map(|(of, at)| self.series[of].verdict[at]);
                    let worst = verdicts.reduce(Quality::worse);
                    if let Some(worst) = worst.filter(|worst| worst.base != BaseQuality::Unknown) {
                        self.series[derived].verdict[reading] = worst;
                    }
                }
            }
        }
    }

    /// The readings that a derived one was made from, as series and reading; empty where not all
    /// are there.
    pub fn inputs_of(
        &self,
        derived: usize,
        reading: usize,
        inputs: &[Variable],
    ) -> Vec<(usize, usize)> {
        let ts_ms = self.series[derived].ts_ms[reading];
        let interval =
            |of: &SeriesVerdicts| (of.series.key.interval_type, of.series.key.interval_minutes);
        let found = inputs.iter().map(|&input| {
            self.series
                .iter()
                .enumerate()
                .filter(|(_, of)| of.series.key.variable == input)
                .filter_map(|(i, of)| Some((i, of.ts_ms.binary_search(&ts_ms).ok()?)))
                // As the derivation chose: the interval of the derived value, else the most
                // instantaneous.
                .min_by_key(|&(i, _)| {
                    let other = interval(&self.series[i]) != interval(&self.series[derived]);
                    (other, self.series[i].series.preference)
                })
        });
        found.collect::<Option<_>>().unwrap_or_default()
    }
}

/// All series of a station between two moments.
pub(super) fn read(
    store: &dyn Reader,
    directory: &Directory,
    place: usize,
    from_ms: i64,
    to_ms: i64,
) -> Result<Vec<SeriesVerdicts>, StoreError> {
    let mut series = Vec::new();
    if let Ok(window) = ClosedWindow::new(from_ms, to_ms) {
        let selection = Selection {
            stations: &[directory.stations[place].station.id],
            variables: Variable::ALL,
            window,
        };
        store.scan(&selection, &mut |_, slices| {
            for slice in slices {
                let known = series
                    .last()
                    .is_some_and(|of: &SeriesVerdicts| of.series.id == slice.series.id);
                if !known {
                    series.push(SeriesVerdicts::new(slice.series));
                }
                series.last_mut().expect("one was pushed").extend(slice);
            }
        })?;
    }
    Ok(series)
}
