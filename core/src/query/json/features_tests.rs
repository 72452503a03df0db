use super::*;
use crate::observation::{
    Batch, EarlierPlaces, Identifiers, IntervalType, Quality, Series, SeriesKey, Station,
};
use crate::store::{MemoryStore, Reader, Store, no_verdicts};
use crate::time::{HOUR_MS, MINUTE_MS};

fn station(name: &str) -> Station {
    Station {
        id: StationId::new("TEST", name),
        network: "TEST".into(),
        native_id: name.into(),
        name: "Twice".into(),
        station_type: None,
        coordinates: LonLat::new(-79.63, 43.68).unwrap(),
        sensor_height_m: 10.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

const END_MS: i64 = 10 * HOUR_MS;

fn cell(series: u32, age_ms: i64, value: f64, quality: Quality) -> AnswerReading {
    AnswerReading { ts_ms: END_MS - age_ms, value, series, age_s: 0, quality, qualifier: None }
}

fn text(cells: Vec<(&str, Vec<AnswerReading>)>, until_bytes: usize) -> Value {
    let wind = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 10);
    let series = [
        wind.clone(),
        SeriesKey { interval_minutes: 2, ..wind.clone() },
        SeriesKey { reported_unit: "F".into(), variable: Variable::AirTemperature, ..wind },
    ];
    let mut answer = Readings {
        series: series.map(|key| Arc::new(Series::from(key))).to_vec(),
        ..Readings::default()
    };
    for (name, cells) in cells {
        answer.cells.extend(cells);
        answer.stations.push((StationId::new("TEST", name), answer.cells.len()));
    }
    let store = MemoryStore::default();
    let batch = Batch { stations: vec![station("A"), station("B")], reports: vec![] };
    store.append(&batch, &mut no_verdicts).unwrap();
    let directory = store.directory().unwrap();
    let mut writer = FeaturesWriter::new(answer, directory, END_MS, AnswerForm::default());
    let mut whole = Vec::new();
    loop {
        let mut piece = Vec::new();
        let last = writer.write(&mut piece, until_bytes).unwrap();
        whole.append(&mut piece);
        if last {
            return serde_json::from_slice(&whole).unwrap();
        }
    }
}

#[test]
fn the_most_instantaneous_current_series_is_shown_else_the_newest() {
    let speed = |old_2_min_ms, old_10_min_ms| {
        let cells = vec![
            cell(0, old_10_min_ms, 10.0, Quality::GOOD),
            cell(1, old_2_min_ms, 2.0, Quality::GOOD),
        ];
        text(vec![("A", cells)], 1)["features"][0]["properties"]["windSpeed"].clone()
    };
    assert_eq!(speed(90 * MINUTE_MS, 0), 2.0);
    assert_eq!(speed(90 * MINUTE_MS + 1, 0), 10.0);
    assert_eq!(speed(90 * MINUTE_MS + 1, 90 * MINUTE_MS + 2), 2.0);
    assert_eq!(speed(90 * MINUTE_MS + 2, 90 * MINUTE_MS + 1), 10.0);
}

#[test]
fn properties_are_flat_and_units_that_were_not_certain_are_as_reported() {
    let stuck = Quality { base: BaseQuality::Instrumentation, ..Quality::GOOD };
    let cells = vec![cell(0, 5, 1.0, Quality::GOOD), cell(2, 1_000, 50.5, stuck)];
    let unknown = vec![cell(0, 5, 1.0, Quality::GOOD)];
    for until_bytes in [1, usize::MAX] {
        let found = text(
            vec![("gone", unknown.clone()), ("A", cells.clone()), ("B", unknown.clone())],
            until_bytes,
        );
        assert_eq!(found["features"].as_array().map(Vec::len), Some(2));
        assert_eq!(
            found["features"][0],
            serde_json::json!({
                "type": "Feature",
                "id": StationId::new("TEST", "A"),
                "geometry": {"type": "Point", "coordinates": [-79.63, 43.68]},
                "properties": {
                    "network": "TEST", "name": "Twice (A)",
                    "time": "1970-01-01T09:59:59.995Z", "quality": "Instrumentation",
                    "airTemperature": 50.5, "airTemperatureUnit": "F",
                    "windSpeed": 1.0, "windSpeedUnit": "km/h",
                },
            })
        );
    }
    assert_eq!(text(vec![], 1), serde_json::json!({"type": "FeatureCollection", "features": []}));
}
