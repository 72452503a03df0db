//! Changes from the reports of 2024-08-03, unchanged and with faults put into them.

use super::*;

const MINUTE_MS: i64 = crate::time::MINUTE_MS;

fn rule() -> ChangeRule {
    rule_of(Variable::AirTemperature)
}

fn rule_of(variable: Variable) -> ChangeRule {
    super::rule(&Config::default(), variable).unwrap()
}

/// Hourly readings.
fn course(values: &[f64]) -> Vec<(i64, f64)> {
    values.iter().enumerate().map(|(hour, &value)| (hour as i64 * 60 * MINUTE_MS, value)).collect()
}

/// The lasting change at each of some hourly readings whose neighbours read other values, without
/// an error.
fn found(rule: &ChangeRule, own: &[f64], others: &[f64]) -> Vec<bool> {
    let all = course(own);
    let hour = |ms: i64| (ms / (60 * MINUTE_MS)) as usize;
    (1..=all.len())
        .map(|len| {
            let compare = |from_ms, to_ms| {
                let (from, to) = (hour(from_ms), hour(to_ms));
                let difference = own[to] - own[from] - (others[to] - others[from]);
                let is_unshared = difference.abs() > 3.5;
                Ok::<_, ()>(Some(Difference { difference, is_unshared }))
            };
            let level = (own[len - 1] - others[len - 1]) / 1.0;
            lasting(rule, &all[..len], level, compare).unwrap().is_some()
        })
        .collect()
}

#[test]
fn a_step_is_doubtful_from_its_first_reading_until_it_is_back() {
    let others = [20.0, 20.5, 21.0, 21.5, 22.0, 22.5, 23.0];
    let own = [20.0, 20.5, 26.0, 26.5, 27.0, 22.5, 23.0];
    let doubtful = [false, false, true, true, true, false, false];
    assert_eq!(found(&rule(), &own, &others), doubtful);
    // A cold front that passes all of them in the same hour is shared.
    let front = [20.0, 20.5, 12.0, 11.0, 10.5, 10.0, 9.5];
    assert_eq!(found(&rule(), &front, &front), [false; 7]);
}

#[test]
fn a_change_is_over_when_the_value_is_like_those_around() {
    // They warm up to it.
    let others = [20.0, 20.0, 20.0, 21.5, 24.5, 25.0];
    let own = [20.0, 20.0, 25.0, 25.0, 25.0, 25.0];
    assert_eq!(found(&rule(), &own, &others), [false, false, true, true, false, false]);
}

/// After a spike at a station that is always colder than its neighbours, the return is not a
/// change.
#[test]
fn the_return_from_a_spike_is_right() {
    let own = [17.0, 17.2, 25.2, 17.3, 17.2];
    assert_eq!(found(&rule(), &own, &[20.0; 5]), [false, false, true, false, false]);
}

#[test]
fn a_change_is_remembered_for_some_hours() {
    let mut own = vec![20.0; 12];
    own[2..].fill(26.0);
    let doubtful = found(&rule(), &own, &[20.0; 12]);
    assert_eq!(doubtful.iter().position(|&of| of), Some(2));
    assert_eq!(doubtful.iter().rposition(|&of| of), Some(8));
}

/// Without neighbours at the time there is no verdict, and readings hours apart are not compared.
#[test]
fn a_change_that_cannot_be_compared_is_no_change() {
    let none = |_, _| Ok::<_, ()>(None);
    assert_eq!(lasting(&rule(), &course(&[20.0, 28.0]), 8.0, none), Ok(None));
    let apart = [(0, 20.0), (120 * MINUTE_MS, 28.0)];
    let always = |_, _| Ok::<_, ()>(Some(Difference { difference: 8.0, is_unshared: true }));
    assert_eq!(lasting(&rule(), &apart, 8.0, always), Ok(None));
    let near = [(0, 20.0), (60 * MINUTE_MS, 28.0)];
    assert!(lasting(&rule(), &near, 8.0, always).unwrap().is_some());
    // Colder than its neighbours although it rose.
    assert_eq!(lasting(&rule(), &near, -8.0, always), Ok(None));
    assert_eq!(lasting(&rule(), &near, 0.5, always), Ok(None));
}

#[test]
fn limits_that_make_no_sense_are_refused() {
    let refused = |limit: f64, within: f64, hold: f64| {
        let text = format!(
            "[neighbourChange.mslp]\nsource = \"own\"\nlimit = {limit}\nthreshold = 4\n\
             deviation = 1\nvariance_per_km = 0\nchange_per_hour = 1\nlevel = 1\n\
             within_hours = {within}\nhold_hours = {hold}\nagree = 2\n"
        );
        Config::from_toml(&text).err().map(|error| error.reason)
    };
    assert_eq!(refused(2.0, 1.0, 6.0), None);
    let text = refused(0.0, 1.0, 6.0).unwrap();
    assert!(text.ends_with("limit, threshold and deviation must be more than 0"), "{text}");
    for (within, hold) in [(2.0, 1.0), (2.0, 49.0)] {
        let text = refused(2.0, within, hold).unwrap();
        let why = "hold_hours must be at least within_hours and at most 48";
        assert!(text.ends_with(why), "{text}");
    }
}

/// Changes of an hour in the METAR tables of the test data: id, longitude, latitude, altitude in
/// metres, change. Scottsbluff on 2022-10-23 from 08:53 to 09:53 UTC, a night that cools; Angoon on
/// the same day from 09:56 to 10:56, a low that comes nearer.
const REAL: [(Variable, &str); 2] = [
    (
        Variable::AirTemperature,
        "
        KBFF -103.601 41.875 1204 -2.7
        K1CW -103.573 41.581 1370 -2.7
        K1BW -104.000 41.520 1606 -2.3
        K1FW -103.489 41.364 1451 -2.2
        K1DW -103.794 41.361 1539 -0.8
        KAIA -102.802 42.057 1198 -2.3
        K1AW -104.265 41.329 1670 -1.4
        K1KW -103.488 41.137 1443 -2.6
        K1HW -102.830 41.320 1265 -4.1
        K1EW -103.983 41.103 1609 -2.5
    ",
    ),
    (
        Variable::Mslp,
        "
        PAGN -134.589 57.502 2 -1.7
        PASI -135.364 57.047 2 -1.9
        PAFE -133.910 56.961 1 -1.6
        PAJN -134.556 58.354 6 -1.4
        PAGS -135.707 58.425 9 -1.5
        PAPG -132.935 56.805 24 -1.5
        PAGY -135.322 59.457 7 0.0
        PAKW -133.075 55.582 7 -1.2
    ",
    ),
];

#[test]
fn real_changes_are_shared_and_the_same_with_a_fault_of_five_are_not() {
    use super::super::around::Spot;
    use crate::geo::LonLat;
    use crate::observation::BaseQuality;
    for (variable, rows) in REAL {
        let row = |row: &str| {
            let cells: Vec<&str> = row.split_whitespace().collect();
            let number = |column: usize| cells[column].parse::<f64>().unwrap();
            let place = LonLat::new(number(1), number(2)).unwrap();
            let spot = Spot::new(place, Some(number(3)));
            let base = BaseQuality::Good;
            (place, NeighbourValue { value: number(4), spot, base, unsure_hours: 0.0 })
        };
        let all: Vec<_> = rows.lines().filter(|row| !row.trim().is_empty()).map(row).collect();
        let found = |fault: f64, stations: usize| {
            let of = NeighbourValue { value: all[0].1.value + fault, ..all[0].1 };
            let near = (1..stations).map(|i| (i, all[0].0.distance_km(all[i].0)));
            compare(&Config::default(), variable, of, near, |i| Some(all[i].1))
        };
        let right = found(0.0, all.len()).unwrap();
        assert!(!right.is_unshared && right.difference.abs() < 1.0, "{variable}: {right:?}");
        for fault in [5.0, -5.0] {
            let wrong = found(fault, all.len()).unwrap();
            assert!(wrong.is_unshared, "{variable} {fault}: {wrong:?}");
            assert!((wrong.difference - right.difference - fault).abs() < 0.01);
        }
        // With fewer neighbours than the limits require there is no verdict.
        let at_least = Config::default().neighbours[&variable].compare.at_least;
        assert_eq!(found(5.0, at_least), None);
        assert!(found(5.0, at_least + 1).is_some());
    }
}
