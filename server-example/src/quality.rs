//! The command `quality`: the verdicts on a station, and what its neighbours say about it.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use mesonet::intake::{AgainstNeighbours, MonthOfVerdicts, StationQuality};
use mesonet::store::StoreError;
use mesonet::time::{DAY_MS, TimeError, parse_instant};
use mesonet::{ClosedWindow, Intake, StationId};

use crate::config::{Config, ConfigError, Flags, RecordFlags};
use crate::record::{Record, RecordPlace};
use crate::routes::check_quality_window;

/// How many days before the end a report starts if its start is not given.
const DEFAULT_MS: i64 = 7 * DAY_MS;

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum QualityError {
    /// A setting is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The record cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A time is not one, or the start is after the end.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// The window is too long.
    #[error("{0}")]
    Window(String),
    /// There is no record.
    #[error("{} is not the folder of a record", .0.display())]
    NoRecord(PathBuf),
    /// There is no such station, or it has no readings.
    #[error("no station with readings has the id or the network's id \"{0}\"")]
    NoStation(String),
    /// The result cannot be written.
    #[error("cannot write the result: {0}")]
    Io(#[from] io::Error),
}

/// The flags of `quality`.
#[derive(Clone, Debug, Args)]
pub struct QualityFlags {
    /// The station: its id, or the id that its network gives it, such as KPRN
    pub station: String,

    /// Start of the report; 7 days before its end if not given
    #[arg(long)]
    pub start: Option<String>,

    /// End of the report; the station's newest report if not given
    #[arg(long)]
    pub end: Option<String>,

    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    #[allow(missing_docs, reason = "the type describes it")]
    pub record: RecordFlags,
}

/// Reports on the quality of a station of a record. Nothing is written, but a folder must not be
/// open elsewhere: a running server answers the same over HTTP.
///
/// # Errors
/// A setting or a time is invalid, there is no record or no such station, or the record is open
/// elsewhere.
pub fn quality_command(flags: &QualityFlags) -> Result<(), QualityError> {
    let QualityFlags { station, start, end, json, record } = flags;
    let config = Config::load(&Flags { record: record.clone(), ..Flags::default() })?;
    if matches!(config.place(), RecordPlace::Embedded(_)) && !config.data.is_dir() {
        return Err(QualityError::NoRecord(config.data));
    }
    let store = Record::reader(&config)?;
    let directory = store.directory()?;
    let unknown = || QualityError::NoStation(station.clone());
    let id: Option<StationId> = station.parse().ok();
    let found = directory
        .stations
        .iter()
        .find(|known| Some(known.station.id) == id || known.station.native_id == *station);
    let found = found.ok_or_else(unknown)?;
    let newest_ms = found.update_time_ms.ok_or_else(unknown)?;
    let instant = |text: &Option<String>| text.as_deref().map(parse_instant).transpose();
    let end_ms = instant(end)?.unwrap_or(newest_ms);
    let start_ms = instant(start)?.unwrap_or(end_ms.saturating_sub(DEFAULT_MS));
    let window = ClosedWindow::new(start_ms, end_ms)?;
    check_quality_window(window).map_err(QualityError::Window)?;
    let intake = Intake::new(config.checker()?);
    let quality = intake.station_quality(&*store, found.station.id, window)?;
    let quality = quality.ok_or_else(unknown)?;
    let mut out = io::stdout().lock();
    if *json {
        serde_json::to_writer(&mut out, &quality).map_err(io::Error::from)?;
        writeln!(out)?;
    } else {
        write_report(&mut out, &quality)?;
    }
    Ok(())
}

fn write_report(out: &mut impl Write, quality: &StationQuality) -> io::Result<()> {
    let StationQuality { station_id, name, start, end, variables } = quality;
    writeln!(out, "{name} ({station_id}) from {start} to {end}")?;
    for of in variables {
        writeln!(out, "{}", of.variable)?;
        for MonthOfVerdicts { month, readings, verdicts } in &of.months {
            write!(out, "  {month}: {readings} readings")?;
            for rate in verdicts {
                let (base, reason) = (rate.quality.base, rate.quality.reason);
                write!(out, "; {base}, {reason} {:.2} %", rate.share * 100.0)?;
            }
            writeln!(out)?;
        }
        if let Some(against) = &of.neighbours {
            let AgainstNeighbours { unit, compared, days, .. } = against;
            writeln!(
                out,
                "  neighbours: {compared} compared, mean {:+.2} {unit}, median {:+.2} {unit} \
                 ({:+.1} standard deviations), spread {:.2} {unit}, {:.1} % flagged",
                against.mean_difference,
                against.median_difference,
                against.median_standardized_difference,
                against.spread,
                against.share_flagged * 100.0,
            )?;
            for day in days {
                writeln!(
                    out,
                    "    {}: {} compared, mean {:+.2}, median {:+.2}, {:.1} % flagged",
                    day.day,
                    day.compared,
                    day.mean_difference,
                    day.median_difference,
                    day.share_flagged * 100.0,
                )?;
            }
        }
    }
    Ok(())
}
