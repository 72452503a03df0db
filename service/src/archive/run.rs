//! Writing the past months of a record into an archive.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use mesonet::Reader;
use mesonet::store::{EmbeddedReader, StoreError};
use mesonet::time::DAY_MS;
use serde::Serialize;

use super::ArchiveError;
use super::manifest::{ArchivedMonth, KEPT_MS, Manifest, Number, delete_before};
use super::month::Month;
use super::write::MonthOf;
use crate::clock::system_ms;
use crate::place::Place;
use crate::record::{
    FOLLOWER, Record, RecordPlace, RecordSettings, refuse_unfinished_folder, writer_of_folder,
};

/// How long a month may take to write. Files that no manifest names are spared for longer.
const LONGEST_MS: i64 = DAY_MS;

/// What became of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It was not there before.
    Added,
    /// Its readings have changed since.
    Replaced,
    /// It is as it was.
    Unchanged,
    /// The record no longer holds all of it; what is in the archive stays.
    Kept,
    /// The record holds nothing of it, and neither does the archive.
    Gone,
    /// More of the record is damaged than was when it was archived, which stays.
    Damaged,
    /// The record has fewer readings of it than the archive, which stays.
    Fewer,
}

/// A month of the summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MonthDone {
    pub month: Month,
    pub outcome: Outcome,
    pub readings: u64,
    pub files: usize,
    pub sent_bytes: u64,
    /// Damaged blocks of the record whose readings are not in it.
    pub damaged: u64,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveSummary {
    pub place: String,
    pub months: Vec<MonthDone>,
    /// Files that the archive should have.
    pub faults: Vec<String>,
}

/// A record beside its server, from when on it holds readings, and the name by which places know it.
pub type Opened<'a> = (Arc<dyn Reader>, HeldNow<'a>, String);

/// Opens a record beside its server.
///
/// # Errors
/// There is no record, or it cannot be read.
pub fn open(settings: &RecordSettings) -> Result<Opened<'_>, ArchiveError> {
    match &settings.place {
        place @ RecordPlace::ClickHouse(_) => {
            // What is older is deleted there, also of what a reader sees.
            let held_now = || Record::reader(settings)?.held_from_ms();
            Ok((Record::reader(settings)?, Box::new(held_now), place.to_string()))
        }
        RecordPlace::Embedded(folder) => {
            if !folder.is_dir() {
                return Err(ArchiveError::NoRecord(folder.clone()));
            }
            if folder.join(FOLLOWER).exists() {
                return Err(ArchiveError::OfFollower(folder.clone()));
            }
            let reader = EmbeddedReader::open(folder)?;
            refuse_unfinished_folder(folder)?;
            let (reader, name) = (Arc::new(reader), writer_of_folder(folder)?);
            // Its files stay readable as they were when it was opened.
            let held = Arc::clone(&reader);
            Ok((reader, Box::new(move || held.held_from_ms()), name))
        }
    }
}

/// From when on a record holds readings now.
pub type HeldNow<'a> = Box<dyn Fn() -> Result<i64, StoreError> + 'a>;

/// One run.
pub struct Run<'a> {
    pub place: Place,
    pub store: &'a dyn Reader,
    /// From when on the record holds readings, as it is now and not as it was when it was opened.
    pub held_now: HeldNow<'a>,
    pub name: String,
    pub before_ms: i64,
    pub take_over: bool,
    pub file_readings: u64,
}

impl Run<'_> {
    /// Writes the months.
    ///
    /// # Errors
    /// The record cannot be read, or the place cannot be written; the months that were done stay.
    pub fn run(&self) -> Result<ArchiveSummary, ArchiveError> {
        let mut summary =
            ArchiveSummary { place: self.place.address().to_owned(), ..ArchiveSummary::default() };
        let (mut number, mut manifest) = Manifest::newest(&self.place)?;
        let is_new = number == Number::default();
        if is_new && self.place.folders()?.iter().any(|name| name.starts_with("year=")) {
            return Err(ArchiveError::NoManifest(self.place.address().to_owned()));
        }
        if !is_new && manifest.record != self.name && !self.take_over {
            let (place, other) = (self.place.address().to_owned(), manifest.record);
            return Err(ArchiveError::OfOther { place, other });
        }
        // Whose archive it is counts also if no month changes: retention asks for it.
        let mut unwritten = manifest.record != self.name;
        manifest.record.clone_from(&self.name);
        if is_new {
            // Files without any manifest would be those of an archive that has lost it.
            number = self.put(number, &manifest)?;
            unwritten = false;
        }
        for month in self.months(&manifest)? {
            let done = self.month(month, &mut number, &mut manifest, &mut unwritten)?;
            summary.faults.extend(self.sweep(month, &manifest)?);
            summary.months.push(done);
        }
        if unwritten {
            number = self.put(number, &manifest)?;
        }
        delete_before(&self.place, number, system_ms() - KEPT_MS)?;
        Ok(summary)
    }

    /// The months from the first reading, or the first of the archive, to the last that is to be there.
    fn months(&self, manifest: &Manifest) -> Result<Vec<Month>, ArchiveError> {
        let directory = self.store.directory()?;
        let held_ms = self.store.held_from_ms()?;
        let series = directory.stations.iter().flat_map(|record| &record.series);
        let first_ms = series.map(|known| known.first_appearance_ms.max(held_ms)).min();
        let archived_ms = manifest.months.first().map(|known| known.month.start_ms());
        let first_ms = archived_ms.into_iter().chain(first_ms).min();
        let last_ms = directory.stations.iter().filter_map(|record| record.update_time_ms).max();
        let archived_ms = manifest.months.last().map(|known| known.month.start_ms());
        let last_ms = archived_ms.into_iter().chain(last_ms).max();
        let (Some(first_ms), Some(last_ms)) = (first_ms, last_ms) else { return Ok(Vec::new()) };
        let is_past = |month: &Month| month.span_ms().end <= self.before_ms;
        Ok(Month::within(first_ms..last_ms.saturating_add(1)).take_while(is_past).collect())
    }

    fn month(
        &self,
        month: Month,
        number: &mut Number,
        manifest: &mut Manifest,
        unwritten: &mut bool,
    ) -> Result<MonthDone, ArchiveError> {
        let began_ms = system_ms();
        let known = manifest.month(month);
        let Range { start, end } = month.span_ms();
        let span_ms = start.max(self.store.held_from_ms()?)..end;
        let is_less = |from_ms: i64| known.is_some_and(|known| from_ms > known.from);
        if span_ms.is_empty() || is_less(span_ms.start) {
            return Ok(MonthDone::as_known(month, known));
        }
        let (place, store, file_readings) = (&self.place, self.store, self.file_readings);
        let of = MonthOf { place, store, month, span_ms: span_ms.clone(), known, file_readings };
        let written = of.write()?;
        let outcome = match known {
            // What was read may lack what was deleted meanwhile.
            _ if (self.held_now)()? > span_ms.start => {
                written.discard(place);
                return Ok(MonthDone::as_known(month, known));
            }
            None => Outcome::Added,
            Some(known) if *known == written.month => Outcome::Unchanged,
            Some(known) if written.month.damaged > known.damaged => Outcome::Damaged,
            // Only retention deletes readings, and what it has deleted was looked at above.
            Some(known) if written.month.readings < known.readings => Outcome::Fewer,
            Some(_) => Outcome::Replaced,
        };
        let stays = matches!(outcome, Outcome::Damaged | Outcome::Fewer);
        let counts = known.filter(|_| stays).unwrap_or(&written.month);
        let done = MonthDone {
            month,
            outcome,
            readings: counts.readings,
            files: counts.files.len(),
            sent_bytes: if stays { 0 } else { written.sent_bytes },
            damaged: written.month.damaged,
        };
        match outcome {
            Outcome::Added | Outcome::Replaced => {
                let old: Vec<String> = known
                    .iter()
                    .flat_map(|known| &known.files)
                    .map(|file| file.path.clone())
                    .filter(|path| written.month.files.iter().all(|file| file.path != *path))
                    .collect();
                if system_ms() - began_ms > LONGEST_MS {
                    written.discard(place);
                    return Err(ArchiveError::TooLong);
                }
                let next = manifest.with(written.month.clone());
                // Years without readings would each be a manifest for every month.
                *unwritten = old.is_empty() && written.month.files.is_empty();
                if !*unwritten {
                    *number = self.put(*number, &next)?;
                }
                *manifest = next;
                // Whoever still reads one of them finds it gone, and looks at the manifest again.
                for path in old {
                    place.delete(&path, i64::MAX)?;
                }
            }
            _ => written.discard(place),
        }
        Ok(done)
    }

    /// Makes a manifest the one that counts. If that fails, the files that it names stay for a while: it may count
    /// all the same.
    fn put(&self, number: Number, manifest: &Manifest) -> Result<Number, ArchiveError> {
        let number = manifest.put_after(&self.place, number)?;
        number.ok_or_else(|| ArchiveError::Meanwhile(self.place.address().to_owned()))
    }

    /// Looks at the files of a month: deletes those of runs that were cut off, and returns which are
    /// missing or of another length.
    fn sweep(&self, month: Month, manifest: &Manifest) -> Result<Vec<String>, ArchiveError> {
        let folder = month.folder();
        let old_ms = system_ms() - KEPT_MS;
        let found = self.place.list(&folder)?;
        let known = manifest.month(month);
        let files = known.map_or(&[][..], |known| &known.files);
        for object in &found {
            let path = format!("{folder}/{}", object.name);
            let is_named = files.iter().any(|file| file.path == path);
            if !is_named && object.written_ms < old_ms && is_ours(&object.name, month) {
                self.place.delete(&path, old_ms)?;
            }
        }
        Ok(known.map_or_else(Vec::new, |known| known.faults_among(&found)))
    }
}

/// Whether a file has the name of one that a run has written.
fn is_ours(name: &str, month: Month) -> bool {
    let inside =
        name.strip_prefix(&format!("{month}-")).and_then(|name| name.strip_suffix(".parquet"));
    inside.and_then(|inside| inside.split_once('-')).is_some_and(|(random, number)| {
        random.len() == 8
            && random.bytes().all(|byte| byte.is_ascii_hexdigit())
            && number.len() >= 4
            && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

impl MonthDone {
    /// Of a month of which the record holds less than the archive.
    fn as_known(month: Month, known: Option<&ArchivedMonth>) -> Self {
        Self {
            month,
            outcome: if known.is_some() { Outcome::Kept } else { Outcome::Gone },
            readings: known.map_or(0, |known| known.readings),
            files: known.map_or(0, |known| known.files.len()),
            sent_bytes: 0,
            damaged: known.map_or(0, |known| known.damaged),
        }
    }
}

impl ArchiveSummary {
    /// Whether all months are in the archive, and whole.
    pub fn is_whole(&self) -> bool {
        let is_whole = |month: &MonthDone| {
            month.damaged == 0 && !matches!(month.outcome, Outcome::Gone | Outcome::Fewer)
        };
        self.faults.is_empty() && self.months.iter().all(is_whole)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Added => "added",
            Self::Replaced => "written anew",
            Self::Unchanged => "unchanged",
            Self::Kept => "stays as it is: the record no longer holds all of it",
            Self::Gone => "not in the archive: the record no longer holds it",
            Self::Damaged => "stays as it is: more of the record is damaged now",
            Self::Fewer => "stays as it is: the record has fewer readings of it",
        })
    }
}

impl fmt::Display for ArchiveSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for MonthDone { month, outcome, readings, files, sent_bytes, damaged } in &self.months {
            write!(
                f,
                "{month}: {outcome}; {readings} readings, {files} files, {sent_bytes} bytes sent"
            )?;
            match damaged {
                0 => writeln!(f)?,
                _ => writeln!(f, "; {damaged} damaged blocks of the record are not in it")?,
            }
        }
        if self.months.is_empty() {
            writeln!(f, "no month is over; nothing to archive")?;
        }
        for fault in &self.faults {
            writeln!(f, "fault: {fault}; delete it and run again, or put it back")?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
