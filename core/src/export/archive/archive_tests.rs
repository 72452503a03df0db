use proptest::prelude::*;

use super::*;
use crate::geo::LonLat;
use crate::observation::{
    BaseQuality, Batch, EarlierPlaces, Identifiers, IntervalType, Qualifier, Quality, Reading,
    ReasonQuality, Report, SeriesKey, Station, StationId, Variable,
};
use crate::store::{MemoryStore, Reader, SeriesSlice, StationRecord, Store, no_verdicts};
use crate::time::HOUR_MS;

fn id(number: usize) -> StationId {
    StationId::new("TEST", &number.to_string())
}

fn station(number: usize) -> Station {
    Station {
        id: id(number),
        network: "TEST".into(),
        native_id: number.to_string(),
        name: String::new(),
        station_type: None,
        coordinates: LonLat::new(-79.63, 43.68).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

fn key(number: usize) -> SeriesKey {
    let mut key = SeriesKey::new(Variable::WindSpeed, IntervalType::Average, number as i32);
    if number % 3 == 2 {
        key.bucket = "2-5 \u{b5}m".into();
    }
    key.calculated = number % 2 == 1;
    key
}

/// Station, hour, series; the rest follows from them.
fn store(stations: usize, readings: &[(usize, i64, usize)]) -> MemoryStore {
    let report = |&(name, hour, series): &(usize, i64, usize)| {
        let number = (name + hour as usize + series) % 8;
        let reading = Reading {
            series: key(series),
            value: hour as f64 / 3.0 + series as f64,
            quality: Quality { base: BaseQuality::ALL[number], reason: ReasonQuality::ALL[number] },
            qualifier: (number % 2 == 1).then(|| Qualifier::ALL[number % 3]),
        };
        Report {
            station: id(name),
            ts_ms: hour * HOUR_MS,
            revision: number as u8,
            present_weather: None,
            text: None,
            readings: vec![reading],
        }
    };
    let store = MemoryStore::default();
    let batch = Batch {
        stations: (0..stations).map(station).collect(),
        reports: readings.iter().map(report).collect(),
    };
    store.append(&batch, &mut no_verdicts).unwrap();
    store
}

fn file(store: &MemoryStore, span_ms: &Range<i64>) -> (Vec<u8>, ArchiveSummary) {
    let mut writer = ArchiveWriter::new(Vec::new()).unwrap();
    for record in &store.directory().unwrap().stations {
        writer.station(store, record, span_ms.clone()).unwrap();
    }
    writer.finish().unwrap()
}

fn tail(file: &[u8], summary: &ArchiveSummary) -> ArchiveTail {
    let from = file.len() - summary.tail as usize;
    ArchiveTail::parse(&file[from..], file.len() as u64).unwrap()
}

type Rows = Vec<(i32, i64, u64, u8, u8, u8, u8)>;

fn rows<'a>(slices: impl Iterator<Item = SeriesSlice<'a>>) -> Rows {
    let mut rows: Rows = Vec::new();
    for slice in slices {
        rows.extend((0..slice.ts_ms.len()).map(|at| {
            let (quality, source) = (slice.quality[at].0, slice.source[at].0);
            let value = slice.value[at].to_bits();
            let (revision, qualifier) = (slice.revision[at], slice.qualifier[at]);
            (slice.series.id.0, slice.ts_ms[at], value, quality, source, revision, qualifier)
        }));
    }
    rows.sort_unstable();
    rows
}

/// The readings of a station from the file.
fn archived(
    file: &[u8],
    tail: &ArchiveTail,
    record: &StationRecord,
    span_ms: &Range<i64>,
) -> Result<Rows, ArchiveDamage> {
    let mut found = Vec::new();
    for group in tail.groups_of(record.station.id, span_ms) {
        let bytes = tail.bytes_of(group);
        let bytes = file[bytes.start as usize..bytes.end as usize].to_vec();
        found.extend(rows(tail.read(group, bytes, record)?.slices(span_ms)));
    }
    found.sort_unstable();
    Ok(found)
}

/// The readings of a station from the store.
fn held(store: &MemoryStore, station: StationId, span_ms: &Range<i64>) -> Rows {
    let window = crate::time::ClosedWindow::new(span_ms.start, span_ms.end).unwrap();
    let stations = &[station];
    let variables = &[Variable::WindSpeed];
    let selection = crate::store::Selection { stations, variables, window };
    let mut found = Vec::new();
    store.scan(&selection, &mut |_, slices| found = rows(slices.iter().copied())).unwrap();
    found.retain(|row| span_ms.contains(&row.1));
    found
}

proptest! {
    #[test]
    fn what_is_read_back_is_what_was_written(
        readings in prop::collection::vec((0_usize..4, 0_i64..50, 0_usize..5), 0..80),
        (first, hours) in (0_i64..40, 1_i64..50),
        (asked_first, asked_hours) in (0_i64..50, 1_i64..50),
    ) {
        let store = store(4, &readings);
        let span_ms = first * HOUR_MS..(first + hours) * HOUR_MS;
        let (file, summary) = file(&store, &span_ms);
        let tail = tail(&file, &summary);
        prop_assert_eq!(summary.bytes, file.len() as u64);
        let asked_ms = asked_first * HOUR_MS..(asked_first + asked_hours) * HOUR_MS;
        let mut all = 0;
        for record in &store.directory().unwrap().stations {
            let id = record.station.id;
            let mut expected = held(&store, id, &span_ms);
            all += expected.len();
            expected.retain(|row| asked_ms.contains(&row.1));
            prop_assert_eq!(archived(&file, &tail, record, &asked_ms).unwrap(), expected);
        }
        prop_assert_eq!(all as u64, summary.readings);
    }
}

/// Some 150,000 readings of three stations; the second station is in all row groups.
fn large() -> MemoryStore {
    let mut readings = Vec::new();
    for hour in 0..10_000 {
        readings.push((0, hour, 0));
        readings.extend((0..13).map(|series| (1, hour, series)));
        readings.push((2, hour, 0));
    }
    store(3, &readings)
}

#[test]
fn row_groups_without_a_station_or_a_time_are_not_read() {
    let store = large();
    let span_ms = 0..10_000 * HOUR_MS;
    let (file, summary) = file(&store, &span_ms);
    let tail = tail(&file, &summary);
    assert_eq!(summary.readings, 150_000);
    assert_eq!(tail.groups.len(), 3);
    let directory = store.directory().unwrap();
    for record in &directory.stations {
        let id = record.station.id;
        assert_eq!(archived(&file, &tail, record, &span_ms).unwrap(), held(&store, id, &span_ms));
        let day = 5_000 * HOUR_MS..5_024 * HOUR_MS;
        assert_eq!(archived(&file, &tail, record, &day).unwrap(), held(&store, id, &day));
        // A group with the end of one station and the beginning of another covers nearly all times.
        assert!(tail.groups_of(id, &day).len() < 3, "{id}");
    }
    let first = directory.stations[0].station.id;
    assert!(tail.groups_of(first, &span_ms).len() < 3 || first == id(1));
    let unknown = StationId::from_bytes([0; 16]);
    assert_eq!(tail.groups_of(unknown, &span_ms), Vec::<usize>::new());
}

#[test]
fn the_same_readings_make_the_same_bytes() {
    let (store, span_ms) = (large(), 0..10_000 * HOUR_MS);
    let (one, _) = file(&store, &span_ms);
    let (other, _) = file(&store, &span_ms);
    assert!(one == other);
}

#[test]
fn damage_is_found_wherever_it_is() {
    let store = store(2, &(0..200).map(|at| (at % 2, at as i64, at % 5)).collect::<Vec<_>>());
    let span_ms = 0..200 * HOUR_MS;
    let (file, summary) = file(&store, &span_ms);
    let whole = tail(&file, &summary);
    let directory = store.directory().unwrap();
    let record = &directory.stations[0];
    let groups_end = file.len() - summary.tail as usize;
    for at in (0..groups_end).step_by(7) {
        let mut file = file.clone();
        file[at] ^= 0x10;
        let read = archived(&file, &whole, record, &span_ms);
        assert!(read.unwrap_err().to_string().contains("does not match its checksum"), "{at}");
    }
    // The caller that names the file has the checksum of the tail. Even without it nothing may
    // panic.
    for at in (groups_end..file.len()).step_by(3) {
        let mut file = file.clone();
        file[at] ^= 0x10;
        if let Ok(tail) = ArchiveTail::parse(&file[groups_end..], file.len() as u64) {
            let groups = tail.groups_of(record.station.id, &span_ms);
            let inside = |group: &usize| tail.bytes_of(*group).end <= groups_end as u64;
            assert!(groups.iter().all(inside));
        }
        assert!(ArchiveTail::parse(&file[at + 1..], (file.len() - at - 1) as u64).is_err());
    }
}

#[test]
fn a_series_that_the_record_does_not_know_is_refused() {
    let known = store(1, &[(0, 1, 0)]);
    let span_ms = 0..10 * HOUR_MS;
    let (file, summary) = file(&store(1, &[(0, 1, 0), (0, 2, 1)]), &span_ms);
    let tail = tail(&file, &summary);
    let directory = known.directory().unwrap();
    let refused = archived(&file, &tail, &directory.stations[0], &span_ms).unwrap_err();
    assert!(refused.to_string().contains("does not know series"), "{refused}");
}

#[test]
fn stations_are_written_in_order_and_once() {
    let store = store(2, &[(0, 1, 0), (1, 1, 0)]);
    let directory = store.directory().unwrap();
    let mut writer = ArchiveWriter::new(Vec::new()).unwrap();
    let span_ms = 0..10 * HOUR_MS;
    let mut add = |at: usize| writer.station(&store, &directory.stations[at], span_ms.clone());
    assert_eq!(add(1), Ok(1));
    assert!(add(0).is_err() && add(1).is_err());
}

/// An archived month does not change when its station moves later.
#[test]
fn rows_of_an_archive_have_the_place_of_their_time() {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, TimestampMillisecondType};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    let store = store(2, &(0..100).map(|at| (at % 2, at as i64, at % 3)).collect::<Vec<_>>());
    let places = |file: Vec<u8>| {
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file)).unwrap();
        let mut places = Vec::new();
        for batch in reader.build().unwrap().map(Result::unwrap) {
            let column =
                |name| batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().clone();
            let (lat, lon) = (column("lat"), column("lon"));
            let ids = batch.column_by_name(STATION_ID).unwrap().as_string::<i32>();
            let times = batch.column_by_name(TIMESTAMP).unwrap();
            let times = times.as_primitive::<TimestampMillisecondType>();
            places.extend((0..batch.num_rows()).map(|row| {
                ((ids.value(row).to_owned(), times.value(row)), (lat.value(row), lon.value(row)))
            }));
        }
        places.sort_by(|(one, _), (other, _)| one.cmp(other));
        places.into_iter().map(|(_, place)| place).collect::<Vec<_>>()
    };
    let (old, new) = ((43.68, -79.63), (1.5, 10.0));
    let (before_ms, after_ms) = (0..50 * HOUR_MS, 50 * HOUR_MS..100 * HOUR_MS);
    let (before, _) = file(&store, &before_ms);
    let mut moved = station(0);
    moved.move_to(LonLat::new(new.1, new.0).unwrap(), 60 * HOUR_MS);
    store.append(&Batch { stations: vec![moved], reports: vec![] }, &mut no_verdicts).unwrap();
    assert!(file(&store, &before_ms).0 == before, "the same bytes");
    assert_eq!(places(before), [old; 50]);
    let after = places(file(&store, &after_ms).0);
    let first_is_moved = id(0) < id(1);
    // Hours 50 to 58 of the station that has moved, 60 to 98, and the other station.
    let expected: Vec<_> = [vec![old; 5], vec![new; 20]].concat();
    let expected = if first_is_moved {
        [expected, vec![old; 25]].concat()
    } else {
        [vec![old; 25], expected].concat()
    };
    assert_eq!(after, expected);
}

/// Columns compress because the rows of a series follow one another.
#[test]
fn the_rows_of_a_station_are_sorted_by_variable_series_and_time() {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int32Type, TimestampMillisecondType};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
        CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n\
        CYYZ 032100Z 25010G25KT 15SM 28/17 A2992,CYYZ,2024-08-03T21:00:00Z,43.68,-79.63\n";
    let store = MemoryStore::default();
    let file_of = crate::intake::FeedFile::new("metars.csv", 0);
    crate::Intake::default().read_file(&store, csv.as_bytes(), &file_of).unwrap();
    let (file, summary) = file(&store, &(0..i64::MAX));
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file)).unwrap();
    let mut rows: Vec<(String, i32, i64)> = Vec::new();
    for batch in reader.build().unwrap().map(Result::unwrap) {
        let names = batch.column_by_name("observation_name").unwrap().as_string::<i32>().clone();
        let series = batch.column_by_name(SERIES_ID).unwrap().as_primitive::<Int32Type>().clone();
        let times = batch.column_by_name(TIMESTAMP).unwrap();
        let times = times.as_primitive::<TimestampMillisecondType>();
        let row = |at| (names.value(at).to_owned(), series.value(at), times.value(at));
        rows.extend((0..batch.num_rows()).map(row));
    }
    assert_eq!(rows.len() as u64, summary.readings);
    assert!(rows.len() > 20 && rows.is_sorted(), "{rows:?}");
}

/// Before, rows were sorted by time and series, and compressed with Snappy.
#[test]
fn a_file_of_the_first_form_is_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/archive");
    let csv = std::fs::read(format!("{folder}/metars.csv")).unwrap();
    let store = MemoryStore::default();
    let file_of = crate::intake::FeedFile::new("metars.csv", 0);
    crate::Intake::default().read_file(&store, &csv[..], &file_of).unwrap();
    let old = std::fs::read(format!("{folder}/2024-08.parquet")).unwrap();
    let (span_ms, summary) = (0..i64::MAX - 1, ArchiveSummary { tail: 3330, ..Default::default() });
    let (new, of_new) = file(&store, &span_ms);
    let (of_old, of_new) = (tail(&old, &summary), tail(&new, &of_new));
    let mut readings = 0;
    for record in &store.directory().unwrap().stations {
        let read = archived(&old, &of_old, record, &span_ms).unwrap();
        assert_eq!(read, archived(&new, &of_new, record, &span_ms).unwrap());
        readings += read.len();
    }
    assert_eq!(readings, 32);
}
