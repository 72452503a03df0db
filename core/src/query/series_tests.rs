use super::*;
use crate::geo::LonLat;
use crate::observation::{
    BaseQuality, Batch, IntervalType, Reading, Report, SeriesKey, Station, Variable,
};
use crate::observation::{EarlierPlaces, Identifiers};
use crate::store::{MemoryStore, Store, no_verdicts};

fn bucket(label: &'static str) -> SeriesKey {
    SeriesKey {
        bucket: label.into(),
        ..SeriesKey::new(Variable::Precipitation, IntervalType::Cumulative, 60)
    }
}

fn store(readings: &[(i64, SeriesKey)]) -> (MemoryStore, StationId) {
    let id = StationId::new("TEST", "A");
    let station = Station {
        id,
        network: "TEST".into(),
        native_id: "A".into(),
        name: "A".into(),
        station_type: None,
        coordinates: LonLat::new(0.0, 0.0).unwrap(),
        sensor_height_m: 10.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    };
    let reports = readings.iter().map(|(ts_ms, series)| Report {
        station: id,
        ts_ms: *ts_ms,
        revision: 0,
        present_weather: None,
        text: None,
        readings: vec![Reading {
            series: series.clone(),
            value: 1.5,
            quality: Quality::GOOD,
            qualifier: None,
        }],
    });
    let store = MemoryStore::default();
    let batch = Batch { stations: vec![station], reports: reports.collect() };
    store.append(&batch, &mut no_verdicts).unwrap();
    (store, id)
}

#[test]
fn the_first_series_is_the_lowest_that_has_a_reading_in_the_window() {
    let mut keys: Vec<SeriesKey> = [1, 2, 10]
        .map(|minutes| SeriesKey::new(Variable::WindSpeed, IntervalType::Average, minutes))
        .to_vec();
    keys.sort_by_key(SeriesKey::id);
    let [lowest, middle, highest] = [&keys[0], &keys[1], &keys[2]];
    let (store, station) = store(&[
        (0, lowest.clone()),
        (100, highest.clone()),
        (100, middle.clone()),
        (50, highest.clone()),
    ]);
    let window = ClosedWindow::new(1, 100).unwrap();
    let found = observation_series(&store, station, &SeriesFilter::default(), window);
    let found = found.unwrap().unwrap();
    let series: Vec<_> = found.series.iter().map(|known| &known.series.key).collect();
    assert_eq!(series, [middle, highest]);
    let readings: Vec<_> = found
        .readings
        .iter()
        .map(|reading| (reading.ts_ms, &found.series_of(reading).key))
        .collect();
    assert_eq!(readings, [(50, highest), (100, middle), (100, highest)]);
}

#[test]
fn both_ends_belong_to_the_window() {
    let air = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
    let (store, station) = store(&[(0, air.clone()), (1, air.clone()), (2, air.clone()), (3, air)]);
    let window = ClosedWindow::new(1, 2).unwrap();
    let found = observation_series(&store, station, &SeriesFilter::default(), window);
    let times: Vec<_> = found.unwrap().unwrap().readings.iter().map(|r| r.ts_ms).collect();
    assert_eq!(times, [1, 2]);
    let none = ClosedWindow::new(4, 5).unwrap();
    assert_eq!(observation_series(&store, station, &SeriesFilter::default(), none), Ok(None));
}

#[test]
fn the_worst_reading_is_the_first_with_the_worst_verdict() {
    let verdicts =
        [BaseQuality::Good, BaseQuality::Doubtful, BaseQuality::Error, BaseQuality::Error];
    let quality = |base| Quality { base, ..Quality::GOOD };
    let reading = |(ts_ms, base)| SeriesReading {
        ts_ms,
        value: 0.0,
        series: 0,
        quality: quality(base),
        qualifier: None,
    };
    let readings = (0..).zip(verdicts).map(reading).collect();
    let station = StationId::new("TEST", "A");
    let found = ObservationSeries { station, series: Vec::new(), readings };
    assert_eq!(found.worst().map(|reading| reading.ts_ms), Some(2));
    assert_eq!(ObservationSeries { readings: Vec::new(), ..found }.worst(), None);
}

#[test]
fn only_bucketed_series_have_bucket_metadata() {
    let (store, station) = store(&[(0, bucket("0-1 mm")), (0, bucket("1-2 mm"))]);
    let window = ClosedWindow::new(0, 1).unwrap();
    let filter = SeriesFilter { bucket: Some("1-2 mm".into()), ..SeriesFilter::default() };
    let found = observation_series(&store, station, &filter, window).unwrap().unwrap();
    assert_eq!(
        serde_json::to_string(&found).unwrap(),
        format!(
            r#"{{"stationId":"{station}","name":"precipitation","prettyName":"Precipitation","reportedUnit":"mm","intervalType":"Cumulative","intervalMinutes":60,"firstAppearance":"1970-01-01T00:00:00Z","bucketMetadata":{{"1-2 mm":{{"prettyName":"1-2 mm"}}}},"readings":[{{"timestamp":"1970-01-01T00:00:00Z","value":1.5,"quality":{{"baseQuality":"Good","reasonQuality":"None"}},"calculated":false,"groupBucketName":"1-2 mm"}}]}}"#
        )
    );
    let both = observation_series(&store, station, &SeriesFilter::default(), window).unwrap();
    let both = serde_json::to_value(both).unwrap();
    assert_eq!(both["bucketMetadata"].as_object().unwrap().len(), 2);
}
