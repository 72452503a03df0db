//! Checksums of the content of a record: the same in every build and for every store.

use std::hash::Hasher;
use std::ops::AddAssign;

use crate::store::StoredReport;

/// The sum of the checksums of some readings; it does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum(pub u64);

impl AddAssign<u64> for Sum {
    fn add_assign(&mut self, more: u64) {
        self.0 = self.0.wrapping_add(more);
    }
}

/// The checksum of a reading, from all of its parts.
pub(super) fn reading(series: i32, ts_ms: i64, value: f64, codes: [u8; 4]) -> u64 {
    let mut sum = mixed(u64::from(series as u32) ^ 0x9e37_79b9_7f4a_7c15);
    sum = mixed(sum ^ ts_ms as u64);
    sum = mixed(sum ^ value.to_bits());
    mixed(sum ^ u64::from(u32::from_le_bytes(codes)))
}

/// The checksum of the weather of a report.
pub(super) fn weather(ts_ms: i64, revision: u8, words: &[String]) -> u64 {
    let mut hasher = Fnv::default();
    hasher.write_i64(ts_ms);
    hasher.write_u8(revision);
    for word in words {
        hasher.write_u64(word.len() as u64);
        hasher.write(word.as_bytes());
    }
    mixed(hasher.finish())
}

/// The checksum of the text of a report.
pub(super) fn text(kept: &StoredReport<'_>) -> u64 {
    let mut hasher = Fnv::default();
    hasher.write_i64(kept.ts_ms);
    hasher.write_u8(kept.revision);
    for text in [kept.header.unwrap_or_default(), kept.text] {
        hasher.write_u64(text.len() as u64);
        hasher.write(text.as_bytes());
    }
    mixed(!hasher.finish())
}

/// Every bit of the result depends on every bit of the number: the last step of SplitMix64 (Steele,
/// Lea and Flood 2014, with the constants of Stafford's variant 13).
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// FNV-1a: the numbers are kept, so they must be the same in every build.
pub(super) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.write(&number.to_le_bytes());
    }

    fn write_i64(&mut self, number: i64) {
        self.write(&number.to_le_bytes());
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
