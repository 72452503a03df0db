//! The content of a file of a backup, which its object holds compressed or as it is.

use std::io::{self, Write};

use sha2::{Digest, Sha256};
use zstd::stream::write::Decoder;

use super::BackupError;
use super::manifest::ManifestEntry;
use super::name::Name;
use crate::hex::hex;
use crate::place::{ObjectPlace, object};

/// Hands out the content of a file of a backup, and checks that it has not changed.
///
/// # Errors
/// The object is missing or damaged, the place cannot be read, or `take` fails.
pub fn fetch(
    place: &ObjectPlace,
    name: &Name,
    file: &ManifestEntry,
    take: impl FnMut(&[u8]) -> Result<(), BackupError>,
) -> Result<(), BackupError> {
    let object = object(&file.object_name());
    let (hasher, most) = (Sha256::new(), file.length);
    let mut content = Content { take, hasher, length: 0, most, refused: None };
    let got = if file.zstd_bytes.is_some() {
        let mut decoder = Decoder::new(&mut content)?;
        place.get(&object, |piece| {
            decoder.write_all(piece)?;
            Ok(decoder.flush()?)
        })
    } else {
        place.get(&object, |piece| Ok(content.write_all(piece)?))
    };
    let (at, name, path) = (place.address().to_owned(), name.to_string(), file.path.clone());
    let cause = match got {
        // Not of the place: writing the content failed.
        Err(BackupError::Output(error)) => match content.refused {
            Some(refused) => return Err(refused),
            None if content.length > most => format!("has more than {most} bytes"),
            None => format!("cannot be decompressed: {error}"),
        },
        Err(error) => return Err(error),
        Ok(false) => {
            return Err(BackupError::Missing { place: at, name, file: path, object });
        }
        Ok(true) if content.length != most => {
            let cut = if file.zstd_bytes.is_some() { "decompressed " } else { "" };
            format!("has {} {cut}bytes; it must have {most}", content.length)
        }
        Ok(true) if hex(&content.hasher.finalize()) != file.sha256 => {
            "does not match its checksum".to_owned()
        }
        Ok(true) => return Ok(()),
    };
    Err(BackupError::Corrupt { place: at, name, file: path, object, cause })
}

/// Takes the content of a file, at most as much as it must have: a damaged object could decompress to
/// any amount.
struct Content<F> {
    take: F,
    hasher: Sha256,
    length: u64,
    most: u64,
    /// Why `take` failed.
    refused: Option<BackupError>,
}

impl<F: FnMut(&[u8]) -> Result<(), BackupError>> Write for Content<F> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.length += piece.len() as u64;
        if self.length > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.hasher.update(piece);
        match (self.take)(piece) {
            Ok(()) => Ok(piece.len()),
            Err(error) => {
                self.refused = Some(error);
                Err(io::ErrorKind::Other.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
