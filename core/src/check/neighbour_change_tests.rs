//! Changes as they were in the reports of 2024-08-03 and with faults put into them.

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

/// What lasts at each of hourly readings whose neighbours read other values, without an error.
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

/// After a spike at a station that is always colder than those around, the return is none.
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

/// Without neighbours at the time, nothing is said; and readings hours apart are not compared.
#[test]
fn a_change_that_cannot_be_compared_is_no_change() {
    let none = |_, _| Ok::<_, ()>(None);
    assert_eq!(lasting(&rule(), &course(&[20.0, 28.0]), 8.0, none), Ok(None));
    let apart = [(0, 20.0), (120 * MINUTE_MS, 28.0)];
    let always = |_, _| Ok::<_, ()>(Some(Difference { difference: 8.0, is_unshared: true }));
    assert_eq!(lasting(&rule(), &apart, 8.0, always), Ok(None));
    let near = [(0, 20.0), (60 * MINUTE_MS, 28.0)];
    assert!(lasting(&rule(), &near, 8.0, always).unwrap().is_some());
    // Colder than those around though it rose.
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
