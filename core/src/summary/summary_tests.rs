use proptest::prelude::*;

use super::*;
use crate::observation::IntervalType::{Average, Cumulative, Instantaneous, Max, Min};
use crate::observation::Variable::{AirTemperature, Precipitation, WindDirection, WindSpeed};
use crate::observation::{
    BaseQuality, IntervalType, Qualifier, Quality, QualityCode, ReasonQuality, Series, SeriesKey,
};
use crate::summary::{Period, periods};
use crate::time::{HOUR_MS, MINUTE_MS};

/// The readings of one series, in minutes after the start of the day.
#[derive(Clone, Debug)]
struct Readings {
    series: Series,
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    quality: Vec<QualityCode>,
    qualifier: Vec<u8>,
}

fn readings(variable: Variable, kind: IntervalType, minutes: i32, of: &[(i64, f64)]) -> Readings {
    let good = QualityCode::from(Quality::GOOD);
    Readings {
        series: Series::from(SeriesKey::new(variable, kind, minutes)),
        ts_ms: of.iter().map(|(minute, _)| minute * MINUTE_MS).collect(),
        value: of.iter().map(|&(_, value)| value).collect(),
        quality: vec![good; of.len()],
        qualifier: vec![0; of.len()],
    }
}

impl Readings {
    fn with(mut self, at: usize, base: BaseQuality) -> Self {
        self.quality[at] = Quality { base, reason: ReasonQuality::Unknown }.into();
        self
    }

    fn trace(mut self, at: usize) -> Self {
        self.qualifier[at] = Qualifier::code(Some(Qualifier::Trace));
        self
    }

    fn columns(&self) -> SeriesColumns<'_> {
        let Self { series, ts_ms, value, quality, qualifier } = self;
        SeriesColumns::new(series, ts_ms, value, quality, qualifier).unwrap()
    }
}

fn window(from_hour: i64, to_hour: i64) -> HalfOpenWindow {
    HalfOpenWindow::new(from_hour * HOUR_MS, to_hour * HOUR_MS).unwrap()
}

fn summary_of(of: &[Readings], window: HalfOpenWindow) -> Summary {
    let columns: Vec<_> = of.iter().map(Readings::columns).collect();
    let mut summary = Summary::begin(window);
    Summarizer::new(Rules::default()).summarize(&columns, window, &mut summary);
    summary
}

fn of_variable(of: &[Readings], variable: Variable) -> VariableSummary {
    summary_of(of, window(0, 24)).of(variable).unwrap().clone()
}

/// An hour and a minute as a minute of the day.
const fn at(hour: i64, minute: i64) -> i64 {
    hour * 60 + minute
}

#[test]
fn a_reading_counts_at_its_time_and_the_end_belongs_to_the_next_day() {
    let air = readings(
        AirTemperature,
        Instantaneous,
        0,
        &[(at(0, -1), 30.0), (at(0, 0), 10.0), (at(23, 59), 12.0), (at(24, 0), -30.0)],
    );
    let found = of_variable(&[air], AirTemperature);
    assert_eq!((found.count, found.rejected), (2, 0));
    assert_eq!(found.max.unwrap().value, 12.0);
    assert_eq!(found.min.unwrap().value, 10.0);
    assert_eq!(found.mean.unwrap().value(), 11.0);
    assert_eq!(found.max.unwrap().coverage.minutes, 120);
}

#[test]
fn an_extreme_of_six_hours_counts_only_where_its_hours_lie_within_the_day() {
    let air = readings(AirTemperature, Instantaneous, 0, &[(at(12, 53), 20.0)]);
    // Until 00:00, 06:00, 24:00 and 30:00; reported a few minutes before.
    let max = readings(
        AirTemperature,
        Max,
        360,
        &[(at(-1, 53), 99.0), (at(5, 53), 21.0), (at(23, 53), 25.0), (at(29, 53), 98.0)],
    );
    let found = of_variable(&[air.clone(), max.clone()], AirTemperature);
    let highest = found.max.unwrap();
    assert_eq!((highest.value, highest.from.ts_ms), (25.0, at(23, 53) * MINUTE_MS));
    assert_eq!((highest.from.interval_type, highest.from.interval_minutes), (Max, 360));
    assert_eq!(highest.coverage.minutes, 13 * 60);
    assert_eq!(found.min.unwrap().value, 20.0, "a maximum is no minimum");
    assert_eq!(found.mean.unwrap().readings, 1, "nor part of a mean");
    // A day from 05:00 on: of these only the group of 18 to 24 hours lies in it.
    let columns = [air.columns(), max.columns()];
    let day = window(5, 29);
    let mut summary = Summary::begin(day);
    Summarizer::new(Rules::default()).summarize(&columns, day, &mut summary);
    assert_eq!(summary.of(AirTemperature).unwrap().count, 2);
    assert_eq!(summary.of(AirTemperature).unwrap().max.unwrap().value, 25.0);
}

#[test]
fn reports_stand_for_the_full_hour_next_to_them_only_where_the_network_says_so() {
    let max = readings(
        AirTemperature,
        Max,
        60,
        &[
            (at(0, 10), 1.0),  // of the hour until 00:00
            (at(0, 50), 2.0),  // until 01:00
            (at(23, 40), 3.0), // until 24:00
            (at(24, 20), 4.0), // until 24:00
            (at(24, 21), 5.0), // as it says
        ],
    );
    assert_eq!(of_variable(std::slice::from_ref(&max), AirTemperature).count, 3);
    let day = window(0, 24);
    let mut summary = Summary::begin(day);
    Summarizer::new(Rules::of_network("SWOB")).summarize(&[max.columns()], day, &mut summary);
    // From 22:40 to 23:40 only; the others begin before the day or end after it.
    assert_eq!(summary.of(AirTemperature).unwrap().count, 1);
    assert_eq!(summary.of(AirTemperature).unwrap().max.unwrap().value, 3.0);
}

#[test]
fn the_group_of_24_hours_at_midnight_decides_alone_unless_it_is_in_doubt() {
    let air = readings(AirTemperature, Instantaneous, 0, &[(at(12, 53), 34.5)]);
    let of_day = readings(AirTemperature, Max, 1440, &[(at(17, 53), 50.0), (at(23, 53), 34.4)]);
    let found = of_variable(&[air.clone(), of_day.clone()], AirTemperature).max.unwrap();
    assert_eq!((found.value, found.from.interval_minutes), (34.4, 1440));
    assert_eq!(found.coverage.percent(), 100.0);
    let doubted = of_day.clone().with(1, BaseQuality::Doubtful);
    let found = of_variable(&[air.clone(), doubted], AirTemperature).max.unwrap();
    assert_eq!((found.value, found.quality.base), (34.5, BaseQuality::Good));
    let rejected = of_day.with(1, BaseQuality::Error);
    let found = of_variable(&[air, rejected], AirTemperature);
    assert_eq!((found.max.unwrap().coverage.minutes, found.rejected), (60, 1));
}

#[test]
fn what_is_rejected_does_not_count_and_what_is_in_doubt_shows() {
    let air = readings(
        AirTemperature,
        Instantaneous,
        0,
        &[(at(1, 0), 60.0), (at(2, 0), 20.0), (at(3, 0), 10.0), (at(4, 0), f64::NAN)],
    );
    for rejected in [BaseQuality::Suppressed, BaseQuality::Missing, BaseQuality::Error] {
        let found = of_variable(
            &[air.clone().with(0, rejected).with(1, BaseQuality::Inconsistent)],
            AirTemperature,
        );
        assert_eq!((found.count, found.rejected), (2, 2));
        let max = found.max.unwrap();
        assert_eq!((max.value, max.quality.base), (20.0, BaseQuality::Inconsistent));
        assert_eq!(found.min.unwrap().quality, Quality::GOOD, "of its own reading");
        assert_eq!(found.mean.unwrap().quality.base, BaseQuality::Inconsistent, "the worst");
    }
    let all = [0, 1, 2].into_iter().fold(air, |air, at| air.with(at, BaseQuality::Error));
    let found = of_variable(&[all], AirTemperature);
    assert_eq!((found.count, found.rejected, found.max, found.mean), (0, 4, None, None));
}

#[test]
fn readings_of_a_bucket_or_another_unit_do_not_count() {
    let mut of_sensor = readings(AirTemperature, Instantaneous, 0, &[(at(1, 0), 60.0)]);
    of_sensor.series.key.bucket = "sensor 1".into();
    let mut fahrenheit = readings(AirTemperature, Instantaneous, 0, &[(at(1, 0), 60.0)]);
    fahrenheit.series.key.reported_unit = "F".into();
    let all = [of_sensor, fahrenheit].map(|mut of| {
        of.series = Series::from(of.series.key);
        of
    });
    assert!(summary_of(&all, window(0, 24)).is_empty());
}

#[test]
fn special_reports_do_not_weigh_more_and_the_most_instantaneous_series_makes_the_mean() {
    let air = readings(
        AirTemperature,
        Instantaneous,
        0,
        &[(at(0, 53), 10.0), (at(1, 10), 20.0), (at(1, 20), 22.0), (at(1, 53), 24.0)],
    );
    let hourly = readings(AirTemperature, Average, 60, &[(at(2, 0), 99.0), (at(3, 0), 25.0)]);
    let found = of_variable(&[hourly, air], AirTemperature).mean.unwrap();
    // 10 of the first hour, 22 of the second, 25 of the third.
    assert_eq!((found.value(), found.terms, found.readings), (19.0, 3, 5));
    assert_eq!((found.first_ms, found.last_ms), (53 * MINUTE_MS, 180 * MINUTE_MS));
    let of_day = readings(AirTemperature, Average, 1440, &[(at(24, 0), 7.0)]);
    assert_eq!(of_variable(&[of_day], AirTemperature).mean, None, "it says nothing of an hour");
}

#[test]
fn amounts_are_taken_from_the_longest_intervals_and_never_twice() {
    let hourly: Vec<_> = (0..24).map(|hour| (at(hour, 53), 1.0)).collect();
    let hourly = readings(Precipitation, Cumulative, 60, &hourly);
    let three = readings(Precipitation, Cumulative, 180, &[(at(2, 53), 3.5), (at(8, 53), 3.25)]);
    // The first reaches into the day before, so its hours are taken one by one.
    let six = readings(Precipitation, Cumulative, 360, &[(at(0, 53), 50.0), (at(5, 53), 6.5)]);
    let all = [hourly.clone(), three.clone(), six.clone()];
    let day = summary_of(&all, window(0, 24));
    let total = day.of(Precipitation).unwrap().total.clone().unwrap();
    // 0 to 6 of six hours, 6 to 9 of three, the rest hour by hour.
    assert_eq!(total.value, 6.5 + 3.25 + 15.0);
    assert_eq!((total.readings, total.coverage.percent()), (17, 100.0));
    let minutes: Vec<_> = day.parts.iter().map(|part| part.from.interval_minutes).collect();
    assert_eq!(minutes[..3], [360, 180, 60]);
    assert!(day.parts.is_sorted_by_key(|part| part.from.ts_ms));
    // A whole day wins over all of them.
    let of_day = readings(Precipitation, Cumulative, 1440, &[(at(23, 53), 30.0)]);
    let total = of_variable(&[hourly, three, six, of_day], Precipitation).total.unwrap();
    assert_eq!((total.value, total.readings), (30.0, 1));
}

#[test]
fn running_amounts_of_every_minute_tile_the_window() {
    let running: Vec<_> = (0..=24 * 60).map(|minute| (minute, 0.5)).collect();
    let running = readings(Precipitation, Cumulative, 60, &running);
    let day = window(0, 24);
    let mut summary = Summary::begin(day);
    Summarizer::new(Rules::of_network("SWOB")).summarize(&[running.columns()], day, &mut summary);
    let total = summary.of(Precipitation).unwrap().total.clone().unwrap();
    assert_eq!((total.value, total.readings), (12.0, 24));
}

#[test]
fn a_trace_is_not_zero_and_does_not_add() {
    let with_trace = readings(Precipitation, Cumulative, 60, &[(at(3, 53), 0.0), (at(4, 53), 0.0)]);
    let total = of_variable(&[with_trace.clone().trace(1)], Precipitation).total.unwrap();
    assert_eq!((total.value, total.qualifier), (0.0, Some(Qualifier::Trace)));
    let total = of_variable(&[with_trace], Precipitation).total.unwrap();
    assert_eq!((total.value, total.qualifier), (0.0, None));
    let more = readings(Precipitation, Cumulative, 60, &[(at(3, 53), 0.0), (at(4, 53), 0.254)]);
    let total = of_variable(&[more.trace(0)], Precipitation).total.unwrap();
    assert_eq!((total.value, total.qualifier), (0.254, None));
}

#[test]
fn the_quality_of_a_total_is_the_worst_of_its_parts_only() {
    let hourly = readings(Precipitation, Cumulative, 60, &[(at(3, 53), 1.0), (at(10, 53), 1.0)]);
    let six = readings(Precipitation, Cumulative, 360, &[(at(5, 53), 2.0)]);
    let total = |of: &[Readings]| of_variable(of, Precipitation).total.unwrap();
    let unused = hourly.clone().with(0, BaseQuality::Doubtful);
    assert_eq!(total(&[unused, six.clone()]).quality, Quality::GOOD);
    let used = hourly.with(1, BaseQuality::Doubtful);
    assert_eq!(total(&[used, six]).quality.base, BaseQuality::Doubtful);
}

#[test]
fn the_prevailing_wind_is_the_most_frequent_sector_and_the_resultant_the_mean_vector() {
    // North twice (350 and 010 are in its sector), east once, a calm, and one without a direction.
    let speeds = [(at(0, 53), 10.0), (at(1, 53), 10.0), (at(2, 53), 20.0), (at(3, 53), 0.0)];
    let speeds = [&speeds[..], &[(at(4, 53), 5.0)]].concat();
    let speed = readings(WindSpeed, Average, 2, &speeds);
    let directions = [(at(0, 53), 350.0), (at(1, 53), 10.0), (at(2, 53), 90.0), (at(3, 53), 0.0)];
    let direction = readings(WindDirection, Average, 2, &directions);
    let wind = summary_of(&[direction.clone(), speed], window(0, 24)).wind.unwrap();
    assert_eq!((wind.readings, wind.calm, wind.variable), (5, 1, 1));
    let prevailing = wind.prevailing().unwrap();
    assert_eq!((prevailing.from_degrees, prevailing.share_percent), (360.0, 40.0));
    assert_eq!((prevailing.mean_kmh, wind.peak), (10.0, None));
    let resultant = wind.resultant().unwrap();
    let north = 20.0 * libm::cos(10f64.to_radians());
    assert!((resultant.speed_kmh - libm::hypot(20.0, north) / 4.0).abs() < 1e-12);
    let wanted = libm::atan2(20.0, north).to_degrees();
    assert!((resultant.from_degrees.unwrap() - wanted).abs() < 1e-9);
    // Two that cancel out have no direction.
    let speed = readings(WindSpeed, Average, 2, &[(at(0, 53), 10.0), (at(1, 53), 10.0)]);
    let opposed = readings(WindDirection, Average, 2, &[(at(0, 53), 90.0), (at(1, 53), 270.0)]);
    let wind = summary_of(&[opposed, speed], window(0, 24)).wind.unwrap();
    assert_eq!(wind.resultant().unwrap().from_degrees, None);
    assert!(wind.resultant().unwrap().speed_kmh < 1e-12);
}

#[test]
fn every_ten_degrees_fall_into_the_sector_that_is_nearest() {
    for tens in 1..=36_i32 {
        let degrees = f64::from(tens * 10);
        let speed = readings(WindSpeed, Average, 2, &[(0, 10.0)]);
        let direction = readings(WindDirection, Average, 2, &[(0, degrees)]);
        let wind = summary_of(&[speed, direction], window(0, 24)).wind.unwrap();
        let centre = wind.prevailing().unwrap().from_degrees;
        let apart = (centre - degrees).abs();
        assert!(apart.min(360.0 - apart) <= 10.0, "{degrees} is in the sector of {centre}");
    }
}

#[test]
fn the_peak_has_the_time_and_direction_of_the_peak_wind() {
    use Variable::{PeakWindDirection, PeakWindSpeed, WindGust};
    let all = [
        readings(WindGust, Max, 10, &[(at(3, 53), 50.0)]),
        readings(WindGust, Max, 60, &[(at(9, 53), 66.672), (at(24, 30), 99.0)]),
        readings(PeakWindSpeed, Instantaneous, 0, &[(at(9, 31), 66.672)]),
        readings(PeakWindDirection, Instantaneous, 0, &[(at(9, 31), 220.0)]),
    ];
    let peak = summary_of(&all, window(0, 24)).wind.unwrap().peak.unwrap();
    assert_eq!((peak.variable, peak.speed.value), (PeakWindSpeed, 66.672));
    assert_eq!((peak.speed.from.ts_ms, peak.from_degrees), (at(9, 31) * MINUTE_MS, Some(220.0)));
    // Without the event the gust of the hour is the peak, and no report says whence it came.
    let peak = summary_of(&all[..2], window(0, 24)).wind.unwrap().peak.unwrap();
    assert_eq!((peak.variable, peak.speed.from.interval_minutes), (WindGust, 60));
    assert_eq!(peak.from_degrees, None);
}

#[test]
fn degree_days_are_of_a_day_and_its_extremes() {
    let air = readings(AirTemperature, Instantaneous, 0, &[(at(5, 53), 6.0), (at(15, 53), 22.0)]);
    let rules = Rules { degree_day_base_c: 18.0, ..Rules::default() };
    let of = |window| {
        let mut summary = Summary::begin(window);
        Summarizer::new(rules).summarize(&[air.columns()], window, &mut summary);
        summary.degree_days
    };
    let found = of(window(0, 24)).unwrap();
    assert_eq!((found.heating, found.cooling, found.days), (4.0, 0.0, 1));
    assert_eq!(of(window(0, 23)), None);
}

#[test]
fn an_hour_and_a_part_of_one_are_periods_too() {
    let air = readings(AirTemperature, Instantaneous, 0, &[(at(0, 53), 6.0), (at(1, 5), 22.0)]);
    let found = summary_of(std::slice::from_ref(&air), window(0, 1));
    assert_eq!(found.of(AirTemperature).unwrap().max.unwrap().coverage.percent(), 100.0);
    let part = HalfOpenWindow::new(30 * MINUTE_MS, 100 * MINUTE_MS).unwrap();
    let found = summary_of(std::slice::from_ref(&air), part).of(AirTemperature).unwrap().clone();
    assert_eq!(found.mean.unwrap().coverage.percent(), 60.0 / 70.0 * 100.0);
    let behind = HalfOpenWindow::new(2, 70 * MINUTE_MS).unwrap();
    let found = summary_of(&[air], behind).of(AirTemperature).unwrap().clone();
    assert_eq!((found.count, found.max.unwrap().coverage.percent()), (2, 100.0));
}

#[test]
fn a_month_is_made_of_its_days() {
    let days = 31;
    let of_days = |value: fn(i64) -> f64| -> Vec<_> {
        (0..days)
            .filter(|day| day % 10 != 9)
            .map(|day| (at(day * 24 + 12, 53), value(day)))
            .collect()
    };
    // Two hours of each day, so that a day weighs as one all the same.
    let hours = of_days(|day| day as f64).into_iter();
    let hours: Vec<_> =
        hours.flat_map(|(minute, value)| [(minute, value), (minute + 60, value)]).collect();
    let air = readings(AirTemperature, Instantaneous, 0, &hours);
    let max = readings(AirTemperature, Max, 360, &[(at(30, 53), 40.0), (at(2 * 24 + 2, 53), 60.0)]);
    let rain = readings(Precipitation, Cumulative, 60, &of_days(|_| 0.5));
    let speed = readings(WindSpeed, Average, 2, &of_days(|_| 10.0));
    let direction = readings(WindDirection, Average, 2, &of_days(|_| 270.0));
    let all = [air, max, rain, speed, direction];
    let month = window(0, days * 24);
    let mut found = Summary::begin(month);
    for day in 0..days {
        found.add(&summary_of(&all, window(day * 24, (day + 1) * 24)));
    }
    let air = found.of(AirTemperature).unwrap();
    // The group that goes over a midnight is of no day.
    assert_eq!(air.max.unwrap().value, 40.0);
    let (mean, of_max) = (air.mean.unwrap(), air.mean_of_max.unwrap());
    let sum: i64 = (0..days).filter(|day| day % 10 != 9).sum();
    assert_eq!((mean.terms, mean.value()), (28, sum as f64 / 28.0));
    assert_eq!((of_max.terms, of_max.value()), (28, (sum - 1 + 40) as f64 / 28.0));
    assert_eq!(mean.coverage.minutes, 28 * 120);
    let total = found.of(Precipitation).unwrap().total.clone().unwrap();
    assert_eq!((total.value, total.readings, total.parts), (14.0, 28, 0..0));
    let wind = found.wind.unwrap();
    assert_eq!((wind.readings, wind.prevailing().unwrap().from_degrees), (28, 270.0));
    let degree_days = found.degree_days.unwrap();
    assert_eq!(degree_days.days, 28);
    let wanted: f64 = (0..days)
        .filter(|day| day % 10 != 9)
        .map(|day| (18.0 - if day == 1 { 20.5 } else { day as f64 }).max(0.0))
        .sum();
    assert_eq!(degree_days.heating, wanted);
}

#[test]
fn a_summary_is_filled_again_without_a_trace_of_the_one_before() {
    let rain = readings(Precipitation, Cumulative, 60, &[(at(3, 53), 1.0)]);
    let speed = readings(WindSpeed, Average, 2, &[(at(3, 53), 1.0)]);
    let air = readings(AirTemperature, Instantaneous, 0, &[(at(30, 53), 6.0)]);
    let columns = [rain.columns(), speed.columns(), air.columns()];
    let mut summarizer = Summarizer::new(Rules::default());
    let mut summary = Summary::begin(window(0, 24));
    summarizer.summarize(&columns, window(0, 24), &mut summary);
    assert!(summary.wind.is_some() && summary.parts.len() == 1);
    summarizer.summarize(&columns, window(24, 48), &mut summary);
    assert_eq!(summary, summary_of(&[rain, speed, air], window(24, 48)));
    assert_eq!(summary.variables.len(), 1);
}

/// Series of all roles, with readings of three days.
fn station() -> impl Strategy<Value = Vec<Readings>> {
    let kinds = [
        (AirTemperature, Instantaneous, 0),
        (AirTemperature, Average, 60),
        (AirTemperature, Max, 60),
        (AirTemperature, Max, 360),
        (AirTemperature, Max, 1440),
        (AirTemperature, Min, 360),
        (Precipitation, Cumulative, 15),
        (Precipitation, Cumulative, 60),
        (Precipitation, Cumulative, 180),
        (Precipitation, Cumulative, 360),
        (WindSpeed, Average, 2),
        (WindDirection, Average, 2),
        (Variable::WindGust, Max, 10),
        (Variable::PeakWindSpeed, Instantaneous, 0),
    ];
    let of_series = |(variable, kind, minutes)| {
        let one = (-60..73 * 60_i64, 0..400_i32, 0..8_u8);
        prop::collection::btree_map(one.0, (one.1, one.2), 0..40).prop_map(move |of| {
            let values: Vec<_> =
                of.iter().map(|(&minute, &(value, _))| (minute, f64::from(value))).collect();
            of.values()
                .enumerate()
                .fold(readings(variable, kind, minutes, &values), |readings, (at, &(_, base))| {
                    readings.with(at, BaseQuality::ALL[usize::from(base)])
                })
        })
    };
    kinds.map(of_series).into_iter().collect::<Vec<_>>()
}

proptest! {
    #[test]
    fn the_order_of_columns_and_their_pieces_do_not_matter(
        all in station(),
        order in any::<prop::sample::Index>(),
        cut in -60..73 * 60_i64,
    ) {
        let whole = summary_of(&all, window(0, 24));
        let mut columns = Vec::new();
        for readings in &all {
            let at = readings.ts_ms.partition_point(|&ts_ms| ts_ms < cut * MINUTE_MS);
            let of = readings.columns();
            for range in [at..of.ts_ms.len(), 0..at] {
                columns.push(SeriesColumns {
                    ts_ms: &of.ts_ms[range.clone()],
                    value: &of.value[range.clone()],
                    quality: &of.quality[range.clone()],
                    qualifier: &of.qualifier[range],
                    ..of
                });
            }
        }
        let by = order.index(columns.len());
        columns.rotate_left(by);
        let mut summary = Summary::begin(window(0, 24));
        Summarizer::new(Rules::default()).summarize(&columns, window(0, 24), &mut summary);
        prop_assert_eq!(summary, whole);
    }

    #[test]
    fn days_split_a_window_and_readings_of_others_change_nothing(all in station()) {
        let of_day = |day: i64| summary_of(&all, window(day * 24, (day + 1) * 24));
        let mut together = Summary::begin(window(0, 72));
        (0..3).for_each(|day| together.add(&of_day(day)));
        let air = |summary: &Summary| summary.of(AirTemperature).cloned();
        let values = |of: fn(&VariableSummary) -> Option<super::super::Extreme>| {
            let of_days: Vec<f64> = (0..3)
                .filter_map(|day| Some(of(&air(&of_day(day))?)?.value))
                .collect();
            (of_days, air(&together).and_then(|found| Some(of(&found)?.value)))
        };
        let (of_days, of_all) = values(|found| found.max);
        prop_assert_eq!(of_days.into_iter().reduce(f64::max), of_all);
        let (of_days, of_all) = values(|found| found.min);
        prop_assert_eq!(of_days.into_iter().reduce(f64::min), of_all);
        // Only readings at most 20 minutes outside the day can count for it.
        let near: Vec<_> = all.iter().map(|readings| {
            let span = (24 * 60 - 20) * MINUTE_MS..=(48 * 60 + 20) * MINUTE_MS;
            let kept: Vec<usize> =
                (0..readings.ts_ms.len()).filter(|&at| span.contains(&readings.ts_ms[at])).collect();
            Readings {
                series: readings.series.clone(),
                ts_ms: kept.iter().map(|&at| readings.ts_ms[at]).collect(),
                value: kept.iter().map(|&at| readings.value[at]).collect(),
                quality: kept.iter().map(|&at| readings.quality[at]).collect(),
                qualifier: kept.iter().map(|&at| readings.qualifier[at]).collect(),
            }
        }).collect();
        prop_assert_eq!(of_day(1), summary_of(&near, window(24, 48)));
    }

    #[test]
    fn amounts_never_overlap_and_none_that_is_left_out_would_have_fitted(all in station()) {
        let day = window(0, 24);
        let summary = summary_of(&all, day);
        let rules = Rules::default();
        let interval = |ts_ms, minutes| {
            rules.interval_ms(&SeriesKey::new(Precipitation, Cumulative, minutes), ts_ms)
        };
        let taken: Vec<_> = summary
            .parts
            .iter()
            .map(|part| interval(part.from.ts_ms, part.from.interval_minutes))
            .collect();
        prop_assert!(taken.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{:?}", taken);
        for readings in all.iter().filter(|of| of.series.key.variable == Precipitation) {
            let minutes = readings.series.key.interval_minutes;
            for (&ts_ms, quality) in readings.ts_ms.iter().zip(&readings.quality) {
                let (from_ms, to_ms) = interval(ts_ms, minutes);
                let counts = quality.quality().base > BaseQuality::Error
                    && from_ms >= day.start_ms()
                    && to_ms <= day.end_ms();
                let meets = |&(from, to): &(i64, i64)| from < to_ms && from_ms < to;
                prop_assert!(!counts || taken.iter().any(meets), "{minutes} min until {to_ms}");
            }
        }
    }

    #[test]
    fn an_extreme_bounds_the_mean_and_comes_from_a_reading(all in station()) {
        let summary = summary_of(&all, window(0, 24));
        for found in &summary.variables {
            for extreme in [found.max, found.min].into_iter().flatten() {
                let of = all.iter().find(|of| of.series.id == extreme.from.series).unwrap();
                let at = of.ts_ms.iter().position(|&ts_ms| ts_ms == extreme.from.ts_ms).unwrap();
                prop_assert_eq!(of.value[at], extreme.value);
                prop_assert_eq!(of.quality[at].quality(), extreme.quality);
                prop_assert!((0.0..=100.0).contains(&extreme.coverage.percent()));
            }
        }
    }
}

#[test]
fn periods_of_hours_add_up_to_the_day() {
    let date = "1970-01-01".parse().unwrap();
    let hours = periods(Period::Hour, date, date, "-03:30".parse().unwrap()).unwrap();
    let every: Vec<_> = (0..48 * 6).map(|ten| (ten * 10, 1.0)).collect();
    let air = readings(AirTemperature, Instantaneous, 0, &every);
    let counts: Vec<u32> = hours
        .map(|hour| summary_of(std::slice::from_ref(&air), hour).of(AirTemperature).unwrap().count)
        .collect();
    assert_eq!((counts.len(), counts.iter().sum::<u32>()), (24, 144));
}
