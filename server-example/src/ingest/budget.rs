//! How much work a file may ask for: a constant, and so much more for each KiB of it.
//!
//! A file of a few bytes can stand for gigabytes, for millions of reports, or for a field of
//! millions of cells. What it costs is counted while it is read; a file that asks for more than its
//! length allows is a fault, and what was read of it before stays.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read};
use std::rc::Rc;

/// What comes out of a short packed file may be so many times longer than the longest file that is
/// pushed.
const UNPACKED_FACTOR: u64 = 32;

/// An amount that grows with the length of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What a file of any length may ask for.
    pub base: u64,
    /// What it may ask for beyond that for each KiB that it is long.
    pub per_kib: u64,
}

impl Bound {
    /// The same for a file of any length.
    pub const fn fixed(base: u64) -> Self {
        Self { base, per_kib: 0 }
    }

    /// What a file of a length may ask for.
    fn of(self, length_bytes: u64) -> u64 {
        self.base.saturating_add(self.per_kib.saturating_mul(length_bytes.div_ceil(1024)))
    }
}

/// How much one path, or one file that is sent, may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Files of archives.
    pub entries: Bound,
    /// Bytes that come out of all of its packings.
    pub unpacked_bytes: Bound,
    /// Readings; a report or an alert counts as one more.
    pub readings: Bound,
    /// Cells of GRIB2 fields that are unpacked and written, as [`mesonet::GribField::work_cells`]
    /// counts them.
    pub cells: Bound,
}

impl Bounds {
    /// Those of a file that comes over the network, pushed or fetched.
    ///
    /// Feeds that are published compress to a tenth of their length, seldom to a sixtieth, and take
    /// four bytes or more for a reading; the fields of a model take a byte for two or three cells,
    /// those of a radar on a quiet day one for a thousand.
    pub const SENT: Self = Self {
        entries: Bound::fixed(10_000),
        unpacked_bytes: Bound { base: 64 << 20, per_kib: 64 << 10 },
        readings: Bound { base: 200_000, per_kib: 1_024 },
        cells: Bound { base: 1 << 27, per_kib: 1 << 18 },
    };

    /// The same for a file that is pushed to a server that takes files of at most so many bytes.
    pub fn pushed(longest_bytes: u64) -> Self {
        let Bound { base, per_kib } = Self::SENT.unpacked_bytes;
        let base = base.min(longest_bytes.saturating_mul(UNPACKED_FACTOR));
        Self { unpacked_bytes: Bound { base, per_kib }, ..Self::SENT }
    }
}

impl Default for Bounds {
    /// Those of a path on this machine: whoever names it may wait for it.
    fn default() -> Self {
        Self {
            entries: Bound::fixed(1_000_000),
            unpacked_bytes: Bound::fixed(1 << 40),
            readings: Bound::fixed(u64::MAX),
            cells: Bound::fixed(u64::MAX),
        }
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Files of archives.
    Entries,
    /// Bytes that come out of packings.
    UnpackedBytes,
    /// Readings and reports.
    Readings,
    /// Cells of fields.
    Cells,
}

/// What a file may still ask for. Copies share it.
#[derive(Clone, Debug)]
pub struct Budget(Rc<Counts>);

#[derive(Debug)]
struct Counts {
    limits: [u64; 4],
    left: [Cell<u64>; 4],
}

/// A file asks for more than its length allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it holds more than {limit} {work}, the limit for a file of its length")]
pub struct OverBudget {
    /// Of what.
    pub work: Work,
    /// How much is allowed.
    pub limit: u64,
}

impl Budget {
    /// That of a file of a length.
    pub fn new(bounds: Bounds, length_bytes: u64) -> Self {
        let Bounds { entries, unpacked_bytes, readings, cells } = bounds;
        let limits = [entries, unpacked_bytes, readings, cells].map(|bound| bound.of(length_bytes));
        Self(Rc::new(Counts { limits, left: limits.map(Cell::new) }))
    }

    /// Counts work before it is done.
    ///
    /// # Errors
    /// There is not so much left: then nothing is counted.
    pub fn spend(&self, work: Work, amount: u64) -> Result<(), OverBudget> {
        let left = &self.0.left[work as usize];
        let Some(rest) = left.get().checked_sub(amount) else {
            return Err(OverBudget { work, limit: self.0.limits[work as usize] });
        };
        left.set(rest);
        Ok(())
    }

    /// How much is left.
    pub fn left(&self, work: Work) -> u64 {
        self.0.left[work as usize].get()
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entries => "files",
            Self::UnpackedBytes => "bytes once it is unpacked",
            Self::Readings => "readings",
            Self::Cells => "cells of fields",
        })
    }
}

/// Bytes that come out of a packing, each of which is counted.
pub(super) struct Unpacked<R> {
    pub inner: R,
    pub budget: Budget,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.budget.spend(Work::UnpackedBytes, read as u64).map_err(io::Error::other)?;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_may_ask_for_grows_with_its_length() {
        let bounds = Bounds { entries: Bound { base: 2, per_kib: 3 }, ..Bounds::default() };
        for (length_bytes, allowed) in [(0, 2), (1, 5), (1024, 5), (1025, 8)] {
            let budget = Budget::new(bounds, length_bytes);
            assert_eq!(budget.left(Work::Entries), allowed);
            let over = OverBudget { work: Work::Entries, limit: allowed };
            assert_eq!(budget.spend(Work::Entries, allowed + 1), Err(over));
            assert_eq!(budget.clone().spend(Work::Entries, allowed), Ok(()));
            assert_eq!(budget.spend(Work::Entries, 1), Err(over));
        }
    }

    #[test]
    fn no_length_makes_a_bound_overflow() {
        let budget = Budget::new(Bounds::SENT, u64::MAX);
        assert_eq!(budget.left(Work::UnpackedBytes), u64::MAX);
    }
}
