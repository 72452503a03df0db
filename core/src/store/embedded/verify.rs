//! A check of every file of a store.
//!
//! Reading comes first and writes nothing. Only then, where it is asked for, is what was found
//! damaged set aside.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use super::VerifyReport;
use super::alert_file::{ALERTS, AlertFile, salvage_alerts};
use super::catalogue::{
    Catalogue, DATABASE, Retired, SegmentEntry, add_lost, add_segment, begin_segment, end_segment,
    journal_batch, mark_batch, retire_segment,
};
use super::count::ALERT_COUNT;
use super::fault::{Fault, Faults};
use super::folder::{DAMAGED, Folder, SEGMENTS, orphaned};
use super::maintain::lost_block;
use super::open::decode_batch;
use super::segment::Segment;
use super::segment_file::write_segment;
use super::series_table::SeriesTable;
use super::sweep::next_segment;
use super::unwritten;
use crate::station::StationId;
use crate::store::StoreError;

/// What keeps others away while files are checked.
enum Guard {
    Shared { _lock: Option<File> },
    Alone(Folder),
}

/// A fault, and what can be done about it.
enum Damage {
    /// A segment, with its entry where that is whole.
    Segment(i64, Option<SegmentEntry>, Vec<Fault>),
    Batch(i64, Fault),
    /// Acknowledged batches that are missing.
    Missing(Fault),
    /// An alert, or the database of alerts.
    Alerts(Fault),
}

pub(super) fn verify(dir: &Path, set_aside: bool) -> Result<VerifyReport, StoreError> {
    let guard = if set_aside {
        Guard::Alone(Folder::lock(dir)?)
    } else {
        Guard::Shared { _lock: unwritten::share(dir)? }
    };
    let mut report = VerifyReport::default();
    let mut damaged = check_readings(dir, &mut report)?;
    damaged.extend(check_alerts(dir, &mut report)?.into_iter().map(Damage::Alerts));
    let Guard::Alone(folder) = guard else {
        report.faults.extend(damaged.into_iter().flat_map(Damage::into_faults));
        return Ok(report);
    };
    if !damaged.is_empty() {
        set_aside_all(&folder, &damaged, &mut report)?;
        report.set_aside.extend(damaged.into_iter().flat_map(Damage::into_faults));
    }
    Ok(report)
}

impl Damage {
    fn into_faults(self) -> Vec<Fault> {
        match self {
            Self::Segment(_, _, faults) => faults,
            Self::Batch(_, fault) | Self::Missing(fault) | Self::Alerts(fault) => vec![fault],
        }
    }
}

fn set_aside_all(
    folder: &Folder,
    damaged: &[Damage],
    report: &mut VerifyReport,
) -> Result<(), StoreError> {
    if damaged.iter().any(|damage| matches!(damage, Damage::Alerts(_))) {
        report.alerts = salvage_alerts(folder)?;
    }
    if damaged.iter().all(|damage| matches!(damage, Damage::Alerts(_))) {
        return Ok(());
    }
    let mut catalogue = Catalogue::open(&folder.path, false)?;
    let (series, _) = catalogue.series()?;
    for damage in damaged {
        match damage {
            Damage::Segment(_, Some(entry), _) => {
                rescue(folder, &mut catalogue, entry.clone(), &series)?;
            }
            Damage::Segment(id, None, faults) => {
                for fault in faults {
                    folder.set_aside(&mut catalogue, *id, None, fault)?;
                }
            }
            Damage::Batch(id, fault) => {
                catalogue.transaction(|transaction| mark_batch(transaction, *id, &fault.cause))?;
            }
            Damage::Missing(_) => catalogue.forget_missing_batches()?,
            Damage::Alerts(_) => {}
        }
    }
    Ok(())
}

/// Checks the journal, the stations, the series and the segments; gives what of it can be set
/// aside.
fn check_readings(dir: &Path, report: &mut VerifyReport) -> Result<Vec<Damage>, StoreError> {
    let mut damaged = Vec::new();
    match read_readings(dir, report, &mut damaged) {
        // Of a database that cannot be read the rest of the folder is none the worse.
        Err(StoreError::Storage { cause, .. }) => report.faults.push(Fault::new(DATABASE, cause)),
        read => read?,
    }
    Ok(damaged)
}

fn read_readings(
    dir: &Path,
    report: &mut VerifyReport,
    damaged: &mut Vec<Damage>,
) -> Result<(), StoreError> {
    let length = fs::metadata(dir.join(DATABASE)).map(|metadata| metadata.len()).ok();
    match length {
        // A folder may hold nothing but products and models.
        None if !has_segments(dir) => return Ok(()),
        None => {
            report.faults.push(Fault::new(DATABASE, "it is not there, but segments are"));
            return Ok(());
        }
        // SQLite would delete its write-ahead log.
        Some(0) => {
            report.faults.push(Fault::new(DATABASE, "it is empty"));
            return Ok(());
        }
        Some(_) => {}
    }
    let catalogue = Catalogue::unwritten(dir)?;
    report.faults.extend(catalogue.integrity()?);
    damaged.extend(catalogue.missing_batches()?.into_iter().map(Damage::Missing));
    let (series, faults) = catalogue.series()?;
    report.faults.extend(faults);
    let (stations, faults) = catalogue.stations(&series)?;
    let mut stations: HashSet<StationId> =
        stations.iter().map(|state| state.record.station.id).collect();
    report.faults.extend(faults);

    for entry in catalogue.journal()? {
        report.journal_batches += 1;
        match decode_batch(&entry.batch, &series) {
            Ok((deltas, run)) => {
                let described = deltas.iter().filter(|(_, delta)| delta.describes());
                stations.extend(described.map(|&(id, _)| id));
                report.journal_readings += run.readings;
            }
            Err(cause) => {
                let fault = Fault::new(journal_batch(entry.id), cause);
                damaged.push(Damage::Batch(entry.id, fault));
            }
        }
    }
    report.stations = stations.len();

    let (entries, faults) = catalogue.segments()?;
    damaged.extend(faults.into_iter().map(|(id, fault)| Damage::Segment(id, None, vec![fault])));
    for entry in entries {
        report.segments += 1;
        let id = entry.id;
        let segment = Segment::new(dir, entry, &Arc::new(Faults::default()));
        let faults = segment.verify(&series);
        if faults.is_empty() {
            report.sealed_readings += segment.entry.readings;
            report.sealed_bytes += segment.entry.length;
        } else {
            damaged.push(Damage::Segment(id, Some(segment.entry.clone()), faults));
        }
    }
    report.faults.extend(orphaned(dir)?);
    Ok(())
}

fn has_segments(dir: &Path) -> bool {
    let files = fs::read_dir(dir.join(SEGMENTS)).into_iter().flatten().flatten();
    files.into_iter().any(|file| file.path().extension().is_some_and(|end| end == "arrow"))
}

/// Checks the alerts; what is wrong with them.
fn check_alerts(dir: &Path, report: &mut VerifyReport) -> Result<Vec<Fault>, StoreError> {
    let length = fs::metadata(dir.join(ALERTS)).map(|metadata| metadata.len()).ok();
    match length {
        None if !dir.join(ALERT_COUNT).exists() => return Ok(Vec::new()),
        None => return Ok(vec![Fault::new(ALERTS, "it is missing")]),
        Some(0) => return Ok(vec![Fault::new(ALERTS, "it is empty")]),
        Some(_) => {}
    }
    match AlertFile::unwritten(dir).and_then(|mut file| Ok((file.integrity()?, file.load()?))) {
        Ok((mut faults, (alerts, more))) => {
            report.alerts = alerts.len();
            faults.extend(more);
            Ok(faults)
        }
        Err(StoreError::Storage { cause, .. }) => Ok(vec![Fault::new(ALERTS, cause)]),
        Err(error) => Err(error),
    }
}

/// Writes what can be read of a damaged segment into a new one and moves its file aside.
fn rescue(
    folder: &Folder,
    catalogue: &mut Catalogue,
    entry: SegmentEntry,
    series: &SeriesTable,
) -> Result<(), StoreError> {
    let old = entry.id;
    let segment = Segment::new(&folder.path, entry, &Arc::new(Faults::default()));
    let Some(run) = segment.run(series) else {
        // What the system refuses is no damage, and stays where it is.
        let Some(fault) = segment.gone() else { return Ok(()) };
        return folder.set_aside(catalogue, old, Some(&segment.entry), fault);
    };
    let id = next_segment(folder, catalogue)?;
    catalogue.transaction(|transaction| begin_segment(transaction, id, &[old]))?;
    let sequence = segment.entry.sequence;
    let about = catalogue.about(vec![old], series)?;
    let written = write_segment(&folder.path, id, sequence, &[run], series, &about)?;
    catalogue.transaction(|transaction| {
        let replaced_by = written.entry.as_ref().map(|entry| entry.id);
        retire_segment(transaction, Retired { id: old, replaced_by, damaged: true })?;
        for (&(_, block), &span) in &written.lost {
            let (lost, cause) = lost_block(old, block, span);
            add_lost(transaction, &lost, &cause)?;
        }
        end_segment(transaction, id)?;
        written.entry.as_ref().map_or(Ok(()), |entry| add_segment(transaction, entry))
    })?;
    catalogue.checkpoint()?;
    folder.move_to(DAMAGED, segment.path())?;
    Ok(())
}
