//! A file that is mapped into memory and whose blocks are checked when they are first read.
//!
//! The only unsafe code of the store.
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
use crate::quality::QualityCode;

/// Length of the blocks that have a checksum each.
pub(super) const BLOCK_BYTES: usize = 256 * 1024;

/// A mapped file with the checksums of its blocks.
#[derive(Debug)]
pub(super) struct Mapped {
    /// Name for faults, relative to the store's folder.
    file: String,
    /// What there is of it.
    bytes: Buffer,
    /// How long it was written.
    length: usize,
    /// CRC-32 of each block.
    checksums: Vec<u32>,
    /// One bit for each block that was found whole, and one for each that was found damaged.
    whole: Vec<AtomicU64>,
    damaged: Vec<AtomicU64>,
    faults: Arc<Faults>,
}

/// Why a file is not mapped.
#[derive(Debug)]
pub(super) enum Unmapped {
    /// It is not there, or nothing is in it that it was written with.
    Gone(Fault),
    /// The system refuses it; another time it may not.
    Refused(Fault),
}

/// A part of a slice within one block.
pub(super) struct Piece {
    /// Its elements, by their places in the slice.
    pub range: Range<usize>,
    pub block: u32,
    pub is_whole: bool,
}

impl Mapped {
    /// Maps a file. Of one that is shorter than it was written the rest counts as damaged.
    pub fn open(
        path: &Path,
        file: &str,
        length: u64,
        checksums: Vec<u32>,
        faults: &Arc<Faults>,
    ) -> Result<Self, Unmapped> {
        let fault = |cause: String| Fault::new(file, cause);
        let refused = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Unmapped::Gone(Fault::new(file, error)),
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
            let cause = fault(format!("{found} bytes long; {length} were written"));
            if found == 0 {
                return Err(Unmapped::Gone(cause));
            }
            faults.note(cause);
        }
        let mapped = found.min(length) as usize;
        // SAFETY: bytes that are mapped must not change while they are borrowed. Files of segments
        // are written under another name, renamed when they are whole, and never written again;
        // the folder is locked against a second store. That something else writes or truncates
        // them meanwhile cannot be ruled out from here, as with every mapped file.
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

    pub fn bytes(&self) -> &Buffer {
        &self.bytes
    }

    /// How long the file was written.
    pub fn length(&self) -> usize {
        self.length
    }

    pub fn blocks(&self) -> u32 {
        self.checksums.len() as u32
    }

    /// Where a slice lies in the file.
    fn span<T>(&self, slice: &[T]) -> Range<usize> {
        let start = (slice.as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize);
        start..start.saturating_add(size_of_val(slice))
    }

    /// Whether all blocks are whole that a part of the file lies in.
    pub fn is_whole<T>(&self, slice: &[T]) -> bool {
        slice.is_empty() || self.range_is_whole(self.span(slice))
    }

    /// Whether all blocks of a range of the file are whole; one that is not in it is not.
    pub fn range_is_whole(&self, range: Range<usize>) -> bool {
        range.end <= self.bytes.len() && blocks_of(range).all(|block| self.block_is_whole(block))
    }

    /// The blocks of a range of the file as it was written that are damaged.
    pub fn damaged_blocks(&self, range: Range<usize>) -> impl Iterator<Item = u32> {
        let within = range.start..range.end.min(self.length);
        blocks_of(within).filter(|&block| !self.block_is_whole(block)).map(|block| block as u32)
    }

    /// The parts of a slice by the blocks that they lie in.
    pub fn pieces<T>(&self, slice: &[T]) -> impl Iterator<Item = Piece> {
        // No element lies in two blocks: buffers are aligned, and their elements 1 or 8 bytes long.
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
        // Nothing else is published with the bits: the bytes were there all along.
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
        // What is beyond the end of a file that is too short was named when it was opened.
        let Some(bytes) = self.bytes.as_slice().get(start..end) else { return false };
        if crc32fast::hash(bytes) == *checksum {
            return true;
        }
        self.note(format!("bytes {start} to {end} are not those that were written"));
        false
    }

    /// Notes that something is wrong with the file.
    pub fn note(&self, cause: String) {
        self.faults.note(Fault::new(&self.file, cause));
    }

    /// What was found wrong with the file first.
    pub fn first_fault(&self) -> Option<Fault> {
        self.faults.list().into_iter().find(|fault| fault.file == self.file)
    }

    /// Checks the whole file; whether every block is whole.
    pub fn check_all(&self) -> bool {
        // All of them, so that each is named.
        self.damaged_blocks(0..self.length).count() == 0
    }
}

fn blocks_of(range: Range<usize>) -> Range<usize> {
    if range.is_empty() {
        return 0..0;
    }
    range.start / BLOCK_BYTES..range.end.div_ceil(BLOCK_BYTES)
}

/// Maps a file as it is, to be read once.
pub(super) fn map_all(file: &File) -> io::Result<Mmap> {
    // SAFETY: as above; the folder is locked.
    unsafe { Mmap::map(file) }
}

/// Bytes of a column as verdicts.
pub(super) fn codes(bytes: &[u8]) -> &[QualityCode] {
    // SAFETY: `QualityCode` is `repr(transparent)` over `u8`, and every byte is a valid one.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}
