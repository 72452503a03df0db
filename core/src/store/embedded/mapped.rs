//! A memory-mapped file whose blocks are checked when they are first read.
//!
//! This is the store's only unsafe code.
#![allow(unsafe_code, reason = "mapping a file, and bytes as verdicts; the reasons stand below")]

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_buffer::Buffer;
use bytes::Bytes;
use memmap2::{Mmap, MmapOptions};

use super::fault::{Fault, Faults};
use crate::observation::QualityCode;

/// Length of a block; each block has a checksum.
pub(super) const BLOCK_BYTES: usize = 256 * 1024;

/// A mapped file with the checksums of its blocks.
#[derive(Debug)]
pub(super) struct MappedFile {
    /// Name in faults, relative to the store's folder.
    file: String,
    /// The bytes that exist.
    bytes: Buffer,
    /// The length when it was written.
    length: usize,
    /// CRC-32 of each block.
    checksums: Vec<u32>,
    /// One bit for each block that was found intact, and one for each that was found damaged.
    whole: Vec<AtomicU64>,
    damaged: Vec<AtomicU64>,
    faults: Arc<Faults>,
}

/// Why a file could not be mapped.
#[derive(Debug)]
pub(super) enum Unmapped {
    /// None of its content is left.
    Gone(Fault),
    /// It does not exist, or the system refused it; it may be readable next time.
    Refused(Fault),
}

/// A part of a slice within one block.
pub(super) struct Piece {
    /// Its elements, as indices into the slice.
    pub range: Range<usize>,
    pub block: u32,
    pub is_whole: bool,
}

impl MappedFile {
    /// Maps a file. If it was truncated, the missing part counts as damaged.
    pub(super) fn open(
        path: &Path,
        file: &str,
        length: u64,
        checksums: Vec<u32>,
        faults: &Arc<Faults>,
    ) -> Result<Self, Unmapped> {
        let fault = |cause: String| Fault::new(file, cause);
        let refused = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Unmapped::Refused(missing(file)),
            _ => Unmapped::Refused(Fault::new(file, error)),
        };
        let opened = File::open(path).map_err(refused)?;
        let found = opened.metadata().map_err(refused)?.len();
        let blocks = length.div_ceil(BLOCK_BYTES as u64);
        if blocks != checksums.len() as u64 || length == 0 {
            let cause = format!("{} checksums for {blocks} blocks", checksums.len());
            return Err(Unmapped::Gone(fault(cause)));
        }
        if found != length {
            let cause = fault(format!("{found} bytes long; it must be {length}"));
            if found == 0 {
                return Err(Unmapped::Gone(cause));
            }
            faults.note(cause);
        }
        let mapped = found.min(length) as usize;
        // SAFETY: mapped bytes must not change while they are borrowed. Segment files are written
        // under another name, renamed when they are complete, and never written again; the folder
        // is locked against a second store. As with every mapped file, it cannot be ruled out from
        // here that something else writes or truncates them.
        let map = unsafe { MmapOptions::new().len(mapped).map(&opened) }.map_err(refused)?;
        let bits = || (0..checksums.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        Ok(Self {
            file: file.to_owned(),
            bytes: Buffer::from(Bytes::from_owner(map)),
            length: length as usize,
            whole: bits(),
            damaged: bits(),
            checksums,
            faults: Arc::clone(faults),
        })
    }

    pub(super) fn bytes(&self) -> &Buffer {
        &self.bytes
    }

    /// Returns the length of the file when it was written.
    pub(super) fn length(&self) -> usize {
        self.length
    }

    pub(super) fn blocks(&self) -> u32 {
        self.checksums.len() as u32
    }

    /// Returns where a slice lies in the file.
    pub(super) fn span<T>(&self, slice: &[T]) -> Range<usize> {
        let start = (slice.as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize);
        start..start.saturating_add(size_of_val(slice))
    }

    /// Whether all blocks that a part of the file lies in are intact.
    pub(super) fn is_whole<T>(&self, slice: &[T]) -> bool {
        slice.is_empty() || self.range_is_whole(self.span(slice))
    }

    /// Whether all blocks of a range of the file are intact; `false` for a range beyond the file.
    pub(super) fn range_is_whole(&self, range: Range<usize>) -> bool {
        range.end <= self.bytes.len() && blocks_of(range).all(|block| self.block_is_whole(block))
    }

    /// Returns the damaged blocks of a range of the file, at its original length.
    pub(super) fn damaged_blocks(&self, range: Range<usize>) -> impl Iterator<Item = u32> {
        let within = range.start..range.end.min(self.length);
        blocks_of(within).filter(|&block| !self.block_is_whole(block)).map(|block| block as u32)
    }

    /// Splits a slice at block boundaries.
    pub(super) fn pieces<T>(&self, slice: &[T]) -> impl Iterator<Item = Piece> {
        // No element spans two blocks: buffers are aligned, and their elements are 1 or 8 bytes
        // long.
        let span = self.span(slice);
        let place = move |at: usize| (at.clamp(span.start, span.end) - span.start) / size_of::<T>();
        blocks_of(self.span(slice)).map(move |block| Piece {
            range: place(block * BLOCK_BYTES)..place((block + 1) * BLOCK_BYTES),
            block: block as u32,
            is_whole: self.block_is_whole(block),
        })
    }

    fn block_is_whole(&self, block: usize) -> bool {
        let (word, bit) = (block / 64, 1_u64 << (block % 64));
        let Some((whole, damaged)) = self.whole.get(word).zip(self.damaged.get(word)) else {
            return false;
        };
        // Relaxed is enough: the bits publish nothing else, because the bytes do not change.
        if whole.load(Ordering::Relaxed) & bit != 0 {
            return true;
        }
        if damaged.load(Ordering::Relaxed) & bit != 0 {
            return false;
        }
        let is_whole = self.check_block(block);
        (if is_whole { whole } else { damaged }).fetch_or(bit, Ordering::Relaxed);
        is_whole
    }

    fn check_block(&self, block: usize) -> bool {
        let start = block * BLOCK_BYTES;
        let end = self.length.min(start + BLOCK_BYTES);
        let Some(checksum) = self.checksums.get(block) else { return false };
        // The missing end of a truncated file was reported on opening.
        let Some(bytes) = self.bytes.as_slice().get(start..end) else { return false };
        if crc32fast::hash(bytes) == *checksum {
            return true;
        }
        self.note(format!("bytes {start} to {end} do not match their checksum"));
        false
    }

    /// Records a fault of the file.
    pub(super) fn note(&self, cause: String) {
        self.faults.note(Fault::new(&self.file, cause));
    }

    /// Returns the first fault found in the file.
    pub(super) fn first_fault(&self) -> Option<Fault> {
        self.faults.list().into_iter().find(|fault| fault.file == self.file)
    }

    /// Checks the whole file. Returns whether every block is intact.
    pub(super) fn check_all(&self) -> bool {
        // Checks all blocks, so that each fault is reported.
        self.damaged_blocks(0..self.length).count() == 0
    }
}

/// The fault of a missing file: it may be on a disk that is not mounted yet.
pub(super) fn missing(file: &str) -> Fault {
    let cause = "it is missing; put it back, or give it up: mesonet-server verify --give-up";
    Fault::new(file, format!("{cause} {file}"))
}

fn blocks_of(range: Range<usize>) -> Range<usize> {
    if range.is_empty() {
        return 0..0;
    }
    range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES)
}

/// Maps a file in its present state, to read it once.
pub(super) fn map_all(file: &File) -> io::Result<Mmap> {
    // SAFETY: as above; the folder is locked.
    unsafe { Mmap::map(file) }
}

/// Reinterprets the bytes of a column as verdicts.
pub(super) fn codes(bytes: &[u8]) -> &[QualityCode] {
    // SAFETY: `QualityCode` is `repr(transparent)` over `u8`, and every byte is a valid one.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}
