//! A coarser step, on which all integers of a plane lie.
//!
//! The integers of a product have one step, often finer than that of the file that they came from:
//! tenths of a kelvin become hundredths, and every integer is a multiple of ten. The smaller numbers
//! are stored instead, with the two constants that give the integers from them.

use std::sync::LazyLock;

/// A coarser step: the integer of a number k is `(factor × k + offset) >> 16`, modulo 2³².
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Step {
    pub factor: u32,
    pub offset: u32,
}

/// The factors that are tried, greatest first: 2^i × 5^j, the ratios of decimal and binary steps,
/// from 1.2 to 65,535, in 65,536ths.
static FACTORS: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut factors = Vec::new();
    for fives in -6..=6 {
        for twos in -16..=30 {
            let factor = 5_f64.powi(fives) * 2_f64.powi(twos) * 65_536.0;
            if (1.2 * 65_536.0..65_535.0 * 65_536.0).contains(&factor) {
                factors.push(factor.round() as u32);
            }
        }
    }
    factors.sort_unstable_by(|one, other| other.cmp(one));
    factors.dedup();
    factors
});

impl Step {
    /// The step of the integers themselves.
    pub(super) const ONE: Self = Self { factor: 1 << 16, offset: 0 };

    /// Returns the coarsest step for integers that are given ascending, each once; `None` if they
    /// have no coarser one.
    pub(super) fn of(integers: &[i16]) -> Option<Self> {
        let gaps = integers.windows(2).map(|pair| i64::from(pair[1]) - i64::from(pair[0]));
        // Two neighbours are at least the step apart, rounded down.
        let bound = (gaps.min()? + 1) << 16;
        let factors = FACTORS.iter().filter(|factor| i64::from(**factor) < bound);
        // Values halfway between two integers were rounded away from zero: a factor that is a little
        // greater does the same on both sides of it.
        let exactly = |factor: u32| Self::with(factor, integers);
        factors.copied().find_map(|factor| exactly(factor).or_else(|| exactly(factor + 1)))
    }

    /// Returns the step with a factor that gives all of these integers, if one does.
    fn with(factor: u32, integers: &[i16]) -> Option<Self> {
        let factor = i64::from(factor);
        let first = i64::from(*integers.first()?);
        // The offsets that give the integers seen so far, if the first is that of number 0.
        let (mut least, mut greatest) = (first << 16, (first << 16) + 0xffff);
        let mut last = 0;
        for &integer in integers {
            let integer = i64::from(integer) << 16;
            // The middle of the integer, seen from the middle of the offsets.
            let middle = 2 * integer + 0xffff - (least + greatest);
            let number = (middle + factor).div_euclid(2 * factor);
            least = least.max(integer - factor * number);
            greatest = greatest.min(integer + 0xffff - factor * number);
            if least > greatest {
                return None;
            }
            last = number;
        }
        // The numbers lie around zero, so that they fit into 16 bits.
        let offset = i64::midpoint(least, greatest) + factor * (last / 2);
        Some(Self { factor: factor as u32, offset: offset as u32 })
    }

    /// Returns the integer of a number.
    #[inline(always)]
    pub(super) fn integer(self, number: u16) -> u16 {
        let number = number as i16 as u32;
        (self.factor.wrapping_mul(number).wrapping_add(self.offset) >> 16) as u16
    }

    /// Replaces numbers by their integers.
    #[inline(always)]
    pub(super) fn integers(self, numbers: &mut [u16]) {
        for number in numbers {
            *number = self.integer(*number);
        }
    }

    /// Replaces integers by their numbers; returns whether all of them are on the step.
    #[inline(always)]
    pub(super) fn numbers(self, integers: &mut [u16]) -> bool {
        if self == Self::ONE {
            return true;
        }
        // Single precision suffices: the number of an integer is unique, and a wrong one is noticed.
        let per_integer = (65_536.0 / f64::from(self.factor)) as f32;
        let before = (0.5 - f64::from(self.offset as i32) / 65_536.0) as f32;
        let mut differences = 0;
        for integer in integers {
            let middle = f32::from(*integer as i16) + before;
            // Adding this rounds, and leaves the number in the lowest bits.
            let number = (middle * per_integer + 12_582_912.0).to_bits() as u16;
            differences |= self.integer(number) ^ *integer;
            *integer = number;
        }
        differences == 0
    }
}
