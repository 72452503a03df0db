//! How a file is packed, and why it cannot be unpacked.

use std::io::{self, Cursor, Read};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use liblzma::read::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use mesonet::feed::DETECT_BYTES;
use zip::result::ZipError;

use crate::files::{Budget, OverBudget, Unpacked};

/// Maximum depth of packings: a compressed file of a compressed archive.
pub const MAX_LAYERS: usize = 3;

/// Memory that an xz file may ask for; `xz -9` needs 65 MiB.
const XZ_MEMORY_BYTES: u64 = 256 << 20;

/// Length of the longest header of a tar archive that describes the next entry: sixteen times the
/// longest path of any system.
pub const MAX_HEADER_BYTES: u64 = 64 << 10;

/// Why a file cannot be opened or unpacked.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The system cannot read the file, or the file is damaged.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// A damaged or encrypted zip archive.
    #[error("cannot be read as a zip archive: {0}")]
    Zip(#[from] ZipError),
    /// A zip archive that is not a file of its own.
    #[error("a zip archive inside another archive or in a stream; it must be a file of its own")]
    ZipWithin,
    /// The file asks for more than its length allows.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// A header of a tar archive that is longer than any real one.
    #[error("a header of {got} bytes in a tar archive; the limit is {}", MAX_HEADER_BYTES)]
    TarHeader {
        /// Its length.
        got: u64,
    },
    /// A file in a tar archive whose length is uncertain.
    #[error("a file in a tar archive with two different lengths, or a length that is not a number")]
    TarSize,
    /// A file in a tar archive that has only parts of it.
    #[error("a sparse file; the archive must hold every byte of a file")]
    Sparse,
    /// Too many nested packings.
    #[error("packed more than {MAX_LAYERS} times, which is the limit")]
    Layers,
    /// Neither a regular file nor a folder.
    #[error("neither a file nor a folder")]
    NoFile,
}

/// How a file is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    Gzip,
    Bzip2,
    Xz,
    Tar,
    Zip,
}

impl Packing {
    /// Returns the packing that the first bytes show.
    pub fn of(start: &[u8]) -> Option<Self> {
        const TAR_MAGIC: usize = 257;
        if start.starts_with(b"\x1f\x8b") {
            Some(Self::Gzip)
        } else if start.starts_with(b"BZh") && start.get(4..).is_some_and(starts_bzip2_block) {
            Some(Self::Bzip2)
        } else if start.starts_with(b"\xfd7zXZ\0") {
            Some(Self::Xz)
        } else if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
            Some(Self::Zip)
        } else {
            let magic = start.get(TAR_MAGIC..TAR_MAGIC + 5);
            magic.is_some_and(|magic| magic == b"ustar").then_some(Self::Tar)
        }
    }
}

/// What follows `BZh` and the level: the mark of a block, or the mark of the end of an empty file.
fn starts_bzip2_block(rest: &[u8]) -> bool {
    rest.starts_with(b"1AY&SY") || rest.starts_with(b"\x17\x72\x45\x38\x50\x90")
}

/// Returns the decompressed content of a file, whether gzip, bzip2, xz or plain, also nested.
pub fn decompressed<'a>(
    input: Box<dyn Read + 'a>,
    budget: &Budget,
) -> Result<Box<dyn Read + 'a>, SourceError> {
    let mut input = input;
    for _ in 0..=MAX_LAYERS {
        let start = start_of(&mut input)?;
        let packing = Packing::of(&start);
        let whole = Cursor::new(start).chain(input);
        let unpacked: Box<dyn Read + 'a> = match packing {
            Some(Packing::Gzip) => Box::new(MultiGzDecoder::new(whole)),
            Some(Packing::Bzip2) => Box::new(MultiBzDecoder::new(whole)),
            Some(Packing::Xz) => Box::new(xz_decoder(whole)?),
            None | Some(Packing::Tar | Packing::Zip) => return Ok(Box::new(whole)),
        };
        input = Box::new(Unpacked { inner: unpacked, budget: budget.clone() });
    }
    Err(SourceError::Layers)
}

pub fn xz_decoder<R: Read>(packed: R) -> io::Result<XzDecoder<R>> {
    let stream = Stream::new_stream_decoder(XZ_MEMORY_BYTES, CONCATENATED);
    Ok(XzDecoder::new_stream(packed, stream.map_err(io::Error::from)?))
}

/// Returns the first bytes, by which a packing or a kind is detected.
pub fn start_of(input: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(DETECT_BYTES);
    input.take(DETECT_BYTES as u64).read_to_end(&mut start)?;
    Ok(start)
}
