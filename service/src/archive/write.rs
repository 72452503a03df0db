//! Writes a month of a record into the files of an archive.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use mesonet::export::ExportError;
use mesonet::export::archive::ArchiveWriter;
use mesonet::store::{Selection, StationRecord, StoreError, Watched};
use mesonet::{ClosedWindow, Reader, StationId};
use sha2::{Digest, Sha256};

use super::ArchiveError;
use super::ahead::{ReadAhead, variables};
use super::manifest::{ArchivedFile, ArchivedMonth};
use super::month::Month;
use crate::hex::{hex, hex_sha256};
use crate::place::ObjectPlace;
use crate::sync::lock;

/// Number of readings after which a file ends, once the current station is complete.
pub const FILE_READINGS: u64 = 4_000_000;

/// Number of stations that are looked for at once.
pub const STATIONS_AT_ONCE: usize = 512;

/// A month that was written.
pub struct WrittenMonth {
    pub month: ArchivedMonth,
    /// The files that were sent; the others were there already.
    pub sent: Vec<String>,
    /// How many bytes they have.
    pub sent_bytes: u64,
}

/// What is written, and where.
pub struct MonthOf<'a> {
    pub place: &'a ObjectPlace,
    pub store: &'a dyn Reader,
    pub month: Month,
    /// The part of the month that the record holds.
    pub span_ms: Range<i64>,
    /// What the archive has of the month. Files that would be the same are kept.
    pub known: Option<&'a ArchivedMonth>,
    pub file_readings: u64,
}

impl MonthOf<'_> {
    /// Writes the files of the month. Nothing names them yet.
    ///
    /// # Errors
    /// The record cannot be read, or the place cannot be written. Files that were sent are deleted
    /// again if possible.
    pub fn write(&self) -> Result<WrittenMonth, ArchiveError> {
        let mut written = WrittenMonth {
            month: ArchivedMonth {
                month: self.month,
                from: self.span_ms.start,
                readings: 0,
                damaged: 0,
                files: Vec::new(),
            },
            sent: Vec::new(),
            sent_bytes: 0,
        };
        let done = self.write_into(&mut written);
        if done.is_err() {
            written.discard(self.place);
        }
        done.map(|()| written)
    }

    fn write_into(&self, written: &mut WrittenMonth) -> Result<(), ArchiveError> {
        let store = Watched::new(self.store);
        let directory = store.directory()?;
        // Differs from run to run, so that no run deletes the files of another.
        let random = getrandom::u32().map_err(io::Error::from)?;
        let beside = Temporary::default();
        let mut open = None;
        let window = window_of(&self.span_ms)?;
        let mut ahead = ReadAhead::new(&store, window);
        let stations: Vec<_> = directory.stations.iter().cloned().collect();
        for stations in stations.chunks(STATIONS_AT_ONCE) {
            let stations = with_readings(&store, stations, window)?;
            for (at, record) in stations.iter().enumerate() {
                ahead.hold(&stations[at..])?;
                let mut writer = match open.take() {
                    Some(writer) => writer,
                    None => beside.of(ArchiveWriter::new(beside.file()?))?,
                };
                beside.of(writer.station(&ahead, record, self.span_ms.clone()))?;
                if writer.readings() >= self.file_readings {
                    self.end_file(writer, &beside, random, written)?;
                } else {
                    open = Some(writer);
                }
            }
        }
        if let Some(writer) = open {
            self.end_file(writer, &beside, random, written)?;
        }
        written.month.damaged = store.damage().blocks();
        Ok(())
    }

    fn end_file(
        &self,
        writer: ArchiveWriter<Hashed>,
        beside: &Temporary,
        random: u32,
        written: &mut WrittenMonth,
    ) -> Result<(), ArchiveError> {
        let Some((first, last)) = writer.stations() else { return Ok(()) };
        let (Hashed { mut file, sha256, .. }, summary) = beside.of(writer.finish())?;
        let sha256 = hex(&sha256.finalize());
        let mut tail = Vec::new();
        let end = SeekFrom::Start(summary.bytes - summary.tail);
        let read = file.seek(end).and_then(|_| file.read_to_end(&mut tail));
        read.map_err(Temporary::failed)?;
        written.month.readings += summary.readings;
        if let Some(same) = self.same(&sha256, summary.bytes)? {
            written.month.files.push(same.clone());
            return Ok(());
        }
        let (month, at) = (self.month, written.month.files.len());
        let path = format!("{}/{month}-{random:08x}-{at:04}.parquet", month.folder());
        written.sent.push(path.clone());
        self.place.put_file(&path, &sha256, &file, |_| {})?;
        written.sent_bytes += summary.bytes;
        written.month.files.push(ArchivedFile {
            path,
            readings: summary.readings,
            first,
            last,
            bytes: summary.bytes,
            sha256,
            tail: summary.tail,
            tail_sha256: hex_sha256(&tail),
        });
        Ok(())
    }

    /// The file of the archive that has this content, if it is there.
    fn same(&self, sha256: &str, bytes: u64) -> Result<Option<&ArchivedFile>, ArchiveError> {
        let mut files = self.known.iter().flat_map(|known| &known.files);
        let Some(same) = files.find(|file| file.sha256 == sha256 && file.bytes == bytes) else {
            return Ok(None);
        };
        Ok((self.place.length(&same.path)? == Some(bytes)).then_some(same))
    }
}

/// The window of a span. A window has at least two instants, so that of a span of one instant has
/// the next one too.
pub fn window_of(span_ms: &Range<i64>) -> Result<ClosedWindow, StoreError> {
    let (start_ms, last_ms) = (span_ms.start, span_ms.end - 1);
    let window = ClosedWindow::new(start_ms, last_ms.max(start_ms + 1));
    window.map_err(|error| StoreError::Columns(error.to_string()))
}

/// Those of some stations that have readings in a window. In a record of years, most stations have
/// no readings in most months, and it is cheap to find out for many at once.
fn with_readings<'d>(
    store: &dyn Reader,
    stations: &'d [Arc<StationRecord>],
    window: ClosedWindow,
) -> Result<Vec<&'d StationRecord>, StoreError> {
    let ids: Vec<StationId> = stations.iter().map(|record| record.station.id).collect();
    let variables = variables(stations.iter().map(Arc::as_ref));
    let selection = Selection { stations: &ids, variables: &variables, window };
    let mut found = Vec::new();
    store.scan_latest(&selection, &mut |i, _| found.push(&*stations[i]))?;
    Ok(found)
}

impl WrittenMonth {
    /// Deletes the files that were sent, which no manifest names. A later run deletes those that
    /// cannot be deleted now.
    pub fn discard(&self, place: &ObjectPlace) {
        for path in &self.sent {
            let _ = place.delete(path, i64::MAX);
        }
    }
}

/// The temporary folder, and why it could not be written. The Parquet writer keeps only the text of
/// an error.
#[derive(Default)]
struct Temporary(Arc<Mutex<Option<io::Error>>>);

impl Temporary {
    fn file(&self) -> Result<Hashed, ArchiveError> {
        let file = tempfile::tempfile().map_err(Self::failed)?;
        Ok(Hashed { file, sha256: Sha256::new(), failure: Arc::clone(&self.0) })
    }

    fn of<T>(&self, done: Result<T, ExportError>) -> Result<T, ArchiveError> {
        done.map_err(|error| {
            let cause = lock(&self.0).take();
            cause.map_or(error.into(), Self::failed)
        })
    }

    fn failed(cause: io::Error) -> ArchiveError {
        ArchiveError::Temporary { folder: std::env::temp_dir(), cause }
    }
}

/// A file in the temporary folder, and the checksum of what was written to it.
struct Hashed {
    file: File,
    sha256: Sha256,
    failure: Arc<Mutex<Option<io::Error>>>,
}

impl Write for Hashed {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.file.write(buffer).inspect_err(|error| {
            let error = io::Error::new(error.kind(), error.to_string());
            *lock(&self.failure) = Some(error);
        })?;
        self.sha256.update(&buffer[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Whether a station may be in a file.
pub fn may_have(file: &ArchivedFile, station: StationId) -> bool {
    (file.first..=file.last).contains(&station)
}
