//! The readers of Canada's feeds, SWOB-ML and the provincial summaries, on real files: how many
//! reports and readings each has, what is left out, and what they say.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;

use flate2::read::GzDecoder;
use mesonet::feed::{FeedReport, FileContext, read_eccc_hourly, read_swob};
use mesonet::{Iso8601, Reading, feed};
use proptest::prelude::*;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data");

fn bytes(path: &str) -> Vec<u8> {
    let mut all = Vec::new();
    let file = File::open(format!("{DATA}/{path}.gz")).unwrap();
    GzDecoder::new(file).read_to_end(&mut all).unwrap();
    all
}

/// Returns the paths of the files of a folder, without the compression extension.
fn files(folder: &str) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(format!("{DATA}/{folder}"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| Some(format!("{folder}/{}", name.strip_suffix(".gz")?)))
        .collect();
    names.sort_unstable();
    names
}

fn read(kind: feed::Kind, path: &str) -> (Vec<FeedReport>, feed::Summary) {
    let mut all = Vec::new();
    let file = FileContext::new(path, 0);
    let summary = kind
        .read(&mut &bytes(path)[..], &file, &mut |item| all.extend(item.into_report()))
        .unwrap();
    assert_eq!(summary.read, all.len() as u64);
    for item in &all {
        assert_eq!(item.report.station, item.station.id());
        let mut keys: Vec<_> = item.report.readings.iter().map(|one| one.series.id()).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), item.report.readings.len(), "{path}: a series comes once");
    }
    (all, summary)
}

/// Formats a report: its station, then one line for each reading.
fn shown(item: &FeedReport) -> String {
    let FeedReport { station, report, .. } = item;
    let mut text = format!(
        "{} {} {:?} {:?} {:?} m, sensor {:?} m, {:?}, {} r{}\n",
        station.network,
        station.native_id,
        station.name.as_deref().unwrap_or("-"),
        station.place.map_or((0.0, 0.0), |place| (place.lon(), place.lat())),
        station.altitude_m.unwrap_or(f64::NAN),
        station.sensor_height_m.unwrap_or(f64::NAN),
        station.station_type,
        Iso8601(report.ts_ms),
        report.revision,
    );
    for Reading { series, value, quality, .. } in &report.readings {
        writeln!(
            text,
            "  {} {} {} {value} {} {:?}/{:?}{}",
            series.variable,
            series.interval_type,
            series.interval_minutes,
            series.reported_unit,
            quality.base,
            quality.reason,
            if series.bucket.is_empty() { String::new() } else { format!(", {}", series.bucket) },
        )
        .unwrap();
    }
    text
}

/// Asserts what one document of one station says.
fn assert_says(path: &str, expected: &str) {
    let (all, _) = read(feed::Kind::Swob, path);
    assert_eq!(all.len(), 1);
    assert_eq!(shown(&all[0]), expected, "{path}");
}

#[test]
fn swob_documents_of_all_providers() {
    let mut counts = String::new();
    for folder in ["eccc", "cioos", "partner"] {
        for path in files(&format!("swob/{folder}")) {
            let (all, summary) = read(feed::Kind::Swob, &path);
            assert_eq!((summary.read, summary.refused), (1, 0), "{path}");
            assert_eq!(summary.kept_as_reported.total(), 0, "{path}: every unit is known");
            assert_eq!(summary.unread_values.total(), 0, "{path}");
            let station = &all[0].station;
            writeln!(
                counts,
                "{} {}: {} readings, {} left out",
                station.network,
                station.native_id,
                summary.readings,
                summary.without_variable.total()
            )
            .unwrap();
        }
    }
    assert_eq!(counts, PROVIDERS);
}

const PROVIDERS: &str = "\
NAV CANADA 5062835: 14 readings, 3 left out
MSC 8205092: 47 readings, 12 left out
MSC 4057165: 47 readings, 12 left out
MSC 8101605: 48 readings, 13 left out
MSC 7091410: 43 readings, 12 left out
MSC 2300904: 47 readings, 9 left out
MSC 8200573: 28 readings, 5 left out
MSC 8400601: 41 readings, 8 left out
BC-CRD BC-CRD_FW006: 14 readings, 0 left out
MSC 9100640: 18 readings, 6 left out
NAV CANADA 7106223: 21 readings, 4 left out
MSC 4047240: 37 readings, 9 left out
MSC 1108291: 14 readings, 8 left out
GRCA ON_GRCA_15095: 1 readings, 0 left out
DFO-CCG 1018238: 4 readings, 2 left out
BC-ENV BC_ENV-ASW_1A01P: 9 readings, 20 left out
BC-TRAN BC_TRAN_11091: 1 readings, 0 left out
";

/// MSC GeoMet makes a feature from each document, so both say the same.
#[test]
fn a_feature_of_geomet_is_the_document_that_it_was_made_from() {
    let mut compared = 0;
    for path in files("geomet_swob") {
        let Some(name) = path.strip_prefix("geomet_swob/").unwrap().strip_suffix(".geojson") else {
            continue;
        };
        let (features, summary) = read(feed::Kind::GeometSwob, &path);
        let (documents, of_document) = read(feed::Kind::Swob, &format!("swob/eccc/{name}.xml"));
        assert_eq!(shown(&features[0]), shown(&documents[0]), "{path}");
        assert_eq!(features, documents, "{path}");
        // An element that a document has twice comes once in the feature.
        for (name, count) in summary.without_variable.iter() {
            assert!(of_document.without_variable.iter().any(|of| of == (name, count)), "{name}");
        }
        compared += 1;
    }
    assert_eq!(compared, 8);
}

#[test]
fn a_response_of_geomet() {
    let path = "geomet_swob/swob-realtime_3081680_limit1.json";
    let (all, summary) = read(feed::Kind::GeometSwob, path);
    assert_eq!((all.len(), summary.refused, summary.kept_as_reported.total()), (1, 0, 0));
    assert_eq!(shown(&all[0]), COLD_LAKE);
    let ids: Vec<_> =
        all[0].station.identifiers.iter().map(|(scheme, id)| format!("{scheme} {id}")).collect();
    assert_eq!(ids, ["wmo 71120", "msc 3081680", "climate 3081680", "transportCanada YOD"]);
}

const COLD_LAKE: &str = r#"MSC 3081680 "Cold Lake" (-110.28, 54.41) 541.0 m, sensor 10.0 m, None, 2026-09-10T15:00:00Z r0
  airTemperature Instantaneous 0 14.2 °C Good/None
  dewPointTemperature Instantaneous 0 9.2 °C Good/None
  windSpeed10m Average 2 14.8 km/h Good/None
  windDirection Average 2 260 ° Good/None
  mslp Instantaneous 0 1003.8 hPa Good/None
  barometricPressure Instantaneous 0 940.4 hPa Good/None
  relativeHumidity Instantaneous 0 72 % Good/None
  visibility Instantaneous 0 24.14 km Good/None
  altimeterSetting Instantaneous 0 1003.0483152690042 hPa Good/None
  pressureTendency Cumulative 180 0.3 hPa Good/None
  pressureTendencyCharacter Unknown 180 2  Good/None
  cloudBaseHeight Instantaneous 0 5400 m Good/None, layer 1
  cloudBaseHeight Instantaneous 0 6300 m Good/None, layer 2
"#;

#[test]
fn swob_of_a_network_of_fire_weather() {
    let mut total = feed::Summary::default();
    let mut ids = Vec::new();
    for path in files("swob/bc_forestry") {
        let (all, summary) = read(feed::Kind::Swob, &path);
        ids.extend(all.iter().map(|item| item.station.id()));
        total.read += summary.read;
        total.readings += summary.readings;
        total.refused += summary.refused;
        total.without_variable.merge(&summary.without_variable);
        total.kept_as_reported.merge(&summary.kept_as_reported);
        total.unread_values.merge(&summary.unread_values);
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((total.read, total.readings, total.refused, ids.len()), (156, 1583, 0, 156));
    // The content of gauges and hourly precipitation that come twice.
    let left: Vec<_> = total.without_variable.iter().collect();
    assert_eq!(left, [("cum_pcpn_gag_wt", 70), ("pcpn_amt_pst1hr", 35)]);
    assert_eq!((total.kept_as_reported.total(), total.unread_values.total()), (0, 0));
    assert_says("swob/bc_forestry/2022-06-17-1100-bc-forestry-101-101-AUTO-swob.xml", FORESTRY);
}

/// A collection has any number of observations.
#[test]
fn a_swob_collection_reads_as_its_members_do() {
    let (mut apart, mut collection) = (Vec::new(), String::new());
    for path in files("swob/bc_forestry") {
        apart.extend(read(feed::Kind::Swob, &path).0);
        let text = String::from_utf8(bytes(&path)).unwrap();
        let member = text.find("<om:member>").unwrap()..text.find("</om:ObservationColl").unwrap();
        if collection.is_empty() {
            collection.push_str(&text[..member.start]);
        }
        collection.push_str(&text[member]);
    }
    collection.push_str("</om:ObservationCollection>");
    let mut together = Vec::new();
    let summary = read_swob(collection.as_bytes(), |item| together.push(item)).unwrap();
    assert_eq!((summary.read, summary.refused), (156, 0));
    assert_eq!(together, apart);
}

#[test]
fn what_swob_documents_say() {
    // Temperatures to a tenth, a missing extreme, and a total that comes once with a value and once
    // without.
    assert_says("swob/cioos/2023-03-01-0341-CYPX-AUTO-swob.xml", CYPX);
    // One mean is suppressed, others are computed from incomplete data.
    assert_says("swob/cioos/2023-03-01-0354-CWTS-AUTO-minute-swob.xml", CWTS);
    // A buoy: no provider is named, the sensor is at 5 m.
    assert_says("swob/cioos/2023-02-01-0615-46036-AUTO-swob.xml", BUOY);
    assert_says("swob/cioos/20230130T1140Z_DFO-CCG_SWOB_1018238.xml", LIGHTHOUSE);
    // Two thermometers, neither of them the station's.
    assert_says(
        "swob/partner/2019-11-05-1300-bc-env-snow-BC_ENV-ASW_1A01P-AUTO-swob.xml",
        SNOW_PILLOW,
    );
}

const CYPX: &str = r#"NAV CANADA 7106223 "Puvirnituq" (-77.2876, 60.0521) 25.3 m, sensor 10.0 m, None, 2023-03-01T03:41:00Z r0
  airTemperature Instantaneous 0 -22.4 °C Good/None
  airTemperature Max 60 -22.4 °C Good/None
  airTemperature Min 60 -22.7 °C Good/None
  dewPointTemperature Instantaneous 0 -25.1 °C Good/None
  windSpeed10m Average 2 35.3 km/h Good/None
  windSpeed10m Average 10 37.1 km/h Good/None
  windGust10m Max 60 44.6 km/h Good/None
  windDirection Average 2 90 ° Good/None
  windDirection Average 10 87 ° Good/None
  mslp Instantaneous 0 1013.3 hPa Good/None
  barometricPressure Instantaneous 0 1009.9 hPa Good/None
  relativeHumidity Instantaneous 0 79 % Good/None
  precipitation Cumulative 60 0 mm Good/None
  precipitation Cumulative 360 0 mm Good/None
  visibility Average 10 9.66 km Good/None
  maxWindDirection Max 60 89 ° Good/None
  altimeterSetting Instantaneous 0 1012.8688423259931 hPa Good/None
  cloudBaseHeight Instantaneous 0 2740 m Good/None, layer 1
  cloudBaseHeight Instantaneous 0 4270 m Good/None, layer 2
"#;

const CWTS: &str = r#"MSC 4047240 "SCOTT CDA" (-108.834815, 52.359879) 661.1 m, sensor 10.0 m, None, 2023-03-01T03:54:00Z r0
  airTemperature Instantaneous 0 -18.1 °C Good/None
  airTemperature Average 60 -18.1 °C Unknown/None
  airTemperature Max 60 -17.4 °C Unknown/None
  airTemperature Min 60 -19.4 °C Unknown/None
  dewPointTemperature Instantaneous 0 -21.3 °C Unknown/None
  dewPointTemperature Average 60 -21.3 °C Unknown/None
  windSpeed10m Average 1 4.8 km/h Good/None
  windSpeed10m Average 2 4.8 km/h Unknown/None
  windSpeed10m Average 10 4.6 km/h Unknown/None
  windSpeed10m Average 60 6.8 km/h Unknown/None
  windGust10m Max 1 5 km/h Good/None
  windGust10m Max 10 5.5 km/h Unknown/None
  windGust10m Max 60 9.9 km/h Unknown/None
  windDirection Average 1 122 ° Good/None
  wetBulbTemperature Instantaneous 0 -18.3 °C Unknown/None
  barometricPressure Instantaneous 0 935.5 hPa Good/None
  relativeHumidity Instantaneous 0 76 % Good/None
  relativeHumidity Average 60 76 % Unknown/None
  relativeHumidity Max 1 76 % Good/None
  relativeHumidity Max 60 78 % Unknown/None
  relativeHumidity Min 1 75 % Good/None
  relativeHumidity Min 60 74 % Unknown/None
  precipitation Cumulative 10 0 mm Unknown/None
  precipitation Cumulative 60 0 mm Unknown/None
  rainfall Cumulative 1 0 mm Good/None
  rainfall Cumulative 60 0 mm Unknown/None
  snowDepth Instantaneous 0 11 cm Good/None
  snowDepth Average 5 11 cm Good/None
  cumulativeGlobalSolarRadiation Cumulative 1 0 kJ/m² Suppressed/Unknown
  maxWindDirection Max 1 122 ° Good/None
  maxWindDirection Max 10 118 ° Unknown/None
  maxWindDirection Max 60 95 ° Unknown/None
  precipitationGaugeWeight Average 5 263.8 kg/m² Good/None
  precipitationGaugeWeight Average 5 263.8 kg/m² Unknown/None, sensor 1
  precipitationGaugeWeight Average 5 264.8 kg/m² Unknown/None, sensor 3
  windSpeed Average 1 2.9 km/h Good/None, precipitation gauge
  windSpeed Average 10 2.3 km/h Unknown/None, precipitation gauge
"#;

const BUOY: &str = r#"MSC 9100640 "SOUTH NOMAD" (-133.938, 48.355) 0.0 m, sensor 5.0 m, Some(OpenWater), 2023-02-01T06:15:00Z r0
  airTemperature Average 10 8.9 °C Good/None
  windDirection Average 10 195 ° Good/None
  mslp Average 10 1007.2 hPa Unknown/None
  seaSurfaceTemperature Average 10 8.7 °C Good/None
  windSpeed Average 10 24.1 km/h Good/None
  windSpeed Average 10 24.1 km/h Good/None, sensor 1
  windSpeed Average 10 24.5 km/h Suppressed/Unknown, sensor 2
  windGust Max 10 29.9 km/h Good/None
  windGust Max 10 29.9 km/h Good/None, sensor 1
  windGust Max 10 30.6 km/h Suppressed/Unknown, sensor 2
  barometricPressure Average 10 1007.2 hPa Good/None
  barometricPressure Average 10 1007.2 hPa Good/None, sensor 1
  barometricPressure Average 10 1007.2 hPa Suppressed/Unknown, sensor 2
  waveHeight Average 35 2.3 m Good/None
  waveHeightMax Max 35 3.5 m Good/None
  wavePeriodPeak Average 35 12.2 s Good/None
  pressureTendency Cumulative 180 -1.3 hPa Unknown/None
  pressureTendencyCharacter Unknown 180 8  Unknown/None
"#;

const LIGHTHOUSE: &str = r#"DFO-CCG 1018238 "TRIAL ISLAND" (-123.3049, 48.3951) 23.0 m, sensor NaN m, None, 2023-01-30T11:40:00Z r0
  windDirection Instantaneous 0 360 ° Good/None
  windSpeed Instantaneous 0 20.4 km/h Good/None
  visibility Instantaneous 0 24.14 km Good/None
  waveHeight Instantaneous 0 0 m Good/None
"#;

const SNOW_PILLOW: &str = r#"BC-ENV BC_ENV-ASW_1A01P "Yellowhead Lake" (-118.5478, 52.9063) 1860.0 m, sensor NaN m, None, 2019-11-05T13:00:00Z r0
  airTemperature Instantaneous 0 -3.2 °C Good/None
  precipitation Cumulative 60 2 mm Unknown/None
  precipitation Cumulative 180 3 mm Unknown/None
  precipitation Cumulative 360 4 mm Unknown/None
  precipitation Cumulative 720 7 mm Unknown/None
  precipitation Cumulative 1440 9 mm Unknown/None
  snowDepth Instantaneous 0 21 cm Good/None
  snowWaterEquivalent Instantaneous 0 21 mm Good/None
  precipitationSinceReset Instantaneous 0 488 mm Good/None
"#;

const FORESTRY: &str = r#"BC-FLNR-BCWS BC_WMB_101 "MACHMELL" (-126.450767, 51.593117) 332.0 m, sensor 10.0 m, None, 2022-06-17T11:00:00Z r0
  airTemperature Instantaneous 0 7.9 °C Good/None
  dewPointTemperature Instantaneous 0 7.1 °C Unknown/None
  windSpeed10m Average 10 1.6 km/h Good/None
  windDirection Average 10 189 ° Good/None
  relativeHumidity Instantaneous 0 95 % Good/None
  precipitation Cumulative 60 0 mm Good/None
  rainfall Cumulative 60 0 mm Good/None
  rainfall Cumulative 180 0 mm Unknown/None
  rainfall Cumulative 360 0 mm Unknown/None
  rainfall Cumulative 1440 0 mm Unknown/None
  snowDepth Instantaneous 0 193 cm Doubtful/Unknown
  precipitationGaugeWeight Instantaneous 0 0 kg/m² Good/None
"#;

#[test]
fn provincial_summaries() {
    let mut counts = String::new();
    for path in files("eccc_hourly").iter().filter(|path| path.contains("_v2.1")) {
        let (all, summary) = read(feed::Kind::EcccHourly, path);
        let with_weather = all.iter().filter(|item| item.report.present_weather.is_some()).count();
        assert_eq!((summary.refused, summary.kept_as_reported.total()), (0, 0), "{path}");
        assert_eq!(summary.unread_values.total(), 0, "{path}");
        writeln!(
            counts,
            "{}: {} reports, {} with weather, {} readings, {} left out",
            path.trim_start_matches("eccc_hourly/"),
            summary.read,
            with_weather,
            summary.readings,
            summary.without_variable.total()
        )
        .unwrap();
    }
    assert_eq!(counts, SUMMARIES);
}

const SUMMARIES: &str = "\
eccc_daily_bc_a_v2.1.xml: 109 reports, 0 with weather, 394 readings, 335 left out
eccc_daily_bc_b_v2.1.xml: 107 reports, 0 with weather, 387 readings, 330 left out
eccc_hourly_bc_2016-06-11T15_v2.1.xml: 133 reports, 45 with weather, 795 readings, 255 left out
eccc_hourly_bc_2016_b_v2.1.xml: 133 reports, 45 with weather, 799 readings, 253 left out
eccc_obs_v2.1_single.xml: 1 reports, 1 with weather, 8 readings, 3 left out
";

#[test]
fn what_provincial_summaries_say() {
    let (all, _) =
        read(feed::Kind::EcccHourly, "eccc_hourly/eccc_hourly_bc_2016-06-11T15_v2.1.xml");
    assert_eq!(shown(&all[0]), ABBOTSFORD);
    assert_eq!(all[0].report.present_weather, Some(vec!["Light Rainshower".to_owned()]));
    // Values of the last hour keep their time.
    let late: Vec<_> = all
        .iter()
        .map(|item| Iso8601(item.report.ts_ms).to_string())
        .filter(|time| !time.starts_with("2016-06-11T15:"))
        .collect();
    assert_eq!(late, ["2016-06-11T14:00:00Z"]);

    let (all, _) = read(feed::Kind::EcccHourly, "eccc_hourly/eccc_daily_bc_a_v2.1.xml");
    let kamloops = all.iter().find(|item| item.station.native_id == "1163781").unwrap();
    assert_eq!(shown(kamloops), KAMLOOPS);
}

const ABBOTSFORD: &str = r#"ECCC 1100031 "Abbotsford Airport" (-122.36, 49.025278) NaN m, sensor NaN m, None, 2016-06-11T15:07:00Z r0
  mslp Instantaneous 0 1021 hPa Unknown/None
  visibility Instantaneous 0 32.2 km Unknown/None
  airTemperature Instantaneous 0 12.3 °C Unknown/None
  dewPointTemperature Instantaneous 0 8.8 °C Unknown/None
  relativeHumidity Instantaneous 0 79 % Unknown/None
  windSpeed Unknown 0 19 km/h Unknown/None
  windDirection Unknown 0 180 ° Unknown/None
  windGust Unknown 0 36 km/h Unknown/None
"#;

const KAMLOOPS: &str = r#"ECCC 1163781 "Kamloops Airport" (-120.448611, 50.7025) NaN m, sensor NaN m, None, 2016-06-16T06:00:00Z r0
  airTemperature Max 1440 21 °C Unknown/None
  airTemperature Min 1440 4.2 °C Unknown/None
  precipitation Cumulative 1440 0 mm Unknown/None
  rainfall Cumulative 1440 0 mm Unknown/None
  snowfall Cumulative 1440 0 mm Unknown/None
  windGust Max 1440 31 km/h Unknown/None
"#;

#[test]
fn each_kind_is_told_from_the_other() {
    for folder in ["eccc", "cioos", "partner", "bc_forestry"] {
        for path in files(&format!("swob/{folder}")) {
            assert_eq!(feed::Kind::detect("x", &bytes(&path)), Some(feed::Kind::Swob), "{path}");
        }
    }
    for path in files("eccc_hourly") {
        let expected = path.contains("_v2.1").then_some(feed::Kind::EcccHourly);
        assert_eq!(feed::Kind::detect(&path, &bytes(&path)), expected, "{path}");
    }
    let message = |kind: feed::Kind, path: &str| {
        let file = FileContext::new(path, 0);
        kind.read(&mut &bytes(path)[..], &file, &mut |_| {}).unwrap_err().to_string()
    };
    let collection = "not an ObservationCollection in the schema \
                      http://dms.ec.gc.ca/schema/point-observation/2";
    assert_eq!(
        message(feed::Kind::Swob, "eccc_hourly/moti_cmml_sample.xml"),
        format!("the document is a <cmml>, {collection}.0")
    );
    assert_eq!(
        message(feed::Kind::EcccHourly, "swob/partner/crmprtd_swob_single.xml"),
        format!("the document is a <om:ObservationCollection>, {collection}.1")
    );
}

/// Reads a document that may be damaged: there is a result, no panic, and no more reports than the
/// intact document has.
fn read_damaged(document: &[u8], most: u64) {
    let mut visited = 0;
    let swob = read_swob(document, |_| visited += 1);
    let hourly = read_eccc_hourly(document, |_| visited += 1);
    assert!(visited <= most);
    for summary in [swob, hourly].into_iter().flatten() {
        assert!(summary.read + summary.refused <= most);
    }
}

#[test]
fn a_document_may_end_anywhere() {
    let document = bytes("swob/cioos/2023-02-01-0615-46036-AUTO-swob.xml");
    for end in 0..document.len() {
        read_damaged(&document[..end], 1);
    }
    let collection = bytes("eccc_hourly/eccc_hourly_bc_2016_b_v2.1.xml");
    for end in (0..collection.len()).step_by(4_999) {
        read_damaged(&collection[..end], 134);
    }
}

proptest! {
    #[test]
    fn damaged_documents_do_not_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..4), 1..8),
        is_hourly in any::<bool>(),
    ) {
        let path = if is_hourly {
            "eccc_hourly/eccc_obs_v2.1_single.xml"
        } else {
            "swob/cioos/2023-03-01-0354-CWTS-AUTO-minute-swob.xml"
        };
        let mut document = bytes(path);
        for (at, byte, how) in damage {
            let at = at.index(document.len());
            match how {
                0 => document[at] = byte,
                1 => document.insert(at, byte),
                2 => { document.remove(at); }
                _ => document[at] ^= 1 << (byte % 8),
            }
        }
        read_damaged(&document, 1);
    }
}
