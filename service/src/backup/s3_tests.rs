//! Against a service that speaks S3, which `tests/bucket` starts and names in the environment:
//! `tests/bucket cargo test -p mesonet-service --features s3 --lib s3 -- --include-ignored`.

use std::fs::{self, File};
use std::io::Write;

use mesonet::store::EmbeddedOptions;
use mesonet::{EmbeddedStore, Reader};
use tempfile::TempDir;

use super::{BackupOptions, listed, make, restore};
use crate::hex::hex_sha256;
use crate::place::{ObjectPlace, PlaceError, SendError, object};

/// A part of the bucket that is a test's own.
fn address(of: &str) -> String {
    format!("s3://{}/{of}", std::env::var("MESONET_TEST_BUCKET").unwrap())
}

fn content(place: &ObjectPlace, name: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let found = place.get(name, |piece| {
        bytes.extend_from_slice(piece);
        Ok::<(), PlaceError>(())
    });
    found.unwrap().then_some(bytes)
}

fn file_of(folder: &TempDir, bytes: &[u8]) -> File {
    let path = folder.path().join("file");
    File::create(&path).unwrap().write_all(bytes).unwrap();
    File::open(path).unwrap()
}

#[test]
#[ignore = "needs a bucket: see tests/bucket"]
fn a_file_arrives_whole_in_one_part_or_several() {
    let (folder, place) =
        (TempDir::new().unwrap(), ObjectPlace::create(&address("parts/of a")).unwrap());
    for length in [0, 1, 8 << 20, (8 << 20) + 1, (20 << 20) + 7] {
        let bytes: Vec<u8> = (0..length as u64).map(|i| ((i * i) >> 7) as u8).collect();
        let (sha256, mut sent) = (hex_sha256(&bytes), 0);
        let file = file_of(&folder, &bytes);
        place.put_file(&object(&sha256), &sha256, &file, |more| sent += more).unwrap();
        assert_eq!(sent, bytes.len() as u64);
        assert!(content(&place, &object(&sha256)).unwrap() == bytes, "{length}");
        let packed = object(&format!("{sha256}.zst"));
        place.put_compressed(&packed, &sha256, &file, |_| {}).unwrap();
        let packed = content(&place, &packed).unwrap();
        assert!(zstd::decode_all(&packed[..]).unwrap() == bytes, "{length}");
    }
    assert_eq!(place.objects().unwrap().len(), 10);
}

#[test]
#[ignore = "needs a bucket: see tests/bucket"]
fn a_file_that_has_changed_leaves_nothing() {
    let (folder, place) =
        (TempDir::new().unwrap(), ObjectPlace::create(&address("changed")).unwrap());
    for length in [9, 20 << 20] {
        let file = file_of(&folder, &vec![7; length]);
        let other = hex_sha256(b"other");
        let sent = place.put_file(&object(&other), &other, &file, |_| {});
        assert!(matches!(sent, Err(SendError::Changed)), "{sent:?}");
    }
    assert_eq!(place.objects().unwrap().len(), 0);
}

/// Two backups cannot have the same name, even if both are put at once.
#[test]
#[ignore = "needs a bucket: see tests/bucket"]
fn what_is_there_is_not_replaced() {
    let address = address("new");
    let place = ObjectPlace::create(&address).unwrap();
    assert!(place.put_new("backups/a", b"first".to_vec()).unwrap());
    assert!(!place.put_new("backups/a", b"second".to_vec()).unwrap());
    assert_eq!(content(&place, "backups/a").unwrap(), b"first");
    let put = |_| {
        let address = address.clone();
        std::thread::spawn(move || {
            ObjectPlace::create(&address).unwrap().put_new("backups/b", vec![])
        })
    };
    let puts: Vec<_> = (0..8).map(put).collect();
    let won = puts.into_iter().map(|put| put.join().unwrap().unwrap());
    assert_eq!(won.filter(|won| *won).count(), 1);
    // Neither objects of a later time, nor objects that do not exist.
    assert!(!place.delete("backups/a", 0).unwrap());
    assert!(place.delete("backups/a", i64::MAX).unwrap());
    assert!(place.delete("backups/a", i64::MAX).unwrap());
    assert_eq!(content(&place, "backups/a"), None);
}

#[test]
#[ignore = "needs a bucket: see tests/bucket"]
fn a_bucket_that_is_not_there_is_named() {
    let cause =
        ObjectPlace::create("s3://nowhere/a").unwrap().list("backups").unwrap_err().to_string();
    assert!(cause.starts_with("s3://nowhere/a: "), "{cause}");
    assert!(cause.contains("NoSuchBucket"), "{cause}");
    for address in ["s3://", "s3:///a", "s4://mesonet/a"] {
        let cause = ObjectPlace::open(address).unwrap_err().to_string();
        assert!(cause.ends_with("it must be a folder, file:///… or s3://BUCKET/PREFIX"), "{cause}");
    }
}

#[test]
#[ignore = "needs a bucket: see tests/bucket"]
fn a_record_is_backed_up_checked_and_restored() {
    let (folder, place) = (TempDir::new().unwrap(), address("record/a/b"));
    let data = folder.path().join("data");
    drop(EmbeddedStore::open(&data, EmbeddedOptions::default()).unwrap());
    for _ in 0..2 {
        assert!(make(&data, &place, BackupOptions::default()).unwrap().left_out.is_empty());
    }
    let is_whole = || {
        let backups = listed(&ObjectPlace::open(&place).unwrap(), true).unwrap();
        backups.len() == 2 && backups.iter().all(|backup| backup.faults.is_empty())
    };
    assert!(is_whole());
    let to = folder.path().join("restored");
    restore(&place, None, &to).unwrap();
    let restored = EmbeddedStore::open(&to, EmbeddedOptions::default()).unwrap();
    assert_eq!(restored.directory().unwrap().stations.len(), 0);
    // An object whose content does not match its name.
    let place_of = ObjectPlace::open(&place).unwrap();
    let one = place_of.objects().unwrap().remove(0).name;
    assert!(place_of.delete(&object(&one), i64::MAX).unwrap());
    assert!(place_of.put_new(&object(&one), b"other".to_vec()).unwrap());
    assert!(!is_whole());
    let again = folder.path().join("again");
    let refused = restore(&place, None, &again);
    assert!(refused.unwrap_err().to_string().contains(&one));
    assert!(fs::symlink_metadata(again).is_err());
}
