//! The readings of a station from an archive, for bulk export.
//!
//! Only the end of a file is fetched, and the row groups that may have the station. Each is checked
//! before use. A part that is missing or damaged counts as a damaged block of the answer. If the
//! place cannot be reached, or has no archive, there is no answer.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mesonet::StationId;
use mesonet::export::archive::ArchiveTail;
use mesonet::store::{
    Damage, PastReadings, SeriesSlice, StationReadings, StationRecord, StoreError,
};

use super::manifest::{ArchiveManifest, ArchivedFile, ArchivedMonth};
use super::month::Month;
use super::write::may_have;
use crate::hex::hex_sha256;
use crate::place::{ObjectPlace, PlaceError};
use crate::sync::lock;

/// Numbers for the blocks of a file: one for each row group, and this one for its end.
const BLOCKS: u32 = 1 << 12;

/// How long reading bytes of an object may take, since a caller waits for them. It is the time of 4
/// MiB at 4 Mbit/s.
const RANGE_PATIENCE: Duration = Duration::from_secs(10);

/// How long the result of the last look is used.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(600);

/// Stands for a whole month.
const ALL: u32 = u32::MAX;

/// The archive that a server's bulk export reads older readings from.
#[derive(Debug)]
pub struct Archive {
    address: String,
    /// Opened when it is first needed: the archive may be created after the server starts.
    place: Mutex<Option<Arc<ObjectPlace>>>,
    /// What was found damaged or missing. Each is logged once.
    logged: Mutex<BTreeSet<String>>,
    pub(super) looked: Mutex<Option<LastLook>>,
}

/// What the last look found.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastLook {
    pub at: Instant,
    pub cutoff_ms: i64,
    /// The time before which the archive has all of the record; `None` if that could not be found
    /// out.
    pub until_ms: Option<i64>,
}

impl Archive {
    /// The archive at a place.
    pub fn new(address: &str) -> Self {
        let address = crate::place::absolute(address);
        Self {
            address,
            place: Mutex::default(),
            logged: Mutex::default(),
            looked: Mutex::default(),
        }
    }

    /// Opens it for one answer.
    pub fn open(self: &Arc<Self>) -> Arc<OpenArchive> {
        Arc::new(OpenArchive { archive: Arc::clone(self), state: Mutex::default() })
    }

    pub fn away(&self, cause: &dyn Display) -> StoreError {
        let path = format!("the archive {}", self.address);
        StoreError::Unavailable { path, cause: cause.to_string() }
    }

    /// # Errors
    /// The place cannot be opened.
    pub fn place(&self) -> Result<Arc<ObjectPlace>, StoreError> {
        let mut place = lock(&self.place);
        if let Some(place) = &*place {
            return Ok(Arc::clone(place));
        }
        let opened = ObjectPlace::open(&self.address).map_err(|error| self.away(&error))?;
        let opened = opened.patient_for(RANGE_PATIENCE);
        Ok(Arc::clone(place.insert(Arc::new(opened))))
    }

    /// # Errors
    /// The manifest cannot be read.
    pub fn manifest(&self) -> Result<Arc<ArchiveManifest>, StoreError> {
        let newest = ArchiveManifest::newest(&*self.place()?);
        newest.map(|(_, manifest)| Arc::new(manifest)).map_err(|error| self.away(&error))
    }

    pub(super) fn log(&self, fault: String) {
        let mut logged = lock(&self.logged);
        if !logged.contains(&fault) {
            tracing::error!("the archive {}: {fault}", self.address);
            logged.insert(fault);
        }
    }
}

/// The archive during one answer.
#[derive(Debug)]
pub struct OpenArchive {
    archive: Arc<Archive>,
    state: Mutex<AnswerState>,
}

#[derive(Debug, Default)]
struct AnswerState {
    manifest: Option<Arc<ArchiveManifest>>,
    /// The last month for which the manifest was read again.
    read_again: Option<Month>,
    /// The end of the file that was read last.
    tail: Option<(String, Arc<ArchiveTail>)>,
    /// The row groups that were read last.
    groups: Vec<CachedGroup>,
    /// What was missing so far in this answer.
    damage: Damage,
    is_planned: bool,
}

#[derive(Debug)]
struct CachedGroup {
    station: StationId,
    path: String,
    group: usize,
    readings: Arc<StationReadings>,
}

/// Why a part of a file cannot be read.
enum ReadFault {
    /// The file is gone: it was replaced or lost.
    Gone,
    Damaged(String),
    Away(StoreError),
}

/// What a scan finds.
#[derive(Default)]
struct FoundGroups {
    groups: Vec<CachedGroup>,
    damage: Damage,
}

impl OpenArchive {
    /// Says that the scan is over: the caller is told what is missing. From now on reading fails if
    /// more is missing.
    pub fn planned(&self) {
        lock(&self.state).is_planned = true;
    }

    /// Finds the readings of a month.
    fn month(
        &self,
        state: &mut AnswerState,
        month: Month,
        station: &StationRecord,
        span_ms: &Range<i64>,
        found: &mut FoundGroups,
    ) -> Result<(), StoreError> {
        loop {
            let manifest = self.manifest(state)?;
            let Some(known) = manifest.month(month) else {
                if self.read_again(state, month)? {
                    continue;
                }
                self.archive.log(format!("{month} is not in it"));
                found.damage.add(-month.number(), ALL);
                return Ok(());
            };
            let is_first = manifest.months.first().is_some_and(|first| first.month == month);
            if span_ms.start.max(month.start_ms()) < known.from && !is_first {
                self.archive.log(format!("{month} is in it only in part"));
                found.damage.add(-month.number(), ALL);
            }
            for block in 0..known.damaged {
                found.damage.add(-month.number(), ALL - 1 - block as u32);
            }
            let Some(at) = known.files.iter().position(|file| may_have(file, station.station.id))
            else {
                return Ok(());
            };
            let before = found.groups.len();
            match self.file(state, (known, at), station, span_ms, found) {
                Ok(()) => return Ok(()),
                Err(ReadFault::Gone) if self.read_again(state, month)? => {
                    found.groups.truncate(before);
                }
                Err(fault) => {
                    let file = &known.files[at].path;
                    let cause = match fault {
                        ReadFault::Gone => "it is missing".to_owned(),
                        ReadFault::Damaged(cause) => cause,
                        ReadFault::Away(error) => return Err(error),
                    };
                    self.archive.log(format!("{file}: {cause}"));
                    found.damage.add(-month.number(), at as u32 * BLOCKS + BLOCKS - 1);
                    return Ok(());
                }
            }
        }
    }

    /// Finds the readings of a station in a file.
    fn file(
        &self,
        state: &mut AnswerState,
        (known, at): (&ArchivedMonth, usize),
        station: &StationRecord,
        span_ms: &Range<i64>,
        found: &mut FoundGroups,
    ) -> Result<(), ReadFault> {
        let file = &known.files[at];
        let tail = match &state.tail {
            Some((path, tail)) if *path == file.path => Arc::clone(tail),
            _ => {
                let tail = Arc::new(self.tail(file)?);
                state.tail = Some((file.path.clone(), Arc::clone(&tail)));
                tail
            }
        };
        let id = station.station.id;
        for group in tail.groups_of(id, span_ms) {
            let is_same = |held: &&CachedGroup| {
                held.station == id && held.group == group && held.path == file.path
            };
            let held = state.groups.iter().find(is_same).map(|held| Arc::clone(&held.readings));
            let read = || {
                let bytes = self.bytes(file, tail.bytes_of(group))?;
                Ok::<_, ReadFault>(tail.read(group, bytes, station).map(Arc::new))
            };
            match held.map_or_else(read, |held| Ok(Ok(held)))? {
                Ok(readings) => {
                    found.groups.push(CachedGroup {
                        station: id,
                        path: file.path.clone(),
                        group,
                        readings,
                    });
                }
                Err(cause) => {
                    self.archive.log(format!("{}: {cause}", file.path));
                    let block = (group as u32).min(BLOCKS - 2);
                    found.damage.add(-known.month.number(), at as u32 * BLOCKS + block);
                }
            }
        }
        Ok(())
    }

    fn tail(&self, file: &ArchivedFile) -> Result<ArchiveTail, ReadFault> {
        let cut = || ReadFault::Damaged("its tail is longer than it".to_owned());
        let from = file.bytes.checked_sub(file.tail).ok_or_else(cut)?;
        let tail = self.bytes(file, from..file.bytes)?;
        if hex_sha256(&tail) != file.tail_sha256 {
            return Err(ReadFault::Damaged("its end does not match its checksum".to_owned()));
        }
        let parsed = ArchiveTail::parse(&tail, file.bytes);
        parsed.map_err(|damage| ReadFault::Damaged(damage.to_string()))
    }

    fn bytes(&self, file: &ArchivedFile, range: Range<u64>) -> Result<Vec<u8>, ReadFault> {
        let away = |error: PlaceError| ReadFault::Away(self.archive.away(&error));
        let place = self.archive.place().map_err(ReadFault::Away)?;
        let length = range.end - range.start;
        match place.get_range(&file.path, range) {
            Ok(bytes) if bytes.len() as u64 == length => Ok(bytes),
            got => match place.length(&file.path).map_err(away)? {
                None => Err(ReadFault::Gone),
                Some(length) if length != file.bytes => Err(ReadFault::Damaged(format!(
                    "it has {length} bytes; the manifest says {}",
                    file.bytes
                ))),
                Some(_) => Err(match got {
                    Err(error) => away(error),
                    Ok(_) => ReadFault::Damaged("fewer bytes came than it has".to_owned()),
                }),
            },
        }
    }

    fn manifest(&self, state: &mut AnswerState) -> Result<Arc<ArchiveManifest>, StoreError> {
        if let Some(manifest) = &state.manifest {
            return Ok(Arc::clone(manifest));
        }
        Ok(Arc::clone(state.manifest.insert(self.archive.manifest()?)))
    }

    /// Reads the manifest again, at most once for each month. Returns whether it did.
    fn read_again(&self, state: &mut AnswerState, month: Month) -> Result<bool, StoreError> {
        if state.read_again == Some(month) {
            return Ok(false);
        }
        state.manifest = Some(self.archive.manifest()?);
        state.read_again = Some(month);
        Ok(true)
    }
}

impl PastReadings for OpenArchive {
    fn scan(
        &self,
        station: &StationRecord,
        span_ms: Range<i64>,
        visit: &mut dyn FnMut(&[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let mut state = lock(&self.state);
        let manifest = self.manifest(&mut state)?;
        let Some(first) = manifest.months.first() else {
            return Err(self
                .archive
                .away(&"there is no archive yet; mesonet-server archive writes it"));
        };
        // Older readings were gone before the archive began.
        let span_ms = span_ms.start.max(first.from)..span_ms.end;
        let mut found = FoundGroups::default();
        for month in Month::within(span_ms.clone()) {
            self.month(&mut state, month, station, &span_ms, &mut found)?;
        }
        let mut all = state.damage.clone();
        all.join(found.damage.clone());
        if state.is_planned && all != state.damage {
            let path = format!("the archive {}", self.archive.address);
            let cause = "a part of it was lost while an answer was being sent".to_owned();
            return Err(StoreError::Storage { path, cause });
        }
        state.damage = all;
        state.groups = found.groups;
        let mut slices: Vec<SeriesSlice<'_>> =
            state.groups.iter().flat_map(|held| held.readings.slices(&span_ms)).collect();
        // Stable: earlier readings stay first.
        slices.sort_by_key(|slice| slice.series.id);
        if !slices.is_empty() {
            visit(&slices);
        }
        Ok(found.damage)
    }
}
