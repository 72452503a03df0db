//! Checks every file of a store.
//!
//! Everything is read first, and nothing is written. Only then, if requested, is damage set aside.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::VerifyReport;
use super::access::Access;
use super::alert_file::{read_alerts, salvage_alerts};
use super::catalogue::{
    BatchNote, JournalEntry, RecordCatalogue, Retired, SegmentEntry, add_lost, add_segment,
    begin_segment, end_segment, journal_batch, mark_batch, retire_segment, set_note,
};
use super::contents::check_catalogue;
use super::fault::{Fault, Faults};
use super::folder::{Folder, length, orphaned};
use super::maintain::lost_block;
use super::mapped::missing;
use super::names::{ALERTS, DAMAGED, DATABASE};
use super::open::decode_batch;
use super::report_texts::Content;
use super::segment::Segment;
use super::segment_file::{NewSegment, write_segment};
use super::series_table::SeriesList;
use super::sweep::next_segment;
use super::unwritten;
use crate::lock::FileLock;
use crate::observation::StationId;
use crate::store::StoreError;

/// Keeps others away while files are checked.
enum Guard {
    Shared { _lock: Option<FileLock> },
    Alone(Folder),
}

/// A fault, and the possible remedy.
enum RecordDamage {
    /// A segment, with its entry if that is intact.
    Segment(i64, Option<SegmentEntry>, Vec<Fault>),
    Batch(JournalEntry, Fault),
    /// The damaged note of an intact batch, and its correct content.
    Note(i64, BatchNote, Fault),
    /// Acknowledged batches that are missing: the loss can be accepted.
    Missing(Fault),
    /// A segment or a batch that was set aside before: the loss can be accepted.
    Lost(Fault),
    /// Any fault of the alerts: readable alerts are saved.
    Alerts(Fault),
}

pub(super) fn verify(dir: &Path, set_aside: bool) -> Result<VerifyReport, StoreError> {
    let guard = if set_aside {
        Guard::Alone(Folder::lock(dir)?)
    } else {
        Guard::Shared { _lock: unwritten::share_folder(dir)? }
    };
    let mut report = VerifyReport::default();
    let mut damaged = check_readings(dir, &mut report)?;
    check_alerts(dir, &mut report, &mut damaged)?;
    report.faults.extend(damaged.iter().flat_map(|damage| damage.faults().to_vec()));
    report.faults.extend(orphaned(dir)?);
    if let Guard::Alone(folder) = guard {
        set_aside_all(&folder, &damaged, &mut report)?;
    }
    Ok(report)
}

fn set_aside_all(
    folder: &Folder,
    damaged: &[RecordDamage],
    report: &mut VerifyReport,
) -> Result<(), StoreError> {
    let (of_alerts, of_readings): (Vec<_>, Vec<_>) =
        damaged.iter().partition(|damage| matches!(damage, RecordDamage::Alerts(_)));
    if !of_readings.is_empty() {
        let mut catalogue = RecordCatalogue::open(&folder.path, false)?;
        let (series, _) = catalogue.series()?;
        for damage in of_readings {
            match damage {
                RecordDamage::Segment(_, Some(entry), _) => {
                    if !rescue(folder, &mut catalogue, entry.clone(), &series)? {
                        continue;
                    }
                }
                RecordDamage::Segment(id, None, faults) => {
                    for fault in faults {
                        catalogue.set_segment_aside(folder, *id, None, fault)?;
                    }
                }
                RecordDamage::Batch(entry, fault) => catalogue
                    .transaction(|transaction| mark_batch(transaction, entry, &fault.cause))?,
                RecordDamage::Note(id, note, _) => {
                    catalogue.transaction(|transaction| set_note(transaction, *id, note))?;
                }
                RecordDamage::Missing(_) => catalogue.forget_missing_batches()?,
                RecordDamage::Lost(..) | RecordDamage::Alerts(_) => {}
            }
            report.set_aside.extend(damage.faults().to_vec());
        }
        // The caller is told what is set aside.
        let lost: Vec<i64> = catalogue.lost_unasked()?.into_iter().map(|(part, _)| part).collect();
        if !lost.is_empty() {
            catalogue.give_up(lost)?;
        }
    }
    if !of_alerts.is_empty() {
        report.alerts = salvage_alerts(folder)?;
        report.set_aside.extend(of_alerts.iter().flat_map(|damage| damage.faults().to_vec()));
    }
    Ok(())
}

/// Accepts that segments are gone for good; see [`EmbeddedStore::give_up`](super::EmbeddedStore::give_up).
pub(super) fn give_up(dir: &Path, files: &[String]) -> Result<Vec<Fault>, StoreError> {
    let folder = Folder::lock(dir)?;
    check_catalogue(dir)?;
    let mut catalogue = RecordCatalogue::open(dir, false)?;
    let (entries, lost) = (catalogue.segments()?.0, catalogue.lost_unasked()?);
    let mut given_up = Vec::new();
    // Checked first, so that all are given up, or none.
    for file in files {
        let entry = entries.iter().find(|entry| entry.file() == *file);
        let entry = entry.filter(|entry| !dir.join(entry.file()).exists());
        let was_lost = || lost.iter().find(|(_, fault)| fault.file == *file);
        match (entry, was_lost()) {
            (Some(entry), _) => given_up.push((entry.id, Some(entry), missing(file))),
            (None, Some((part, fault))) => given_up.push((*part, None, fault.clone())),
            (None, None) => {
                let cause = "it is not missing, so it cannot be given up; mesonet-server verify \
                             names the missing files";
                return Err(StoreError::Storage { path: file.clone(), cause: cause.to_owned() });
            }
        }
    }
    for (part, entry, _) in &given_up {
        if let Some(entry) = entry {
            catalogue.set_segment_aside(&folder, *part, Some(entry), &missing(&entry.file()))?;
        }
        catalogue.give_up([*part])?;
    }
    Ok(given_up.into_iter().map(|(_, _, fault)| fault).collect())
}

impl RecordDamage {
    fn faults(&self) -> &[Fault] {
        match self {
            Self::Segment(_, _, faults) => faults,
            Self::Batch(_, fault)
            | Self::Note(_, _, fault)
            | Self::Missing(fault)
            | Self::Lost(fault)
            | Self::Alerts(fault) => std::slice::from_ref(fault),
        }
    }
}

/// Checks the journal, the stations, the series and the segments. Returns the parts that can be set
/// aside.
fn check_readings(dir: &Path, report: &mut VerifyReport) -> Result<Vec<RecordDamage>, StoreError> {
    let mut damaged = Vec::new();
    match read_readings(dir, report, &mut damaged) {
        // An unreadable database does not affect the rest of the folder.
        Err(StoreError::Storage { cause, .. }) => report.faults.push(Fault::new(DATABASE, cause)),
        read => read?,
    }
    Ok(damaged)
}

fn read_readings(
    dir: &Path,
    report: &mut VerifyReport,
    damaged: &mut Vec<RecordDamage>,
) -> Result<(), StoreError> {
    match check_catalogue(dir) {
        // SQLite would delete the write-ahead log of an empty database.
        Ok(()) if length(&dir.join(DATABASE)) == 0 => return Ok(()),
        Ok(()) => {}
        Err(error @ StoreError::NoCatalogue { .. }) => {
            report.faults.push(Fault::new(DATABASE, error));
            return Ok(());
        }
        Err(error) => return Err(error),
    }
    let catalogue = RecordCatalogue::unwritten(dir)?;
    report.faults.extend(catalogue.integrity()?);
    report.faults.extend(catalogue.damaged_texts()?);
    damaged.extend(catalogue.missing_batches()?.into_iter().map(RecordDamage::Missing));
    let lost = catalogue.lost_unasked()?.into_iter();
    damaged.extend(lost.map(|(_, fault)| RecordDamage::Lost(fault)));
    let (series, faults) = catalogue.series()?;
    report.faults.extend(faults);
    let (stations, faults) = catalogue.stations(&series)?;
    let mut stations: HashSet<StationId> =
        stations.iter().map(|state| state.record.station.id).collect();
    report.faults.extend(faults);

    for mut entry in catalogue.journal()? {
        report.journal_batches += 1;
        match decode_batch(&entry.batch, &series) {
            Ok((deltas, run)) => {
                let described = deltas.iter().filter(|(_, delta)| delta.describes());
                stations.extend(described.map(|&(id, _)| id));
                report.journal_readings += run.readings;
                report.reports += run.texts;
                if let Some(fault) = entry.fault.take() {
                    let note = BatchNote::of(entry.generation, entry.places_generation, &run);
                    damaged.push(RecordDamage::Note(entry.id, note, fault));
                }
            }
            Err(cause) => {
                let fault = Fault::new(journal_batch(entry.id), cause);
                damaged.push(RecordDamage::Batch(entry, fault));
            }
        }
    }
    report.stations = stations.len();

    let (entries, faults) = catalogue.segments()?;
    damaged
        .extend(faults.into_iter().map(|(id, fault)| RecordDamage::Segment(id, None, vec![fault])));
    for entry in entries {
        let is_of_texts = entry.content == Content::Texts;
        *(if is_of_texts { &mut report.text_segments } else { &mut report.segments }) += 1;
        let id = entry.id;
        let segment = Segment::new(dir, entry, &Arc::new(Faults::default()));
        let faults = segment.verify(&series);
        if faults.is_empty() && is_of_texts {
            report.reports += segment.entry.readings;
            report.text_bytes += segment.entry.length;
        } else if faults.is_empty() {
            report.sealed_readings += segment.entry.readings;
            report.sealed_bytes += segment.entry.length;
        } else {
            damaged.push(RecordDamage::Segment(id, Some(segment.entry.clone()), faults));
        }
    }
    Ok(())
}

fn check_alerts(
    dir: &Path,
    report: &mut VerifyReport,
    damaged: &mut Vec<RecordDamage>,
) -> Result<(), StoreError> {
    match read_alerts(dir, &Access::Still { _lock: None }) {
        Ok((alerts, faults)) => {
            report.alerts = alerts.len();
            damaged.extend(faults.into_iter().map(RecordDamage::Alerts));
        }
        Err(StoreError::Storage { cause, .. }) => {
            damaged.push(RecordDamage::Alerts(Fault::new(ALERTS, cause)));
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Writes the readable parts of a damaged segment into a new one and moves its file aside. A
/// missing segment is given up. Returns `false` if the system refuses the file, which is then left
/// where it is.
fn rescue(
    folder: &Folder,
    catalogue: &mut RecordCatalogue,
    entry: SegmentEntry,
    series: &SeriesList,
) -> Result<bool, StoreError> {
    let old = entry.id;
    let segment = Segment::new(&folder.path, entry, &Arc::new(Faults::default()));
    let Some(run) = segment.run(series) else {
        let missing = missing(&segment.entry.file());
        let is_missing = !segment.path().exists();
        let Some(fault) = segment.gone().or(is_missing.then_some(&missing)) else {
            return Ok(false);
        };
        catalogue.set_segment_aside(folder, old, Some(&segment.entry), fault)?;
        return Ok(true);
    };
    let id = next_segment(folder, catalogue)?;
    catalogue.transaction(|transaction| begin_segment(transaction, id, &[old]))?;
    let sequence = segment.entry.sequence;
    let about = catalogue.about(vec![old], series)?;
    let new = NewSegment { id, sequence, content: segment.entry.content };
    let written = write_segment(&folder.path, new, &[run], series, &about)?;
    catalogue.transaction(|transaction| {
        let replaced_by = written.entry.as_ref().map(|entry| entry.id);
        retire_segment(transaction, Retired { id: old, replaced_by, damaged: true })?;
        for (&(_, block), &span) in &written.lost {
            let (lost, cause) = lost_block(&segment.entry, block, span);
            add_lost(transaction, &lost, &cause)?;
        }
        end_segment(transaction, id)?;
        written.entry.as_ref().map_or(Ok(()), |entry| add_segment(transaction, entry))
    })?;
    catalogue.checkpoint()?;
    folder.move_to(DAMAGED, segment.path())?;
    Ok(true)
}
