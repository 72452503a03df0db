//! One writer at a time: each process that opens the record to write takes the next number, and the
//! highest number counts.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mesonet::store::StoreError;

use crate::link::{At, InsertedRows, Link, TablePlace};
use crate::rows::WriterRow;
use crate::sql;

/// How often to try to become the writer while others try it too.
const OPENINGS: u64 = 20;

const WRITERS: TablePlace = TablePlace { table: "writers", shard: None };

/// The right to write, which another process may take.
#[derive(Debug)]
pub(crate) struct Fence {
    /// Tells this writer from others that take the same number.
    mark: u64,
    /// It takes a new number after a batch that failed.
    number: AtomicU64,
}

impl Fence {
    /// The upper half of a batch number is the number of its writer.
    const BITS: u32 = 32;

    /// Becomes the writer. From here on the previous writer is refused.
    pub(crate) fn take(link: &Link) -> Result<Self, StoreError> {
        let mark = RandomState::new().build_hasher().finish();
        let fence = Self { mark, number: AtomicU64::new(0) };
        fence.take_again(link)?;
        Ok(fence)
    }

    /// Becomes the next writer.
    pub(crate) fn take_again(&self, link: &Link) -> Result<(), StoreError> {
        for attempt in 1..=OPENINGS {
            let newest: Vec<WriterRow> = link.rows(WRITERS, None, &link.query(sql::WRITERS))?;
            let own = WriterRow {
                number: newest.first().map_or(0, |newest| newest.number) + 1,
                mark: self.mark,
            };
            // Another process may do the same at the same time. A process that finds another mark
            // beside its own steps back. Of two processes, at least the one that wrote later finds
            // both marks.
            let condition = format!("number = {} AND mark = {}", own.number, own.mark);
            let at = link.insert(WRITERS, vec![own], &InsertedRows { condition, rows: 1 })?;
            let found: Vec<WriterRow> = link.rows_at(at, WRITERS, &link.query(sql::WRITERS))?;
            if !found.is_empty() && found.iter().all(|row| *row == own) {
                self.number.store(own.number, Ordering::Relaxed);
                return Ok(());
            }
            let pause_ms = RandomState::new().build_hasher().finish() % (50 * attempt);
            std::thread::sleep(Duration::from_millis(pause_ms));
        }
        let holder = format!("others that open it: {OPENINGS} attempts met another one");
        Err(StoreError::Locked { path: link.name().to_owned(), holder })
    }

    fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    /// The first number that this writer gives to its batches, and to its changes of alerts.
    pub(crate) fn first_number(&self) -> u64 {
        self.number() << Self::BITS
    }

    /// Fails if another process had become the writer before something was inserted at a node.
    /// Without a node, fails if another writer is known already.
    pub(crate) fn check(&self, link: &Link, inserted: Option<At>) -> Result<(), StoreError> {
        let query = link.query(sql::WRITERS);
        let newest: Vec<WriterRow> = match inserted {
            Some(at) => link.rows_at(at, WRITERS, &query)?,
            None => link.rows(WRITERS, None, &query)?,
        };
        // This writer's mark under a later number is from an attempt that failed halfway.
        if !newest.is_empty() && newest.iter().all(|row| row.mark == self.mark) {
            return Ok(());
        }
        let (own, newest) = (self.number(), newest.first().map_or(0, |row| row.number));
        let holder = format!("a writer that opened it later: number {newest}, this is {own}");
        Err(StoreError::Locked { path: link.name().to_owned(), holder })
    }
}
