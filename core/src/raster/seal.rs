//! The checksum at the end of a product's file.
//!
//! A GeoTIFF ends with its last tile, and readers ignore what follows. So the last twelve octets
//! are a mark and the CRC-32C of everything before them, little-endian; a metadata item at the
//! beginning announces them, so that neither can go missing unnoticed.

use std::io::{self, Read, Write};

/// The mark before the checksum.
const MARK: &[u8; 8] = b"CRC-32C:";

/// The length of mark and checksum.
pub(super) const SEAL_BYTES: u64 = 12;

/// The metadata item that announces the checksum.
pub(super) const ITEM: (&str, &str) = ("CHECKSUM", "CRC-32C");

/// An output that gets a seal at its end.
pub(super) struct SealedWriter<W> {
    out: W,
    checksum: u32,
}

impl<W: Write> SealedWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, checksum: 0 }
    }

    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.checksum = crc32c::crc32c_append(self.checksum, bytes);
        self.out.write_all(bytes)
    }

    pub(super) fn seal(mut self) -> io::Result<()> {
        self.out.write_all(MARK)?;
        self.out.write_all(&self.checksum.to_le_bytes())?;
        self.out.flush()
    }
}

/// The result of reading the end of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seal {
    /// No seal: the file was written before there were seals, or it was cut.
    None,
    Whole,
    Broken,
}

/// Reads a file of a given length from its beginning to its end.
pub(super) fn check(file: &mut impl Read, length: u64) -> io::Result<Seal> {
    let mut sealed = file.take(length.saturating_sub(SEAL_BYTES));
    let mut checksum = 0;
    let mut block = vec![0; 1 << 18];
    loop {
        match sealed.read(&mut block) {
            Ok(0) => break,
            Ok(read) => checksum = crc32c::crc32c_append(checksum, &block[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let mut end = [0; SEAL_BYTES as usize];
    file.read_exact(&mut end)?;
    let (mark, stated) = end.split_at(MARK.len());
    Ok(match mark {
        mark if mark != MARK => Seal::None,
        _ if stated == checksum.to_le_bytes() => Seal::Whole,
        _ => Seal::Broken,
    })
}
