use super::*;
use crate::observation::{BaseQuality, ReasonQuality};
use crate::time::MINUTE_MS;

const RULE: NeighbourRule = NeighbourRule {
    radius_km: 250.0,
    nearest: 12,
    between_ms: 2 * HOUR_MS,
    beside_ms: 45 * MINUTE_MS,
    needs_altitude: false,
};

fn at(minute: i64, value: f64) -> ComparedReading {
    let unchecked = Quality::UNCHECKED;
    ComparedReading {
        ts_ms: minute * MINUTE_MS,
        value,
        source: unchecked,
        stored: unchecked,
        own: None,
        is_due: false,
        compared: Cell::default(),
    }
}

fn at_ms(readings: &[ComparedReading], ts_ms: i64, rule: &NeighbourRule) -> Option<Uncertain> {
    let parts = readings.split_at(first_from(readings, ts_ms, 0));
    value_at(parts, ts_ms, rule, |of| of.value)
}

fn value(readings: &[ComparedReading], minute: i64) -> Option<(f64, f64)> {
    at_ms(readings, minute * MINUTE_MS, &RULE)
}

#[test]
fn a_value_is_that_of_its_time_or_interpolated_or_near() {
    let readings = [at(0, 10.0), at(60, 16.0), at(240, 30.0)];
    assert_eq!(value(&readings, 60), Some((16.0, 0.0)));
    // A third of the hour from the nearer reading, of which half counts.
    assert_eq!(value(&readings, 20), Some((12.0, 20.0 / 60.0 / 2.0)));
    assert_eq!(value(&readings, 50), Some((15.0, 10.0 / 60.0 / 2.0)));
    // Three hours are too far apart.
    assert_eq!(value(&readings, 105), Some((16.0, 45.0 / 60.0)));
    assert_eq!(value(&readings, 106), None);
    assert_eq!(value(&readings, 195), Some((30.0, 45.0 / 60.0)));
    assert_eq!(value(&readings, -45), Some((10.0, 45.0 / 60.0)));
    assert_eq!(value(&readings, -46), None);
    assert_eq!(value(&[], 0), None);
}

/// Bad readings are skipped, as if they had not been reported.
#[test]
fn doubtful_readings_are_passed_over() {
    let doubtful = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Range };
    let bad = ComparedReading {
        own: Some(OwnVerdict { verdict: doubtful, cleared: doubtful, is_impossible: false }),
        ..at(30, 90.0)
    };
    let with = [at(0, 10.0), bad, at(60, 16.0)];
    assert_eq!(value(&with, 30), Some((13.0, 0.25)));
    assert_eq!(value(&with, 40), Some((14.0, 20.0 / 60.0 / 2.0)));
    assert_eq!(value(&[at(0, 10.0), at(30, f64::NAN)], 30), Some((10.0, 0.5)));
    // A reading that only its neighbours doubt counts: otherwise one verdict would depend on
    // another.
    let disagrees = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Disagree };
    let kept = ComparedReading { stored: disagrees, ..at(30, 90.0) };
    assert_eq!(value(&[at(0, 10.0), kept], 30), Some((90.0, 0.0)));
}

#[test]
fn the_earlier_of_two_equally_near_readings_counts() {
    let rule = NeighbourRule { between_ms: 0, ..RULE };
    let readings = [at(0, 10.0), at(60, 16.0)];
    assert_eq!(at_ms(&readings, 30 * MINUTE_MS, &rule), Some((10.0, 0.5)));
}

#[test]
fn readings_without_gaps_give_a_value_throughout() {
    let until = |readings: &[ComparedReading], from, to| {
        until_ms(readings, (from * MINUTE_MS, to * MINUTE_MS), RULE.beside_ms) / MINUTE_MS
    };
    let readings = [at(0, 10.0), at(60, 11.0), at(160, 12.0)];
    assert_eq!(until(&readings, 0, 100), 105);
    assert_eq!(until(&readings, -45, 300), 105);
    assert_eq!(until(&readings, 115, 300), 205);
    // None at the beginning.
    assert!(until_ms(&readings, (-46 * MINUTE_MS, 300), RULE.beside_ms) < -46 * MINUTE_MS);
    assert!(until_ms(&[], (0, 300), RULE.beside_ms) < 0);
    // Bad readings give none.
    let nothing = [at(0, 10.0), at(60, f64::NAN), at(160, 12.0)];
    assert_eq!(until(&nothing, 0, 300), 45);
}

#[test]
fn a_pressure_from_the_altimeter_setting_takes_part_and_a_reduced_one_does_not() {
    let moment = |variable| SeriesKey::new(variable, IntervalType::Instantaneous, 0).calculated();
    let pressure = Variable::BarometricPressure;
    assert!(takes_part(&moment(pressure), pressure));
    assert!(!takes_part(&moment(Variable::Mslp), Variable::Mslp));
    assert!(!takes_part(&moment(Variable::DewPointTemperature), Variable::DewPointTemperature));
}

#[test]
fn a_cursor_anywhere_finds_the_first_reading_at_or_after_a_moment() {
    let readings: Vec<_> = [0, 10, 20, 20, 40].map(|minute| at(minute, 1.0)).into();
    for readings in [&readings[..], &[]] {
        for minute in -5..45 {
            let ts_ms = minute * MINUTE_MS;
            let expected = readings.partition_point(|of| of.ts_ms < ts_ms);
            for cursor in [0, 1, 2, 3, 4, 5, 6, usize::MAX] {
                assert_eq!(first_from(readings, ts_ms, cursor), expected, "{minute} from {cursor}");
            }
        }
    }
}
