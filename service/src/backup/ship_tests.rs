use std::fs;

use mesonet::EmbeddedStore;
use mesonet::store::EmbeddedOptions;
use mesonet::store::copy::NOTE;
use tempfile::TempDir;

use super::super::manifest::BackupManifest;
use super::super::name::Name;
use super::*;
use crate::hex::hex_sha256;
use crate::record::FOLLOWER;

/// A folder with a record in it, and the address of a place that does not exist yet.
fn record() -> (TempDir, std::path::PathBuf, String) {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    EmbeddedStore::open(&data, EmbeddedOptions::default()).unwrap();
    let place = folder.path().join("place").to_str().unwrap().to_owned();
    (folder, data, place)
}

/// Whether all of a data folder is in the backup.
fn back_up(data: &Path, to: &str) -> Result<bool, BackupError> {
    Ok(make(data, to, BackupOptions::default())?.left_out.is_empty())
}

/// A folder without anything to back up does not claim the place, not even to take over.
fn is_refused(data: &Path, place: &str, text: &str) {
    for takes_over in [false, true] {
        let refused = make(data, place, BackupOptions { takes_over, ..BackupOptions::default() })
            .unwrap_err()
            .to_string();
        assert!(refused.contains(text), "{refused}");
    }
    assert!(!Path::new(place).exists() && !data.join("writer").exists());
}

#[test]
fn half_a_copy_is_not_backed_up() {
    let (_folder, data, place) = record();
    let store = EmbeddedStore::open(&data, EmbeddedOptions::default()).unwrap();
    store.meta_set(NOTE, "unfinished\nembedded:/srv/mesonet\n0 0 - - - 0").unwrap();
    is_refused(&data, &place, "it is an unfinished copy of embedded:/srv/mesonet");
    store.meta_set(NOTE, "verified\nembedded:/srv/mesonet\n0 readings").unwrap();
    assert!(back_up(&data, &place).unwrap());
}

#[test]
fn the_folder_of_a_follower_is_not_backed_up() {
    let (_folder, data, place) = record();
    let manifest = BackupManifest {
        time: 0,
        version: String::new(),
        folder: String::new(),
        writer: String::new(),
        files: Vec::new(),
        left_out: Vec::new(),
    };
    let name = Name { number: 100_000_001, time_ms: 0, random: 0 };
    Marker { address: place.clone(), name, manifest }.write(&data).unwrap();
    is_refused(&data, &place, "the server that it follows makes the backups");
    fs::remove_file(data.join(FOLLOWER)).unwrap();
    assert!(back_up(&data, &place).unwrap());
}

#[test]
fn a_folder_without_a_record_claims_no_place() {
    let (_folder, data, place) = record();
    let above = data.parent().unwrap();
    is_refused(above, &place, "no record here");
    fs::create_dir(above.join("empty")).unwrap();
    is_refused(&above.join("empty"), &place, "no record here");
}

/// A folder that was unmounted, or moved away and created again: the sent files are not there.
#[test]
fn a_place_that_was_exchanged_for_an_empty_one_gets_no_backup() {
    let (folder, data, address) = record();
    assert!(back_up(&data, &address).unwrap());
    let place = ObjectPlace::open(&address).unwrap();
    let name = manifests(&place).unwrap().pop().unwrap();
    let manifest = read(&place, &name).unwrap();
    check_is_there(&place, &manifest, false).unwrap();
    let refused = |is_older| check_is_there(&place, &manifest, is_older).unwrap_err().to_string();
    assert!(refused(true).contains("what was there a moment ago is gone"));
    fs::rename(&address, folder.path().join("away")).unwrap();
    fs::create_dir(&address).unwrap();
    assert!(refused(false).contains("what was there a moment ago is gone"));
}

#[test]
fn a_manifest_that_nobody_could_read_is_not_put() {
    let folder = tempfile::tempdir().unwrap();
    let place = ObjectPlace::create(folder.path().to_str().unwrap()).unwrap();
    let name = Name { number: 100_000_001, time_ms: 1_722_711_600_123, random: 1 };
    let put = |path: &str| {
        let entry = ManifestEntry {
            path: path.to_owned(),
            length: 0,
            sha256: "0".repeat(64),
            zstd_bytes: None,
            mark: String::new(),
            modified_ns: None,
        };
        let manifest = BackupManifest {
            time: name.time_ms,
            version: String::new(),
            folder: String::new(),
            writer: String::new(),
            files: vec![entry],
            left_out: Vec::new(),
        };
        put_manifest(&place, &name, &manifest).map_err(|error| error.to_string())
    };
    let cause = "is damaged: \"a:b\" is not the path of a file in a data folder";
    assert_eq!(put("a:b"), Err(format!("nothing was backed up: the manifest {cause}")));
    assert_eq!(manifests(&place).unwrap(), []);
    put("a").unwrap();
    assert_eq!(manifests(&place).unwrap(), [name]);
}

/// The place as programs before the second version of the manifest wrote it: objects as they are.
fn as_before(address: &str) -> Name {
    let place = ObjectPlace::open(address).unwrap();
    let name = manifests(&place).unwrap().pop().unwrap();
    let mut manifest = read(&place, &name).unwrap();
    for entry in &mut manifest.files {
        let packed = Path::new(address).join(object(&entry.object_name()));
        entry.zstd_bytes = None;
        let plain = Path::new(address).join(object(&entry.object_name()));
        if let Ok(bytes) = fs::read(&packed) {
            fs::write(plain, zstd::decode_all(&bytes[..]).unwrap()).unwrap();
            fs::remove_file(packed).unwrap();
        }
    }
    let text = String::from_utf8(manifest.encode()).unwrap();
    let text = text.replacen("mesonet-backup 2\n", "mesonet-backup 1\n", 1);
    let (text, _) = text.split_at(text.len() - 65);
    let text = format!("{text}{}\n", hex_sha256(text.as_bytes()));
    fs::write(Path::new(address).join(FOLDER).join(name.to_string()), text).unwrap();
    name
}

/// How many objects are compressed, and how many are not.
fn kinds(address: &str) -> (usize, usize) {
    let objects = ObjectPlace::open(address).unwrap().objects().unwrap();
    let packed = objects.iter().filter(|object| object.name.ends_with(ZSTD)).count();
    (packed, objects.len() - packed)
}

#[test]
fn what_an_older_program_sent_is_used_and_not_sent_again() {
    let (folder, data, address) = record();
    fs::create_dir_all(data.join("products/rain")).unwrap();
    fs::write(data.join("products/rain/a.tif"), "of someone").unwrap();
    make(&data, &address, BackupOptions::default()).unwrap();
    let old = as_before(&address);
    assert_eq!(kinds(&address).0, 0);
    let before = kinds(&address).1;
    let again = make(&data, &address, BackupOptions::default()).unwrap();
    assert_eq!((again.sent_files, again.sent_bytes), (0, 0));
    fs::write(data.join("products/rain/b.tif"), "of someone else").unwrap();
    assert_eq!(make(&data, &address, BackupOptions::default()).unwrap().sent_files, 1);
    assert_eq!(kinds(&address), (1, before));
    for (at_ms, files) in [(None, 2), (Some(old.time_ms), 1)] {
        let to = folder.path().join(format!("restored{files}"));
        super::super::restore(&address, at_ms, &to).unwrap();
        assert_eq!(fs::read_dir(to.join("products/rain")).unwrap().count(), files);
        EmbeddedStore::open(&to, EmbeddedOptions::default()).unwrap();
    }
}

/// The objects of an interrupted backup are used, if they are whole.
#[test]
fn what_an_interrupted_backup_sent_is_used_if_it_is_whole() {
    let (_folder, data, address) = record();
    let made = make(&data, &address, BackupOptions::default()).unwrap();
    let forget = || fs::remove_file(Path::new(&address).join(FOLDER).join(&made.name));
    forget().unwrap();
    let again = make(&data, &address, BackupOptions::default()).unwrap();
    assert_eq!(again.sent_files, 0);
    fs::remove_file(Path::new(&address).join(FOLDER).join(&again.name)).unwrap();
    let place = ObjectPlace::open(&address).unwrap();
    let one = place.objects().unwrap().into_iter().max_by_key(|object| object.length).unwrap();
    let at = Path::new(&address).join(object(&one.name));
    let whole = fs::read(&at).unwrap();
    fs::write(&at, &whole[..whole.len() - 1]).unwrap();
    assert_eq!(make(&data, &address, BackupOptions::default()).unwrap().sent_files, 1);
    assert!(fs::read(&at).unwrap() == whole);
}

/// An object that another version of zstd made is as good, and not sent again with each backup.
#[test]
fn an_object_of_another_length_is_replaced_once() {
    let (_folder, data, address) = record();
    make(&data, &address, BackupOptions::default()).unwrap();
    let place = ObjectPlace::open(&address).unwrap();
    let one = place.objects().unwrap().into_iter().max_by_key(|object| object.length).unwrap();
    let at = Path::new(&address).join(object(&one.name));
    let content = zstd::decode_all(&fs::read(&at).unwrap()[..]).unwrap();
    fs::write(&at, zstd::encode_all(&content[..], 19).unwrap()).unwrap();
    let sent = || make(&data, &address, BackupOptions::default()).unwrap().sent_files;
    assert_eq!((sent(), sent()), (1, 0));
}
