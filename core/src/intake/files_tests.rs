use std::io;
use std::path::Path;
use std::sync::Mutex;

use flate2::read::GzDecoder;

use super::*;
use crate::error::{Error, ErrorKind};
use crate::feed::metar_station;
use crate::geo::LonLat;
use crate::intake::AHEAD_MS;
use crate::observation::Batch;
use crate::store::{MemoryStore, Reader, ReaderWrapper, VerdictFn};
use crate::time::DAY_MS;

/// 2024-08-03T20:01:00Z.
const RECEIVED_MS: i64 = 1_722_715_260_000;

const BULLETIN: &str = "SACN43 CWAO 032000\n\
    METAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991=\n\
    METAR CYXX 032000Z 24012KT 15SM FEW060 21/12 A2991=\n";

/// The unpacked content of a file of the test data.
fn unpacked(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(name);
    let mut bytes = Vec::new();
    let packed = std::fs::File::open(path).unwrap();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    bytes
}

fn toronto(id: StationId) -> Option<Station> {
    let place = LonLat::new(-79.63, 43.68).unwrap();
    let station = metar_station("CYYZ", Some("Toronto"), place, Some(173.0));
    (station.id == id).then_some(station)
}

fn read(
    store: &dyn Store,
    input: impl BufRead,
    file: &FeedFile<'_>,
) -> Result<FileReceipt, FileError> {
    Intake::default().read_file(store, input, file)
}

fn names(store: &dyn Store) -> Vec<String> {
    let directory = store.directory().unwrap();
    directory.stations.iter().map(|record| record.station.name.clone()).collect()
}

#[test]
fn a_bulletin_is_stored_as_far_as_its_stations_have_places() {
    let store = MemoryStore::default();
    let file = FeedFile { known: &toronto, ..FeedFile::new("sa.txt", RECEIVED_MS) };
    let receipt = read(&store, BULLETIN.as_bytes(), &file).unwrap();
    assert_eq!(receipt.kind, Kind::MetarBulletin);
    assert_eq!((receipt.summary.read, receipt.summary.refused), (2, 0));
    assert_eq!(receipt.place_unknown.iter().collect::<Vec<_>>(), [("METAR CYXX", 1)]);
    assert_eq!(names(&store), ["Toronto"]);
    // Derived values are added too.
    assert!(receipt.readings.added > 9, "{receipt:?}");
    let added = receipt.readings.added;
    assert_eq!(
        receipt.to_string(),
        format!("metar-bulletin: read 2, readings added {added}, without a place 1")
    );

    // The record knows the station now, so a table is not needed.
    let again = read(&store, BULLETIN.as_bytes(), &FeedFile::new("sa.txt", RECEIVED_MS)).unwrap();
    assert_eq!((again.readings.added, again.readings.unchanged), (0, added));
    assert_eq!(again.place_unknown.total(), 1);
}

#[test]
fn without_any_place_nothing_is_stored_and_each_station_is_counted() {
    let store = MemoryStore::default();
    let receipt = read(&store, BULLETIN.as_bytes(), &FeedFile::new("sa.txt", RECEIVED_MS)).unwrap();
    let unknown: Vec<_> = receipt.place_unknown.iter().collect();
    assert_eq!(unknown, [("METAR CYXX", 1), ("METAR CYYZ", 1)]);
    assert_eq!((receipt.summary.read, receipt.readings), (2, Receipt::default()));
    assert!(names(&store).is_empty());
}

#[test]
fn reports_from_the_future_are_left_out() {
    let store = MemoryStore::default();
    // The reports are from 20:00. Reports that give only the day are refused from a quarter of an
    // hour ahead on, because a clock that is ahead would give them a month; a table gives the date
    // itself.
    let table = "raw_text,station_id,observation_time,latitude,longitude\n\
        CYYZ 032000Z 24012KT 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
    let of_reports_ms = RECEIVED_MS - 60_000;
    for (text, ahead_ms, count) in [(BULLETIN, AHEAD_MS, 2), (table, DAY_MS, 1)] {
        for (more_ms, left_out) in [(1, count), (0, 0)] {
            let now_ms = Some(of_reports_ms - ahead_ms - more_ms);
            let file = FeedFile { now_ms, known: &toronto, ..FeedFile::new("sa.csv", RECEIVED_MS) };
            let receipt = read(&store, text.as_bytes(), &file).unwrap();
            assert_eq!(receipt.in_the_future.total(), left_out, "{text}");
        }
    }
}

#[test]
fn alerts_go_to_their_store_or_are_counted() {
    let bytes = unpacked("nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz");
    let (store, alerts) = (MemoryStore::default(), AlertStore::default());
    let file = FeedFile { alerts: Some(&alerts), ..FeedFile::new("alerts.json", RECEIVED_MS) };
    let receipt = read(&store, &*bytes, &file).unwrap();
    let count = receipt.summary.read;
    assert_eq!((receipt.kind, receipt.alerts.added as u64), (Kind::NwsAlerts, count));
    assert!(count > 100 && receipt.alerts_left_out == 0, "{receipt}");
    assert_eq!(alerts.record().messages.len() as u64, count);
    assert_eq!(read(&store, &*bytes, &file).unwrap().alerts.known as u64, count);

    let receipt = read(&store, &*bytes, &FeedFile::new("alerts.json", RECEIVED_MS)).unwrap();
    assert_eq!((receipt.alerts, receipt.alerts_left_out), (AlertReceipt::default(), count));
    assert_eq!(receipt.to_string(), format!("nws-alerts: read {count}, alerts left out {count}"));
}

/// Fails after its bytes, as the decompressor of a cut file does.
struct CutReader<'a>(&'a [u8]);

impl Read for CutReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            Err(io::ErrorKind::UnexpectedEof.into())
        } else {
            self.0.read(buffer)
        }
    }
}

#[test]
fn of_a_file_that_is_cut_the_first_half_is_stored() {
    let bytes = unpacked("metar/liveairdata_metars_20240803T1732Z.csv.gz");
    let store = MemoryStore::default();
    let file = FeedFile::new("metars.csv", RECEIVED_MS);
    let half = io::BufReader::new(CutReader(&bytes[..bytes.len() / 2]));
    let error = read(&store, half, &file).unwrap_err();
    let FileError::Feed { receipt, .. } = &error else { panic!("{error:?}") };
    let before = receipt.readings.added;
    assert!(before > 0 && receipt.summary.read > 10 && receipt.summary.readings > 50);
    let text = error.to_string();
    assert!(text.starts_with("cannot read the feed: "), "{text}");
    assert!(text.ends_with(&format!("; stored before that: {receipt}")), "{text}");
    assert_eq!(Error::from(error).kind(), ErrorKind::Internal);

    let whole = read(&store, &*bytes, &file).unwrap();
    assert!(whole.readings.unchanged > 0 && whole.readings.added > before / 2);

    // If even the start cannot be read, the kind is not to blame.
    let error = read(&store, io::BufReader::new(CutReader(b"")), &file).unwrap_err();
    assert!(matches!(error, FileError::Start(FeedError::Io { .. })), "{error:?}");
}

#[test]
fn a_file_of_no_known_kind_is_refused_with_those_that_are_known() {
    let file = FeedFile::new("letter.txt", RECEIVED_MS);
    let error = read(&MemoryStore::default(), &b"Dear reader"[..], &file).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("the kind of \"letter.txt\" is unknown; known are awc-csv, "),
        "{text}"
    );
    assert_eq!(Error::from(error).kind(), ErrorKind::Unsupported);
    // A given kind is not questioned.
    let file = FeedFile { kind: Some(Kind::MetarBulletin), ..file };
    let error = read(&MemoryStore::default(), &b"Dear reader"[..], &file).unwrap_err();
    assert!(error.to_string().starts_with("no METAR or SPECI report that can be read"), "{error}");
}

/// A store that takes a number of batches and then refuses.
#[derive(Default)]
struct RefusingStore {
    store: MemoryStore,
    takes: usize,
    sizes: Mutex<Vec<usize>>,
}

impl ReaderWrapper for RefusingStore {
    fn wrapped(&self) -> &dyn Reader {
        &self.store
    }
}

impl Store for RefusingStore {
    fn append(&self, batch: &Batch, judge: &mut VerdictFn<'_>) -> Result<Receipt, StoreError> {
        let mut sizes = self.sizes.lock().unwrap();
        if sizes.len() == self.takes {
            return Err(StoreError::Full { path: "a".into(), cause: "no space".into() });
        }
        sizes.push(batch.reports.len());
        self.store.append(batch, judge)
    }
}

/// Far more rows than three batches hold.
const MANY_ROWS: u64 = 200_000;

/// Gives the header of a table and then one row again and again, a minute later each time.
struct Long {
    line: Vec<u8>,
    at: usize,
    rows: u64,
}

impl Read for Long {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.line.len() {
            self.rows += 1;
            if self.rows > MANY_ROWS {
                return Ok(0);
            }
            let (day, hour, minute) =
                (self.rows / 1440 % 28 + 1, self.rows / 60 % 24, self.rows % 60);
            let time = format!("2020-01-{day:02}T{hour:02}:{minute:02}:00Z");
            let metar = format!("KBUF {day:02}{hour:02}{minute:02}Z 21014KT 02/M07 A2973");
            self.line = format!("{metar},KBUF,{time},42.94,-78.74\n").into_bytes();
            self.at = 0;
        }
        let count = (&self.line[self.at..]).read(buffer)?;
        self.at += count;
        Ok(count)
    }
}

#[test]
fn a_store_that_refuses_ends_a_file_however_long_it_is() {
    let header = "raw_text,station_id,observation_time,latitude,longitude\n";
    let long = Long { line: header.into(), at: 0, rows: 0 };
    let store = RefusingStore { takes: 2, ..RefusingStore::default() };
    let file = FeedFile::new("metars.csv", RECEIVED_MS);
    let error = read(&store, io::BufReader::new(long), &file).unwrap_err();
    let FileError::Store { cause, receipt } = &error else { panic!("{error:?}") };
    assert!(matches!(cause, StoreError::Full { .. }), "{cause:?}");
    // Two batches are stored, the third is not: no batch grows with the file.
    let sizes = store.sizes.lock().unwrap().clone();
    assert!(sizes.len() == 2 && sizes.iter().all(|&reports| reports < 20_000), "{sizes:?}");
    assert!(receipt.readings.added > 50_000, "{receipt}");
    assert!(receipt.summary.read > sizes.iter().sum::<usize>() as u64);
    assert!(receipt.summary.read < 100_000, "nothing more is read");
    assert_eq!(Error::from(error).kind(), ErrorKind::Unavailable);

    let alerts =
        AlertStore::unavailable(StoreError::Locked { path: "a".into(), holder: "a test".into() });
    let bytes = unpacked("nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz");
    let file = FeedFile { alerts: Some(&alerts), ..FeedFile::new("alerts.json", RECEIVED_MS) };
    let error = read(&store, &*bytes, &file).unwrap_err();
    assert!(matches!(error, FileError::Store { cause: StoreError::Locked { .. }, .. }));
}
