//! The command `verify`.

use std::io::{self, Write};

use crate::config::RecordFlags;
use crate::state::zones::ZoneSet;
use clap::Args;
use mesonet::EmbeddedStore;
use mesonet_service::products::ProductFiles;
use mesonet_service::verify::{VerifyError, VerifyOptions, rebuild_record};

use super::{Outcome, load, print};

/// The flags of `verify`.
#[derive(Clone, Debug, Args)]
pub struct VerifyFlags {
    /// Move damaged files into damaged/ in the folder of the record
    #[arg(long)]
    pub set_aside: bool,

    /// Accept the loss of a segment that is missing or was set aside, as named in the faults; may be
    /// repeated
    #[arg(long, value_name = "FILE", conflicts_with_all = ["set_aside", "rebuild", "json"])]
    pub give_up: Vec<String>,

    /// Rebuild the catalogue from the segments if it is missing, damaged or older than they are,
    /// and say what was recovered
    #[arg(long, conflicts_with_all = ["set_aside", "json"])]
    pub rebuild: bool,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub record: RecordFlags,
}

/// Checks every file of a record and of its raster products and model runs, and prints the result.
/// If the record is in ClickHouse, only the products, model runs and keys in the folder are
/// checked, and the result says so. Returns whether everything that was checked is intact. Nothing
/// is written unless damaged files are set aside.
///
/// # Errors
/// A setting is invalid, there is no record, or it is open elsewhere.
pub fn verify(flags: &VerifyFlags) -> Outcome {
    let VerifyFlags { set_aside, give_up, rebuild, json, record } = flags;
    let config = load(record)?;
    if *rebuild {
        config.on_disk("verify --rebuild", "ClickHouse has no catalogue beside its tables")?;
    }
    if !config.data.is_dir() {
        return Err(VerifyError::NoRecord(config.data).into());
    }
    if *rebuild {
        return Ok(rebuild_record(&config.data)?);
    }
    if !give_up.is_empty() {
        config.on_disk("verify --give-up", "ClickHouse has no segments")?;
        for fault in EmbeddedStore::give_up(&config.data, give_up)? {
            writeln!(io::stdout(), "given up: {fault}")?;
        }
        return Ok(true);
    }
    let mut verified = mesonet_service::verify::verify(&VerifyOptions {
        record: &config.record().place,
        data: &config.data,
        products: &ProductFiles::new(&config.data, config.catalogue()?),
        set_aside: *set_aside,
    })?;
    // Damage comes first: unpacking the zones takes longer than all the checks of a small record.
    if verified.faults.is_empty() && verified.record_in.is_none() {
        verified.find_zones(&config.data, ZoneSet::load(&config.zones)?.zones());
    }
    print(*json, &verified, |out| verified.print(out, *set_aside))?;
    Ok(verified.faults.is_empty())
}
