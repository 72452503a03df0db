//! Sending files to a place, as they are or compressed.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload, WriteMultipart};
use sha2::{Digest, Sha256};
use zstd::stream::write::Encoder;

use super::{ObjectPlace, PlaceError, SendError};
use crate::hex::hex;

/// Longer objects are sent in parts of this length.
const PART_BYTES: usize = 8 << 20;

/// How many parts are sent at once.
const PARTS_AT_ONCE: usize = 4;

/// How much of a file is read at once.
const READ_BYTES: usize = 1 << 20;

/// Of the levels of zstd, the last that makes sealed readings smaller at little cost: level 6 takes
/// 2.6 times as long for 4 % less (`docs/operate/backups.md`).
const LEVEL: i32 = 3;

impl ObjectPlace {
    /// Puts a file under a name. The object appears when it is whole.
    ///
    /// # Errors
    /// The file cannot be read or has another checksum, or the place cannot be written.
    pub fn put_file(
        &self,
        name: &str,
        sha256: &str,
        file: &File,
        sent: impl FnMut(u64),
    ) -> Result<(), SendError> {
        self.send(name, |upload| {
            let found = read(file, sent, |piece| Ok::<_, SendError>(upload.write(piece)?))?;
            if found == sha256 { Ok(()) } else { Err(SendError::Changed) }
        })
    }

    /// Puts a file under a name, compressed with zstd, and returns the length of the object in
    /// bytes. The object appears when it is whole. The checksum is that of the file; `read` is told
    /// how many bytes of it were read.
    ///
    /// # Errors
    /// The file cannot be read or has another checksum, or the place cannot be written.
    pub fn put_compressed(
        &self,
        name: &str,
        sha256: &str,
        file: &File,
        read: impl FnMut(u64),
    ) -> Result<u64, SendError> {
        let mut length = 0;
        self.send(name, |upload| {
            let found = compress(file, read, |piece| {
                length += piece.len() as u64;
                Ok::<_, SendError>(upload.write(piece)?)
            })?;
            if found == sha256 { Ok(()) } else { Err(SendError::Changed) }
        })?;
        Ok(length)
    }

    /// Puts what `fill` writes. If that fails, nothing is there.
    fn send(
        &self,
        name: &str,
        fill: impl FnOnce(&mut Upload<'_>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let (place, path) = (self, self.path(name));
        let mut upload = Upload { place, path, first: Vec::new(), parts: None };
        match fill(&mut upload) {
            Ok(()) => Ok(upload.finish()?),
            Err(error) => {
                upload.abort();
                Err(error)
            }
        }
    }
}

/// An object that is being sent.
struct Upload<'a> {
    place: &'a ObjectPlace,
    path: Path,
    /// What was written until it is too much for one part.
    first: Vec<u8>,
    parts: Option<WriteMultipart>,
}

impl Upload<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), PlaceError> {
        if self.parts.is_none() {
            self.first.extend_from_slice(bytes);
            if self.first.len() <= PART_BYTES {
                return Ok(());
            }
            let upload = self.place.wait(self.place.store.put_multipart(&self.path))?;
            let _inside = self.place.runtime.enter();
            self.parts = Some(WriteMultipart::new_with_chunk_size(upload, PART_BYTES));
            let first = std::mem::take(&mut self.first);
            return self.write(&first);
        }
        let Some(parts) = &mut self.parts else { return Ok(()) };
        self.place.wait(async {
            parts.wait_for_capacity(PARTS_AT_ONCE).await?;
            parts.write(bytes);
            Ok(())
        })
    }

    fn finish(self) -> Result<(), PlaceError> {
        if let Some(parts) = self.parts {
            return self.place.wait(parts.finish()).map(drop);
        }
        let put = self.place.store.put(&self.path, PutPayload::from(self.first));
        self.place.wait(put).map(drop)
    }

    fn abort(self) {
        if let Some(parts) = self.parts {
            // The error that led here is the one to report.
            let _ = self.place.wait(parts.abort());
        }
    }
}

/// Hands out the content of a file, and returns its SHA-256.
fn read<E: From<io::Error>>(
    mut file: &File,
    mut sent: impl FnMut(u64),
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<String, E> {
    file.rewind()?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; READ_BYTES]);
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(&buffer[..read]);
        take(&buffer[..read])?;
        sent(read as u64);
    }
}

/// Hands out the content of a file compressed, and returns its SHA-256 uncompressed.
fn compress<E: From<io::Error>>(
    file: &File,
    sent: impl FnMut(u64),
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<String, E> {
    let mut encoder = Encoder::new(Vec::new(), LEVEL)?;
    encoder.include_checksum(true)?;
    let sha256 = read(file, sent, |piece| {
        encoder.write_all(piece)?;
        let done = std::mem::take(encoder.get_mut());
        take(&done)
    })?;
    take(&encoder.finish()?)?;
    Ok(sha256)
}

/// The SHA-256 of a file, and its length in bytes.
///
/// # Errors
/// The file cannot be read.
pub fn checksum(file: &File) -> io::Result<(String, u64)> {
    let mut length = 0;
    let sha256 = read(file, |bytes| length += bytes, |_| Ok::<_, io::Error>(()))?;
    Ok((sha256, length))
}

/// The length of a file once it is compressed, in bytes.
///
/// # Errors
/// The file cannot be read.
pub fn compressed_length(file: &File) -> io::Result<u64> {
    let mut length = 0;
    let count = |piece: &[u8]| -> io::Result<()> {
        length += piece.len() as u64;
        Ok(())
    };
    compress(file, |_| {}, count)?;
    Ok(length)
}
