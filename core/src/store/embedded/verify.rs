//! A check of every file of a store.
//!
//! Reading comes first and writes nothing. Only then, where it is asked for, is what was found
//! damaged set aside.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use super::VerifyReport;
use super::alert_file::{ALERTS, AlertFile};
use super::catalogue::{Catalogue, DATABASE, journal_batch, mark_batch};
use super::fault::{Fault, Faults};
use super::folder::{Folder, SEGMENTS};
use super::open::decode_batch;
use super::segment::Segment;
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
    Segment(i64, Fault),
    Batch(i64, Fault),
}

pub(super) fn verify(dir: &Path, set_aside: bool) -> Result<VerifyReport, StoreError> {
    let guard = if set_aside {
        Guard::Alone(Folder::lock(dir)?)
    } else {
        Guard::Shared { _lock: unwritten::share(dir)? }
    };
    let mut report = VerifyReport::default();
    let damaged = check_readings(dir, &mut report)?;
    check_alerts(dir, &mut report)?;
    let Guard::Alone(folder) = guard else {
        report.faults.extend(damaged.into_iter().map(Damage::into_fault));
        return Ok(report);
    };
    if !damaged.is_empty() {
        let mut catalogue = Catalogue::open(dir)?;
        for damage in damaged {
            match &damage {
                Damage::Segment(id, fault) => folder.set_aside(&mut catalogue, *id, fault)?,
                Damage::Batch(id, fault) => catalogue
                    .transaction(|transaction| mark_batch(transaction, *id, &fault.cause))?,
            }
            report.set_aside.push(damage.into_fault());
        }
    }
    Ok(report)
}

impl Damage {
    fn into_fault(self) -> Fault {
        match self {
            Self::Segment(_, fault) | Self::Batch(_, fault) => fault,
        }
    }
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
    damaged.extend(faults.into_iter().map(|(id, fault)| Damage::Segment(id, fault)));
    let faults = Arc::new(Faults::default());
    for entry in entries {
        report.segments += 1;
        let id = entry.id;
        let segment = Segment::new(dir, entry, &faults);
        match segment.verify(&series) {
            Ok(()) => {
                report.sealed_readings += segment.entry.readings;
                report.sealed_bytes += segment.entry.length;
            }
            Err(fault) => damaged.push(Damage::Segment(id, fault)),
        }
    }
    Ok(())
}

fn has_segments(dir: &Path) -> bool {
    let files = fs::read_dir(dir.join(SEGMENTS)).into_iter().flatten().flatten();
    files.into_iter().any(|file| file.path().extension().is_some_and(|end| end == "arrow"))
}

fn check_alerts(dir: &Path, report: &mut VerifyReport) -> Result<(), StoreError> {
    let Ok(metadata) = fs::metadata(dir.join(ALERTS)) else { return Ok(()) };
    if metadata.len() == 0 {
        report.faults.push(Fault::new(ALERTS, "it is empty"));
        return Ok(());
    }
    match AlertFile::unwritten(dir).and_then(|mut file| Ok((file.integrity()?, file.load()?))) {
        Ok((integrity, (alerts, faults))) => {
            report.alerts = alerts.len();
            report.faults.extend(integrity);
            report.faults.extend(faults);
        }
        Err(StoreError::Storage { cause, .. }) => report.faults.push(Fault::new(ALERTS, cause)),
        Err(error) => return Err(error),
    }
    Ok(())
}
