//! How much work a file may ask for: a constant, plus an amount for each KiB.
//!
//! A file of a few bytes can expand to gigabytes, millions of reports, or a field of millions of
//! cells. The cost is counted while the file is read. A file that asks for more than its length
//! allows is a fault, and what was already read of it is kept.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read};
use std::rc::Rc;

/// The output of a short packed file may be this many times longer than the longest pushed file.
const UNPACKED_FACTOR: u64 = 32;

/// An amount that grows with the length of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What a file of any length may ask for.
    pub base: u64,
    /// What it may ask for in addition per KiB of its length.
    pub per_kib: u64,
}

impl Bound {
    /// A limit that is the same for files of any length.
    pub const fn fixed(base: u64) -> Self {
        Self { base, per_kib: 0 }
    }

    /// What a file of this length may ask for.
    fn of(self, length_bytes: u64) -> u64 {
        self.base.saturating_add(self.per_kib.saturating_mul(length_bytes.div_ceil(1024)))
    }
}

/// How much one path, or one sent file, may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileLimits {
    /// Files in packed files.
    pub entries: Bound,
    /// Bytes that all of its packings unpack to, in total.
    pub unpacked_bytes: Bound,
    /// Readings; each report or alert counts as one more.
    pub readings: Bound,
    /// Cells of GRIB2 fields that are unpacked and written, as counted by
    /// [`mesonet::grib::Field::work_cells`].
    pub cells: Bound,
}

impl FileLimits {
    /// The limits of a file from the network, pushed or fetched.
    ///
    /// Published feeds compress to a tenth of their length, rarely to a sixtieth, and take a byte
    /// or more per reading, rarely less than four. The fields of a model take a byte for two or
    /// three cells. Those of a radar on a quiet day take a byte for a thousand cells.
    pub const SENT: Self = Self {
        entries: Bound::fixed(10_000),
        unpacked_bytes: Bound { base: 64 << 20, per_kib: 64 << 10 },
        readings: Bound { base: 200_000, per_kib: 2_048 },
        cells: Bound { base: 1 << 27, per_kib: 1 << 18 },
    };

    /// The limits of a file in the watched folder, which may be a large packed file.
    pub const WATCHED: Self = Self { entries: Bound::fixed(1_000_000), ..Self::SENT };

    /// The limits of a file pushed to a server that takes files of up to `longest_bytes`.
    pub fn pushed(longest_bytes: u64) -> Self {
        let Bound { base, per_kib } = Self::SENT.unpacked_bytes;
        let base = base.min(longest_bytes.saturating_mul(UNPACKED_FACTOR));
        Self { unpacked_bytes: Bound { base, per_kib }, ..Self::SENT }
    }
}

impl Default for FileLimits {
    /// The limits of a path on this machine: the operator who names it can wait for it.
    fn default() -> Self {
        Self {
            entries: Bound::fixed(1_000_000),
            unpacked_bytes: Bound::fixed(1 << 40),
            readings: Bound::fixed(u64::MAX),
            cells: Bound::fixed(u64::MAX),
        }
    }
}

/// The kinds of work that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Files in packed files.
    Entries,
    /// Bytes that packings unpack to.
    UnpackedBytes,
    /// Readings and reports.
    Readings,
    /// Cells of fields.
    Cells,
}

/// What a file may still ask for. Copies share it.
#[derive(Clone, Debug)]
pub struct Budget(Rc<WorkCounts>);

#[derive(Debug)]
struct WorkCounts {
    limits: [u64; 4],
    left: [Cell<u64>; 4],
}

/// A file asks for more than its length allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it holds more than {limit} {work}, the limit for a file of its length")]
pub struct OverBudget {
    /// The kind of work.
    pub work: Work,
    /// The limit.
    pub limit: u64,
}

impl Budget {
    /// Creates the budget of a file of this length.
    pub fn new(bounds: FileLimits, length_bytes: u64) -> Self {
        let FileLimits { entries, unpacked_bytes, readings, cells } = bounds;
        let limits = [entries, unpacked_bytes, readings, cells].map(|bound| bound.of(length_bytes));
        Self(Rc::new(WorkCounts { limits, left: limits.map(Cell::new) }))
    }

    /// Counts work before it is done.
    ///
    /// # Errors
    /// Less than that is left. Then nothing is counted.
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
            Self::UnpackedBytes => "bytes once unpacked",
            Self::Readings => "readings",
            Self::Cells => "cells of fields",
        })
    }
}

/// Bytes that a packing unpacks to, all counted.
pub struct Unpacked<R> {
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
        let bounds = FileLimits { entries: Bound { base: 2, per_kib: 3 }, ..FileLimits::default() };
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
        let budget = Budget::new(FileLimits::SENT, u64::MAX);
        assert_eq!(budget.left(Work::UnpackedBytes), u64::MAX);
    }
}
