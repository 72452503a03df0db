//! One pass over all series of a station.

use super::config::CheckConfig;
use super::consistency::{
    calm_wind, ordered, pressure_order, pressure_reduction, tolerance, wind_gust,
};
use super::explain;
use super::limits::{
    AccumulationLimits, PersistenceLimits, RangeLimits, RecordLimits, SpikeLimits, StepLimits,
};
use super::outcome::{Check, Details, NotRun, Outcome, Sink, Tally};
use super::persistence::{Streak, is_exempt, persistence};
use super::range::{Seasons, range};
use super::relation::{Relation, Rule, is_comparable, relations};
use super::step::{BeyondReach, spike, step};
use super::value::value;
use super::{SeriesReadings, StationSite};
use crate::quality::{BaseQuality, Quality, ReasonQuality};
use crate::series::IntervalType;

/// The checks of one station, made ready.
pub(super) struct Pass<'a> {
    pub config: &'a CheckConfig,
    pub site: &'a StationSite,
    pub series: &'a [SeriesReadings<'a>],
    pub plans: Vec<Plan<'a>>,
    /// Which readings others are held against: those that are a value, not impossible by our range
    /// check, and not refused by their source. It depends on nothing but the reading itself.
    usable: Vec<Vec<bool>>,
}

/// The limits of one series at the station.
pub(super) struct Plan<'a> {
    /// Whether the values are in the unit of the limits and of no bucket.
    pub comparable: bool,
    /// Whether one value follows from the one before, as it does not for extremes and totals.
    pub steady: bool,
    pub seasons: Option<(Seasons, &'a RangeLimits)>,
    pub max_amount: Option<(f64, &'a AccumulationLimits)>,
    pub record: Option<&'a RecordLimits>,
    pub spike: Option<&'a SpikeLimits>,
    pub step: Option<&'a StepLimits>,
    pub persistence: Option<&'a PersistenceLimits>,
    pub relations: Vec<Relation<'a>>,
}

impl<'a> Plan<'a> {
    fn new(config: &'a CheckConfig, site: &StationSite, of: &SeriesReadings<'_>) -> Self {
        let key = of.key;
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
        }
    }
}

impl<'a> Pass<'a> {
    pub fn new(
        config: &'a CheckConfig,
        site: &'a StationSite,
        series: &'a [SeriesReadings<'a>],
    ) -> Self {
        let mut plans: Vec<_> = series.iter().map(|of| Plan::new(config, site, of)).collect();
        let keys: Vec<_> = series.iter().map(|of| of.key).collect();
        for (of, plan) in series.iter().zip(&mut plans) {
            if plan.comparable {
                relations(of.key, &config.consistency, &keys, &mut plan.relations);
            }
        }
        let usable = series.iter().zip(&plans).map(|(of, plan)| plan.usable(config, of)).collect();
        Self { config, site, series, plans, usable }
    }

    /// Fills the verdicts.
    pub fn run(&self, verdicts: &mut [&mut [Quality]]) {
        for (which, verdicts) in verdicts.iter_mut().enumerate() {
            let mut walk = Walk::new(self, which);
            for (reading, verdict) in verdicts.iter_mut().enumerate() {
                let mut tally = Tally::default();
                walk.judge(reading, &mut tally);
                (*verdict, _) = tally.verdict(self.series[which].source[reading]);
            }
        }
    }
}

impl Plan<'_> {
    fn usable(&self, config: &CheckConfig, of: &SeriesReadings<'_>) -> Vec<bool> {
        let columns = of.ts_ms.iter().zip(of.value).zip(of.source);
        columns
            .map(|((&ts_ms, &number), source)| {
                source.base > BaseQuality::Error
                    && value(of.key.variable, number, &config.value).is_none()
                    && !self.is_impossible(number, ts_ms)
            })
            .collect()
    }

    fn is_impossible(&self, value: f64, ts_ms: i64) -> bool {
        let bounds = self.seasons.and_then(|(seasons, _)| seasons.at(ts_ms)?.error);
        bounds.is_some_and(|bounds| !bounds.contains(value))
    }
}

/// A walk along one series, which must see every reading once, in order.
pub(super) struct Walk<'a> {
    pass: &'a Pass<'a>,
    of: &'a SeriesReadings<'a>,
    plan: &'a Plan<'a>,
    usable: &'a [bool],
    /// The last usable reading, and the last that is no spike either.
    before: Option<usize>,
    before_step: Option<usize>,
    streak: Option<Streak<'a>>,
    /// For each relation the place in the other series and in the air temperature.
    cursors: Vec<[usize; 2]>,
}

impl<'a> Walk<'a> {
    pub fn new(pass: &'a Pass<'a>, which: usize) -> Self {
        let (of, plan) = (&pass.series[which], &pass.plans[which]);
        Self {
            pass,
            of,
            plan,
            usable: &pass.usable[which],
            before: None,
            before_step: None,
            streak: plan.persistence.map(|limits| Streak::new(limits, of.ts_ms, of.value)),
            cursors: vec![[0; 2]; plan.relations.len()],
        }
    }

    /// Runs the checks on the next reading, in their order.
    #[inline]
    pub fn judge<S: Sink>(&mut self, reading: usize, sink: &mut S) {
        self.alone(reading, sink);
        if self.usable[reading] {
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

    /// The checks that need nothing but the reading.
    fn alone<S: Sink>(&self, reading: usize, sink: &mut S) {
        let (number, ts_ms) = (self.of.value[reading], self.of.ts_ms[reading]);
        let (key, plan, limits) = (self.of.key, self.plan, &self.pass.config.value);
        let missing = value(key.variable, number, limits);
        sink.note(Check::Value, missing.into(), || explain::value(self.of, reading, limits));
        if missing.is_some() {
            return;
        }
        let band = plan.seasons.and_then(|(seasons, _)| seasons.at(ts_ms));
        if band.is_some() || plan.max_amount.is_some() {
            let band = band.unwrap_or_default();
            let tripped = range(number, band, plan.max_amount.map(|(max, _)| max));
            let details = || explain::range(self.of, reading, plan, band);
            sink.note(Check::Range, tripped.into(), details);
        }
        if let Some(limits) = plan.record {
            let tripped = (!limits.bounds.contains(number))
                .then_some(Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Range });
            let details = || explain::record(self.of, reading, limits);
            sink.note(Check::Record, tripped.into(), details);
        }
    }

    /// Whether the reading sticks out.
    fn spike<S: Sink>(&self, reading: usize, sink: &mut S) -> bool {
        let Some(limits) = self.plan.spike else { return false };
        let (ts_ms, value) = (self.of.ts_ms, self.of.value);
        let Some(before) = self.before else {
            sink.note(Check::Spike, Outcome::NotRun(NotRun::NoPrevious), Details::default);
            return false;
        };
        let after = (reading + 1..ts_ms.len()).find(|&after| self.usable[after]);
        let Some(after) = after else {
            sink.note(Check::Spike, Outcome::NotRun(NotRun::NoNext), Details::default);
            return false;
        };
        let elapsed = [
            ts_ms[reading].saturating_sub(ts_ms[before]),
            ts_ms[after].saturating_sub(ts_ms[reading]),
        ];
        let outcome = match spike([value[before], value[reading], value[after]], elapsed, limits) {
            Ok(tripped) => tripped.into(),
            Err(BeyondReach) if limits.curve.at(elapsed[0]).is_none() => {
                Outcome::NotRun(NotRun::NoPrevious)
            }
            Err(BeyondReach) => Outcome::NotRun(NotRun::NoNext),
        };
        sink.note(Check::Spike, outcome, || {
            explain::spike(self.of, [before, reading, after], elapsed, limits)
        });
        matches!(outcome, Outcome::Tripped(_))
    }

    fn step<S: Sink>(&self, reading: usize, sink: &mut S) {
        let Some(limits) = self.plan.step else { return };
        let not_run = Outcome::NotRun(NotRun::NoPrevious);
        let Some(before) = self.before_step else {
            return sink.note(Check::Step, not_run, Details::default);
        };
        let elapsed_ms = self.of.ts_ms[reading].saturating_sub(self.of.ts_ms[before]);
        let change = self.of.value[reading] - self.of.value[before];
        let outcome = step(change, elapsed_ms, limits).map_or(not_run, Into::into);
        sink.note(Check::Step, outcome, || {
            explain::step(self.of, [before, reading], elapsed_ms, limits)
        });
    }

    fn persistence<S: Sink>(&mut self, reading: usize, sink: &mut S) {
        let (Some(streak), Some(limits)) = (&mut self.streak, self.plan.persistence) else {
            return;
        };
        let found = streak.push(reading);
        let outcome = if is_exempt(self.of.value[reading], limits) {
            Outcome::NotRun(NotRun::Exempt)
        } else if found.repeats == 1 && reading == 0 {
            Outcome::NotRun(NotRun::NoPrevious)
        } else {
            persistence(&found, self.of.ts_ms[reading]).into()
        };
        sink.note(Check::Persistence, outcome, || {
            explain::persistence(self.of, reading, &found, limits)
        });
    }

    fn consistency<S: Sink>(&mut self, reading: usize, sink: &mut S) {
        let (ts_ms, value) = (self.of.ts_ms[reading], self.of.value[reading]);
        let altitude_m = self.pass.site.altitude_m;
        for (relation, cursors) in self.plan.relations.iter().zip(&mut self.cursors) {
            let (check, other) = (relation.check, relation.other);
            let Some(at) = self.pass.reading_at(other, ts_ms, &mut cursors[0]) else {
                sink.note(check, Outcome::NotRun(NotRun::NoRelatedReading), Details::default);
                continue;
            };
            let other_value = self.pass.series[other].value[at];
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
                        Some(self.pass.series[air].value[at])
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
                explain::relation(self.of, reading, other, relation.rule, computed, altitude_m)
            });
        }
    }
}

impl Pass<'_> {
    /// Whether others are held against a reading.
    pub fn is_usable(&self, which: usize, reading: usize) -> bool {
        self.usable[which][reading]
    }

    /// The usable reading of a series at an instant. The cursor goes forward only.
    #[inline]
    fn reading_at(&self, which: usize, ts_ms: i64, cursor: &mut usize) -> Option<usize> {
        let of = &self.series[which];
        while of.ts_ms.get(*cursor).is_some_and(|&at_ms| at_ms < ts_ms) {
            *cursor += 1;
        }
        let found = of.ts_ms.get(*cursor) == Some(&ts_ms) && self.usable[which][*cursor];
        found.then_some(*cursor)
    }
}
