//! Tests of comparisons with nearby stations, and of values calculated from readings.

use proptest::prelude::*;

use super::tests::{DISAGREE, NOON_MS, air, held, intake, key, report, station, stations, verdict};
use super::*;
use crate::check;
use crate::observation::Variable::{
    AirTemperature, DewPointTemperature, RelativeHumidity, WindChill, WindSpeed10m,
};
use crate::observation::{
    BaseQuality, IntervalType, Quality, Reading, ReasonQuality, Report, SeriesKey, Variable,
};
use crate::store::MemoryStore;

/// An intake whose only check of temperatures is the comparison with nearby stations.
fn nearby_check_only() -> Intake {
    let checks = ["range", "record", "spike", "step", "persistence"];
    let shipped = check::Config::default();
    let mut names: Vec<String> =
        ["dewPoint", "wetBulb", "average"].map(|rule| format!("\"consistency.{rule}\"")).to_vec();
    for variable in [AirTemperature, DewPointTemperature] {
        for check in checks {
            let name = format!("\"{check}.{variable}\"");
            if check::Config::from_toml(&format!("without = [{name}]")).is_ok() {
                names.push(name);
            }
        }
    }
    let config = check::Config::from_toml(&format!("without = [{}]", names.join(", "))).unwrap();
    assert_ne!(config, shipped);
    Intake::new(Checker::new(config))
}

/// An intake with few neighbours per value, so that it matters which of them have a value.
fn nearest_three() -> Intake {
    let text = "[neighbours.airTemperature]\nsource = \"own\"\nradius_km = 40\nnearest = 3\n\
                at_least = 2\ndeviation = 1\nvariance_per_km = 0.01\nkm_per_m = 0.1\n\
                change_per_hour = 1\nbetween_hours = 0.6\nbeside_hours = 0.3\nthreshold = 1\n";
    Intake::new(Checker::new(check::Config::from_toml(text).unwrap()))
}

fn take_in(intake: &Intake, store: &MemoryStore, reports: Vec<Report>) {
    intake.take_in(store, Batch { stations: stations(), reports }).unwrap();
}

/// A report of the first station at noon.
fn reading(series: SeriesKey, value: f64, quality: Quality) -> Reading {
    Reading { series, value, quality, qualifier: None }
}

fn at_noon(readings: Vec<Reading>) -> Report {
    Report { readings, ..report(0, 0, 0, &[]) }
}

const BY_SOURCE: Quality = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Unknown };

#[test]
fn a_station_that_disagreed_is_good_once_nearby_ones_are_corrected() {
    let air_temperature = key(AirTemperature);
    // One after another, and all at once.
    for at_once in [1, 6] {
        let (intake, store) = intake();
        let mut reports: Vec<Report> = (0..7).map(|place| air(place, 0, 20.0)).collect();
        reports[3] = air(3, 0, 38.0);
        take_in(&intake, &store, reports);
        assert_eq!(verdict(&store, 3, &air_temperature, 0), DISAGREE);
        let others = [0, 1, 2, 4, 5, 6];
        let corrected = others.map(|place| report(place, 0, 1, &[(AirTemperature, 38.5)]));
        for reports in corrected.chunks(at_once) {
            take_in(&intake, &store, reports.to_vec());
        }
        for place in 0..7 {
            assert_eq!(verdict(&store, place, &air_temperature, 0), Quality::GOOD, "{place}");
        }
    }
}

/// The better verdict from before comes from the station's own checks.
#[test]
fn a_station_that_no_longer_disagrees_gets_its_own_verdict_back() {
    let (intake, store) = intake();
    let air_temperature = key(AirTemperature);
    // Its own checks: it rose by 20 °C in an hour.
    let mut reports: Vec<Report> = (0..7).map(|place| air(place, 0, 20.0)).collect();
    reports[3] = air(3, 0, 38.0);
    reports.push(air(3, -60, 18.0));
    take_in(&intake, &store, reports);
    assert_eq!(verdict(&store, 3, &air_temperature, 0), DISAGREE);
    for place in [0, 1, 2, 4, 5, 6] {
        take_in(&intake, &store, vec![report(place, 0, 1, &[(AirTemperature, 38.5)])]);
    }
    let rose = Quality { base: BaseQuality::Instrumentation, reason: ReasonQuality::Increase };
    assert_eq!(verdict(&store, 3, &air_temperature, 0), rose);
}

#[test]
fn a_value_that_its_source_calls_good_is_never_doubted_by_nearby_stations() {
    let (intake, store) = intake();
    let mut good = air(3, 0, 38.0);
    good.readings[0].quality = Quality::GOOD;
    take_in(&intake, &store, vec![good]);
    for place in [0, 1, 2, 4, 5, 6] {
        take_in(&intake, &store, vec![air(place, 0, 20.0)]);
    }
    assert_eq!(verdict(&store, 3, &key(AirTemperature), 0), Quality::GOOD);
}

/// With these limits a step makes a value Doubtful: nearby stations are then not compared with it.
#[test]
fn a_value_that_a_late_reading_makes_doubtful_no_longer_judges_others() {
    let text = "[step.airTemperature]\ndirectional = false\nsource = \"WMO-No. 305 VI.21\"\n\
                doubtful = { hours = [1], limits = [4] }\n";
    let intake = Intake::new(Checker::new(check::Config::from_toml(text).unwrap()));
    let (store, air_temperature) = (MemoryStore::default(), key(AirTemperature));
    let mut reports: Vec<Report> = (0..4).map(|place| air(place, 0, 20.0)).collect();
    reports.push(air(5, 0, 38.0));
    take_in(&intake, &store, reports);
    assert_eq!(verdict(&store, 5, &air_temperature, 0), DISAGREE);
    // Without the station that rose too fast there are too few.
    take_in(&intake, &store, vec![air(2, -60, 10.0)]);
    assert_eq!(verdict(&store, 2, &air_temperature, 0).reason, ReasonQuality::Change);
    assert_eq!(verdict(&store, 5, &air_temperature, 0), Quality::GOOD);
    take_in(&intake, &store, vec![report(2, -60, 1, &[(AirTemperature, 19.0)])]);
    assert_eq!(verdict(&store, 2, &air_temperature, 0), Quality::GOOD);
    assert_eq!(verdict(&store, 5, &air_temperature, 0), DISAGREE);
}

/// If no other check judges a value, only nearby stations can make it Good.
#[test]
fn a_value_that_only_nearby_stations_judge_is_unchecked_without_them() {
    let (intake, store) = (nearby_check_only(), MemoryStore::default());
    let air_temperature = key(AirTemperature);
    take_in(&intake, &store, (0..4).map(|place| air(place, 0, 20.0)).collect());
    assert_eq!(verdict(&store, 2, &air_temperature, 0), Quality::UNCHECKED);
    take_in(&intake, &store, vec![air(5, 0, 20.0)]);
    assert_eq!(verdict(&store, 2, &air_temperature, 0), Quality::GOOD);
    // If one value turns out to be missing, too few are left.
    take_in(&intake, &store, vec![report(5, 0, 1, &[(AirTemperature, 9999.0)])]);
    assert_eq!(verdict(&store, 2, &air_temperature, 0), Quality::UNCHECKED);
}

/// Calculated values, extremes, other units and buckets are not compared with nearby stations.
#[test]
fn only_reported_values_of_the_moment_and_short_means_are_compared() {
    let odd = |series: &SeriesKey| {
        let (intake, store) = (nearby_check_only(), MemoryStore::default());
        let reports = (0..7).map(|place| {
            let value = if place == 3 { 38.0 } else { 20.0 };
            let readings = vec![reading(series.clone(), value, Quality::UNCHECKED)];
            Report { readings, ..report(place, 0, 0, &[]) }
        });
        take_in(&intake, &store, reports.collect());
        verdict(&store, 3, series, 0)
    };
    let plain = key(AirTemperature);
    assert_eq!(odd(&plain), DISAGREE);
    assert_eq!(odd(&SeriesKey::new(AirTemperature, IntervalType::Average, 10)), DISAGREE);
    for kind in [IntervalType::Max, IntervalType::Min, IntervalType::Median] {
        let series = SeriesKey::new(AirTemperature, kind, 10);
        assert_eq!(odd(&series), Quality::UNCHECKED, "{kind}");
    }
    let fahrenheit = SeriesKey { reported_unit: "°F".into(), ..plain.clone() };
    let bucket = SeriesKey { bucket: "1".into(), ..plain.clone() };
    for series in [plain.calculated(), fahrenheit, bucket] {
        assert_eq!(odd(&series), Quality::UNCHECKED, "{series:?}");
    }
}

/// A new reading makes the previous one stick out, though it is as old as a limit reaches.
#[test]
fn a_reading_three_hours_later_still_makes_the_one_before_a_spike() {
    let (intake, store) = intake();
    take_in(&intake, &store, vec![air(0, 0, 10.0), air(0, 60, 25.0)]);
    assert_eq!(verdict(&store, 0, &key(AirTemperature), 60), Quality::GOOD);
    take_in(&intake, &store, vec![air(0, 240, 10.0)]);
    let spike = Quality { base: BaseQuality::Instrumentation, reason: ReasonQuality::Change };
    assert_eq!(verdict(&store, 0, &key(AirTemperature), 60), spike);
}

/// Unchecked inputs say nothing: the value keeps the verdict of its own checks.
#[test]
fn a_value_calculated_from_unchecked_ones_keeps_its_own_verdict() {
    let (intake, store) = (nearby_check_only(), MemoryStore::default());
    let values = [(AirTemperature, 28.0), (DewPointTemperature, 18.0)];
    take_in(&intake, &store, vec![report(0, 0, 0, &values)]);
    assert_eq!(verdict(&store, 0, &key(AirTemperature), 0), Quality::UNCHECKED);
    let humidity = key(RelativeHumidity).calculated();
    assert_eq!(verdict(&store, 0, &humidity, 0), Quality::GOOD);
}

#[test]
fn a_calculated_value_is_as_good_as_the_inputs_of_its_interval() {
    for (of_the_moment, hourly, expected) in
        [(BY_SOURCE, Quality::GOOD, Quality::GOOD), (Quality::GOOD, BY_SOURCE, BY_SOURCE)]
    {
        let (intake, store) = intake();
        let hour = |variable| SeriesKey::new(variable, IntervalType::Average, 60);
        let readings = vec![
            reading(key(AirTemperature), 20.0, of_the_moment),
            reading(hour(AirTemperature), 20.5, hourly),
            reading(hour(RelativeHumidity), 60.0, Quality::GOOD),
        ];
        take_in(&intake, &store, vec![at_noon(readings)]);
        let dew_point = hour(DewPointTemperature).calculated();
        assert_eq!(verdict(&store, 0, &dew_point, 0), expected);
    }
}

/// A regression: the verdict came from series that no formula takes. A one-minute extreme was
/// preferred to the two-minute mean, and another unit to the canonical one.
#[test]
fn values_are_not_calculated_from_extremes_or_other_units() {
    let wind = |kind, minutes| SeriesKey::new(WindSpeed10m, kind, minutes);
    let kelvin = SeriesKey { reported_unit: "K".into(), ..key(AirTemperature) };
    let fahrenheit = SeriesKey { reported_unit: "°F".into(), ..key(AirTemperature) };
    let bucket = SeriesKey { bucket: "1".into(), ..key(AirTemperature) };
    let (intake, store) = intake();
    let readings = vec![
        reading(key(AirTemperature), -10.0, Quality::GOOD),
        reading(kelvin, 263.0, BY_SOURCE),
        reading(fahrenheit, 14.0, BY_SOURCE),
        reading(bucket, -10.0, BY_SOURCE),
        reading(wind(IntervalType::Max, 1), 30.0, BY_SOURCE),
        reading(wind(IntervalType::Average, 2), 20.0, Quality::GOOD),
    ];
    take_in(&intake, &store, vec![at_noon(readings)]);
    let wind_chill = key(WindChill).calculated();
    assert_eq!(verdict(&store, 0, &wind_chill, 0), Quality::GOOD);
    let explanation =
        intake.explain(&store, station(0).id, wind_chill.id(), NOON_MS).unwrap().unwrap();
    let inputs: Vec<f64> = explanation.calculated_from.iter().map(|input| input.value).collect();
    assert_eq!(inputs, [-10.0, 20.0]);
}

/// A gust at 10 m is calculated from the gust, which is an extreme.
#[test]
fn a_gust_at_10_m_is_as_good_as_the_gust() {
    let gust = |variable| SeriesKey::new(variable, IntervalType::Max, 10);
    let (intake, store) = intake();
    let reading = reading(gust(Variable::WindGust), 40.0, BY_SOURCE);
    take_in(&intake, &store, vec![at_noon(vec![reading])]);
    let at_10m = gust(Variable::WindGust10m).calculated();
    assert_eq!(verdict(&store, 0, &at_10m, 0), BY_SOURCE);
    let explanation = intake.explain(&store, station(0).id, at_10m.id(), NOON_MS).unwrap().unwrap();
    let inputs: Vec<_> =
        explanation.calculated_from.iter().map(|of| (of.variable, of.value)).collect();
    assert_eq!(inputs, [("windGust", 40.0)]);
}

/// A regression: the change was gone, but the verdict stayed.
#[test]
fn a_change_that_a_correction_takes_back_no_longer_counts() {
    let (intake, store) = intake();
    let reports = [
        air(3, -20, 34.9),
        air(1, 15, 19.1),
        air(3, 0, 20.3),
        air(2, 0, 20.6),
        air(4, 0, 32.4),
        air(5, 0, 31.0),
    ];
    for report in reports {
        take_in(&intake, &store, vec![report]);
    }
    let air_temperature = key(AirTemperature);
    assert_eq!(verdict(&store, 3, &air_temperature, 0), DISAGREE);
    take_in(&intake, &store, vec![report(3, -20, 1, &[(AirTemperature, 20.1)])]);
    assert_eq!(verdict(&store, 3, &air_temperature, 0), Quality::GOOD);
}

/// Reports of seven stations within an hour, most of them alike, with corrections.
fn an_hour() -> impl Strategy<Value = Vec<Report>> {
    let air = prop_oneof![
        8 => 19.0..21.0_f64,
        2 => 30.0..40.0_f64,
        1 => prop::sample::select(vec![999.0, 9999.0, 80.0]),
    ];
    let dew = prop_oneof![8 => 9.0..11.0_f64, 1 => 25.0..30.0_f64];
    let at = (0..7_usize, prop::sample::select(vec![-20_i64, 0, 15, 45]), 0..3_u8);
    prop::collection::btree_map(at, (air, dew), 8..50).prop_map(|reports| {
        let report = |((place, minute, revision), (air, dew))| {
            report(place, minute, revision, &[(AirTemperature, air), (DewPointTemperature, dew)])
        };
        reports.into_iter().map(report).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(64) })]

    /// Nearby readings arrive and are corrected step by step: the final verdicts are the same as if
    /// they had all come at once.
    #[test]
    fn the_order_in_which_nearby_readings_arrive_does_not_change_the_verdicts(
        (at_once, shuffled, size) in an_hour().prop_flat_map(|reports| {
            (Just(reports.clone()), Just(reports).prop_shuffle(), 1..6_usize)
        }),
    ) {
        for intake in [Intake::default(), nearby_check_only(), nearest_three()] {
            let (one, other) = (MemoryStore::default(), MemoryStore::default());
            take_in(&intake, &one, at_once.clone());
            for reports in shuffled.chunks(size) {
                take_in(&intake, &other, reports.to_vec());
            }
            prop_assert_eq!(held(&one), held(&other));
        }
    }
}
