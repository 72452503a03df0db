//! Which times of a row a series has, as bits, the lowest first.

use std::ops::Range;

/// Counts the bits that are set among the first ones.
pub(super) fn bits_before(bits: &[u8], count: usize) -> usize {
    let (words, rest) = bits[..count / 8].as_chunks::<8>();
    let words: u32 = words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum();
    let rest: u32 = rest.iter().map(|byte| byte.count_ones()).sum();
    let part = match count % 8 {
        0 => 0,
        left => (bits[count / 8] & ((1 << left) - 1)).count_ones(),
    };
    (words + rest + part) as usize
}

/// Visits the places of the bits that are set in a range.
pub(super) fn for_bits(bits: &[u8], range: Range<usize>, mut visit: impl FnMut(usize)) {
    let bytes = range.start / 8..range.end.div_ceil(8);
    for (byte, &bits) in bytes.clone().zip(&bits[bytes]) {
        let mut left = bits;
        while left != 0 {
            let place = byte * 8 + left.trailing_zeros() as usize;
            if range.contains(&place) {
                visit(place);
            }
            left &= left - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_and_visited_as_one_by_one() {
        let bits: Vec<u8> =
            (0..40_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        let is_set = |place: usize| bits[place / 8] >> (place % 8) & 1 == 1;
        for (from, to) in [(0, 320), (0, 0), (3, 3), (7, 9), (63, 129), (100, 319), (319, 320)] {
            let expected: Vec<usize> = (from..to).filter(|&place| is_set(place)).collect();
            let mut found = Vec::new();
            for_bits(&bits, from..to, |place| found.push(place));
            assert_eq!(found, expected);
            assert_eq!(bits_before(&bits, to) - bits_before(&bits, from), expected.len());
        }
    }
}
