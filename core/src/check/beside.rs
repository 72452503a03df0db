//! The judgement of the readings of a station: each reading is judged by its own series, then
//! beside the other readings of its time.

use std::ops::Range;

use super::consistency::{
    calm_wind, ordered, pressure_order, pressure_reduction, tolerance, wind_gust,
};
use super::details;
use super::one_series::OneSeries;
use super::outcome::{CheckOutcome, Details, NotRun, OwnVerdict, Sink, Tally};
use super::relation::Rule;
use super::station::{Pass, Plan, SeriesWalk};
use crate::derived::MSLP_ALTITUDE_MAX_M;

impl<R: OneSeries> Pass<'_, R> {
    /// Judges some readings of each series, in order.
    pub(crate) fn run(
        &mut self,
        readings: &[Range<usize>],
        mut judged: impl FnMut(usize, usize, OwnVerdict),
    ) {
        self.usable.clear();
        for (which, range) in readings.iter().enumerate() {
            let known_at = self.usable.len();
            let (of, plan) = (&self.series[which], &self.plans[which]);
            self.usable.extend(range.clone().map(|at| plan.is_usable(self.config, of, at)));
            let plan = &mut self.plans[which];
            (plan.known, plan.known_at) = (range.clone(), known_at);
        }
        let judged_series = || readings.iter().enumerate().filter(|(_, range)| !range.is_empty());
        let mut tallies = Vec::with_capacity(self.usable.len());
        for (which, range) in judged_series() {
            let mut walk = SeriesWalk::new(self, which, range.start);
            tallies.extend(range.clone().map(|reading| {
                let mut tally = Tally::default();
                walk.by_its_series(reading, &mut tally);
                tally
            }));
        }
        self.contradicted = tallies.iter().map(|tally: &Tally| tally.tripped().is_some()).collect();
        let mut tallies = tallies.into_iter();
        for (which, range) in judged_series() {
            let mut beside = Beside::new(self, which);
            for (reading, mut tally) in range.clone().zip(&mut tallies) {
                beside.judge(reading, &mut tally);
                judged(which, reading, tally.own(self.series[which].source(reading)));
            }
        }
        self.contradicted.clear();
    }
}

/// A walk along one series beside the others. It must visit the readings in order.
pub(super) struct Beside<'a, R> {
    pass: &'a Pass<'a, R>,
    which: usize,
    of: &'a R,
    plan: &'a Plan<'a>,
    /// For each relation, the position in the other series and in the air temperature.
    cursors: Vec<[Option<usize>; 2]>,
}

impl<'a, R: OneSeries> Beside<'a, R> {
    pub(super) fn new(pass: &'a Pass<'a, R>, which: usize) -> Self {
        let (of, plan) = (&pass.series[which], &pass.plans[which]);
        Self { pass, which, of, plan, cursors: vec![[None; 2]; plan.relations.len()] }
    }

    /// Compares a reading with the others of its time. A reading that its own series contradicts
    /// accuses no other.
    #[inline]
    pub(super) fn judge<S: Sink>(&mut self, reading: usize, sink: &mut S) {
        if !self.pass.is_usable(self.which, reading) {
            return;
        }
        let (ts_ms, value) = (self.of.ts_ms(reading), self.of.value(reading));
        let altitude_m = self.pass.site.altitude_m;
        for (relation, cursors) in self.plan.relations.iter().zip(&mut self.cursors) {
            let (check, other) = (relation.check, relation.other);
            let at = self.pass.reading_at(other, ts_ms, &mut cursors[0]);
            let Some(at) = at.filter(|&at| !self.pass.is_contradicted(other, at)) else {
                sink.note(check, CheckOutcome::NotRun(NotRun::NoRelatedReading), Details::default);
                continue;
            };
            let other_value = self.pass.series[other].value(at);
            let mut computed = None;
            let outcome = match relation.rule {
                Rule::Precise(side, limits) => {
                    let allowed = tolerance(limits, value, other_value);
                    computed = Some(allowed);
                    ordered(value, other_value, allowed, side).into()
                }
                Rule::Ordered(side, limits) => {
                    ordered(value, other_value, limits.limit.0, side).into()
                }
                Rule::WindGust { of_mean, limits } => {
                    let (mean, gust) =
                        if of_mean { (value, other_value) } else { (other_value, value) };
                    wind_gust(mean, gust, limits.limit.0, of_mean).into()
                }
                Rule::CalmWind(limits) => calm_wind(value, other_value, limits.limit.0).into(),
                Rule::PressureOrder { of_station, limits } => {
                    let (station, mslp) =
                        if of_station { (value, other_value) } else { (other_value, value) };
                    match altitude_m {
                        None => CheckOutcome::NotRun(NotRun::NoAltitude),
                        Some(altitude_m) => {
                            pressure_order(station, mslp, altitude_m, limits.limit.0, of_station)
                                .into()
                        }
                    }
                }
                Rule::PressureReduction { of_station, limits } => {
                    let (station, mslp) =
                        if of_station { (value, other_value) } else { (other_value, value) };
                    let air = relation.air.and_then(|air| {
                        let at = self.pass.reading_at(air, ts_ms, &mut cursors[1])?;
                        Some(self.pass.series[air].value(at))
                    });
                    match (altitude_m, air) {
                        (None, _) => CheckOutcome::NotRun(NotRun::NoAltitude),
                        (Some(altitude_m), _) if altitude_m > MSLP_ALTITUDE_MAX_M => {
                            CheckOutcome::NotRun(NotRun::TooHigh)
                        }
                        (_, None) => CheckOutcome::NotRun(NotRun::NoRelatedReading),
                        (Some(altitude_m), Some(air)) => {
                            let limit = limits.limit.0;
                            match pressure_reduction(station, mslp, altitude_m, air, limit) {
                                None => CheckOutcome::NotRun(NotRun::NoRelatedReading),
                                Some((reduced, tripped)) => {
                                    computed = Some(reduced);
                                    tripped.into()
                                }
                            }
                        }
                    }
                }
            };
            sink.note(check, outcome, || {
                let other = (&self.pass.series[other], at);
                details::relation(self.of, reading, other, relation.rule, computed, altitude_m)
            });
        }
    }
}

#[cfg(test)]
#[path = "beside_tests.rs"]
mod tests;
