//! Changes of a station and of the stations around it, through the intake.

use super::super::tests::{DISAGREE, air, held, intake, key, report, stations, verdict};
use crate::check::Check;
use crate::observation::Variable::{AirTemperature, Mslp, WindDirection, WindSpeed};
use crate::observation::{Batch, Quality, Report, Variable};
use crate::store::MemoryStore;
use crate::{Intake, Reader};

/// Hourly values of the seven stations, all of which warm evenly: a little at first and a front's
/// worth later, each with an offset of its own.
fn hour(hour: i64) -> f64 {
    [18.0, 18.6, 19.3, 19.9, 20.4, 20.8, 21.1, 21.3][hour as usize]
}

fn offset(place: usize) -> f64 {
    [0.3, -0.4, 0.1, 0.9, -0.2, 0.5, -0.6][place]
}

/// The reports of all stations in some hours, with a change of those of one.
fn hours(variable: Variable, hours: i64, of: usize, by: impl Fn(i64) -> f64) -> Vec<Report> {
    let value = |place: usize, at: i64| {
        let off = if place == of { by(at) } else { 0.0 };
        ((hour(at) + offset(place) + off) * 10.0).round() / 10.0
    };
    let pressure = if variable == Mslp { 990.0 } else { 0.0 };
    let all = (0..hours).flat_map(|at| (0..7).map(move |place| (place, at)));
    all.map(|(place, at)| report(place, 60 * at, 0, &[(variable, pressure + value(place, at))]))
        .collect()
}

fn take_in(intake: &Intake, store: &MemoryStore, reports: Vec<Report>) {
    intake.take_in(store, Batch { stations: stations(), reports }).unwrap();
}

/// The hours of a station that are not Good.
fn flagged(store: &MemoryStore, variable: Variable, place: usize, hours: i64) -> Vec<i64> {
    let of = |&at: &i64| verdict(store, place, &key(variable), 60 * at) != Quality::GOOD;
    (0..hours).filter(of).collect()
}

/// The aim of the benchmark: five degrees for some hours, found in the first.
#[test]
fn a_step_of_five_degrees_is_doubtful_from_its_first_report() {
    let step = |at| if (2..5).contains(&at) { 5.0 } else { 0.0 };
    for size in [100, 7, 3, 1] {
        let (intake, store) = intake();
        for reports in hours(AirTemperature, 8, 3, step).chunks(size) {
            take_in(&intake, &store, reports.to_vec());
        }
        assert_eq!(flagged(&store, AirTemperature, 3, 8), [2, 3, 4], "{size}");
        assert_eq!(verdict(&store, 3, &key(AirTemperature), 120), DISAGREE);
        for place in [0, 1, 2, 4, 5, 6] {
            assert_eq!(flagged(&store, AirTemperature, place, 8), [0_i64; 0], "{size}: {place}");
        }
    }
}

/// A barometer that goes 5 hPa off.
#[test]
fn a_pressure_that_goes_off_by_five_is_doubtful() {
    let (intake, store) = intake();
    take_in(&intake, &store, hours(Mslp, 8, 2, |at| if at >= 3 { -5.0 } else { 0.0 }));
    assert_eq!(flagged(&store, Mslp, 2, 8), [3, 4, 5, 6, 7]);
    assert_eq!(flagged(&store, Mslp, 3, 8), [0_i64; 0]);
}

/// A front that reaches all stations in the same hour is not a fault of any.
#[test]
fn a_change_that_all_share_is_right() {
    let (intake, store) = intake();
    let mut reports = hours(AirTemperature, 5, 0, |_| 0.0);
    for report in reports.iter_mut().filter(|of| of.ts_ms >= air(0, 180, 0.0).ts_ms) {
        report.readings[0].value -= 8.0;
    }
    take_in(&intake, &store, reports);
    for place in 0..7 {
        assert_eq!(flagged(&store, AirTemperature, place, 5), [0_i64; 0], "{place}");
    }
}

/// As at Allentown (KABE) on 2024-08-03, which fell from 32.2 to 23.9 °C in 24 minutes: the wind
/// rose in the outflow of a thunderstorm. A rise is not explained in this way.
#[test]
fn a_fall_in_the_outflow_of_a_thunderstorm_is_right() {
    for (by, wind, expected) in
        [(-4.0, 30.0, vec![]), (-4.0, 12.0, vec![3, 4]), (4.0, 30.0, vec![3, 4])]
    {
        let winds = (0..5).map(|at| {
            let (speed, from) = if at >= 3 { (wind, 200.0) } else { (11.0, 190.0) };
            report(4, 60 * at, 0, &[(WindSpeed, speed), (WindDirection, from)])
        });
        let mut reports = hours(AirTemperature, 5, 4, |at| if at >= 3 { by } else { 0.0 });
        for wind in winds {
            let of = |of: &&mut Report| (of.station, of.ts_ms) == (wind.station, wind.ts_ms);
            reports.iter_mut().find(of).unwrap().readings.extend(wind.readings);
        }
        let (intake, store) = intake();
        take_in(&intake, &store, reports);
        assert_eq!(flagged(&store, AirTemperature, 4, 5), expected, "{by} {wind}");
    }
}

/// The report lists the neighbours' changes and says what the limits are.
#[test]
fn the_explanation_lists_the_changes_of_the_neighbours() {
    let (intake, store) = intake();
    take_in(&intake, &store, hours(AirTemperature, 5, 4, |at| if at == 3 { 4.0 } else { 0.0 }));
    let series = key(AirTemperature).id();
    let explain = |place: usize, at: i64| {
        let station = stations()[place].id;
        let found = intake.explain(&store, station, series, air(0, 60 * at, 0.0).ts_ms);
        found.unwrap().unwrap().explanation
    };
    let wrong = explain(4, 3);
    assert_eq!((wrong.verdict, wrong.decided_by), (DISAGREE, Some(Check::NeighbourChange)));
    let of = wrong.checks.last().unwrap();
    let input = |name: &str| of.inputs.iter().find(|input| input.name == name).unwrap().value;
    assert!((input("change") - 4.6).abs() < 1e-9, "{}", input("change"));
    assert!((input("changeOfNeighbours") - 0.6).abs() < 0.1, "{}", input("changeOfNeighbours"));
    assert!(input("standardizedDifference") > 4.0);
    assert_eq!(of.limits[0].max, Some(3.5));
    assert_eq!(of.neighbours.len(), 6);
    assert!(of.neighbours.iter().all(|of| (of.value - 0.6).abs() < 0.1 && of.station_id.is_some()));
    let right = explain(2, 3);
    assert_eq!(right.verdict, Quality::GOOD);
    let of = right.checks.last().unwrap();
    assert_eq!((of.check, of.ran, of.outcome), (Check::NeighbourChange, true, Some(Quality::GOOD)));
    let first = explain(4, 0);
    let of = first.checks.last().unwrap();
    assert!(!of.ran && of.not_run_because.unwrap().starts_with("no usable reading before it"));
    assert_eq!(held(&store).len(), 35);
    assert_eq!(store.directory().unwrap().stations.len(), 7);
}

/// A front without a shift of the wind: each series by itself shows a jump, and all agree.
#[test]
fn a_jump_with_which_the_neighbours_agree_is_right() {
    let course = |place: usize, at: i64| {
        let day = libm::sin(at as f64 * std::f64::consts::TAU / 24.0);
        let fall = if at >= 100 { 6.5 } else { 0.0 };
        let value = 15.0 + 4.0 * day + ((at * 37) % 11) as f64 / 20.0 + offset(place) - fall;
        report(place, 60 * (at - 100), 0, &[(AirTemperature, (value * 10.0).round() / 10.0)])
    };
    let reports = |places: std::ops::Range<usize>| -> Vec<Report> {
        let all = (0..106).flat_map(|at| places.clone().map(move |place| (place, at)));
        all.map(|(place, at)| course(place, at)).collect()
    };
    let (intake, store) = intake();
    take_in(&intake, &store, reports(0..1));
    assert_eq!(flagged(&store, AirTemperature, 0, 6), [0, 1, 2, 3, 4, 5]);
    // The others come in later, in pieces.
    for reports in reports(1..7).chunks(50) {
        take_in(&intake, &store, reports.to_vec());
    }
    for place in 0..7 {
        assert_eq!(flagged(&store, AirTemperature, place, 6), [0_i64; 0], "{place}");
    }
    let series = key(AirTemperature).id();
    let found = intake.explain(&store, stations()[0].id, series, air(0, 0, 0.0).ts_ms);
    let explanation = found.unwrap().unwrap().explanation;
    assert_eq!(explanation.verdict, Quality::GOOD);
    let jump = explanation.checks.iter().find(|of| of.check == Check::Jump).unwrap();
    assert_eq!(jump.not_run_because, Some("the stations around agree with the value"));

    // All at once, or those around it first: the same.
    for first in [0..7, 1..7] {
        let (intake, other) = (Intake::default(), MemoryStore::default());
        take_in(&intake, &other, reports(first));
        for reports in reports(0..1).chunks(7) {
            take_in(&intake, &other, reports.to_vec());
        }
        assert_eq!(held(&other), held(&store));
    }
}
