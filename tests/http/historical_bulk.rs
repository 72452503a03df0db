//! `POST /historical/bulk`

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::http::{HeaderName, Method, header};
use mesonet::access::Plan;
use mesonet::store::no_verdicts;
use mesonet::time::MINUTE_MS;
use mesonet::{BaseQuality, Batch, IntervalType, Iso8601, Quality, SeriesKey, Store, Variable};
use mesonet_server::Config;

use crate::support::{
    AIR, Answer, Api, DOUBTFUL, NOW_MS, TestStore, id, instant, reading, report, station, store,
};

const HEAD: &str = "lat,lon,observation_name,interval_type,interval_minutes,timestamp,value,\
                    quality_base,quality_reason,group_bucket_name\n";
const DAY: &str = "start=2024-08-03T00:00:00Z&end=2024-08-04T00:00:00Z";
const WIND: SeriesKey = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 10);

fn commercial() -> Config {
    Config { assume_plan: Plan::Commercial, ..Config::default() }
}

fn api(store: impl Store + 'static) -> Api {
    Api::with(commercial(), store)
}

fn export(api: &Api, query: &str, fields: &str) -> Answer {
    let body = format!(r#"{{"stationId":"{}"{fields}}}"#, id("A"));
    api.post(&format!("/historical/bulk?{query}"), body)
}

/// Asserts a 200 with these rows below the header row.
#[track_caller]
fn holds(answer: &Answer, rows: &[String]) {
    let body = rows.iter().fold(HEAD.to_owned(), |body, row| body + row + "\n");
    assert_eq!((answer.status.as_u16(), answer.text()), (200, body));
    assert_eq!(answer.header(header::CONTENT_TYPE), Some("text/csv; charset=utf-8"));
}

fn header_values<'a>(answer: &'a Answer, names: &[&'static str]) -> Vec<Option<&'a str>> {
    names.iter().map(|name| answer.header(HeaderName::from_static(name))).collect()
}

fn row(series: &SeriesKey, time: &str, value: &str, quality: &str) -> String {
    let SeriesKey { variable, interval_type, interval_minutes, .. } = series;
    format!(
        "44.0,-80.5,{variable},{interval_type},{interval_minutes},2024-08-03T{time}Z,{value},\
         {quality},"
    )
}

fn some() -> TestStore {
    store([
        station("A", -80.5, 44.0),
        report("A", 0, &AIR, 20.5, Quality::GOOD),
        report("A", 0, &WIND, 12.0, DOUBTFUL),
        reading("A", 30, &AIR, -3.0),
        report("A", 60 * MINUTE_MS, &WIND, 30.0, Quality::GOOD),
        reading("A", 13 * 60, &AIR, 99.0),
    ])
}

/// The rows of [`DAY`], by time and then by series. The wind has the lower id.
fn rows() -> [String; 4] {
    assert!(WIND.id() < AIR.id());
    [
        row(&WIND, "11:00:00", "30.0", "Good,None"),
        row(&AIR, "11:30:00", "-3.0", "Unknown,None"),
        row(&WIND, "12:00:00", "12.0", "Doubtful,Range"),
        row(&AIR, "12:00:00", "20.5", "Good,None"),
    ]
}

#[test]
fn without_requests_every_series_is_exported_by_time_and_then_by_series() {
    let api = api(some());
    for fields in ["", r#","requests":[]"#, r#","requests":null"#, r#","requests":[{}]"#] {
        let answer = export(&api, DAY, fields);
        holds(&answer, &rows());
        let headers = ["x-has-more", "x-next-cursor", "x-series-found", "x-station-id", "x-name"];
        assert_eq!(
            header_values(&answer, &headers),
            [
                Some("False"),
                None,
                Some("True"),
                Some(&*id("A").to_string()),
                Some("airTemperature,windSpeed")
            ]
        );
    }
}

#[test]
fn the_start_is_included_and_the_end_is_not() {
    let api = api(some());
    let answer = export(&api, "start=2024-08-03T11:30:00Z&end=2024-08-03T12:00:00Z", "");
    holds(&answer, &rows()[1..2]);
}

#[test]
fn the_window_has_no_limit() {
    let answer = export(&api(some()), "start=0000-01-01T00:00:00Z&end=9999-12-31T00:00:00Z", "");
    assert_eq!(answer.text().lines().count(), 6);
}

#[test]
fn entries_select_series_and_their_filters_rows() {
    let api = api(some());
    let [wind_11, air_11, wind_12, air_12] = rows();
    let filters = |requests: &str| export(&api, DAY, &format!(r#","requests":[{requests}]"#));
    holds(&filters(r#"{"name":"windSpeed"}"#), &[wind_11.clone(), wind_12.clone()]);
    let both = filters(
        r#"{"name":"windSpeed","intervalType":"Average","intervalMinutes":10,"calculated":false,
           "reportedUnit":"km/h","groupBucketName":""},{"name":"airTemperature"}"#,
    );
    holds(&both, &rows());
    // Bounds are inclusive.
    let bounds = filters(r#"{"lowerValueBound":12,"upperValueBound":20.5}"#);
    holds(&bounds, &[wind_12.clone(), air_12.clone()]);
    let good = r#"{"qualityRange":{"worst":"Good","best":"Good"}}"#;
    holds(&filters(good), &[wind_11.clone(), air_12.clone()]);
    // Unknown ranks above Good; an omitted side is open.
    let fair = filters(r#"{"qualityRange":{"worst":"Inconsistent"}}"#);
    holds(&fair, &[wind_11.clone(), air_11, air_12.clone()]);
    let poor = filters(r#"{"qualityRange":{"best":"Good"}}"#);
    holds(&poor, &[wind_11, wind_12, air_12]);
}

#[test]
fn an_empty_result_is_a_200_that_says_whether_the_series_exists() {
    let api = api(some());
    let headers = ["x-has-more", "x-next-cursor", "x-series-found", "x-station-id", "x-name"];
    let later = "start=2024-08-03T12:00:01Z&end=2024-08-04T00:00:00Z";
    let answer = export(&api, later, r#","requests":[{"name":"windSpeed"}]"#);
    holds(&answer, &[]);
    let station_id = id("A").to_string();
    assert_eq!(
        header_values(&answer, &headers),
        [Some("False"), None, Some("True"), Some(&*station_id), Some("windSpeed")]
    );
    for requests in [r#"{"name":"mslp"}"#, r#"{"name":"no such"}"#, r#"{"calculated":true}"#] {
        let answer = export(&api, DAY, &format!(r#","requests":[{requests}]"#));
        holds(&answer, &[]);
        assert_eq!(
            header_values(&answer, &headers),
            [Some("False"), None, Some("False"), None, None]
        );
    }
    let unknown = format!(r#"{{"stationId":"{}"}}"#, id("X"));
    let answer = api.post(&format!("/historical/bulk?{DAY}"), unknown);
    holds(&answer, &[]);
    assert_eq!(header_values(&answer, &headers), [Some("False"), None, Some("False"), None, None]);
}

/// Returns the rows of all pages, and the number of pages.
fn all_pages(api: &Api, query: &str, fields: &str) -> (Vec<String>, usize) {
    let (mut rows, mut pages, mut cursor) = (Vec::new(), 0, String::new());
    loop {
        let answer = export(api, &format!("{query}{cursor}"), fields);
        let text = answer.text();
        rows.extend(text.strip_prefix(HEAD).unwrap().lines().map(str::to_owned));
        pages += 1;
        match header_values(&answer, &["x-has-more", "x-next-cursor"])[..] {
            [Some("True"), Some(next)] => cursor = format!("&cursor={next}"),
            [Some("False"), None] => return (rows, pages),
            ref other => panic!("{other:?}"),
        }
    }
}

#[test]
fn pages_follow_one_another_without_a_gap_or_a_repeat() {
    let api = api(some());
    for (size, pages) in [(1, 4), (2, 2), (3, 2), (4, 1), (5, 1), (200_000, 1)] {
        let query = format!("{DAY}&pageSize={size}");
        assert_eq!(all_pages(&api, &query, ""), (rows().to_vec(), pages), "{size}");
    }
}

#[test]
fn a_page_has_200000_rows_by_default() {
    let mut batch = Batch::default();
    for second in (0..200_001).rev() {
        batch.reports.extend(report("A", second * 1_000, &AIR, 1.0, Quality::GOOD).reports);
    }
    let api = api(store([station("A", 0.0, 0.0), batch]));
    let all = "start=2024-01-01T00:00:00Z&end=2025-01-01T00:00:00Z";
    let answer = export(&api, all, "");
    assert_eq!(header_values(&answer, &["x-has-more"]), [Some("True")]);
    assert_eq!(answer.text().lines().count(), 200_001);
    let (rows, pages) = all_pages(&api, all, "");
    assert_eq!((rows.len(), pages), (200_001, 2));
}

#[test]
fn paging_is_exact_while_readings_come_in() {
    let minute = |i: i64| report("A", -i * MINUTE_MS, &AIR, i as f64, Quality::GOOD);
    let store = Arc::new(store([station("A", -80.5, 44.0)]));
    for i in 0..2_000 {
        store.append(&minute(i), &mut no_verdicts).unwrap();
    }
    let api = Api::at(NOW_MS, commercial(), Arc::clone(&store));
    let stop = Arc::new(AtomicBool::new(false));
    let appender = {
        let (store, stop) = (Arc::clone(&store), Arc::clone(&stop));
        std::thread::spawn(move || {
            let mut added = 2_000;
            while !stop.load(Ordering::Relaxed) && added < 100_000 {
                store.append(&minute(added), &mut no_verdicts).unwrap();
                // From another series that is new, and late.
                let late = report("A", (added - 1_000) * MINUTE_MS, &WIND, 0.0, Quality::GOOD);
                store.append(&late, &mut no_verdicts).unwrap();
                added += 1;
            }
            added
        })
    };
    let query = "start=2024-08-03T12:00:00Z&end=2034-08-03T12:00:00Z&pageSize=37";
    let air = r#","requests":[{"name":"airTemperature"}]"#;
    // In the end nothing more comes in, so the pages end.
    let (mut rows, mut cursor) = (Vec::new(), String::new());
    for page in 0.. {
        let answer = export(&api, &format!("{query}{cursor}"), air);
        rows.extend(answer.text().lines().skip(1).map(str::to_owned));
        let Some(next) = header_values(&answer, &["x-next-cursor"])[0] else { break };
        cursor = format!("&cursor={next}");
        if page == 200 {
            stop.store(true, Ordering::Relaxed);
        }
    }
    stop.store(true, Ordering::Relaxed);
    let added = appender.join().unwrap();
    assert!(rows.len() >= 2_000 && rows.len() as i64 <= added);
    for (i, row) in (0..).zip(&rows) {
        let time = Iso8601(NOW_MS + i * MINUTE_MS);
        let expected = format!("44.0,-80.5,airTemperature,Instantaneous,0,{time},{i}.0,Good,None,");
        assert_eq!(*row, expected);
    }
}

#[test]
fn a_cursor_outlives_a_restart() {
    let query = format!("{DAY}&pageSize=3");
    let first = export(&api(some()), &query, "");
    holds(&first, &rows()[..3]);
    let cursor = header_values(&first, &["x-next-cursor"])[0].unwrap();
    // Another server with the same record, which has grown in the meantime.
    let grown = some();
    grown.append(&reading("A", 45, &AIR, 1.0), &mut no_verdicts).unwrap();
    grown.append(&reading("A", -10, &AIR, 2.0), &mut no_verdicts).unwrap();
    let rest = export(&api(grown), &format!("{query}&cursor={cursor}"), "");
    holds(&rest, &[rows()[3].clone(), row(&AIR, "12:10:00", "2.0", "Unknown,None")]);
}

#[test]
fn a_cursor_of_another_request_or_a_damaged_one_is_refused() {
    let api = api(some());
    let query = format!("{DAY}&pageSize=1");
    let first = export(&api, &query, "");
    let cursor = header_values(&first, &["x-next-cursor"])[0].unwrap().to_owned();
    let other = "the cursor belongs to another request; query and body must be the same as for \
                 the page that it came with";
    let later = "start=2024-08-03T00:00:01Z&end=2024-08-04T00:00:00Z&pageSize=1";
    for query in [later, &format!("{DAY}&pageSize=2"), DAY] {
        export(&api, &format!("{query}&cursor={cursor}"), "").refuses(400, other);
    }
    let wind = r#","requests":[{"name":"windSpeed"}]"#;
    export(&api, &format!("{query}&cursor={cursor}"), wind).refuses(400, other);
    let damaged = "invalid cursor: it must be the X-Next-Cursor of the previous page, unchanged";
    let flipped = cursor.replacen(&cursor[20..21], "g", 1);
    for bad in ["", "x", &cursor[1..], &flipped, &format!("{cursor}00"), "%F0%9F%8C%A7"] {
        export(&api, &format!("{query}&cursor={bad}"), "").refuses(400, damaged);
    }
    // Another spelling of the same request is the same request.
    let same = "start=2024-08-02T20:00:00-04:00&end=2024-08-04T00:00Z&pageSize=01";
    let answer = export(&api, &format!("{same}&cursor={cursor}"), r#","requests":[]"#);
    holds(&answer, &rows()[1..2]);
}

#[test]
fn what_is_missing_or_malformed_is_refused() {
    let api = api(some());
    export(&api, "end=2024-08-03T12:00:00Z", "").refuses(400, "start is required");
    export(&api, "start=2024-08-03T12:00:00Z", "").refuses(400, "end is required");
    export(&api, "start=2024-08-03T12:00:00Z&end=2024-08-03T12:00:00Z", "").refuses(
        400,
        "start must be before end; got start 2024-08-03T12:00:00Z and end 2024-08-03T12:00:00Z",
    );
    for size in ["0", "-1", "200001", "1.5", "+1", "x", "", "99999999999999999999"] {
        let text = if size == "+1" { " 1" } else { size };
        export(&api, &format!("{DAY}&pageSize={size}"), "").refuses(
            400,
            &format!("pageSize must be a whole number from 1 to 200000; got \"{text}\""),
        );
    }
    let differ = r#","requests":[{"lowerValueBound":1},{"lowerValueBound":2}]"#;
    export(&api, DAY, differ).refuses(
        400,
        "all requests must have the same lowerValueBound, upperValueBound and qualityRange; those \
         of requests[1] differ from those of requests[0]",
    );
    let bounds = r#","requests":[{"lowerValueBound":2,"upperValueBound":1}]"#;
    export(&api, DAY, bounds)
        .refuses(400, "lowerValueBound must not be greater than upperValueBound; got 2 and 1");
    let range = r#","requests":[{"qualityRange":{"worst":"Good","best":"Missing"}}]"#;
    export(&api, DAY, range)
        .refuses(400, "worst of qualityRange must not rank above best; got Good and Missing");
    let path = format!("/historical/bulk?{DAY}");
    api.post(&path, r#"{"stationId":"nowhere"}"#).refuses(400, "no station has the id \"nowhere\"");
    for (fields, text) in [
        (r#","requests":{}"#, "requests must be a list of objects; got an object"),
        (r#","requests":[1]"#, "requests must be a list of objects; got 1 in it"),
        (
            r#","requests":[{"qualityRange":{"worst":"good"}}]"#,
            "worst must be one of Suppressed, Missing, Error, Doubtful, Inconsistent, \
             Instrumentation, Good, Unknown; got \"good\"",
        ),
        (
            r#","requests":[{"qualityRange":"Good"}]"#,
            "qualityRange must be an object; got \"Good\"",
        ),
        (r#","requests":[{"lowerValueBound":"1"}]"#, "lowerValueBound must be a number; got \"1\""),
        (
            r#","requests":[{"intervalType":"x"}]"#,
            "intervalType must be one of Instantaneous, Average, Cumulative, Max, Min, Median, \
             Unknown; got \"x\"",
        ),
        (
            r#","requests":[{"qualityrange":{}}]"#,
            "unknown member of the body, \"qualityrange\"; the name is qualityRange",
        ),
    ] {
        export(&api, DAY, fields).refuses(400, text);
    }
}

#[test]
fn only_a_commercial_plan_opens_it() {
    let with = |plan| Api::with(Config { assume_plan: plan, ..Config::default() }, some());
    export(&with(Plan::None), DAY, "").is_empty(401);
    export(&with(Plan::Free), DAY, "").is_empty(403);
    export(&with(Plan::Pro), DAY, "").is_empty(403);
    assert_eq!(export(&with(Plan::Commercial), DAY, "").status, 200);
    // Before anything else of the request is checked.
    with(Plan::None).post("/historical/bulk?start=x", "{").is_empty(401);
    let path = "/api/v1/historical/bulk";
    with(Plan::Pro).call(Method::POST, path, &[], Body::empty()).is_empty(403);
    for (plan, allowed) in [(Plan::None, false), (Plan::Pro, false), (Plan::Commercial, true)] {
        let view = with(plan).get("/capabilities").text();
        let product = format!(
            r#""historical.bulk":{{"allowed":{allowed},"requires":"commercial","requiresStanding":"none"}}"#
        );
        assert!(view.contains(&product), "{view}");
    }
}

/// Sends a POST with headers in addition to that of the JSON body.
fn export_with(api: &Api, headers: &[(HeaderName, &str)]) -> Answer {
    let json = [(header::CONTENT_TYPE, "application/json")];
    let body = format!(r#"{{"stationId":"{}"}}"#, id("A"));
    let path = format!("/api/v1/historical/bulk?{DAY}");
    api.call(Method::POST, &path, &[&json[..], headers].concat(), body.into())
}

#[test]
fn other_formats_are_sent_to_those_who_accept_them() {
    let api = api(some());
    for (accept, kind) in [
        ("application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.stream"),
        ("application/vnd.apache.parquet", "application/vnd.apache.parquet"),
        ("application/vnd.apache.parquet, text/csv;q=0.5", "application/vnd.apache.parquet"),
        ("text/csv", "text/csv; charset=utf-8"),
        ("application/json, */*", "text/csv; charset=utf-8"),
    ] {
        let answer = export_with(&api, &[(header::ACCEPT, accept)]);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.header(header::CONTENT_TYPE), Some(kind));
        assert_eq!(answer.header(header::VARY), Some("accept, accept-encoding"));
        assert_eq!(
            header_values(&answer, &["x-has-more", "x-series-found"]),
            [Some("False"), Some("True")]
        );
        match kind {
            // A continuation marker starts a message of a stream, and ends it with no length.
            "application/vnd.apache.arrow.stream" => {
                assert_eq!(answer.body[..4], [0xff; 4]);
                assert!(answer.body.ends_with(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]));
            }
            "application/vnd.apache.parquet" => {
                assert!(answer.body.starts_with(b"PAR1") && answer.body.ends_with(b"PAR1"));
            }
            _ => holds(&answer, &rows()),
        }
    }
}

#[test]
fn a_caller_who_takes_an_encoding_gets_the_same_rows_in_it() {
    let api = api(some());
    for encoding in ["gzip", "br", "zstd"] {
        let answer = export_with(&api, &[(header::ACCEPT_ENCODING, encoding)]);
        assert_eq!(answer.header(header::CONTENT_ENCODING), Some(encoding));
        holds(&answer, &rows());
    }
    // A Parquet file is itself compressed.
    let parquet = (header::ACCEPT, "application/vnd.apache.parquet");
    let answer = export_with(&api, &[parquet, (header::ACCEPT_ENCODING, "gzip")]);
    assert_eq!(answer.header(header::CONTENT_ENCODING), None);
    assert!(answer.body.starts_with(b"PAR1"));
}

#[test]
fn verdicts_are_their_names_and_a_bucket_stands_in_its_column() {
    let bucket = SeriesKey {
        bucket: "0-1 mm, fine".into(),
        ..SeriesKey::new(Variable::Precipitation, IntervalType::Cumulative, 60)
    };
    let mut batches = vec![station("A", -80.5, 44.0), reading("A", 0, &bucket, 0.2)];
    let mut expected = BTreeMap::new();
    for (hour, base) in (1..).zip(BaseQuality::ALL) {
        let quality = Quality { base, ..Quality::GOOD };
        let mslp = instant(Variable::Mslp);
        batches.push(report("A", hour * 60 * MINUTE_MS, &mslp, 1013.25, quality));
        let time = format!("{:02}:00:00", 12 - hour);
        expected.insert(time.clone(), row(&mslp, &time, "1013.25", &format!("{base},None")));
    }
    let time = "12:00:00".to_owned();
    let quoted = row(&bucket, &time, "0.2", "Unknown,None") + "\"0-1 mm, fine\"";
    expected.insert(time, quoted);
    holds(&export(&api(store(batches)), DAY, ""), &expected.into_values().collect::<Vec<_>>());
}
