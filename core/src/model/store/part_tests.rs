//! Shards of which only parts are here.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

use super::super::tests::{COLUMNS, LEVELS, MODEL, NODATA, ROWS, filled, values};
use super::super::*;

/// The bytes of a chunk of three levels, with its checksum.
const CHUNK: u64 = LEVELS as u64 * 512 + 4;

/// A shard elsewhere, which may be out of reach.
#[derive(Debug, Default)]
struct Elsewhere {
    shard: Mutex<Vec<u8>>,
    is_away: AtomicBool,
    asked: Mutex<Vec<(u64, u64)>>,
}

impl ShardSource for Elsewhere {
    fn fetch(&self, shard: &ShardName, bytes: Range<u64>) -> io::Result<Vec<u8>> {
        assert_eq!(shard, &[7; 32]);
        if self.is_away.load(Ordering::Relaxed) {
            return Err(io::Error::other("out of reach"));
        }
        self.asked.lock().unwrap().push((bytes.start, bytes.end));
        Ok(self.shard.lock().unwrap()[bytes.start as usize..bytes.end as usize].to_vec())
    }
}

/// A store in which nothing is here of the shard of `t` at hour 0.
fn parted() -> (TempDir, RunStore, Arc<Elsewhere>, PathBuf) {
    let (folder, store) = filled();
    let path = store.folder().join(MODEL).join("20180917T000000Z/t/c/0/0/0/0");
    let shard = fs::read(&path).unwrap();
    write_part(&path, shard.len() as u64, &[7; 32]).unwrap();
    let elsewhere = Arc::new(Elsewhere { shard: Mutex::new(shard), ..Elsewhere::default() });
    (folder, store.fetching(Arc::clone(&elsewhere) as _), elsewhere, path)
}

fn asked(elsewhere: &Elsewhere) -> Vec<(u64, u64)> {
    std::mem::take(&mut *elsewhere.asked.lock().unwrap())
}

fn all(store: &RunStore) -> Result<Vec<i16>, RunStoreError> {
    let run = store.newest_run(MODEL)?;
    let mut all = Vec::new();
    for level in 0..LEVELS {
        let mut raw = vec![0; ROWS * COLUMNS];
        run.product("t")?.part_into(0, level, 0..ROWS, 0..COLUMNS, &mut raw)?;
        all.extend(raw);
    }
    Ok(all)
}

#[test]
fn what_is_read_is_fetched_once_and_nothing_else() {
    let (_folder, store, elsewhere, path) = parted();
    let run = store.newest_run(MODEL).unwrap();
    let t = run.product("t").unwrap();
    let mut column = [0.0; LEVELS];
    t.column_into(0, 3, 17, &mut column).unwrap();
    let index = asked(&elsewhere);
    // The index with what stands before it, which here is all of the shard, and the chunk.
    let length = elsewhere.shard.lock().unwrap().len() as u64;
    assert_eq!(index, [(0, length)]);
    t.column_into(0, 3, 17, &mut column).unwrap();
    assert_eq!(asked(&elsewhere), []);
    assert_eq!(all(&store).unwrap(), values(0, LEVELS));
    // Another process finds what is there.
    assert_eq!(asked(&elsewhere), []);
    assert_eq!(read_part(&File::open(&path).unwrap()).unwrap(), Some((length, [7; 32])));
}

/// Makes holes of all chunks, as if only the index had been fetched.
fn forget_chunks(path: &Path, elsewhere: &Elsewhere) {
    let mut bytes = fs::read(path).unwrap();
    bytes[..11 * CHUNK as usize].fill(0);
    fs::write(path, bytes).unwrap();
    asked(elsewhere);
}

#[test]
fn neighbours_are_fetched_together_and_a_chunk_alone() {
    let (_folder, store, elsewhere, path) = parted();
    assert!(all(&store).is_ok());
    forget_chunks(&path, &elsewhere);
    let run = store.newest_run(MODEL).unwrap();
    let t = run.product("t").unwrap();
    assert!(t.value(0, 0, 0, 20).is_ok());
    assert_eq!(asked(&elsewhere), [(CHUNK, 2 * CHUNK)]);
    let mut raw = vec![0; 16 * COLUMNS];
    t.part_into(0, 1, 0..16, 0..COLUMNS, &mut raw).unwrap();
    assert_eq!(asked(&elsewhere), [(0, CHUNK), (2 * CHUNK, 4 * CHUNK)]);
    // The first chunk of the second row is empty, and has no bytes.
    t.part_into(0, 1, 16..32, 0..16, &mut raw[..256]).unwrap();
    assert_eq!((asked(&elsewhere), raw[0]), (vec![], NODATA));
    assert_eq!(run.verify(), []);
    assert_eq!(asked(&elsewhere), [(4 * CHUNK, 11 * CHUNK)]);
    assert_eq!(all(&store).unwrap(), values(0, LEVELS));
}

#[test]
fn what_cannot_be_fetched_is_said_and_what_is_here_is_read() {
    let (_folder, store, elsewhere, path) = parted();
    elsewhere.is_away.store(true, Ordering::Relaxed);
    let run = store.newest_run(MODEL).unwrap();
    let error = run.product("t").unwrap().value(0, 0, 0, 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}: only parts of it are here, and the others cannot be fetched: out of reach",
            path.display()
        )
    );
    assert!(run.product("t").unwrap().value(2, 0, 0, 1).is_ok(), "other shards are here");
    elsewhere.is_away.store(false, Ordering::Relaxed);
    assert!(run.product("t").unwrap().value(0, 0, 0, 1).is_ok(), "the same run goes on");
    forget_chunks(&path, &elsewhere);
    let run = store.newest_run(MODEL).unwrap();
    let t = run.product("t").unwrap();
    let first = t.value(0, 0, 0, 1).unwrap();
    elsewhere.is_away.store(true, Ordering::Relaxed);
    assert_eq!(t.value(0, 0, 0, 1).unwrap(), first);
    assert!(matches!(t.value(0, 0, 36, 49), Err(RunStoreError::Unfetched { .. })));
}

#[test]
fn bytes_that_are_not_those_of_the_shard_are_never_kept() {
    let (_folder, store, elsewhere, path) = parted();
    assert!(all(&store).is_ok());
    forget_chunks(&path, &elsewhere);
    let right = elsewhere.shard.lock().unwrap().clone();
    elsewhere.shard.lock().unwrap()[100] ^= 1;
    let error = all(&store).unwrap_err();
    let of_chunk = "is damaged: chunk 0, bytes 0 to 1536, is not as it was written";
    assert!(error.to_string().ends_with(of_chunk), "{error}");
    assert!(fs::read(&path).unwrap()[..4 * CHUNK as usize].iter().all(|&byte| byte == 0));
    elsewhere.shard.lock().unwrap().clone_from(&right);
    assert_eq!(all(&store).unwrap(), values(0, LEVELS));
}

#[test]
fn without_a_source_a_part_is_not_taken_for_a_shard() {
    let (_folder, store, _, path) = parted();
    let alone = RunStore::new(store.folder());
    let error = all(&alone).unwrap_err();
    assert!(matches!(error, RunStoreError::Unfetched { .. }), "{error}");
    let stamp = "20180917T000000Z".parse().unwrap();
    let check = alone.check_run(MODEL, stamp).unwrap();
    assert_eq!((check.parts, check.faults.len()), (1, 0));
    // A part that was cut is no part any more, and no shard.
    let bytes = fs::read(&path).unwrap();
    for length in [0, 10, 39, bytes.len() - 1, bytes.len() - 40] {
        fs::write(&path, &bytes[..length]).unwrap();
        assert!(matches!(all(&store), Err(RunStoreError::Damaged { .. })), "{length}");
    }
}

#[test]
fn many_readers_at_once_get_what_was_written() {
    let (_folder, store, _, _) = parted();
    let (run, expected) = (store.newest_run(MODEL).unwrap(), values(0, LEVELS));
    std::thread::scope(|scope| {
        for of in 0..8 {
            let (run, expected) = (&run, &expected);
            scope.spawn(move || {
                let t = run.product("t").unwrap();
                for cell in (of..ROWS * COLUMNS).step_by(8) {
                    let level = t.level(0, cell % LEVELS).unwrap();
                    let raw = level.raw(cell / COLUMNS, cell % COLUMNS).unwrap();
                    assert_eq!(raw, expected[cell % LEVELS * ROWS * COLUMNS + cell]);
                }
            });
        }
    });
}
