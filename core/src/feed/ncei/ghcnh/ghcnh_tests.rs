use std::fmt::Write as _;

use super::*;
use crate::observation::{BaseQuality, Qualifier};

const COLUMNS: [&str; 5] =
    ["Measurement_Code", "Quality_Code", "Report_Type", "Source_Code", "Source_Station_ID"];

/// A table of one row: each variable with its value and attributes.
fn table(time: &str, variables: &[(&str, &str)]) -> String {
    let mut header = "STATION|Station_name|DATE|LATITUDE|LONGITUDE|ELEVATION".to_owned();
    let mut row = format!("USW00013967|OKLAHOMA CITY|{time}|35.3883|-97.6003|389.8");
    for (name, cell) in variables {
        write!(header, "|{name}").unwrap();
        for attribute in COLUMNS {
            write!(header, "|{name}_{attribute}").unwrap();
        }
        write!(row, "|{cell}").unwrap();
    }
    format!("{header}\n{row}\n")
}

fn read_text(text: &str) -> (Vec<FeedReport>, Summary) {
    let mut all = Vec::new();
    let summary = read_ghcnh(text.as_bytes(), |item| all.push(item)).unwrap();
    (all, summary)
}

/// The readings of a row at a minute.
fn at_minute(minute: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let (all, summary) = read_text(&table(&format!("2024-01-01T02:{minute}:00"), variables));
    assert_eq!(summary.refusals, []);
    let shown = all[0].report.readings.iter().map(|one| {
        let series = &one.series;
        let (of, minutes) = (series.interval_type, series.interval_minutes);
        format!("{} {of} {minutes} {} {}", series.variable, one.value, one.quality.base)
    });
    shown.collect()
}

fn verdict(name: &str, code: &str, source: &str) -> BaseQuality {
    let cell = format!("10||{code}|FM15-METAR|{source}|x");
    let (all, _) = read_text(&table("2024-01-01T02:52:00", &[(name, &cell)]));
    all[0].report.readings[0].quality.base
}

#[test]
fn verdicts_by_code_and_source() {
    use BaseQuality::{Doubtful, Error, Good, Inconsistent, Instrumentation, Suppressed, Unknown};
    let of = |code, source| verdict("temperature", code, source);
    assert_eq!((of("5", "343"), of("4", "343"), of("6", "343")), (Good, Unknown, Doubtful));
    assert_eq!((of("A", "335"), of("7", "335"), of("9", "313")), (Good, Error, Unknown));
    assert_eq!((of("0", "223"), of("1", "223"), of("3", "223")), (Unknown, Good, Error));
    assert_eq!((of("5", "223"), of("4", "223"), of("2", "347")), (Suppressed, Unknown, Doubtful));
    assert_eq!((of("0", "345"), of("1", "345"), of("3", "345")), (Good, Doubtful, Error));
    assert_eq!((of("5", "999"), of("", "343"), of("5", "")), (Unknown, Unknown, Unknown));
    assert_eq!(
        (of("n", "343"), of("s", "999"), of("l", "")),
        (Doubtful, Instrumentation, Inconsistent)
    );
    // The worst counts, whatever lies between.
    assert_eq!((of("5c", "343"), of("5,r,s", "343")), (Doubtful, Error));
    assert_eq!(verdict("relative_humidity", "o", "343"), Error);
    assert_eq!(verdict("relative_humidity", "f", "343"), Doubtful);
    assert_eq!(verdict("precipitation_3_hour", "", "382"), Good);
    assert_eq!(verdict("precipitation_3_hour", "X", "382"), Doubtful);
}

#[test]
fn the_interval_of_the_wind_is_by_code_and_type_of_report() {
    let wind = |cell: &str| at_minute("52", &[("wind_speed", cell)]);
    assert_eq!(wind("5.0|N-Normal|5|FM15-METAR|343|x"), ["windSpeed Average 2 18 Good"]);
    assert_eq!(wind("5.0|N|5|FM-16|343|x"), ["windSpeed Average 2 18 Good"]);
    assert_eq!(wind("5.0|N|5|FM12-SYNOP|343|x"), ["windSpeed Average 10 18 Good"]);
    assert_eq!(wind("5.0|H-5min-avg|5|FM12-SYNOP|343|x"), ["windSpeed Average 5 18 Good"]);
    assert_eq!(wind("5.0|T|5|SAO|343|x"), ["windSpeed Average 180 18 Good"]);
    assert_eq!(wind("5.0||5|SAO|343|x"), ["windSpeed Unknown 0 18 Good"]);
    let gust = |cell: &str| at_minute("52", &[("wind_gust", cell)]);
    assert_eq!(gust("5.0||5|FM15-METAR|343|x"), ["windGust Max 10 18 Good"]);
    assert_eq!(gust("5.0||5|FM12-SYNOP|343|x"), ["windGust Unknown 0 18 Good"]);
}

#[test]
fn a_direction_of_zero_is_that_of_a_calm() {
    let direction = |direction: &str, speed: &str| {
        let cells = [direction, speed].map(|value| format!("{value}||5|FM15|343|x"));
        at_minute("52", &[("wind_direction", &cells[0]), ("wind_speed", &cells[1])]).len()
    };
    assert_eq!(direction("000", "0.0"), 2);
    assert_eq!(direction("000", "2.0"), 1);
    assert_eq!(direction("VRB", "2.0"), 1);
    assert_eq!(direction("360", "2.0"), 2);
}

#[test]
fn amounts_by_their_code_and_report() {
    let amount = |minute: &str, cell: &str| at_minute(minute, &[("precipitation", cell)]);
    let hour = ["precipitation Cumulative 60 0.2 Good"];
    assert_eq!(amount("52", "0.2|3-Measurab|5|FM15-METAR|343|x"), hour);
    assert_eq!(amount("20", "0.2|3-Measurab|5|FM15-METAR|343|x"), [""; 0]);
    assert_eq!(amount("52", "0.2||5|FM16-SPECI|343|x"), [""; 0]);
    assert_eq!(amount("20", "0.2||1|FM12-SYNOP|223|x"), hour);
    assert_eq!(
        amount("52", "0.0|2-Trace|5|FM15-METAR|343|x"),
        ["precipitation Cumulative 60 0 Good"]
    );
    // Whether it is a trace.
    let is_trace = |name: &str, cell: &str| {
        let (reports, _) = read_text(&table("2024-01-01T02:52:00", &[(name, cell)]));
        reports[0].report.readings[0].qualifier == Some(Qualifier::Trace)
    };
    assert!(is_trace("precipitation", "0.0|2-Trace|5|FM15-METAR|343|x"));
    assert!(is_trace("snow_depth", "0|3-Trace|5|FM12|343|x"));
    assert!(!is_trace("precipitation", "0.0||5|FM15-METAR|343|x"));
    assert!(!is_trace("precipitation", "0.2|2-Trace|5|FM15-METAR|343|x"));
    assert!(!is_trace("precipitation", "0.0|2||H|382|x"));
    for code in ["1-Measurement", "4-End", "5", "6", "7", "8", "I-Incomplete", "J"] {
        assert_eq!(amount("52", &format!("0.2|{code}|5|FM15|343|x")), [""; 0], "{code}");
    }
    assert_eq!(amount("00", "0.2|06||H|382|x"), ["precipitation Cumulative 360 0.2 Good"]);
    assert_eq!(amount("00", "0.2||A|H|382|x"), [""; 0]);
    let of = |name: &str| at_minute("52", &[(name, "0.2||5|FM12|343|x")]);
    assert_eq!(of("precipitation_21_hour"), ["precipitation Cumulative 1260 0.2 Good"]);
    assert_eq!(of("precipitation_5_minute"), ["precipitation Cumulative 5 0.2 Good"]);
    let twice =
        [("precipitation", "1||5|FM12|343|x"), ("precipitation_60_minute", "2||5|FM12|343|x")];
    assert_eq!(at_minute("52", &twice), ["precipitation Cumulative 60 1 Good"]);
}

#[test]
fn units_of_snow_visibility_and_ceiling() {
    let of =
        |name: &str, value: &str| at_minute("52", &[(name, &format!("{value}||5|FM15|343|x"))]);
    assert_eq!(of("snow_depth", "254"), ["snowDepth Instantaneous 0 25.4 Good"]);
    assert_eq!(of("visibility", "16.093"), ["visibility Instantaneous 0 16.093 Good"]);
    assert_eq!(of("ceiling_height", "00914"), ["ceilingHeight Instantaneous 0 914 Good"]);
    assert_eq!(of("ceiling_height", "22000"), [""; 0]);
    assert_eq!(of("temperature", "-9999"), [""; 0]);
}

#[test]
fn present_weather_of_three_kinds() {
    let weather = |cells: &[(&str, &str)]| {
        let cells: Vec<_> =
            cells.iter().map(|&(name, cell)| (name, format!("{cell}|FM15|343|x"))).collect();
        let cells: Vec<_> = cells.iter().map(|(name, cell)| (*name, cell.as_str())).collect();
        read_text(&table("2024-01-01T02:52:00", &cells)).0[0].report.present_weather.clone()
    };
    let all = [
        ("pres_wx_MW1", "SN:71||5"),
        ("pres_wx_AU1", "-SN:03|x|5"),
        ("pres_wx_AU2", "BR:1||5"),
        ("pres_wx_AW1", "SN:71||5"),
    ];
    assert_eq!(weather(&all), Some(vec!["Light snow".to_owned(), "Mist".to_owned()]));
    assert_eq!(weather(&all[..1]), Some(vec!["Snow".to_owned()]));
    assert_eq!(weather(&[("pres_wx_AU1", "-SN:03||6")]), Some(vec![]));
    assert_eq!(weather(&[("temperature", "1||5")]), None);
}

#[test]
fn malformed_rows_and_values_are_counted() {
    let good = table("2024-01-01T02:52:00", &[("temperature", "3.3||5|FM15|343|x")]);
    let row = good.lines().nth(1).unwrap();
    let text = [
        good.trim_end(),
        "TOOSHORT",
        &row.replace("2024-01-01T", "2024-13-01T"),
        &row.replace("USW00013967", ""),
        &row.replace("USW00013967", &"X".repeat(33)),
        &row.replace("3.3", "warm"),
        &row.replace("35.3883", "95.0").replace("389.8", "-999.9"),
    ]
    .join("\n");
    let (all, summary) = read_text(&text);
    assert_eq!((all.len(), summary.refused), (3, 4));
    let reasons: Vec<_> = summary.refusals.iter().map(|one| one.reason.to_string()).collect();
    assert_eq!(reasons[0], "1 fields, but the header has 12");
    assert_eq!(reasons[2], "no station");
    assert_eq!(summary.unread_values.iter().collect::<Vec<_>>(), [("temperature", 1)]);
    assert_eq!((all[2].station.place, all[2].station.altitude_m), (None, None));
    assert_eq!(all[0].station.altitude_m, Some(389.8));
}

#[test]
fn a_table_of_another_kind_is_refused() {
    for text in ["", "a|b|c\n", "Station_ID|Year|Month\n"] {
        let error = read_ghcnh(text.as_bytes(), |_| {}).unwrap_err();
        assert!(
            error.to_string().starts_with("no header line with the columns Station_ID"),
            "{error}"
        );
    }
}
