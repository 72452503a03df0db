//! Checks write nothing, whatever files are beside the databases.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::testing::{SMALL, Temporary};
use super::*;
use crate::alert;
use crate::geo::LonLat;
use crate::observation::{EarlierPlaces, Identifiers};
use crate::observation::{
    IntervalType, Quality, Reading, Report, SeriesKey, Station, StationId, Variable,
};
use crate::store::{AlertStore, no_verdicts};

/// One reading of one station.
fn one(ts_ms: i64) -> Batch {
    let station = Station {
        id: StationId::new("TEST", "A"),
        network: "TEST".to_owned(),
        native_id: "A".to_owned(),
        name: "A".to_owned(),
        station_type: None,
        coordinates: LonLat::new(-100.0, 50.0).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    };
    let series = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
    let readings =
        vec![Reading { series, value: 1.0, quality: Quality::UNCHECKED, qualifier: None }];
    let report = Report {
        station: station.id,
        ts_ms,
        revision: 0,
        present_weather: None,
        text: None,
        readings,
    };
    Batch { stations: vec![station], reports: vec![report] }
}

/// Returns every file of a folder with its content and time.
fn tree(dir: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut tree = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tree.extend(self::tree(&path));
        } else {
            let modified = fs::metadata(&path).unwrap().modified().unwrap();
            tree.insert(path.clone(), (fs::read(&path).unwrap(), modified));
        }
    }
    tree
}

fn copied(from: &Path, leave_out: &[&str]) -> tempfile::TempDir {
    let to = tempfile::tempdir().unwrap();
    for path in tree(from).into_keys() {
        let name = path.strip_prefix(from).unwrap();
        if leave_out.iter().any(|end| name.to_string_lossy().ends_with(end)) {
            continue;
        }
        let path = to.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(from.join(name), path).unwrap();
    }
    to
}

/// A store with one segment, whose other batches and alerts are only in the write-ahead logs.
fn at_work() -> (Temporary, AlertStore) {
    let store = Temporary::new(SMALL);
    let alerts = AlertStore::open(store.dir.path()).unwrap().0;
    store.append(&one(1), &mut no_verdicts).unwrap();
    store.maintain(&Maintenance { seal_all: true, retain_from_ms: None }).unwrap();
    store.append(&one(2), &mut no_verdicts).unwrap();
    store.append(&one(3), &mut no_verdicts).unwrap();
    let alert = |id: &str| alert::Message { id: id.to_owned(), ..alert::Message::default() };
    alerts.append(vec![alert("1"), alert("2")]).unwrap();
    (store, alerts)
}

#[test]
fn a_check_writes_nothing_and_reads_the_write_ahead_logs() {
    let (mut store, alerts) = at_work();
    for leave_out in [&[][..], &["-shm"], &["lock"], &["lock", "-shm"]] {
        let folder = copied(store.dir.path(), leave_out);
        assert!(folder.path().join("mesonet.sqlite-wal").exists());
        let before = tree(folder.path());
        let report = EmbeddedStore::verify(folder.path(), false).unwrap();
        assert_eq!(report.faults, [], "{leave_out:?}");
        assert_eq!((report.journal_batches, report.journal_readings), (2, 2), "{leave_out:?}");
        assert_eq!((report.segments, report.sealed_readings), (1, 1));
        assert_eq!((report.stations, report.alerts), (1, 2));
        let survey = EmbeddedStore::survey(folder.path()).unwrap();
        assert_eq!(survey.before(i64::MAX), WouldGo { readings: 3, segments: 1 });
        drop(survey);
        assert!(tree(folder.path()) == before, "{leave_out:?}: something was written");
    }
    // A clean close leaves no log.
    store.store = None;
    drop(alerts);
    let before = tree(store.dir.path());
    assert!(!store.dir.path().join("mesonet.sqlite-wal").exists());
    let report = EmbeddedStore::verify(store.dir.path(), false).unwrap();
    assert_eq!((report.journal_batches, report.alerts, &*report.faults), (2, 2, &[][..]));
    assert!(tree(store.dir.path()) == before, "something was written");
}

#[test]
fn checks_can_run_together_but_not_beside_a_writer() {
    let (mut store, _alerts) = at_work();
    let locked =
        |result: Result<VerifyReport, StoreError>| matches!(result, Err(StoreError::Locked { .. }));
    assert!(locked(EmbeddedStore::verify(store.dir.path(), false)));
    assert!(locked(EmbeddedStore::verify(store.dir.path(), true)));
    store.store = None;
    let survey = EmbeddedStore::survey(store.dir.path()).unwrap();
    assert_eq!(EmbeddedStore::verify(store.dir.path(), false).unwrap().faults, []);
    assert!(locked(EmbeddedStore::verify(store.dir.path(), true)));
    assert!(EmbeddedStore::open(store.dir.path(), SMALL).is_err());
    drop(survey);
    assert!(EmbeddedStore::open(store.dir.path(), SMALL).is_ok());
}

type Harm = fn(&Path);

#[test]
fn an_empty_or_invalid_database_is_a_fault_and_the_rest_is_checked() {
    let (mut store, alerts) = at_work();
    store.store = None;
    drop(alerts);
    let harms: [(&str, Harm, &str); 4] = [
        ("mesonet.sqlite", |path| fs::remove_file(path).unwrap(), "mesonet.sqlite is missing"),
        ("mesonet.sqlite", |path| fs::write(path, "").unwrap(), "mesonet.sqlite is empty"),
        (
            "mesonet.sqlite",
            |path| fs::write(path, vec![7; 40_000]).unwrap(),
            "file is not a database; run mesonet-server verify --rebuild to rebuild it",
        ),
        ("alerts.sqlite", |path| fs::write(path, vec![7; 40_000]).unwrap(), "not a database"),
    ];
    for (file, harm, cause) in harms {
        let folder = copied(store.dir.path(), &[]);
        harm(&folder.path().join(file));
        let before = tree(folder.path());
        let report = EmbeddedStore::verify(folder.path(), false).unwrap();
        let [fault] = &*report.faults else { panic!("{report:?}") };
        assert!(fault.file == file && fault.cause.contains(cause), "{fault}");
        assert!(report.alerts == 2 || report.journal_batches == 2, "{report:?}");
        assert!(tree(folder.path()) == before, "something was written");
    }
}

#[test]
fn a_path_is_escaped_for_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let odd = folder.path().join("a?b#c %41 é");
    let store = EmbeddedStore::open(&odd, SMALL).unwrap();
    store.append(&one(1), &mut no_verdicts).unwrap();
    drop(store);
    assert_eq!(EmbeddedStore::verify(&odd, false).unwrap().journal_readings, 1);
}
