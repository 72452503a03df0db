//! Properties of the checks that hold for any readings.

use proptest::prelude::*;

use super::tests::{Column, quality, site, verdicts};
use super::*;
use crate::observation::IntervalType::{Average, Instantaneous, Max};
use crate::observation::{BaseQuality, IntervalType, ReasonQuality, Variable};
use crate::time::MINUTE_MS;

/// Readings of some series, irregular and with gaps, with the verdicts of sources.
pub(super) fn any_columns() -> impl Strategy<Value = Vec<Column>> {
    let value = prop_oneof![
        20 => (-30..30_i32).prop_map(|value| f64::from(value) / 2.0),
        10 => Just(7.1),
        1 => Just(f64::NAN), 1 => Just(9999.0), 1 => -200.0..200.0_f64, 1 => 870.0..1090.0_f64,
    ];
    let source = prop_oneof![
        10 => Just(Quality::UNCHECKED),
        1 => (0..8_u8, 0..14_u8).prop_map(|(base, reason)| quality(
            BaseQuality::try_from(base).unwrap(),
            ReasonQuality::try_from(reason).unwrap(),
        )),
    ];
    let reading = (1..12_i64, value, source);
    let keys = vec![
        (Variable::AirTemperature, Instantaneous, 0),
        (Variable::AirTemperature, Average, 60),
        (Variable::AirTemperature, Max, 60),
        (Variable::DewPointTemperature, Instantaneous, 0),
        (Variable::WetBulbTemperature, Instantaneous, 0),
        (Variable::Mslp, Instantaneous, 0),
        (Variable::BarometricPressure, Instantaneous, 0),
        (Variable::WindSpeed, Average, 2),
        (Variable::WindGust, Max, 10),
        (Variable::WindDirection, Average, 2),
        (Variable::RelativeHumidity, Instantaneous, 0),
        (Variable::Precipitation, IntervalType::Cumulative, 60),
    ];
    let key = prop::sample::subsequence(keys, 1..6);
    (key, prop::collection::vec(prop::collection::vec(reading, 1..80), 6)).prop_map(
        |(keys, columns)| {
            let column = |((variable, kind, minutes), readings): (_, Vec<(i64, f64, Quality)>)| {
                let mut column = Column::new(variable, kind, minutes, &[]);
                let mut at = 0;
                for (gap, value, source) in readings {
                    // Mostly at the same times as the other series; sometimes with a gap of days.
                    at += if gap == 11 { 3 * 1440 } else { gap.min(3) * 30 };
                    column.ts_ms.push(at * MINUTE_MS);
                    column.value.push(value);
                    column.source.push(source);
                }
                column
            };
            keys.into_iter().zip(columns).map(column).collect()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Readings arrive in any order, some twice and some corrected; the final set, the last
    /// revision of each, has the same verdicts.
    #[test]
    fn the_order_of_arrival_makes_no_difference(columns in any_columns(), seed: u64) {
        let mut arrivals = Vec::new();
        for (which, of) in columns.iter().enumerate() {
            for i in 0..of.value.len() {
                arrivals.push((which, of.ts_ms[i], 1, of.value[i], of.source[i]));
                if (seed >> (i % 60)) & 1 == 1 {
                    // The first report, corrected later, and a second copy of the correction.
                    arrivals.push((which, of.ts_ms[i], 0, -12.0, Quality::UNCHECKED));
                    arrivals.push((which, of.ts_ms[i], 1, of.value[i], of.source[i]));
                }
            }
        }
        arrivals.sort_by_key(|&(which, ts_ms, revision, ..)| {
            (ts_ms as u64 ^ seed).wrapping_mul(seed | 1).rotate_left(which as u32 * 7 + revision)
        });
        let mut arrived: Vec<_> =
            columns.iter().map(|_| std::collections::BTreeMap::new()).collect();
        for (which, ts_ms, revision, value, source) in arrivals {
            let known = arrived[which].entry(ts_ms).or_insert((revision, value, source));
            if known.0 <= revision {
                *known = (revision, value, source);
            }
        }
        let stored: Vec<Column> = columns
            .iter()
            .zip(arrived)
            .map(|(of, arrived)| Column {
                key: of.key.clone(),
                ts_ms: arrived.keys().copied().collect(),
                value: arrived.values().map(|of| of.1).collect(),
                source: arrived.values().map(|of| of.2).collect(),
            })
            .collect();
        prop_assert_eq!(verdicts(&stored), verdicts(&columns));
        // Nor does the order of the series.
        let reversed: Vec<_> = columns.iter().rev().cloned().collect();
        let mut found = verdicts(&reversed);
        found.reverse();
        prop_assert_eq!(found, verdicts(&columns));
    }

    /// A verdict depends on no reading beyond the reach.
    #[test]
    fn within_the_reach_the_verdict_is_that_of_the_whole(columns in any_columns(), at in 0.0..1.0_f64) {
        let Reach { back_ms, ahead_ms } = Checker::default().reach();
        let whole = verdicts(&columns);
        let reading = (columns[0].ts_ms.len() as f64 * at) as usize;
        let now_ms = columns[0].ts_ms[reading];
        let part: Vec<_> = columns
            .iter()
            .map(|of| {
                let near = |ts_ms: i64| (now_ms - back_ms..=now_ms + ahead_ms).contains(&ts_ms);
                let kept: Vec<_> = (0..of.ts_ms.len()).filter(|&i| near(of.ts_ms[i])).collect();
                Column {
                    key: of.key.clone(),
                    ts_ms: kept.iter().map(|&i| of.ts_ms[i]).collect(),
                    value: kept.iter().map(|&i| of.value[i]).collect(),
                    source: kept.iter().map(|&i| of.source[i]).collect(),
                }
            })
            .collect();
        let place = part[0].ts_ms.iter().position(|&ts_ms| ts_ms == now_ms).unwrap();
        prop_assert_eq!(verdicts(&part)[0][place], whole[0][reading]);
    }

    #[test]
    fn the_explanation_gives_the_verdict_of_the_fast_pass(columns in any_columns()) {
        let (found, checker) = (verdicts(&columns), Checker::default());
        let series: Vec<_> = columns.iter().map(Column::readings).collect();
        for (which, verdicts) in found.iter().enumerate() {
            for (reading, &verdict) in verdicts.iter().enumerate() {
                let explanation = checker.explain(&site(), &series, which, reading).unwrap();
                prop_assert_eq!(explanation.verdict, verdict);
                // If the source passed a value, only physical limits judge it.
                let kept = explanation.source.base == BaseQuality::Good;
                let is_impossible = kept && verdict.base == BaseQuality::Error;
                prop_assert_eq!(explanation.checks.is_empty(), kept && !is_impossible);
                prop_assert!(explanation.checks.windows(2).all(|pair| pair[0].check <= pair[1].check));
                for report in &explanation.checks {
                    prop_assert_eq!(report.ran, report.not_run_because.is_none());
                    prop_assert_eq!(report.ran, report.outcome.is_some());
                    prop_assert!(report.limits.iter().all(|limit| !limit.source.is_empty()));
                }
                if let Some(decided_by) = explanation.decided_by {
                    let has_reported = |report: &CheckReport| {
                        report.check == decided_by && report.outcome == Some(verdict)
                    };
                    prop_assert!(explanation.checks.iter().any(has_reported));
                }
            }
        }
    }

    #[test]
    fn any_numbers_are_judged(
        value in prop::collection::vec(any::<f64>(), 1..20), start: i64, gap in 1..i64::MAX / 40,
    ) {
        let ts_ms: Vec<i64> =
            (0..value.len() as i64).map(|i| (start / 2).saturating_add(i * gap)).collect();
        for variable in [Variable::AirTemperature, Variable::Mslp, Variable::WindSpeed] {
            let mut column = Column::moment(variable, &[]);
            (column.ts_ms, column.value) = (ts_ms.clone(), value.clone());
            column.source = vec![Quality::UNCHECKED; value.len()];
            verdicts(&[column]);
        }
    }
}
