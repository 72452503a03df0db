//! One pass over the series of a station, or over a part of their readings.

use std::ops::Range;

use super::StationSite;
use super::config::Config;
use super::consistency::{
    calm_wind, ordered, pressure_order, pressure_reduction, tolerance, wind_gust,
};
use super::details;
use super::limits::{
    AccumulationLimits, PersistenceLimits, RangeLimits, RecordLimits, SpikeLimits, StepLimits,
};
use super::outcome::{Check, Details, NotRun, Outcome, Sink, Tally};
use super::persistence::{Streak, is_exempt};
use super::range::{Seasons, range};
use super::readings::Readings;
use super::relation::{Relation, Rule, is_comparable, relations};
use super::step::{BeyondReach, spike, step};
use super::value::value;
use crate::observation::{BaseQuality, IntervalType, Quality, ReasonQuality, SeriesKey};

/// The prepared checks of one station.
pub(crate) struct Pass<'a, R> {
    pub(super) config: &'a Config,
    pub(super) site: &'a StationSite,
    pub(super) series: &'a [R],
    pub(super) plans: Vec<Plan<'a>>,
    /// Which readings the judged ones may be compared with: those with a value, not
    /// impossible by our range check, and not rejected by their source. This depends only on
    /// the reading itself. One series after the other, in the order of the plans.
    usable: Vec<bool>,
}

/// The limits of one series at the station.
pub(super) struct Plan<'a> {
    /// Whether the values are in the unit of the limits and not in a bucket.
    pub comparable: bool,
    /// Whether successive values are related, which extremes and totals are not.
    pub steady: bool,
    pub seasons: Option<(Seasons, &'a RangeLimits)>,
    pub max_amount: Option<(f64, &'a AccumulationLimits)>,
    pub record: Option<&'a RecordLimits>,
    pub spike: Option<&'a SpikeLimits>,
    pub step: Option<&'a StepLimits>,
    pub persistence: Option<&'a PersistenceLimits>,
    pub relations: Vec<Relation<'a>>,
    /// The readings whose use is known, and where they begin in [`Pass::usable`].
    known: Range<usize>,
    known_at: usize,
}

impl<'a> Plan<'a> {
    fn new(config: &'a Config, site: &StationSite, key: &SeriesKey) -> Self {
        let variable = &key.variable;
        let comparable = is_comparable(key);
        let steady = comparable
            && matches!(
                key.interval_type,
                IntervalType::Instantaneous | IntervalType::Average | IntervalType::Median
            );
        let seasons = config
            .range
            .get(variable)
            .filter(|_| comparable)
            .map(|limits| (Seasons::new(limits, site.coordinates.lat()), limits));
        let total = comparable && key.interval_type == IntervalType::Cumulative;
        let max_amount = config
            .accumulation
            .get(variable)
            .filter(|_| total)
            .map(|limits| (limits.max(key.interval_minutes), limits));
        Self {
            comparable,
            steady,
            seasons,
            max_amount,
            record: config.record.get(variable).filter(|_| comparable),
            spike: config.spike.get(variable).filter(|_| steady),
            step: config.step.get(variable).filter(|_| steady),
            persistence: config.persistence.get(variable).filter(|_| steady),
            relations: Vec::new(),
            known: 0..0,
            known_at: 0,
        }
    }
}

impl<'a, R: Readings> Pass<'a, R> {
    pub(crate) fn new(config: &'a Config, site: &'a StationSite, series: &'a [R]) -> Self {
        let mut plans: Vec<_> = series.iter().map(|of| Plan::new(config, site, of.key())).collect();
        let keys: Vec<_> = series.iter().map(Readings::key).collect();
        let comparable: Vec<_> = plans.iter().map(|plan| plan.comparable).collect();
        for (key, plan) in keys.iter().zip(&mut plans) {
            if plan.comparable {
                let id = |other: usize| series[other].id();
                relations(key, &config.consistency, &keys, &comparable, id, &mut plan.relations);
            }
        }
        Self { config, site, series, plans, usable: Vec::new() }
    }

    /// The first moment whose verdict may change if readings from a moment on change: that of
    /// the usable reading before them, which may become a spike or stop being one.
    #[cfg(feature = "intake")]
    pub(crate) fn changed_from_ms(&self, first_ms: i64) -> i64 {
        let series = self.series.iter().zip(&self.plans).enumerate();
        let before = series.filter_map(|(which, (of, plan))| {
            let oldest_ms = first_ms.saturating_sub(plan.spike?.curve.reach_ms());
            let before = self.previous(which, of.before(first_ms))?;
            Some(of.ts_ms(before)).filter(|&ts_ms| ts_ms >= oldest_ms)
        });
        before.min().unwrap_or(first_ms)
    }

    /// Judges some readings of each series, in order.
    pub(crate) fn run(
        &mut self,
        readings: &[Range<usize>],
        mut judged: impl FnMut(usize, usize, Quality),
    ) {
        for (which, range) in readings.iter().enumerate() {
            let known_at = self.usable.len();
            let (of, plan) = (&self.series[which], &self.plans[which]);
            self.usable.extend(range.clone().map(|at| plan.is_usable(self.config, of, at)));
            let plan = &mut self.plans[which];
            (plan.known, plan.known_at) = (range.clone(), known_at);
        }
        for (which, range) in readings.iter().enumerate().filter(|(_, range)| !range.is_empty()) {
            let mut walk = Walk::new(self, which, range.start);
            for reading in range.clone() {
                let mut tally = Tally::default();
                walk.judge(reading, &mut tally);
                judged(which, reading, tally.verdict(self.series[which].source(reading)).0);
            }
        }
    }

    /// Whether others may be compared with a reading.
    #[inline]
    pub(super) fn is_usable(&self, which: usize, reading: usize) -> bool {
        let plan = &self.plans[which];
        if plan.known.contains(&reading) {
            self.usable[plan.known_at + reading - plan.known.start]
        } else {
            plan.is_usable(self.config, &self.series[which], reading)
        }
    }

    /// The last usable reading before one.
    #[inline]
    fn previous(&self, which: usize, reading: usize) -> Option<usize> {
        (0..reading).rev().find(|&before| self.is_usable(which, before))
    }

    /// The first usable reading after one.
    #[inline]
    fn next(&self, which: usize, reading: usize) -> Option<usize> {
        (reading + 1..self.series[which].len()).find(|&after| self.is_usable(which, after))
    }

    /// The usable reading of a series at an instant. The cursor, once set, only moves forward.
    #[inline]
    fn reading_at(&self, which: usize, ts_ms: i64, cursor: &mut Option<usize>) -> Option<usize> {
        let of = &self.series[which];
        let at = cursor.get_or_insert_with(|| of.before(ts_ms));
        while *at < of.len() && of.ts_ms(*at) < ts_ms {
            *at += 1;
        }
        let found = *at < of.len() && of.ts_ms(*at) == ts_ms && self.is_usable(which, *at);
        found.then_some(*at)
    }
}

impl Plan<'_> {
    fn is_usable<R: Readings>(&self, config: &Config, of: &R, reading: usize) -> bool {
        let number = of.value(reading);
        of.source(reading).base > BaseQuality::Error
            && value(of.key().variable, number, &config.value).is_none()
            && !self.is_impossible(number, of.ts_ms(reading))
    }

    fn is_impossible(&self, value: f64, ts_ms: i64) -> bool {
        let bounds = self.seasons.and_then(|(seasons, _)| seasons.at(ts_ms)?.error);
        bounds.is_some_and(|bounds| !bounds.contains(value))
    }
}

/// A reading between the usable ones before and after it, and the times between them.
struct Between {
    readings: [usize; 3],
    elapsed: [i64; 2],
}

/// A walk along one series from any reading on, which must visit every reading once, in order.
pub(super) struct Walk<'a, R> {
    pass: &'a Pass<'a, R>,
    which: usize,
    of: &'a R,
    plan: &'a Plan<'a>,
    /// The last usable reading, and the last one that is also not a spike.
    before: Option<usize>,
    before_step: Option<usize>,
    streak: Option<Streak<'a>>,
    /// For each relation, the position in the other series and in the air temperature.
    cursors: Vec<[Option<usize>; 2]>,
}

impl<'a, R: Readings> Walk<'a, R> {
    pub(super) fn new(pass: &'a Pass<'a, R>, which: usize, first: usize) -> Self {
        let (of, plan) = (&pass.series[which], &pass.plans[which]);
        let mut walk = Self {
            pass,
            which,
            of,
            plan,
            before: None,
            before_step: None,
            streak: plan.persistence.map(Streak::new),
            cursors: vec![[None; 2]; plan.relations.len()],
        };
        if plan.spike.is_some() || plan.step.is_some() {
            walk.before = pass.previous(which, first);
        }
        if plan.step.is_some() {
            walk.before_step = walk.before;
            while let (Some(limits), Some(at)) = (plan.spike, walk.before_step) {
                let before = pass.previous(which, at);
                let (_, outcome) = walk.sticks_out(before, at, limits);
                if !matches!(outcome, Outcome::Tripped(_)) {
                    break;
                }
                walk.before_step = before;
            }
        }
        walk
    }

    /// Runs the checks on the next reading, in their order.
    #[inline]
    pub(super) fn judge<S: Sink>(&mut self, reading: usize, sink: &mut S) {
        self.alone(reading, sink);
        if self.pass.is_usable(self.which, reading) {
            let sticks_out = self.spike(reading, sink);
            self.step(reading, sink);
            self.persistence(reading, sink);
            self.consistency(reading, sink);
            self.before = Some(reading);
            if !sticks_out {
                self.before_step = Some(reading);
            }
        }
    }

    /// The checks that need only the reading itself.
    fn alone<S: Sink>(&self, reading: usize, sink: &mut S) {
        let (number, ts_ms) = (self.of.value(reading), self.of.ts_ms(reading));
        let (key, plan, limits) = (self.of.key(), self.plan, &self.pass.config.value);
        let missing = value(key.variable, number, limits);
        sink.note(Check::Value, missing.into(), || details::value(self.of, reading, limits));
        if missing.is_some() {
            return;
        }
        let band = plan.seasons.and_then(|(seasons, _)| seasons.at(ts_ms));
        if band.is_some() || plan.max_amount.is_some() {
            let band = band.unwrap_or_default();
            let tripped = range(number, band, plan.max_amount.map(|(max, _)| max));
            let details = || {
                let source = plan.seasons.map_or("", |(_, limits)| &limits.source);
                details::range(self.of, reading, band, source, plan.max_amount)
            };
            sink.note(Check::Range, tripped.into(), details);
        }
        if let Some(limits) = plan.record {
            let tripped = (!limits.bounds.contains(number))
                .then_some(Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Range });
            let details = || details::record(self.of, reading, limits);
            sink.note(Check::Record, tripped.into(), details);
        }
    }

    /// Whether a reading sticks out from the usable ones before and after it; returned with these.
    #[inline]
    fn sticks_out(
        &self,
        before: Option<usize>,
        reading: usize,
        limits: &SpikeLimits,
    ) -> (Option<Between>, Outcome) {
        let Some(before) = before else { return (None, Outcome::NotRun(NotRun::NoPrevious)) };
        let Some(after) = self.pass.next(self.which, reading) else {
            return (None, Outcome::NotRun(NotRun::NoNext));
        };
        let readings = [before, reading, after];
        let ts_ms = readings.map(|at| self.of.ts_ms(at));
        let elapsed = [ts_ms[1].saturating_sub(ts_ms[0]), ts_ms[2].saturating_sub(ts_ms[1])];
        let outcome = match spike(readings.map(|at| self.of.value(at)), elapsed, limits) {
            Ok(tripped) => tripped.into(),
            Err(BeyondReach) if limits.curve.at(elapsed[0]).is_none() => {
                Outcome::NotRun(NotRun::NoPrevious)
            }
            Err(BeyondReach) => Outcome::NotRun(NotRun::NoNext),
        };
        (Some(Between { readings, elapsed }), outcome)
    }

    /// Whether the reading sticks out.
    fn spike<S: Sink>(&self, reading: usize, sink: &mut S) -> bool {
        let Some(limits) = self.plan.spike else { return false };
        let (between, outcome) = self.sticks_out(self.before, reading, limits);
        sink.note(Check::Spike, outcome, || {
            between.map_or_else(Details::default, |Between { readings, elapsed }| {
                details::spike(self.of, readings, elapsed, limits)
            })
        });
        matches!(outcome, Outcome::Tripped(_))
    }

    fn step<S: Sink>(&self, reading: usize, sink: &mut S) {
        let Some(limits) = self.plan.step else { return };
        let not_run = Outcome::NotRun(NotRun::NoPrevious);
        let Some(before) = self.before_step else {
            return sink.note(Check::Step, not_run, Details::default);
        };
        let elapsed_ms = self.of.ts_ms(reading).saturating_sub(self.of.ts_ms(before));
        let change = self.of.value(reading) - self.of.value(before);
        let outcome = step(change, elapsed_ms, limits).map_or(not_run, Into::into);
        sink.note(Check::Step, outcome, || {
            details::step(self.of, [before, reading], elapsed_ms, limits)
        });
    }

    fn persistence<S: Sink>(&mut self, reading: usize, sink: &mut S) {
        let (Some(streak), Some(limits)) = (&mut self.streak, self.plan.persistence) else {
            return;
        };
        let usable = |at| self.pass.is_usable(self.which, at);
        let found = streak.push(self.of, &usable, reading);
        let outcome = if is_exempt(self.of.value(reading), limits) {
            Outcome::NotRun(NotRun::Exempt)
        } else if found.alone {
            Outcome::NotRun(NotRun::NoPrevious)
        } else {
            streak.judge(self.of, &usable, reading, &found).into()
        };
        sink.note(Check::Persistence, outcome, || {
            details::persistence(self.of, &usable, reading, &found, limits)
        });
    }

    fn consistency<S: Sink>(&mut self, reading: usize, sink: &mut S) {
        let (ts_ms, value) = (self.of.ts_ms(reading), self.of.value(reading));
        let altitude_m = self.pass.site.altitude_m;
        for (relation, cursors) in self.plan.relations.iter().zip(&mut self.cursors) {
            let (check, other) = (relation.check, relation.other);
            let Some(at) = self.pass.reading_at(other, ts_ms, &mut cursors[0]) else {
                sink.note(check, Outcome::NotRun(NotRun::NoRelatedReading), Details::default);
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
                        None => Outcome::NotRun(NotRun::NoAltitude),
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
                        (None, _) => Outcome::NotRun(NotRun::NoAltitude),
                        (_, None) => Outcome::NotRun(NotRun::NoRelatedReading),
                        (Some(altitude_m), Some(air)) => {
                            let limit = limits.limit.0;
                            match pressure_reduction(station, mslp, altitude_m, air, limit) {
                                None => Outcome::NotRun(NotRun::NoRelatedReading),
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
