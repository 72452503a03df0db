//! The readers of the National Data Buoy Center's files on real files: how many rows each has, what
//! is refused and why, and what they say.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;

use flate2::read::GzDecoder;
use mesonet::feed::{FeedReport, FeedStation, FileContext, read_ndbc_stations};
use mesonet::{Iso8601, LonLat, Quality, StationId, StationType, feed};

fn bytes(path: &str) -> Vec<u8> {
    let path = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Every file with its kind.
const FILES: [(&str, feed::Kind); 13] = [
    ("latest_obs_2018-07-30.txt", feed::Kind::NdbcLatest),
    ("latest_obs_2021-05-18.txt", feed::Kind::NdbcLatest),
    ("realtime2_22101.drift", feed::Kind::NdbcRealtime2),
    ("realtime2_41002.spec", feed::Kind::NdbcRealtime2),
    ("realtime2_41002.txt", feed::Kind::NdbcRealtime2),
    ("realtime2_41421.dart", feed::Kind::NdbcRealtime2),
    ("realtime2_44013.supl", feed::Kind::NdbcRealtime2),
    ("realtime2_44013.txt", feed::Kind::NdbcRealtime2),
    ("realtime2_45027.srad", feed::Kind::NdbcRealtime2),
    ("realtime2_45183.ocean", feed::Kind::NdbcRealtime2),
    ("realtime2_BDVF1.rain", feed::Kind::NdbcRealtime2),
    ("realtime2_PVGF1.supl", feed::Kind::NdbcRealtime2),
    ("realtime2_TPLM2.cwind", feed::Kind::NdbcRealtime2),
];

fn read(name: &str) -> (Vec<FeedReport>, feed::Summary) {
    let text = bytes(&format!("tests/data/ndbc/{name}.gz"));
    let kind = feed::Kind::detect(name, &text).unwrap();
    let mut all = Vec::new();
    let summary = kind.read(&mut text.as_slice(), &FileContext::new(name, 0), &mut |item| {
        all.extend(item.into_report());
    });
    (all, summary.unwrap())
}

/// Formats the readings of a report, one per line, in the order of the columns.
fn shown(item: &FeedReport) -> String {
    let mut shown = format!("{} {}\n", item.station.native_id, Iso8601(item.report.ts_ms));
    for reading in &item.report.readings {
        let series = &reading.series;
        assert_eq!(reading.quality, Quality::UNCHECKED);
        writeln!(
            shown,
            "{} {} {} {:.3} {}",
            series.variable,
            series.interval_type,
            series.interval_minutes,
            reading.value,
            series.reported_unit
        )
        .unwrap();
    }
    shown
}

fn at<'a>(all: &'a [FeedReport], native_id: &str, time: &str) -> &'a FeedReport {
    let is_it = |item: &&FeedReport| {
        item.station.native_id == native_id && Iso8601(item.report.ts_ms).to_string() == time
    };
    all.iter().find(is_it).unwrap()
}

#[test]
fn every_file_is_read_to_its_end() {
    let mut counts = String::new();
    for (name, kind) in FILES {
        let text = bytes(&format!("tests/data/ndbc/{name}.gz"));
        assert_eq!(feed::Kind::detect(name, &text), Some(kind), "{name}");
        let (all, summary) = read(name);
        assert_eq!(all.len() as u64, summary.read, "{name}");
        let readings: usize = all.iter().map(|item| item.report.readings.len()).sum();
        assert_eq!(readings as u64, summary.readings, "{name}");
        let feed::Summary { read, refused, readings, .. } = summary;
        write!(counts, "{name}: {read} {refused} {readings}, without").unwrap();
        for (column, count) in summary.without_variable.iter() {
            write!(counts, " {column} {count}").unwrap();
        }
        counts.push('\n');
        // A report has each series once.
        for item in &all {
            assert_eq!(item.report.station, item.station.id());
            let readings = &item.report.readings;
            for (i, reading) in readings.iter().enumerate() {
                assert!(readings[..i].iter().all(|other| other.series != reading.series));
            }
        }
        assert_eq!(summary.kept_as_reported.total(), 0, "{name}");
    }
    assert_eq!(counts, COUNTS);
}

/// Rows, refusals, readings; values without a variable.
const COUNTS: &str = "\
latest_obs_2018-07-30.txt: 840 0 4970, without
latest_obs_2021-05-18.txt: 801 0 4366, without
realtime2_22101.drift: 1084 0 5408, without
realtime2_41002.spec: 1090 0 3270, without STEEPNESS 944 SwD 1015 SwH 1090 SwP 1016 \
WWD 1090 WWH 1090 WWP 1090
realtime2_41002.txt: 6560 0 39212, without
realtime2_41421.dart: 4321 0 0, without HEIGHT 4321
realtime2_44013.supl: 6507 0 6507, without
realtime2_44013.txt: 6508 0 38498, without
realtime2_45027.srad: 6542 0 6542, without
realtime2_45183.ocean: 1982 0 0, without O2% 1982 O2PPM 1982 PH 1982 TURB 1982
realtime2_BDVF1.rain: 1038 0 1038, without
realtime2_PVGF1.supl: 10731 0 21462, without
realtime2_TPLM2.cwind: 6547 0 15278, without
";

#[test]
fn the_latest_observations_say_where_the_stations_are() {
    let (all, _) = read("latest_obs_2018-07-30.txt");
    assert!(all.iter().all(|item| item.station.place.is_some()));
    let boston = at(&all, "44013", "2018-07-30T18:50:00Z");
    assert_eq!(boston.station.place, LonLat::new(-70.651, 42.346).ok());
    assert_eq!(boston.station.sensor_height_m, None);
    assert_eq!(shown(boston), BOSTON);
    // A station on land, and one whose id says nothing.
    let thomas_point = at(&all, "TPLM2", "2018-07-30T21:00:00Z");
    assert!(shown(thomas_point).contains("windSpeed Average 2 18.360 km/h"));
    let whots = at(&all, "51WH0", "2018-07-30T20:30:00Z");
    assert_eq!(
        shown(whots),
        "51WH0 2018-07-30T20:30:00Z\nseaSurfaceTemperature Instantaneous 0 25.700 °C\n"
    );
}

const BOSTON: &str = "\
44013 2018-07-30T18:50:00Z
windDirection Average 8 120.000 °
windSpeed Average 8 14.400 km/h
windGust Max 8 14.400 km/h
waveHeight Average 20 0.400 m
wavePeriodPeak Average 20 8.000 s
wavePeriodAverage Average 20 5.200 s
waveDirection Average 20 73.000 °
mslp Instantaneous 0 1019.500 hPa
airTemperature Instantaneous 0 22.300 °C
seaSurfaceTemperature Instantaneous 0 22.500 °C
dewPointTemperature Instantaneous 0 19.100 °C
pressureTendency Cumulative 180 -0.800 hPa
";

#[test]
fn the_files_of_a_station_say_what_was_measured_over_which_time() {
    for (name, native_id, time, lines) in [
        ("realtime2_41002.txt", "41002", "2018-08-01T14:50:00Z", HATTERAS),
        ("realtime2_41002.spec", "41002", "2018-08-01T14:40:00Z", WAVES),
        ("realtime2_TPLM2.cwind", "TPLM2", "2022-06-05T13:00:00Z", CONTINUOUS_WINDS),
        ("realtime2_PVGF1.supl", "PVGF1", "2018-07-31T15:00:00Z", EXTREMES),
        ("realtime2_45027.srad", "45027", "2018-08-01T15:00:00Z", RADIATION),
        ("realtime2_BDVF1.rain", "BDVF1", "2018-07-27T21:00:00Z", RAIN),
        ("realtime2_22101.drift", "22101", "2018-08-01T14:00:00Z", DRIFTER),
    ] {
        let (all, _) = read(name);
        let item = at(&all, native_id, time);
        assert_eq!(shown(item), format!("{native_id} {time}\n{lines}"));
        // Only the drifter's file says where it is.
        assert_eq!(item.station.place.is_some(), name.ends_with("drift"), "{name}");
    }
}

const HATTERAS: &str = "\
windDirection Average 8 150.000 °
windSpeed Average 8 25.200 km/h
windGust Max 8 28.800 km/h
waveHeight Average 20 1.200 m
wavePeriodPeak Average 20 6.000 s
wavePeriodAverage Average 20 4.500 s
waveDirection Average 20 209.000 °
mslp Instantaneous 0 1023.000 hPa
seaSurfaceTemperature Instantaneous 0 28.000 °C
";

const WAVES: &str = "\
waveHeight Average 20 1.200 m
wavePeriodAverage Average 20 4.500 s
waveDirection Average 20 209.000 °
";

const CONTINUOUS_WINDS: &str = "\
windDirection Average 10 28.000 °
windSpeed Average 10 27.720 km/h
maxWindDirection Max 60 30.000 °
windGust Max 60 42.480 km/h
";

const EXTREMES: &str = "\
barometricPressure Min 6 1019.300 hPa
windSpeed Max 6 21.600 km/h
";

const RADIATION: &str = "avgGlobalSolarRadiation Average 10 58.100 W/m²\n";

/// 32 mm in the row of 20 UTC.
const RAIN: &str = "precipitation Cumulative 60 32.000 mm\n";

const DRIFTER: &str = "\
windDirection Average 8 20.000 °
windSpeed Average 8 3.600 km/h
mslp Instantaneous 0 1004.200 hPa
airTemperature Instantaneous 0 24.900 °C
seaSurfaceTemperature Instantaneous 0 22.100 °C
";

#[test]
fn rows_that_come_more_often_than_the_hour_are_of_the_time_between_them() {
    for (name, expected) in [
        // In gaps of 20 and 50 minutes there is always a row 10 minutes away.
        ("realtime2_44013.supl", vec![(10, 6507)]),
        ("realtime2_45027.srad", vec![(10, 6542)]),
        // Nor is a row of this station isolated in its gaps of up to 10 hours.
        ("realtime2_PVGF1.supl", vec![(6, 21_462)]),
    ] {
        let (all, _) = read(name);
        let mut intervals = BTreeMap::new();
        for reading in all.iter().flat_map(|item| &item.report.readings) {
            *intervals.entry(reading.series.interval_minutes).or_insert(0) += 1;
        }
        assert_eq!(intervals.into_iter().collect::<Vec<_>>(), expected, "{name}");
    }
}

#[test]
fn the_table_of_stations_has_places_names_and_altitudes() {
    let mut stations = BTreeMap::new();
    let table = bytes("core/src/feed/known/ndbc_activestations.xml.gz");
    let summary = read_ndbc_stations(table.as_slice(), |station| {
        stations.insert(station.native_id.clone(), station);
    });
    let summary = summary.unwrap();
    assert_eq!((summary.read, summary.refused, stations.len()), (1348, 0, 1348));
    let count = |is: fn(&FeedStation) -> bool| stations.values().filter(|s| is(s)).count();
    assert_eq!(count(|station| station.place.is_some()), 1348);
    assert_eq!(count(|station| station.altitude_m.is_some()), 1085);
    assert_eq!(count(|station| station.name.is_some()), 1313);
    assert_eq!(count(|station| station.station_type == Some(StationType::OpenWater)), 557);
    let mcquade = &stations["45027"];
    assert_eq!(mcquade.id(), StationId::new("NDBC", "45027"));
    assert_eq!(mcquade.name.as_deref(), Some("McQuade Harbor Nearshore, MN"));
    assert_eq!(mcquade.place, LonLat::new(-91.93, 46.86).ok());
    assert_eq!((mcquade.altitude_m, mcquade.sensor_height_m), (Some(183.0), None));
    assert_eq!(stations["62114"].name.as_deref(), Some("Tartan \"A\" AWS"));
    // Of 801 stations that reported in 2021 most are still active in 2024.
    let (reports, _) = read("latest_obs_2021-05-18.txt");
    let known = reports.iter().filter(|item| stations.contains_key(&item.station.native_id));
    assert_eq!(known.count(), 781);
}

#[test]
fn damaged_files_do_not_panic() {
    for (name, kind) in FILES {
        let text = bytes(&format!("tests/data/ndbc/{name}.gz"));
        let text = &text[..text.len().min(2000)];
        let read = |text: &[u8]| {
            // A damaged header is an error, any other damage a refusal.
            let _ = kind.read(&mut &text[..], &FileContext::new(name, 0), &mut |_| {});
        };
        for at in (0..text.len()).step_by(11) {
            read(&text[..at]);
            for flip in [0x01, 0x20, 0xff] {
                let mut damaged = text.to_vec();
                damaged[at] ^= flip;
                read(&damaged);
            }
        }
    }
    let table = bytes("core/src/feed/known/ndbc_activestations.xml.gz");
    let table = &table[..3000];
    for at in (0..table.len()).step_by(5) {
        let _ = read_ndbc_stations(&table[..at], |_| {});
        let mut damaged = table.to_vec();
        damaged[at] ^= 0x11;
        let _ = read_ndbc_stations(damaged.as_slice(), |_| {});
    }
}
