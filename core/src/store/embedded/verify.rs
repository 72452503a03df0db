//! A check of every file of a store.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::VerifyReport;
use super::alert_file::{ALERTS, AlertFile, salvage_alerts};
use super::catalogue::{
    Catalogue, Retired, add_lost, add_segment, begin_segment, end_segment, journal_batch,
    mark_batch, retire_segment,
};
use super::count::ALERT_COUNT;
use super::fault::{Fault, Faults};
use super::folder::{DAMAGED, Folder};
use super::maintain::lost_block;
use super::open::decode_batch;
use super::segment::Segment;
use super::segment_file::write_segment;
use super::series_table::SeriesTable;
use super::sweep::next_segment;
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

    let (entries, damaged) = catalogue.segments()?;
    for (id, fault) in damaged {
        if set_aside {
            folder.set_aside(&mut catalogue, id, None, &fault)?;
        }
        report.faults.push(fault);
    }
    for entry in entries {
        report.segments += 1;
        let segment = Segment::new(dir, entry, &Arc::new(Faults::default()));
        let faults = segment.verify(&series);
        if faults.is_empty() {
            report.sealed_readings += segment.entry.readings;
            report.sealed_bytes += segment.entry.length;
        } else if set_aside {
            rescue(&folder, &mut catalogue, &segment, &series)?;
        }
        report.faults.extend(faults);
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

/// Writes what can be read of a damaged segment into a new one and moves its file aside.
fn rescue(
    folder: &Folder,
    catalogue: &mut Catalogue,
    segment: &Segment,
    series: &SeriesTable,
) -> Result<(), StoreError> {
    let old = segment.entry.id;
    let Some(run) = segment.run(series) else {
        // What the system refuses is no damage, and stays where it is.
        let Some(fault) = segment.gone() else { return Ok(()) };
        return folder.set_aside(catalogue, old, Some(&segment.entry), fault);
    };
    let id = next_segment(folder, catalogue)?;
    catalogue.transaction(|transaction| begin_segment(transaction, id, &[old]))?;
    let sequence = segment.entry.sequence;
    let written = write_segment(&folder.path, id, sequence, &[run], series, i64::MIN)?;
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
