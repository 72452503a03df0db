//! Checking every file of a record.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use mesonet::model::move_aside;
use mesonet::store::{AlertStore, EmbeddedReader, Fault, StoreError, share_folder};
use mesonet::{EmbeddedStore, Iso8601, Reader, alert, model};
use serde::Serialize;

use crate::clock::system_ms;
use crate::files::found;
use crate::ingest::refused;
use crate::keys::{KEYS, KeyFile, KeysError};
use crate::live;
use crate::products::{ProductFiles, StoredFile, check_product};
use crate::record::{RecordPlace, WRITER, check_writer, lock_folder};
use crate::sqlite::Layout;

/// The folder for damaged files, below the data folder.
const DAMAGED: &str = "damaged";

/// The entries of a data folder that this program creates.
const OURS: [&str; 12] = [
    "lock",
    WRITER,
    "development-token.key",
    "segments",
    DAMAGED,
    "orphaned",
    "products",
    "models",
    "fetch",
    "webhooks",
    "mqtt",
    "follower",
];

/// The databases beside the record.
const NOTES: [Layout; 2] = [live::LAYOUT, refused::LAYOUT];

/// Maximum number of unchecked files that are named.
const MAX_NAMED: usize = 100;

/// Why a check failed.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// The record cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file of the API keys cannot be set aside.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The folder of the model runs cannot be read.
    #[error(transparent)]
    Models(#[from] model::RunStoreError),
    /// There is no record.
    #[error("{} is not the folder of a record", .0.display())]
    NoRecord(PathBuf),
    /// A folder cannot be read, or the result cannot be written.
    #[error("cannot read a folder or write the result: {0}")]
    Io(#[from] io::Error),
}

/// What to check.
#[derive(Clone, Debug)]
pub struct VerifyOptions<'a> {
    /// The place of the record.
    pub record: &'a RecordPlace,
    /// The folder of its server.
    pub data: &'a Path,
    /// The raster products.
    pub products: &'a ProductFiles,
    /// Whether damaged files are moved into `damaged/`.
    pub set_aside: bool,
}

/// What was checked, and what is wrong.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// The place of the record, if it is not in the folder. Then nothing of the record was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_in: Option<String>,
    stations: usize,
    segments: usize,
    sealed_readings: u64,
    sealed_bytes: u64,
    journal_batches: usize,
    journal_readings: u64,
    /// Texts of reports, sealed and in the journal, and the segments that hold the sealed ones.
    reports: u64,
    report_segments: usize,
    report_bytes: u64,
    alerts: usize,
    /// Zones that alerts name but whose outlines are not known. This is not damage.
    pub zones_without_outline: BTreeSet<String>,
    products: usize,
    product_bytes: u64,
    model_runs: u64,
    model_files: usize,
    model_bytes: u64,
    pub faults: Vec<Finding>,
    /// Foreign files, and files of unfinished work. They are left alone.
    not_checked: Vec<String>,
}

/// A fault in a file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    pub file: String,
    pub cause: String,
    /// Whether the file was set aside.
    pub set_aside: bool,
}

/// Checks every file of a record and of its raster products and model runs. If the record is in ClickHouse, only
/// the products, model runs and keys in the folder are checked. Nothing is written unless something is to be set
/// aside.
///
/// # Errors
/// There is no record, or it is open elsewhere.
pub fn verify(options: &VerifyOptions<'_>) -> Result<Verified, VerifyError> {
    let VerifyOptions { record, data, products, set_aside } = *options;
    if !data.is_dir() {
        return Err(VerifyError::NoRecord(data.to_owned()));
    }
    let mut verified = Verified::default();
    // No server writes to the folder during the check: the check of a record on disk holds the
    // lock.
    let _locked = match record {
        RecordPlace::Embedded(_) => {
            verified.record(data, set_aside)?;
            None
        }
        RecordPlace::ClickHouse(_) => {
            verified.record_in = Some(record.to_string());
            if set_aside { Some(lock_folder(data)?.0) } else { share_folder(data)? }
        }
    };
    verified.check_products(data, products, set_aside)?;
    verified.check_models(data, set_aside)?;
    verified.check_keys(data, set_aside)?;
    verified.check_notes(data, set_aside)?;
    verified.note_foreign(data)?;
    Ok(verified)
}

/// Rebuilds the catalogue of a record. Returns whether everything was recovered.
///
/// # Errors
/// It cannot be read or written, or the result cannot.
pub fn rebuild_record(data: &Path) -> Result<bool, VerifyError> {
    let report = EmbeddedStore::rebuild(data)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{} stations", report.stations)?;
    writeln!(out, "{} segments with {} readings", report.segments, report.readings)?;
    writeln!(out, "{} segments with {} texts of reports", report.text_segments, report.reports)?;
    writeln!(out, "{} batches of the old journal", report.journal_batches)?;
    if report.catalogue_kept {
        writeln!(out, "the old catalogue is in damaged/")?;
    }
    for fault in &report.faults {
        writeln!(out, "not recovered: {fault}")?;
    }
    Ok(report.faults.is_empty())
}

impl Verified {
    fn record(&mut self, data: &Path, set_aside: bool) -> Result<(), VerifyError> {
        self.check_cutoff(data);
        let report = EmbeddedStore::verify(data, set_aside)?;
        self.stations = report.stations;
        self.segments = report.segments;
        self.sealed_readings = report.sealed_readings;
        self.sealed_bytes = report.sealed_bytes;
        self.journal_batches = report.journal_batches;
        self.journal_readings = report.journal_readings;
        self.reports = report.reports;
        self.report_segments = report.text_segments;
        self.report_bytes = report.text_bytes;
        self.alerts = report.alerts;
        for fault in report.faults {
            let set_aside = report.set_aside.contains(&fault);
            let Fault { file, cause } = fault;
            self.faults.push(Finding { file, cause, set_aside });
        }
        Ok(())
    }

    /// Reports a cutoff of retention after the present, which refuses all new readings. The check
    /// of the record reports damage.
    fn check_cutoff(&mut self, data: &Path) {
        let Ok(cutoff_ms) = EmbeddedReader::open(data).and_then(|record| record.held_from_ms())
        else {
            return;
        };
        let now_ms = system_ms();
        if cutoff_ms > now_ms {
            let cause = format!(
                "the cutoff {} is later than the clock, {}: all that comes in is refused; mesonet-server retention \
                 --set-cutoff moves it",
                Iso8601(cutoff_ms),
                Iso8601(now_ms)
            );
            self.faults.push(Finding { file: "retention".to_owned(), cause, set_aside: false });
        }
    }

    /// Notes the zones of alerts that have no outline in a list of zones, if the alerts can be read.
    pub fn find_zones(&mut self, data: &Path, zones: &mesonet::zone::Zones) {
        let Ok((record, _)) = AlertStore::read(data) else { return };
        let messages = record.messages.iter();
        let missing = messages.flat_map(|message| alert::missing_zones(message, zones));
        self.zones_without_outline = missing.map(str::to_owned).collect();
    }

    fn check_products(
        &mut self,
        data: &Path,
        products: &ProductFiles,
        set_aside: bool,
    ) -> Result<(), VerifyError> {
        for file in products.all()? {
            let (path, place) = match file {
                StoredFile::Product(path, place) => (path, place),
                StoredFile::Foreign(path) => {
                    // A server on ClickHouse may be deleting old files of this folder.
                    if path.symlink_metadata().is_ok() {
                        self.not_checked.push(relative(data, &path));
                    }
                    continue;
                }
            };
            match check_product(&path, &place) {
                Ok(None) => {}
                Ok(Some(bytes)) => {
                    self.products += 1;
                    self.product_bytes += bytes;
                }
                Err(cause) => {
                    self.products += 1;
                    let file = relative(data, &path);
                    if set_aside {
                        move_aside(&path, &data.join(DAMAGED).join(&file))?;
                    }
                    self.faults.push(Finding { file, cause, set_aside });
                }
            }
        }
        Ok(())
    }

    fn check_models(&mut self, data: &Path, set_aside: bool) -> Result<(), VerifyError> {
        let store = model::RunStore::new(data.join("models"));
        let aside = data.join(DAMAGED).join("models");
        for model in folders(store.folder())? {
            let Ok(runs) = store.begun(&model) else {
                self.not_checked.push(format!("models/{model}"));
                continue;
            };
            for run in runs {
                self.model_runs += 1;
                let found = if set_aside {
                    store.set_aside(&model, run, &aside)?
                } else {
                    store.check_run(&model, run)?
                };
                self.model_files += found.documents + found.shards;
                self.model_bytes += found.bytes;
                for fault in found.faults {
                    let file = relative(data, &fault.file);
                    self.faults.push(Finding { file, cause: fault.cause, set_aside });
                }
                let surplus = found.surplus.iter().map(|path| relative(data, path));
                self.not_checked.extend(surplus);
            }
        }
        Ok(())
    }

    /// Checks the API keys, and the name by which backups know the record.
    fn check_keys(&mut self, data: &Path, set_aside: bool) -> Result<(), VerifyError> {
        let aside = data.join(DAMAGED);
        if let Some(Err(cause)) = KeyFile::check(data) {
            let cause = format!("{cause}; put the file of the newest backup in its place");
            if set_aside {
                KeyFile::set_aside(data, &aside)?;
            }
            self.faults.push(Finding { file: KEYS.to_owned(), cause, set_aside });
        }
        if let Err(cause) = check_writer(data) {
            if set_aside {
                move_aside(&data.join(WRITER), &aside.join(WRITER))?;
            }
            self.faults.push(Finding { file: WRITER.to_owned(), cause, set_aside });
        }
        Ok(())
    }

    /// Checks the ids of events, and the reports that could not be read. A server sets them aside itself when
    /// it starts.
    fn check_notes(&mut self, data: &Path, set_aside: bool) -> Result<(), VerifyError> {
        for layout in NOTES {
            match layout.damage(data) {
                Ok(None) => {}
                Ok(Some(cause)) => {
                    if set_aside {
                        layout.set_aside(data)?;
                    }
                    let cause = format!("{cause}; without it, {}", layout.loss);
                    self.faults.push(Finding { file: layout.file.to_owned(), cause, set_aside });
                }
                Err(error) => self.not_checked.push(format!("{}: {error}", layout.file)),
            }
        }
        Ok(())
    }

    /// Names foreign entries of the folder.
    fn note_foreign(&mut self, data: &Path) -> Result<(), VerifyError> {
        let is_of_notes = |name: &str| {
            let beside = NOTES.iter().find_map(|layout| name.strip_prefix(layout.file));
            matches!(beside, Some("" | "-wal" | "-shm"))
        };
        let is_of_database = |name: &str| {
            ["mesonet.", "alerts.", "keys."].iter().any(|own| name.starts_with(own))
                || is_of_notes(name)
        };
        for entry in fs::read_dir(data)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if !OURS.contains(&&*name) && !is_of_database(&name) {
                self.not_checked.push(name);
            }
        }
        self.not_checked.sort_unstable();
        Ok(())
    }

    fn print_record(&self, out: &mut impl Write) -> io::Result<()> {
        if let Some(place) = &self.record_in {
            return writeln!(
                out,
                "not checked: readings, stations and alerts are in {place}; ClickHouse checks what it \
                 stores when it is read, and CHECK TABLE asks for it"
            );
        }
        writeln!(out, "{} stations", self.stations)?;
        let Self { segments, sealed_readings, sealed_bytes, .. } = self;
        writeln!(
            out,
            "{segments} segments with {sealed_readings} readings in {sealed_bytes} bytes"
        )?;
        writeln!(out, "{} alerts", self.alerts)?;
        if !self.zones_without_outline.is_empty() {
            let codes: Vec<&str> = self.zones_without_outline.iter().map(String::as_str).collect();
            writeln!(out, "zones of alerts without a known outline: {}", codes.join(", "))?;
        }
        let Self { journal_batches, journal_readings, .. } = self;
        writeln!(out, "{journal_batches} batches with {journal_readings} readings in the journal")?;
        let Self { reports, report_segments, report_bytes, .. } = self;
        writeln!(
            out,
            "{reports} texts of reports, in {report_segments} segments of {report_bytes} bytes and \
             in the journal"
        )
    }

    /// Writes it as text.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn print(&self, out: &mut impl Write, set_aside: bool) -> io::Result<()> {
        self.print_record(out)?;
        writeln!(out, "{} raster products in {} bytes", self.products, self.product_bytes)?;
        let Self { model_runs, model_files, model_bytes, .. } = self;
        writeln!(out, "{model_runs} model runs with {model_files} files in {model_bytes} bytes")?;
        for name in self.not_checked.iter().take(MAX_NAMED) {
            writeln!(out, "not checked: {name}")?;
        }
        if let Some(more) = self.not_checked.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
            writeln!(out, "not checked: {more} more")?;
        }
        for Finding { file, cause, set_aside: is_aside } in &self.faults {
            match (is_aside, set_aside) {
                (true, _) => writeln!(out, "fault, set aside: {file}: {cause}")?,
                (false, true) => writeln!(out, "fault, not set aside: {file}: {cause}")?,
                (false, false) => writeln!(out, "fault: {file}: {cause}")?,
            }
        }
        if self.faults.is_empty() {
            writeln!(out, "no fault")?;
        }
        Ok(())
    }
}

/// Returns the names of the subfolders of a folder; none if it does not exist.
fn folders(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in found(fs::read_dir(folder))?.into_iter().flatten() {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Returns a path relative to the data folder, with `/` between its parts.
fn relative(data: &Path, path: &Path) -> String {
    path.strip_prefix(data).unwrap_or(path).display().to_string().replace('\\', "/")
}
