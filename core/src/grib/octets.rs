//! Numbers in a section of a message, by the octet numbers of the WMO's Manual on Codes.

use super::GribError;

/// One section including its header: octet n of the manual is `bytes[n - 1]`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Octets<'a> {
    pub section: u8,
    pub bytes: &'a [u8],
}

impl<'a> Octets<'a> {
    pub(super) fn u8(self, octet: usize) -> Result<u8, GribError> {
        self.array::<1>(octet).map(|[byte]| byte)
    }

    pub(super) fn u16(self, octet: usize) -> Result<u16, GribError> {
        self.array(octet).map(u16::from_be_bytes)
    }

    pub(super) fn u32(self, octet: usize) -> Result<u32, GribError> {
        self.array(octet).map(u32::from_be_bytes)
    }

    pub(super) fn f32(self, octet: usize) -> Result<f32, GribError> {
        self.array(octet).map(f32::from_be_bytes)
    }

    /// A signed number of two octets: the highest bit is the sign, the others the magnitude.
    pub(super) fn i16(self, octet: usize) -> Result<i32, GribError> {
        self.u16(octet).map(|raw| signed(raw.into(), 16))
    }

    /// The same in four octets.
    pub(super) fn i32(self, octet: usize) -> Result<i32, GribError> {
        self.u32(octet).map(|raw| signed(raw, 32))
    }

    /// A scale factor in one octet and a value in four: value · 10^−factor. `None` if either is
    /// missing, which means that all its bits are set.
    pub(super) fn scaled(self, octet: usize) -> Result<Option<f64>, GribError> {
        let (factor, value) = (self.u8(octet)?, self.u32(octet + 1)?);
        if factor == u8::MAX || value == u32::MAX {
            return Ok(None);
        }
        let power = libm::pow(10.0, f64::from(signed(factor.into(), 8).abs()));
        let value = f64::from(signed(value, 32));
        // Division by a power of ten is exact to the last bit, multiplication by its inverse is not.
        Ok(Some(if signed(factor.into(), 8) < 0 { value * power } else { value / power }))
    }

    /// The octets from an octet number on.
    pub(super) fn from(self, octet: usize) -> &'a [u8] {
        self.bytes.get(octet - 1..).unwrap_or_default()
    }

    fn array<const N: usize>(self, octet: usize) -> Result<[u8; N], GribError> {
        let short = GribError::ShortSection { section: self.section, octets: self.bytes.len() };
        self.from(octet).first_chunk().copied().ok_or(short)
    }
}

/// Reads a number of this many bits whose highest bit is the sign.
pub(super) fn signed(raw: u32, bits: u32) -> i32 {
    let sign = 1_u32 << (bits - 1);
    let magnitude = (raw & (sign - 1)) as i32;
    if raw & sign == 0 { magnitude } else { -magnitude }
}

/// Numbers of a few bits each, one after another, highest bit first.
#[derive(Clone, Debug)]
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Bits<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the next number of up to 32 bits. Beyond the end all bits are zero; callers check
    /// the length before.
    #[inline]
    pub(super) fn read(&mut self, bits: u32) -> u32 {
        if bits == 0 {
            return 0;
        }
        let (window, _) = self.window();
        self.at += bits as usize;
        // At most 7 + 32 of the 64 bits are used.
        (window >> (64 - bits)) as u32
    }

    /// Reads a count for each place: how many zeros come before a one. `None` if the bits end before.
    #[inline]
    pub(super) fn counts(&mut self, counts: &mut [u32]) -> Option<()> {
        let (mut window, mut end) = self.window();
        for count in counts {
            let mut before = 0;
            while window == 0 {
                before += end - self.at;
                self.at = end;
                if self.at >= self.bytes.len() * 8 {
                    return None;
                }
                (window, end) = self.window();
            }
            let zeros = window.leading_zeros();
            // All 64 at most, which is too many for one shift.
            window = window << zeros << 1;
            self.at += zeros as usize + 1;
            *count = u32::try_from(before + zeros as usize).ok()?;
        }
        Some(())
    }

    /// Returns the bits from here on, the first one highest, and where they end.
    #[inline]
    fn window(&self) -> (u64, usize) {
        let byte = self.at / 8;
        let rest = self.bytes.get(byte..).unwrap_or_default();
        let window = if let Some(window) = rest.first_chunk() {
            u64::from_be_bytes(*window)
        } else {
            let mut window = [0; 8];
            window[..rest.len()].copy_from_slice(rest);
            u64::from_be_bytes(window)
        };
        (window << (self.at % 8), 8 * byte + 64)
    }

    /// Moves to the next whole octet.
    pub(super) fn align(&mut self) {
        self.at = self.at.next_multiple_of(8);
    }

    /// Skips this many bits.
    pub(super) fn skip(&mut self, bits: usize) {
        self.at += bits;
    }

    /// How many bits are left.
    pub(super) fn left(&self) -> usize {
        (self.bytes.len() * 8).saturating_sub(self.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_numbers_have_a_sign_and_a_magnitude() {
        let octets = Octets { section: 3, bytes: &[0x80, 0x01, 0x7f, 0xff, 0x80, 0, 0, 5] };
        assert_eq!(octets.i16(1).unwrap(), -1);
        assert_eq!(octets.i16(3).unwrap(), 32767);
        assert_eq!(octets.i32(5).unwrap(), -5);
        let short = octets.u16(8).unwrap_err();
        assert_eq!(short.to_string(), "section 3 is cut short: it has 8 octets");
    }

    #[test]
    fn a_scaled_value_may_be_missing() {
        let scaled = |bytes| Octets { section: 4, bytes }.scaled(1).unwrap();
        assert_eq!(scaled(&[1, 0, 0, 0, 25]), Some(2.5));
        assert_eq!(scaled(&[0x82, 0, 0, 0, 5]), Some(500.0));
        assert_eq!(scaled(&[255, 0, 0, 0, 5]), None);
        assert_eq!(scaled(&[0, 255, 255, 255, 255]), None);
    }

    #[test]
    fn bits_are_read_across_octets_and_to_the_end() {
        let mut bits = Bits::new(&[0b1010_1100, 0b0101_0011, 0xff, 0x00, 0x12]);
        assert_eq!([bits.read(3), bits.read(0), bits.read(10)], [0b101, 0, 0b01100_01010]);
        bits.align();
        assert_eq!(bits.left(), 24);
        assert_eq!([bits.read(16), bits.read(8), bits.read(8)], [0xff00, 0x12, 0]);
        let mut wide = Bits::new(&[0x01, 0xff, 0xff, 0xff, 0xfe]);
        assert_eq!([wide.read(7), wide.read(32)], [0, u32::MAX]);
    }
}
