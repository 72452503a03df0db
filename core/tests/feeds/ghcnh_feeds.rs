//! The reader of GHCNh on real files.

use crate::shown::shown;
use mesonet::feed::{FeedReport, read_ghcnh};
use mesonet::{Iso8601, feed};
use proptest::prelude::*;

const FILES: [&str; 4] = ["FPI0000NTAT", "USW00013967", "USW00024135", "USW00026442"];

fn bytes(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/ghcnh");
    std::fs::read(format!("{folder}/GHCNh_{name}_por.psv")).unwrap()
}

fn read(name: &str) -> (Vec<FeedReport>, feed::Summary) {
    let mut all = Vec::new();
    let summary = read_ghcnh(bytes(name).as_slice(), |item| all.push(item)).unwrap();
    assert_eq!(summary.read, all.len() as u64);
    (all, summary)
}

#[test]
fn every_table_is_read_to_its_end() {
    let counts = FILES.map(|name| {
        let (all, summary) = read(name);
        assert_eq!(summary.kept_as_reported.total() + summary.unread_values.total(), 0);
        let readings: usize = all.iter().map(|item| item.report.readings.len()).sum();
        (summary.read, summary.refused, readings)
    });
    assert_eq!(counts, [(1, 0, 12), (4, 1, 57), (5, 0, 59), (1, 0, 16)]);
    let (_, summary) = read("USW00013967");
    assert_eq!(
        summary.refusals[0].to_string(),
        "line 6: 1 fields, but the header has 238 (in \"TOOSHORT\")"
    );
}

#[test]
fn rows_say_what_their_remarks_say() {
    // METAR KBTM 052153Z 30003KT 2SM -SN BR BKN034 OVC046 M02/M03 A3012 RMK AO2 SLP250 P0000
    // T10171033
    let (all, summary) = read("USW00024135");
    let snow = &all[1];
    assert_eq!(Iso8601(snow.report.ts_ms).to_string(), "2025-01-05T21:53:00Z");
    assert_eq!(snow.station.name.as_deref(), Some("BUTTE BERT MOONEY AP"));
    assert_eq!(snow.station.altitude_m, Some(1677.9));
    let place = snow.station.place.unwrap();
    assert_eq!((place.lon(), place.lat()), (-112.5014, 45.9644));
    assert_eq!(snow.report.present_weather, Some(vec!["Light snow".to_owned(), "Mist".to_owned()]));
    assert_eq!(
        shown(snow),
        [
            "airTemperature Instantaneous 0 -1.7 °C Good",
            "dewPointTemperature Instantaneous 0 -3.3 °C Good",
            "barometricPressure Instantaneous 0 832 hPa Unknown",
            "mslp Instantaneous 0 1025 hPa Good",
            "windDirection Average 2 300 ° Good",
            "windSpeed Average 2 5.4 km/h Good",
            "precipitation Cumulative 60 0 mm Good",
            "relativeHumidity Instantaneous 0 89 % Unknown",
            "wetBulbTemperature Instantaneous 0 -2.3 °C Unknown",
            "visibility Instantaneous 0 3.219 km Good",
            "altimeterSetting Instantaneous 0 1020 hPa Unknown",
            "cloudCover Instantaneous 0 7 okta Good",
            "cloudBaseHeight Instantaneous 0 1036 m Good",
            "cloudCover Instantaneous 0 8 okta Good",
            "cloudBaseHeight Instantaneous 0 1402 m Good",
        ]
    );
    // The two SPECI have amounts since the last hourly report.
    let without: Vec<_> = summary.without_variable.iter().collect();
    assert!(without.contains(&("precipitation since the last hourly report", 2)));

    // METAR PAVW 0850 VRB02KT …
    let (all, _) = read("USW00026442");
    let readings = shown(&all[0]);
    assert!(readings.contains(&"windSpeed Average 2 3.6 km/h Good".to_owned()));
    assert!(!readings.iter().any(|one| one.starts_with("windDirection")));
}

#[test]
fn a_source_without_codes_has_no_verdict() {
    let (all, _) = read("FPI0000NTAT");
    let readings = shown(&all[0]);
    assert_eq!(readings[0], "airTemperature Instantaneous 0 25.9 °C Unknown");
    assert_eq!(readings[5], "windSpeed Unknown 0 20.88 km/h Unknown");
    assert_eq!(readings[10], "pressureTendency Cumulative 180 -0.1 hPa Good");
    assert_eq!(readings[11], "precipitation Cumulative 180 0.2 mm Unknown");
    // The table says 20000 where kilometres are expected; the checks catch that.
    assert_eq!(readings[9], "visibility Instantaneous 0 20000 km Unknown");
}

#[test]
fn a_file_that_is_cut_anywhere_is_read_to_there() {
    let text = bytes("USW00024135");
    let header = text.iter().position(|&byte| byte == b'\n').unwrap();
    for end in (0..text.len()).step_by(17) {
        match read_ghcnh(&text[..end], |_| {}) {
            Ok(summary) => assert!(summary.refused <= 1, "{end}"),
            Err(_) => assert!(end < header, "{end}"),
        }
    }
}

proptest! {
    #[test]
    fn damaged_tables_do_not_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let mut text = bytes("USW00024135");
        for (at, byte) in damage {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let _ = read_ghcnh(text.as_slice(), |item| {
            assert!(item.report.readings.iter().all(|one| one.value.is_finite()));
        });
    }
}
