//! Exports of many stations, in other units and with local times.

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, RecordBatch, StringArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;

use super::*;
use crate::geo::LonLat;
use crate::observation::{
    Batch, EarlierPlaces, Identifiers, IntervalType, Quality, Reading, Report, SeriesKey, Station,
    Variable,
};
use crate::query::{AnswerClock, AnswerUnits, UnitSystem};
use crate::store::{MemoryStore, Reader, Store, no_verdicts};
use crate::time::LocalClock;

const NAMES: [&str; 4] = ["A", "B", "C", "D"];

fn id(name: &str) -> StationId {
    StationId::new("TEST", name)
}

fn station(name: &str) -> Station {
    Station {
        id: id(name),
        network: "TEST".into(),
        native_id: name.into(),
        name: name.into(),
        station_type: None,
        coordinates: LonLat::new(-79.0, 43.0 + f64::from(name.as_bytes()[0]) / 100.0).unwrap(),
        sensor_height_m: 10.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

fn key(series: usize) -> SeriesKey {
    let wind = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 10);
    match series {
        0 => SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0),
        1 => wind,
        _ => SeriesKey { reported_unit: "C, maybe".into(), ..key(0) },
    }
}

/// Rows as (station, minute, series, value).
fn store(rows: &[(usize, i64, usize, f64)]) -> MemoryStore {
    let store = MemoryStore::default();
    let stations = NAMES.map(station).to_vec();
    let report = |&(at, minute, series, value): &(usize, i64, usize, f64)| Report {
        station: id(NAMES[at]),
        ts_ms: minute * 60_000,
        revision: 0,
        present_weather: None,
        readings: vec![Reading {
            series: key(series),
            value,
            quality: Quality::GOOD,
            qualifier: None,
        }],
        text: None,
    };
    let reports = rows.iter().map(report).collect();
    store.append(&Batch { stations, reports }, &mut no_verdicts).unwrap();
    store
}

fn request() -> Request {
    let window = HalfOpenWindow::new(0, 1_000_000_000).unwrap();
    Request::of_stations(NAMES.map(id).to_vec(), window, "all")
}

fn bytes(store: &dyn Reader, page: Page, format: Format) -> Vec<u8> {
    let mut writer = page.writer(format).unwrap();
    let mut whole = Vec::new();
    while !writer.write(store, &mut whole, usize::MAX).unwrap() {}
    whole
}

/// All pages as CSV, without their headers.
fn pages(store: &dyn Reader, request: &Request) -> Vec<String> {
    let (mut rows, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let page = Page::plan(store, request, cursor.as_deref()).unwrap();
        cursor = page.next_cursor().map(str::to_owned);
        let text = String::from_utf8(bytes(store, page, Format::Csv)).unwrap();
        let lines: Vec<_> = text.lines().skip(1).map(str::to_owned).collect();
        assert!(cursor.is_none() || lines.len() == request.page_rows);
        rows.extend(lines);
        if cursor.is_none() {
            return rows;
        }
    }
}

proptest! {
    /// The rows of many stations are those of each of them, one station after the other.
    #[test]
    fn pages_hold_the_rows_of_each_station_once(
        rows in proptest::collection::vec((0_usize..4, 0_i64..12, 0_usize..3, -9_i32..9), 0..60),
        page_rows in 1_usize..9,
    ) {
        let rows: Vec<_> = rows.into_iter().map(|(at, minute, series, value)| {
            (at, minute, series, f64::from(value))
        }).collect();
        let store = store(&rows);
        let mut expected = Vec::new();
        let mut ids = NAMES.map(id);
        ids.sort_unstable();
        for id in ids {
            let one = Request::new(id, request().window);
            expected.extend(pages(&store, &one).into_iter().map(|row| format!("{row},{id}")));
        }
        prop_assert_eq!(pages(&store, &request().page_rows(page_rows)), expected);
    }
}

#[test]
fn late_rows_of_a_station_that_ends_a_page_are_in_no_two_pages() {
    let rows: Vec<_> = (0..4).map(|at| (at, 1, 0, 1.0)).collect();
    let store = store(&rows);
    let one = request().page_rows(1);
    let page = Page::plan(&store, &one, None).unwrap();
    let cursor = page.next_cursor().unwrap().to_owned();
    let mut ids = NAMES;
    ids.sort_by_key(|name| id(name));
    let late = Report {
        station: id(ids[0]),
        ts_ms: 120_000,
        revision: 0,
        present_weather: None,
        readings: vec![Reading::unchecked(key(0), 5.0)],
        text: None,
    };
    store.append(&Batch { stations: vec![], reports: vec![late] }, &mut no_verdicts).unwrap();
    let text = String::from_utf8(bytes(&store, page, Format::Csv)).unwrap();
    assert_eq!(text.lines().count(), 2, "{text}");
    let next = Page::plan(&store, &one, Some(&cursor)).unwrap();
    let text = String::from_utf8(bytes(&store, next, Format::Csv)).unwrap();
    assert!(text.lines().nth(1).unwrap().contains(",5.0,"), "{text}");
}

#[test]
fn a_cursor_of_many_stations_is_one_of_the_same_choice_units_and_zone() {
    let rows: Vec<_> = (0..4).map(|at| (at, 1, 0, 1.0)).collect();
    let store = store(&rows);
    let own = request().page_rows(2);
    let cursor = Page::plan(&store, &own, None).unwrap().next_cursor().unwrap().to_owned();
    let units = Some(AnswerUnits::of(UnitSystem::Us));
    let clock = Some(AnswerClock::from(LocalClock::new("Etc/UTC", 0, [])));
    for other in [
        Request { chosen_by: Some("others".into()), ..own.clone() },
        Request { chosen_by: None, ..own.clone() },
        own.clone().form(AnswerForm { units, clock: None }),
        own.clone().form(AnswerForm { units: None, clock }),
    ] {
        let refused = Page::plan(&store, &other, Some(&cursor)).unwrap_err();
        assert_eq!(refused, ExportError::Cursor(CursorError::OtherRequest));
    }
    // A station that is added meanwhile changes nothing for the cursor.
    let fewer = Request { stations: own.stations[1..].to_vec(), ..own };
    assert!(Page::plan(&store, &fewer, Some(&cursor)).is_ok());
    for at in 0..cursor.len() {
        let mut damaged = cursor.clone().into_bytes();
        damaged[at] = if damaged[at] == b'0' { b'1' } else { b'0' };
        let damaged = String::from_utf8(damaged).unwrap();
        for text in [&*damaged, &cursor[..at]] {
            let refused = Page::plan(&store, &fewer, Some(text)).unwrap_err();
            assert_eq!(refused, ExportError::Cursor(CursorError::Damaged));
        }
    }
}

fn text(batch: &RecordBatch, name: &str) -> Vec<String> {
    let column = batch.column_by_name(name).unwrap();
    if let Some(texts) = column.as_string_opt::<i32>() {
        return texts.iter().map(|text| text.unwrap_or_default().to_owned()).collect();
    }
    let column = column.as_any_dictionary();
    let values: &StringArray = column.values().as_string();
    column.normalized_keys().into_iter().map(|key| values.value(key).to_owned()).collect()
}

#[test]
fn every_format_has_the_unit_of_each_value_and_the_local_time() {
    let mut rows: Vec<_> =
        (0..3_000).map(|minute| ((minute % 3) as usize, minute, 0, 20.0)).collect();
    rows.extend([(0, 5, 1, 22.224), (0, 5, 2, 50.5)]);
    let store = store(&rows);
    let clocks = ["A", "B"].map(|name| {
        (id(name), std::sync::Arc::new(LocalClock::new("America/Toronto", -300, [(300_000, -240)])))
    });
    let units = AnswerUnits::of(UnitSystem::Us).with(Variable::WindSpeed, "kt").unwrap();
    let form = AnswerForm {
        units: Some(units),
        clock: Some(AnswerClock::OfStations(std::sync::Arc::new(clocks.into()))),
    };
    let request = request().form(form);
    let page = || Page::plan(&store, &request, None).unwrap();
    let csv = String::from_utf8(bytes(&store, page(), Format::Csv)).unwrap();
    let mut lines = csv.lines();
    assert!(lines.next().unwrap().ends_with(",group_bucket_name,unit,local_timestamp,station_id"));
    let lines: Vec<&str> = lines.collect();
    let a = id("A");
    for (expected, minute) in [
        (format!("68.0,Good,None,,°F,1969-12-31T19:03:00-05:00,{a}"), 3),
        (format!("68.0,Good,None,,°F,1969-12-31T20:06:00-04:00,{a}"), 6),
        (format!("12.0,Good,None,,kt,1969-12-31T20:05:00-04:00,{a}"), 5),
        (format!("50.5,Good,None,,\"C, maybe\",1969-12-31T20:05:00-04:00,{a}"), 5),
        (format!("68.0,Good,None,,°F,,{}", id("C")), 2),
    ] {
        let row = format!("1970-01-01T00:{minute:02}:00Z,{expected}");
        assert!(lines.iter().any(|line| line.ends_with(&row)), "{row}\n{}", lines[..9].join("\n"));
    }
    let parquet = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes(
        &store,
        page(),
        Format::Parquet,
    )));
    let parquet = parquet.unwrap().build().unwrap().map(Result::unwrap);
    let stream = bytes(&store, page(), Format::ArrowStream);
    let stream = arrow_ipc::reader::StreamReader::try_new(&*stream, None).unwrap();
    for batches in [parquet.collect::<Vec<_>>(), stream.map(Result::unwrap).collect()] {
        let mut rows = Vec::new();
        for batch in &batches {
            let value = batch.column_by_name("value").unwrap().as_primitive::<Float64Type>();
            let lat = batch.column_by_name("lat").unwrap().as_primitive::<Float64Type>();
            let columns = ["unit", "local_timestamp", "station_id"].map(|name| text(batch, name));
            for row in 0..batch.num_rows() {
                let [unit, local, station] = &columns;
                rows.push(format!(
                    "{:?} {:?},{},{},{}",
                    lat.value(row),
                    value.value(row),
                    unit[row],
                    local[row],
                    station[row]
                ));
            }
            assert_eq!(batch.column_by_name("local_timestamp").unwrap().null_count(), {
                columns[1].iter().filter(|local| local.is_empty()).count()
            });
        }
        let short = |line: &&str| {
            let line = line.replace("\"C, maybe\"", "C; maybe");
            let fields: Vec<&str> = line.split(',').collect();
            format!("{} {},{},{},{}", fields[0], fields[6], fields[10], fields[11], fields[12])
                .replace(';', ",")
        };
        assert_eq!(rows, lines.iter().map(short).collect::<Vec<_>>());
    }
}
