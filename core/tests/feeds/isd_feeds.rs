//! The reader of the Integrated Surface Data on real files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use crate::shown::shown;
use flate2::read::GzDecoder;
use mesonet::feed::metar::Metar;
use mesonet::feed::{FeedReport, read_isd};
use mesonet::{BaseQuality, IntervalType, Iso8601, Variable, feed};
use proptest::prelude::*;

fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/../tests/data/isd/{name}.txt.gz", env!("CARGO_MANIFEST_DIR"));
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn read(text: &[u8]) -> (Vec<FeedReport>, feed::Summary) {
    let mut all = Vec::new();
    let summary = read_isd(text, |item| all.push(item)).unwrap();
    assert_eq!(summary.read, all.len() as u64);
    (all, summary)
}

fn at<'r>(all: &'r [FeedReport], time: &str) -> &'r FeedReport {
    all.iter().find(|item| Iso8601(item.report.ts_ms).to_string() == time).unwrap()
}

fn count(all: &[FeedReport], of: (Variable, IntervalType, i32)) -> usize {
    let readings = all.iter().flat_map(|item| &item.report.readings);
    readings
        .filter(|reading| {
            let series = &reading.series;
            (series.variable, series.interval_type, series.interval_minutes) == of
        })
        .count()
}

fn verdicts(all: &[FeedReport]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for reading in all.iter().flat_map(|item| &item.report.readings) {
        *counts.entry(reading.quality.base.name()).or_default() += 1;
    }
    counts
}

#[test]
fn a_year_of_an_airport() {
    use IntervalType::{Average, Cumulative, Instantaneous, Max, Min};
    let (all, summary) = read(&bytes("DS3505_KAMW_2016"));
    assert_eq!((summary.read, summary.refused), (12_146, 0));
    assert_eq!(summary.kept_as_reported.total() + summary.unread_values.total(), 0);
    let without: BTreeMap<_, _> = summary.without_variable.iter().collect();
    assert_eq!(without["AA condition 1"], 3);
    assert_eq!(without["AA since the last hourly report"], 1_055);
    assert_eq!((without["OE"], without["KC"]), (1_098, 24));
    assert!(!without.contains_key("GA") && !without.contains_key("MA altimeter setting"));
    assert!(all.iter().all(|item| item.station.id() == item.report.station));

    assert_eq!(count(&all, (Variable::AirTemperature, Instantaneous, 0)), 11_768);
    assert_eq!(count(&all, (Variable::AirTemperature, Max, 1440)), 729);
    assert_eq!(count(&all, (Variable::AirTemperature, Min, 360)), 1_422);
    assert_eq!(count(&all, (Variable::WindSpeed, Average, 2)), 11_733);
    assert_eq!(count(&all, (Variable::WindGust, Max, 10)), 1_896);
    assert_eq!(count(&all, (Variable::Precipitation, Cumulative, 60)), 8_764);
    assert_eq!(
        verdicts(&all),
        BTreeMap::from([("Doubtful", 35), ("Good", 137_096), ("Unknown", 6_757)])
    );

    // METAR KAMW 010553Z 26011KT 10SM OVC029 M06/M09 A3029 RMK … SLP272 T10611089 11061 21089
    // 410561144, which are temperatures of 6 and 24 hours.
    let item = at(&all, "2016-01-01T05:53:00Z");
    assert_eq!((item.station.native_id.as_str(), item.report.revision), ("725472-94989", 2));
    assert_eq!(
        (item.station.name.as_deref(), item.station.altitude_m),
        (Some("KAMW"), Some(291.0))
    );
    let place = item.station.place.unwrap();
    assert_eq!((place.lon(), place.lat()), (-93.619, 41.991));
    assert_eq!(item.report.present_weather, None);
    assert_eq!(
        shown(item),
        [
            "windSpeed Average 2 20.52 km/h Good",
            "windDirection Average 2 260 ° Good",
            "ceilingHeight Instantaneous 0 884 m Good",
            "visibility Instantaneous 0 16.093 km Good",
            "airTemperature Instantaneous 0 -6.1 °C Good",
            "dewPointTemperature Instantaneous 0 -8.9 °C Good",
            "mslp Instantaneous 0 1027.2 hPa Good",
            "precipitation Cumulative 60 0 mm Good",
            "cloudCover Instantaneous 0 8 okta Good",
            "cloudBaseHeight Instantaneous 0 884 m Good",
            "airTemperature Max 360 -6.1 °C Good",
            "airTemperature Min 360 -8.9 °C Good",
            "airTemperature Max 1440 -5.6 °C Good",
            "airTemperature Min 1440 -14.4 °C Good",
            "altimeterSetting Instantaneous 0 1025.7 hPa Good",
            "barometricPressure Instantaneous 0 990.9 hPa Good",
            "pressureTendencyCharacter Unknown 180 6  Unknown",
            "pressureTendency Cumulative 180 -0.6 hPa Unknown",
        ]
    );
    // SPECI KAMW 062050Z 15011KT 6SM -RA BR … UPE07RAB07 P0002: not an amount of an hour.
    let special = at(&all, "2016-01-06T20:50:00Z");
    assert_eq!(special.report.revision, 3);
    assert_eq!(
        special.report.present_weather,
        Some(vec!["Light rain".to_owned(), "Mist".to_owned()])
    );
    assert!(
        special.report.readings.iter().all(|one| one.series.variable != Variable::Precipitation)
    );
    // The summary of a day: its amount, its extremes and its humidity.
    let day = at(&all, "2016-01-01T05:59:00Z");
    assert_eq!(
        shown(day),
        [
            "precipitation Cumulative 1440 0 mm Good",
            "airTemperature Max 1440 -5.5 °C Good",
            "airTemperature Min 1440 -14.3 °C Good",
            "relativeHumidity Max 1440 91 % Unknown",
            "relativeHumidity Min 1440 68 % Unknown",
            "relativeHumidity Average 1440 79 % Unknown",
        ]
    );
}

/// The remarks hold the report that a record was made from.
#[test]
fn records_say_what_the_report_in_their_remarks_says() {
    let text = bytes("DS3505_KAMW_2016");
    let (mut temperatures, mut winds, mut weathers, mut other_weather) = (0, 0, 0, 0);
    for line in text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let record = String::from_utf8_lossy(line);
        let record = &record[..record.find("EQD").unwrap_or(record.len())];
        let remarks = record.find("METAR KAMW").or(record.find("SPECI KAMW"));
        let Some(Ok(metar)) = remarks.map(|at| Metar::parse(&record[at..])) else { continue };
        let (read, _) = read(line);
        let report = &read[0].report;
        let value = |variable, minutes| {
            let mut readings = report.readings.iter();
            let found = readings.find(|one| {
                one.series.variable == variable && one.series.interval_minutes == minutes
            });
            found.map(|one| one.value)
        };
        if let (Some(ours), Some(theirs)) =
            (value(Variable::AirTemperature, 0), metar.air_temperature_tenths_c())
        {
            temperatures += u32::from((ours - f64::from(theirs) / 10.0).abs() < 0.01);
        }
        if let (Some(ours), Some(theirs)) =
            (value(Variable::WindSpeed, 2), metar.wind.and_then(|wind| wind.speed))
        {
            winds += u32::from((ours - f64::from(theirs) * 1.852).abs() < 0.2);
        }
        if let Some(ours) = &report.present_weather {
            let theirs: Vec<_> = metar.weather.iter().map(ToString::to_string).collect();
            if *ours == theirs {
                weathers += 1;
            } else {
                other_weather += 1;
            }
        }
    }
    assert_eq!((temperatures, winds, weathers, other_weather), (11_767, 11_733, 3_108, 0));
}

#[test]
fn a_year_of_an_island() {
    use IntervalType::{Average, Cumulative, Max, Unknown};
    let (all, summary) = read(&bytes("DS3505"));
    assert_eq!((summary.read, summary.refused), (2_907, 0));
    let without: Vec<_> = summary.without_variable.iter().collect();
    assert_eq!(without, [("AG", 2_907), ("AY", 4_045), ("GF", 2_907), ("IA", 1)]);
    assert_eq!(count(&all, (Variable::WindSpeed, Average, 10)), 2_896);
    assert_eq!(count(&all, (Variable::AirTemperature, Max, 720)), 359);
    assert_eq!(count(&all, (Variable::Precipitation, Cumulative, 360)), 909);
    // The periods of 524 amounts and of the gusts are not stated.
    assert_eq!(count(&all, (Variable::Precipitation, Unknown, 0)), 524);
    assert_eq!(count(&all, (Variable::WindGust, Unknown, 0)), 1_306);
    assert_eq!(
        verdicts(&all),
        BTreeMap::from([("Doubtful", 9), ("Good", 28_909), ("Unknown", 619)])
    );
    let sea = at(&all, "1988-01-01T12:00:00Z");
    assert_eq!(shown(sea).last().unwrap(), "seaSurfaceTemperature Instantaneous 0 -1.8 °C Unknown");
    let snow = at(&all, "1988-01-01T00:00:00Z");
    assert_eq!(snow.report.present_weather, Some(vec!["Blowing snow".to_owned()]));
    assert_eq!(snow.report.revision, 1);
    let calm = all.iter().filter(|item| {
        let readings = &item.report.readings;
        readings.iter().any(|one| one.series.variable == Variable::WindSpeed && one.value == 0.0)
    });
    let mut calms = 0;
    for item in calm {
        let has_direction = shown(item).iter().any(|one| one.starts_with("windDirection"));
        assert!(!has_direction, "{:?}", shown(item));
        calms += 1;
    }
    assert_eq!(calms, 124);
    assert!(all.iter().all(|item| {
        item.report
            .readings
            .iter()
            .all(|one| one.quality.base != BaseQuality::Suppressed && one.value.is_finite())
    }));
}

#[test]
fn a_file_that_is_cut_anywhere_loses_one_record() {
    let text = bytes("DS3505");
    let text = &text[..40_000];
    for end in (0..text.len()).step_by(61) {
        let (all, summary) = read(&text[..end]);
        let whole = text[..end].split(|&byte| byte == b'\n').count() - 1;
        assert!(all.len() >= whole, "{end}");
        assert!(summary.refused <= 1, "{end}: {:?}", summary.refusals);
    }
}

proptest! {
    #[test]
    fn damaged_records_do_not_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..30),
    ) {
        let mut text = bytes("DS3505");
        text.truncate(20_000);
        for (at, byte) in damage {
            let at = at.index(text.len());
            text[at] = byte;
        }
        let mut read = 0;
        let summary = read_isd(text.as_slice(), |item| {
            read += 1;
            assert!(item.report.readings.iter().all(|one| one.value.is_finite()));
        });
        prop_assert_eq!(summary.unwrap().read, read);
    }
}
