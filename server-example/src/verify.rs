//! The command `verify`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use mesonet::{EmbeddedStore, GridStore, GridStoreError, StoreError};

use crate::config::{Config, ConfigError, Flags};
use crate::model_runs::ModelRuns;

/// A check that came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A setting makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The record cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The folder of the model runs cannot be read.
    #[error(transparent)]
    Models(#[from] GridStoreError),
    /// There is no record.
    #[error("{} is not the folder of a record", .0.display())]
    NoRecord(PathBuf),
    /// The result cannot be written.
    #[error("cannot write the result: {0}")]
    Io(#[from] io::Error),
}

/// The flags of `verify`.
#[derive(Clone, Debug, Args)]
pub struct VerifyFlags {
    /// Moves damaged files out of the way, so that a server starts without them
    #[arg(long)]
    pub set_aside: bool,

    /// Makes the catalogue anew from the segments, where it is missing, damaged or older than they
    /// are, and tells what came back
    #[arg(long, conflicts_with = "set_aside")]
    pub rebuild: bool,

    /// Folder of the record [default: mesonet-data]
    #[arg(long, env = "MESONET_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,

    /// Configuration file (TOML); its keys are the long flags of serve with _ for -
    #[arg(long, env = "MESONET_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Checks every file of a record and of the model runs beside it and prints what it found. Gives whether the record is whole.
///
/// # Errors
/// A setting that makes no sense, no record, or one that is open elsewhere.
pub fn verify_command(flags: &VerifyFlags) -> Result<bool, VerifyError> {
    let VerifyFlags { set_aside, rebuild, data, config } = flags;
    let flags = Flags { config: config.clone(), data: data.clone(), ..Flags::default() };
    let config = Config::load(&flags)?;
    let models = ModelRuns::new(&config.data, config.model_catalogue()?);
    if !config.data.is_dir() {
        return Err(VerifyError::NoRecord(config.data));
    }
    if *rebuild {
        return rebuild_record(&config.data);
    }
    let report = EmbeddedStore::verify(&config.data, *set_aside)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{} stations", report.stations)?;
    writeln!(
        out,
        "{} segments with {} readings in {} bytes",
        report.segments, report.sealed_readings, report.sealed_bytes
    )?;
    writeln!(out, "{} alerts", report.alerts)?;
    writeln!(
        out,
        "{} batches with {} readings in the journal",
        report.journal_batches, report.journal_readings
    )?;
    let (runs, damaged) = verify_runs(models.store())?;
    writeln!(out, "{runs} model runs")?;
    for fault in &report.faults {
        writeln!(out, "fault: {fault}")?;
    }
    for fault in &damaged {
        writeln!(out, "fault: {fault}")?;
    }
    let is_whole = report.faults.is_empty() && damaged.is_empty();
    if is_whole {
        writeln!(out, "no fault")?;
    }
    Ok(is_whole)
}

/// Makes the catalogue of a record anew; whether everything came back.
fn rebuild_record(data: &Path) -> Result<bool, VerifyError> {
    let report = EmbeddedStore::rebuild(data)?;
    let mut out = io::stdout().lock();
    writeln!(out, "{} stations", report.stations)?;
    writeln!(out, "{} segments with {} readings", report.segments, report.readings)?;
    writeln!(out, "{} batches of the old journal", report.journal_batches)?;
    if report.catalogue_kept {
        writeln!(out, "the old catalogue is in damaged/")?;
    }
    for fault in &report.faults {
        writeln!(out, "not recovered: {fault}")?;
    }
    Ok(report.faults.is_empty())
}

/// Checks every run of every model: how many there are, and what is damaged.
fn verify_runs(store: &GridStore) -> Result<(u64, Vec<GridStoreError>), GridStoreError> {
    let (mut runs, mut faults) = (0, Vec::new());
    for model in store.models()? {
        for run in store.runs(&model)? {
            runs += 1;
            match store.run(&model, run) {
                Ok(run) => faults.extend(run.verify()),
                Err(fault) => faults.push(fault),
            }
        }
    }
    Ok((runs, faults))
}
