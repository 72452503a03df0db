use super::*;
use crate::geo::LonLat;
use crate::observation::IntervalType::{Cumulative, Max};
use crate::observation::{BaseQuality, Quality, ReasonQuality, StationId, StationType};
use crate::observation::{EarlierPlaces, Identifiers};
use Variable::{
    AirTemperature, BarometricPressure, DewPointTemperature, HeatIndex, Humidex, Mslp,
    RelativeHumidity, WetBulbTemperature, WindChill, WindGust, WindGust10m, WindSpeed,
    WindSpeed10m,
};

fn station() -> Station {
    Station {
        id: StationId::new("TEST", "1"),
        network: "TEST".to_owned(),
        native_id: "1".to_owned(),
        name: "1".to_owned(),
        station_type: Some(StationType::OpenCountry),
        coordinates: LonLat::new(-79.0, 43.0).unwrap(),
        sensor_height_m: 4.0,
        altitude_m: Some(500.0),
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

fn reading(series: SeriesKey, value: f64) -> Reading {
    Reading { series, value, quality: Quality::GOOD, qualifier: None }
}

fn now(variable: Variable, value: f64) -> Reading {
    reading(SeriesKey::new(variable, Instantaneous, 0), value)
}

fn mean(variable: Variable, minutes: i32, value: f64) -> Reading {
    reading(SeriesKey::new(variable, Average, minutes), value)
}

fn report(readings: &[Reading]) -> Report {
    Report {
        station: station().id,
        ts_ms: 0,
        revision: 0,
        present_weather: None,
        text: None,
        readings: readings.to_vec(),
    }
}

/// The values derived from readings at a station, in the order of the derivation.
fn derived_at(station: &Station, readings: &[Reading]) -> Vec<Reading> {
    let mut report = report(readings);
    derive_report(&mut report, station);
    assert_eq!(report.readings[..readings.len()], *readings);
    let once = report.clone();
    derive_report(&mut report, station);
    assert_eq!(report, once, "a second call adds nothing");
    let added = report.readings.split_off(readings.len());
    assert!(added.iter().all(|reading| reading.series.calculated));
    added
}

fn derived(readings: &[Reading]) -> Vec<Reading> {
    derived_at(&station(), readings)
}

fn variables(readings: &[Reading]) -> Vec<Variable> {
    readings.iter().map(|reading| reading.series.variable).collect()
}

#[test]
fn a_warm_report_gets_everything_derivable() {
    let added = derived(&[
        now(AirTemperature, 30.0),
        now(RelativeHumidity, 60.0),
        now(BarometricPressure, 950.9654),
        mean(WindSpeed, 2, 10.0),
        reading(SeriesKey::new(WindGust, Max, 10), 20.0),
    ]);
    let wanted = [
        WindSpeed10m,
        WindGust10m,
        DewPointTemperature,
        WetBulbTemperature,
        HeatIndex,
        Humidex,
        Mslp,
    ];
    assert_eq!(variables(&added), wanted);
    assert_eq!(added[0].series, SeriesKey::new(WindSpeed10m, Average, 2).calculated());
    assert_eq!(Some(added[0].value), wind_at_10m(10.0, 4.0, 0.03));
    assert_eq!(added[1].series, SeriesKey::new(WindGust10m, Max, 10).calculated());
    assert_eq!(Some(added[2].value), dew_point_c(30.0, 60.0));
    assert_eq!(Some(added[3].value), wet_bulb_c(950.9654, 30.0, added[2].value));
    assert_eq!(Some(added[4].value), heat_index_c(30.0, 60.0));
    assert_eq!(Some(added[5].value), humidex(30.0, added[2].value));
    assert_eq!((added[6].value * 1000.0).round(), 1_006_089.0);
}

#[test]
fn a_cold_report_gets_humidity_and_wind_chill() {
    let added = derived(&[
        now(AirTemperature, -25.0),
        now(DewPointTemperature, -28.0),
        mean(WindSpeed10m, 2, 20.0),
    ]);
    assert_eq!(variables(&added), [RelativeHumidity, WindChill]);
    assert_eq!(added[1].series, SeriesKey::new(WindChill, Instantaneous, 0).calculated());
    assert_eq!(added[1].value.round(), -37.0);
}

#[test]
fn reported_values_are_neither_replaced_nor_joined() {
    let missing = Quality { base: BaseQuality::Missing, reason: ReasonQuality::Missing };
    let added = derived(&[
        now(AirTemperature, 25.0),
        now(RelativeHumidity, 60.0),
        Reading { quality: missing, ..mean(DewPointTemperature, 10, 3.0) },
        now(HeatIndex, 1.0),
        mean(WindSpeed, 2, 10.0),
        mean(WindSpeed10m, 2, 10.0),
        now(BarometricPressure, 950.0),
        now(Mslp, 1008.0),
    ]);
    assert_eq!(added, []);
}

#[test]
fn the_quality_is_the_worst_of_the_inputs() {
    let of = |base| Quality { base, reason: ReasonQuality::Range };
    let with = |base| {
        let readings = [
            now(AirTemperature, 25.0),
            Reading { quality: of(base), ..now(RelativeHumidity, 60.0) },
            now(BarometricPressure, 950.0),
        ];
        derived(&readings)
    };
    for base in BaseQuality::ALL {
        let added = with(base);
        if base <= BaseQuality::Missing {
            assert_eq!(variables(&added), [Mslp]);
            continue;
        }
        let wanted = [DewPointTemperature, WetBulbTemperature, HeatIndex, Humidex, Mslp];
        assert_eq!(variables(&added), wanted);
        let worst = Quality::GOOD.worse(of(base));
        assert!(added[..4].iter().all(|reading| reading.quality == worst), "{base}");
        assert_eq!(added[4].quality, Quality::GOOD);
    }
}

#[test]
fn inputs_of_one_interval_give_that_interval() {
    let added = derived(&[
        now(AirTemperature, 25.0),
        mean(AirTemperature, 60, 20.0),
        mean(RelativeHumidity, 60, 60.0),
    ]);
    assert_eq!(added[0].series, SeriesKey::new(DewPointTemperature, Average, 60).calculated());
    assert_eq!(Some(added[0].value), dew_point_c(20.0, 60.0));
}

#[test]
fn hourly_means_are_not_mixed_with_the_moment_and_extremes_not_at_all() {
    assert_eq!(derived(&[now(AirTemperature, 25.0), mean(RelativeHumidity, 60, 60.0)]), []);
    let of = |variable, kind| SeriesKey::new(variable, kind, 60);
    for kind in [Max, Cumulative] {
        let readings =
            [reading(of(AirTemperature, kind), 25.0), reading(of(RelativeHumidity, kind), 60.0)];
        assert_eq!(derived(&readings), []);
    }
    let daily = [mean(AirTemperature, 1440, 25.0), mean(RelativeHumidity, 1440, 60.0)];
    assert_eq!(derived(&daily), []);
}

#[test]
fn reported_inputs_are_preferred_to_calculated_ones() {
    let calculated = SeriesKey::new(BarometricPressure, Instantaneous, 0).calculated();
    let added = derived(&[
        reading(calculated, 950.0),
        now(AirTemperature, 15.0),
        now(BarometricPressure, 951.0),
    ]);
    assert_eq!(Some(added[0].value), mean_sea_level_pressure_hpa(951.0, 500.0, 15.0));
}

#[test]
fn other_units_and_buckets_are_left_alone() {
    let mut fahrenheit = now(AirTemperature, 77.0);
    fahrenheit.series.reported_unit = "°F".into();
    let mut bucket = mean(WindSpeed, 2, 10.0);
    bucket.series.bucket = "gust bin 1".into();
    assert_eq!(derived(&[fahrenheit, bucket, now(RelativeHumidity, 60.0)]), []);
}

#[test]
fn missing_station_data_derives_nothing() {
    let readings =
        [mean(WindSpeed, 2, 10.0), now(BarometricPressure, 950.0), now(AirTemperature, 10.0)];
    let all = variables(&derived(&readings));
    assert_eq!(all, [WindSpeed10m, Mslp]);
    let unknown = [
        (Station { sensor_height_m: 0.0, ..station() }, vec![Mslp]),
        (Station { station_type: None, ..station() }, vec![Mslp]),
        (Station { altitude_m: None, ..station() }, vec![WindSpeed10m]),
        (Station { altitude_m: Some(750.1), ..station() }, vec![WindSpeed10m]),
    ];
    for (station, wanted) in unknown {
        assert_eq!(variables(&derived_at(&station, &readings)), wanted);
    }
}

#[test]
fn non_finite_numbers_derive_nothing() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300] {
        let readings = [
            now(AirTemperature, bad),
            now(RelativeHumidity, bad),
            now(BarometricPressure, bad),
            mean(WindSpeed10m, 2, 10.0),
        ];
        let mut report = report(&readings);
        derive_report(&mut report, &station());
        assert_eq!(report.readings.len(), readings.len(), "{bad}");
    }
    assert_eq!(derived(&[]), []);
}

#[test]
fn a_humidex_is_there_where_canada_shows_one() {
    let humidex = |air_c: f64, dew_c: f64| {
        let added = derived(&[now(AirTemperature, air_c), now(DewPointTemperature, dew_c)]);
        let found = added.into_iter().find(|reading| reading.series.variable == Humidex);
        found.map(|reading| reading.value.round())
    };
    // Masterton and Richardson (1979).
    assert_eq!(humidex(30.0, 15.0), Some(34.0));
    assert_eq!(humidex(30.0, 25.0), Some(42.0));
    // Less than 1 above the temperature, and below 20 °C.
    assert_eq!(humidex(30.0, 7.0), None);
    assert_eq!(humidex(19.9, 19.0), None);
}
