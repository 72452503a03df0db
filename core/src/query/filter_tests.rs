use super::*;
use crate::observation::{
    Batch, EarlierPlaces, Identifiers, IntervalType, Quality, Reading, Report, SeriesKey, Station,
};
use crate::store::{MemoryStore, Reader, Store, no_verdicts};

/// Places with what is asked for: name, network, longitude, latitude, altitude, class, variable.
type Place = (&'static str, &'static str, f64, f64, Option<f64>, Option<StationType>, Variable);

const PLACES: [Place; 7] = {
    use StationType::{OpenCountry, OpenWater, Suburban};
    use Variable::{AirTemperature, WaveHeight, WindSpeed};
    [
        ("toronto", "METAR", -79.63, 43.68, Some(173.0), Some(OpenCountry), AirTemperature),
        ("montreal", "METAR", -73.74, 45.47, Some(36.0), Some(Suburban), AirTemperature),
        ("buffalo", "METAR", -78.73, 42.94, Some(218.0), None, WindSpeed),
        ("oakville", "SWOB", -79.69, 43.48, None, Some(OpenCountry), WindSpeed),
        ("shemya", "METAR", 174.11, 52.71, Some(31.0), None, AirTemperature),
        ("adak", "METAR", -176.64, 51.88, Some(5.0), None, AirTemperature),
        ("atlantic", "NDBC", -70.0, 38.5, Some(0.0), Some(OpenWater), WaveHeight),
    ]
};

fn store() -> MemoryStore {
    let store = MemoryStore::default();
    let id = |place: &Place| StationId::new(place.1, place.0);
    let stations = PLACES.iter().map(|place| Station {
        id: id(place),
        network: place.1.into(),
        native_id: place.0.into(),
        name: place.0.into(),
        station_type: place.5,
        coordinates: LonLat::new(place.2, place.3).unwrap(),
        sensor_height_m: 10.0,
        altitude_m: place.4,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    });
    let reports = PLACES.iter().map(|place| Report {
        station: id(place),
        ts_ms: 0,
        revision: 0,
        present_weather: None,
        text: None,
        readings: vec![Reading {
            series: SeriesKey::new(place.6, IntervalType::Instantaneous, 0),
            value: 1.0,
            quality: Quality::GOOD,
            qualifier: None,
        }],
    });
    let batch = Batch { stations: stations.collect(), reports: reports.collect() };
    store.append(&batch, &mut no_verdicts).unwrap();
    store
}

fn names(filter: &StationFilter) -> Vec<String> {
    let directory = store().directory().unwrap();
    let found = filter.select(&directory, &|_| true);
    found.iter().map(|found| directory.stations[found.place].station.name.clone()).collect()
}

fn sorted(filter: &StationFilter) -> Vec<String> {
    let mut names = names(filter);
    names.sort();
    names
}

fn place(lon: f64, lat: f64) -> LonLat {
    LonLat::new(lon, lat).unwrap()
}

fn near(near: Near) -> StationFilter {
    StationFilter { near: Some(near), ..StationFilter::default() }
}

#[test]
fn each_condition_chooses_its_stations() {
    let all = StationFilter::default();
    assert!(all.is_empty());
    assert_eq!(names(&all).len(), PLACES.len());
    let cases: [(StationFilter, &[&str]); 9] = [
        (
            StationFilter { regions: vec!["ON".parse().unwrap()], ..all.clone() },
            &["oakville", "toronto"],
        ),
        (
            StationFilter {
                regions: vec!["QC".parse().unwrap(), "NY".parse().unwrap()],
                ..all.clone()
            },
            &["buffalo", "montreal"],
        ),
        (
            StationFilter { country: Some(Country::UnitedStates), ..all.clone() },
            &["adak", "buffalo", "shemya"],
        ),
        (
            StationFilter { networks: vec!["swob".into(), "NDBC".into()], ..all.clone() },
            &["atlantic", "oakville"],
        ),
        (
            StationFilter { station_types: vec![StationType::OpenCountry], ..all.clone() },
            &["oakville", "toronto"],
        ),
        (
            StationFilter { variables: vec![Variable::WindSpeed], ..all.clone() },
            &["buffalo", "oakville"],
        ),
        (
            StationFilter { min_altitude_m: Some(36.0), ..all.clone() },
            &["buffalo", "montreal", "toronto"],
        ),
        (
            StationFilter { max_altitude_m: Some(31.0), ..all.clone() },
            &["adak", "atlantic", "shemya"],
        ),
        (
            StationFilter {
                bbox: Some(BBox::new(170.0, 50.0, -170.0, 55.0).unwrap()),
                ..all.clone()
            },
            &["adak", "shemya"],
        ),
    ];
    for (filter, expected) in cases {
        assert!(!filter.is_empty());
        assert_eq!(sorted(&filter), expected, "{filter:?}");
    }
}

#[test]
fn conditions_hold_together() {
    let filter = StationFilter {
        regions: vec!["ON".parse().unwrap()],
        networks: vec!["METAR".into()],
        ..StationFilter::default()
    };
    assert_eq!(names(&filter), ["toronto"]);
    let both = vec![Variable::WindSpeed, Variable::AirTemperature];
    let filter = StationFilter { variables: both, ..StationFilter::default() };
    assert!(names(&filter).is_empty(), "a station needs a series of each variable");
    let directory = store().directory().unwrap();
    let filter = StationFilter { regions: vec!["ON".parse().unwrap()], ..StationFilter::default() };
    assert!(filter.select(&directory, &|_| false).is_empty());
}

#[test]
fn stations_around_a_place_come_by_distance() {
    let from = place(-79.38, 43.65);
    assert_eq!(names(&near(Near::new(from).within_km(200.0))), ["toronto", "oakville", "buffalo"]);
    assert_eq!(names(&near(Near::new(from).nearest(2))), ["toronto", "oakville"]);
    // The nearest of those that match, not those that match of the nearest.
    let filter =
        StationFilter { networks: vec!["NDBC".into()], ..near(Near::new(from).nearest(1)) };
    assert_eq!(names(&filter), ["atlantic"]);
    let directory = store().directory().unwrap();
    let found = near(Near::new(from).nearest(1)).select(&directory, &|_| true);
    let away = found[0].away.unwrap();
    assert_eq!(away.to_string(), "\"distanceKm\":20.38,\"bearing\":280");
}

#[test]
fn circles_cross_the_antimeridian_and_the_pole() {
    assert_eq!(names(&near(Near::new(place(180.0, 52.0)).within_km(500.0))), ["adak", "shemya"]);
    assert_eq!(names(&near(Near::new(place(-180.0, 52.0)).within_km(500.0))), ["adak", "shemya"]);
    let pole = near(Near::new(place(0.0, 90.0)));
    assert_eq!(names(&pole)[0], "shemya");
    assert_eq!(names(&near(Near::new(place(0.0, 90.0)).within_km(3_000.0))).len(), 0);
}

#[test]
fn a_bearing_is_less_than_360_as_it_is_written() {
    let due_north = Away { distance_km: 1.0, bearing_deg: 359.7 };
    assert_eq!(due_north.to_string(), "\"distanceKm\":1,\"bearing\":0");
}

#[test]
fn a_box_alone_is_told_from_a_box_with_more() {
    let bbox = BBox::new(-80.0, 43.0, -79.0, 44.0).unwrap();
    let filter = StationFilter { bbox: Some(bbox), ..StationFilter::default() };
    assert_eq!(filter.only_box(), Some(bbox));
    assert_eq!(StationFilter { country: Some(Country::Canada), ..filter }.only_box(), None);
    assert_eq!(StationFilter::default().only_box(), None);
}
