use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::super::manifest::{BackupManifest, ManifestEntry};
use super::*;
use crate::hex::hex_sha256;
use crate::place::ZSTD;

const NOW_MS: i64 = 1_722_711_600_000;

/// A place with backups of some days ago, each with files of the given texts.
fn place(backups: &[(i64, &[&str])]) -> (TempDir, ObjectPlace) {
    let folder = TempDir::new().unwrap();
    let place = ObjectPlace::create(folder.path().to_str().unwrap()).unwrap();
    for (number, &(days, texts)) in (1..).zip(backups) {
        let time = NOW_MS - days * DAY_MS;
        let entry = |text: &&str| {
            put(&place, folder.path(), text, days);
            let (sha256, length) = (hex_sha256(text.as_bytes()), text.len() as u64);
            ManifestEntry {
                path: (*text).to_owned(),
                length,
                sha256,
                zstd_bytes: None,
                mark: String::new(),
                modified_ns: None,
            }
        };
        let files = texts.iter().map(entry).collect();
        let (version, folder, writer) = ("0.1.0".to_owned(), "/srv".to_owned(), String::new());
        let manifest =
            BackupManifest { time, version, folder, writer, files, left_out: Vec::new() };
        let name = Name { number, time_ms: time, random: 1 };
        assert!(place.put_new(&format!("{FOLDER}/{name}"), manifest.encode()).unwrap());
        assert!(!place.put_new(&format!("{FOLDER}/{name}"), Vec::new()).unwrap());
    }
    (folder, place)
}

/// Puts a file with an age in days, unless it is there.
fn put(place: &ObjectPlace, folder: &Path, text: &str, days: i64) {
    let sha256 = hex_sha256(text.as_bytes());
    let at = folder.join(object(&sha256));
    if at.exists() {
        return;
    }
    let from = folder.join("from");
    std::fs::write(&from, text).unwrap();
    let file = File::open(&from).unwrap();
    place.put_file(&object(&sha256), &sha256, &file, |_| {}).unwrap();
    let written = SystemTime::UNIX_EPOCH + Duration::from_millis((NOW_MS - days * DAY_MS) as u64);
    File::options().write(true).open(at).unwrap().set_modified(written).unwrap();
}

fn texts(folder: &Path) -> Vec<String> {
    let place = ObjectPlace::open(folder.to_str().unwrap()).unwrap();
    let mut texts: Vec<String> = place
        .objects()
        .unwrap()
        .into_iter()
        .map(|found| std::fs::read_to_string(folder.join(object(&found.name))).unwrap())
        .collect();
    texts.sort();
    texts
}

#[test]
fn old_backups_go_with_the_files_that_only_they_have() {
    let (folder, place) = place(&[
        (40, &["a", "shared", "of all"]),
        (35, &["b", "of all"]),
        (20, &["of all", "shared"]),
        (1, &["c", "of all"]),
    ]);
    let pruned = prune(&place, "30d", NOW_MS).unwrap();
    assert_eq!(
        pruned,
        PruneReport { backups: 2, files: 2, bytes: 2, left: 2, ..PruneReport::default() }
    );
    assert_eq!(texts(folder.path()), ["c", "of all", "shared"]);
    assert_eq!(
        prune(&place, "30d", NOW_MS).unwrap(),
        PruneReport { left: 2, ..PruneReport::default() }
    );
    assert_eq!(pruned.to_string(), "deleted 2 backups, and 2 files in 2 bytes; 2 are left");
}

/// What a backup in flight may rely on stays: the backup before it, and the files of the last days,
/// whether or not a backup names them.
#[test]
fn what_a_backup_under_way_may_need_is_spared() {
    let (folder, backups) = place(&[(40, &["a"]), (2, &["b"]), (0, &["b", "c"])]);
    put(&backups, folder.path(), "sent by a backup under way", 6);
    put(&backups, folder.path(), "of one that was killed", 8);
    let pruned = prune(&backups, "7d", NOW_MS).unwrap();
    assert_eq!(
        pruned,
        PruneReport { backups: 0, files: 1, bytes: 22, left: 3, ..PruneReport::default() }
    );
    assert_eq!(texts(folder.path()), ["a", "b", "c", "sent by a backup under way"]);
    // Two days later that backup can no longer be in flight.
    let (folder, backups) = place(&[(42, &["a"]), (4, &["b"]), (0, &["b", "c"])]);
    put(&backups, folder.path(), "sent by a backup under way", 8);
    let pruned = prune(&backups, "7d", NOW_MS).unwrap();
    assert_eq!((pruned.backups, pruned.files), (1, 2));
    assert_eq!(texts(folder.path()), ["b", "c"]);
}

/// A clock that is ahead makes everything look older than it is.
#[test]
fn a_clock_that_is_ahead_deletes_no_more_than_a_right_one() {
    let (folder, place) = place(&[(40, &["a"]), (20, &["b"]), (5, &["c"]), (0, &["d"])]);
    put(&place, folder.path(), "sent by a backup under way", 6);
    let ahead_ms = NOW_MS + 75 * 365 * DAY_MS;
    let pruned = prune(&place, "90d", ahead_ms).unwrap();
    assert_eq!(pruned, PruneReport { left: 4, ..PruneReport::default() });
    let pruned = prune(&place, "30d", ahead_ms).unwrap();
    assert_eq!(
        pruned,
        PruneReport { backups: 1, files: 1, bytes: 1, left: 3, ..PruneReport::default() }
    );
    assert_eq!(texts(folder.path()), ["b", "c", "d", "sent by a backup under way"]);
}

/// Files that were written after the newest backup began, and files of a place without backups.
#[test]
fn a_clock_that_is_ahead_deletes_no_file_of_the_first_backup() {
    let (folder, place) = place(&[]);
    put(&place, folder.path(), "sent by the first backup", 0);
    let pruned = prune(&place, "7d", NOW_MS + 75 * 365 * DAY_MS).unwrap();
    assert_eq!(pruned, PruneReport::default());
    assert_eq!(texts(folder.path()), ["sent by the first backup"]);
}

/// Backups have stopped: the record may be lost, and what is left of it stays.
#[test]
fn the_newest_backups_stay_however_old_they_are() {
    let (folder, place) = place(&[(400, &["a"]), (310, &["b"]), (300, &["c"])]);
    assert_eq!(prune(&place, "7d", NOW_MS).unwrap().left, 2);
    assert_eq!(texts(folder.path()), ["b", "c"]);
}

/// A killed backup leaves the file that it was writing, which no list of objects shows.
#[test]
fn unfinished_files_of_killed_backups_go() {
    let (folder, place) = place(&[(40, &["a"]), (0, &["b"])]);
    let write = |name: &str, days: i64| {
        let at = folder.path().join(name);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(&at, "part").unwrap();
        let written = Duration::from_millis((NOW_MS - days * DAY_MS) as u64);
        let file = File::options().write(true).open(&at).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + written).unwrap();
    };
    let (a, b) = (object(&hex_sha256(b"x")), object(&hex_sha256(b"y")));
    let stay = [
        format!("{b}#1"),
        "objects/ab/notes#1".to_owned(),
        format!("objects/attic/{}#1", hex_sha256(b"x")),
        format!("{a}#old"),
        "notes#1".to_owned(),
    ];
    write(&format!("{a}#1"), 8);
    write(&format!("{a}#12"), 30);
    write(&format!("{a}.zst#1"), 30);
    write(&stay[0], 6);
    for name in &stay[1..] {
        write(name, 30);
    }
    let pruned = prune(&place, "30d", NOW_MS).unwrap();
    assert_eq!(pruned.unfinished, Unfinished { files: 3, bytes: 12 });
    let said = pruned.to_string();
    assert!(said.ends_with("\ndeleted 3 unfinished files of killed backups in 12 bytes"), "{said}");
    for name in [&a, &format!("{a}#1"), &format!("{a}#12"), &format!("{a}.zst#1")] {
        assert!(!folder.path().join(name).exists(), "{name}");
    }
    assert!(stay.iter().all(|name| folder.path().join(name).exists()));
}

#[test]
fn a_backup_that_cannot_be_read_keeps_all_files() {
    let (folder, place) = place(&[(40, &["a"]), (20, &["b"])]);
    let newest = manifests(&place).unwrap().pop().unwrap();
    let newest = folder.path().join(FOLDER).join(newest.to_string());
    let whole = std::fs::read(&newest).unwrap();
    std::fs::write(&newest, &whole[..50]).unwrap();
    assert!(matches!(prune(&place, "30d", NOW_MS), Err(BackupError::Manifest { .. })));
    assert_eq!(texts(folder.path()), ["a", "b"]);
    assert_eq!(manifests(&place).unwrap().len(), 2);
}

#[test]
fn a_span_must_leave_time_for_backups_under_way() {
    let (_folder, place) = place(&[]);
    for keep in ["6d", "167h", "", "30", "-8d"] {
        let error = prune(&place, keep, NOW_MS).unwrap_err().to_string();
        assert!(error.ends_with("followed by d or h, at least 7d"), "{error}");
    }
    assert_eq!(prune(&place, "168h", NOW_MS).unwrap(), PruneReport::default());
}

/// A content that is there in both forms stays in that which a backup names.
#[test]
fn the_form_of_an_object_that_no_backup_names_goes() {
    let (folder, place) = place(&[(40, &["a"]), (20, &["b"])]);
    let packed = folder.path().join(object(&format!("{}{ZSTD}", hex_sha256(b"b"))));
    std::fs::write(&packed, "in another form").unwrap();
    let old = SystemTime::UNIX_EPOCH + Duration::from_millis((NOW_MS - 40 * DAY_MS) as u64);
    File::options().write(true).open(&packed).unwrap().set_modified(old).unwrap();
    assert_eq!(prune(&place, "60d", NOW_MS).unwrap().files, 1);
    assert!(!packed.exists());
    assert_eq!(texts(folder.path()), ["a", "b"]);
}
