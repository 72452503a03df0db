//! The readers of METAR feeds on real files: how many reports each has, what is refused and why,
//! and what they say.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};

use flate2::read::GzDecoder;
use mesonet::feed::metar::{Metar, MetarKind};
use mesonet::feed::{MetarItem, metar_report, read_awc_csv, read_awc_xml, read_bulletins};
use mesonet::time::parse_instant;
use mesonet::{Iso8601, LonLat, feed};
use proptest::prelude::*;

fn path(name: &str) -> String {
    format!("{}/../tests/data/metar/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn open(name: &str) -> impl BufRead + use<> {
    BufReader::new(GzDecoder::new(BufReader::new(File::open(path(name)).unwrap())))
}

/// The parts of an item that these tests use.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    station: String,
    time: String,
    kind: MetarKind,
    place: Option<LonLat>,
    altitude_m: Option<f64>,
    raw: String,
    metar: Metar,
}

fn seen(item: &MetarItem<'_>) -> Seen {
    Seen {
        station: item.native_id.to_owned(),
        time: Iso8601(item.ts_ms).to_string(),
        kind: item.kind,
        place: item.place,
        altitude_m: item.altitude_m,
        raw: item.raw_text.to_owned(),
        metar: item.metar,
    }
}

fn bulletin(name: &str, received: &str) -> (Vec<Seen>, feed::Summary) {
    let input = BufReader::new(File::open(path(&format!("bulletins/{name}.txt"))).unwrap());
    let mut all = Vec::new();
    let received_ms = parse_instant(received).unwrap();
    let summary = read_bulletins(input, received_ms, |item| all.push(seen(&item))).unwrap();
    assert_eq!(summary.read, all.len() as u64);
    (all, summary)
}

fn reasons(summary: &feed::Summary) -> Vec<String> {
    summary.refusals.iter().map(ToString::to_string).collect()
}

#[test]
fn tables_of_the_center() {
    let mut shown = String::new();
    let mut placed = 0;
    for time in ["22T0253", "22T1913", "23T0050", "23T0953", "23T1040", "23T1118", "23T1137"] {
        let table = format!("awc_metars_cache_2022-10-{time}Z.csv.gz");
        let summary = read_awc_csv(open(&table), |item| {
            // Each report states the day, hour and minute of its row, or takes them from it.
            assert_eq!(item.metar.time_ms(item.ts_ms), item.ts_ms);
            assert_eq!(item.metar.station.as_str(), item.native_id);
            assert_ne!(item.kind, MetarKind::Unknown);
            placed += u32::from(item.place.is_some());
        });
        let summary = summary.unwrap();
        writeln!(shown, "{time}: {} read, {} refused", summary.read, summary.refused).unwrap();
        for reason in reasons(&summary) {
            writeln!(shown, "  {}", &reason[..reason.find(';').unwrap()]).unwrap();
        }
    }
    assert_eq!(shown, TABLES);
    assert_eq!(placed, 33_411);
}

/// `UTO8 M M M` is the end of an automatic report in the old airways form.
const TABLES: &str = r#"22T0253: 4684 read, 1 refused
  line 2249: "M" is not the time of a report
22T1913: 4867 read, 1 refused
  line 47: "M" is not the time of a report
23T0050: 4771 read, 1 refused
  line 1742: "M" is not the time of a report
23T0953: 4855 read, 0 refused
23T1040: 4877 read, 1 refused
  line 19: "M" is not the time of a report
23T1118: 4752 read, 0 refused
23T1137: 4910 read, 1 refused
  line 1314: "M" is not the time of a report
"#;

#[test]
fn rewritten_tables() {
    let (mut counts, mut placed) = (Vec::new(), 0);
    for time in ["1732", "1922", "1930", "1942", "2015", "2119"] {
        let table = format!("liveairdata_metars_20240803T{time}Z.csv.gz");
        let summary = read_awc_csv(open(&table), |item| {
            placed += u32::from(item.place.is_some());
            assert_eq!(item.altitude_m, None);
            assert_eq!(item.metar.time_ms(item.ts_ms), item.ts_ms);
        });
        let summary = summary.unwrap();
        counts.push((summary.read, summary.refused));
    }
    assert_eq!(counts, [(5_003, 0), (4_956, 0), (4_946, 0), (4_977, 0), (4_868, 0), (4_854, 0)]);
    assert_eq!(placed, 29_409);
}

#[test]
fn a_year_of_one_station() {
    let mut times = Vec::new();
    // The stamps before the reports, not the reference, give month and year.
    let summary = read_bulletins(open("ktpa_weather-reports_0.1.5.txt.gz"), 0, |item| {
        assert_eq!((item.native_id, item.kind), ("KTPA", item.metar.kind));
        times.push(item.ts_ms);
    });
    let summary = summary.unwrap();
    assert_eq!((summary.read, summary.refused), (8_743, 0));
    assert!(times.is_sorted());
    let ends = [times[0], times[times.len() - 1]].map(|ts_ms| Iso8601(ts_ms).to_string());
    assert_eq!(ends, ["2020-08-01T00:53:00Z", "2021-07-31T23:53:00Z"]);
}

#[test]
fn bytes_that_are_not_ascii_lose_their_group() {
    let (all, summary) = bulletin("badchars", "2020-06-03T21:05:00Z");
    assert_eq!((summary.read, summary.refused), (3, 0));
    let rwanda = &all[1];
    assert_eq!((rwanda.station.as_str(), rwanda.metar.unread_groups), ("HRYR", 1));
    assert_eq!(rwanda.metar.temperature_c, Some(21));
    assert_eq!(all[2].metar.sky.len(), 3);
}

#[test]
fn a_null_byte_loses_its_group() {
    let (all, summary) = bulletin("nullbyte", "2020-06-23T14:05:00Z");
    assert_eq!((summary.read, summary.refused), (1, 0));
    let report = &all[0];
    assert_eq!((report.station.as_str(), report.kind), ("KNZY", MetarKind::Special));
    assert_eq!(report.metar.ceiling_ft(), Some(1000));
    assert!(report.metar.remarks.outages.maintenance);
    assert_eq!(report.metar.remarks.temperature_tenths_c, None);
}

#[test]
fn collectives_with_continued_lines() {
    let (all, summary) = bulletin("collective", "2020-06-08T14:10:00Z");
    assert_eq!((summary.read, summary.refused), (12, 2));
    assert_eq!(
        reasons(&summary),
        [
            "line 32: \"O81354Z\" is not the time of a report; after the station come day, hour \
             and minute, for example 231118Z (in \"QQQQ O81354Z AUTO 17027G37KT\")",
            "line 33: \"1QQQ\" is not a station; a report starts with METAR or SPECI, which may be \
             left out, then an indicator of four letters or digits, a letter first, for example \
             CYYZ (in \"1QQQ 081354Z AUTO 17027G37KT\")",
        ]
    );
    let miami = &all[1];
    assert_eq!((miami.time.as_str(), miami.kind), ("2020-06-08T14:03:00Z", MetarKind::Routine));
    let weather: Vec<_> = miami.metar.weather.iter().map(ToString::to_string).collect();
    assert_eq!(weather, ["Tornado or waterspout", "Thunderstorm with heavy rain", "Mist"]);
    assert_eq!(miami.metar.remarks.hourly_precipitation_hundredths_in, Some(46));
    assert!(miami.metar.remarks.outages.maintenance);

    let (all, summary) = bulletin("collective2", "2020-01-01T00:10:00Z");
    assert_eq!((summary.read, summary.refused), (35, 0));
    assert!(all.iter().all(|report| report.time.starts_with("2019-12-31T23:5")));
}

#[test]
fn bulletins_without_control_characters() {
    let (all, summary) = bulletin("kawn", "2020-06-02T01:05:00Z");
    assert_eq!((summary.read, summary.refused), (3, 0));
    assert_eq!(all[2].metar.dew_point_c, Some(12));
    assert_eq!(all[1].metar.weather.len(), 0, "what is forecast was not observed");

    let (all, summary) = bulletin("first", "2020-07-01T00:35:00Z");
    assert_eq!((summary.read, summary.refused), (2, 0));
    let times: Vec<_> = all.iter().map(|report| report.time.as_str()).collect();
    assert_eq!(times, ["2020-06-30T23:52:00Z", "2020-07-01T00:01:00Z"]);

    let (all, summary) = bulletin("rtd_bbb", "2020-06-09T09:15:00Z");
    assert_eq!((summary.read, summary.refused), (1, 0));
    assert_eq!((all[0].station.as_str(), all[0].kind), ("MUCL", MetarKind::Routine));
}

#[test]
fn a_lost_equals_sign_loses_no_report() {
    let (all, summary) = bulletin("kmwn", "2020-06-20T04:00:00Z");
    assert_eq!((summary.read, summary.refused), (1, 0));
    assert_eq!(all[0].metar.wind.and_then(|wind| wind.gust), Some(65));
    assert_eq!(all[0].metar.ceiling_ft(), Some(0));
}

#[test]
fn the_old_airways_form_is_refused() {
    let input = BufReader::new(File::open(path("bulletins/sa.txt")).unwrap());
    let received_ms = parse_instant("2020-06-24T14:00:00Z").unwrap();
    let error = read_bulletins(input, received_ms, |_| {}).unwrap_err().to_string();
    assert!(
        error.contains("; 4 texts were refused, the first: line 3: \"WXL\" is not a station; "),
        "{error}"
    );
}

/// The samples contain no XML of the data server: this one is made from rows of the table, in the
/// published schema.
#[test]
fn xml_reads_as_the_table_does() {
    let mut table = String::new();
    open("awc_metars_cache_2022-10-23T1137Z.csv.gz").read_to_string(&mut table).unwrap();
    let table = &table[table.find("raw_text").unwrap()..];
    let table = table.lines().take(500).collect::<Vec<_>>().join("\n");
    let mut document = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<response version=\"1.2\">\n<errors/>\n\
         <data num_results=\"499\">\n",
    );
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let names = rows.headers().unwrap().clone();
    for row in rows.records() {
        let row = row.unwrap();
        document.push_str("<METAR>\n");
        for (name, value) in names.iter().zip(&row).filter(|(_, value)| !value.is_empty()) {
            if matches!(name, "sky_cover" | "cloud_base_ft_agl") {
                continue;
            }
            let value = value.replace('&', "&amp;").replace('<', "&lt;");
            writeln!(document, "  <{name}>{value}</{name}>").unwrap();
        }
        document.push_str("  <sky_condition sky_cover=\"CLR\" />\n</METAR>\n");
    }
    document.push_str("</data>\n</response>\n");

    let (mut of_table, mut of_document) = (Vec::new(), Vec::new());
    let table_summary = read_awc_csv(table.as_bytes(), |item| of_table.push(seen(&item))).unwrap();
    let summary = read_awc_xml(document.as_bytes(), |item| of_document.push(seen(&item))).unwrap();
    assert_eq!((table_summary.read, table_summary.refused), (499, 0));
    assert_eq!((summary.read, summary.refused), (499, 0));
    for (a, b) in of_table.iter_mut().zip(&mut of_document) {
        // The table keeps a blank at the end of a report.
        a.raw = a.raw.trim().to_owned();
        assert_eq!(a, b);
    }
}

fn real_reports() -> Vec<String> {
    let mut all = Vec::new();
    let table = open("awc_metars_cache_2022-10-23T1137Z.csv.gz");
    read_awc_csv(table, |item| all.push(item.raw_text.to_owned())).unwrap();
    all
}

proptest! {
    #[test]
    fn damaged_reports_do_not_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..3), 1..8),
        rows in prop::collection::vec(any::<prop::sample::Index>(), 50),
    ) {
        static REPORTS: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(real_reports);
        for row in rows {
            let mut report = row.get(&REPORTS).clone().into_bytes();
            for (at, byte, how) in &damage {
                let at = at.index(report.len());
                match how {
                    0 => report[at] = *byte,
                    1 => report.insert(at, *byte),
                    _ => { report.truncate(at.max(1)); }
                }
            }
            let text = String::from_utf8_lossy(&report);
            let _ = Metar::parse(&text);
            // The containers are given the bytes as they are.
            let mut visit = |item: MetarItem<'_>| {
                let _ = metar_report(&item);
            };
            let _ = read_bulletins(report.as_slice(), 0, &mut visit);
            let table = [b"raw_text,observation_time\n", report.as_slice(), b",2022-10-23T11:37Z"].concat();
            let _ = read_awc_csv(table.as_slice(), &mut visit);
            let document = [b"<METAR><raw_text>", report.as_slice(), b"</raw_text></METAR>"].concat();
            let _ = read_awc_xml(document.as_slice(), &mut visit);
        }
    }
}
