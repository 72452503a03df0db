//! Why faults of a network are missed: the result of the comparison with neighbours for the first
//! wrong value, an hour after it.

use std::collections::BTreeMap;

use mesonet::check::{Check, CheckReport, Checker, NotRun};
use mesonet::store::StoreError;
use mesonet::time::{DAY_MS, HOUR_MS};
use mesonet::{
    Batch, Intake, Iso8601, MemoryStore, Quality, Report, SeriesKey, Station, StationId,
};

use crate::column::{Detector, Feed};
use crate::faults::{InjectedFault, Random, is_of_the_moment};
use crate::trials::{IN_AN_HOUR_MS, Placed, found_after_ms, rounds, spread};
use crate::worlds::World;

/// Neighbours are within 500 km, and so are the neighbours of neighbours.
const AROUND_KM: f64 = 1050.0;
/// A change is judged by readings up to a day before.
const BEFORE_MS: i64 = 6 * DAY_MS;

/// Prints the reason for each fault that is not found within an hour, and the count of each reason.
pub fn print(
    world: &World,
    fault: &InjectedFault,
    checker: &Checker,
    column: &dyn Detector,
    seed: u64,
) {
    let mut random = Random::new(seed);
    let live_ms = world.reports[0].ts_ms + world.history_ms();
    let (mut faults, mut whys): (usize, BTreeMap<&str, usize>) = (0, BTreeMap::new());
    for _ in 0..rounds(world) {
        let (reports, placed) = spread(world, fault, &mut random);
        let watched: Vec<StationId> = placed.iter().map(|of| of.station).collect();
        let feed =
            Feed { stations: &world.stations, reports: &reports, live_ms, watched: &watched };
        let flags = column.flags(feed);
        faults += placed.len();
        for of in &placed {
            if found_after_ms(of, &flags).is_some_and(|ms| ms <= IN_AN_HOUR_MS) {
                continue;
            }
            let cases =
                cases(world, checker, &reports, of).expect("a store in memory takes real reports");
            let station = world.station(of.station);
            let when = Iso8601(of.start_ms);
            // If there are several variables, the one that comes nearest to a flag.
            if let Some(best) = cases.iter().max_by_key(|case| case.why.1) {
                *whys.entry(best.why.0).or_default() += 1;
            }
            for case in cases {
                let altitude_m = station.altitude_m.unwrap_or(f64::NAN);
                println!(
                    "{}\t{}\t{}\t{when}\t{}\t{altitude_m:.0} m\t{}\t{}",
                    world.name,
                    fault.name(),
                    station.native_id,
                    case.variable,
                    case.why.0,
                    case.numbers
                );
            }
        }
    }
    let missed: usize = whys.values().sum();
    println!(
        "\n{}, {}, {}: {missed} of {faults} missed",
        world.name,
        fault.target.name(),
        fault.name()
    );
    for (why, count) in whys {
        println!("{count:5} {why}");
    }
    println!();
}

struct Case {
    variable: &'static str,
    /// The reason in words, and how near it is to a flag.
    why: (&'static str, usize),
    numbers: String,
}

/// The facts known an hour after the fault about the first wrong value of each variable.
fn cases(
    world: &World,
    checker: &Checker,
    reports: &[Report],
    of: &Placed,
) -> Result<Vec<Case>, StoreError> {
    let at = world.station(of.station).coordinates;
    let is_near = |of: &&Station| of.coordinates.distance_km(at) <= AROUND_KM;
    let stations: Vec<Station> = world.stations.iter().filter(is_near).cloned().collect();
    let times = of.start_ms - BEFORE_MS..=of.start_ms + HOUR_MS;
    let known = |report: &&Report| {
        times.contains(&report.ts_ms) && stations.iter().any(|of| of.id == report.station)
    };
    let reports: Vec<Report> = reports.iter().filter(known).cloned().collect();
    let (intake, store) = (Intake::new(checker.clone()), MemoryStore::default());
    let first = |report: &&Report| (report.station, report.ts_ms) == (of.station, of.start_ms);
    let series: Vec<SeriesKey> = reports
        .iter()
        .find(first)
        .into_iter()
        .flat_map(|report| report.readings.iter().map(|reading| reading.series.clone()))
        .filter(is_of_the_moment)
        .filter(|key| {
            of.wrong
                .iter()
                .any(|wrong| (wrong.variable, wrong.ts_ms) == (key.variable, of.start_ms))
        })
        .collect();
    intake.take_in(&store, Batch { stations, reports })?;
    let mut cases = Vec::new();
    for key in series {
        let found = intake.explain(&store, of.station, key.id(), of.start_ms)?;
        let Some(found) = found.map(|found| found.explanation) else { continue };
        let of = |check| found.checks.iter().find(|report| report.check == check);
        let jump = of(Check::Jump).and_then(|of| of.not_run_because).unwrap_or("ran");
        let (values, changes) = (of(Check::Neighbours), of(Check::NeighbourChange));
        let why = values.zip(changes).map_or(NOT_COMPARED, |(one, other)| why(one, other));
        let numbers = |report: &CheckReport| {
            let input = |name| number(report, name);
            format!(
                "change {:.1} of neighbours {:.1} ± {:.2} z {:.1} level {:.1} by {}",
                input("change"),
                input("changeOfNeighbours"),
                input("deviation"),
                input("standardizedDifference"),
                input("levelStandardizedDifference"),
                report.neighbours.iter().filter(|of| of.weight != 0.0).count(),
            )
        };
        let level = |report: &CheckReport| {
            format!(
                "value {:.1} by {} from {:.1} ± {:.2}",
                number(report, found.variable),
                number(report, "neighbours"),
                number(report, "fromNeighbours"),
                number(report, "deviation"),
            )
        };
        let numbers = format!(
            "{}; {}; jump {jump}",
            values.map(level).unwrap_or_default(),
            changes.map(numbers).unwrap_or_default()
        );
        cases.push(Case { variable: found.variable, why, numbers });
    }
    Ok(cases)
}

const NOT_COMPARED: (&str, usize) = ("it is not compared", 0);

fn number(report: &CheckReport, name: &str) -> f64 {
    report.inputs.iter().find(|of| of.name == name).map_or(f64::NAN, |of| of.value)
}

fn why(values: &CheckReport, changes: &CheckReport) -> (&'static str, usize) {
    let limit = |name| {
        changes.limits.iter().find(|of| of.name == name).and_then(|of| of.max).unwrap_or(f64::NAN)
    };
    let passed = |report: &CheckReport| report.outcome == Some(Quality::GOOD);
    if values.not_run_because == Some(NotRun::TooFewNeighbours.text()) {
        return ("too few neighbours with a value of that time", 2);
    } else if let Some(why) = values.not_run_because {
        return (why, 1);
    }
    if !passed(values) || changes.outcome.is_some() && !passed(changes) {
        return ("flagged after the hour, or the flag was taken back", 9);
    }
    let (change, level) =
        (number(changes, "change"), number(changes, "levelStandardizedDifference"));
    if changes.outcome.is_none() || change.is_nan() {
        return ("no reading at most 90 minutes before", 3);
    }
    let (of_neighbours, deviations) =
        (number(changes, "changeOfNeighbours"), number(changes, "standardizedDifference"));
    if deviations.is_nan() {
        return ("too few neighbours with a value before", 4);
    }
    let difference = change - of_neighbours;
    if difference.abs() <= limit("difference") {
        ("the change differs from the neighbours' by less than the limit", 5)
    } else if deviations.abs() <= limit("standardizedDifference") {
        ("the change differs by less than the threshold in deviations", 6)
    } else if level.abs() < limit("levelStandardizedDifference")
        || (level > 0.0) != (difference > 0.0)
    {
        ("the value is like the neighbours'", 7)
    } else {
        ("without two of the neighbours the change is like theirs, or it is explained", 8)
    }
}
