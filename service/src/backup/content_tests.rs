use std::fs;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::hex::hex_sha256;
use crate::place::ZSTD;

/// A content in a place, compressed and as it is.
struct StoredContent {
    folder: TempDir,
    place: ObjectPlace,
    text: Vec<u8>,
    entries: [ManifestEntry; 2],
}

fn stored() -> StoredContent {
    let folder = TempDir::new().unwrap();
    let place = ObjectPlace::create(folder.path().to_str().unwrap()).unwrap();
    let text: Vec<u8> =
        (0..3_000_u32).flat_map(|i| (((i * i) >> 9) % 1000).to_le_bytes()).collect();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&text).unwrap();
    let sha256 = hex_sha256(&text);
    let name = format!("{sha256}{ZSTD}");
    let bytes = place.put_compressed(&object(&name), &sha256, &file, |_| {}).unwrap();
    assert!(bytes < text.len() as u64 / 2, "{bytes}");
    assert_eq!(crate::place::compressed_length(&file).unwrap(), bytes);
    place.put_file(&object(&sha256), &sha256, &file, |_| {}).unwrap();
    let plain = ManifestEntry {
        path: "mesonet.sqlite".to_owned(),
        length: text.len() as u64,
        sha256,
        zstd_bytes: None,
        mark: String::new(),
        modified_ns: None,
    };
    let packed = ManifestEntry { zstd_bytes: Some(bytes), ..plain.clone() };
    StoredContent { folder, place, text, entries: [packed, plain] }
}

impl StoredContent {
    fn object(&self, entry: &ManifestEntry) -> PathBuf {
        self.folder.path().join(object(&entry.object_name()))
    }

    fn fetch(&self, entry: &ManifestEntry) -> Result<Vec<u8>, String> {
        let name = Name { number: 100_000_001, time_ms: 0, random: 0 };
        let mut text = Vec::new();
        let fetched = fetch(&self.place, &name, entry, |piece| {
            text.extend_from_slice(piece);
            Ok(())
        });
        assert!(text.len() as u64 <= entry.length, "{}", text.len());
        fetched.map(|()| text).map_err(|error| error.to_string())
    }
}

#[test]
fn a_content_comes_back_from_both_kinds_of_object() {
    let stored = stored();
    for entry in &stored.entries {
        let found = fs::metadata(stored.object(entry)).unwrap().len();
        assert_eq!((found, stored.fetch(entry)), (entry.object_bytes(), Ok(stored.text.clone())));
    }
}

/// More than one part of an upload, compressed and as it is.
#[test]
fn a_long_content_comes_back() {
    let folder = TempDir::new().unwrap();
    let place = ObjectPlace::create(folder.path().to_str().unwrap()).unwrap();
    let mut state = 1_u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    });
    let bytes: Vec<u8> = noise.take(20 << 20).collect();
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    let sha256 = hex_sha256(&bytes);
    let at = object(&format!("{sha256}{ZSTD}"));
    let mut read = 0;
    let length = place.put_compressed(&at, &sha256, &file, |more| read += more).unwrap();
    assert_eq!((read, length > 20 << 20), (20 << 20, true));
    let packed = fs::read(folder.path().join(&at)).unwrap();
    assert_eq!(packed.len() as u64, length);
    assert!(zstd::decode_all(&packed[..]).unwrap() == bytes);
    // A file that has changed since its checksum was taken leaves nothing.
    for (at, sha256) in [("objects/ab/other", hex_sha256(b"other")), (&*at, sha256)] {
        let put = place.put_compressed(at, &sha256, &file, |_| {});
        assert_eq!(put.is_ok(), folder.path().join(at).exists(), "{at}");
    }
    assert!(!folder.path().join("objects/ab/other").exists());
}

#[test]
fn a_changed_cut_or_missing_object_is_named() {
    let stored = stored();
    for entry in &stored.entries {
        let (at, whole) = (stored.object(entry), fs::read(stored.object(entry)).unwrap());
        // Some bits of a compressed object, such as the size of its window, do not matter.
        let mut named = 0;
        let mut is_named = |bytes: &[u8]| {
            fs::write(&at, bytes).unwrap();
            match stored.fetch(entry) {
                Ok(text) => assert!(text == stored.text && entry.zstd_bytes.is_some()),
                Err(cause) => {
                    let object = object(&entry.object_name());
                    assert!(cause.contains(&format!("is damaged: {object} in ")), "{cause}");
                    named += 1;
                }
            }
        };
        let places: Vec<usize> = (0..whole.len()).step_by(whole.len() / 150).chain(0..12).collect();
        for &byte in &places {
            let mut changed = whole.clone();
            changed[byte] ^= 0x11;
            is_named(&changed);
            is_named(&whole[..byte]);
        }
        is_named(&[&whole[..], b"more"].concat());
        is_named(&[&whole[..], &whole[..]].concat());
        assert!(named > 2 * places.len() - 4, "{named} of {}", places.len());
        fs::remove_file(&at).unwrap();
        let cause = stored.fetch(entry).unwrap_err();
        assert!(cause.contains("mesonet.sqlite of the backup ") && cause.contains(" is missing"));
        fs::write(&at, &whole).unwrap();
        stored.fetch(entry).unwrap();
    }
}

/// A damaged object could decompress to any length.
#[test]
fn no_more_is_handed_out_than_the_file_has() {
    let stored = stored();
    let bomb = zstd::encode_all(io::repeat(7).take(1 << 28), 1).unwrap();
    let entry = &stored.entries[0];
    fs::write(stored.object(entry), bomb).unwrap();
    let cause = stored.fetch(entry).unwrap_err();
    assert!(cause.ends_with(" has more than 12000 bytes"), "{cause}");
}

#[test]
fn an_error_of_the_caller_is_passed_on() {
    let stored = stored();
    let name = Name { number: 100_000_001, time_ms: 0, random: 0 };
    for entry in &stored.entries {
        let full = |_: &[u8]| Err(BackupError::Full("/srv".into()));
        let refused = fetch(&stored.place, &name, entry, full).unwrap_err();
        assert!(matches!(refused, BackupError::Full(_)), "{refused}");
    }
}
