//! From packed numbers to values: sections 5 to 7.
//!
//! A value is (R + X·2^E) / 10^D (regulation 92.9.4), with X the packed number.

use super::ccsds::Coding;
use super::octets::{Bits, Octets, signed};
use super::{GribError, codec};

/// The steps in which the values of a field are packed: every value is (`reference` + n · `binary`)
/// / `decimal` with a whole number n.
#[cfg(feature = "model")]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Steps {
    /// The reference value R.
    pub reference: f64,
    /// 2^E.
    pub binary: f64,
    /// 10^D.
    pub decimal: f64,
}

/// Returns the steps of a field; `None` if it packs no numbers, or packs them in another way.
#[cfg(feature = "model")]
pub(super) fn steps(section: Octets<'_>) -> Result<Option<Steps>, GribError> {
    if !matches!(section.u16(10)?, 0 | 2 | 3 | 40 | 41 | 42) || is_of_one_value(section)? {
        return Ok(None);
    }
    let Scale { reference, binary, decimal, .. } = Scale::read(section)?;
    Ok(Some(Steps { reference, binary, decimal }))
}

/// The part common to all packings: octets 12 to 20 of section 5.
struct Scale {
    reference: f64,
    binary: f64,
    decimal: f64,
    /// Bits of a packed number; in complex packing, bits of a group's reference.
    bits: u32,
}

impl Scale {
    fn read(section: Octets<'_>) -> Result<Self, GribError> {
        let (binary, decimal) = (section.i16(16)?, section.i16(18)?);
        let scale = Self {
            reference: section.f32(12)?.into(),
            binary: libm::ldexp(1.0, binary),
            decimal: libm::pow(10.0, f64::from(decimal)),
            bits: section.u8(20)?.into(),
        };
        let usable = scale.reference.is_finite()
            && scale.binary.is_finite()
            && scale.decimal.is_normal()
            && scale.value(0).is_finite();
        if scale.bits > 32 {
            let (what, allowed) = ("number of bits", "0 to 32");
            return Err(GribError::Unsupported { what, got: scale.bits, allowed });
        }
        if usable { Ok(scale) } else { Err(GribError::NotFinite) }
    }

    #[inline]
    fn value(&self, packed: i64) -> f32 {
        ((self.reference + packed as f64 * self.binary) / self.decimal) as f32
    }
}

/// Returns whether the field is constant, so that no values are packed.
pub(super) fn is_of_one_value(section: Octets<'_>) -> Result<bool, GribError> {
    Ok(match section.u16(10)? {
        0 | 40 | 41 | 42 => section.u8(20)? == 0,
        // Without groups there is nothing but the reference.
        2 | 3 => section.u32(32)? == 0,
        _ => false,
    })
}

/// Returns the value of a constant field.
pub(super) fn one_value(section: Octets<'_>, points: usize) -> Result<f32, GribError> {
    check_count(section.u32(6)? as usize, points)?;
    constant(&Scale::read(section)?)
}

/// The value of a constant field. By regulation 92.9.4 it is R / 10^D, but NCEP's library and
/// ecCodes write and read R (wgrib2's `Changes`, v0.1.7.8). If the two differ, it is unknown which
/// one the producer meant.
fn constant(scale: &Scale) -> Result<f32, GribError> {
    let (value, scaled) = (scale.reference as f32, scale.value(0));
    if value != scaled {
        return Err(GribError::Constant { value, scaled });
    }
    Ok(value)
}

fn check_count(packed: usize, here: usize) -> Result<(), GribError> {
    if packed == here {
        return Ok(());
    }
    Err(GribError::Mismatch {
        what: "number of packed values",
        got: packed as u64,
        expected: here as u64,
    })
}

/// Returns the values of a field in the order of the message; NaN where a value is missing.
pub(super) fn unpack(
    section: Octets<'_>,
    data: Octets<'_>,
    bitmap: Option<&[u8]>,
    points: usize,
) -> Result<Vec<f32>, GribError> {
    let packed = section.u32(6)? as usize;
    let here = match bitmap {
        None => points,
        Some(bitmap) => present(bitmap, points)?,
    };
    check_count(packed, here)?;
    let data = data.from(6);
    let values = match section.u16(10)? {
        4 => ieee(section.u8(12)?, data, packed)?,
        template => scaled(template, section, data, packed)?,
    };
    // Without an early end, several values are compared at once.
    if values.iter().fold(false, |found, value| found | value.is_infinite()) {
        return Err(GribError::NotFinite);
    }
    Ok(match bitmap {
        None => values,
        Some(bitmap) => spread(&values, bitmap, points),
    })
}

/// Unpacks values that are integers on a scale.
fn scaled(
    template: u16,
    section: Octets<'_>,
    data: &[u8],
    packed: usize,
) -> Result<Vec<f32>, GribError> {
    // Other templates have other octets, or fewer.
    if !matches!(template, 0 | 2 | 3 | 40 | 41 | 42) {
        return Err(unsupported(template));
    }
    let scale = Scale::read(section)?;
    Ok(match template {
        _ if is_of_one_value(section)? => vec![constant(&scale)?; packed],
        0 => simple(&scale, data, packed)?,
        2 | 3 => complex(&scale, section, template == 3, data, packed)?,
        40 => codec::jpeg2000(data, packed, |number| scale.value(number))?,
        41 => codec::png(data, packed, |number| scale.value(number))?,
        _ => {
            let (flags, block, interval) = (section.u8(22)?, section.u8(23)?, section.u16(24)?);
            let coding = Coding::new(scale.bits, flags, block, interval)?;
            coding.decode(data, packed, |number| scale.value(number.into()))?
        }
    })
}

/// Names a packing that is not supported (code table 5.0).
fn unsupported(template: u16) -> GribError {
    let what = match template {
        1 => "packing template (a matrix of values at each point)",
        50 | 51 | 53 => "packing template (spherical harmonics)",
        61 => "packing template (logarithms)",
        200 => "packing template (run lengths of levels)",
        _ => "packing template",
    };
    GribError::Unsupported {
        what,
        got: template.into(),
        allowed: "0 (simple), 2 and 3 (complex), 4 (IEEE), 40 (JPEG 2000), 41 (PNG), 42 (CCSDS)",
    }
}

/// Template 7.4: numbers of IEEE 754 of 32 or 64 bits (code table 5.7), which may be NaN.
fn ieee(precision: u8, data: &[u8], packed: usize) -> Result<Vec<f32>, GribError> {
    let (singles, doubles) = (data.as_chunks::<4>().0, data.as_chunks::<8>().0);
    let values: Vec<f32> = match precision {
        1 => singles.iter().take(packed).map(|octets| f32::from_be_bytes(*octets)).collect(),
        2 => doubles.iter().take(packed).map(|octets| f64::from_be_bytes(*octets) as f32).collect(),
        got => {
            let (what, allowed) = ("IEEE precision", "1 (32 bits), 2 (64 bits)");
            return Err(GribError::Unsupported { what, got: got.into(), allowed });
        }
    };
    check_count(packed, values.len())?;
    Ok(values)
}

/// Counts the points that have a value according to the bit map.
fn present(bitmap: &[u8], points: usize) -> Result<usize, GribError> {
    let Some(whole) = bitmap.get(..points.div_ceil(8)) else {
        return Err(GribError::Mismatch {
            what: "number of octets in the bit map",
            got: bitmap.len() as u64,
            expected: points.div_ceil(8) as u64,
        });
    };
    let ones: usize = whole.iter().map(|octet| octet.count_ones() as usize).sum();
    let beyond = match (whole.last(), points % 8) {
        (Some(last), used @ 1..) => (last << used).count_ones() as usize,
        _ => 0,
    };
    Ok(ones - beyond)
}

fn spread(values: &[f32], bitmap: &[u8], points: usize) -> Vec<f32> {
    let mut values = values.iter().copied();
    let mut bits = Bits::new(bitmap);
    let mut value = || if bits.read(1) == 1 { values.next() } else { None }.unwrap_or(f32::NAN);
    (0..points).map(|_| value()).collect()
}

/// Template 7.0: one number after another.
fn simple(scale: &Scale, data: &[u8], packed: usize) -> Result<Vec<f32>, GribError> {
    let mut bits = Bits::new(data);
    bits.needs(packed.saturating_mul(scale.bits as usize))?;
    Ok((0..packed).map(|_| scale.value(bits.read(scale.bits).into())).collect())
}

/// Templates 7.2 and 7.3: groups of numbers close to each other, stored as offsets from the least
/// of the group; with `differences`, the numbers are differences between neighbours.
fn complex(
    scale: &Scale,
    section: Octets<'_>,
    differences: bool,
    data: &[u8],
    packed: usize,
) -> Result<Vec<f32>, GribError> {
    let code = |what, got: u8, allowed| GribError::Unsupported { what, got: got.into(), allowed };
    let missing = match section.u8(23)? {
        kinds @ 0..=2 => u32::from(kinds),
        got => return Err(code("missing value management", got, "0, 1, 2")),
    };
    let groups = section.u32(32)? as usize;
    if groups > packed {
        return Err(GribError::Mismatch {
            what: "number of groups",
            got: groups as u64,
            expected: packed as u64,
        });
    }
    let (least_width, width_bits) = (u32::from(section.u8(36)?), u32::from(section.u8(37)?));
    let (least_length, length_step) = (section.u32(38)?, u32::from(section.u8(42)?));
    let (last_length, length_bits) = (section.u32(43)?, u32::from(section.u8(47)?));
    if width_bits > 32 || length_bits > 32 {
        let got = width_bits.max(length_bits) as u8;
        return Err(code("number of bits of a group width or length", got, "0 to 32"));
    }
    let (mut differenced, data) = if differences {
        SpatialDifferences::read(section.u8(48)?, section.u8(49)?, data)?
    } else {
        (SpatialDifferences::default(), data)
    };

    let mut rest = Bits::new(data);
    let mut references = rest.table(groups, scale.bits)?;
    let mut widths = rest.table(groups, width_bits)?;
    let mut lengths = rest.table(groups, length_bits)?;

    let mut values = Vec::with_capacity(packed);
    for group in 1..=groups {
        let reference = i64::from(references.read(scale.bits));
        let width = u64::from(least_width) + u64::from(widths.read(width_bits));
        let length = u64::from(lengths.read(length_bits)) * u64::from(length_step);
        let length =
            if group == groups { u64::from(last_length) } else { u64::from(least_length) + length };
        let left = (packed - values.len()) as u64;
        if length > left {
            let what = "length of a group";
            return Err(GribError::Mismatch { what, got: length, expected: left });
        }
        let (0..=32, length) = (width, length as usize) else {
            return Err(GribError::Mismatch {
                what: "number of bits in a group",
                got: width,
                expected: 32,
            });
        };
        let width = width as u32;
        rest.needs(length * width as usize)?;
        // A group of equal numbers stores only its reference.
        let all_missing = width == 0 && is_missing(reference, scale.bits, missing);
        for _ in 0..length {
            let above = i64::from(rest.read(width));
            let is_gone = all_missing || width > 0 && is_missing(above, width, missing);
            values.push(if is_gone {
                f32::NAN
            } else {
                scale.value(differenced.next(reference + above))
            });
        }
    }
    if values.len() != packed {
        return Err(GribError::Mismatch {
            what: "number of values in the groups",
            got: values.len() as u64,
            expected: packed as u64,
        });
    }
    Ok(values)
}

/// Whether a number of this many bits marks a missing value: the greatest one does, and if there
/// are two kinds of missing values, so does the one below it (note 1 of code table 5.5). With no
/// bits at all, the greatest number is 0. So a group of width 0 in a message without bits for its
/// references is missing; the programs of NCEP, ecCodes and GDAL read it so too.
fn is_missing(number: i64, bits: u32, kinds: u32) -> bool {
    let greatest = (1_i64 << bits) - 1;
    kinds > 0 && (number == greatest || kinds == 2 && number == greatest - 1)
}

/// Undoes spatial differences (notes of template 7.3).
#[derive(Debug, Default)]
struct SpatialDifferences {
    /// 0 if the numbers are not differences.
    order: usize,
    /// The first numbers, which are stored directly; then empty.
    firsts: [i64; 2],
    taken: usize,
    /// The least of the differences, which is subtracted from all of them.
    least: i64,
    /// The previous number, and the one before it.
    before: [i64; 2],
}

impl SpatialDifferences {
    fn read(order: u8, octets: u8, data: &[u8]) -> Result<(Self, &[u8]), GribError> {
        let (order, octets) = match (order, octets) {
            (1 | 2, 1..=4) => (usize::from(order), usize::from(octets)),
            (1 | 2, _) => {
                let (what, got) = ("number of octets of a first value", octets.into());
                return Err(GribError::Unsupported { what, got, allowed: "1 to 4" });
            }
            _ => {
                let (what, got) = ("order of spatial differences", order.into());
                return Err(GribError::Unsupported { what, got, allowed: "1, 2" });
            }
        };
        let mut bits = Bits::new(data);
        let width = 8 * octets as u32;
        bits.needs((order + 1) * octets * 8)?;
        let mut firsts = [0; 2];
        for first in &mut firsts[..order] {
            *first = i64::from(bits.read(width));
        }
        let least = i64::from(signed(bits.read(width), width));
        let rest = &data[(order + 1) * octets..];
        Ok((Self { order, firsts, taken: 0, least, before: [0; 2] }, rest))
    }

    /// Returns the number that a difference leads to. In a damaged message this may go beyond any
    /// meaningful number: then the result is as meaningless as its input, so the sums may wrap.
    #[inline]
    fn next(&mut self, number: i64) -> i64 {
        if self.order == 0 {
            return number;
        }
        let [last, last_but_one] = self.before;
        let number = if self.taken < self.order {
            self.taken += 1;
            self.firsts[self.taken - 1]
        } else {
            let difference = number.wrapping_add(self.least);
            match self.order {
                1 => difference.wrapping_add(last),
                _ => difference.wrapping_add(last.wrapping_mul(2)).wrapping_sub(last_but_one),
            }
        };
        self.before = [number, last];
        number
    }
}

impl Bits<'_> {
    /// Reads numbers of this many bits each, which together fill whole octets, and moves past them.
    fn table(&mut self, count: usize, bits: u32) -> Result<Self, GribError> {
        let table = self.clone();
        let all = count.saturating_mul(bits as usize);
        self.needs(all)?;
        self.skip(all);
        self.align();
        Ok(table)
    }

    /// Checks that this many bits are left.
    pub(super) fn needs(&self, bits: usize) -> Result<(), GribError> {
        if bits <= self.left() {
            return Ok(());
        }
        Err(GribError::Mismatch {
            what: "number of bits in the data section",
            got: self.left() as u64,
            expected: bits as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_second_order_are_undone() {
        // 3, 5, then second differences 0 (7), 4 (13), −1 (18), each 1 above the least of −1.
        let (mut differenced, rest) = SpatialDifferences::read(2, 1, &[3, 5, 0x81, 9]).unwrap();
        let numbers = [0, 0, 1, 5, 0].map(|number| differenced.next(number));
        assert_eq!((numbers, rest), ([3, 5, 7, 13, 18], &[9][..]));
        assert!(SpatialDifferences::read(2, 1, &[3, 5]).is_err());
        assert!(SpatialDifferences::read(255, 1, &[0; 9]).is_err());
        assert!(SpatialDifferences::read(1, 5, &[0; 9]).is_err());
    }

    #[test]
    fn the_greatest_numbers_of_a_group_are_missing_values() {
        assert!(is_missing(7, 3, 1) && !is_missing(6, 3, 1) && is_missing(6, 3, 2));
        assert!(!is_missing(7, 3, 0) && is_missing(0, 0, 1) && is_missing(0, 0, 2));
    }

    #[test]
    fn a_bit_map_counts_only_its_points() {
        assert_eq!(present(&[0b1010_0000, 0b1111_1111], 11), Ok(5));
        assert_eq!(present(&[0xff, 0xff], 16), Ok(16));
        assert!(present(&[0xff], 9).is_err());
        let spread = spread(&[1.0, 2.0], &[0b0100_1000], 5);
        let known: Vec<_> =
            spread.iter().map(|value| (!value.is_nan()).then_some(*value)).collect();
        assert_eq!(known, [None, Some(1.0), None, None, Some(2.0)]);
    }
}
