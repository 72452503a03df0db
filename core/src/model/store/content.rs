//! The planes of a shard, as stated in the shard itself.
//!
//! A product may get further levels, or a wider packing, after some of its shards were written. A
//! shard must be readable before, while and after it is written again. So every shard states its
//! own planes and packing, between its chunks and its index: Zarr allows a gap there.

use super::definition::ProductDefinition;
use crate::grid::Encoding;

/// The identity of a plane: its member (0 where there is none), and the bits of its pressure in hPa
/// (0 at a single level).
pub(super) type Plane = [u64; 2];

/// The bytes in addition to those of the planes: owner, scale, offset, nodata, number of planes,
/// checksum.
const FIXED: usize = 4 + 8 + 8 + 2 + 4 + 4;
const PLANE: usize = 16;

/// The planes of a shard and their packing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Content {
    pub planes: Vec<Plane>,
    pub encoding: Encoding,
}

impl ProductDefinition {
    /// Returns the planes of a shard, in order.
    pub(super) fn planes(&self) -> Vec<Plane> {
        match &self.levels_hpa {
            None => vec![[0, 0]],
            Some(levels_hpa) => levels_hpa.iter().map(|hpa| [0, hpa.to_bits()]).collect(),
        }
    }
}

impl Content {
    /// The content that the shards of a product should have.
    pub(super) fn of(product: &ProductDefinition) -> Self {
        Self { planes: product.planes(), encoding: product.encoding }
    }

    /// Returns the bytes that state the owner of a shard and its content.
    pub(super) fn to_bytes(&self, owner: u32) -> Vec<u8> {
        let mut bytes = owner.to_le_bytes().to_vec();
        bytes.extend(self.planes.as_flattened().iter().flat_map(|half| half.to_le_bytes()));
        let encoding = self.encoding;
        bytes.extend(encoding.scale().to_le_bytes());
        bytes.extend(encoding.offset().to_le_bytes());
        bytes.extend(encoding.nodata().to_le_bytes());
        bytes.extend((self.planes.len() as u32).to_le_bytes());
        bytes.extend(crc32c::crc32c(&bytes).to_le_bytes());
        bytes
    }

    /// Reads the content of a shard from the bytes before its index, with the owner and the number
    /// of bytes; `None` if the bytes do not state it.
    pub(super) fn read(before_index: &[u8]) -> Option<(Self, u32, usize)> {
        let (rest, &checksum) = before_index.split_last_chunk::<4>()?;
        let (rest, &count) = rest.split_last_chunk::<4>()?;
        let count = u32::from_le_bytes(count) as usize;
        let length = count.checked_mul(PLANE)?.checked_add(FIXED)?;
        let start = before_index.len().checked_sub(length)?;
        let stated = &before_index[start..before_index.len() - 4];
        if crc32c::crc32c(stated).to_le_bytes() != checksum {
            return None;
        }
        let (rest, &nodata) = rest.split_last_chunk::<2>()?;
        let (rest, &offset) = rest.split_last_chunk::<8>()?;
        let (_, &scale) = rest.split_last_chunk::<8>()?;
        let encoding = Encoding::new(
            f64::from_le_bytes(scale),
            f64::from_le_bytes(offset),
            i16::from_le_bytes(nodata),
        );
        let (&owner, planes) = stated.split_first_chunk::<4>()?;
        let halves = planes.as_chunks::<8>().0.iter().copied().map(u64::from_le_bytes);
        let halves: Vec<u64> = halves.take(2 * count).collect();
        let content = Self { planes: halves.as_chunks::<2>().0.to_vec(), encoding: encoding.ok()? };
        Some((content, u32::from_le_bytes(owner), length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_states_its_content() {
        let encoding = Encoding::new(0.5, 100.0, i16::MIN).unwrap();
        for planes in [vec![[0, 0]], vec![[0, 1000.0_f64.to_bits()], [3, 850.0_f64.to_bits()]]] {
            let content = Content { planes, encoding };
            let bytes = [b"chunks".to_vec(), content.to_bytes(7)].concat();
            assert_eq!(Content::read(&bytes), Some((content, 7, bytes.len() - 6)));
            assert_eq!(Content::read(&bytes[..bytes.len() - 1]), None);
            assert_eq!(Content::read(&bytes[7..]), None);
        }
    }
}
