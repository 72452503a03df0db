//! Jumps like those of the benchmark of the checks, and the sensors that explain them.

use proptest::prelude::*;

use super::super::tests::{Column, quality, verdicts};
use super::super::{Checker, Reach};
use crate::observation::IntervalType::{Average, Cumulative, Instantaneous};
use crate::observation::{BaseQuality, IntervalType, Quality, ReasonQuality, Variable};
use crate::time::HOUR_MS;

const UP: Quality = quality_of(ReasonQuality::Increase);
const DOWN: Quality = quality_of(ReasonQuality::Decrease);

const fn quality_of(reason: ReasonQuality) -> Quality {
    Quality { base: BaseQuality::Doubtful, reason }
}

/// Hourly readings of some days with a daily course, and changes from one hour on.
fn hourly(variable: Variable, kind: IntervalType, days: usize, course: (f64, f64)) -> Column {
    let (mean, range) = course;
    let of: Vec<_> = (0..days * 24)
        .map(|hour| {
            let day = libm::sin(hour as f64 * std::f64::consts::TAU / 24.0);
            // Some irregularity, the same in every run.
            let noise = ((hour * 37) % 11) as f64 / 10.0 - 0.5;
            (hour as i64 * 60, ((mean + range * day + noise) * 10.0).round() / 10.0)
        })
        .collect();
    Column::new(variable, kind, if kind == Average { 2 } else { 0 }, &of)
}

fn air() -> Column {
    hourly(Variable::AirTemperature, Instantaneous, 10, (15.0, 5.0))
}

fn pressure() -> Column {
    hourly(Variable::Mslp, Instantaneous, 10, (1013.0, 1.0))
}

/// Adds an offset from one hour to another, both included.
fn off(mut column: Column, from: usize, to: usize, by: f64) -> Column {
    for value in &mut column.value[from..=to] {
        *value = ((*value + by) * 10.0).round() / 10.0;
    }
    column
}

/// The hours with a verdict worse than Good, and their verdicts.
fn flagged(columns: &[Column]) -> Vec<(usize, Quality)> {
    let first = verdicts(columns).swap_remove(0);
    first.into_iter().enumerate().filter(|(_, verdict)| *verdict != Quality::GOOD).collect()
}

#[test]
fn a_step_of_five_degrees_is_doubtful_from_its_first_hour_until_it_is_back() {
    assert_eq!(flagged(&[air()]), []);
    let expected: Vec<_> = (170..=175).map(|hour| (hour, UP)).collect();
    assert_eq!(flagged(&[off(air(), 170, 175, 6.0)]), expected);
}

#[test]
fn a_day_of_20_hpa_off_is_doubtful_throughout() {
    for (by, verdict) in [(5.0, UP), (-5.0, DOWN), (9.0, UP)] {
        let expected: Vec<_> = (150..=174).map(|hour| (hour, verdict)).collect();
        assert_eq!(flagged(&[off(pressure(), 150, 174, by)]), expected, "{by}");
    }
    // The step check says so of the first hour too; the worse verdict wins.
    let found = flagged(&[off(pressure(), 150, 174, 20.0)]);
    assert_eq!(found[..25], (150..=174).map(|hour| (hour, UP)).collect::<Vec<_>>()[..]);
}

/// From the benchmark of the checks: a pressure stuck for half a day comes back 5 hPa lower. In a
/// past version, the right readings after it were doubtful for a day.
#[test]
fn a_sensor_that_was_stuck_and_comes_back_is_right() {
    let mut stuck = off(pressure(), 162, 239, -5.0);
    stuck.value[150..162].fill(1013.3);
    let inert = Quality { base: BaseQuality::Instrumentation, reason: ReasonQuality::Inert };
    let expected: Vec<_> = (158..=161).map(|hour| (hour, inert)).collect();
    assert_eq!(flagged(&[stuck.clone()]), expected);
    // Had it not been stuck, the change would be a jump.
    stuck.value[150..162].copy_from_slice(&pressure().value[150..162]);
    assert_eq!(flagged(&[stuck])[0], (162, DOWN));
}

#[test]
fn a_change_that_stays_is_doubtful_for_a_while() {
    let expected: Vec<_> = (160..=166).map(|hour| (hour, DOWN)).collect();
    assert_eq!(flagged(&[off(air(), 160, 239, -9.0)]), expected);
}

#[test]
fn a_wind_shift_rain_or_a_drier_dew_point_explains_a_jump() {
    let jumped = || off(air(), 160, 239, -9.0);
    let speed = Column::new(Variable::WindSpeed, Average, 2, &[(159 * 60, 20.0), (160 * 60, 25.0)]);
    let turned =
        Column::new(Variable::WindDirection, Average, 2, &[(159 * 60, 20.0), (160 * 60, 330.0)]);
    assert_eq!(flagged(&[jumped(), speed.clone(), turned.clone()]), []);
    let rain = Column::new(Variable::Precipitation, Cumulative, 60, &[(160 * 60, 4.2)]);
    assert_eq!(flagged(&[jumped(), rain]), []);
    let dew =
        off(hourly(Variable::DewPointTemperature, Instantaneous, 10, (2.0, 0.0)), 160, 239, -5.0);
    assert_eq!(flagged(&[jumped(), dew]), []);

    // A direction says nothing in light wind; calculated values say nothing either.
    let light = Column::new(Variable::WindSpeed, Average, 2, &[(159 * 60, 5.0), (160 * 60, 5.0)]);
    assert_eq!(flagged(&[jumped(), light, turned]).len(), 7);
    let mut derived =
        off(hourly(Variable::DewPointTemperature, Instantaneous, 10, (2.0, 0.0)), 160, 239, -5.0);
    derived.key = derived.key.calculated();
    assert_eq!(flagged(&[jumped(), derived]).len(), 7);
}

#[test]
fn a_single_wrong_value_is_a_spike_and_leaves_no_doubt_behind() {
    let spike = quality(BaseQuality::Instrumentation, ReasonQuality::Change);
    assert_eq!(flagged(&[off(air(), 160, 160, 9.0)]), [(160, spike)]);
    // The change is a jump as long as no reading has come after it.
    let mut last = off(air(), 160, 160, 9.0);
    last.ts_ms.truncate(161);
    last.value.truncate(161);
    last.source.truncate(161);
    assert_eq!(flagged(&[last]), [(160, UP)]);
}

#[test]
fn without_a_history_nothing_is_a_jump() {
    assert_eq!(flagged(&[off(air(), 20, 239, 9.0)]), []);
}

#[test]
fn a_report_says_what_was_usual_and_what_would_have_been_too_much() {
    let column = off(air(), 170, 175, 6.0);
    let site = super::super::tests::site();
    let found = Checker::shared().explain(&site, &[column.readings()], 0, 172).unwrap();
    let report = found.checks.iter().find(|report| report.check.name() == "jump").unwrap();
    let names: Vec<_> = report.inputs.iter().map(|input| input.name).collect();
    let air = "airTemperature";
    assert_eq!(names, [air, air, air, "elapsed", "usualChange"]);
    let [limit] = &report.limits[..] else { panic!("{report:?}") };
    let usual = report.inputs[4].value;
    assert!((limit.max.unwrap() - usual - 4.0).abs() < 1e-9, "{report:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Jumps of any size and number, some explained by the other series.
    #[test]
    fn within_the_reach_the_verdict_is_that_of_the_whole(
        jumps in prop::collection::vec((0..2_usize, 0..430_usize, -12..12_i32), 1..30),
        at in 170..430_usize,
    ) {
        let mut columns = [
            hourly(Variable::AirTemperature, Instantaneous, 18, (15.0, 2.0)),
            hourly(Variable::Mslp, Instantaneous, 18, (1013.0, 0.5)),
        ];
        for (which, from, by) in jumps {
            columns[which] = off(columns[which].clone(), from, 431, f64::from(by));
        }
        let whole = verdicts(&columns);
        let Reach { back_ms, ahead_ms } = Checker::default().reach();
        let (from, to) = (
            at.saturating_sub((back_ms / HOUR_MS) as usize),
            (at + (ahead_ms / HOUR_MS) as usize).min(431),
        );
        let part = columns.clone().map(|of| Column {
            key: of.key,
            ts_ms: of.ts_ms[from..=to].to_vec(),
            value: of.value[from..=to].to_vec(),
            source: of.source[from..=to].to_vec(),
        });
        let found = verdicts(&part);
        for which in 0..2 {
            prop_assert_eq!(found[which][at - from], whole[which][at]);
            // The explanation runs from that reading on.
            let series = columns.each_ref().map(Column::readings);
            let site = super::super::tests::site();
            let explained = Checker::shared().explain(&site, &series, which, at).unwrap();
            prop_assert_eq!(explained.verdict, whole[which][at]);
        }
    }
}
