//! A copy of a store at one moment, made while the store may be written.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use super::access::Access;
use super::alert_file::copy_alerts;
use super::catalogue::{RecordCatalogue, SegmentEntry};
use super::contents::check_record;
use super::copy::{copy_count, copy_database};
use super::count::JOURNAL_COUNT;
use super::fault::{Fault, storage};
use super::mapped::{BLOCK_BYTES, missing};
use super::names::DATABASE;
use crate::store::StoreError;

/// How many times a copy begins again because a segment that it names was merged in the meantime.
const ATTEMPTS: usize = 5;

/// A store as it was at one moment; see [`EmbeddedStore::freeze`](super::EmbeddedStore::freeze).
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let dir = folder.path();
/// # use mesonet::{EmbeddedStore, Intake, intake::FeedFile, store::EmbeddedOptions};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = EmbeddedStore::open(dir, EmbeddedOptions::default())?;
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::store::{FrozenStore, FrozenSegment, Maintenance};
/// store.maintain(&Maintenance { seal_all: true, ..Maintenance::default() })?;
/// // The store stays open, and is written on.
/// let copy = tempfile::tempdir()?;
/// let frozen: FrozenStore = EmbeddedStore::freeze(dir, copy.path())?;
/// assert_eq!(frozen.files, ["mesonet.sqlite", "mesonet.count"]);
/// std::fs::create_dir(copy.path().join("segments"))?;
/// // One of readings, and one of the text of the report.
/// let segments: &[FrozenSegment] = &frozen.segments;
/// assert_eq!(segments.len(), 2);
/// for segment in segments {
///     assert_eq!(segment.check(), Ok(()));
///     std::fs::copy(dir.join(segment.name()), copy.path().join(segment.name()))?;
/// }
/// assert_eq!(EmbeddedStore::verify(copy.path(), false)?.faults, []);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FrozenStore {
    /// Names of the files that were written, relative to the folder of the copy.
    pub files: Vec<&'static str>,
    /// The sealed segments that the copied catalogue names.
    pub segments: Vec<FrozenSegment>,
    /// What was acknowledged but is not in the copy, unless the operator has given it up: missing
    /// segments, and parts set aside before.
    pub lost: Vec<Fault>,
    /// Whether a segment is missing.
    is_missing: bool,
}

/// A sealed segment of a [`FrozenStore`] store. Its file is open, so it can be read even after the
/// store has merged or dropped it.
#[derive(Debug)]
pub struct FrozenSegment {
    entry: SegmentEntry,
    file: File,
}

impl FrozenSegment {
    /// Returns the name of the file, relative to the store's folder.
    pub fn name(&self) -> String {
        self.entry.file()
    }

    /// Returns the length of the file when it was written.
    pub fn length(&self) -> u64 {
        self.entry.length
    }

    /// Returns the number of readings in it.
    pub fn readings(&self) -> u64 {
        self.entry.readings
    }

    /// Returns a text that identifies the content of the segment, without reading the file: a
    /// checksum of its number, span and length and of the checksums of its blocks, as the catalogue
    /// states them.
    pub fn mark(&self) -> String {
        let entry = &self.entry;
        let numbers = [entry.sequence, entry.readings as i64, entry.first_ms, entry.last_ms];
        let mut hasher = crc32fast::Hasher::new();
        for number in numbers {
            hasher.update(&number.to_le_bytes());
        }
        for checksum in &entry.checksums {
            hasher.update(&checksum.to_le_bytes());
        }
        format!("{}-{}-{:08x}", entry.id, entry.length, hasher.finalize())
    }

    /// Returns the open file, to be read from its beginning.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Compares every block of the file with its checksum.
    ///
    /// # Errors
    /// The first damaged block, or the message of the system.
    pub fn check(&self) -> Result<(), Fault> {
        let fault = |cause: String| Fault::new(self.name(), cause);
        let failed = |error: io::Error| fault(error.to_string());
        let found = self.file.metadata().map_err(failed)?.len();
        if found != self.entry.length {
            return Err(fault(format!("{found} bytes long; it must be {}", self.entry.length)));
        }
        io::Seek::rewind(&mut &self.file).map_err(failed)?;
        let mut file = BufReader::with_capacity(BLOCK_BYTES, &self.file);
        let mut block = Vec::with_capacity(BLOCK_BYTES);
        for (at, checksum) in self.entry.checksums.iter().enumerate() {
            block.clear();
            file.by_ref().take(BLOCK_BYTES as u64).read_to_end(&mut block).map_err(failed)?;
            if crc32fast::hash(&block) != *checksum {
                let start = at * BLOCK_BYTES;
                let end = start + block.len();
                return Err(fault(format!("bytes {start} to {end} do not match their checksum")));
            }
        }
        io::Seek::rewind(&mut &self.file).map_err(failed)
    }
}

pub(super) fn freeze(dir: &Path, into: &Path) -> Result<FrozenStore, StoreError> {
    check_record(dir)?;
    let mut attempts = ATTEMPTS;
    loop {
        let frozen = Access::reading(dir, |access| copy(dir, into, access))?;
        attempts -= 1;
        // A segment may have been merged since the databases were copied.
        if attempts == 0 || !frozen.is_missing {
            return Ok(frozen);
        }
    }
}

/// Makes a copy.
fn copy(dir: &Path, into: &Path, access: &Access) -> Result<FrozenStore, StoreError> {
    let mut files = vec![DATABASE];
    copy_database(access, &dir.join(DATABASE), &into.join(DATABASE))?;
    let catalogue = RecordCatalogue::unwritten(into)?;
    let count = || catalogue.last_batch();
    if copy_count(access, dir, into, JOURNAL_COUNT, count)? {
        files.push(JOURNAL_COUNT);
    }
    files.extend(copy_alerts(dir, into, access)?);

    // Damaged entries are copied unchanged; the store sets them aside when it is opened.
    let mut segments = Vec::new();
    let mut lost: Vec<Fault> =
        catalogue.lost_unasked()?.into_iter().map(|(_, fault)| fault).collect();
    let mut is_missing = false;
    for entry in catalogue.segments()?.0 {
        let path = dir.join(entry.file());
        match File::open(&path) {
            Ok(file) => segments.push(FrozenSegment { entry, file }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                is_missing = true;
                lost.push(missing(&entry.file()));
            }
            Err(error) => return Err(storage(&path, &error)),
        }
    }
    Ok(FrozenStore { files, segments, lost, is_missing })
}
