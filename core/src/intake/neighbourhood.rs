//! Stations held against those around them.
//!
//! Stations report at different minutes, so their readings are compared hour by hour: of each
//! station the reading that lies nearest to the hour, at most half an hour from it. Readings in
//! between are not compared.

use std::collections::{BTreeSet, HashMap};

use super::Touched;
use super::verdicts::{SeriesVerdicts, StationVerdicts};
use crate::check::{CheckReport, Checker, StationSite, Surroundings};
use crate::quality::{BaseQuality, Quality, ReasonQuality};
use crate::series::{IntervalType, SeriesKey};
use crate::station::StationId;
use crate::store::{Directory, Reader, Selection, SeriesSlice, StoreError};
use crate::time::{ClosedWindow, HOUR_MS};
use crate::variable::Variable;

/// The hour that a moment is nearest to, in hours since 1970; the later one of two.
fn hour_of(ts_ms: i64) -> i64 {
    ts_ms.saturating_add(HOUR_MS / 2).div_euclid(HOUR_MS)
}

/// The stations, by their places in the directory, whose verdicts may have changed: those that were
/// touched, and those within the radius of the check, from an hour before to an hour after.
pub(super) fn with_those_around(
    checker: &Checker,
    directory: &Directory,
    touched: &Touched,
) -> Vec<(usize, (i64, i64))> {
    let radius_km = checker.neighbour_radius_km();
    let mut spans: HashMap<usize, (i64, i64)> = HashMap::new();
    let mut widen = |place: usize, first_ms: i64, last_ms: i64| {
        let span = spans.entry(place).or_insert((first_ms, last_ms));
        *span = (span.0.min(first_ms), span.1.max(last_ms));
    };
    for (&id, &(first_ms, last_ms)) in touched {
        let Ok(place) = directory.stations.binary_search_by_key(&id, |known| known.station.id)
        else {
            continue;
        };
        widen(place, first_ms, last_ms);
        let around = directory.index.nearest(directory.stations[place].station.coordinates);
        for (other, _) in around.take_while(|&(_, distance_km)| distance_km <= radius_km) {
            widen(other, first_ms.saturating_sub(HOUR_MS), last_ms.saturating_add(HOUR_MS));
        }
    }
    let mut stations: Vec<_> = spans.into_iter().collect();
    stations.sort_unstable();
    stations
}

/// The readings of one variable nearest to an hour: one to a station.
struct Hour<'a> {
    hour: i64,
    variable: Variable,
    directory: &'a Directory,
    sites: &'a [StationSite],
    /// Columns in the order of the directory; NaN where a station has no reading.
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    source: Vec<Quality>,
    verdict: Vec<Quality>,
}

impl<'a> Hour<'a> {
    fn new(
        hour: i64,
        variable: Variable,
        directory: &'a Directory,
        sites: &'a [StationSite],
    ) -> Self {
        let stations = sites.len();
        Self {
            hour,
            variable,
            directory,
            sites,
            ts_ms: vec![i64::MIN; stations],
            value: vec![f64::NAN; stations],
            source: vec![Quality::UNCHECKED; stations],
            verdict: vec![Quality::UNCHECKED; stations],
        }
    }

    /// Puts a reading in the place of its station if it is nearer to the hour than the one there.
    fn put(&mut self, place: usize, ts_ms: i64, value: f64, source: Quality, verdict: Quality) {
        let hour_ms = self.hour.saturating_mul(HOUR_MS);
        let nearer = self.value[place].is_nan()
            || (ts_ms.abs_diff(hour_ms), ts_ms)
                < (self.ts_ms[place].abs_diff(hour_ms), self.ts_ms[place]);
        if nearer {
            self.ts_ms[place] = ts_ms;
            self.value[place] = value;
            self.source[place] = source;
            self.verdict[place] = verdict;
        }
    }

    fn window(&self) -> Option<ClosedWindow> {
        let hour_ms = self.hour.saturating_mul(HOUR_MS);
        let from_ms = hour_ms.saturating_sub(HOUR_MS / 2);
        let to_ms = hour_ms.saturating_add(HOUR_MS / 2 - 1);
        ClosedWindow::new(from_ms, to_ms).ok()
    }

    /// Puts in the readings of stations that are in the store.
    fn read(&mut self, store: &dyn Reader, places: &[usize]) -> Result<(), StoreError> {
        let Some(window) = self.window() else { return Ok(()) };
        let ids: Vec<StationId> =
            places.iter().map(|&place| self.directory.stations[place].station.id).collect();
        let variables = [self.variable];
        let selection = Selection { stations: &ids, variables: &variables, window };
        store.scan(&selection, &mut |i, slices| {
            let compared = slices.iter().filter(|slice| is_compared(&slice.series.key));
            let Some(best) = compared.min_by_key(|slice| slice.series.preference) else { return };
            for slice in slices.iter().filter(|slice| slice.series.id == best.series.id) {
                let SeriesSlice { ts_ms, value, source, quality, .. } = *slice;
                for at in 0..ts_ms.len() {
                    let source = source[at].quality();
                    let verdict = without_neighbours(quality[at].quality(), source);
                    self.put(places[i], ts_ms[at], value[at], source, verdict);
                }
            }
        })
    }

    fn surroundings(&self) -> Surroundings<'_> {
        let Self { variable, sites, value, source, verdict, .. } = self;
        let index = &self.directory.index;
        Surroundings { variable: *variable, sites, index, value, source, verdict }
    }
}

/// Whether stations are compared by a series: values and short means that were reported. Of several
/// the most instantaneous counts.
fn is_compared(key: &SeriesKey) -> bool {
    let SeriesKey { calculated, interval_type, variable, reported_unit, bucket, .. } = key;
    let momentary = matches!(interval_type, IntervalType::Instantaneous | IntervalType::Average);
    let canonical = reported_unit == variable.unit().symbol() && bucket.is_empty();
    !calculated && momentary && canonical
}

/// The verdict as it was before the station was held against those around it, so far as that
/// matters to its neighbours: whether they may be held against it.
fn without_neighbours(verdict: Quality, source: Quality) -> Quality {
    let disagree = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Disagree };
    if verdict == disagree && source != disagree { Quality::GOOD } else { verdict }
}

/// Holds the stations against those around them and puts what comes of it into their verdicts.
pub(super) fn compare(
    checker: &Checker,
    store: &dyn Reader,
    directory: &Directory,
    verdicts: &mut [StationVerdicts],
) -> Result<(), StoreError> {
    let sites: Vec<StationSite> =
        directory.stations.iter().map(|record| StationSite::from(&record.station)).collect();
    let fresh: BTreeSet<usize> = verdicts.iter().map(|station| station.place).collect();
    let others: Vec<usize> = (0..sites.len()).filter(|place| !fresh.contains(place)).collect();
    for variable in checker.neighbour_variables() {
        // Of each station the series that is compared.
        let of: Vec<Option<usize>> = verdicts
            .iter()
            .map(|station| {
                let series = |i: usize| &station.series[i].series;
                (0..station.series.len())
                    .filter(|&i| series(i).key.variable == variable && is_compared(&series(i).key))
                    .min_by_key(|&i| series(i).preference)
            })
            .collect();
        let hours: BTreeSet<i64> = verdicts
            .iter()
            .zip(&of)
            .filter_map(|(station, of)| Some(&station.series[(*of)?]))
            .flat_map(|of| of.ts_ms[of.revised.clone()].iter().map(|&ts_ms| hour_of(ts_ms)))
            .collect();
        for hour in hours {
            let mut around = Hour::new(hour, variable, directory, &sites);
            around.read(store, &others)?;
            for (station, of) in verdicts.iter().zip(&of) {
                let Some(of) = of.map(|of| &station.series[of]) else { continue };
                for at in readings_of(of, &around) {
                    around.put(
                        station.place,
                        of.ts_ms[at],
                        of.value[at],
                        of.source[at],
                        of.verdict[at],
                    );
                }
            }
            let mut judged = around.verdict.clone();
            checker
                .check_neighbours(&around.surroundings(), &mut judged)
                .map_err(|error| StoreError::Columns(error.to_string()))?;
            for (station, of) in verdicts.iter_mut().zip(&of) {
                let Some(of) = of.map(|of| &mut station.series[of]) else { continue };
                let compared_ms = around.ts_ms[station.place];
                if let Ok(at) = of.ts_ms.binary_search(&compared_ms)
                    && of.revised.contains(&at)
                {
                    of.verdict[at] = judged[station.place];
                }
            }
        }
    }
    Ok(())
}

fn readings_of(of: &SeriesVerdicts, hour: &Hour<'_>) -> std::ops::Range<usize> {
    hour.window().map_or(0..0, |window| window.range_in(&of.ts_ms))
}

/// What the check of the neighbours found of one reading; `None` where it is not compared.
pub(super) fn explain(
    checker: &Checker,
    store: &dyn Reader,
    directory: &Directory,
    place: usize,
    key: &SeriesKey,
    ts_ms: i64,
) -> Result<Option<CheckReport>, StoreError> {
    let compared = checker.neighbour_variables().any(|variable| variable == key.variable);
    if !compared || key.calculated {
        return Ok(None);
    }
    let sites: Vec<StationSite> =
        directory.stations.iter().map(|record| StationSite::from(&record.station)).collect();
    let mut around = Hour::new(hour_of(ts_ms), key.variable, directory, &sites);
    around.read(store, &(0..sites.len()).collect::<Vec<_>>())?;
    if around.ts_ms[place] != ts_ms {
        return Ok(None);
    }
    let report = checker.explain_neighbours(&around.surroundings(), place);
    report.map(Some).map_err(|error| StoreError::Columns(error.to_string()))
}
