use std::io::Cursor;
use std::path::PathBuf;

use mesonet::feed::METAR_NETWORK;
use mesonet::store::{AlertStore, EmbeddedOptions};
use mesonet::{Batch, EmbeddedStore, MemoryStore, Reader, StationId};
use proptest::prelude::*;

use super::*;
use crate::record::Record;

/// 2026-01-01T00:00:00Z, later than all of the files.
const NOW_MS: i64 = 1_767_225_600_000;

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(name)
}

fn read(store: &dyn Store, options: Options, paths: &[PathBuf]) -> IngestSummary {
    let alerts = AlertStore::default();
    let intake = Intake::default();
    let target = Target { intake: &intake, store, alerts: &alerts, products: None, maintain: None };
    let read = |ingest: &mut Ingest<'_>| paths.iter().for_each(|path| drop(ingest.path(path)));
    ingest(target, options, &AtomicU64::new(0), read).unwrap().1
}

#[test]
fn the_same_files_a_second_time_add_nothing() {
    let store = MemoryStore::default();
    let files = [data("metar/liveairdata_metars_20240803T1732Z.csv.gz")];
    let first = read(&store, Options::at(NOW_MS), &files);
    assert!(first.is_whole());
    let of_kind = &first.kinds[&feed::Kind::AwcCsv];
    assert_eq!((of_kind.files, of_kind.refused.count), (1, 0));
    assert!(of_kind.receipt.added as u64 >= of_kind.readings, "what is derived is added too");
    let generation = store.directory().unwrap().places_generation;
    let now_ms = parse_instant("2024-08-03T18:00:00Z").unwrap();
    let details =
        || serde_json::to_string(&mesonet::query::details(&store, now_ms).unwrap()).unwrap();
    let details_first = details();

    let second = read(&store, Options::at(NOW_MS), &files);
    let again = &second.kinds[&feed::Kind::AwcCsv];
    assert_eq!((again.reports, again.readings), (of_kind.reports, of_kind.readings));
    assert_eq!((again.receipt.added, again.receipt.overtaken), (0, of_kind.receipt.overtaken));
    assert_eq!(details(), details_first);
    assert_eq!(store.directory().unwrap().places_generation, generation, "no station has moved");
}

#[test]
fn what_a_command_reads_is_sealed_while_more_comes_in() {
    let folder = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions { seal_readings: 10_000, ..EmbeddedOptions::default() };
    let record = Record::on_disk(folder.path(), options).unwrap();
    let (intake, alerts, store) = (Intake::default(), AlertStore::default(), record.store());
    let file = data("metar/liveairdata_metars_20240803T1732Z.csv.gz");
    let seal = || record.maintain(None).map(drop);
    let fill = |maintain: Option<&Maintain<'_>>| {
        let target =
            Target { intake: &intake, store: &*store, alerts: &alerts, products: None, maintain };
        ingest(target, Options::at(NOW_MS), &AtomicU64::new(0), |ingest| {
            assert_eq!(ingest.path(&file), None);
        })
        .unwrap()
        .1
    };
    assert!(fill(None).is_whole());
    let health = record.health();
    assert!(health.segments == 0 && health.fresh_readings > 10_000, "{health:?}");
    assert!(fill(Some(&seal)).is_whole());
    let health = record.health();
    assert!(health.segments == 1 && health.fresh_readings < 10_000, "{health:?}");
}

#[test]
fn a_record_that_cannot_be_sealed_ends_the_reading_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let options = EmbeddedOptions { seal_readings: 1, ..EmbeddedOptions::default() };
    let record = Record::on_disk(folder.path(), options).unwrap();
    std::fs::remove_dir(folder.path().join("segments")).unwrap();
    std::fs::write(folder.path().join("segments"), "").unwrap();
    let (intake, alerts, store) = (Intake::default(), AlertStore::default(), record.store());
    let seal = || record.maintain(None).map(drop);
    let maintain: Option<&Maintain<'_>> = Some(&seal);
    let target =
        Target { intake: &intake, store: &*store, alerts: &alerts, products: None, maintain };
    let file = data("metar/liveairdata_metars_20240803T1732Z.csv.gz");
    let ((), summary) = ingest(target, Options::at(NOW_MS), &AtomicU64::new(0), |ingest| {
        ingest.path(&file);
    })
    .unwrap();
    assert!(!summary.is_whole() && summary.store_error.is_some());
    // What was taken in before that counts.
    assert!(summary.total(|kind| kind.receipt.added as u64) > 0);
}

/// Returns each file of a folder with its length.
fn lengths(dir: &Path) -> Vec<(PathBuf, u64)> {
    let mut files = Vec::new();
    for file in std::fs::read_dir(dir).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() {
            files.extend(lengths(&path));
        } else {
            files.push((path.clone(), path.metadata().unwrap().len()));
        }
    }
    files.sort();
    files
}

/// Three runs over the buoys' files once left three times their readings in the journal.
#[test]
fn the_same_files_again_in_any_order_write_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut files: Vec<PathBuf> = std::fs::read_dir(data("ndbc"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "gz"))
        .collect();
    files.sort();
    let mut runs = Vec::new();
    for run in 0..3 {
        match run {
            1 => files.reverse(),
            2 => files.rotate_left(5),
            _ => {}
        }
        let store = EmbeddedStore::open(folder.path(), EmbeddedOptions::default()).unwrap();
        let summary = read(&store, Options::at(NOW_MS), &files);
        assert!(summary.is_whole());
        drop(store);
        let report = EmbeddedStore::verify(folder.path(), false).unwrap();
        assert_eq!(report.faults, []);
        runs.push((report, lengths(folder.path())));
    }
    assert!(runs[0].0.journal_readings > 50_000);
    assert_eq!(runs[1], runs[0], "in the opposite order");
    assert_eq!(runs[2], runs[0], "in another order");
}

#[test]
fn of_a_file_that_holds_more_readings_than_it_may_those_before_stay() {
    let store = MemoryStore::default();
    let files = [data("metar/liveairdata_metars_20240803T1732Z.csv.gz")];
    let bounds = FileLimits { readings: Bound::fixed(100), ..FileLimits::default() };
    let summary = read(&store, Options { bounds, ..Options::at(NOW_MS) }, &files);
    assert_eq!(summary.faults.count, 1);
    let fault = &summary.faults.first[0].error;
    assert_eq!(fault, "it holds more than 100 readings, the limit for a file of its length");
    let of_kind = &summary.kinds[&feed::Kind::AwcCsv];
    assert!(of_kind.files == 0 && of_kind.reports > 5 && of_kind.reports < 100);
    assert!(of_kind.readings + of_kind.reports <= 100 && of_kind.receipt.added > 50);
    // Each file has its own limits.
    let twice = [files[0].clone(), data("metar/liveairdata_metars_20240803T1922Z.csv.gz")];
    let summary = read(&store, Options { bounds, ..Options::at(NOW_MS) }, &twice);
    assert_eq!(summary.faults.count, 2);
    assert!(summary.kinds[&feed::Kind::AwcCsv].reports > of_kind.reports);
}

#[test]
fn one_file_packed_in_several_ways_is_read_once_and_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let packed = std::fs::read(data("metar/liveairdata_metars_20240803T1732Z.csv.gz")).unwrap();
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut plain).unwrap();
    std::fs::write(folder.path().join("a.csv"), &plain).unwrap();
    std::fs::write(folder.path().join("a.csv.gz"), &packed).unwrap();
    let store = MemoryStore::default();
    let once = read(&store, Options::at(NOW_MS), &[folder.path().join("a.csv")]);
    for paths in [
        vec![folder.path().to_owned()],
        vec![
            folder.path().join("a.csv.gz"),
            folder.path().join("a.csv"),
            folder.path().join("a.csv"),
        ],
    ] {
        let summary = read(&MemoryStore::default(), Options::at(NOW_MS), &paths);
        assert!(summary.is_whole());
        assert_eq!(summary.copies, paths.len().max(2) as u64 - 1);
        assert_eq!(summary.kinds, once.kinds);
        let said = format!("files with the same content as another: {}", summary.copies);
        assert!(summary.to_string().contains(&said));
    }
}

#[test]
fn a_file_that_is_damaged_or_unknown_is_named_and_keeps_no_other_from_being_read() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read(data("metar/liveairdata_metars_20240803T1732Z.csv.gz")).unwrap();
    std::fs::write(folder.path().join("a.csv.gz"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(folder.path().join("b.csv.gz"), &whole).unwrap();
    std::fs::write(folder.path().join("c.txt"), "Dear reader").unwrap();
    std::fs::write(folder.path().join("d.txt"), "").unwrap();
    let store = MemoryStore::default();
    let summary = read(&store, Options::at(NOW_MS), &[folder.path().to_owned()]);
    let faults: Vec<_> = summary
        .faults
        .first
        .iter()
        .map(|fault| (fault.file.rsplit('/').next().unwrap(), &*fault.error))
        .collect();
    assert_eq!(faults.len(), 3);
    assert!(faults[0].0 == "a.csv.gz" && faults[0].1.starts_with("cannot read the feed: "));
    assert_eq!(faults[1], ("c.txt", "unknown kind of file; known are the kinds of --feed"));
    assert_eq!(faults[2], ("d.txt", "it is empty"));
    let of_kind = &summary.kinds[&feed::Kind::AwcCsv];
    assert_eq!(of_kind.files, 1);
    // What was read of the cut file is in, and the whole file adds the rest.
    assert!(of_kind.receipt.unchanged > 0 && of_kind.receipt.added > of_kind.receipt.unchanged);
}

#[test]
fn a_file_of_bulletins_that_holds_no_report_is_a_fault() {
    let folder = tempfile::tempdir().unwrap();
    let letter = folder.path().join("letter.txt");
    std::fs::write(&letter, "Dear reader,\nno report today.\n").unwrap();
    let feed = Some(feed::Kind::MetarBulletin);
    let options = Options { feed, ..Options::at(NOW_MS) };
    let summary = read(&MemoryStore::default(), options, &[letter]);
    assert!(!summary.is_whole(), "the command exits with 1");
    let error = &summary.faults.first[0].error;
    assert!(error.starts_with("no METAR or SPECI report that can be read, in 2 lines"), "{error}");
}

#[test]
fn reports_without_a_place_and_of_the_future_are_left_out_and_counted_by_station() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sa_20240803.txt");
    let text = "SACN43 CWAO 032000\n\
                METAR CYYZ 032000Z 24012G20KT 15SM FEW060 29/17 A2991=\n\
                METAR XXXX 032000Z 24012G20KT 15SM FEW060 29/17 A2991=\n";
    std::fs::write(&path, text).unwrap();
    let store = MemoryStore::default();
    let summary = read(&store, Options::at(NOW_MS), std::slice::from_ref(&path));
    assert!(summary.is_whole());
    assert_eq!(summary.place_unknown.iter().collect::<Vec<_>>(), [("METAR XXXX", 1)]);
    let directory = store.directory().unwrap();
    let toronto = &directory.stations[0];
    assert_eq!(directory.stations.len(), 1, "{directory:?}");
    assert_eq!(toronto.station.id, StationId::new(METAR_NETWORK, "CYYZ"));
    assert_eq!(toronto.station.name, "Toronto Pearson International Airport");
    // The day is that of the file's name, not of the time when the file was written.
    assert_eq!(toronto.update_time_ms, parse_instant("2024-08-03T20:00:00Z").ok());

    let earlier = parse_instant("2024-08-01T00:00:00Z").unwrap();
    let summary = read(&MemoryStore::default(), Options::at(earlier), &[path]);
    assert_eq!(summary.in_the_future.total(), 2);
    assert_eq!(summary.kinds[&feed::Kind::MetarBulletin].receipt, Receipt::default());
}

/// A reading: station, series, time, value and verdict.
type ReadingRow = (StationId, i32, i64, u64, (u8, u8));

/// What a store holds.
fn held(store: &dyn Store) -> Vec<ReadingRow> {
    let directory = store.directory().unwrap();
    let stations: Vec<StationId> =
        directory.stations.iter().map(|record| record.station.id).collect();
    let mut held = Vec::new();
    let selection = mesonet::store::Selection {
        stations: &stations,
        variables: mesonet::Variable::ALL,
        window: mesonet::ClosedWindow::new(0, i64::MAX).unwrap(),
    };
    let mut visit = |at: usize, slices: &[mesonet::store::SeriesSlice<'_>]| {
        for slice in slices {
            for (i, ts_ms) in slice.ts_ms.iter().enumerate() {
                let (value, quality) = (slice.value[i].to_bits(), slice.quality[i].quality());
                held.push((stations[at], slice.series.id.0, *ts_ms, value, quality.codes()));
            }
        }
    };
    store.scan(&selection, &mut visit).unwrap();
    held
}

/// Files of stations that no table has: bulletins without places, and tables with them, with an
/// altitude that is missing, unknown at first, or changes.
const OF_ONE_NETWORK: [(&str, &str); 6] = [
    (
        "sa_20240803.txt",
        "SACN43 CWAO 031800\n\
      METAR XXAA 031800Z 24012G20KT 15SM FEW060 29/17 A2991=\n\
      METAR XXBB 031800Z 24012G20KT 15SM FEW060 28/16 A2992=\n\
      METAR CYYZ 031800Z 24012G20KT 15SM FEW060 27/15 A2993=\n",
    ),
    (
        "a_20240803.csv",
        "raw_text,station_id,observation_time,latitude,longitude,elevation_m\n\
      XXAA 031900Z 24012KT 15SM FEW060 28/17 A2991,XXAA,2024-08-03T19:00:00Z,45,-75,100\n",
    ),
    (
        "b_20240803.csv",
        "raw_text,station_id,observation_time,latitude,longitude,elevation_m\n\
      XXAA 032000Z 24012KT 15SM FEW060 28/17 A2992,XXAA,2024-08-03T20:00:00Z,45,-75,120\n\
      XXBB 032000Z 24012KT 15SM FEW060 28/17 A2992,XXBB,2024-08-03T20:00:00Z,46,-76,\n",
    ),
    (
        "c_20240803.csv",
        "raw_text,station_id,observation_time,latitude,longitude,elevation_m\n\
      XXBB 031700Z 24012KT 15SM FEW060 28/17 A2993,XXBB,2024-08-03T17:00:00Z,46,-76,300\n",
    ),
    (
        "sb_20240803.txt",
        "SACN43 CWAO 032200\n\
      METAR XXAA 032200Z 24012G20KT 15SM FEW060 26/17 A2990=\n\
      METAR XXBB 032200Z 24012G20KT 15SM FEW060 25/16 A2989=\n\
      METAR XXCC 032200Z 24012G20KT 15SM FEW060 25/16 A2989=\n",
    ),
    (
        "d_20240803.csv",
        "raw_text,station_id,observation_time,latitude,longitude,elevation_m\n\
      XXAA 032000Z 24012KT 15SM FEW060 28/17 A2992,XXAA,2024-08-03T20:00:00Z,45,-75,120\n",
    ),
];

fn read_in_order(store: &dyn Store, order: &[usize]) -> IngestSummary {
    let (alerts, intake) = (AlertStore::default(), Intake::default());
    let target = Target { intake: &intake, store, alerts: &alerts, products: None, maintain: None };
    let read = |ingest: &mut Ingest<'_>| {
        for (name, text) in order.iter().map(|&at| OF_ONE_NETWORK[at]) {
            let label = Label { shown: name.into(), name: name.into(), modified_ms: None };
            ingest.input(&label, ByteSource::File(&mut Cursor::new(text)));
        }
    };
    ingest(target, Options::at(NOW_MS), &AtomicU64::new(0), read).unwrap().1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A second run over a folder once added the readings of stations whose place came only in a
    /// later file.
    #[test]
    fn any_order_of_files_once_or_twice_gives_the_same_readings(
        order in Just([0, 1, 2, 3, 4, 5]).prop_shuffle(),
        other in Just([0, 1, 2, 3, 4, 5]).prop_shuffle(),
    ) {
        let (expected, store) = (MemoryStore::default(), MemoryStore::default());
        // All places first, those of the final altitude last.
        read_in_order(&expected, &[3, 1, 2, 5]);
        read_in_order(&expected, &[0, 4]);
        let summary = read_in_order(&store, &order);
        prop_assert!(summary.is_whole());
        let left_out: Vec<_> = summary.place_unknown.iter().collect();
        prop_assert_eq!(left_out, [("METAR XXCC", 1)]);
        let of_reports: u64 = summary.total(|kind| kind.reports);
        prop_assert_eq!(of_reports, 11);
        prop_assert_eq!(held(&store), held(&expected));
        for order in [order, other] {
            let again = read_in_order(&store, &order);
            let changed = again.total(|kind| {
                (kind.receipt.added + kind.receipt.replaced + kind.receipt.revised) as u64
            });
            prop_assert_eq!((changed, again.late_stations), (0, 0));
            prop_assert_eq!(held(&store), held(&expected));
        }
    }
}

#[test]
fn stations_whose_place_comes_late_are_read_a_second_time_and_counted() {
    let store = MemoryStore::default();
    let summary = read_in_order(&store, &[0, 4, 1, 2]);
    assert_eq!(summary.late_stations, 2);
    let bulletins = &summary.kinds[&feed::Kind::MetarBulletin];
    assert_eq!((bulletins.files, bulletins.reports), (2, 6));
    let said = "stations read a second time because their place or altitude came late: 2\n";
    assert!(summary.to_string().contains(said), "{summary}");
    // A table with places first needs no second time.
    assert_eq!(read_in_order(&MemoryStore::default(), &[2, 0, 4]).late_stations, 0);
}

/// A store that takes nothing.
#[derive(Default)]
struct Full(MemoryStore);

impl mesonet::store::ReaderWrapper for Full {
    fn wrapped(&self) -> &dyn Reader {
        &self.0
    }
}

impl Store for Full {
    fn append(
        &self,
        _: &Batch,
        _: &mut mesonet::store::VerdictFn<'_>,
    ) -> Result<Receipt, StoreError> {
        Err(StoreError::Columns("the disk is full".into()))
    }
}

#[test]
fn a_store_that_fails_is_told_and_no_further_file_is_read() {
    let metar = |name: &str| data(&format!("metar/{name}.csv.gz"));
    let files = vec![metar("liveairdata_metars_20240803T1732Z"); 50];
    let summary = read(&Full::default(), Options::at(NOW_MS), &files);
    assert!(!summary.is_whole());
    let error = summary.store_error.as_ref().unwrap().to_string();
    assert!(error.contains("the disk is full"), "{error}");
    assert!(summary.kinds[&feed::Kind::AwcCsv].files < 50);
    assert!(summary.to_string().contains("the store took nothing more: "));
}

#[test]
fn the_day_of_a_file_is_found_in_its_name() {
    let noon = |day: &str| parse_instant(&format!("{day}T12:00:00Z")).ok();
    for (name, day) in [
        ("metars_20240803T1732Z.csv", "2024-08-03"),
        ("2024080320_sa.txt", "2024-08-03"),
        ("2024-08-03-0000-CYYZ-AUTO-swob.xml", "2024-08-03"),
        ("725030-14732-20230101", "2023-01-01"),
    ] {
        assert_eq!(date_in(name), noon(day), "{name}");
    }
    for name in ["", "sa.txt", "725030-14732-2023", "20241301", "99990101", "2024-08-3", "2024é"] {
        assert_eq!(date_in(name), None, "{name}");
    }
}
