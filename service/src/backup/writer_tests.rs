use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use tempfile::TempDir;

use super::super::list::manifests;
use super::*;
use crate::record::{WRITER, writer_of_folder as of_folder};

/// A place and the folders of two records.
fn two_records() -> (TempDir, ObjectPlace, PathBuf, PathBuf) {
    let folder = TempDir::new().unwrap();
    let place = ObjectPlace::create(folder.path().join("place").to_str().unwrap()).unwrap();
    let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
    for data in [&one, &other] {
        fs::create_dir(data).unwrap();
    }
    (folder, place, one, other)
}

/// Puts a backup of a record into a place.
fn back_up(place: &ObjectPlace, data: &Path, number: u64) -> Name {
    let manifest = BackupManifest {
        time: 1_722_711_600_123,
        version: "0.0.0".to_owned(),
        folder: data.display().to_string(),
        writer: of_folder(data).unwrap(),
        files: Vec::new(),
        left_out: Vec::new(),
    };
    let name = Name { number, time_ms: manifest.time, random: 1 };
    assert!(place.put_new(&format!("backups/{name}"), manifest.encode()).unwrap());
    name
}

fn turn(place: &ObjectPlace, data: &Path) -> Result<Option<Name>, String> {
    check_turn(place, &of_folder(data).unwrap()).map_err(|error| error.to_string())
}

#[test]
fn a_record_keeps_its_name_and_its_place() {
    let (_folder, place, one, _) = two_records();
    let writer = of_folder(&one).unwrap();
    assert_eq!(writer.len(), 16);
    assert_eq!(turn(&place, &one), Ok(None));
    let first = back_up(&place, &one, 1);
    assert_eq!(turn(&place, &one), Ok(Some(first)));
    assert_eq!(of_folder(&one).unwrap(), writer);
    assert_eq!(fs::read_to_string(one.join(WRITER)).unwrap(), format!("{writer}\n"));
}

/// A record that was replaced no longer writes to the place, and the error names the record that
/// replaced it.
#[test]
fn a_record_that_was_replaced_is_refused_by_name() {
    let (_folder, place, one, other) = two_records();
    back_up(&place, &one, 1);
    let text = turn(&place, &other).unwrap_err();
    let of_one = format!("that of {}, which was backed up at 2024-08-03T19:00:00", one.display());
    assert!(text.contains(&of_one) && text.contains("--take-over"), "{text}");
    let second = back_up(&place, &other, 2);
    assert_eq!(turn(&place, &other), Ok(Some(second)));
    let text = turn(&place, &one).unwrap_err();
    assert!(
        text.contains(&format!("that of {}, which was backed up at", other.display())),
        "{text}"
    );
}

/// Two first backups of one record, made at the same time, give the record the same name.
#[test]
fn a_name_is_made_once() {
    let (_folder, _, one, _) = two_records();
    let names: Vec<String> = thread::scope(|scope| {
        let runs: Vec<_> = (0..8).map(|_| scope.spawn(|| of_folder(&one).unwrap())).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
}

/// If the files that tell records apart are damaged, no other record can write by mistake.
#[test]
fn a_newest_backup_that_is_damaged_is_of_the_record_before_it() {
    let (folder, place, one, other) = two_records();
    let name = back_up(&place, &one, 1);
    let manifest = folder.path().join("place/backups").join(name.to_string());
    fs::write(&manifest, "{").unwrap();
    for data in [&one, &other] {
        let text = turn(&place, data).unwrap_err();
        assert!(text.contains(&format!("one that is not known: {name} is damaged: ")), "{text}");
    }
    fs::remove_file(&manifest).unwrap();
    back_up(&place, &one, 1);
    let damaged = Name { number: 2, ..name };
    place.put_new(&format!("backups/{damaged}"), b"cut".to_vec()).unwrap();
    assert_eq!(turn(&place, &one), Ok(Some(damaged)));
    assert!(turn(&place, &other).unwrap_err().contains("one that is not known"));
    fs::write(one.join(WRITER), "not ours").unwrap();
    assert!(of_folder(&one).unwrap_err().to_string().contains("writer: it is damaged; delete it"));
}

#[test]
fn a_backup_in_a_folder_of_its_own_is_not_there() {
    let (folder, place, one, _) = two_records();
    let name = back_up(&place, &one, 1);
    let backups = folder.path().join("place/backups");
    fs::create_dir(backups.join("attic")).unwrap();
    fs::rename(backups.join(name.to_string()), backups.join("attic").join(name.to_string()))
        .unwrap();
    assert_eq!(manifests(&place).unwrap(), []);
    fs::rename(backups.join("attic").join(name.to_string()), backups.join(name.to_string()))
        .unwrap();
    assert_eq!(manifests(&place).unwrap(), [name]);
}
