use super::super::{Config, SeriesReadings};
use super::*;
use crate::observation::{IntervalType, SeriesKey, Variable};
use crate::time::{HOUR_MS, MINUTE_MS};

/// The verdicts on a series with the default limits.
fn verdicts(variable: Variable, ts_ms: &[i64], value: &[f64]) -> Vec<bool> {
    let config = Config::default();
    let limits = &config.persistence[&variable];
    let key = SeriesKey::new(variable, IntervalType::Instantaneous, 0);
    let of = SeriesReadings { key: &key, ts_ms, value, source: &[] };
    let all = |_| true;
    let stuck_from = |first: usize| -> Vec<bool> {
        let mut streak = Streak::new(limits);
        let judge = |reading| {
            let found = streak.push(&of, &all, reading);
            let stuck = streak.judge(&of, &all, reading, &found).is_some();
            !is_exempt(value[reading], limits) && stuck
        };
        (first..value.len()).map(judge).collect()
    };
    let stuck = stuck_from(0);
    // A walk that begins at a later reading finds the same.
    for first in [1, 2, 25, value.len() / 2, value.len() - 1] {
        if first < value.len() {
            assert_eq!(stuck_from(first), stuck[first..], "from {first}");
        }
    }
    stuck
}

/// Hourly readings: some that differ by a resolution, then a constant one.
fn stuck(variable: Variable, resolution: f64, value: f64, hours: usize) -> usize {
    let ts_ms: Vec<i64> = (0..hours as i64 + 2).map(|hour| hour * HOUR_MS).collect();
    let mut values = vec![value; hours];
    values.splice(0..0, [value + resolution, value - resolution]);
    let verdicts = verdicts(variable, &ts_ms, &values);
    verdicts.iter().filter(|&&stuck| stuck).count()
}

#[test]
fn repeats_are_counted_by_the_resolution_of_the_window() {
    // A span of ten hours has eleven hourly readings.
    for (variable, value, resolution, hours) in [
        (Variable::AirTemperature, 7.0, 1.0, 18),
        (Variable::AirTemperature, 7.0, 0.5, 10),
        (Variable::AirTemperature, 7.0, 0.1, 10),
        (Variable::DewPointTemperature, 7.0, 1.0, 24),
        (Variable::DewPointTemperature, 7.0, 0.1, 11),
        (Variable::Mslp, 1013.0, 1.0, 24),
        (Variable::Mslp, 1013.0, 0.5, 18),
        (Variable::Mslp, 1013.0, 0.1, 8),
        (Variable::WindSpeed, 36.0, 3.6, 12),
        (Variable::WindSpeed, 18.52, 1.852, 10),
        (Variable::WindSpeed, 36.0, 0.36, 10),
    ] {
        assert_eq!(stuck(variable, resolution, value, hours), 0, "{variable} {resolution}");
        assert_eq!(stuck(variable, resolution, value, hours + 1), 1, "{variable} {resolution}");
        assert_eq!(stuck(variable, resolution, value, hours + 3), 3, "{variable} {resolution}");
    }
}

#[test]
fn many_repeats_in_a_short_time_are_not_a_fault() {
    let ts_ms: Vec<i64> = (0..600).map(|minute| minute * MINUTE_MS).collect();
    assert!(!verdicts(Variable::AirTemperature, &ts_ms, &[7.1; 600]).contains(&true));
}

#[test]
fn a_long_time_with_few_repeats_is_not_a_fault() {
    let ts_ms: Vec<i64> = (0..10).map(|i| i * 20 * HOUR_MS).collect();
    assert!(!verdicts(Variable::AirTemperature, &ts_ms, &[7.1; 10]).contains(&true));
}

/// Five readings in twelve hours reach the limit, four are too few.
#[test]
fn a_streak_of_just_as_many_repeats_as_the_limit_is_stuck() {
    for (repeats, found) in [(4, 0), (5, 1), (6, 2)] {
        // One reading of another value before them makes the resolution tenths.
        let ts_ms: Vec<i64> = (0..=repeats).map(|i| i * 3 * HOUR_MS).collect();
        let mut values = vec![7.1; repeats as usize];
        values.insert(0, 7.2);
        let stuck = verdicts(Variable::AirTemperature, &ts_ms, &values);
        assert_eq!(stuck.iter().filter(|&&stuck| stuck).count(), found, "{repeats}");
    }
}

#[test]
fn values_that_may_stay_constant_are_exempt() {
    assert_eq!(stuck(Variable::WindSpeed, 1.852, 0.0, 60), 0);
    // Cups that do not start below 3 kt, and melting snow.
    assert_eq!(stuck(Variable::WindSpeed, 1.852, 3.0 * 1.852, 60), 0);
    assert!(stuck(Variable::WindSpeed, 1.852, 4.0 * 1.852, 60) > 0);
    assert_eq!(stuck(Variable::AirTemperature, 0.1, 0.6, 60), 0);
    assert_eq!(stuck(Variable::RelativeHumidity, 1.0, 100.0, 60), 0);
    assert!(stuck(Variable::RelativeHumidity, 1.0, 97.0, 60) > 0);
    let text = "[persistence.snowDepth]\nwindow_hours = 72\nexempt_to = 0\nsource = \"own\"\n\
                resolution = [{ step = 1, repeats = 40, hours = 40 }]\n\
                [persistence.precipitation]\nwindow_hours = 72\nexempt_to = 0\nsource = \"own\"\n\
                resolution = [{ step = 0.1, repeats = 24, hours = 24 }]\n";
    let config = Config::from_toml(text).unwrap();
    for variable in [Variable::SnowDepth, Variable::Precipitation] {
        assert!(is_exempt(0.0, &config.persistence[&variable]));
        assert!(!is_exempt(0.1, &config.persistence[&variable]));
    }
}

#[test]
fn the_window_bounds_how_far_back_a_streak_goes() {
    let text = "[persistence.mslp]\nwindow_hours = 30\nsource = \"own\"\n\
                resolution = [{ step = 0.1, repeats = 20, hours = 20 }]\n";
    let config = Config::from_toml(text).unwrap();
    let ts_ms: Vec<i64> = (0..200).map(|hour| hour * HOUR_MS).collect();
    let value = [1013.2; 200];
    let key = SeriesKey::new(Variable::Mslp, IntervalType::Instantaneous, 0);
    let of = SeriesReadings { key: &key, ts_ms: &ts_ms, value: &value, source: &[] };
    for first in [0, 150, 199] {
        let mut streak = Streak::new(&config.persistence[&Variable::Mslp]);
        let last = (first..200).map(|reading| streak.push(&of, &|_| true, reading)).last().unwrap();
        assert_eq!((last.repeats, last.since_ms), (31, 169 * HOUR_MS), "from {first}");
    }
}

#[test]
fn a_step_divides_converted_values() {
    assert!(divides(1.852, 14.0 * 1.852) && divides(0.1, 0.3) && divides(0.1, 1013.7));
    assert!(divides(0.5, -3.5) && divides(1.0, 0.0));
    assert!(!divides(1.0, 0.5) && !divides(0.5, 0.1) && !divides(1.852, 20.0));
}
