//! Numbers packed by CCSDS 121.0-B, lossless data compression: template 7.42.
//!
//! A stream is a sequence of blocks of 8 to 64 numbers. The first bits of a block say how its numbers
//! are coded: each in two parts (a count of zeros, and some low bits), in pairs, raw, or not at all
//! because they are zero. With prediction, the numbers are differences to those before them, and each
//! interval of so many blocks begins with a number itself, the reference.

use super::GribError;
use super::octets::Bits;

/// The most numbers of a block.
const MOST: usize = 64;

/// The blocks of a segment: a run of zero blocks can reach to its end.
const SEGMENT: usize = 64;

/// Numbers of a pair have a sum of up to 12, so there are 1 + 2 + 3 … + 13 pairs.
const PAIRS: usize = 91;

/// The pairs of the second-extension option in the order of their codes.
const PAIR: [[u8; 2]; PAIRS] = {
    let mut pairs = [[0; 2]; PAIRS];
    let (mut code, mut sum) = (0, 0);
    while code < PAIRS {
        let mut second = 0;
        while second <= sum {
            pairs[code] = [sum - second, second];
            (code, second) = (code + 1, second + 1);
        }
        sum += 1;
    }
    pairs
};

/// How a stream is coded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coding {
    /// Bits of a number.
    bits: u32,
    /// Bits of the number of a block's option.
    option_bits: u32,
    /// Numbers of a block.
    block: usize,
    /// Blocks of an interval.
    interval: usize,
    /// The numbers are differences to predicted ones.
    is_predicted: bool,
    /// Intervals begin at an octet.
    is_padded: bool,
}

fn failed(reason: impl Into<String>) -> GribError {
    GribError::Codec { codec: "CCSDS", reason: reason.into() }
}

impl Coding {
    /// Takes the bits of a number, and the octets 22 to 25 of section 5: flags, block length and
    /// reference sample interval. The flags are those of libaec, which template 5.42 refers to.
    pub(super) fn new(bits: u32, flags: u8, block: u8, interval: u16) -> Result<Self, GribError> {
        const SIGNED: u8 = 1;
        const PREDICTED: u8 = 8;
        const RESTRICTED: u8 = 16;
        const PADDED: u8 = 32;
        if flags & SIGNED != 0 {
            return Err(failed("signed numbers are not supported"));
        }
        if !matches!(bits, 1..=32) {
            return Err(failed(format!("numbers of {bits} bits; allowed: 1 to 32")));
        }
        if !matches!(block, 8 | 16 | 32 | 64) {
            return Err(failed(format!("blocks of {block} numbers; allowed: 8, 16, 32, 64")));
        }
        if interval == 0 {
            return Err(failed("intervals of 0 blocks; allowed: 1 to 65535"));
        }
        let option_bits = match bits {
            1 | 2 if flags & RESTRICTED != 0 => 1,
            3 | 4 if flags & RESTRICTED != 0 => 2,
            0..=8 => 3,
            9..=16 => 4,
            _ => 5,
        };
        Ok(Self {
            bits,
            option_bits,
            block: block.into(),
            interval: interval.into(),
            is_predicted: flags & PREDICTED != 0,
            is_padded: flags & PADDED != 0,
        })
    }

    /// Decodes this many numbers, and returns the value of each.
    pub(super) fn decode<T: Copy>(
        self,
        data: &[u8],
        count: usize,
        value: impl Fn(u32) -> T,
    ) -> Result<Vec<T>, GribError> {
        // No bit stands for more numbers than a segment has.
        let most = data.len().saturating_mul(8 * SEGMENT * self.block);
        if count > most {
            return Err(failed(format!("{} octets for {count} values", data.len())));
        }
        let mut values = Vec::with_capacity(count);
        let mut decoder = Decoder { coding: self, bits: Bits::new(data), last: 0 };
        let mut at = 0;
        let mut buffer = [0; MOST];
        let numbers = &mut buffer[..self.block];
        while values.len() < count {
            let left = count - values.len();
            match decoder.block(at, numbers)? {
                Block::Numbers => {
                    let numbers = &numbers[..left.min(self.block)];
                    values.extend(numbers.iter().map(|number| value(*number)));
                    at += 1;
                }
                Block::Same { number, blocks } => {
                    let length = left.min(blocks * self.block);
                    values.resize(values.len() + length, value(number));
                    at += blocks;
                }
            }
            if at == self.interval {
                at = 0;
                if self.is_padded {
                    decoder.bits.align();
                }
            }
        }
        Ok(values)
    }
}

/// What a block holds, or several at once.
enum Block {
    Numbers,
    Same { number: u32, blocks: usize },
}

struct Decoder<'a> {
    coding: Coding,
    bits: Bits<'a>,
    /// The last number, if numbers are predicted from it.
    last: u32,
}

impl Decoder<'_> {
    /// Decodes a block, given how many blocks of its interval came before.
    #[inline]
    fn block(&mut self, at: usize, numbers: &mut [u32]) -> Result<Block, GribError> {
        let Coding { bits, option_bits, is_predicted, .. } = self.coding;
        let option = self.read(option_bits)?;
        let raw = (1 << option_bits) - 1;
        let is_pairs = option == 0 && self.read(1)? == 1;
        let has_reference = is_predicted && at == 0;
        if has_reference {
            self.last = self.read(bits)?;
        }
        let first = usize::from(has_reference);
        if option == raw {
            self.raw(&mut numbers[first..])?;
        } else if option > 0 {
            self.split(option - 1, &mut numbers[first..])?;
        } else if is_pairs {
            self.pairs(numbers)?;
        } else {
            let blocks = self.zero_blocks(at)?;
            return Ok(Block::Same { number: self.last, blocks });
        }
        if has_reference {
            numbers[0] = self.last;
        }
        if is_predicted {
            self.undo(&mut numbers[first..]);
        }
        Ok(Block::Numbers)
    }

    fn read(&mut self, bits: u32) -> Result<u32, GribError> {
        self.bits.needs(bits as usize)?;
        Ok(self.bits.read(bits))
    }

    /// Numbers as they are: the no-compression option.
    fn raw(&mut self, numbers: &mut [u32]) -> Result<(), GribError> {
        let bits = self.coding.bits;
        self.bits.needs(numbers.len() * bits as usize)?;
        numbers.fill_with(|| self.bits.read(bits));
        Ok(())
    }

    /// The high parts of all numbers as counts of zeros, then their low parts: the split-sample option.
    #[inline]
    fn split(&mut self, low: u32, numbers: &mut [u32]) -> Result<(), GribError> {
        let bits = self.coding.bits;
        if low > bits {
            return Err(failed(format!("{low} low bits of numbers of {bits} bits")));
        }
        let greatest = (u32::MAX >> (32 - bits)) >> low;
        self.counts(numbers, greatest)?;
        if low > 0 {
            self.bits.needs(numbers.len() * low as usize)?;
            for number in numbers {
                *number = *number << low | self.bits.read(low);
            }
        }
        Ok(())
    }

    /// Pairs of small numbers. The first number of an interval is there too, although its reference
    /// takes its place.
    fn pairs(&mut self, numbers: &mut [u32]) -> Result<(), GribError> {
        let mut codes = [0; MOST / 2];
        let codes = &mut codes[..numbers.len() / 2];
        self.counts(codes, PAIRS as u32 - 1)?;
        let greatest = u32::MAX >> (32 - self.coding.bits);
        for (pair, code) in numbers.as_chunks_mut().0.iter_mut().zip(codes) {
            *pair = PAIR[*code as usize].map(u32::from);
            if pair[0].max(pair[1]) > greatest {
                return Err(too_great(pair[0].max(pair[1]), greatest));
            }
        }
        Ok(())
    }

    /// Counts the blocks of zeros from here on: the zero-block option.
    fn zero_blocks(&mut self, at: usize) -> Result<usize, GribError> {
        let mut code = [0];
        self.counts(&mut code, u16::MAX.into())?;
        let left = self.coding.interval - at;
        let blocks = match code[0] as usize {
            code @ 0..=3 => code + 1,
            // To the end of the segment.
            4 => left.min(SEGMENT - at % SEGMENT),
            code => code,
        };
        if blocks > left {
            let reason = format!("a run of {blocks} blocks where {left} are left in the interval");
            return Err(failed(reason));
        }
        Ok(blocks)
    }

    /// Reads counts of zeros: the fundamental sequence.
    #[inline]
    fn counts(&mut self, counts: &mut [u32], greatest: u32) -> Result<(), GribError> {
        self.bits.counts(counts).ok_or_else(|| failed("it is cut short"))?;
        let most = counts.iter().copied().fold(0, u32::max);
        if most > greatest { Err(too_great(most, greatest)) } else { Ok(()) }
    }

    /// Turns differences into numbers. Small ones alternate in sign. One that is greater than the way
    /// to the nearer end of the range can go in one direction only: it is the way from that end.
    #[inline]
    fn undo(&mut self, numbers: &mut [u32]) {
        let greatest = u32::MAX >> (32 - self.coding.bits);
        let mut last = self.last;
        for number in numbers {
            let code = *number;
            let end = if last > greatest / 2 { greatest } else { 0 };
            let (half, sign) = (code / 2, (code & 1).wrapping_neg());
            last = if half + (code & 1) <= last ^ end {
                last.wrapping_add(half ^ sign)
            } else {
                end ^ code
            };
            *number = last;
        }
        self.last = last;
    }
}

fn too_great(got: u32, greatest: u32) -> GribError {
    failed(format!("a code of {got}; the greatest allowed is {greatest}"))
}

#[cfg(test)]
#[path = "ccsds_tests.rs"]
mod tests;
