//! Writing the past months of a record into an archive.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use mesonet::Reader;
use mesonet::store::{EmbeddedReader, StoreError};
use mesonet::time::DAY_MS;
use serde::Serialize;

use super::ArchiveError;
use super::manifest::{ArchiveManifest, ArchivedMonth, KEPT_MS, Number, delete_before};
use super::month::Month;
use super::write::MonthOf;
use crate::clock::system_ms;
use crate::place::ObjectPlace;
use crate::record::{
    FOLLOWER, Record, RecordPlace, RecordSettings, refuse_unfinished_folder, writer_of_folder,
};

/// How long writing a month may take. Files that no manifest names are kept for longer.
const LONGEST_MS: i64 = DAY_MS;

/// What was done with a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MonthOutcome {
    /// It was not there before.
    Added,
    /// Its readings have changed since.
    Replaced,
    /// It has not changed.
    Unchanged,
    /// The record no longer holds all of it. The archive keeps what it has.
    Kept,
    /// Neither the record nor the archive holds any of it.
    Gone,
    /// More of the record is damaged than when the month was archived. The archive keeps what it
    /// has.
    Damaged,
    /// The record has fewer readings of it than the archive. The archive keeps what it has.
    Fewer,
}

/// A month of the summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MonthDone {
    pub month: Month,
    pub outcome: MonthOutcome,
    pub readings: u64,
    pub files: usize,
    pub sent_bytes: u64,
    /// Damaged blocks of the record, whose readings the archive lacks.
    pub damaged: u64,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchiveSummary {
    pub place: String,
    pub months: Vec<MonthDone>,
    /// Files that the archive should have but lacks.
    pub faults: Vec<String>,
}

/// A record that a server may have open, the time from which it holds readings, and its name in
/// places.
pub type Opened<'a> = (Arc<dyn Reader>, HeldFrom<'a>, String);

/// Opens a record that a server may have open.
///
/// # Errors
/// There is no record, or it cannot be read.
pub fn open(settings: &RecordSettings) -> Result<Opened<'_>, ArchiveError> {
    match &settings.place {
        place @ RecordPlace::ClickHouse(_) => {
            // Retention deletes older readings there, also those that a reader sees.
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
            // Its files stay readable as they were at opening.
            let held = Arc::clone(&reader);
            Ok((reader, Box::new(move || held.held_from_ms()), name))
        }
    }
}

/// The time from which a record holds readings now.
pub type HeldFrom<'a> = Box<dyn Fn() -> Result<i64, StoreError> + 'a>;

/// One run.
pub struct ArchiveRun<'a> {
    pub place: ObjectPlace,
    pub store: &'a dyn Reader,
    /// The time from which the record holds readings: now, not when the record was opened.
    pub held_now: HeldFrom<'a>,
    pub name: String,
    pub before_ms: i64,
    pub take_over: bool,
    pub file_readings: u64,
}

impl ArchiveRun<'_> {
    /// Writes the months.
    ///
    /// # Errors
    /// The record cannot be read, or the place cannot be written; the months that were done stay.
    pub fn run(&self) -> Result<ArchiveSummary, ArchiveError> {
        let mut summary =
            ArchiveSummary { place: self.place.address().to_owned(), ..ArchiveSummary::default() };
        // In this order: another run may begin meanwhile, and writes its manifest before its files.
        let has_months = self.place.folders()?.iter().any(|name| name.starts_with("year="));
        let (mut number, mut manifest) = ArchiveManifest::newest(&self.place)?;
        let is_new = number == Number::default();
        if is_new && has_months {
            return Err(ArchiveError::NoManifest(self.place.address().to_owned()));
        }
        if !is_new && manifest.record != self.name && !self.take_over {
            let (place, other) = (self.place.address().to_owned(), manifest.record);
            return Err(ArchiveError::OfOther { place, other });
        }
        // The manifest is written even if no month changes: retention needs to know whose archive
        // it is.
        let mut unwritten = manifest.record != self.name;
        manifest.record.clone_from(&self.name);
        if is_new {
            // Files without a manifest would look like an archive that has lost its manifest.
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

    /// The months from the first reading, or from the first month of the archive, to the last month
    /// to archive.
    fn months(&self, manifest: &ArchiveManifest) -> Result<Vec<Month>, ArchiveError> {
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
        manifest: &mut ArchiveManifest,
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
            // What was read may lack readings that retention has deleted in the meantime.
            _ if (self.held_now)()? > span_ms.start => {
                written.discard(place);
                return Ok(MonthDone::as_known(month, known));
            }
            None => MonthOutcome::Added,
            Some(known) if *known == written.month => MonthOutcome::Unchanged,
            Some(known) if written.month.damaged > known.damaged => MonthOutcome::Damaged,
            // Only retention deletes readings, and its deletions were handled above.
            Some(known) if written.month.readings < known.readings => MonthOutcome::Fewer,
            Some(_) => MonthOutcome::Replaced,
        };
        let stays = matches!(outcome, MonthOutcome::Damaged | MonthOutcome::Fewer);
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
            MonthOutcome::Added | MonthOutcome::Replaced => {
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
                // Otherwise years without readings would write a manifest for every month.
                *unwritten = old.is_empty() && written.month.files.is_empty();
                if !*unwritten {
                    *number = self.put(*number, &next)?;
                }
                *manifest = next;
                // A reader that still needs one of them finds it gone, and reads the manifest
                // again.
                for path in old {
                    place.delete(&path, i64::MAX)?;
                }
            }
            _ => written.discard(place),
        }
        Ok(done)
    }

    /// Puts a manifest, which makes it the valid one. If that fails, the files that it names are
    /// kept for a while: it may be valid all the same.
    fn put(&self, number: Number, manifest: &ArchiveManifest) -> Result<Number, ArchiveError> {
        let number = manifest.put_after(&self.place, number)?;
        number.ok_or_else(|| ArchiveError::Meanwhile(self.place.address().to_owned()))
    }

    /// Checks the files of a month. Deletes those of runs that were cut off, and returns those that
    /// are missing or have another length.
    fn sweep(&self, month: Month, manifest: &ArchiveManifest) -> Result<Vec<String>, ArchiveError> {
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
        Ok(known.map_or_else(Vec::new, |known| known.faults(&found)))
    }
}

/// Whether a file is named as runs name their files.
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
    /// If the record holds less of a month than the archive.
    fn as_known(month: Month, known: Option<&ArchivedMonth>) -> Self {
        Self {
            month,
            outcome: if known.is_some() { MonthOutcome::Kept } else { MonthOutcome::Gone },
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
            month.damaged == 0 && !matches!(month.outcome, MonthOutcome::Gone | MonthOutcome::Fewer)
        };
        self.faults.is_empty() && self.months.iter().all(is_whole)
    }
}

impl fmt::Display for MonthOutcome {
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
