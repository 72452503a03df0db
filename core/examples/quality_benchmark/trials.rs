//! Trials: faults are put into worlds, to see how much of them is found.

use std::collections::HashSet;

use mesonet::time::{DAY_MS, HOUR_MS};
use mesonet::{Report, Station, StationId};

use crate::column::{Detector, Feed, FlaggedValue, Flags};
use crate::faults::{FaultKind, InjectedFault, Random, Target, Wrong, put, value_of};
use crate::worlds::World;

/// Faults in each lone station's series.
const LONE_TRIALS: usize = 10;
/// Faults of a network are at least this far apart, so that none is another's neighbour.
const APART_KM: f64 = 300.0;
/// Faults of a network are put at stations with this many others within this many kilometres.
const NEIGHBOURS: usize = 4;
const NEAR_KM: f64 = 250.0;
/// How many times faults are put into a network with few stations.
const ROUNDS: usize = 3;
const FEW: usize = 1_000;
/// A fault flagged this soon after its first wrong value counts as found within an hour: reports
/// come late.
pub const IN_AN_HOUR_MS: i64 = HOUR_MS + HOUR_MS / 12;
/// The history before a fault, and the time after it.
const BEFORE_DAYS: i64 = 30;
const AFTER_DAYS: i64 = 2;

/// How much of a fault a column found.
#[derive(Clone, Debug, Default)]
pub struct Score {
    pub events: usize,
    /// Events with a value that was flagged in the end, and events with a value that was flagged
    /// within an hour.
    pub found: usize,
    pub in_an_hour: usize,
    pub wrong: usize,
    pub flagged: usize,
    /// Hours from the beginning of the fault to its first flag.
    pub delays_h: Vec<f64>,
    /// Right values flagged at the same stations that are not flagged without the fault.
    pub beside: usize,
    /// Verdicts on the wrong values.
    pub said: Vec<String>,
}

impl Score {
    pub fn add(&mut self, other: Self) {
        self.events += other.events;
        self.found += other.found;
        self.in_an_hour += other.in_an_hour;
        self.wrong += other.wrong;
        self.flagged += other.flagged;
        self.delays_h.extend(other.delays_h);
        self.beside += other.beside;
        self.said.extend(other.said);
    }
}

/// A fault in the reports of a station.
pub struct Placed {
    pub station: StationId,
    pub start_ms: i64,
    pub wrong: Vec<Wrong>,
}

/// Puts a fault into a world in many places and asks each column what it finds. `clean` are the
/// flags of each column on the unchanged world.
pub fn run(
    world: &World,
    fault: &InjectedFault,
    columns: &[Box<dyn Detector>],
    clean: &[Flags],
    seed: u64,
) -> Vec<Score> {
    let mut random = Random::new(seed);
    let mut scores = vec![Score::default(); columns.len()];
    let mut ask = |reports: &[Report], live_ms: i64, placed: &[Placed]| {
        let watched: Vec<StationId> = placed.iter().map(|of| of.station).collect();
        let feed = Feed { stations: &world.stations, reports, live_ms, watched: &watched };
        for ((score, column), clean) in scores.iter_mut().zip(columns).zip(clean) {
            score.add(judge(fault, placed, &column.flags(feed), clean));
        }
    };
    if world.is_network() {
        let live_ms = world.reports[0].ts_ms + world.history_ms();
        for _ in 0..rounds(world) {
            let (reports, placed) = spread(world, fault, &mut random);
            if !placed.is_empty() {
                ask(&reports, live_ms, &placed);
            }
        }
        return scores;
    }
    let ts_ms = |at: usize| world.reports[at].ts_ms;
    let (first_ms, last_ms) = (ts_ms(0), ts_ms(world.reports.len() - 1));
    let mut tries = 0;
    let mut done = 0;
    while done < LONE_TRIALS && tries < 10 * LONE_TRIALS {
        tries += 1;
        let room_ms =
            last_ms - first_ms - (BEFORE_DAYS + AFTER_DAYS) * DAY_MS - fault.hours * HOUR_MS;
        let start_ms = first_ms + BEFORE_DAYS * DAY_MS + (random.next() * room_ms as f64) as i64;
        let until = |ms: i64| world.reports.partition_point(|report| report.ts_ms < ms);
        let from = until(start_ms - BEFORE_DAYS * DAY_MS);
        let to = until(start_ms + fault.hours * HOUR_MS + AFTER_DAYS * DAY_MS);
        let at = until(start_ms) - from;
        let mut reports = world.reports[from..to].to_vec();
        let is_gap = at == 0
            || at >= reports.len()
            || reports[at].ts_ms - reports[at - 1].ts_ms > 4 * HOUR_MS;
        if is_gap {
            continue;
        }
        let wrong = put(fault, &mut reports, at, &mut random);
        if wrong.is_empty() {
            continue;
        }
        let start_ms = reports[at].ts_ms;
        let placed = Placed { station: world.stations[0].id, start_ms, wrong };
        ask(&reports, start_ms, &[placed]);
        done += 1;
    }
    scores
}

/// How many times faults are put into a network.
pub fn rounds(world: &World) -> usize {
    if world.stations.len() < FEW { ROUNDS } else { 1 }
}

/// How long after its beginning a fault is found, if it is found.
pub fn found_after_ms(of: &Placed, flags: &Flags) -> Option<i64> {
    let flag = |wrong: &Wrong| {
        let &Wrong { variable, ts_ms } = wrong;
        flags.get(&FlaggedValue { station: of.station, variable, ts_ms })
    };
    let raised_ms = of.wrong.iter().filter_map(flag).map(|flag| flag.raised_ms).min();
    raised_ms.map(|raised_ms| (raised_ms - of.start_ms).max(0))
}

/// Puts a fault into stations of a network that are far from each other.
pub fn spread(
    world: &World,
    fault: &InjectedFault,
    random: &mut Random,
) -> (Vec<Report>, Vec<Placed>) {
    let mut reports = world.reports.clone();
    let mut placed: Vec<Placed> = Vec::new();
    // Hours of reports show no drift, and cannot be late by six.
    if matches!(fault.kind, FaultKind::Drift(_) | FaultKind::Stuck | FaultKind::Late(_)) {
        return (reports, placed);
    }
    for _ in 0..world.stations.len() {
        let station = &world.stations[random.below(world.stations.len())];
        let far = |of: &Placed| {
            world.station(of.station).coordinates.distance_km(station.coordinates) > APART_KM
        };
        if !placed.iter().all(far) {
            continue;
        }
        let near = |of: &&Station| {
            of.id != station.id && of.coordinates.distance_km(station.coordinates) <= NEAR_KM
        };
        if world.stations.iter().filter(near).nth(NEIGHBOURS - 1).is_none() {
            continue;
        }
        let live_ms = world.reports[0].ts_ms + world.history_ms();
        let places: Vec<usize> =
            (0..reports.len()).filter(|&at| reports[at].station == station.id).collect();
        let variable = fault.target.variables()[0];
        let mut own: Vec<Report> = places.iter().map(|&at| reports[at].clone()).collect();
        let starts: Vec<usize> = (1..own.len())
            .filter(|&at| own[at].ts_ms - own[at - 1].ts_ms <= 3 * HOUR_MS / 2)
            .filter(|&at| own[at].ts_ms >= live_ms)
            .filter(|&at| value_of(&own[at], variable).is_some())
            .filter(|&at| value_of(&own[at - 1], variable).is_some())
            .collect();
        if starts.is_empty() {
            continue;
        }
        let at = starts[random.below(starts.len())];
        let wrong = put(fault, &mut own, at, random);
        if wrong.is_empty() {
            continue;
        }
        placed.push(Placed { station: station.id, start_ms: own[at].ts_ms, wrong });
        for (report, place) in own.into_iter().zip(places) {
            reports[place] = report;
        }
    }
    (reports, placed)
}

fn judge(fault: &InjectedFault, placed: &[Placed], flags: &Flags, clean: &Flags) -> Score {
    let mut score = Score::default();
    for of in placed {
        let Placed { station, wrong, .. } = of;
        let mut is_found = false;
        for &Wrong { variable, ts_ms } in wrong {
            let value = FlaggedValue { station: *station, variable, ts_ms };
            let Some(flag) = flags.get(&value) else { continue };
            if let Some(quality) = flag.kept {
                score.flagged += 1;
                is_found = true;
                score.said.push(format!("{}, {}", quality.base, quality.reason));
            }
        }
        score.events += 1;
        score.wrong += wrong.len();
        score.found += usize::from(is_found);
        if let Some(delay_ms) = found_after_ms(of, flags) {
            score.in_an_hour += usize::from(delay_ms <= IN_AN_HOUR_MS);
            score.delays_h.push(delay_ms as f64 / HOUR_MS as f64);
        }
    }
    let wrong: HashSet<FlaggedValue> = placed
        .iter()
        .flat_map(|of| {
            of.wrong.iter().map(|&Wrong { variable, ts_ms }| FlaggedValue {
                station: of.station,
                variable,
                ts_ms,
            })
        })
        .collect();
    let touched = fault.target.variables();
    for value in kept(flags) {
        // A value that the fault changed by little is neither right nor wrong.
        let little = touched.contains(&value.variable)
            && fault.hours > 0
            && placed.iter().any(|of| {
                (of.start_ms..=of.start_ms + fault.hours * HOUR_MS).contains(&value.ts_ms)
            });
        let known = clean.get(value).is_some_and(|flag| flag.kept.is_some());
        let main = Target::Report.variables().contains(&value.variable);
        if main && !wrong.contains(value) && !little && !known {
            score.beside += 1;
        }
    }
    score
}

/// The values whose flags were kept.
pub fn kept(flags: &Flags) -> impl Iterator<Item = &FlaggedValue> {
    flags.iter().filter(|(_, flag)| flag.kept.is_some()).map(|(value, _)| value)
}
