//! A file that is mapped into memory and whose blocks are checked when they are first read.
//!
//! The only unsafe code of the store.
#![allow(unsafe_code, reason = "mapping a file, and bytes as verdicts; the reasons stand below")]

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_buffer::Buffer;
use bytes::Bytes;
use memmap2::Mmap;

use super::fault::Fault;
use crate::quality::QualityCode;

/// Length of the blocks that have a checksum each.
pub(super) const BLOCK_BYTES: usize = 256 * 1024;

/// A mapped file with the checksums of its blocks.
#[derive(Debug)]
pub(super) struct Mapped {
    /// Name for faults, relative to the store's folder.
    file: String,
    bytes: Buffer,
    /// CRC-32 of each block.
    checksums: Vec<u32>,
    /// One bit for each block that was found whole.
    whole: Vec<AtomicU64>,
}

impl Mapped {
    /// Maps a file, which must be of the length that it was written with.
    pub fn open(path: &Path, file: &str, length: u64, checksums: Vec<u32>) -> Result<Self, Fault> {
        let fault = |error: io::Error| Fault::new(file, error);
        let opened = File::open(path).map_err(fault)?;
        let found = opened.metadata().map_err(fault)?.len();
        if found != length {
            let cause = format!("{found} bytes long; {length} were written");
            return Err(Fault::new(file, cause));
        }
        let blocks = length.div_ceil(BLOCK_BYTES as u64);
        if blocks != checksums.len() as u64 || length == 0 {
            let cause = format!("{} checksums for {blocks} blocks", checksums.len());
            return Err(Fault::new(file, cause));
        }
        // SAFETY: bytes that are mapped must not change while they are borrowed. Files of segments
        // are written under another name, renamed when they are whole, and never written again;
        // the folder is locked against a second store. That something else writes or truncates
        // them meanwhile cannot be ruled out from here, as with every mapped file.
        let map = unsafe { Mmap::map(&opened) }.map_err(fault)?;
        let whole = (0..checksums.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let bytes = Buffer::from(Bytes::from_owner(map));
        Ok(Self { file: file.to_owned(), bytes, checksums, whole })
    }

    pub fn bytes(&self) -> &Buffer {
        &self.bytes
    }

    /// Checks the blocks that a part of the file lies in, unless they were checked before.
    pub fn check<T>(&self, slice: &[T]) -> Result<(), Fault> {
        let length = size_of_val(slice);
        if length == 0 {
            return Ok(());
        }
        let start = (slice.as_ptr() as usize).wrapping_sub(self.bytes.as_ptr() as usize);
        self.check_range(start, length)
    }

    /// Checks the blocks of a range of the file; one that is not in it is a fault.
    pub fn check_range(&self, start: usize, length: usize) -> Result<(), Fault> {
        let end = start.checked_add(length).filter(|&end| end <= self.bytes.len());
        let Some(end) = end else {
            let cause = format!("names {length} bytes at {start}, beyond its end");
            return Err(Fault::new(&self.file, cause));
        };
        for block in start / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES) {
            let (word, bit) = (&self.whole[block / 64], 1_u64 << (block % 64));
            // Nothing else is published with the bit: the bytes were there all along.
            if word.load(Ordering::Relaxed) & bit == 0 {
                self.check_block(block)?;
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn check_block(&self, block: usize) -> Result<(), Fault> {
        let start = block * BLOCK_BYTES;
        let end = self.bytes.len().min(start + BLOCK_BYTES);
        let found = crc32fast::hash(&self.bytes.as_slice()[start..end]);
        if found == self.checksums[block] {
            return Ok(());
        }
        let cause = format!("bytes {start} to {end} are not those that were written");
        Err(Fault::new(&self.file, cause))
    }

    /// Checks the whole file anew.
    pub fn check_all(&self) -> Result<(), Fault> {
        (0..self.checksums.len()).try_for_each(|block| self.check_block(block))
    }
}

/// Bytes of a column as verdicts.
pub(super) fn codes(bytes: &[u8]) -> &[QualityCode] {
    // SAFETY: `QualityCode` is `repr(transparent)` over `u8`, and every byte is a valid one.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len()) }
}
