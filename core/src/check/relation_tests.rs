use super::super::config::Config;
use super::*;
use crate::observation::IntervalType;
use crate::observation::IntervalType::{Cumulative, Median};

fn key(variable: Variable, kind: IntervalType, minutes: i32) -> SeriesKey {
    SeriesKey::new(variable, kind, minutes)
}

/// The checks that compare one series with another, by the default limits; they are symmetric,
/// except for the calm, where the speed is never wrong.
#[track_caller]
fn checks(one: &SeriesKey, other: &SeriesKey) -> Vec<Check> {
    let of = |one: &SeriesKey, other: &SeriesKey| {
        let (limits, mut found) = (Config::default().consistency, Vec::new());
        let keys = [one, other];
        let id = |which: usize| keys[which].id();
        relations(one, &limits, &keys, &[true, true], id, &mut found);
        assert!(found.iter().all(|relation| relation.other == 1));
        found.iter().map(|relation| relation.check).collect::<Vec<_>>()
    };
    let (found, seen_from_other) = (of(one, other), of(other, one));
    let is_both_ways = |check: &Check| *check != Check::CalmWind;
    let both_ways = |checks: &[Check]| checks.iter().copied().filter(is_both_ways).collect();
    let (here, there): (Vec<_>, Vec<_>) = (both_ways(&found), both_ways(&seen_from_other));
    assert_eq!(here, there, "{one:?} and {other:?}");
    found
}

#[test]
fn a_gust_is_compared_with_means_of_its_period_and_of_shorter_ones() {
    for (mean, gust) in [(WindSpeed, WindGust), (WindSpeed10m, WindGust10m)] {
        let of = |kind, mean_minutes, gust_minutes| {
            checks(&key(mean, kind, mean_minutes), &key(gust, Max, gust_minutes))
        };
        assert_eq!(of(Average, 10, 10), [Check::WindGust]);
        assert_eq!(of(Average, 2, 10), [Check::WindGust]);
        assert_eq!(of(Instantaneous, 0, 10), [Check::WindGust]);
        assert_eq!(of(Average, 11, 10), []);
        // An extreme is not a mean.
        for kind in [Max, Min, Median] {
            assert_eq!(of(kind, 10, 10), [], "{kind}");
        }
    }
    assert_eq!(checks(&key(WindSpeed, Average, 2), &key(WindGust10m, Max, 10)), []);
    assert_eq!(checks(&key(WindSpeed10m, Average, 2), &key(WindGust, Max, 10)), []);
    assert_eq!(checks(&key(WindSpeed, Average, 2), &key(WindSpeed10m, Average, 2)), []);
}

/// A station pressure from an altimeter setting is too rough for the order check, but not for the
/// reduction.
#[test]
fn pressures_are_not_ordered_if_one_is_calculated() {
    let station = key(BarometricPressure, Instantaneous, 0);
    let sea_level = key(Mslp, Instantaneous, 0);
    let both = [Check::PressureOrder, Check::PressureReduction];
    assert_eq!(checks(&station, &sea_level), both);
    let reduction = [Check::PressureReduction];
    let (of_altimeter, reduced) = (station.clone().calculated(), sea_level.clone().calculated());
    assert_eq!(checks(&of_altimeter, &sea_level), reduction);
    assert_eq!(checks(&station, &reduced), reduction);
    assert_eq!(checks(&of_altimeter, &reduced), reduction);
    assert_eq!(checks(&key(BarometricPressure, Average, 60), &sea_level), []);
}

#[test]
fn values_are_compared_with_those_of_the_same_measure() {
    for (lower, upper, expected) in [
        (DewPointTemperature, AirTemperature, Check::DewPoint),
        (DewPointTemperature, WetBulbTemperature, Check::WetBulb),
        (WetBulbTemperature, AirTemperature, Check::WetBulb),
        (WindDirection, WindSpeed, Check::CalmWind),
        (WindDirection, WindSpeed10m, Check::CalmWind),
        (Rainfall, Precipitation, Check::Rainfall),
    ] {
        let of = |kinds: [IntervalType; 2], minutes: [i32; 2]| {
            checks(&key(lower, kinds[0], minutes[0]), &key(upper, kinds[1], minutes[1]))
        };
        assert_eq!(of([Average; 2], [10, 10]), [expected], "{lower} {upper}");
        assert_eq!(of([Average; 2], [10, 60]), [], "{lower} {upper}");
        assert_eq!(of([Average, Max], [10, 10]), [], "{lower} {upper}");
    }
    // The speed says nothing about the direction of a gust, nor is it wrong itself.
    assert_eq!(checks(&key(WindDirection, Max, 10), &key(WindGust, Max, 10)), []);
    assert_eq!(checks(&key(WindSpeed, Average, 10), &key(WindDirection, Average, 10)), []);
    // The waves of a period need not have the same interval type.
    let highest = key(WaveHeightMax, Max, 20);
    assert_eq!(checks(&key(WaveHeight, Average, 20), &highest), [Check::WaveHeight]);
    assert_eq!(checks(&key(WaveHeight, Average, 10), &highest), []);
}

#[test]
fn an_average_is_compared_with_the_extremes_of_its_period() {
    for one in [Average, Max, Min] {
        for other in [Average, Max, Min] {
            let of = |minutes| {
                checks(&key(AirTemperature, one, 60), &key(AirTemperature, other, minutes))
            };
            let expected = if one == other { vec![] } else { vec![Check::Average] };
            assert_eq!(of(60), expected, "{one} {other}");
            assert_eq!(of(10), [], "{one} {other}");
        }
        for other in [Instantaneous, Median, Cumulative] {
            let found = checks(&key(AirTemperature, one, 60), &key(AirTemperature, other, 60));
            assert_eq!(found, [], "{one} {other}");
        }
    }
    let (average, most) = (key(AirTemperature, Average, 60), key(AirTemperature, Max, 60));
    assert_eq!(checks(&average.clone().calculated(), &most), []);
    assert_eq!(checks(&average.calculated(), &most.calculated()), [Check::Average]);
    assert_eq!(checks(&key(AirTemperature, Average, 60), &key(DewPointTemperature, Max, 60)), []);
    // The average of an angle does not lie between the extremes.
    let direction = checks(&key(WindDirection, Average, 60), &key(WindDirection, Max, 60));
    assert_eq!(direction, []);
}

/// The temperature for the reduction of a pressure is of the same measure, or else instantaneous.
#[test]
fn the_air_temperature_of_a_reduction_is_of_the_same_measure_or_of_the_moment() {
    let found = |airs: &[SeriesKey]| {
        let station = key(BarometricPressure, Average, 60);
        let sea_level = key(Mslp, Average, 60);
        let mut keys = vec![&station, &sea_level];
        keys.extend(airs);
        let (limits, mut found) = (Config::default().consistency, Vec::new());
        let comparable = vec![true; keys.len()];
        let id = |which: usize| keys[which].id();
        relations(&station, &limits, &keys, &comparable, id, &mut found);
        let reduction = found.iter().find(|relation| relation.check == Check::PressureReduction);
        reduction.unwrap().air.map(|air| air - 2)
    };
    let (hourly, moment) =
        (key(AirTemperature, Average, 60), key(AirTemperature, Instantaneous, 0));
    let (daily, highest) = (key(AirTemperature, Average, 1440), key(AirTemperature, Max, 60));
    let mut fahrenheit = hourly.clone();
    fahrenheit.reported_unit = "°F".into();
    assert_eq!(found(&[moment.clone(), hourly]), Some(1));
    assert_eq!(found(&[daily.clone(), highest.clone(), moment]), Some(2));
    assert_eq!(found(&[daily, highest, fahrenheit]), None);
    assert_eq!(found(&[key(DewPointTemperature, Average, 60)]), None);
}

#[test]
fn incomparable_series_have_no_relations() {
    let (air, dew) =
        (key(AirTemperature, Instantaneous, 0), key(DewPointTemperature, Instantaneous, 0));
    let (limits, mut found) = (Config::default().consistency, Vec::new());
    let keys = [&air, &dew];
    relations(&air, &limits, &keys, &[true, false], |which| keys[which].id(), &mut found);
    assert!(found.is_empty());
    let mut other = air.clone();
    assert!(is_comparable(&other));
    other.reported_unit = "°F".into();
    assert!(!is_comparable(&other));
    other = air;
    other.bucket = "1".into();
    assert!(!is_comparable(&other));
}
