//! A check of every file of a store.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::VerifyReport;
use super::alert_file::{ALERTS, AlertFile, salvage_alerts};
use super::catalogue::{Catalogue, journal_batch, mark_batch};
use super::count::ALERT_COUNT;
use super::fault::{Fault, Faults};
use super::folder::Folder;
use super::open::decode_batch;
use super::segment::Segment;
use crate::station::StationId;
use crate::store::StoreError;

pub(super) fn verify(dir: &Path, set_aside: bool) -> Result<VerifyReport, StoreError> {
    let folder = Folder::lock(dir)?;
    let mut catalogue = Catalogue::open(dir, false)?;
    let mut report = VerifyReport { faults: catalogue.integrity()?, ..VerifyReport::default() };
    report.faults.extend(catalogue.missing_batches()?);
    if set_aside {
        catalogue.forget_missing_batches()?;
    }
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
                report.faults.push(Fault::new(journal_batch(entry.id), &cause));
                if set_aside {
                    catalogue
                        .transaction(|transaction| mark_batch(transaction, entry.id, &cause))?;
                }
            }
        }
    }

    report.stations = stations.len();

    let (entries, mut damaged) = catalogue.segments()?;
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
            Err(fault) => damaged.push((id, fault)),
        }
    }
    for (id, fault) in damaged {
        if set_aside {
            folder.set_aside(&mut catalogue, id, &fault)?;
        }
        report.faults.push(fault);
    }
    report.faults.extend(folder.orphaned()?);
    if dir.join(ALERTS).exists() || dir.join(ALERT_COUNT).exists() {
        let mut faults = Vec::new();
        match AlertFile::open(dir).and_then(|mut file| file.load()) {
            Ok((alerts, found)) => {
                report.alerts = alerts.len();
                faults = found;
            }
            Err(error @ StoreError::Full { .. }) => return Err(error),
            Err(error) => faults.push(Fault::new(ALERTS, error)),
        }
        if set_aside && !faults.is_empty() {
            report.alerts = salvage_alerts(&folder)?;
        }
        report.faults.extend(faults);
    }
    Ok(report)
}
