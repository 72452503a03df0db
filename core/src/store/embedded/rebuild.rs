//! Rebuilds a lost or damaged catalogue from the segments.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::RebuildReport;
use super::catalogue::{
    BatchNote, DROPPED_TO, GENERATION, JournalEntry, PLACES_GENERATION, RETAIN_FROM,
    RecordCatalogue, Retired, add_batch, add_segment, add_series, add_weather, end_journal,
    put_state, retire_segment, segment_file, set_meta,
};
use super::fault::{Fault, Faults, storage};
use super::folder::{Folder, orphaned, sync_folder};
use super::names::{DAMAGED, DATABASE, ORPHANED, SEGMENTS};
use super::open::decode_batch;
use super::report_texts::Content;
use super::segment::Segment;
use super::segment_note::{Footer, read_footer};
use super::series_table::SeriesList;
use super::stations::StationState;
use crate::observation::StationId;
use crate::store::StoreError;

/// Name of the new database until it is complete.
const FRESH: &str = "mesonet.rebuilt";

/// The parts taken from a partly readable catalogue.
#[derive(Default)]
struct Salvaged {
    texts: Vec<(String, String)>,
    series: SeriesList,
    stations: Vec<StationState>,
    journal: Vec<JournalEntry>,
}

pub(super) fn rebuild(dir: &Path) -> Result<RebuildReport, StoreError> {
    let folder = Folder::lock(dir)?;
    let old = readable(dir);
    if old.as_ref().is_some_and(|old| is_whole(&folder, old)) {
        return Err(StoreError::Storage {
            path: dir.join(DATABASE).display().to_string(),
            cause: "the catalogue is intact and lists every segment; nothing was changed"
                .to_owned(),
        });
    }
    let mut report = RebuildReport::default();
    let salvaged = old.as_ref().map(salvage).unwrap_or_default();
    drop(old);
    let (footers, superseded) = adopt(&folder, &mut report)?;

    for suffix in ["", "-wal", "-shm"] {
        // Left behind by an interrupted rebuild.
        let _ = fs::remove_file(dir.join(format!("{FRESH}{suffix}")));
    }
    let mut catalogue = RecordCatalogue::make(dir.join(FRESH))?;
    fill(&folder, &mut catalogue, &salvaged, &footers, &superseded, &mut report)?;
    report.faults.extend(catalogue.missing_batches()?);
    catalogue.checkpoint()?;
    drop(catalogue);

    for suffix in ["", "-wal", "-shm"] {
        let old = dir.join(format!("{DATABASE}{suffix}"));
        if old.exists() {
            report.catalogue_kept |= folder.move_to(DAMAGED, &old)?.is_some();
        }
    }
    let (from, to) = (dir.join(FRESH), dir.join(DATABASE));
    fs::rename(&from, &to).map_err(|error| storage(&to, &error))?;
    sync_folder(dir)?;
    Ok(report)
}

/// Opens the old catalogue, if any of it can be read.
fn readable(dir: &Path) -> Option<RecordCatalogue> {
    // SQLite takes an empty file for a database without tables.
    let length = fs::metadata(dir.join(DATABASE)).ok()?.len();
    if length == 0 {
        return None;
    }
    let old = RecordCatalogue::unwritten(dir).ok()?;
    // Otherwise nothing can be read from a truncated file.
    old.connection.pragma_update(None, "writable_schema", true).ok()?;
    Some(old)
}

/// Whether a rebuilt catalogue would contain nothing more.
fn is_whole(folder: &Folder, catalogue: &RecordCatalogue) -> bool {
    let check = || {
        let (series, in_series) = catalogue.series()?;
        let (_, in_stations) = catalogue.stations(&series)?;
        let (segments, in_segments) = catalogue.segments()?;
        let are_there = segments.iter().all(|entry| folder.path.join(entry.file()).exists());
        Ok::<bool, StoreError>(
            are_there
                && catalogue.integrity()?.is_empty()
                && catalogue.damaged_texts()?.is_empty()
                && catalogue.missing_batches()?.is_empty()
                && in_series.is_empty()
                && in_stations.is_empty()
                && in_segments.is_empty()
                && orphaned(&folder.path)?.is_empty(),
        )
    };
    check().unwrap_or(false)
}

/// Takes the readable parts; the rest is in the old file, which is kept.
fn salvage(old: &RecordCatalogue) -> Salvaged {
    let (series, _) = old.series().unwrap_or_default();
    let (stations, _) = old.stations(&series).unwrap_or_default();
    let (texts, journal) = (old.user_texts().unwrap_or_default(), old.readable_journal());
    Salvaged { texts, series, stations, journal }
}

/// Collects the readable segments in order, moving them into `segments/`, and the segments that
/// others were merged from.
fn adopt(
    folder: &Folder,
    report: &mut RebuildReport,
) -> Result<(Vec<Footer>, Vec<Retired>), StoreError> {
    let mut found: Vec<(PathBuf, Footer)> = Vec::new();
    for name in [SEGMENTS, ORPHANED] {
        for path in folder.files(name)? {
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !file.contains(".arrow") {
                continue;
            }
            match read_footer(&path) {
                Ok(footer) => found.push((path, footer)),
                Err(cause) => report.faults.push(Fault::new(format!("{name}/{file}"), cause)),
            }
        }
    }
    let mut retired: Vec<Retired> = Vec::new();
    for (_, footer) in &found {
        let replaced_by = Some(footer.note.id);
        let merged = footer.note.made_from.iter();
        retired.extend(merged.map(|&id| Retired { id, replaced_by, damaged: false }));
    }
    let superseded: HashSet<i64> = retired.iter().map(|retired| retired.id).collect();
    let mut footers: Vec<Footer> = Vec::new();
    let mut taken: HashSet<i64> = found.iter().map(|(_, footer)| footer.note.id).collect();
    let mut adopted: HashSet<i64> = HashSet::new();
    for (path, mut footer) in found {
        let id = footer.note.id;
        if superseded.contains(&id) {
            continue;
        }
        if footers.iter().any(|known| known.entry.checksums == footer.entry.checksums) {
            // A copy.
            continue;
        }
        if !adopted.insert(id) {
            // A different segment with the same number gets a new number.
            let next = taken.iter().max().map_or(1, |last| last + 1);
            taken.insert(next);
            footer.entry.id = next;
        }
        let to = folder.path.join(segment_file(footer.entry.id));
        if path != to {
            if fs::symlink_metadata(&to).is_ok() {
                let cause = format!("{} already exists", segment_file(footer.entry.id));
                report.faults.push(Fault::new(path.display().to_string(), cause));
                continue;
            }
            fs::rename(&path, &to).map_err(|error| storage(&path, &error))?;
        }
        footers.push(footer);
    }
    sync_folder(&folder.path.join(SEGMENTS))?;
    footers.sort_by_key(|footer| (footer.entry.sequence, footer.entry.id));
    Ok((footers, retired))
}

/// Writes everything known into a new catalogue.
fn fill(
    folder: &Folder,
    catalogue: &mut RecordCatalogue,
    salvaged: &Salvaged,
    footers: &[Footer],
    superseded: &[Retired],
    report: &mut RebuildReport,
) -> Result<(), StoreError> {
    let mut series = SeriesList::default();
    let known = salvaged.series.list.iter().map(|series| &series.key);
    for key in known.chain(footers.iter().flat_map(|footer| &footer.series)) {
        if series.slot_of(key).is_none() {
            series.add(key);
        }
    }
    let known = salvaged.series.weather.list.iter();
    for words in known.chain(footers.iter().flat_map(|footer| &footer.weather)) {
        series.weather.add(words.clone());
    }
    let mut stations = stations_of(salvaged, footers);
    let faults = Arc::new(Faults::default());
    for footer in footers {
        let segment = Segment::new(&folder.path, footer.entry.clone(), &faults);
        if footer.entry.content == Content::Texts {
            report.text_segments += 1;
            report.reports += footer.entry.readings;
            continue;
        }
        report.segments += 1;
        let Some(run) = segment.run(&series) else { continue };
        run.parts((i64::MIN, i64::MAX), |place, (_, slot), part| {
            let Some(state) = stations.get_mut(&run.stations()[place].0) else { return };
            let (first_ms, last_ms) = (part.ts_ms[0], part.ts_ms[part.len() - 1]);
            report.readings += part.len() as u64;
            state.note(&series, slot, first_ms, last_ms);
        });
    }
    report.faults.extend(faults.list());
    report.stations = stations.len();

    let sealed_to = footers.iter().map(|footer| footer.note.sealed_to).max().unwrap_or(0);
    let fresh = salvaged.journal.iter().filter(|entry| entry.id > sealed_to);
    let fresh: Vec<(&JournalEntry, BatchNote)> = fresh
        .filter_map(|entry| {
            let (_, run) = decode_batch(&entry.batch, &series).ok()?;
            Some((entry, BatchNote::of(entry.generation, entry.places_generation, &run)))
        })
        .collect();
    report.journal_batches = fresh.len();
    let last = fresh.iter().map(|(entry, _)| entry.id).max().unwrap_or(0).max(sealed_to);
    let notes = || footers.iter().map(|footer| &footer.note);
    let generation = notes().map(|note| note.generation).max().unwrap_or(0);
    let places = notes().map(|note| note.places_generation).max().unwrap_or(0);
    let retain_from_ms = notes().map(|note| note.retain_from_ms).max().unwrap_or(i64::MIN);
    catalogue.transaction(|transaction| {
        for series in &series.list {
            add_series(transaction, series)?;
        }
        for words in &series.weather.list {
            add_weather(transaction, words)?;
        }
        for state in stations.values() {
            put_state(transaction, state)?;
        }
        for footer in footers {
            add_segment(transaction, &footer.entry)?;
        }
        for &retired in superseded {
            retire_segment(transaction, retired)?;
        }
        for (entry, note) in fresh {
            add_batch(transaction, Some(entry.id), &note, &entry.revised, &entry.batch)?;
        }
        end_journal(transaction, last)?;
        for (name, text) in &salvaged.texts {
            set_meta(transaction, name, text)?;
        }
        set_meta(transaction, GENERATION, &generation.to_string())?;
        set_meta(transaction, PLACES_GENERATION, &places.to_string())?;
        // What was before the cutoff may have been deleted.
        for name in [RETAIN_FROM, DROPPED_TO] {
            set_meta(transaction, name, &retain_from_ms.to_string())?;
        }
        Ok(())
    })
}

/// Returns the stations, each from the newest source that describes it.
fn stations_of(salvaged: &Salvaged, footers: &[Footer]) -> BTreeMap<StationId, StationState> {
    let mut newest: Vec<&Footer> = footers.iter().collect();
    newest.sort_by_key(|footer| footer.note.generation);
    let described = newest.iter().flat_map(|footer| &footer.stations);
    // The catalogue is at least as new as its last segment, and has all series.
    described
        .chain(&salvaged.stations)
        .map(|state| (state.record.station.id, state.clone()))
        .collect()
}
