//! A walk through the instants of a series along the positions of a grid.

use crate::time::passed;

/// Counts the instants that each position has passed, from one position to the next.
pub(super) struct PassedCounts<'a> {
    ts_ms: &'a [i64],
    passed: usize,
    stride: Stride,
}

/// How the next position is reached. Each way is the fastest where it is used; all give the same
/// result.
enum Stride {
    /// Instant by instant: a position passes few, if any.
    Single,
    /// By blocks of instants, then by a search: a position passes several.
    Block,
    /// By a search: instants may be so far from positions that a difference overflows.
    Search,
}

/// Up to so many instants for a position are passed one by one. In WebAssembly blocks of them are not
/// faster: the processor runs ahead of a branch, and waits for a count.
const FEW: u64 = if cfg!(target_arch = "wasm32") { 16 } else { 2 };
/// How many instants are compared at once.
const BLOCK: usize = 8;
/// If this many instants do not suffice, a search follows.
const MOST_IN_BLOCKS: usize = 32;

/// What the walks along the positions of one grid have in common.
#[derive(Clone, Copy)]
pub(super) struct Walks {
    /// Between these, the differences of instants and positions can be computed.
    near_ms: [i64; 2],
    /// The number of positions.
    positions: u64,
}

impl Walks {
    /// Takes the first, the last and the number of the positions for which instants will be counted.
    pub(super) fn new([start_ms, end_ms]: [i64; 2], positions: u64) -> Self {
        let near_ms = [end_ms.saturating_add(i64::MIN + 1), start_ms.saturating_add(i64::MAX)];
        Self { near_ms, positions }
    }

    /// Begins a walk through ascending instants.
    pub(super) fn of(self, ts_ms: &[i64]) -> PassedCounts<'_> {
        let [first, last] = self.near_ms;
        let stride = match ts_ms {
            _ if ts_ms.len() as u64 / FEW <= self.positions => Stride::Single,
            [begin, .., end] if *begin < first || *end > last => Stride::Search,
            _ => Stride::Block,
        };
        PassedCounts { ts_ms, passed: 0, stride }
    }
}

impl PassedCounts<'_> {
    /// Returns the number of instants at or before a position, which must not be before the last one.
    pub(super) fn to(&mut self, at_ms: i64) -> usize {
        let rest = &self.ts_ms[self.passed..];
        self.passed += match self.stride {
            Stride::Single => rest.iter().take_while(|&&ts_ms| ts_ms <= at_ms).count(),
            Stride::Block => in_blocks(rest, at_ms),
            Stride::Search => passed(rest, at_ms),
        };
        self.passed
    }
}

/// Compares without a branch per instant, because such a branch could not be predicted.
fn in_blocks(ts_ms: &[i64], at_ms: i64) -> usize {
    let mut count = 0;
    while count < MOST_IN_BLOCKS
        && let Some(block) = ts_ms[count..].first_chunk::<BLOCK>()
    {
        // The comparison uses the sign of a difference: without extensions, the processor's vectors
        // cannot compare 64-bit numbers.
        let below = |&ts_ms: &i64| ts_ms.wrapping_sub(at_ms).wrapping_sub(1).cast_unsigned() >> 63;
        let in_block = block.iter().map(below).sum::<u64>() as usize;
        count += in_block;
        if in_block < BLOCK {
            return count;
        }
    }
    count + passed(&ts_ms[count..], at_ms)
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
