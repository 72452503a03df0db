use super::*;
use crate::feed::summary::FilePlace;
use crate::geo::LonLat;
use crate::observation::{IntervalType, Reading, Variable};
use crate::time::Iso8601;

fn read(table: &str) -> Vec<FeedReport> {
    let mut all = Vec::new();
    read_ndbc_realtime2(table.as_bytes(), "PVGF1", |item| all.push(item)).unwrap();
    all
}

fn minutes(item: &FeedReport) -> Vec<i32> {
    let minutes = |reading: &Reading| reading.series.interval_minutes;
    item.report.readings.iter().map(minutes).collect()
}

#[test]
fn the_name_of_a_file_identifies_the_station() {
    for (name, native_id) in [
        ("41002.txt", Some("41002")),
        ("realtime2_41002.txt", Some("41002")),
        ("tplm2.cwind", Some("tplm2")),
        ("TPLM2", Some("TPLM2")),
        ("41002h1998.txt", Some("41002")),
        ("KATPh2018.txt", Some("KATP")),
        ("4100212.txt", Some("4100212")),
        ("CWCI.txt", Some("CWCI")),
        ("data.txt", None),
        ("latest_obs.txt", None),
        ("41002hABCD.txt", None),
        ("é1002.txt", None),
        ("éé1998.txt", None),
        ("", None),
        (".txt", None),
    ] {
        assert_eq!(station_of_name(name), native_id, "{name}");
    }
}

#[test]
fn a_name_without_a_station_is_an_error() {
    let file = FileContext::new("data.txt", 0);
    let mut table = &b"#YY MM DD hh mm WSPD WVHT\n2018 08 01 15 10 5.0 1.0\n"[..];
    let error = super::read(&mut table, &file, &mut |_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the name \"data.txt\" does not hold the station id; expected a name such as 41002.txt"
    );
    let error = read_ndbc_realtime2(table, "a b", |_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid station id \"a b\": it must have four to seven letters and digits"
    );
}

#[test]
fn extremes_are_of_the_time_since_the_row_before() {
    let all = read(
        "#YY  MM DD hh mm   PRES PTIME  WSPD  WDIR WTIME\n\
         #yr  mo dy hr mn    hPa  hhmm   m/s  degT  hhmm\n\
         2018 07 31 15 00 1019.3  1454     6    MM  1454\n\
         2018 07 31 14 54 1019.2  1448     6    MM  1453\n\
         2018 07 31 14 24 1019.1  1418     5    MM  1415\n\
         2018 07 31 14 18 1019.1  1412     5    MM  1415\n\
         2018 07 31 12 00 1019.1  1100     5    MM  1125\n",
    );
    let all_minutes: Vec<_> = all.iter().map(minutes).collect();
    assert_eq!(all_minutes, [[6, 6], [6, 6], [6, 6], [6, 6], [60, 60]]);
    let kinds: Vec<_> = all[0]
        .report
        .readings
        .iter()
        .map(|reading| (reading.series.variable, reading.series.interval_type))
        .collect();
    assert_eq!(
        kinds,
        [
            (Variable::BarometricPressure, IntervalType::Min),
            (Variable::WindSpeed, IntervalType::Max)
        ]
    );
}

#[test]
fn the_precision_pyranometer_wins() {
    let all = read(
        "#YY MM DD hh mm SRAD1 SWRAD LWRAD\n#yr mo dy hr mn w/m2 w/m2 w/m2\n\
         2018 08 01 15 00 58.1 60.2 300.0\n\
         2018 08 01 14 00 58.1   MM    MM\n",
    );
    let values: Vec<_> = all.iter().map(|item| item.report.readings[0].value).collect();
    assert_eq!(values, [60.2, 58.1]);
    assert_eq!(all[0].report.readings.len(), 1);
    assert_eq!(minutes(&all[0]), [60]);
}

#[test]
fn water_is_at_1_m_only_where_the_depth_says_so() {
    let mut all = Vec::new();
    let table = "#YY MM DD hh mm DEPTH OTMP\n#yr mo dy hr mn m degC\n\
                 2018 08 01 15 00  1.0 12.5\n\
                 2018 08 01 15 00  5.0 11.5\n\
                 2018 08 01 15 00   MM 10.5\n";
    let summary =
        read_ndbc_realtime2(table.as_bytes(), "45183", |item| {
            all.extend(item.report.readings.into_iter().map(|reading| {
                (reading.series.variable, reading.series.interval_type, reading.value)
            }));
        });
    let temperature = (Variable::SeaSurfaceTemperature1m, IntervalType::Instantaneous, 12.5);
    assert_eq!(all, [temperature]);
    let without = summary.unwrap().without_variable;
    assert_eq!(without.iter().collect::<Vec<_>>(), [("OTMP", 2)]);
}

#[test]
fn rain_is_of_the_hour_that_its_row_names() {
    let all = read(
        "#YY MM DD hh mm ACCUM\n#yr mo dy hr mn mm\n\
         2018 08 01 14 00 0.3 \n2018 07 31 23 00 MM\n",
    );
    assert_eq!(Iso8601(all[0].report.ts_ms).to_string(), "2018-08-01T15:00:00Z");
    assert_eq!(minutes(&all[0]), [60]);
    assert_eq!(Iso8601(all[1].report.ts_ms).to_string(), "2018-08-01T00:00:00Z");
    assert_eq!(all[1].report.readings, []);
}

#[test]
fn a_drifter_is_where_each_row_says() {
    let all = read(
        "#YY  MM DD hhmm LAT LON WDIR WSPD\n#yr  mo dy hrmn deg deg degT m/s\n\
         2018 08 01 1400 37.24 126.02 20 1.0\n\
         2018 08 01 0900 97.24 126.02 20 1.0\n",
    );
    let places: Vec<_> = all.iter().map(|item| item.station.place.map(LonLat::lon)).collect();
    assert_eq!(places, [Some(126.02), None]);
    assert_eq!(Iso8601(all[1].report.ts_ms).to_string(), "2018-08-01T09:00:00Z");

    let table = &b"#YY  MM DD hhmm LAT LON WDIR WSPD\n2018 08 01 900 37.24 126.02 20 1.0\n"[..];
    let summary = read_ndbc_realtime2(table, "22101", |_| {}).unwrap();
    assert_eq!(summary.refusals[0].place, FilePlace::Line(2));
    assert_eq!(summary.refusals[0].reason.to_string(), "\"2018 08 01 900\" is not a valid time");
}
