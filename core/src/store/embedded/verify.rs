//! A check of every file of a store.
//!
//! Reading comes first and writes nothing. Only then, where it is asked for, is what was found
//! damaged set aside.

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::VerifyReport;
use super::alert_file::{ALERTS, read_alerts, salvage_alerts};
use super::catalogue::{Catalogue, DATABASE, journal_batch, mark_batch};
use super::fault::{Fault, Faults};
use super::folder::{Folder, check_catalogue, length, orphaned};
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
    /// Acknowledged batches that are missing: somebody takes note of it.
    Missing(Fault),
    /// Whatever is wrong with the alerts: those that can be read are saved.
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
    check_alerts(dir, &mut report, &mut damaged)?;
    report.faults.extend(damaged.iter().map(|damage| damage.fault().clone()));
    report.faults.extend(orphaned(dir)?);
    if let Guard::Alone(folder) = guard {
        set_aside_all(&folder, &damaged, &mut report)?;
    }
    Ok(report)
}

fn set_aside_all(
    folder: &Folder,
    damaged: &[Damage],
    report: &mut VerifyReport,
) -> Result<(), StoreError> {
    let (of_alerts, of_readings): (Vec<_>, Vec<_>) =
        damaged.iter().partition(|damage| matches!(damage, Damage::Alerts(_)));
    if !of_readings.is_empty() {
        let mut catalogue = Catalogue::open(&folder.path, false)?;
        for damage in &of_readings {
            match damage {
                Damage::Segment(id, fault) => folder.set_aside(&mut catalogue, *id, fault)?,
                Damage::Batch(id, fault) => catalogue
                    .transaction(|transaction| mark_batch(transaction, *id, &fault.cause))?,
                Damage::Missing(_) | Damage::Alerts(_) => catalogue.forget_missing_batches()?,
            }
        }
    }
    if !of_alerts.is_empty() {
        report.alerts = salvage_alerts(folder)?;
    }
    report.set_aside.extend(damaged.iter().map(|damage| damage.fault().clone()));
    Ok(())
}

impl Damage {
    fn fault(&self) -> &Fault {
        match self {
            Self::Segment(_, fault)
            | Self::Batch(_, fault)
            | Self::Missing(fault)
            | Self::Alerts(fault) => fault,
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

fn check_alerts(
    dir: &Path,
    report: &mut VerifyReport,
    damaged: &mut Vec<Damage>,
) -> Result<(), StoreError> {
    match read_alerts(dir) {
        Ok((alerts, faults)) => {
            report.alerts = alerts.len();
            damaged.extend(faults.into_iter().map(Damage::Alerts));
        }
        Err(StoreError::Storage { cause, .. }) => {
            damaged.push(Damage::Alerts(Fault::new(ALERTS, cause)));
        }
        Err(error) => return Err(error),
    }
    Ok(())
}
