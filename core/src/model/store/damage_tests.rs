//! Files that differ from what was written.

use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use super::tests::{COLUMNS, LEVELS, MODEL, ROWS, filled};
use super::zarr::with_checksum;
use super::*;

fn shard_of(store: &RunStore, product: &str, key: &str) -> PathBuf {
    store.folder().join(MODEL).join("20180917T000000Z").join(product).join("c").join(key)
}

/// Returns where each of a number of chunks lies in a shard, with its checksum.
fn chunks_of(shard: &[u8], chunks: usize) -> Vec<Range<usize>> {
    let index = &shard[shard.len() - chunks * 16 - 4..];
    let halves = index.as_chunks::<8>().0.iter().map(|half| u64::from_le_bytes(*half) as usize);
    let halves: Vec<usize> = halves.collect();
    halves.as_chunks::<2>().0.iter().map(|[start, size]| *start..start + size).collect()
}

#[test]
fn a_shard_is_its_chunks_its_content_and_its_index() {
    let (_folder, store) = filled();
    let shard = fs::read(shard_of(&store, "t", "0/0/0/0")).unwrap();
    let chunks = chunks_of(&shard, 4);
    let ends: Vec<usize> = chunks.iter().map(|chunk| chunk.end).collect();
    assert_eq!(chunks[0].start, 0);
    assert!(chunks[1..].iter().map(|chunk| chunk.start).eq(ends[..3].iter().copied()));
    assert_eq!(shard.len(), ends[3] + 30 + LEVELS * 16 + 4 * 16 + 4);
    assert!(shard.len() < LEVELS * ROWS * COLUMNS * 2, "{} bytes", shard.len());
}

#[test]
fn a_chunk_that_was_changed_is_damaged_and_the_others_are_not() {
    let (_folder, store) = filled();
    let path = shard_of(&store, "t", "0/0/0/0");
    let mut bytes = fs::read(&path).unwrap();
    let second = chunks_of(&bytes, 4)[1].clone();
    bytes[second.start + 100] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let run = store.newest_run(MODEL).unwrap();
    let t = run.product("t").unwrap();
    let mut column = [0.0; LEVELS];
    t.column_into(0, 3, 3, &mut column).unwrap();
    let error = t.column_into(0, 3, 40, &mut column).unwrap_err();
    let message = error.to_string();
    let (start, end) = (second.start, second.end - 4);
    assert!(
        message.ends_with(&format!(
            "is damaged: chunk 1, bytes {start} to {end}, is not as it was written"
        )),
        "{message}"
    );
    // It stays damaged, and the other hours and products are intact.
    assert!(t.value(0, 0, 3, 40).is_err() && t.value(2, 0, 3, 40).is_ok());
    let mut part = vec![0; ROWS * COLUMNS];
    assert!(t.part_into(0, 0, 0..ROWS, 0..COLUMNS, &mut part).is_err());
    assert_eq!(run.verify(), [error]);
}

/// The checksum is right, but what it covers is not a chunk: someone meant it.
#[test]
fn a_chunk_that_cannot_be_decoded_is_damaged() {
    let (_folder, store) = filled();
    let path = shard_of(&store, "t", "0/0/0/0");
    let whole = fs::read(&path).unwrap();
    let first = chunks_of(&whole, 4)[0].clone();
    for (at, byte, cause) in [
        (0, 9, "chunk 0: the chunk has version 9 of mesonet.blocks; supported is 1"),
        (5, 255, "chunk 0: the bytes are not a chunk of mesonet.blocks of this shape"),
    ] {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        let checksum = crc32c::crc32c(&bytes[..first.end - 4]).to_le_bytes();
        bytes[first.end - 4..first.end].copy_from_slice(&checksum);
        fs::write(&path, &bytes).unwrap();
        let run = store.newest_run(MODEL).unwrap();
        let t = run.product("t").unwrap();
        let message = t.value(0, 0, 3, 3).unwrap_err().to_string();
        assert!(message.ends_with(cause), "{message}");
        let mut part = vec![0; 4];
        assert!(t.part_into(0, 1, 3..5, 3..5, &mut part).is_err());
        assert_eq!(run.verify().len(), 1);
        assert!(t.value(0, 0, 3, 40).is_ok());
    }
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
    for length in [0, 1, 19, 20, 21, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        let message = read().unwrap_err();
        assert!(message.contains("is damaged: "), "{length}: {message}");
    }
    fs::write(&path, &whole[..10]).unwrap();
    assert!(read().unwrap_err().ends_with("10 bytes long; expected 20 or more"));
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
    let index = whole.len() - 16 - 4;
    let length = whole.len() as u64;
    for (at, number) in [(0, u64::MAX - 1), (0, 1 << 40), (8, 4), (8, length), (8, u64::MAX)] {
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
        ("\"format\": 4", "\"format\": 5", "its layout has version 5; supported are 3 and 4"),
        ("\"format\": 4", "\"format\": 2", "its layout has version 2; supported are 3 and 4"),
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
