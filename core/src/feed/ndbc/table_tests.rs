use super::*;
use crate::feed::read_ndbc_realtime2;
use crate::observation::IntervalType::{Average, Instantaneous, Max, Unknown};
use crate::observation::{IntervalType, Variable};
use crate::time::Iso8601;

fn read(native_id: &str, table: &str) -> (Vec<FeedReport>, Summary) {
    let mut all = Vec::new();
    let summary = read_ndbc_realtime2(table.as_bytes(), native_id, |item| all.push(item)).unwrap();
    (all, summary)
}

fn values(item: &FeedReport) -> Vec<(Variable, IntervalType, i32, f64)> {
    let of = |reading: &crate::observation::Reading| {
        let series = &reading.series;
        (series.variable, series.interval_type, series.interval_minutes, reading.value)
    };
    item.report.readings.iter().map(of).collect()
}

fn reasons(summary: &Summary) -> Vec<String> {
    summary.refusals.iter().map(|refusal| refusal.reason.to_string()).collect()
}

#[test]
fn an_old_table_has_no_units_no_minutes_and_a_two_digit_year() {
    let (all, summary) = read(
        "41002",
        "YY MM DD hh WD   WSPD GST  WVHT  DPD   APD  MWD  BAR    ATMP  WTMP  DEWP  VIS\n\
         92 07 20 00 126 09.2 11.0 03.00 09.10 06.80 999 1016.6  18.9  19.6 999.0 99.0\n\
         99 12 31 23 999 99.0 99.0 99.00 99.00 99.00 999 9999.0 999.0 999.0 999.0  1.0\n\
         07 07 20 00 126 09.2 11.0 03.00 09.10 06.80 999 1016.6  18.9  19.6 999.0 99.0\n",
    );
    let times: Vec<_> = all.iter().map(|item| Iso8601(item.report.ts_ms).to_string()).collect();
    assert_eq!(times, ["1992-07-20T00:00:00Z", "1999-12-31T23:00:00Z"]);
    assert_eq!(
        values(&all[0]),
        [
            (Variable::WindDirection, Average, 8, 126.0),
            (Variable::WindSpeed, Average, 8, 33.12),
            (Variable::WindGust, Max, 8, 39.6),
            (Variable::WaveHeight, Average, 20, 3.0),
            (Variable::WavePeriodPeak, Average, 20, 9.1),
            (Variable::WavePeriodAverage, Average, 20, 6.8),
            (Variable::Mslp, Instantaneous, 0, 1016.6),
            (Variable::AirTemperature, Instantaneous, 0, 18.9),
            (Variable::SeaSurfaceTemperature, Instantaneous, 0, 19.6),
        ]
    );
    assert_eq!(values(&all[1]), [(Variable::Visibility, Instantaneous, 0, 1.852)]);
    assert_eq!(reasons(&summary), ["\"07 07 20 00\" is not a valid time"]);
    assert_eq!(summary.without_variable.total(), 0);
}

#[test]
fn units_are_those_of_the_second_line() {
    let (all, summary) = read(
        "TPLM2",
        "#YY MM DD hh mm WDIR WSPD WVHT ATMP WTMP\n\
         #yr mo dy hr mn degT   kt   ft degF    C\n\
         # a comment\n\
         2018 08 01 15 10 160  10.0  10 50.0 20.0\n",
    );
    assert_eq!(
        values(&all[0]),
        [
            (Variable::WindDirection, Average, 2, 160.0),
            (Variable::WindSpeed, Average, 2, 18.52),
            (Variable::WaveHeight, Average, 20, 3.048),
            (Variable::AirTemperature, Instantaneous, 0, 10.0),
            (Variable::SeaSurfaceTemperature, Instantaneous, 0, 20.0),
        ]
    );
    assert_eq!(all[0].report.readings[4].series.reported_unit, "C");
    let kept: Vec<_> = summary.kept_as_reported.iter().collect();
    assert_eq!(kept, [("seaSurfaceTemperature in \"C\"", 1)]);
}

#[test]
fn rows_that_cannot_be_read_do_not_take_the_others_with_them() {
    let long = format!("2018 08 01 15 10 {}", "1 ".repeat(600));
    let table = format!(
        "#YY MM DD hh mm WSPD WVHT\n\
         #yr mo dy hr mn m/s m\n\
         2018 08 01 15 10 5.0\n\
         2018 08 01 15 10 5.0 1.0 7\n\
         2018 08 01 15 10 five 1.0\n\
         2018 08 01 15 10 inf 1.0\n\
         2018 02 30 15 10 5.0 1.0\n\
         2018 08 01 24 00 5.0 1.0\n\
         2018 08 01 -1 00 5.0 1.0\n\
         {long}\n\
         2018 08 01 15 10 5.0 1.0\n"
    );
    let (all, summary) = read("41002", &table);
    assert_eq!((all.len(), summary.read, summary.refused), (1, 1, 8));
    assert_eq!(
        reasons(&summary),
        [
            "6 fields, but the header has 7",
            "8 fields, but the header has 7",
            "\"five\" is not a valid value",
            "\"inf\" is not a valid value",
            "\"2018 02 30 15 10\" is not a valid time",
            "\"2018 08 01 24 00\" is not a valid time",
            "\"2018 08 01 -1 00\" is not a valid time",
            "longer than 1024 bytes, the most that is read",
        ]
    );
    assert_eq!(summary.refusals[0].place, FilePlace::Line(3));
}

#[test]
fn a_file_without_its_header_is_an_error() {
    for (table, message) in [
        ("", "in 0 lines"),
        ("2018 08 01 15 10 5.0\n", "in 1 lines"),
        ("\n#YY MM DD hh mm VOLT\n", "in 2 lines"),
    ] {
        let error = read_ndbc_realtime2(table.as_bytes(), "41002", |_| {}).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "no header line with the columns YY or YYYY, MM, DD, hh or hhmm, and those of a \
                 known table, {message}"
            )
        );
    }
    let table = &b"#YY MM DD hh mm WSPD WVHT\n#yr mo dy hr mn m/s\n"[..];
    let error = read_ndbc_realtime2(table, "41002", |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "6 units for 7 columns");
}

#[test]
fn an_id_that_is_neither_number_nor_name_leaves_the_interval_of_the_wind_unknown() {
    let table = "#YY MM DD hh mm WSPD GST WVHT\n#yr mo dy hr mn m/s m/s m\n\
                 2018 08 01 15 10 5.0 7.0 MM\n";
    let intervals = |native_id| {
        let (all, _) = read(native_id, table);
        values(&all[0]).into_iter().map(|(_, kind, minutes, _)| (kind, minutes)).collect::<Vec<_>>()
    };
    assert_eq!(intervals("41002"), [(Average, 8), (Max, 8)]);
    assert_eq!(intervals("4100212"), [(Average, 8), (Max, 8)]);
    assert_eq!(intervals("PVGF1"), [(Average, 2), (Max, 2)]);
    assert_eq!(intervals("32ST0"), [(Unknown, 0), (Unknown, 0)]);
}
