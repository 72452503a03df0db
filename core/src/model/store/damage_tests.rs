//! Files that differ from what was written.

use std::fs;
use std::path::PathBuf;

use super::tests::{COLUMNS, LEVELS, MODEL, ROWS, filled};
use super::zarr::with_checksum;
use super::*;

fn shard_of(store: &RunStore, product: &str, key: &str) -> PathBuf {
    store.folder().join(MODEL).join("20180917T000000Z").join(product).join("c").join(key)
}

/// The bytes of a chunk of three levels, with its checksum.
const CHUNK: usize = LEVELS * 512 + 4;
/// The chunks that are not empty: one of the 3 × 4 is.
const FULL: usize = 11;

#[test]
fn a_shard_has_the_length_that_its_layout_gives() {
    let (_folder, store) = filled();
    let length = fs::metadata(shard_of(&store, "t", "0/0/0/0")).unwrap().len();
    assert_eq!(length as usize, FULL * CHUNK + 30 + LEVELS * 16 + 12 * 16 + 4);
}

#[test]
fn a_chunk_that_was_changed_is_damaged_and_the_others_are_not() {
    let (_folder, store) = filled();
    let path = shard_of(&store, "t", "0/0/0/0");
    let mut bytes = fs::read(&path).unwrap();
    bytes[CHUNK + 100] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let run = store.newest_run(MODEL).unwrap();
    let t = run.product("t").unwrap();
    let mut column = [0.0; LEVELS];
    t.column_into(0, 3, 3, &mut column).unwrap();
    let error = t.column_into(0, 3, 17, &mut column).unwrap_err();
    let message = error.to_string();
    assert!(
        message.ends_with("is damaged: chunk 1, bytes 1540 to 3076, is not as it was written"),
        "{message}"
    );
    // It stays damaged, and the other hours and products are intact.
    assert!(t.value(0, 0, 3, 17).is_err() && t.value(2, 0, 3, 17).is_ok());
    let mut part = vec![0; ROWS * COLUMNS];
    assert!(t.part_into(0, 0, 0..ROWS, 0..COLUMNS, &mut part).is_err());
    assert_eq!(run.verify(), [error]);
}

#[test]
fn whatever_byte_is_changed_is_noticed() {
    let (_folder, store) = filled();
    let path = shard_of(&store, "t2", "0/0/0");
    let whole = fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(13) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        fs::write(&path, &bytes).unwrap();
        let faults = store.newest_run(MODEL).unwrap().verify();
        assert_eq!(faults.len(), 1, "{at}");
        assert!(matches!(faults[0], RunStoreError::Damaged { .. }));
    }
}

#[test]
fn a_shard_that_is_cut_or_gone_is_damaged() {
    let (_folder, store) = filled();
    let path = shard_of(&store, "t2", "0/0/0");
    let whole = fs::read(&path).unwrap();
    let read = || {
        let run = store.newest_run(MODEL).unwrap();
        let value = run.product("t2").unwrap().value(0, 0, 0, 1);
        value.map_err(|error| error.to_string())
    };
    for length in [0, 1, 195, 196, 197, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let message = read().unwrap_err();
        assert!(message.contains("is damaged: "), "{length}: {message}");
    }
    fs::write(&path, &whole[..100]).unwrap();
    assert!(read().unwrap_err().ends_with("100 bytes long; expected 196 or more"));
    fs::write(&path, [&whole[..], &[0; 1000]].concat()).unwrap();
    assert!(read().unwrap_err().ends_with("its index is not the one that was written"));
    fs::remove_file(&path).unwrap();
    assert!(read().unwrap_err().ends_with("is damaged: it is missing"));
    fs::write(&path, &whole).unwrap();
    assert_eq!(read(), Ok(Some(100.5)));
}

#[test]
fn an_index_that_leads_out_of_the_file_is_damaged() {
    let (_folder, store) = filled();
    let path = shard_of(&store, "t2", "0/0/0");
    let whole = fs::read(&path).unwrap();
    let index = whole.len() - 12 * 16 - 4;
    for (at, number) in [(0, u64::MAX - 1), (0, 1 << 40), (8, 515), (8, u64::MAX), (0, 6000)] {
        let mut bytes = whole.clone();
        bytes[index + at..index + at + 8].copy_from_slice(&number.to_le_bytes());
        // With a checksum that fits, as an attacker would write it.
        let entries = bytes.len() - 4;
        let checksum = crc32c::crc32c(&bytes[index..entries]).to_le_bytes();
        bytes[entries..].copy_from_slice(&checksum);
        fs::write(&path, &bytes).unwrap();
        let run = store.newest_run(MODEL).unwrap();
        let message = run.product("t2").unwrap().value(0, 0, 0, 1).unwrap_err().to_string();
        assert!(message.contains("is damaged: its index lists a chunk of "), "{message}");
    }
}

#[test]
fn a_damaged_definition_is_reported() {
    let (_folder, store) = filled();
    let path = store.folder().join(MODEL).join("20180917T000000Z/zarr.json");
    let whole = fs::read_to_string(&path).unwrap();
    let opened = |text: &str| {
        fs::write(&path, text).unwrap();
        let run = store.run(MODEL, "20180917T000000Z".parse().unwrap());
        run.map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(opened(&whole), Ok(()));
    for (from, to, cause) in [
        ("\"format\": 3", "\"format\": 4", "its layout has version 4; supported is 3"),
        ("\"hour\": 2", "\"hour\": 4", "its published hours are not in order"),
        ("\"hour\": 2", "\"hour\": 0", "its published hours are not in order"),
        ("\"rows\": 37", "\"rows\": 0", "a grid has 1 to 67108864 cells; got 0 rows of 50"),
        ("\"name\": \"t2\"", "\"name\": \"../t2\"", "letter or digit"),
        ("\"scale\": 0.5", "\"scale\": 0.0", "scale must be finite and not 0; got 0"),
    ] {
        let changed = whole.replacen(from, to, 1);
        assert_ne!(changed, whole, "{from}");
        assert!(opened(&changed).unwrap_err().contains("zarr.json is damaged: "));
        // With a checksum that fits, as an attacker would write it.
        let changed = String::from_utf8(with_checksum(changed.into_bytes())).unwrap();
        let message = opened(&changed).unwrap_err();
        assert!(message.contains("zarr.json is damaged: ") && message.contains(cause), "{message}");
    }
    assert!(opened(&whole[..whole.len() / 2]).is_err());
    // The run is listed, and does not prevent other runs from being read.
    assert_eq!(store.runs(MODEL).unwrap().len(), 1);
    assert!(store.newest_run(MODEL).is_err());
}
