//! Opening a store never deletes or hides anything that may be data.

use std::fs;
use std::path::PathBuf;

use super::catalogue::RecordCatalogue;
use super::names::DATABASE;
use super::testing::{SMALL, Temporary, seal};
use super::tests::{NAMES, batch, held, report, ten};
use super::version_6::{make_version_6, set_file};
use super::*;
use crate::observation::{IdScheme, Identifiers, Quality};
use crate::store::no_verdicts;

/// Returns the names of the files in a folder of a store.
fn names(store: &Temporary, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(store.dir.path().join(folder));
    let mut names: Vec<String> = entries.map_or_else(
        |_| Vec::new(),
        |entries| entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect(),
    );
    names.sort_unstable();
    names
}

/// Returns every file below a folder with its content.
fn all_files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(all_files(&path));
        } else {
            files.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    files.sort_unstable();
    files
}

fn later() -> Batch {
    batch(vec![report("B", 50, 0, &[7.0], Quality::UNCHECKED)])
}

/// A store without fresh readings.
fn sealed() -> Temporary {
    let mut store = Temporary::new(SMALL);
    store.append(&ten(), &mut no_verdicts).unwrap();
    seal(&mut store);
    store
}

#[test]
fn a_segment_that_is_not_in_the_catalogue_is_moved_aside_and_reported() {
    let mut store = sealed();
    let segments = store.dir.path().join("segments");
    store.store = None;
    fs::copy(segments.join("00000001.arrow"), segments.join("00000008.arrow")).unwrap();
    fs::write(segments.join("elsewhere.arrow"), "of another program, perhaps").unwrap();
    fs::write(segments.join("00000007.tmp"), "not begun by this catalogue").unwrap();
    fs::write(segments.join("README"), "foreign").unwrap();
    store.reopen();
    assert_eq!(names(&store, "segments"), ["00000001.arrow", "00000007.tmp", "README"]);
    assert_eq!(names(&store, "orphaned"), ["00000008.arrow", "elsewhere.arrow"]);
    let faults = store.health().faults;
    assert_eq!(faults.len(), 2);
    assert_eq!(
        faults[0].to_string(),
        "orphaned/00000008.arrow: a segment that is not in the catalogue; it is kept, but its \
         readings are not served"
    );
    assert_eq!(held(&store).len(), 90);
    // A second file of the same name gets another name; no new segment takes the name of either.
    store.store = None;
    fs::write(segments.join("00000008.arrow"), "a second one").unwrap();
    store.reopen();
    let kept = ["00000008.arrow", "00000008.arrow.2", "elsewhere.arrow"];
    assert_eq!(names(&store, "orphaned"), kept);
    store.append(&later(), &mut no_verdicts).unwrap();
    seal(&mut store);
    assert!(names(&store, "segments").contains(&"00000009.arrow".to_owned()));
    store.store = None;
    assert_eq!(EmbeddedStore::verify(store.dir.path(), false).unwrap().faults.len(), 3);
}

#[test]
fn unfinished_work_is_deleted_while_what_it_was_made_from_is_there() {
    let mut store = sealed();
    let segments = store.dir.path().join("segments");
    let pending = |store: &Temporary, id: i64, made_from: &str| {
        let sql = "INSERT INTO pending VALUES (?, ?)";
        store.state().catalogue.connection.execute(sql, (id, made_from)).unwrap();
    };
    pending(&store, 5, "");
    pending(&store, 6, "1");
    pending(&store, 7, "1,2");
    store.store = None;
    fs::write(segments.join("00000005.tmp"), "half").unwrap();
    fs::write(segments.join("00000006.arrow"), "of the first").unwrap();
    fs::write(segments.join("00000007.arrow"), "of the first and one that is gone").unwrap();
    store.reopen();
    assert_eq!(names(&store, "segments"), ["00000001.arrow"]);
    assert_eq!(names(&store, "orphaned"), ["00000007.arrow"]);
    assert_eq!(store.health().swept_files, 2);
    assert_eq!(held(&store).len(), 90);
}

#[test]
fn a_superseded_segment_is_deleted_only_while_its_successor_is_intact() {
    for harmed in [false, true] {
        let mut store = sealed();
        let segments = store.dir.path().join("segments");
        let old = fs::read(segments.join("00000001.arrow")).unwrap();
        for ts_ms in 100..104 {
            let later = batch(vec![report("B", ts_ms, 0, &[7.0; 3], Quality::UNCHECKED)]);
            store.append(&later, &mut no_verdicts).unwrap();
            seal(&mut store);
        }
        let merged: Vec<String> = names(&store, "segments");
        store.store = None;
        // As if the process had been killed before deleting the file.
        let retired = "00000002.arrow";
        assert!(!merged.contains(&retired.to_owned()), "{merged:?}");
        fs::write(segments.join(retired), &old).unwrap();
        if harmed {
            let path = segments.join(merged.last().unwrap());
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(path, bytes).unwrap();
        }
        store.reopen();
        let orphaned: &[&str] = if harmed { &[retired] } else { &[] };
        assert_eq!(names(&store, "orphaned"), orphaned);
        assert_eq!(store.health().swept_files, usize::from(!harmed));
        assert_eq!(names(&store, "segments"), merged);
    }
}

#[test]
fn a_folder_of_data_without_its_catalogue_is_refused_and_left_as_it_is() {
    let kinds: [(&str, &str); 5] = [
        ("segments/00000001.arrow", "1 segments"),
        ("damaged/00000001.arrow", "files in damaged/"),
        ("products/cloud/1h/a.tif", "files in products/"),
        ("models/hrrr/run/zarr.json", "files in models/"),
        ("alerts.sqlite", "alerts.sqlite"),
    ];
    for (file, found) in kinds {
        for catalogue in ["is missing", "is empty", "has no tables"] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "someone's data").unwrap();
            let database = dir.path().join(DATABASE);
            match catalogue {
                "is empty" => fs::write(&database, "").unwrap(),
                "has no tables" => {
                    let made = rusqlite::Connection::open(&database).unwrap();
                    made.execute_batch("CREATE TABLE x (y); DROP TABLE x").unwrap();
                }
                _ => {}
            }
            let before = all_files(dir.path());
            let refused = EmbeddedStore::open(dir.path(), SMALL).unwrap_err().to_string();
            let shown = dir.path().display();
            assert_eq!(
                refused,
                format!(
                    "{shown}: mesonet.sqlite {catalogue}, but the folder holds {found}. Nothing \
                     was changed: put the file back, or rebuild it from the segments with: \
                     mesonet-server verify --rebuild --data {shown}"
                )
            );
            assert_eq!(all_files(dir.path()), before, "{found}");
        }
    }
}

#[test]
fn a_folder_of_foreign_files_gets_a_store_and_is_new() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("notes.txt"), "foreign").unwrap();
    fs::create_dir_all(dir.path().join("products/empty")).unwrap();
    fs::create_dir_all(dir.path().join("segments")).unwrap();
    fs::write(dir.path().join("segments/notes.txt"), "foreign").unwrap();
    let store = EmbeddedStore::open(dir.path(), SMALL).unwrap();
    assert!(store.is_new());
    store.append(&ten(), &mut no_verdicts).unwrap();
    drop(store);
    assert!(!EmbeddedStore::open(dir.path(), SMALL).unwrap().is_new());
    assert_eq!(fs::read(dir.path().join("segments/notes.txt")).unwrap(), b"foreign");
}

#[test]
fn a_folder_with_nothing_but_model_runs_is_not_new() {
    let dir = tempfile::tempdir().unwrap();
    drop(EmbeddedStore::open(dir.path(), SMALL).unwrap());
    fs::create_dir_all(dir.path().join("models/hrrr")).unwrap();
    fs::write(dir.path().join("models/hrrr/zarr.json"), "{}").unwrap();
    assert!(!EmbeddedStore::open(dir.path(), SMALL).unwrap().is_new());
}

#[test]
fn a_folder_of_an_older_version_is_upgraded_in_place() {
    const TO_4: &str = "DROP TABLE weather; PRAGMA user_version = 4";
    const TO_3: &str = "DROP TABLE weather; PRAGMA user_version = 3";
    const TO_2: &str = "DROP TABLE weather; ALTER TABLE meta DROP COLUMN checksum; \
                        ALTER TABLE journal DROP COLUMN note; PRAGMA user_version = 2";
    const TO_1: &str = "DROP TABLE weather; ALTER TABLE meta DROP COLUMN checksum; \
                        ALTER TABLE journal DROP COLUMN note; DROP TABLE pending; \
                        DROP TABLE retired; DROP TABLE lost; PRAGMA user_version = 1";
    for back in [TO_1, TO_2, TO_3, TO_4] {
        let mut store = sealed();
        store.meta_set("from", "Toronto").unwrap();
        // Some readings are in the journal.
        store
            .append(&batch(vec![report("A", 77, 0, &[7.0], Quality::GOOD)]), &mut no_verdicts)
            .unwrap();
        let expected = held(&store);
        store.store = None;
        change(store.dir.path(), back);
        let report = EmbeddedStore::verify(store.dir.path(), false).unwrap();
        assert_eq!(report.faults, [], "a folder that is only read is unchanged");
        store.reopen();
        assert_eq!((held(&store), store.health().faults), (expected, vec![]));
        assert_eq!(store.meta_get("from").unwrap().as_deref(), Some("Toronto"));
        store.append(&later(), &mut no_verdicts).unwrap();
        seal(&mut store);
        store.reopen();
        assert_eq!(store.health().faults, []);
    }
}

/// Version 3 kept no identifiers: its stations have none until a report gives them.
#[test]
fn stations_of_version_3_gain_identifiers_and_keep_them() {
    let described = |ids: Identifiers| {
        let mut batch = ten();
        for station in &mut batch.stations {
            station.identifiers = ids.clone();
        }
        batch
    };
    let listed = |store: &Temporary| {
        let record = store.directory().unwrap();
        let of_all = record.stations.iter().map(|record| record.station.identifiers.clone());
        of_all.collect::<Vec<_>>()
    };
    let mut store = Temporary::new(SMALL);
    store.append(&described(Identifiers::default()), &mut no_verdicts).unwrap();
    seal(&mut store);
    let expected = held(&store);
    store.store = None;
    change(store.dir.path(), "DROP TABLE weather; PRAGMA user_version = 3");
    store.reopen();
    assert_eq!((held(&store), store.health().faults), (expected.clone(), vec![]));
    assert_eq!(listed(&store), vec![Identifiers::default(); NAMES.len()]);

    let ids = Identifiers::default().with(IdScheme::Wmo, "71624");
    store.append(&described(ids.clone()), &mut no_verdicts).unwrap();
    store.reopen(); // From the journal.
    assert_eq!(listed(&store), vec![ids.clone(); NAMES.len()]);
    seal(&mut store);
    store.reopen(); // From the table of stations.
    assert_eq!(listed(&store), vec![ids; NAMES.len()]);
    assert_eq!(held(&store), expected);
    store.store = None;
    assert_eq!(EmbeddedStore::verify(store.dir.path(), false).unwrap().faults, []);
}

/// A flipped digit could otherwise drop every reading.
#[test]
fn a_damaged_retention_cutoff_drops_nothing() {
    let mut store = sealed();
    store
        .maintain(&Maintenance { retain_from_ms: Some(-1_000), ..Maintenance::default() })
        .unwrap();
    let expected = held(&store);
    store.store = None;
    let path = store.dir.path().to_owned();
    change(&path, "UPDATE meta SET text = '9000' WHERE name = 'store.retain_from_ms'");
    let cause = "store.retain_from_ms is \"9000\", which does not match its checksum";
    let error = EmbeddedStore::open(&path, SMALL).unwrap_err().to_string();
    assert!(error.contains(cause), "{error}");
    assert!(error.contains("--rebuild"), "{error}");
    let report = EmbeddedStore::verify(&path, false).unwrap();
    assert_eq!(report.faults, [Fault::new(DATABASE, cause)]);
    assert!(EmbeddedStore::rebuild(&path).unwrap().catalogue_kept);
    store.reopen();
    assert_eq!((held(&store), store.health().faults), (expected, vec![]));
}

#[test]
fn a_damaged_text_of_a_caller_is_refused_and_can_be_replaced() {
    let mut store = sealed();
    store.meta_set("from", "Toronto").unwrap();
    store.store = None;
    change(store.dir.path(), "UPDATE meta SET text = 'Taronto' WHERE name = 'user.from'");
    store.reopen();
    let error = store.meta_get("from").unwrap_err().to_string();
    assert!(
        error.contains("user.from is \"Taronto\", which does not match its checksum"),
        "{error}"
    );
    store.meta_set("from", "Toronto").unwrap();
    assert_eq!(store.meta_get("from").unwrap().as_deref(), Some("Toronto"));
    store.store = None;
    assert_eq!(EmbeddedStore::verify(store.dir.path(), false).unwrap().faults, []);
}

/// Changes the database behind the store's back.
fn change(dir: &Path, sql: &str) {
    rusqlite::Connection::open(dir.join(DATABASE)).unwrap().execute_batch(sql).unwrap();
}

/// Version 1 had the columns of a segment in another order, and before version 5 there was no
/// column of qualifiers.
#[test]
fn a_segment_with_the_columns_of_an_older_version_is_read() {
    for older in
        [[0, 1, 5, 6, 7, 2, 3, 8, 9, 10, 11, 12, 13], [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13]]
    {
        read_with_columns(older, |_| {});
    }
    // The schema is at the front of the file; without it the batches tell how many columns they have.
    let without_schema = |bytes: &mut Vec<u8>| bytes[64..72].fill(0);
    read_with_columns([0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13], without_schema);
    read_with_columns([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13], without_schema);
}

fn read_with_columns<const N: usize>(older: [usize; N], damage: impl Fn(&mut Vec<u8>)) {
    let mut store = sealed();
    let mut expected = held(&store);
    make_version_6(&mut store);
    store.store = None;
    let path = store.dir.path().join("segments/00000001.arrow");
    let reader =
        arrow_ipc::reader::FileReader::try_new(fs::File::open(&path).unwrap(), None).unwrap();
    let schema = reader.schema().project(&older).unwrap();
    let options =
        arrow_ipc::writer::IpcWriteOptions::try_new(64, false, arrow_ipc::MetadataVersion::V5);
    let mut writer =
        arrow_ipc::writer::FileWriter::try_new_with_options(Vec::new(), &schema, options.unwrap())
            .unwrap();
    for batch in reader {
        writer.write(&batch.unwrap().project(&older).unwrap()).unwrap();
    }
    let mut bytes = writer.into_inner().unwrap();
    damage(&mut bytes);
    let mut catalogue = RecordCatalogue::open(store.dir.path(), false).unwrap();
    let mut entry = catalogue.segments().unwrap().0.remove(0);
    set_file(&mut catalogue, &path, &mut entry, &bytes);
    drop(catalogue);
    store.reopen();
    if !older.contains(&4) {
        for reading in &mut expected {
            reading.6 = 0;
        }
    }
    let now = (held(&store), store.health().faults);
    assert!(now == (expected, vec![]), "{older:?} {:?}", now.1);
}

/// A link that leads nowhere is not a missing catalogue: the folder may hold a catalogue.
#[cfg(unix)]
#[test]
fn a_catalogue_that_cannot_be_looked_at_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let database = dir.path().join(DATABASE);
    std::os::unix::fs::symlink(&database, &database).unwrap();
    let error = contents::check_catalogue(dir.path()).unwrap_err();
    assert!(
        matches!(&error, StoreError::Storage { path, .. } if path.ends_with(DATABASE)),
        "{error}"
    );
    assert!(EmbeddedStore::open(dir.path(), SMALL).is_err());
}

#[test]
fn the_catalogue_gives_its_pages_back_after_sealing() {
    // Databases before version 7 have to be written anew for that.
    for auto_vacuum in [2, 0] {
        let mut store = Temporary::new(EmbeddedOptions { seal_readings: usize::MAX, ..SMALL });
        store.store = None;
        let database = store.dir.path().join(DATABASE);
        let sql = format!("PRAGMA auto_vacuum = {auto_vacuum}; VACUUM");
        rusqlite::Connection::open(&database).unwrap().execute_batch(&sql).unwrap();
        store.reopen();
        for part in 0..10 {
            let reports = (0..5_000).flat_map(|at| {
                let ts_ms = part * 5_000 + at;
                NAMES.map(|name| report(name, ts_ms, 0, &[ts_ms as f64 / 7.0; 3], Quality::GOOD))
            });
            store.append(&batch(reports.collect()), &mut no_verdicts).unwrap();
        }
        // A stop writes the log back.
        store.reopen();
        let expected = held(&store);
        let length = || fs::metadata(&database).unwrap().len();
        let before = length();
        seal(&mut store);
        assert!(before > 8 << 20 && length() < 1 << 20, "{before} bytes, then {}", length());
        assert!(held(&store) == expected);
        // The numbers of batches go on.
        assert_eq!(store.journal_rows(), 10);
        store.append(&ten(), &mut no_verdicts).unwrap();
        store.reopen();
        assert_eq!(store.health().faults, []);
        assert_eq!(store.journal_rows(), 11);
    }
}
