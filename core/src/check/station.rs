//! One pass over the series of a station, or over a part of their readings.

use std::ops::Range;

use super::StationSite;
use super::config::Config;
use super::details;
use super::jump::{Jump, Jumps, is_large, jump};
use super::limits::{
    AccumulationLimits, JumpLimits, PersistenceLimits, RangeLimits, RecordLimits, SpikeLimits,
    StepLimits,
};
use super::one_series::OneSeries;
use super::outcome::{Check, CheckOutcome, Details, NotRun, Sink, Tally};
use super::persistence::{Streak, is_exempt};
use super::physical::Physical;
use super::range::{Seasons, range};
use super::relation::{Relation, is_comparable, is_in_unit, relations};
use super::step::{BeyondReach, spike, step};
use super::value::{meanings, value};
use super::witness::Witness;
use crate::observation::{BaseQuality, IntervalType, Quality, ReasonQuality, SeriesKey};
use crate::time::HOUR_MS;
use crate::unit::Conversion;

/// The prepared checks of one station.
pub(crate) struct Pass<'a, R> {
    pub(super) config: &'a Config,
    pub(super) site: &'a StationSite,
    pub(super) series: &'a [R],
    pub(super) plans: Vec<Plan<'a>>,
    /// The readings that the judged readings may be compared with: they have a value, are not
    /// impossible by the range check, and are not rejected by their source. This depends only on
    /// the reading itself. One series follows another, in the order of the plans.
    pub(super) usable: Vec<bool>,
    /// Which of these readings their own series contradicts; known while they are compared with
    /// others.
    pub(super) contradicted: Vec<bool>,
}

/// The limits of one series at the station.
pub(super) struct Plan<'a> {
    /// Whether the values are in the unit of the limits and not in a bucket.
    pub comparable: bool,
    /// Whether successive values are related; extremes and totals are not.
    pub steady: bool,
    /// Limits that override any verdict of the source.
    pub physical: Option<Physical<'a>>,
    /// The possible values in the unit of the limits, if the values are in another unit.
    pub meanings: Vec<Conversion>,
    pub seasons: Option<(Seasons, &'a RangeLimits)>,
    pub max_amount: Option<(f64, &'a AccumulationLimits)>,
    pub record: Option<&'a RecordLimits>,
    pub spike: Option<&'a SpikeLimits>,
    pub step: Option<&'a StepLimits>,
    pub jump: Option<&'a JumpLimits>,
    /// The series that explain a jump.
    witnesses: Vec<Witness>,
    pub persistence: Option<&'a PersistenceLimits>,
    pub relations: Vec<Relation<'a>>,
    /// The readings known to be usable or not, and where they begin in [`Pass::usable`].
    pub(super) known: Range<usize>,
    pub(super) known_at: usize,
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
        let meanings = meanings(key);
        let is_measured = is_in_unit(key) || !meanings.is_empty();
        let physical = config.physical.get(variable).filter(|_| is_measured);
        let seasons = config
            .range
            .get(variable)
            .filter(|_| comparable || key.bucket.is_empty() && !meanings.is_empty())
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
            physical: physical.map(|limits| Physical::new(limits, site, key)),
            meanings,
            seasons,
            max_amount,
            record: config.record.get(variable).filter(|_| comparable),
            spike: config.spike.get(variable).filter(|_| steady),
            step: config.step.get(variable).filter(|_| steady),
            jump: config.jump.get(variable).filter(|_| steady),
            witnesses: Vec::new(),
            persistence: config.persistence.get(variable).filter(|_| steady),
            relations: Vec::new(),
            known: 0..0,
            known_at: 0,
        }
    }
}

impl<'a, R: OneSeries> Pass<'a, R> {
    pub(crate) fn new(config: &'a Config, site: &'a StationSite, series: &'a [R]) -> Self {
        let mut plans: Vec<_> = series.iter().map(|of| Plan::new(config, site, of.key())).collect();
        let keys: Vec<_> = series.iter().map(OneSeries::key).collect();
        let comparable: Vec<_> = plans.iter().map(|plan| plan.comparable).collect();
        for (key, plan) in keys.iter().zip(&mut plans) {
            if plan.comparable {
                let id = |other: usize| series[other].id();
                relations(key, &config.consistency, &keys, &comparable, id, &mut plan.relations);
            }
            plan.witnesses = plan.jump.map_or(Vec::new(), |limits| Witness::of(limits, &keys));
        }
        Self { config, site, series, plans, usable: Vec::new(), contradicted: Vec::new() }
    }

    /// The first moment whose verdict may change if readings from a moment on change: the moment of
    /// the usable reading before them. That reading may become a spike or stop being one.
    #[cfg(feature = "store")]
    pub(crate) fn changed_from_ms(&self, first_ms: i64) -> i64 {
        let series = self.series.iter().zip(&self.plans).enumerate();
        let before = series.filter_map(|(which, (of, plan))| {
            let oldest_ms = first_ms.saturating_sub(plan.spike?.curve.reach_ms());
            let before = self.previous(which, of.before(first_ms))?;
            Some(of.ts_ms(before)).filter(|&ts_ms| ts_ms >= oldest_ms)
        });
        before.min().unwrap_or(first_ms)
    }

    /// Whether other series explain a change of one series between two moments, in the way they
    /// explain a jump.
    #[cfg(feature = "store")]
    pub(crate) fn is_explained(&self, which: usize, before_ms: i64, after_ms: i64) -> bool {
        let latest = |series, ts_ms| self.latest(series, ts_ms);
        let explains = |by: &Witness| by.explains(latest, before_ms, after_ms);
        self.plans[which].witnesses.iter().any(explains)
    }

    /// Whether the series of a reading contradicts it.
    pub(super) fn is_contradicted(&self, which: usize, reading: usize) -> bool {
        let plan = &self.plans[which];
        if plan.known.contains(&reading) && !self.contradicted.is_empty() {
            return self.contradicted[plan.known_at + reading - plan.known.start];
        }
        let mut tally = Tally::default();
        SeriesWalk::new(self, which, reading).by_its_series(reading, &mut tally);
        tally.tripped().is_some()
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

    /// The usable value of a series at a moment, or at most an hour old.
    fn latest(&self, which: usize, ts_ms: i64) -> Option<f64> {
        let of = &self.series[which];
        let oldest_ms = ts_ms.saturating_sub(HOUR_MS);
        let until = of.before(ts_ms.saturating_add(1));
        let at = (0..until)
            .rev()
            .take_while(|&at| of.ts_ms(at) > oldest_ms)
            .find(|&at| self.is_usable(which, at))?;
        Some(of.value(at))
    }

    /// The first usable reading after one.
    #[inline]
    fn next(&self, which: usize, reading: usize) -> Option<usize> {
        (reading + 1..self.series[which].len()).find(|&after| self.is_usable(which, after))
    }

    /// The usable reading of a series at an instant. The cursor, once set, only moves forward.
    #[inline]
    pub(super) fn reading_at(
        &self,
        which: usize,
        ts_ms: i64,
        cursor: &mut Option<usize>,
    ) -> Option<usize> {
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
    /// Whether a value is beyond the physical limits, in each unit that it may be in.
    #[inline]
    fn is_beyond_physics(&self, value: f64) -> bool {
        self.physical
            .is_some_and(|of| self.each_meaning(value, |value| of.verdict(value)).is_some())
    }

    /// The mildest verdict on a value over the units that it may be in; `None` if the value may be
    /// right in one of them.
    #[inline]
    fn each_meaning(
        &self,
        value: f64,
        verdict: impl Fn(f64) -> Option<Quality>,
    ) -> Option<Quality> {
        let Some((first, rest)) = self.meanings.split_first() else { return verdict(value) };
        rest.iter().try_fold(verdict(first.apply(value))?, |mildest, meaning| {
            let found = verdict(meaning.apply(value))?;
            Some(if found.base > mildest.base { found } else { mildest })
        })
    }

    pub(super) fn is_usable<R: OneSeries>(&self, config: &Config, of: &R, reading: usize) -> bool {
        let number = of.value(reading);
        of.source(reading).base > BaseQuality::Error
            && value(of.key().variable, number, &config.value).is_none()
            && !self.is_impossible(number, of.ts_ms(reading))
    }

    fn is_impossible(&self, value: f64, ts_ms: i64) -> bool {
        if self.is_beyond_physics(value) {
            return true;
        }
        let bounds = self.seasons.and_then(|(seasons, _)| seasons.at(ts_ms)?.error);
        bounds.is_some_and(|bounds| !bounds.contains(value))
    }
}

/// A reading between the usable ones before and after it, and the times between them.
struct Between {
    readings: [usize; 3],
    elapsed: [i64; 2],
}

/// A walk along one series from any reading on. It must visit every reading once, in order.
pub(super) struct SeriesWalk<'a, R> {
    pass: &'a Pass<'a, R>,
    which: usize,
    of: &'a R,
    plan: &'a Plan<'a>,
    /// The last usable reading, and the last one that is also not a spike.
    before: Option<usize>,
    before_step: Option<usize>,
    jumps: Option<Jumps<'a>>,
    streak: Option<Streak<'a>>,
}

impl<'a, R: OneSeries> SeriesWalk<'a, R> {
    pub(super) fn new(pass: &'a Pass<'a, R>, which: usize, first: usize) -> Self {
        let (of, plan) = (&pass.series[which], &pass.plans[which]);
        let mut walk = Self {
            pass,
            which,
            of,
            plan,
            before: None,
            before_step: None,
            jumps: plan.jump.map(Jumps::new),
            streak: plan.persistence.map(Streak::new),
        };
        let first = walk.first_large_change(first).unwrap_or(first)..first;
        if plan.spike.is_some() || plan.step.is_some() || plan.jump.is_some() {
            walk.before = pass.previous(which, first.start);
        }
        if plan.step.is_some() || plan.jump.is_some() {
            walk.before_step = walk.before;
            while let (Some(limits), Some(at)) = (plan.spike, walk.before_step) {
                let before = pass.previous(which, at);
                let (_, outcome) = walk.sticks_out(before, at, limits);
                if !matches!(outcome, CheckOutcome::Tripped(_)) {
                    break;
                }
                walk.before_step = before;
            }
        }
        for reading in first.filter(|&reading| pass.is_usable(which, reading)) {
            let spike = plan.spike.map(|limits| walk.sticks_out(walk.before, reading, limits).1);
            let sticks_out = matches!(spike, Some(CheckOutcome::Tripped(_)));
            walk.follow(reading, sticks_out);
            walk.pass_by(reading, sticks_out);
        }
        walk
    }

    /// The first reading before a given one that may have jumped so late that the jump is still
    /// remembered.
    fn first_large_change(&self, first: usize) -> Option<usize> {
        let (of, limits) = (self.of, self.plan.jump?);
        let now_ms = if first < of.len() { of.ts_ms(first) } else { return None };
        let oldest = of.before(now_ms.saturating_sub(limits.hold_ms));
        let mut last: Option<usize> = self.pass.previous(self.which, oldest);
        (oldest..first).filter(|&at| self.pass.is_usable(self.which, at)).find(|&at| {
            last.replace(at).is_some_and(|last| {
                let change = of.value(at) - of.value(last);
                is_large(change, of.ts_ms(at).saturating_sub(of.ts_ms(last)), limits) == Some(true)
            })
        })
    }

    /// Runs the checks that compare the next reading with its limits and its series, in their order.
    #[inline]
    pub(super) fn by_its_series<S: Sink>(&mut self, reading: usize, sink: &mut S) {
        self.alone(reading, sink);
        if self.pass.is_usable(self.which, reading) {
            let sticks_out = self.spike(reading, sink);
            self.step(reading, sink);
            self.jump(reading, sticks_out, sink);
            self.persistence(reading, sink);
            self.pass_by(reading, sticks_out);
        }
    }

    /// Remembers a usable reading as the previous one of the next reading.
    #[inline]
    fn pass_by(&mut self, reading: usize, sticks_out: bool) {
        self.before = Some(reading);
        if !sticks_out {
            self.before_step = Some(reading);
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
        if self.physical(reading, sink) {
            return;
        }
        let band = plan.seasons.and_then(|(seasons, _)| seasons.at(ts_ms));
        if band.is_some() || plan.max_amount.is_some() {
            let band = band.unwrap_or_default();
            let max_amount = plan.max_amount.map(|(max, _)| max);
            let tripped = plan.each_meaning(number, |number| range(number, band, max_amount));
            if tripped.is_none() && !plan.meanings.is_empty() {
                // The value is within the limits in one of its possible units, which may not be its
                // own.
                return;
            }
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

    /// Whether a reading is beyond a physical limit; this is noted as a result of the range check.
    pub(super) fn physical<S: Sink>(&self, reading: usize, sink: &mut S) -> bool {
        let number = self.of.value(reading);
        let Some(physical) = &self.plan.physical else { return false };
        let found = self.plan.each_meaning(number, |number| physical.verdict(number));
        if let Some(verdict) = found {
            let details = || details::physical(self.of, reading, physical);
            sink.note(Check::Range, CheckOutcome::Impossible(verdict), details);
        }
        found.is_some()
    }

    /// Whether a reading sticks out from the usable readings before and after it; also returns
    /// these readings.
    #[inline]
    fn sticks_out(
        &self,
        before: Option<usize>,
        reading: usize,
        limits: &SpikeLimits,
    ) -> (Option<Between>, CheckOutcome) {
        let Some(before) = before else { return (None, CheckOutcome::NotRun(NotRun::NoPrevious)) };
        let Some(after) = self.pass.next(self.which, reading) else {
            return (None, CheckOutcome::NotRun(NotRun::NoNext));
        };
        let readings = [before, reading, after];
        let ts_ms = readings.map(|at| self.of.ts_ms(at));
        let elapsed = [ts_ms[1].saturating_sub(ts_ms[0]), ts_ms[2].saturating_sub(ts_ms[1])];
        let outcome = match spike(readings.map(|at| self.of.value(at)), elapsed, limits) {
            Ok(tripped) => tripped.into(),
            Err(BeyondReach) if limits.curve.at(elapsed[0]).is_none() => {
                CheckOutcome::NotRun(NotRun::NoPrevious)
            }
            Err(BeyondReach) => CheckOutcome::NotRun(NotRun::NoNext),
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
        matches!(outcome, CheckOutcome::Tripped(_))
    }

    fn step<S: Sink>(&self, reading: usize, sink: &mut S) {
        let Some(limits) = self.plan.step else { return };
        let not_run = CheckOutcome::NotRun(NotRun::NoPrevious);
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

    fn jump<S: Sink>(&mut self, reading: usize, sticks_out: bool, sink: &mut S) {
        let Some(limits) = self.plan.jump else { return };
        let Some(before) = self.before_step else {
            return sink.note(
                Check::Jump,
                CheckOutcome::NotRun(NotRun::NoPrevious),
                Details::default,
            );
        };
        self.follow(reading, sticks_out);
        let lasting = self.jumps.as_ref().and_then(Jumps::lasting);
        let tripped = lasting.map(|jump| {
            let increase = jump.change > 0.0;
            let reason = if increase { ReasonQuality::Increase } else { ReasonQuality::Decrease };
            Quality { base: BaseQuality::Doubtful, reason }
        });
        sink.note(Check::Jump, tripped.into(), || {
            let usable = |at| self.pass.is_usable(self.which, at);
            details::jump(self.of, &usable, [before, reading], lasting, limits)
        });
    }

    /// Takes a usable reading into account for the jumps that last.
    #[inline]
    fn follow(&mut self, reading: usize, sticks_out: bool) {
        let (Some(jumps), Some(before)) = (&mut self.jumps, self.before_step) else { return };
        let (of, pass, which) = (self.of, self.pass, self.which);
        if sticks_out {
            return jumps.expire(of, reading);
        }
        let change = of.value(reading) - of.value(before);
        jumps.follow(of, reading, change);
        let (before_ms, now_ms) = (of.ts_ms(before), of.ts_ms(reading));
        if is_large(change, now_ms.saturating_sub(before_ms), jumps.limits) != Some(true) {
            return;
        }
        let usable = |at| pass.is_usable(which, at);
        let found = jump(of, &usable, [before, reading], jumps.limits);
        let latest = |series, ts_ms| pass.latest(series, ts_ms);
        let explained = |by: &Witness| by.explains(latest, before_ms, now_ms);
        // A series that was stuck until then has come back.
        let was_stuck = || {
            let limits =
                self.plan.persistence.filter(|of_stuck| !is_exempt(of.value(before), of_stuck));
            limits.is_some_and(|limits| {
                let mut streak = Streak::new(limits);
                let found = streak.push(of, &usable, before);
                streak.judge(of, &usable, before, &found).is_some()
            })
        };
        let is_none = |_: &Jump| self.plan.witnesses.iter().any(explained) || was_stuck();
        if let Some(jump) = found.filter(|jump| !is_none(jump)) {
            jumps.push(jump);
        }
    }

    fn persistence<S: Sink>(&mut self, reading: usize, sink: &mut S) {
        let (Some(streak), Some(limits)) = (&mut self.streak, self.plan.persistence) else {
            return;
        };
        let usable = |at| self.pass.is_usable(self.which, at);
        let found = streak.push(self.of, &usable, reading);
        let outcome = if is_exempt(self.of.value(reading), limits) {
            CheckOutcome::NotRun(NotRun::Exempt)
        } else if found.alone {
            CheckOutcome::NotRun(NotRun::NoPrevious)
        } else {
            streak.judge(self.of, &usable, reading, &found).into()
        };
        sink.note(Check::Persistence, outcome, || {
            details::persistence(self.of, &usable, reading, &found, limits)
        });
    }
}
