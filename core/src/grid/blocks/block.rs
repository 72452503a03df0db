//! A block of 16 × 16 integers: differences from the neighbours, packed in as many bits as most of
//! them need.
//!
//! | Bytes | What |
//! | --- | --- |
//! | 1 | bits 0 and 1: the mode; bit 2: some values are missing; bits 3 to 7: the width in bits, 0 to 16 |
//! | 2 | the base, little-endian |
//! | 32 | if some are missing: a bit for each value, row by row, the first in the lowest bit |
//! | 1 | unless all are equal: the number of exceptions, 0 to 127; bit 7: their high bits take two bytes |
//! | 32 × width | the low bits of the residuals |
//! | 1 or 2 each | the high bits of the exceptions |
//! | 1 each | their places, ascending: 16 × row + column |
//!
//! All are equal if the mode is [`LEAST`] and the width 0. A block without any value takes no byte.
//!
//! The low bits are packed column by column: with sixteen columns side by side, row after row takes
//! `width` bits of sixteen words, so that one instruction works on a whole row. Integers wrap at 16
//! bits. Differences are stored as 2d, or −2d − 1 if they are negative.

use super::step::Step;

/// The rows and columns of a block.
pub(super) const SIDE: usize = 16;
/// The values of a block.
pub(super) const CELLS: usize = SIDE * SIDE;

/// The integers of a block, which wrap.
pub(super) type Rows = [[u16; SIDE]; SIDE];

/// Residuals above the least value, which is the base.
const LEAST: u8 = 0;
/// Differences from the row above; in the first row from the value to the left. The base is the
/// first value, also below.
const DOWN: u8 = 1;
/// Differences from the value to the left; in the first column from the value above.
const RIGHT: u8 = 2;
/// Differences of differences, down and to the right.
const BOTH: u8 = 3;

const HAS_HOLES: u8 = 1 << 2;
const WIDE: u8 = 1 << 7;
const MAX_EXCEPTIONS: usize = 127;
const HOLES_BYTES: usize = CELLS / 8;

/// The rows and columns whose values are missing: a bit for each column.
pub(super) type Holes = [u16; SIDE];

/// Appends a block that has values. Those where there are holes may be anything; if they continue
/// their neighbours, they take the least room.
#[inline(always)]
pub(super) fn encode(values: &Rows, holes: &Holes, bytes: &mut Vec<u8>) {
    let least = least(values);
    let mut residuals = [[[0; SIDE]; SIDE]; 4];
    let [above_least, below, beside, corner] = &mut residuals;
    above(values, least, above_least);
    let mut choice = Choice::of(LEAST, above_least);
    if choice.bytes > 0 {
        down(values, below);
        right(values, beside);
        both(values, corner);
        for (mode, residuals) in [(DOWN, below), (RIGHT, beside), (BOTH, corner)] {
            let other = Choice::of(mode, residuals);
            if other.bytes < choice.bytes {
                choice = other;
            }
        }
    }
    let Choice { mode, width, exceptions, is_wide, .. } = choice;
    let has_holes = holes.iter().any(|row| *row != 0);
    let base = if mode == LEAST { least } else { values[0][0] };
    let holes_flag = if has_holes { HAS_HOLES } else { 0 };
    bytes.push(mode | holes_flag | width << 3);
    bytes.extend_from_slice(&base.to_le_bytes());
    if has_holes {
        bytes.extend_from_slice(holes.map(u16::to_le_bytes).as_flattened());
    }
    if choice.bytes == 0 && mode == LEAST {
        return;
    }
    bytes.push(exceptions as u8 | if is_wide { WIDE } else { 0 });
    let residuals = &residuals[usize::from(mode)];
    pack(residuals, width, bytes);
    if exceptions > 0 {
        push_exceptions(residuals, choice, bytes);
    }
}

/// Appends the high bits of the exceptions, and their places.
#[inline(always)]
fn push_exceptions(residuals: &Rows, choice: Choice, bytes: &mut Vec<u8>) {
    let (width, limit) = (u32::from(choice.width), limit(choice.width));
    // Each is written, and stays if it is one.
    let (mut high, mut places) = ([0_u16; CELLS], [0_u8; CELLS]);
    let mut found = 0;
    for (row, residuals) in residuals.iter().enumerate() {
        if residuals.iter().fold(0, |most, residual| most.max(*residual)) <= limit {
            continue;
        }
        for (column, &residual) in residuals.iter().enumerate() {
            high[found] = residual.checked_shr(width).unwrap_or(0);
            places[found] = (row * SIDE + column) as u8;
            found += usize::from(residual > limit);
        }
    }
    let high = &high[..choice.exceptions];
    if choice.is_wide {
        bytes.extend(high.iter().flat_map(|high| high.to_le_bytes()));
    } else {
        bytes.extend(high.iter().map(|high| *high as u8));
    }
    bytes.extend_from_slice(&places[..choice.exceptions]);
}

/// How the residuals of a block are packed.
#[derive(Clone, Copy)]
struct Choice {
    mode: u8,
    width: u8,
    exceptions: usize,
    is_wide: bool,
    /// The bytes that this takes, apart from the base and the holes.
    bytes: usize,
}

impl Choice {
    /// Returns the width that takes the fewest bytes.
    #[inline(always)]
    fn of(mode: u8, residuals: &Rows) -> Self {
        let mut all = [0; SIDE];
        for row in residuals {
            for (all, residual) in all.iter_mut().zip(row) {
                *all |= residual;
            }
        }
        let most = 16 - all.iter().fold(0, |all, one| all | one).leading_zeros() as u8;
        let mut best = Self {
            mode,
            width: most,
            exceptions: 0,
            is_wide: false,
            bytes: usize::from(most) * SIDE * 2,
        };
        for width in (0..most).rev() {
            let exceptions = beyond(residuals, limit(width));
            let is_wide = most - width > 8;
            let bytes = usize::from(width) * SIDE * 2 + exceptions * (2 + usize::from(is_wide));
            if exceptions > MAX_EXCEPTIONS || bytes > best.bytes + 64 {
                break;
            }
            if bytes < best.bytes {
                best = Self { mode, width, exceptions, is_wide, bytes };
            }
        }
        best
    }
}

/// Returns the greatest integer of a width in bits.
#[inline(always)]
fn limit(width: u8) -> u16 {
    ((1_u32 << width) - 1) as u16
}

/// Counts the residuals above a limit.
#[inline(always)]
fn beyond(residuals: &Rows, limit: u16) -> usize {
    let mut counts = [0_u16; SIDE];
    for row in residuals {
        for (count, residual) in counts.iter_mut().zip(row) {
            *count += u16::from(*residual > limit);
        }
    }
    usize::from(counts.iter().sum::<u16>())
}

#[inline(always)]
fn least(values: &Rows) -> u16 {
    let mut least = [i16::MAX; SIDE];
    for row in values {
        for (least, value) in least.iter_mut().zip(row) {
            *least = (*least).min(*value as i16);
        }
    }
    least.into_iter().min().unwrap_or_default() as u16
}

#[inline(always)]
fn above(values: &Rows, least: u16, residuals: &mut Rows) {
    for (row, values) in residuals.iter_mut().zip(values) {
        for (residual, value) in row.iter_mut().zip(values) {
            *residual = value.wrapping_sub(least);
        }
    }
}

#[inline(always)]
fn down(values: &Rows, residuals: &mut Rows) {
    residuals[0] = differences(values[0], values[0][0]);
    for (row, values) in residuals[1..].iter_mut().zip(values.windows(2)) {
        for column in 0..SIDE {
            row[column] = folded(values[1][column].wrapping_sub(values[0][column]));
        }
    }
}

#[inline(always)]
fn right(values: &Rows, residuals: &mut Rows) {
    let mut above = values[0][0];
    for (row, values) in residuals.iter_mut().zip(values) {
        *row = differences(*values, above);
        above = values[0];
    }
}

#[inline(always)]
fn both(values: &Rows, residuals: &mut Rows) {
    residuals[0] = differences(values[0], values[0][0]);
    for (row, values) in residuals[1..].iter_mut().zip(values.windows(2)) {
        let mut change = [0; SIDE];
        for column in 0..SIDE {
            change[column] = values[1][column].wrapping_sub(values[0][column]);
        }
        *row = differences(change, 0);
    }
}

/// Returns the differences of a row from the value to the left; `before` is to the left of the
/// first.
#[inline(always)]
fn differences(row: [u16; SIDE], before: u16) -> [u16; SIDE] {
    let mut residuals = [0; SIDE];
    residuals[0] = folded(row[0].wrapping_sub(before));
    for column in 1..SIDE {
        residuals[column] = folded(row[column].wrapping_sub(row[column - 1]));
    }
    residuals
}

/// Folds a difference, so that those near zero are small.
#[inline(always)]
fn folded(difference: u16) -> u16 {
    (difference << 1) ^ ((difference as i16 >> 15) as u16)
}

#[inline(always)]
fn unfolded(residual: u16) -> u16 {
    (residual >> 1) ^ (residual & 1).wrapping_neg()
}

/// Appends the low bits of the residuals.
#[inline(always)]
fn pack(residuals: &Rows, width: u8, bytes: &mut Vec<u8>) {
    let mut words = [0_u16; SIDE];
    let mut filled = 0;
    let (width, mask) = (u32::from(width), limit(width));
    for row in residuals {
        for (word, residual) in words.iter_mut().zip(row) {
            *word |= (residual & mask) << filled;
        }
        filled += width;
        if filled >= 16 {
            bytes.extend_from_slice(words.map(u16::to_le_bytes).as_flattened());
            filled -= 16;
            let taken = width - filled;
            for (word, residual) in words.iter_mut().zip(row) {
                *word = (residual & mask).checked_shr(taken).unwrap_or(0);
            }
        }
    }
}

/// The parts of a block that has values.
#[derive(Clone, Copy)]
struct Parts<'a> {
    mode: u8,
    width: u32,
    base: u16,
    holes: Option<&'a [[u8; 2]; SIDE]>,
    /// A word of each column, `width` times.
    low: &'a [[[u8; 2]; SIDE]],
    /// One byte or two for each exception.
    high: &'a [u8],
    places: &'a [u8],
}

impl<'a> Parts<'a> {
    /// Takes a block apart; `None` if its bytes are not a block.
    #[inline(always)]
    fn of(block: &'a [u8]) -> Option<Self> {
        let (&[head, base @ ..], mut rest) = block.split_first_chunk::<3>()?;
        let (mode, width) = (head & 3, usize::from(head >> 3));
        let mut holes = None;
        if head & HAS_HOLES != 0 {
            let (bits, behind) = rest.split_first_chunk::<HOLES_BYTES>()?;
            (holes, rest) = (bits.as_chunks().0.first_chunk(), behind);
        }
        let base = u16::from_le_bytes(base);
        let (mut low, mut high, mut places) = (&[][..], &[][..], &[][..]);
        if mode != LEAST || !rest.is_empty() {
            let (&count, behind) = rest.split_first()?;
            let (count, is_wide) = (usize::from(count & !WIDE), count & WIDE != 0);
            let (packed, behind) = behind.split_at_checked(width * SIDE * 2)?;
            low = packed.as_chunks().0.as_chunks().0;
            (high, places) = behind.split_at_checked(count << u8::from(is_wide))?;
            if places.len() != count {
                return None;
            }
        } else if width != 0 {
            return None;
        }
        let width = u32::try_from(width).ok().filter(|width| *width <= 16)?;
        Some(Self { mode, width, base, holes, low, high, places })
    }

    /// Unpacks the residuals of the first rows into a block of zeros.
    #[inline(always)]
    fn unpack(&self, rows: usize, residuals: &mut Rows) {
        let mask = limit(self.width as u8);
        if self.width > 0 {
            let mut words = self.low.iter().map(|words| words.map(u16::from_le_bytes));
            let (mut word, mut used) = (words.next().unwrap_or_default(), 0);
            for row in &mut residuals[..rows] {
                if used == 16 {
                    (word, used) = (words.next().unwrap_or_default(), 0);
                }
                for (residual, word) in row.iter_mut().zip(word) {
                    *residual = word >> used;
                }
                used += self.width;
                if used > 16 {
                    word = words.next().unwrap_or_default();
                    used -= 16;
                    let there = self.width - used;
                    for (residual, word) in row.iter_mut().zip(word) {
                        *residual |= word << there;
                    }
                }
                for residual in row {
                    *residual &= mask;
                }
            }
        }
        if self.width >= 16 {
            return;
        }
        // They are in the order of their places.
        let cells = &mut residuals.as_flattened_mut()[..rows * SIDE];
        let places = self.places.iter().map(|place| usize::from(*place));
        if self.high.len() == self.places.len() {
            for (place, high) in places.zip(self.high) {
                let Some(cell) = cells.get_mut(place) else { break };
                *cell |= u16::from(*high) << self.width;
            }
        } else {
            for (place, high) in places.zip(self.high.as_chunks().0) {
                let Some(cell) = cells.get_mut(place) else { break };
                *cell |= u16::from_le_bytes(*high) << self.width;
            }
        }
    }

    /// Returns the missing columns of a row.
    #[inline(always)]
    fn holes(&self, row: usize) -> u16 {
        self.holes.map_or(0, |holes| u16::from_le_bytes(holes[row]))
    }
}

/// Returns the integers of a block that has values, from its numbers on a step, and its holes; `None`
/// if its bytes are not a block.
#[inline(always)]
pub(super) fn decode(block: &[u8], step: Step) -> Option<(Rows, Option<Holes>)> {
    let parts = Parts::of(block)?;
    let mut rows = [[0; SIDE]; SIDE];
    parts.unpack(SIDE, &mut rows);
    if parts.mode != LEAST {
        for residual in rows.as_flattened_mut() {
            *residual = unfolded(*residual);
        }
    }
    if parts.mode & BOTH == RIGHT {
        let mut above = 0_u16;
        for row in &mut rows {
            row[0] = row[0].wrapping_add(above);
            above = row[0];
        }
    }
    match parts.mode {
        DOWN => running_sum(&mut rows[0]),
        RIGHT | BOTH => {
            for row in &mut rows {
                running_sum(row);
            }
        }
        _ => {}
    }
    if matches!(parts.mode, DOWN | BOTH) {
        let mut sums = [parts.base; SIDE];
        for row in &mut rows {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum = sum.wrapping_add(*value);
                *value = *sum;
            }
        }
    } else {
        for value in rows.as_flattened_mut() {
            *value = value.wrapping_add(parts.base);
        }
    }
    if step != Step::ONE {
        step.integers(rows.as_flattened_mut());
    }
    let holes = parts.holes.map(|holes| holes.map(u16::from_le_bytes));
    Some((rows, holes))
}

/// Replaces the values of a row by their sums from the left.
#[inline(always)]
fn running_sum(row: &mut [u16; SIDE]) {
    add(row, shifted::<1>(*row));
    add(row, shifted::<2>(*row));
    add(row, shifted::<4>(*row));
    add(row, shifted::<8>(*row));
}

/// Returns a row moved to the right.
#[inline(always)]
fn shifted<const PLACES: usize>(row: [u16; SIDE]) -> [u16; SIDE] {
    let mut wide = [0; 2 * SIDE];
    wide[SIDE..].copy_from_slice(&row);
    let mut moved = [0; SIDE];
    moved.copy_from_slice(&wide[SIDE - PLACES..2 * SIDE - PLACES]);
    moved
}

#[inline(always)]
fn add(row: &mut [u16; SIDE], other: [u16; SIDE]) {
    for (value, other) in row.iter_mut().zip(other) {
        *value = value.wrapping_add(other);
    }
}

/// Returns one integer of a block that has values, or that of missing ones; `None` if the bytes are not
/// a block. Only the rows that it depends on are unpacked.
#[inline(always)]
pub(super) fn value(
    block: &[u8],
    (row, column): (usize, usize),
    step: Step,
    nodata: u16,
) -> Option<u16> {
    let parts = Parts::of(block)?;
    if parts.holes(row) >> column & 1 != 0 {
        return Some(nodata);
    }
    let mut residuals = [[0; SIDE]; SIDE];
    parts.unpack(row + 1, &mut residuals);
    let mut sum = parts.base;
    match parts.mode {
        LEAST => sum = sum.wrapping_add(residuals[row][column]),
        DOWN => {
            for residual in &residuals[0][..=column] {
                sum = sum.wrapping_add(unfolded(*residual));
            }
            for row in &residuals[1..=row] {
                sum = sum.wrapping_add(unfolded(row[column]));
            }
        }
        RIGHT => {
            for row in &residuals[..row] {
                sum = sum.wrapping_add(unfolded(row[0]));
            }
            for residual in &residuals[row][..=column] {
                sum = sum.wrapping_add(unfolded(*residual));
            }
        }
        _ => {
            let mut sums = [0_u16; SIDE];
            for row in &residuals[..=row] {
                for (sum, residual) in sums.iter_mut().zip(row) {
                    *sum = sum.wrapping_add(unfolded(*residual));
                }
            }
            for one in &sums[..=column] {
                sum = sum.wrapping_add(*one);
            }
        }
    }
    Some(step.integer(sum))
}
