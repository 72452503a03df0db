//! Compares stations with nearby ones.
//!
//! Stations report at different minutes, so their readings are compared hour by hour: for each
//! station, the reading nearest to the hour and at most half an hour from it. Other readings are
//! not compared.

use std::collections::BTreeSet;

use super::hour::{hour_of, hour_window, is_compared, nearest_to_hour};
use super::nearby::Nearby;
use super::parts::Parts;
use super::station::{Change, Compared, without_neighbours};
use crate::check::{CheckReport, Checker, DISAGREE, Held, Readings, StationSite, Tally, combined};
use crate::observation::{BaseQuality, Quality, SeriesId, SeriesKey, StationId, Variable};
use crate::store::{Directory, Reader, Selection, StoreError};
use crate::time::ClosedWindow;

/// How many hours of all stations are kept in memory at once.
const HOURS_AT_ONCE: u64 = 24;

/// The reading of a station that is compared in an hour.
#[derive(Clone, Copy)]
struct OfHour {
    series: SeriesId,
    ts_ms: i64,
    source: Quality,
    stored: Quality,
    /// The verdict of the station's own checks, if they ran.
    own: Option<Quality>,
    held: Held,
}

/// The readings of one hour and variable.
struct Hour<'c> {
    hour: i64,
    variable: Variable,
    /// The readings whose own checks ran, by place.
    own: &'c [Compared],
    /// The places of the stations being judged.
    judged: Vec<usize>,
    /// The readings of the stations read, in their order.
    readings: Vec<Option<OfHour>>,
}

/// Distinct places, in the order in which they were added.
struct Places {
    seen: Vec<bool>,
    places: Vec<usize>,
}

impl Places {
    fn new(stations: usize) -> Self {
        Self { seen: vec![false; stations], places: Vec::new() }
    }

    fn add(&mut self, place: usize) {
        if !std::mem::replace(&mut self.seen[place], true) {
            self.places.push(place);
        }
    }

    /// Returns the places, sorted, and forgets them.
    fn take(&mut self) -> Vec<usize> {
        self.places.iter().for_each(|&place| self.seen[place] = false);
        self.places.sort_unstable();
        std::mem::take(&mut self.places)
    }
}

/// The stations on record, to be compared with each other.
pub(super) struct Neighbourhood<'a> {
    pub checker: &'a Checker,
    pub record: &'a dyn Reader,
    pub directory: &'a Directory,
    pub nearby: &'a Nearby,
}

/// The results of a comparison.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub changes: Vec<Change>,
    /// Readings whose own verdict must be computed, with the result of the comparison.
    pub unknown: Vec<(Change, Tally)>,
    /// Places and moments where a verdict differs from what calculated values were based on.
    pub moments: Vec<(usize, i64)>,
}

impl Neighbourhood<'_> {
    /// Compares readings with nearby ones, and those with them.
    pub(super) fn compare(&self, mut compared: Vec<Compared>) -> Result<Findings, StoreError> {
        compared.sort_unstable_by_key(|of| (of.hour, of.variable, of.place));
        let mut findings = Findings::default();
        let mut rest = &compared[..];
        while let Some(first) = rest.first() {
            let together = rest.partition_point(|of| of.hour.abs_diff(first.hour) < HOURS_AT_ONCE);
            let (now, later) = rest.split_at(together);
            self.compare_hours(now, &mut findings)?;
            rest = later;
        }
        Ok(findings)
    }

    fn compare_hours(
        &self,
        compared: &[Compared],
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        let mut places = Places::new(self.directory.stations.len());
        let same_hour = |one: &Compared, next: &Compared| {
            (one.hour, one.variable) == (next.hour, next.variable)
        };
        let mut hours: Vec<Hour<'_>> = compared
            .chunk_by(same_hour)
            .map(|own| {
                for of in own {
                    places.add(of.place);
                    if of.around {
                        self.around(of.place).for_each(|(other, _)| places.add(other));
                    }
                }
                let Compared { hour, variable, .. } = own[0];
                Hour { hour, variable, own, judged: places.take(), readings: Vec::new() }
            })
            .collect();
        for &place in hours.iter().flat_map(|hour| &hour.judged) {
            places.add(place);
            self.around(place).for_each(|(other, _)| places.add(other));
        }
        let places = places.take();
        let mut column = vec![usize::MAX; self.directory.stations.len()];
        for (i, &place) in places.iter().enumerate() {
            column[place] = i;
        }
        self.read(&mut hours, &places)?;
        for hour in &mut hours {
            for own in hour.own {
                let reading = hour.readings[column[own.place]].as_mut();
                let same = |of: &&mut OfHour| (of.series, of.ts_ms) == (own.series, own.ts_ms);
                if let Some(of) = reading.filter(same) {
                    (of.own, of.held.base) = (Some(own.own), own.own.base);
                }
            }
        }
        for hour in &hours {
            for &place in &hour.judged {
                if let Some(of) = &hour.readings[column[place]] {
                    let held = |other: usize| {
                        let column = *column.get(other)?;
                        Some(hour.readings.get(column)?.as_ref()?.held)
                    };
                    let near = self.around(place);
                    let tally = self.checker.check_held(hour.variable, of.held, near, held);
                    self.conclude(place, hour.variable, of, tally, findings);
                }
            }
        }
        Ok(())
    }

    fn around(&self, place: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.nearby.around(self.directory, place)
    }

    /// Reads what some stations contribute to some hours.
    fn read(&self, hours: &mut [Hour<'_>], places: &[usize]) -> Result<(), StoreError> {
        let windows = || hours.iter().filter_map(|hour| hour_window(hour.hour));
        let from_ms = windows().map(ClosedWindow::start_ms).min();
        let to_ms = windows().map(ClosedWindow::end_ms).max();
        let Some(window) =
            from_ms.zip(to_ms).and_then(|(from, to)| ClosedWindow::new(from, to).ok())
        else {
            return Ok(());
        };
        let variables: Vec<Variable> =
            hours.iter().map(|hour| hour.variable).collect::<BTreeSet<_>>().into_iter().collect();
        let ids: Vec<StationId> =
            places.iter().map(|&place| self.directory.stations[place].station.id).collect();
        for hour in hours.iter_mut() {
            hour.readings = vec![None; places.len()];
        }
        let selection = Selection { stations: &ids, variables: &variables, window };
        let mut read = Ok(());
        self.record.scan(&selection, &mut |i, slices| {
            let parts = match Parts::of_station(slices) {
                Ok(parts) => parts,
                Err(error) => return read = Err(error),
            };
            let altitude_m = self.directory.stations[places[i]].station.altitude_m;
            for &variable in &variables {
                let series = is_compared(&parts, variable);
                for hour in hours.iter_mut().filter(|hour| hour.variable == variable) {
                    let Some((which, at)) = nearest_to_hour(&parts, &series, hour.hour) else {
                        continue;
                    };
                    let of = &parts[which];
                    let (source, stored) = (of.source(at), of.stored(at));
                    let base = without_neighbours(stored, source).base;
                    hour.readings[i] = Some(OfHour {
                        series: of.series().id,
                        ts_ms: of.ts_ms(at),
                        source,
                        stored,
                        own: None,
                        held: Held { value: of.value(at), altitude_m, base },
                    });
                }
            }
        })?;
        read
    }

    /// Combines the result for a reading with the verdict of the station's own checks.
    fn conclude(
        &self,
        place: usize,
        variable: Variable,
        of: &OfHour,
        tally: Tally,
        findings: &mut Findings,
    ) {
        let OfHour { series, ts_ms, source, stored, own, .. } = *of;
        let mut change = Change { place, series, ts_ms, stored, verdict: stored };
        let concluded = own.map(|own| combined(tally, source, own));
        let Some(verdict) = concluded.or_else(|| self.revised(place, variable, of, tally)) else {
            return findings.unknown.push((change, tally));
        };
        change.verdict = verdict;
        if verdict != own.unwrap_or(stored) {
            findings.moments.push((place, ts_ms));
        }
        if verdict != stored {
            findings.changes.push(change);
        }
    }

    /// Returns the verdict on a reading whose own checks would give the same result as before, as
    /// far as the stored verdict shows; `None` if they must run again.
    fn revised(
        &self,
        place: usize,
        variable: Variable,
        of: &OfHour,
        tally: Tally,
    ) -> Option<Quality> {
        let OfHour { stored, source, .. } = *of;
        let site = StationSite::from(&self.directory.stations[place].station);
        if source.base == BaseQuality::Good {
            Some(stored)
        } else if let Some(tripped) = tally.tripped() {
            Some(stored.worse(tripped))
        } else if stored == DISAGREE && source != DISAGREE {
            // The previous verdict was better.
            None
        } else if stored.base == BaseQuality::Unknown && tally.ran() {
            Some(Quality::GOOD)
        } else if stored == Quality::GOOD && !tally.ran() {
            // This check alone may have made it Good.
            self.checker.is_judged_alone(variable, &site, of.ts_ms).then_some(stored)
        } else {
            Some(stored)
        }
    }

    /// Explains the result of the check for a reading; `None` if it is not compared.
    pub(super) fn explain(
        &self,
        place: usize,
        key: &SeriesKey,
        ts_ms: i64,
    ) -> Result<Option<CheckReport>, StoreError> {
        let variable = key.variable;
        if !self.checker.neighbour_variables().any(|compared| compared == variable) {
            return Ok(None);
        }
        let mut places: Vec<usize> = self.around(place).map(|(other, _)| other).collect();
        places.push(place);
        places.sort_unstable();
        let hour = hour_of(ts_ms);
        let mut hours =
            [Hour { hour, variable, own: &[], judged: Vec::new(), readings: Vec::new() }];
        self.read(&mut hours, &places)?;
        let of = |place: usize| {
            let at = places.binary_search(&place).ok()?;
            hours[0].readings.get(at)?.as_ref()
        };
        let same = |of: &&OfHour| (of.series, of.ts_ms) == (key.id(), ts_ms);
        Ok(of(place).filter(same).map(|found| {
            let held = |other| of(other).map(|of| of.held);
            self.checker.explain_held(variable, found.held, self.around(place), held)
        }))
    }
}
