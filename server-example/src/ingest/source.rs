//! Everything that a path holds: files, folders, archives, one file at a time as a stream of bytes.
//!
//! What a file is packed in is told from its first bytes: gzip, xz, tar, zip. All but zip are
//! unpacked as they stream; a zip archive is read from its end, so it is never within another
//! packing. Nothing is unpacked to disk, and what comes out is bounded: [`Bounds`].

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use flate2::read::MultiGzDecoder;
use liblzma::read::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use mesonet::feed::DETECT_BYTES;
use zip::ZipArchive;
use zip::result::ZipError;

/// Packings within one another: the compressed file of a compressed archive.
const MAX_LAYERS: usize = 3;

/// Memory that an xz file may ask for: what `xz -9` needs is 65 MiB.
const XZ_MEMORY_BYTES: u64 = 256 << 20;

const BUFFER_BYTES: usize = 1 << 16;

/// How much may come out of one path that is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Files of an archive.
    pub entries: u64,
    /// Bytes that come out of all of its packings.
    pub unpacked_bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { entries: 1_000_000, unpacked_bytes: 1 << 40 }
    }
}

/// One file, out of whatever it was packed in.
pub struct SourceFile<'a> {
    /// Where it is: its path, and in an archive the name there.
    pub shown: &'a str,
    /// Its name without folders and without the endings of compressions.
    pub name: &'a str,
    /// When it was written, milliseconds since 1970, where that is known.
    pub modified_ms: Option<i64>,
    /// Its first bytes, at most [`DETECT_BYTES`].
    pub start: &'a [u8],
    /// All of its bytes.
    pub input: &'a mut dyn BufRead,
}

/// Takes what is found.
pub trait Visitor {
    /// A file.
    fn file(&mut self, file: SourceFile<'_>);
    /// What cannot be opened or unpacked.
    fn fault(&mut self, shown: &str, error: SourceError);
    /// Whether to look no further.
    fn is_done(&self) -> bool;
}

/// What cannot be opened or unpacked.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The system cannot read it, or it is damaged.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// A damaged or encrypted zip archive.
    #[error("cannot be read as a zip archive: {0}")]
    Zip(#[from] ZipError),
    /// A zip archive that does not lie in a file of its own.
    #[error("a zip archive within another packing or a stream; allowed is a file of its own")]
    ZipWithin,
    /// An archive of too many files.
    #[error("an archive of more than {limit} files, which is the limit")]
    Entries {
        /// The greatest number.
        limit: u64,
    },
    /// Too many packings within one another.
    #[error("packed more than {MAX_LAYERS} times, which is the limit")]
    Layers,
    /// A file that is neither plain nor a folder.
    #[error("neither a file nor a folder")]
    NoFile,
}

/// Bytes that can be read from any place.
pub trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// What is known of a file beside its bytes.
#[derive(Clone, Debug)]
pub struct Label {
    /// Where it is, for people.
    pub shown: String,
    /// Its name without folders.
    pub name: String,
    /// When it was written, milliseconds since 1970.
    pub modified_ms: Option<i64>,
}

/// Bytes on their way in.
pub enum Input<'a> {
    /// They come once.
    Stream(&'a mut dyn Read),
    /// They lie in a file.
    File(&'a mut dyn ReadSeek),
}

/// Hands what paths hold to a visitor.
pub struct Source<'a> {
    visitor: &'a mut dyn Visitor,
    bounds: Bounds,
    /// What may still be unpacked of the path at hand.
    left: Rc<Cell<u64>>,
    /// Bytes read of the files themselves.
    progress: &'a AtomicU64,
}

impl<'a> Source<'a> {
    /// A source of what paths hold; the bytes that it reads are added to `progress`.
    pub fn new(visitor: &'a mut dyn Visitor, bounds: Bounds, progress: &'a AtomicU64) -> Self {
        Self { visitor, bounds, left: Rc::default(), progress }
    }

    /// Visits the files of a path: itself, those in the folder and the folders in it by name, or
    /// standard input for `-`. Hidden files of a folder (`.name`) are passed over, and links to
    /// folders, which may lead in circles.
    pub fn path(&mut self, path: &Path) {
        if path == Path::new("-") {
            let label = Label { shown: "-".into(), name: "-".into(), modified_ms: None };
            return self.input(&label, Input::Stream(&mut io::stdin().lock()));
        }
        if let Err(error) = self.open(path) {
            self.visitor.fault(&path.display().to_string(), error);
        }
    }

    /// Visits what bytes hold.
    pub fn input(&mut self, label: &Label, input: Input<'_>) {
        self.left.set(self.bounds.unpacked_bytes);
        if let Err(error) = self.unpack(label, input, 0) {
            self.visitor.fault(&label.shown, error);
        }
    }

    fn open(&mut self, path: &Path) -> Result<(), SourceError> {
        let metadata = std::fs::metadata(path)?;
        if metadata.is_dir() {
            return self.folder(path);
        }
        if !metadata.is_file() {
            return Err(SourceError::NoFile);
        }
        let label = Label {
            shown: path.display().to_string(),
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            modified_ms: metadata.modified().ok().and_then(since_1970_ms),
        };
        let mut file = Counted { inner: File::open(path)?, count: self.progress };
        self.input(&label, Input::File(&mut file));
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
        mut input: Input<'_>,
        layers: usize,
    ) -> Result<(), SourceError> {
        let start = input.start()?;
        let packing = Packing::of(&start);
        if packing.is_some() && layers == MAX_LAYERS {
            return Err(SourceError::Layers);
        }
        if packing == Some(Packing::Zip) {
            let Input::File(file) = input else { return Err(SourceError::ZipWithin) };
            return self.zip(label, file);
        }
        let mut whole = Cursor::new(&start).chain(input.reader());
        match packing {
            None | Some(Packing::Zip) => {
                let name = &label.name;
                let mut input = BufReader::with_capacity(BUFFER_BYTES, whole);
                let (shown, modified_ms) = (&*label.shown, label.modified_ms);
                self.visitor.file(SourceFile {
                    shown,
                    name,
                    modified_ms,
                    start: &start,
                    input: &mut input,
                });
                Ok(())
            }
            Some(Packing::Gzip) => {
                self.stream(&label.without(".gz"), &mut MultiGzDecoder::new(whole), layers)
            }
            Some(Packing::Xz) => {
                let stream = Stream::new_stream_decoder(XZ_MEMORY_BYTES, CONCATENATED);
                let mut reader = XzDecoder::new_stream(whole, stream.map_err(io::Error::from)?);
                self.stream(&label.without(".xz"), &mut reader, layers)
            }
            Some(Packing::Tar) => self.tar(label, &mut whole, layers),
        }
    }

    /// Unpacks what came out of one packing.
    fn stream(
        &mut self,
        label: &Label,
        reader: &mut dyn Read,
        layers: usize,
    ) -> Result<(), SourceError> {
        let (left, limit) = (Rc::clone(&self.left), self.bounds.unpacked_bytes);
        let mut bounded = Bounded { inner: reader, left, limit };
        self.unpack(label, Input::Stream(&mut bounded), layers + 1)
    }

    fn tar(
        &mut self,
        label: &Label,
        reader: &mut dyn Read,
        layers: usize,
    ) -> Result<(), SourceError> {
        let mut archive = tar::Archive::new(reader);
        for (index, entry) in archive.entries()?.enumerate() {
            if self.visitor.is_done() {
                break;
            }
            if index as u64 >= self.bounds.entries {
                return Err(SourceError::Entries { limit: self.bounds.entries });
            }
            let mut entry = entry?;
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            if !entry.header().entry_type().is_file() || is_hidden(&path) {
                continue;
            }
            let modified_ms = entry.header().mtime().ok().filter(|&seconds| seconds > 0);
            let modified_ms = modified_ms.and_then(|seconds| i64::try_from(seconds).ok());
            let inside = label.inside(&path, modified_ms.and_then(|s| s.checked_mul(1000)));
            if let Err(error) = self.stream(&inside, &mut entry, layers) {
                self.visitor.fault(&inside.shown, error);
            }
        }
        Ok(())
    }

    fn zip(&mut self, label: &Label, file: &mut dyn ReadSeek) -> Result<(), SourceError> {
        let mut archive = ZipArchive::new(file)?;
        if archive.len() as u64 > self.bounds.entries {
            return Err(SourceError::Entries { limit: self.bounds.entries });
        }
        for index in 0..archive.len() {
            if self.visitor.is_done() {
                break;
            }
            let entry = archive.by_index(index);
            let (name, is_file) = match &entry {
                Ok(entry) => (entry.name().map(Cow::into_owned), entry.is_file()),
                Err(_) => (Ok(format!("file {index}")), true),
            };
            let name = name.unwrap_or_else(|_| format!("file {index}"));
            if !is_file || is_hidden(&name) {
                continue;
            }
            let inside = label.inside(&name, label.modified_ms);
            let outcome = match entry {
                Ok(mut entry) => self.stream(&inside, &mut entry, 0),
                Err(error) => Err(error.into()),
            };
            if let Err(error) = outcome {
                self.visitor.fault(&inside.shown, error);
            }
        }
        Ok(())
    }
}

/// Names that the makers of archives put in for themselves.
fn is_hidden(path: &str) -> bool {
    path.split('/').any(|part| part.starts_with('.') && part != "." || part == "__MACOSX")
}

fn since_1970_ms(time: SystemTime) -> Option<i64> {
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

impl Label {
    fn without(&self, ending: &str) -> Self {
        let name = self.name.strip_suffix(ending).unwrap_or(&self.name).to_owned();
        Self { name, ..self.clone() }
    }

    fn inside(&self, path: &str, modified_ms: Option<i64>) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        Self { shown: format!("{}/{path}", self.shown), name, modified_ms }
    }
}

impl Input<'_> {
    fn reader(&mut self) -> &mut dyn Read {
        match self {
            Self::Stream(reader) => *reader,
            Self::File(file) => *file,
        }
    }

    fn start(&mut self) -> io::Result<Vec<u8>> {
        let mut start = Vec::with_capacity(DETECT_BYTES);
        self.reader().take(DETECT_BYTES as u64).read_to_end(&mut start)?;
        Ok(start)
    }
}

/// What a file is packed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Gzip,
    Xz,
    Tar,
    Zip,
}

impl Packing {
    fn of(start: &[u8]) -> Option<Self> {
        const TAR_MAGIC: usize = 257;
        if start.starts_with(b"\x1f\x8b") {
            Some(Self::Gzip)
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

/// Bytes of which only so many come.
struct Bounded<'a> {
    inner: &'a mut dyn Read,
    left: Rc<Cell<u64>>,
    limit: u64,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let Some(left) = self.left.get().checked_sub(read as u64) else {
            let text = format!("it unpacks to more than {} bytes, the limit", self.limit);
            return Err(io::Error::other(text));
        };
        self.left.set(left);
        Ok(read)
    }
}

/// Counts the bytes that are read.
struct Counted<'a, R> {
    inner: R,
    count: &'a AtomicU64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl<R: Seek> Seek for Counted<'_, R> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
