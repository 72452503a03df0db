//! The reader of api.weather.gov's observations on real files.

use std::fs;

use crate::shown::shown;
use mesonet::feed::{FeedReport, FileContext, read_nws_observations};
use mesonet::{Iso8601, feed};
use proptest::prelude::*;

fn bytes(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/nws_observation");
    fs::read(format!("{folder}/{name}.json")).unwrap()
}

fn read(name: &str) -> (Vec<FeedReport>, feed::Summary) {
    let text = bytes(name);
    assert_eq!(feed::Kind::detect(name, &text), Some(feed::Kind::NwsObservation), "{name}");
    let mut all = Vec::new();
    let file = FileContext::new(name, 0);
    let summary = feed::Kind::NwsObservation
        .read(&mut text.as_slice(), &file, &mut |item| all.extend(item.into_report()));
    (all, summary.unwrap())
}

#[test]
fn every_document_is_read_to_its_end() {
    let stations = ["KALB", "KAQW", "KDDH", "KOWD", "KSFZ", "KTAN", "PGRO", "PGUA", "PGUM"];
    let counts = stations.map(|station| {
        let (all, summary) = read(&format!("{station}_observations_limit1"));
        assert_eq!((summary.read, summary.refused, all.len()), (1, 0, 1), "{station}");
        assert_eq!(all[0].station.native_id, station);
        assert_eq!(summary.unread_values.total() + summary.kept_as_reported.total(), 0);
        summary.readings
    });
    assert_eq!(counts, [6, 7, 11, 10, 7, 11, 9, 11, 12]);
}

/// Documents that another program edited for its tests: name, read, refused, readings, and values
/// that are not numbers.
#[test]
fn edited_documents() {
    for (name, read_, refused, readings, unread) in [
        ("observations", 1, 0, 15, 0),
        ("observations_alternate_units", 1, 0, 15, 0),
        ("observations_empty", 0, 1, 0, 0),
        ("observations_latest", 1, 0, 15, 0),
        ("observations_metar", 1, 0, 2, 0),
        ("observations_metar_noparse", 1, 0, 2, 0),
        ("observations_missing_value", 0, 1, 0, 0),
        ("observations_multiple", 2, 0, 17, 0),
        ("observations_multiple_unsorted", 2, 0, 26, 0),
        ("observations_other_unitcode", 1, 0, 15, 0),
        ("observations_relative_icon", 1, 0, 15, 0),
        ("observations_strings", 1, 0, 2, 12),
    ] {
        let (_, summary) = read(&format!("pynws/stations_{name}"));
        assert_eq!(
            (summary.read, summary.refused, summary.readings, summary.unread_values.total()),
            (read_, refused, readings, unread),
            "{name}"
        );
    }
    let (_, summary) = read("pynws/stations_observations_alternate_units");
    let kept: Vec<_> = summary.kept_as_reported.iter().collect();
    assert_eq!(kept, [("airTemperature in \"unit:degF\"", 1)]);
    let (_, summary) = read("pynws/stations_observations_empty");
    assert_eq!(summary.refusals[0].reason.to_string(), "no timestamp");
}

#[test]
fn documents_without_an_observation_are_refused() {
    for (name, kind) in [
        ("alerts_active_zone", Some(feed::Kind::NwsAlerts)),
        ("alerts_active_zone_second", Some(feed::Kind::NwsAlerts)),
        ("stations_observations_noprop", None),
    ] {
        assert_eq!(feed::Kind::detect(name, &bytes(&format!("pynws/{name}"))), kind, "{name}");
    }
}

#[test]
fn an_observation_says_what_its_metar_says() {
    // PGUM 141554Z 10008KT 10SM BKN047 27/24 A2983 RMK AO2 SLP093 T02720244
    let (all, _) = read("PGUM_observations_limit1");
    let item = &all[0];
    assert_eq!(Iso8601(item.report.ts_ms).to_string(), "2026-05-14T15:54:00Z");
    assert_eq!(item.station.name.as_deref(), Some("Guam International Airport"));
    assert_eq!(item.station.altitude_m, Some(91.0));
    let place = item.station.place.unwrap();
    assert_eq!((place.lon(), place.lat()), (144.8, 13.48));
    assert_eq!(item.report.present_weather, Some(vec![]));
    assert_eq!(
        shown(item),
        [
            "airTemperature Instantaneous 0 27.2 °C Good",
            "dewPointTemperature Instantaneous 0 24.4 °C Good",
            "windSpeed Average 2 14.76 km/h Good",
            "windDirection Average 2 100 ° Good",
            "altimeterSetting Instantaneous 0 1010.2 hPa Good",
            "mslp Instantaneous 0 1009.3 hPa Good",
            "visibility Instantaneous 0 16.09 km Unknown",
            "relativeHumidity Instantaneous 0 84.708481304408 % Good",
            "heatIndex Instantaneous 0 30.70172395369111 °C Good",
            "cloudCover Instantaneous 0 7 okta Unknown",
            "cloudBaseHeight Instantaneous 0 1430 m Unknown",
            "barometricPressure Instantaneous 0 999.6364142814672 hPa Good",
        ]
    );
    let (all, _) = read("KSFZ_observations_limit1");
    assert_eq!(all[0].report.present_weather, Some(vec!["Haze".to_owned()]));
    // The latest observation of one station is a Feature, not a collection.
    let (all, _) = read("pynws/stations_observations_latest");
    assert_eq!(shown(&all[0])[9], "precipitation Cumulative 360 0 mm Unknown");
}

#[test]
fn a_document_that_is_cut_anywhere_is_an_error() {
    let text = bytes("PGUM_observations_limit1");
    let whole = text.trim_ascii_end().len();
    for end in 0..whole {
        assert!(read_nws_observations(&text[..end], |_| {}).is_err(), "{end}");
    }
    assert_eq!(read_nws_observations(&text[..whole], |_| {}).unwrap().read, 1);
}

proptest! {
    #[test]
    fn damaged_documents_do_not_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..10),
    ) {
        let mut text = bytes("pynws/stations_observations_multiple_unsorted");
        for (at, byte) in damage {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let _ = read_nws_observations(text.as_slice(), |item| {
            assert!(item.report.readings.iter().all(|one| one.value.is_finite()));
        });
    }
}
