//! One writer at a time: each that opens a table takes the next number, and the last one counts.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use mesonet::store::StoreError;

use crate::link::{At, Found, Link, Place};
use crate::rows::WriterRow;
use crate::sql;

/// How often to try to become the writer while others try it too.
const OPENINGS: u64 = 20;

const WRITERS: Place = Place { table: "writers", shard: None };

/// The right to write, which another process may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fence {
    /// What is written: the record, or the alerts.
    role: &'static str,
    number: u64,
}

impl Fence {
    /// The writer's number is in the upper half of a batch number.
    const BITS: u32 = 32;

    /// Becomes the writer. From here on the one before is refused.
    pub(crate) fn take(link: &Link, role: &'static str) -> Result<Self, StoreError> {
        for attempt in 1..=OPENINGS {
            let newest = link.query(sql::NEWEST_WRITER).bind(role);
            let newest: Vec<u64> = link.rows(WRITERS, None, &newest)?;
            let number = newest.first().map_or(0, |newest| *newest) + 1;
            // Another process may do the same at the same time: whoever finds the mark of another one
            // beside its own steps back. Of two at least the one that wrote later finds both.
            let mark = RandomState::new().build_hasher().finish();
            let own = WriterRow { role: role.to_owned(), number, mark };
            let found = Found { condition: format!("mark = {mark}"), rows: 1 };
            let at = link.insert(WRITERS, vec![own], &found)?;
            let marks = link.query(sql::WRITER_MARKS).bind(role).bind(number);
            let marks: Vec<u64> = link.rows_at(at, WRITERS, &marks)?;
            if !marks.is_empty() && marks.iter().all(|found| *found == mark) {
                return Ok(Self { role, number });
            }
            std::thread::sleep(Duration::from_millis(mark % (50 * attempt)));
        }
        let holder = format!("others that open it: {OPENINGS} attempts met another one");
        Err(StoreError::Locked { path: link.name().to_owned(), holder })
    }

    /// The first of the numbers of batches that are this writer's own.
    pub(crate) fn first_batch(&self) -> u64 {
        self.number << Self::BITS
    }

    /// Fails if another process has become the writer before something was inserted at a node, or, without
    /// one, if it is known already.
    pub(crate) fn check(&self, link: &Link, inserted: Option<At>) -> Result<(), StoreError> {
        let query = link.query(sql::NEWEST_WRITER).bind(self.role);
        let newest: Vec<u64> = match inserted {
            Some(at) => link.rows_at(at, WRITERS, &query)?,
            None => link.rows(WRITERS, None, &query)?,
        };
        let newest = newest.first().map_or(0, |newest| *newest);
        if newest == self.number {
            return Ok(());
        }
        let own = self.number;
        let holder = format!("a writer that opened it later: number {newest}, this is {own}");
        Err(StoreError::Locked { path: link.name().to_owned(), holder })
    }
}
