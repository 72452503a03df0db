//! Everything under a path: files, folders, archives, one file at a time as a stream of bytes.
//!
//! The packing of a file is detected from its first bytes: gzip, bzip2, xz, tar, zip. All but zip
//! are unpacked as they stream. A zip archive is read from its end, so it cannot be inside another
//! packing. Nothing is unpacked to disk, and a [`Budget`] limits the output. `packing.rs` detects
//! and undoes one packing, and `archive.rs` finds the entries of archives.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;

use super::copies::Copies;
use super::packing::{MAX_LAYERS, Packing, SourceError, start_of, xz_decoder};
use crate::files::{Budget, FileLimits, Unpacked, shown_name, shown_path};

const BUFFER_BYTES: usize = 1 << 16;

/// One file, unpacked.
pub struct SourceFile<'a> {
    /// Where it is: its path, and in an archive the name there.
    pub shown: &'a str,
    /// Its name without folders and compression extensions.
    pub name: &'a str,
    /// When it was written, milliseconds since 1970, if known.
    pub modified_ms: Option<i64>,
    /// Its first bytes, at most [`DETECT_BYTES`](mesonet::feed::DETECT_BYTES).
    pub start: &'a [u8],
    /// All of its bytes.
    pub input: &'a mut dyn BufRead,
    /// What the file may still ask for, shared with everything else under the given path.
    pub budget: &'a Budget,
}

/// Receives what is found.
pub trait Visitor {
    /// Handles a file. Returns whether it was read to the end.
    fn file(&mut self, file: SourceFile<'_>) -> bool;
    /// Handles what cannot be opened or unpacked.
    fn fault(&mut self, shown: &str, error: SourceError);
    /// Handles a file with the same content as an earlier one, packed differently.
    fn copy(&mut self);
    /// Whether to stop.
    fn is_done(&self) -> bool {
        false
    }
}

/// Bytes that can be read from any position.
pub trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// What is known about a file besides its bytes.
#[derive(Clone, Debug)]
pub struct Label {
    /// Where it is, for people.
    pub shown: String,
    /// Its name without folders.
    pub name: String,
    /// When it was written, milliseconds since 1970.
    pub modified_ms: Option<i64>,
}

/// Bytes to be read.
pub enum ByteSource<'a> {
    /// A stream, readable once.
    Stream(&'a mut dyn Read),
    /// A file.
    File(&'a mut dyn ReadSeek),
}

/// Hands the content of paths to a visitor.
pub struct FileWalker<'a> {
    pub visitor: &'a mut dyn Visitor,
    bounds: FileLimits,
    /// What the current path may still ask for.
    pub budget: Budget,
    /// Whether anything under the current path could not be read to the end.
    faulty: bool,
    copies: &'a mut Copies,
    /// Bytes read of the files themselves.
    progress: &'a AtomicU64,
}

impl<'a> FileWalker<'a> {
    /// Creates a source that skips the files known to `copies`; the bytes it reads are added to
    /// `progress`.
    pub fn new(
        visitor: &'a mut dyn Visitor,
        bounds: FileLimits,
        copies: &'a mut Copies,
        progress: &'a AtomicU64,
    ) -> Self {
        Self { visitor, bounds, budget: Budget::new(bounds, 0), faulty: false, copies, progress }
    }

    /// Visits the files of a path: the file itself, those in the folder and its subfolders by name,
    /// or standard input for `-`. Hidden files (`.name`) are skipped, and so are links to folders,
    /// which may be circular.
    pub fn path(&mut self, path: &Path) {
        if path == Path::new("-") {
            let label = Label { shown: "-".into(), name: "-".into(), modified_ms: None };
            return self.input(&label, ByteSource::Stream(&mut io::stdin().lock()));
        }
        if let Err(error) = self.open(path) {
            self.fault(&shown_path(path), error);
        }
    }

    /// Visits the files in bytes.
    pub fn input(&mut self, label: &Label, mut input: ByteSource<'_>) {
        self.faulty = false;
        let visited = input.length().map_err(Into::into).and_then(|length_bytes| {
            self.budget = Budget::new(self.bounds, length_bytes);
            self.unpack(label, input, 0)
        });
        if let Err(error) = visited {
            self.fault(&label.shown, error);
        }
    }

    pub fn fault(&mut self, shown: &str, error: SourceError) {
        self.faulty = true;
        self.visitor.fault(shown, error);
    }

    fn open(&mut self, path: &Path) -> Result<(), SourceError> {
        let metadata = std::fs::metadata(path)?;
        if metadata.is_dir() {
            return self.folder(path);
        }
        if !metadata.is_file() {
            return Err(SourceError::NoFile);
        }
        if self.copies.is_copy(path, self.bounds) {
            self.visitor.copy();
            return Ok(());
        }
        let label = Label {
            shown: shown_path(path),
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            modified_ms: metadata.modified().ok().and_then(since_1970_ms),
        };
        let mut file = CountedReader { inner: File::open(path)?, count: self.progress };
        self.input(&label, ByteSource::File(&mut file));
        if !self.faulty {
            self.copies.remember(path);
        }
        Ok(())
    }

    fn folder(&mut self, path: &Path) -> Result<(), SourceError> {
        let mut inside = Vec::new();
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            let is_link = entry.file_type()?.is_symlink();
            if !(hidden || is_link && entry.path().is_dir()) {
                inside.push(entry.path());
            }
        }
        inside.sort_unstable();
        for path in inside {
            if self.visitor.is_done() {
                break;
            }
            self.path(&path);
        }
        Ok(())
    }

    fn unpack(
        &mut self,
        label: &Label,
        mut input: ByteSource<'_>,
        layers: usize,
    ) -> Result<(), SourceError> {
        let start = start_of(input.reader())?;
        let packing = Packing::of(&start);
        if packing.is_some() && layers == MAX_LAYERS {
            return Err(SourceError::Layers);
        }
        if packing == Some(Packing::Zip) {
            let ByteSource::File(file) = input else { return Err(SourceError::ZipWithin) };
            return self.zip(label, file);
        }
        let mut whole = Cursor::new(&start).chain(input.reader());
        match packing {
            None | Some(Packing::Zip) => {
                let mut input = BufReader::with_capacity(BUFFER_BYTES, whole);
                let is_whole = self.visitor.file(SourceFile {
                    shown: &label.shown,
                    name: &label.name,
                    modified_ms: label.modified_ms,
                    start: &start,
                    input: &mut input,
                    budget: &self.budget,
                });
                self.faulty |= !is_whole;
                Ok(())
            }
            Some(Packing::Gzip) => {
                self.stream(&label.without(".gz"), &mut MultiGzDecoder::new(whole), layers)
            }
            Some(Packing::Bzip2) => {
                self.stream(&label.without(".bz2"), &mut MultiBzDecoder::new(whole), layers)
            }
            Some(Packing::Xz) => {
                let mut reader = xz_decoder(whole)?;
                self.stream(&label.without(".xz"), &mut reader, layers)
            }
            Some(Packing::Tar) => self.tar(label, &mut whole, layers),
        }
    }

    /// Unpacks the output of one packing.
    ///
    /// # Errors
    /// It cannot be read to its end.
    pub fn stream(
        &mut self,
        label: &Label,
        reader: &mut dyn Read,
        layers: usize,
    ) -> Result<(), SourceError> {
        let mut bounded = Unpacked { inner: reader, budget: self.budget.clone() };
        self.unpack(label, ByteSource::Stream(&mut bounded), layers + 1)
    }
}

fn since_1970_ms(time: SystemTime) -> Option<i64> {
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

impl Label {
    fn without(&self, ending: &str) -> Self {
        let name = self.name.strip_suffix(ending).unwrap_or(&self.name).to_owned();
        Self { name, ..self.clone() }
    }

    #[must_use]
    pub fn inside(&self, path: &str, modified_ms: Option<i64>) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        Self { shown: format!("{}/{}", self.shown, shown_name(path)), name, modified_ms }
    }
}

impl ByteSource<'_> {
    fn reader(&mut self) -> &mut dyn Read {
        match self {
            Self::Stream(reader) => *reader,
            Self::File(file) => *file,
        }
    }

    /// Its length in bytes; 0 for a stream, whose length is unknown.
    fn length(&mut self) -> io::Result<u64> {
        match self {
            Self::Stream(_) => Ok(0),
            Self::File(file) => {
                let length_bytes = file.seek(io::SeekFrom::End(0))?;
                file.rewind()?;
                Ok(length_bytes)
            }
        }
    }
}

/// Counts the bytes that are read.
struct CountedReader<'a, R> {
    inner: R,
    count: &'a AtomicU64,
}

impl<R: Read> Read for CountedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl<R: Seek> Seek for CountedReader<'_, R> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
