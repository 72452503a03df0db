//! Reads the files of tar and zip archives, one at a time.
//!
//! What an archive says about itself is checked against limits before it is used. The libraries
//! would read the long names of a tar archive into memory whatever their length, and build an index
//! of a zip archive however many files it names.

use std::io::Read;

use tar::{EntryType, PaxExtensions};
use zip::read::{Config, ZipReadOptions};
use zip::unstable::read::ZipIterable;

use super::packing::{MAX_HEADER_BYTES, SourceError};
use super::source::{FileWalker, Label, ReadSeek};
use crate::files::Work;

/// What the headers before an entry of a tar archive say about the entry.
#[derive(Debug, Default)]
struct EntryHeaders {
    path: Option<Vec<u8>>,
    size: Option<u64>,
    is_sparse: bool,
}

impl EntryHeaders {
    /// Reads an entry if it is a header.
    fn read(&mut self, entry: &mut tar::Entry<'_, impl Read>) -> Result<bool, SourceError> {
        match entry.header().entry_type() {
            EntryType::GNULongName => {
                let mut path = header(entry)?;
                path.truncate(path.iter().position(|&byte| byte == 0).unwrap_or(path.len()));
                self.path = Some(path);
            }
            EntryType::XHeader => {
                for record in PaxExtensions::new(&header(entry)?) {
                    let record = record?;
                    match record.key_bytes() {
                        b"path" => self.path = Some(record.value_bytes().to_vec()),
                        b"size" => {
                            let size = record.value().ok().and_then(|size| size.parse().ok());
                            self.size = Some(size.ok_or(SourceError::TarSize)?);
                        }
                        key => self.is_sparse |= key.starts_with(b"GNU.sparse."),
                    }
                }
            }
            // Link targets and global headers are of no use here.
            EntryType::GNULongLink | EntryType::XGlobalHeader => {}
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// The bytes of a header.
fn header(entry: &mut tar::Entry<'_, impl Read>) -> Result<Vec<u8>, SourceError> {
    let got = entry.size();
    if got > MAX_HEADER_BYTES {
        return Err(SourceError::TarHeader { got });
    }
    let mut bytes = Vec::with_capacity(got as usize);
    entry.read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl FileWalker<'_> {
    /// # Errors
    /// The archive cannot be read to its end.
    pub fn tar(
        &mut self,
        label: &Label,
        reader: &mut dyn Read,
        layers: usize,
    ) -> Result<(), SourceError> {
        let mut archive = tar::Archive::new(reader);
        let mut ahead = EntryHeaders::default();
        for entry in archive.entries()?.raw(true) {
            if self.visitor.is_done() {
                break;
            }
            let mut entry = entry?;
            if ahead.read(&mut entry)? {
                continue;
            }
            let EntryHeaders { path, size, is_sparse } = std::mem::take(&mut ahead);
            self.budget.spend(Work::Entries, 1)?;
            if size.is_some_and(|size| size != entry.size()) {
                // Where the next entry begins is now uncertain.
                return Err(SourceError::TarSize);
            }
            let path = path.map_or_else(|| entry.path_bytes(), Into::into);
            let path = String::from_utf8_lossy(&path).into_owned();
            let kind = entry.header().entry_type();
            if !(kind.is_file() || kind.is_gnu_sparse()) || is_hidden(&path) {
                continue;
            }
            let modified_ms = entry.header().mtime().ok().filter(|&seconds| seconds > 0);
            let modified_ms = modified_ms.and_then(|seconds| i64::try_from(seconds).ok());
            let inside = label.inside(&path, modified_ms.and_then(|s| s.checked_mul(1000)));
            if is_sparse || kind.is_gnu_sparse() {
                self.fault(&inside.shown, SourceError::Sparse);
            } else if let Err(error) = self.stream(&inside, &mut entry, layers) {
                self.fault(&inside.shown, error);
            }
        }
        Ok(())
    }

    /// # Errors
    /// The archive cannot be read to its end.
    pub fn zip(&mut self, label: &Label, file: &mut dyn ReadSeek) -> Result<(), SourceError> {
        let mut archive = ZipIterable::try_new(file, Config::default())?;
        self.budget.spend(Work::Entries, archive.len() as u64)?;
        let files = archive.files()?;
        while let Some(entry) = files.next() {
            if self.visitor.is_done() {
                break;
            }
            let entry = entry?;
            let lossy = |_| String::from_utf8_lossy(entry.name_raw());
            let name = entry.name().unwrap_or_else(lossy).into_owned();
            if !entry.is_file() || is_hidden(&name) {
                continue;
            }
            let inside = label.inside(&name, label.modified_ms);
            let outcome = match entry.with_reader(files.reader_mut(), ZipReadOptions::new()) {
                Ok(mut entry) => self.stream(&inside, &mut entry, 0),
                Err(error) => Err(error.into()),
            };
            if let Err(error) = outcome {
                self.fault(&inside.shown, error);
            }
        }
        Ok(())
    }
}

/// Whether a path is one that archivers add for themselves.
fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.') && part != "." || part == "__MACOSX")
}
