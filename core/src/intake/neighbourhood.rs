//! Stations held against those around them.
//!
//! Stations report at different minutes, so their readings are compared hour by hour: of each
//! station the reading that lies nearest to the hour, at most half an hour from it. Readings in
//! between are not compared.

use std::collections::BTreeSet;

use super::nearby::Nearby;
use super::parts::Parts;
use super::station::{Change, Compared, without_neighbours};
use crate::check::{CheckReport, Checker, DISAGREE, Held, Readings, StationSite, Tally, combined};
use crate::quality::{BaseQuality, Quality};
use crate::series::{IntervalType, SeriesId, SeriesKey};
use crate::station::StationId;
use crate::store::{Directory, Reader, Selection, StoreError};
use crate::time::{ClosedWindow, HOUR_MS};
use crate::variable::Variable;

/// How many hours of all stations are held in memory at once.
const HOURS_AT_ONCE: u64 = 24;

/// The hour that a moment is nearest to, in hours since 1970; the later one of two.
pub(super) fn hour_of(ts_ms: i64) -> i64 {
    ts_ms.saturating_add(HOUR_MS / 2).div_euclid(HOUR_MS)
}

/// The moments that are nearest to an hour.
pub(super) fn hour_window(hour: i64) -> Option<ClosedWindow> {
    let hour_ms = hour.saturating_mul(HOUR_MS);
    let from_ms = hour_ms.saturating_sub(HOUR_MS / 2);
    let to_ms = hour_ms.saturating_add(HOUR_MS / 2 - 1);
    ClosedWindow::new(from_ms, to_ms).ok()
}

/// The series of a variable by which stations are compared, the most instantaneous first: values
/// and short means that were reported.
pub(super) fn is_compared(parts: &[Parts<'_, '_>], variable: Variable) -> Vec<usize> {
    let is_compared = |&which: &usize| {
        let key = parts[which].key();
        let SeriesKey { calculated, interval_type, reported_unit, bucket, .. } = key;
        let momentary =
            matches!(interval_type, IntervalType::Instantaneous | IntervalType::Average);
        // The text is compared last: this is asked of every series of every station.
        key.variable == variable
            && !calculated
            && momentary
            && bucket.is_empty()
            && reported_unit == variable.unit().symbol()
    };
    let mut series: Vec<usize> = (0..parts.len()).filter(is_compared).collect();
    series.sort_by_key(|&which| parts[which].series().preference);
    series
}

/// The reading by which a station is compared in an hour, as series and reading: of the first of
/// the series that have any the one nearest to the hour.
pub(super) fn nearest_to_hour(
    parts: &[Parts<'_, '_>],
    series: &[usize],
    hour: i64,
) -> Option<(usize, usize)> {
    let window = hour_window(hour)?;
    let hour_ms = hour.saturating_mul(HOUR_MS);
    series.iter().find_map(|&which| {
        let of = &parts[which];
        let distance = |&at: &usize| (of.ts_ms(at).abs_diff(hour_ms), of.ts_ms(at));
        let at = of.between(window.start_ms(), window.end_ms()).min_by_key(distance)?;
        Some((which, at))
    })
}

/// The reading of one station that is compared in an hour.
#[derive(Clone, Copy)]
struct OfHour {
    series: SeriesId,
    ts_ms: i64,
    source: Quality,
    stored: Quality,
    /// The verdict of the station's own checks, where they ran.
    own: Option<Quality>,
    held: Held,
}

/// The readings of one hour and variable.
struct Hour<'c> {
    hour: i64,
    variable: Variable,
    /// Those whose own checks ran, by place.
    own: &'c [Compared],
    /// The places of the stations that are judged.
    judged: Vec<usize>,
    /// Of the stations that are read, in their order.
    readings: Vec<Option<OfHour>>,
}

/// Places, each once, in the order in which they came.
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

    /// The places in order; none is seen after that.
    fn take(&mut self) -> Vec<usize> {
        self.places.iter().for_each(|&place| self.seen[place] = false);
        self.places.sort_unstable();
        std::mem::take(&mut self.places)
    }
}

/// The stations on record, to be held against each other.
pub(super) struct Neighbourhood<'a> {
    pub checker: &'a Checker,
    pub record: &'a dyn Reader,
    pub directory: &'a Directory,
    pub nearby: &'a Nearby,
}

/// What comes of it.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub changes: Vec<Change>,
    /// Readings whose own verdict must be known, and what was found of them.
    pub unknown: Vec<(Change, Tally)>,
    /// Places and moments at which a verdict is another than what calculated values were given.
    pub moments: Vec<(usize, i64)>,
}

impl Neighbourhood<'_> {
    /// Holds readings against those around them, and those against them.
    pub fn compare(&self, mut compared: Vec<Compared>) -> Result<Findings, StoreError> {
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

    /// Reads of some stations what is compared in some hours.
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

    /// Puts what was found of a reading with the verdict of its station's own checks.
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

    /// The verdict on a reading whose own checks would find what they found before, as far as the
    /// stored one tells; `None` where they must run again to know.
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
            // A better verdict was there before.
            None
        } else if stored.base == BaseQuality::Unknown && tally.ran() {
            Some(Quality::GOOD)
        } else if stored == Quality::GOOD && !tally.ran() {
            // It may have been this check alone that made it Good.
            self.checker.is_judged_alone(variable, &site, of.ts_ms).then_some(stored)
        } else {
            Some(stored)
        }
    }

    /// What the check found of one reading; `None` where it is not compared.
    pub fn explain(
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
