use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, TimestampMillisecondType};
use arrow_array::{RecordBatch, StringArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;

use super::page_rows::PageEnd;
use super::*;
use crate::geo::LonLat;
use crate::observation::{
    Batch, IntervalType, Quality, Reading, ReasonQuality, Report, SeriesId, SeriesKey, Station,
    Variable,
};
use crate::observation::{EarlierPlaces, Identifiers};
use crate::query::rows::RowPosition;
use crate::store::{MemoryStore, Reader, Store, no_verdicts};
use crate::time::Iso8601;

const HEAD: &str = "lat,lon,observation_name,interval_type,interval_minutes,timestamp,value,\
                    quality_base,quality_reason,group_bucket_name\n";

fn id() -> StationId {
    StationId::new("TEST", "A")
}

fn station() -> Station {
    Station {
        id: id(),
        network: "TEST".into(),
        native_id: "A".into(),
        name: "A".into(),
        station_type: None,
        coordinates: LonLat::new(-79.63, 43.68).unwrap(),
        sensor_height_m: 10.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

fn report(ts_ms: i64, readings: &[(SeriesKey, f64, Quality)]) -> Report {
    let reading = |(series, value, quality): &(SeriesKey, f64, Quality)| Reading {
        series: series.clone(),
        value: *value,
        quality: *quality,
        qualifier: None,
    };
    Report {
        station: id(),
        ts_ms,
        revision: 0,
        present_weather: None,
        text: None,
        readings: readings.iter().map(reading).collect(),
    }
}

fn store(reports: Vec<Report>) -> MemoryStore {
    let store = MemoryStore::default();
    store.append(&Batch { stations: vec![station()], reports }, &mut no_verdicts).unwrap();
    store
}

fn request(page_rows: usize) -> Request {
    let window = HalfOpenWindow::new(0, 1_000_000_000).unwrap();
    Request::new(id(), window).page_rows(page_rows)
}

fn bytes(store: &dyn Reader, page: Page, format: Format, piece: usize) -> Vec<u8> {
    let mut writer = page.writer(format).unwrap();
    let mut whole = Vec::new();
    loop {
        let mut text = Vec::new();
        let done = writer.write(store, &mut text, piece).unwrap();
        assert!(done || text.len() >= piece, "{} of {piece} bytes", text.len());
        whole.append(&mut text);
        if done {
            return whole;
        }
    }
}

/// The rows of all pages as CSV, without their header.
fn pages(store: &dyn Reader, request: &Request) -> Vec<String> {
    let (mut rows, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let page = Page::plan(store, request, cursor.as_deref()).unwrap();
        cursor = page.next_cursor().map(str::to_owned);
        let text = String::from_utf8(bytes(store, page, Format::Csv, 1)).unwrap();
        let lines: Vec<&str> = text.strip_prefix(HEAD).unwrap().lines().collect();
        assert!(lines.len() <= request.page_rows);
        assert!(cursor.is_none() || lines.len() == request.page_rows);
        rows.extend(lines.into_iter().map(str::to_owned));
        if cursor.is_none() {
            return rows;
        }
    }
}

fn air() -> SeriesKey {
    SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0)
}

fn wind() -> SeriesKey {
    SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 10)
}

#[test]
fn rows_are_csv_and_a_bucket_is_quoted_if_needed() {
    let stuck = Quality { base: BaseQuality::Instrumentation, reason: ReasonQuality::Inert };
    let bucket = SeriesKey {
        bucket: "1, \"2\"\n".into(),
        ..SeriesKey::new(Variable::Precipitation, IntervalType::Cumulative, 60)
    };
    let store = store(vec![
        report(60_000, &[(bucket, 0.2, Quality::GOOD)]),
        report(1_500, &[(air(), -0.5, stuck)]),
    ]);
    let page = Page::plan(&store, &request(10), None).unwrap();
    assert_eq!(page.next_cursor(), None);
    let text = String::from_utf8(bytes(&store, page, Format::Csv, usize::MAX)).unwrap();
    assert_eq!(
        text.strip_prefix(HEAD).unwrap(),
        "43.68,-79.63,airTemperature,Instantaneous,0,1970-01-01T00:00:01.500Z,-0.5,\
         Instrumentation,Inert,\n\
         43.68,-79.63,precipitation,Cumulative,60,1970-01-01T00:01:00Z,0.2,Good,None,\
         \"1, \"\"2\"\"\n\"\n"
    );
}

fn any_reports() -> impl Strategy<Value = Vec<Report>> {
    let reading = (0..3_usize, -20_i32..20, 0_u8..8);
    let readings = (0..60_i64, proptest::collection::vec(reading, 1..4));
    proptest::collection::vec(readings, 0..60).prop_map(|reports| {
        let keys = [air(), wind(), wind().calculated()];
        let reports = reports.into_iter().map(|(time, readings)| {
            let readings: Vec<_> = readings
                .into_iter()
                .map(|(series, value, base)| {
                    let base = BaseQuality::try_from(base).unwrap();
                    let quality = Quality { base, reason: ReasonQuality::None };
                    (keys[series].clone(), f64::from(value), quality)
                })
                .collect();
            report(time * 1_000, &readings)
        });
        reports.collect()
    })
}

proptest! {
    #[test]
    fn pages_of_any_size_hold_the_rows_that_pass_once_and_in_order(
        reports in any_reports(),
        page_rows in 1_usize..20,
        bounds in proptest::option::of((-20_i32..0, 0_i32..20)),
        range in proptest::option::of((0_u8..4, 3_u8..8)),
        only_wind in any::<bool>(),
    ) {
        let rows = RowFilter {
            lower_value_bound: bounds.map(|(lower, _)| f64::from(lower)),
            upper_value_bound: bounds.map(|(_, upper)| f64::from(upper)),
            quality_range: range.map(|(worst, best)| QualityRange {
                worst: BaseQuality::try_from(worst).ok(),
                best: BaseQuality::try_from(best).ok(),
            }),
        };
        let name = only_wind.then(|| "windSpeed".to_owned());
        let series = SeriesFilter { name, ..SeriesFilter::default() };
        let request = Request {
            entries: vec![BulkEntry { series, rows }],
            window: HalfOpenWindow::new(5_000, 50_000).unwrap(),
            ..request(page_rows)
        };

        let mut record = std::collections::BTreeMap::new();
        for report in &reports {
            for reading in &report.readings {
                let row = (report.ts_ms, reading.series.id());
                record.insert(row, (reading.series.clone(), reading.value, reading.quality));
            }
        }
        let expected: Vec<String> = record
            .into_iter()
            .filter(|((ts_ms, _), (key, value, quality))| {
                (5_000..50_000).contains(ts_ms)
                    && (!only_wind || key.variable == Variable::WindSpeed)
                    && bounds.is_none_or(|(lower, upper)| {
                        (f64::from(lower)..=f64::from(upper)).contains(value)
                    })
                    && range.is_none_or(|(worst, best)| {
                        (worst..=best).contains(&(quality.base as u8))
                    })
            })
            .map(|((ts_ms, _), (key, value, quality))| {
                format!(
                    "43.68,-79.63,{},{},{},{},{value:?},{},{},",
                    key.variable, key.interval_type, key.interval_minutes, Iso8601(ts_ms),
                    quality.base, quality.reason
                )
            })
            .collect();
        prop_assert_eq!(pages(&store(reports), &request), expected);
    }
}

#[test]
fn readings_arriving_between_two_pages_move_none_of_their_rows() {
    let store = store((0..10).map(|i| report(i * 10, &[(air(), 1.0, Quality::GOOD)])).collect());
    let request = request(4);
    let append = |reports| {
        store.append(&Batch { stations: vec![], reports }, &mut no_verdicts).unwrap();
    };
    let first = Page::plan(&store, &request, None).unwrap();
    let cursor = first.next_cursor().unwrap().to_owned();
    // Before the first page, within it, after it; and a series that did not exist.
    append([-10, 5, 35, 95].map(|ts_ms| report(ts_ms, &[(air(), 2.0, Quality::GOOD)])).to_vec());
    append(vec![report(60, &[(wind(), 3.0, Quality::GOOD)])]);
    let times = |page| {
        let text = String::from_utf8(bytes(&store, page, Format::Csv, 1)).unwrap();
        let stamps = text.lines().skip(1).map(|line| line.split(',').nth(5).unwrap().to_owned());
        stamps.collect::<Vec<_>>()
    };
    let at = |ms: i64| Iso8601(ms).to_string();
    // A planned page ends where it was planned to end.
    assert_eq!(times(first), [0, 5, 10, 20, 30].map(at));
    let second = Page::plan(&store, &request, Some(&cursor)).unwrap();
    let cursor = second.next_cursor().unwrap().to_owned();
    assert_eq!(times(second), [35, 40, 50, 60].map(at));
    let third = Page::plan(&store, &request, Some(&cursor)).unwrap();
    let cursor = third.next_cursor().unwrap().to_owned();
    assert_eq!(times(third), [60, 70, 80, 90].map(at));
    let last = Page::plan(&store, &request, Some(&cursor)).unwrap();
    assert_eq!(last.next_cursor(), None);
    assert_eq!(times(last), [95].map(at));
}

#[test]
fn a_cursor_is_valid_for_its_request_and_in_one_spelling_only() {
    let row = RowPosition { ts_ms: -1, series: SeriesId(1_944_015_174) };
    let position = PageEnd { station: id(), row };
    let entry = |name: &str| BulkEntry {
        series: SeriesFilter { name: Some(name.into()), ..SeriesFilter::default() },
        rows: RowFilter { lower_value_bound: Some(0.5), ..RowFilter::default() },
    };
    let own = Request { entries: vec![entry("a"), entry("b")], ..request(10) };
    let text = cursor::encode(&own, position);
    assert_eq!(cursor::decode(&own, &text), Ok(position));
    let swapped = Request { entries: vec![entry("b"), entry("a"), entry("b")], ..own.clone() };
    assert_eq!(cursor::decode(&swapped, &text), Ok(position));

    let window = HalfOpenWindow::new(0, 999_999_999).unwrap();
    let mut open = own.clone();
    open.entries.iter_mut().for_each(|entry| entry.rows = RowFilter::default());
    let others = [
        Request { stations: vec![StationId::new("TEST", "B")], ..own.clone() },
        Request { window, ..own.clone() },
        Request { page_rows: 11, ..own.clone() },
        Request { entries: vec![entry("a")], ..own.clone() },
        Request { entries: vec![], ..own.clone() },
        open,
    ];
    for other in others {
        assert_eq!(cursor::decode(&other, &text), Err(CursorError::OtherRequest));
    }
    for at in 0..text.len() {
        let mut damaged = text.clone().into_bytes();
        damaged[at] = if damaged[at] == b'0' { b'1' } else { b'0' };
        let damaged = String::from_utf8(damaged).unwrap();
        assert_eq!(cursor::decode(&own, &damaged), Err(CursorError::Damaged));
        assert_eq!(cursor::decode(&own, &text[..at]), Err(CursorError::Damaged));
    }
    let upper = text.to_uppercase();
    let non_ascii = "é".repeat(text.len() / 2);
    for damaged in [&*upper, &*non_ascii, &format!("{text}00")] {
        assert_eq!(cursor::decode(&own, damaged), Err(CursorError::Damaged));
    }
}

#[test]
fn invalid_requests_are_refused_with_what_is_allowed() {
    let refused = |request: &Request| {
        Page::plan(&MemoryStore::default(), request, None).unwrap_err().to_string()
    };
    for (rows, text) in [(0, "0"), (200_001, "200001")] {
        assert_eq!(
            refused(&request(rows)),
            format!("pageSize must be a whole number from 1 to 200000; got {text}")
        );
    }
    let with = |filters: &[RowFilter]| Request {
        entries: filters
            .iter()
            .map(|&rows| BulkEntry { series: SeriesFilter::default(), rows })
            .collect(),
        ..request(1)
    };
    let lower = RowFilter { lower_value_bound: Some(2.0), ..RowFilter::default() };
    assert_eq!(
        refused(&with(&[lower, lower, RowFilter::default()])),
        "all requests must have the same lowerValueBound, upperValueBound and qualityRange; those \
         of requests[2] differ from those of requests[0]"
    );
    assert_eq!(
        refused(&with(&[RowFilter { upper_value_bound: Some(1.0), ..lower }])),
        "lowerValueBound must not be greater than upperValueBound; got 2 and 1"
    );
    let range = QualityRange { worst: Some(BaseQuality::Good), best: Some(BaseQuality::Error) };
    assert_eq!(
        refused(&with(&[RowFilter { quality_range: Some(range), ..RowFilter::default() }])),
        "worst of qualityRange must not rank above best; got Good and Error"
    );
}

/// The rows of record batches, formatted as CSV.
fn csv_of(batches: &[RecordBatch]) -> Vec<String> {
    let mut rows = Vec::new();
    for batch in batches {
        let texts = [2, 3, 7, 8, 9].map(|column| {
            let column = batch.column(column).as_any_dictionary();
            let values: &StringArray = column.values().as_string();
            let keys = column.normalized_keys().into_iter();
            keys.map(|key| values.value(key).to_owned()).collect::<Vec<_>>()
        });
        let text = |column: usize, row: usize| &texts[column][row];
        let number = |column: usize, row: usize| {
            batch.column(column).as_primitive::<Float64Type>().value(row)
        };
        for row in 0..batch.num_rows() {
            rows.push(format!(
                "{:?},{:?},{},{},{},{},{:?},{},{},{}",
                number(0, row),
                number(1, row),
                text(0, row),
                text(1, row),
                batch.column(4).as_primitive::<Int32Type>().value(row),
                Iso8601(batch.column(5).as_primitive::<TimestampMillisecondType>().value(row)),
                number(6, row),
                text(2, row),
                text(3, row),
                text(4, row),
            ));
        }
    }
    rows
}

#[test]
fn all_formats_hold_the_same_rows() {
    let doubtful = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Range };
    let bucket = SeriesKey { bucket: "big".into(), ..wind() };
    // More than a row group of Parquet.
    let reports = (0..40_000).map(|i| {
        let value = f64::from(i) / 10.0;
        report(
            i64::from(i) * 1_000,
            &[(air(), value, Quality::GOOD), (bucket.clone(), -value, doubtful)],
        )
    });
    let store = store(reports.collect());
    let wanted = Request { entries: vec![], ..request(75_000) };
    let page = Page::plan(&store, &wanted, None).unwrap();
    let csv = bytes(&store, page.clone(), Format::Csv, 100_000);
    let csv = String::from_utf8(csv).unwrap();
    let expected: Vec<&str> = csv.strip_prefix(HEAD).unwrap().lines().collect();
    assert_eq!(expected.len(), 75_000);

    let stream = bytes(&store, page.clone(), Format::ArrowStream, 100_000);
    let reader = arrow_ipc::reader::StreamReader::try_new(&*stream, None).unwrap();
    let names: Vec<_> = reader.schema().fields().iter().map(|f| f.name().clone()).collect();
    assert_eq!(names.join(","), HEAD.trim_end());
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    assert!(batches.len() >= 4);
    assert_eq!(csv_of(&batches), expected);

    let file = bytes(&store, page, Format::Parquet, 100_000);
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file)).unwrap();
    assert_eq!(reader.metadata().num_row_groups(), 2);
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    assert_eq!(csv_of(&batches), expected);
}

#[test]
fn an_empty_page_is_a_complete_file_in_every_format() {
    let store = store(vec![report(0, &[(air(), 1.0, Quality::GOOD)])]);
    let later = HalfOpenWindow::new(1, 2).unwrap();
    let page = Page::plan(&store, &Request { window: later, ..request(1) }, None);
    let page = page.unwrap();
    assert!(page.series_found() && page.next_cursor().is_none());
    assert_eq!(bytes(&store, page.clone(), Format::Csv, 1), HEAD.as_bytes());
    let stream = bytes(&store, page.clone(), Format::ArrowStream, 1);
    let mut reader = arrow_ipc::reader::StreamReader::try_new(&*stream, None).unwrap();
    assert_eq!((reader.schema().fields().len(), reader.next().is_none()), (10, true));
    let file = bytes(&store, page, Format::Parquet, 1);
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file)).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
}

#[test]
fn bounds_that_are_equal_leave_the_one_value_and_the_one_verdict() {
    let of = |base, value| {
        let quality = Quality { base, reason: ReasonQuality::None };
        (air(), value, quality)
    };
    let bases = [BaseQuality::Doubtful, BaseQuality::Good, BaseQuality::Unknown];
    let reports = (0..9_usize).map(|i| {
        let value = [0.9, 1.0, 1.1][i % 3];
        report(i as i64 * 60_000, &[of(bases[i / 3], value)])
    });
    let store = store(reports.collect());
    let rows = |lower: Option<f64>, upper: Option<f64>, range: Option<QualityRange>| {
        let filter =
            RowFilter { lower_value_bound: lower, upper_value_bound: upper, quality_range: range };
        let entries = vec![BulkEntry { rows: filter, ..BulkEntry::default() }];
        pages(&store, &Request { entries, ..request(2) }).len()
    };
    assert_eq!(rows(Some(1.0), Some(1.0), None), 3);
    assert_eq!((rows(Some(1.0), None, None), rows(None, Some(1.0), None)), (6, 6));
    let range = |worst, best| Some(QualityRange { worst, best });
    let good = Some(BaseQuality::Good);
    assert_eq!(rows(None, None, range(good, good)), 3);
    assert_eq!(rows(Some(1.0), Some(1.0), range(good, good)), 1);
    assert_eq!((rows(None, None, range(good, None)), rows(None, None, range(None, good))), (6, 6));
}

#[test]
fn a_long_page_comes_in_pieces() {
    const ROWS: i64 = 50_000;
    let store =
        store((0..ROWS).map(|i| report(i * 1_000, &[(air(), 1.0, Quality::GOOD)])).collect());
    let plan = || Page::plan(&store, &request(100_000), None).unwrap();
    // Parquet is written in row groups, which are longer.
    for format in [Format::Csv, Format::ArrowStream] {
        let mut writer = plan().writer(format).unwrap();
        let (mut longest, mut whole) = (0, 0);
        loop {
            let mut text = Vec::new();
            let done = writer.write(&store, &mut text, 1).unwrap();
            (longest, whole) = (longest.max(text.len()), whole + text.len());
            if done {
                break;
            }
        }
        assert!(longest < whole * 9 / 10, "{format:?}: {longest} of {whole} bytes");
        assert_eq!(bytes(&store, plan(), format, usize::MAX / 2).len(), whole);
    }
}

/// A past bug: every row had the present place of its station.
#[test]
fn each_row_has_the_place_of_its_time_in_every_format() {
    // More than a batch of Arrow between two of the moves, and a move within a batch.
    let (moves, end) = ([5_000_i64, 5_001, 30_000], 40_000);
    let series = [air(), wind()];
    let reports = (0..end).map(|i| {
        report(i * 1_000, &series.clone().map(|series| (series, i as f64, Quality::GOOD)))
    });
    let store = store(reports.collect());
    let mut moved = station();
    for (number, second) in moves.into_iter().enumerate() {
        moved.move_to(LonLat::new(10.0 * (number + 1) as f64, 1.5).unwrap(), second * 1_000);
    }
    store.append(&Batch { stations: vec![moved], reports: vec![] }, &mut no_verdicts).unwrap();
    let place = |second: i64| match moves.iter().filter(|&&from| second >= from).count() {
        0 => "43.68,-79.63".to_owned(),
        number => format!("1.5,{number}0.0"),
    };
    let expected: Vec<String> = (0..2 * end).map(|row| place(row / 2)).collect();
    let places = |rows: &[String]| -> Vec<String> {
        let place = |row: &String| row.split(',').take(2).collect::<Vec<_>>().join(",");
        rows.iter().map(place).collect()
    };
    let page = || Page::plan(&store, &request(MAX_PAGE_ROWS), None).unwrap();
    let csv = String::from_utf8(bytes(&store, page(), Format::Csv, 100_000)).unwrap();
    let rows: Vec<String> = csv.lines().skip(1).map(str::to_owned).collect();
    assert!(places(&rows) == expected, "CSV");
    let stream = bytes(&store, page(), Format::ArrowStream, 100_000);
    let reader = arrow_ipc::reader::StreamReader::try_new(&*stream, None).unwrap();
    assert!(csv_of(&reader.map(Result::unwrap).collect::<Vec<_>>()) == rows, "Arrow");
    let file = bytes(&store, page(), Format::Parquet, 100_000);
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file)).unwrap();
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    assert!(csv_of(&batches) == rows, "Parquet");
    let mut batches = page().batches();
    let mut table = Vec::new();
    while let Some(batch) = batches.next(&store).unwrap() {
        table.push(batch);
    }
    assert!(csv_of(&table) == rows, "batches");
    // A page that begins after a move; one that ends between two rows of a time.
    assert!(pages(&store, &request(9_999)) == rows, "pages");
    let late = HalfOpenWindow::new(5_000_000, 5_002_000).unwrap();
    let late = Request { window: late, ..request(10) };
    assert_eq!(places(&pages(&store, &late)), ["1.5,10.0", "1.5,10.0", "1.5,20.0", "1.5,20.0"]);
}
