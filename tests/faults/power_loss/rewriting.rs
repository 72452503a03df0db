//! A record of version 6, whose segments maintenance writes anew, one at a time, while readings
//! come in and old ones are deleted.

use std::path::Path;

use mesonet::store::{EmbeddedOptions, Maintenance};
use mesonet::{EmbeddedStore, MemoryStore, Store};

use crate::Work;
use crate::readings::{Readings, batch, judge, retained, ts_ms};
use crate::version_6::{SEGMENTS, unpack};

/// Nothing is merged: a merge writes old segments anew too.
const OPTIONS: EmbeddedOptions = EmbeddedOptions { seal_readings: 1_000_000, segment_readings: 1 };

/// Number of batches of each segment, and of all that the record begins with.
const OF_SEGMENT: u64 = 3;
const BATCHES: u64 = OF_SEGMENT * SEGMENTS as u64;

pub struct Rewriting {
    store: Option<EmbeddedStore>,
    dir: std::path::PathBuf,
    /// Whether the work began with the untouched record.
    is_first: bool,
    /// Number of old segments that are no longer there.
    replaced: usize,
}

/// What a step does.
enum Act {
    /// Takes in the batch of this number.
    Take(u64),
    /// Writes a segment anew.
    Rewrite,
    /// Seals fresh readings, and writes a segment anew.
    Seal,
    Reopen,
    /// Deletes the first segment that is left, and writes another anew.
    Retain,
    /// Writes all that is left.
    Rest,
}

const ACTS: [Act; 11] = [
    Act::Rewrite,
    Act::Take(BATCHES),
    Act::Rewrite,
    Act::Take(BATCHES + 1),
    Act::Seal,
    Act::Reopen,
    Act::Rewrite,
    Act::Retain,
    Act::Take(BATCHES + 2),
    Act::Reopen,
    Act::Rest,
];

/// The readings of the first segment are older.
const RETAINED_FROM: u64 = OF_SEGMENT;

impl Work for Rewriting {
    const NAME: &'static str = "old segments";
    const STEPS: usize = ACTS.len();
    type Seen = <Readings as Work>::Seen;

    fn open(dir: &Path) -> Self {
        let is_first = !dir.exists();
        if is_first {
            unpack(dir);
        }
        let store = Some(EmbeddedStore::open(dir, OPTIONS).unwrap());
        Self { store, dir: dir.to_owned(), is_first, replaced: 0 }
    }

    fn step(&mut self, number: usize) {
        let store = self.store.as_ref().unwrap();
        let maintenance = match ACTS[number] {
            Act::Take(number) => {
                store.append(&batch(number), &mut judge(number)).unwrap();
                return;
            }
            Act::Reopen => {
                self.store = None;
                self.store = Some(EmbeddedStore::open(&self.dir, OPTIONS).unwrap());
                return;
            }
            Act::Rewrite | Act::Rest => Maintenance::default(),
            Act::Seal => Maintenance { seal_all: true, ..Maintenance::default() },
            Act::Retain => {
                Maintenance { retain_from_ms: Some(ts_ms(RETAINED_FROM)), ..Maintenance::default() }
            }
        };
        loop {
            let done = store.maintain(&maintenance).unwrap();
            assert_eq!((done.merged_segments, done.set_aside), (0, Vec::new()));
            let rewritten = done.rewritten_segments;
            self.replaced += rewritten;
            if !matches!(ACTS[number], Act::Rest) {
                // After a loss of power the step may have been done already.
                assert!(rewritten == 1 || !self.is_first);
                return;
            }
            if rewritten == 0 {
                // The one that was deleted had been written anew.
                assert!(self.replaced == SEGMENTS || !self.is_first, "{}", self.replaced);
                return;
            }
        }
    }

    fn expected(steps: usize) -> Self::Seen {
        let (store, mut from_ms) = (MemoryStore::default(), i64::MIN);
        let taken = ACTS[..steps].iter().filter_map(|act| match act {
            Act::Take(number) => Some(*number),
            _ => None,
        });
        for number in (0..BATCHES).chain(taken) {
            store.append(&batch(number), &mut judge(number)).unwrap();
        }
        if ACTS[..steps].iter().any(|act| matches!(act, Act::Retain)) {
            from_ms = ts_ms(RETAINED_FROM);
        }
        retained(&store, from_ms)
    }

    fn seen(dir: &Path) -> Self::Seen {
        if !dir.exists() {
            // Power was lost before the record was there.
            unpack(dir);
        }
        Readings::seen(dir)
    }
}

/// Makes the record of which `tests/data/version_6` is made; see its `SOURCES.md`.
#[test]
#[ignore = "makes tests/data/version_6"]
fn make_the_record() {
    let dir = std::env::var("MESONET_VERSION_6").unwrap();
    let store = EmbeddedStore::open(Path::new(&dir), OPTIONS).unwrap();
    for number in 0..BATCHES {
        store.append(&batch(number), &mut judge(number)).unwrap();
        if number % OF_SEGMENT == OF_SEGMENT - 1 {
            store.maintain(&Maintenance { seal_all: true, ..Maintenance::default() }).unwrap();
        }
    }
    assert_eq!(store.health().segments, SEGMENTS);
}
