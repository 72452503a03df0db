use std::io::Write as _;

use tempfile::TempDir;

use super::super::list::FOLDER;
use super::super::name::Name;
use super::*;
use crate::hex::hex_sha256;
use crate::place::{ZSTD, object};

/// A place whose backups hold the given files: paths and texts. Databases are files that change.
struct Backups {
    folder: TempDir,
    place: ObjectPlace,
}

impl Backups {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let place = ObjectPlace::create(folder.path().join("place").to_str().unwrap()).unwrap();
        Self { folder, place }
    }

    fn address(&self) -> &str {
        self.place.address()
    }

    fn add(&self, number: u64, files: &[(&str, &str)]) -> Name {
        let name = Name { number: 100_000_000 + number, time_ms: 1_722_711_600_000, random: 1 };
        let entry = |&(path, text): &(&str, &str)| {
            let (sha256, length) = (hex_sha256(text.as_bytes()), text.len() as u64);
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text.as_bytes()).unwrap();
            // Every other backup is of a program that did not compress.
            let zstd_bytes = if number.is_multiple_of(2) {
                let at = object(&format!("{sha256}{ZSTD}"));
                Some(self.place.put_compressed(&at, &sha256, &file, |_| {}).unwrap())
            } else {
                self.place.put_file(&object(&sha256), &sha256, &file, |_| {}).unwrap();
                None
            };
            let mark = if path.ends_with(".sqlite") { "" } else { text };
            ManifestEntry {
                path: path.to_owned(),
                length,
                sha256,
                zstd_bytes,
                mark: mark.to_owned(),
                modified_ns: None,
            }
        };
        let mut files: Vec<ManifestEntry> = files.iter().map(entry).collect();
        files.sort_by(|one, other| one.path.cmp(&other.path));
        let manifest = BackupManifest {
            time: name.time_ms,
            version: "0.1.0".to_owned(),
            folder: "/srv".to_owned(),
            writer: String::new(),
            files,
            left_out: Vec::new(),
        };
        assert!(self.place.put_new(&format!("{FOLDER}/{name}"), manifest.encode()).unwrap());
        name
    }

    fn object(&self, text: &str) -> PathBuf {
        let sha256 = hex_sha256(text.as_bytes());
        let at = |name: &str| Path::new(self.address()).join(object(name));
        let packed = at(&format!("{sha256}{ZSTD}"));
        if packed.exists() { packed } else { at(&sha256) }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn mirror(&self) -> Mirror {
        Mirror::open(self.address(), &self.data()).unwrap()
    }

    /// The whole files of the folder and their texts, without the follower's own files.
    fn texts(&self) -> Vec<(String, String)> {
        let (mut texts, mut folders) = (Vec::new(), vec![self.data()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.data()).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() && name != UNFINISHED {
                    folders.push(path);
                } else if path.is_file()
                    && !["follower", "follower.next", "lock", "writer"].contains(&&*name)
                {
                    texts.push((name, fs::read_to_string(path).unwrap()));
                }
            }
        }
        texts.sort();
        texts
    }
}

fn as_texts(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

const FIRST: [(&str, &str); 3] =
    [("a/x", "x of one"), ("b.sqlite", "database one"), ("mesonet.sqlite", "catalogue one")];
const SECOND: [(&str, &str); 3] =
    [("b.sqlite", "database two"), ("c/y", "y of two"), ("mesonet.sqlite", "catalogue two")];

#[test]
fn what_names_others_comes_after_them() {
    let mut paths = [
        "fetch/swob.json",
        "mesonet.count",
        "mesonet.sqlite",
        "models/a/20180917T000000Z/zarr.json",
        "models/a/20180917T000000Z/t/zarr.json",
        "alerts.sqlite",
        "models/a/20180917T000000Z/t/c/0/0/0",
        "segments/00000001.arrow",
    ];
    paths.sort_by_key(|path| order(path));
    assert_eq!(
        paths,
        [
            "models/a/20180917T000000Z/t/c/0/0/0",
            "segments/00000001.arrow",
            "models/a/20180917T000000Z/t/zarr.json",
            "models/a/20180917T000000Z/zarr.json",
            "alerts.sqlite",
            "mesonet.sqlite",
            "mesonet.count",
            "fetch/swob.json",
        ]
    );
}

#[test]
fn a_folder_becomes_like_the_newest_backup() {
    let backups = Backups::new();
    backups.add(1, &FIRST);
    let mut mirror = backups.mirror();
    assert!(mirror.update(|_| Ok(())).unwrap());
    assert_eq!(backups.texts(), as_texts(&FIRST));
    assert!(!mirror.update(|_| Ok(())).unwrap());
    backups.add(2, &SECOND);
    // While `show` runs, deleted files are still there.
    let data = backups.data();
    let show = |_: &Name| {
        assert!(data.join("a/x").exists());
        Ok(())
    };
    assert!(mirror.update(show).unwrap());
    assert_eq!(backups.texts(), as_texts(&SECOND));
}

/// What was fetched stays, and only the rest is fetched again, in this process and the next.
#[test]
fn an_update_that_broke_off_goes_on_from_there() {
    let backups = Backups::new();
    backups.add(1, &FIRST);
    let mut mirror = backups.mirror();
    mirror.update(|_| Ok(())).unwrap();
    backups.add(2, &SECOND);
    let damaged = backups.object("database two");
    let whole = fs::read(&damaged).unwrap();
    fs::write(&damaged, &whole[..whole.len() / 2]).unwrap();
    for _ in 0..3 {
        let error = mirror.update(|_| panic!("not whole")).unwrap_err().to_string();
        assert!(error.contains("b.sqlite") && error.contains("is damaged"), "{error}");
    }
    let mixed = [FIRST[0], FIRST[1], SECOND[1], FIRST[2]];
    assert_eq!(backups.texts(), as_texts(&mixed));
    // The folder has it, so it is not fetched again.
    fs::remove_file(backups.object("y of two")).unwrap();
    assert!(mirror.update(|_| Ok(())).unwrap_err().to_string().contains("b.sqlite"));
    drop(mirror);
    let mut mirror = backups.mirror();
    assert!(mirror.update(|_| Ok(())).unwrap_err().to_string().contains("b.sqlite"));
    fs::write(damaged, whole).unwrap();
    assert!(mirror.update(|_| Ok(())).unwrap());
    assert_eq!(backups.texts(), as_texts(&SECOND));
}

/// Files that came only from a backup whose update was killed do not stay.
#[test]
fn what_a_killed_update_brought_goes_with_its_backup() {
    let backups = Backups::new();
    backups.add(1, &FIRST);
    let mut mirror = backups.mirror();
    mirror.update(|_| Ok(())).unwrap();
    backups.add(2, &SECOND);
    fs::remove_file(backups.object("database two")).unwrap();
    assert!(mirror.update(|_| Ok(())).unwrap_err().to_string().contains("is missing"));
    drop(mirror);
    backups.add(3, &FIRST);
    backups.mirror().update(|_| Ok(())).unwrap();
    assert_eq!(backups.texts(), as_texts(&FIRST));
}

/// Deleting the newest backup does not take a follower back.
#[test]
fn a_follower_does_not_go_back_to_an_older_backup() {
    let backups = Backups::new();
    backups.add(1, &FIRST);
    let newest = backups.add(2, &SECOND);
    backups.mirror().update(|_| Ok(())).unwrap();
    fs::remove_file(Path::new(backups.address()).join(FOLDER).join(newest.to_string())).unwrap();
    let refused = backups.mirror().update(|_| Ok(())).unwrap_err().to_string();
    assert!(refused.contains("is older than 0001-00000002-"), "{refused}");
    assert_eq!(backups.texts(), as_texts(&SECOND));
    backups.add(3, &FIRST);
    assert!(backups.mirror().update(|_| Ok(())).unwrap());
}

#[test]
fn a_marker_that_is_damaged_is_named() {
    let backups = Backups::new();
    backups.add(1, &FIRST);
    fs::remove_file(backups.object("catalogue one")).unwrap();
    assert!(backups.mirror().update(|_| Ok(())).is_err());
    fs::write(backups.data().join("follower"), "cut").unwrap();
    let error = Mirror::open(backups.address(), &backups.data()).unwrap_err().to_string();
    assert!(error.ends_with("follower: it is damaged"), "{error}");
}

/// What the update before fetched was never reported as new.
#[test]
fn an_update_after_one_that_broke_off_tells_of_what_that_one_fetched() {
    let backups = Backups::new();
    backups.add(1, &FIRST);
    let mut mirror = backups.mirror();
    assert!(mirror.update(|_| Ok(())).unwrap());
    backups.add(2, &SECOND);
    let fails = |_: &Name| Err(BackupError::TooLong);
    assert!(mirror.update(fails).is_err());
    assert_eq!(mirror.name().unwrap().number, 100_000_001);
    assert!(mirror.update(|_| Ok(())).unwrap(), "what is there now is new");
    assert_eq!(backups.texts(), as_texts(&SECOND));
    assert!(!mirror.update(|_| Ok(())).unwrap());
}

/// Any of these may be all that is left of a record.
#[test]
fn what_is_left_of_a_record_is_not_followed_over() {
    let left = [
        "mesonet.sqlite",
        "mesonet.sqlite-wal",
        "alerts.sqlite",
        "keys.sqlite",
        "segments",
        "products",
        "models",
        "fetch",
        "webhooks",
        "mqtt",
        "damaged",
        "writer",
    ];
    for name in left {
        let backups = Backups::new();
        backups.add(1, &FIRST);
        fs::create_dir(backups.data()).unwrap();
        fs::write(backups.data().join(name), "precious").unwrap();
        let refused = Mirror::open(backups.address(), &backups.data());
        assert!(matches!(refused, Err(BackupError::NotFollower(_))), "{name}: {refused:?}");
        assert_eq!(fs::read_to_string(backups.data().join(name)).unwrap(), "precious");
    }
    let backups = Backups::new();
    backups.add(1, &FIRST);
    fs::create_dir(backups.data()).unwrap();
    fs::write(backups.data().join("lock"), "").unwrap();
    fs::write(backups.data().join("notes.txt"), "ours").unwrap();
    assert!(backups.mirror().update(|_| Ok(())).unwrap());
    assert_eq!(fs::read_to_string(backups.data().join("notes.txt")).unwrap(), "ours");
}

/// Whatever the number of its newest backup is. The keys of the old record are forgotten.
#[test]
fn a_follower_that_is_led_to_another_place_follows_that() {
    let (backups, others) = (Backups::new(), Backups::new());
    backups.add(7, &FIRST);
    backups.mirror().update(|_| Ok(())).unwrap();
    let name = others.add(1, &SECOND);
    let mut mirror = Mirror::open(others.address(), &backups.data()).unwrap();
    assert!(mirror.update(|_| Ok(())).unwrap());
    assert_eq!((mirror.name(), backups.texts()), (Some(&name), as_texts(&SECOND)));
    assert_eq!(Marker::of(&backups.data()).unwrap().unwrap().address, others.address());
}

/// A failed fetch leaves no half of a file, which would take up room.
#[test]
fn a_file_that_cannot_be_fetched_leaves_nothing() {
    let backups = Backups::new();
    backups.add(1, &FIRST);
    fs::write(backups.object("x of one"), "x of o").unwrap();
    let mut mirror = backups.mirror();
    mirror.update(|_| Ok(())).unwrap_err();
    assert!(!backups.data().join(UNFINISHED).exists());
    fs::write(backups.object("x of one"), "x of one").unwrap();
    assert!(mirror.update(|_| Ok(())).unwrap());
    assert_eq!(backups.texts(), as_texts(&FIRST));
}
