//! The command `quality`: the verdicts on a station, and what its neighbours say about it.

use std::io::{self, Write};

use crate::config::RecordFlags;
use crate::routes::check_quality_window;
use clap::Args;
use mesonet::intake::{AgainstNeighbours, MonthOfVerdicts, StationQuality};
use mesonet::time::{DAY_MS, parse_instant};
use mesonet::{ClosedWindow, Intake};

use super::{OpenStation, Outcome, load, open_station, print};

/// How many days before the end a report starts if its start is not given.
const DEFAULT_MS: i64 = 7 * DAY_MS;

/// The flags of `quality`.
#[derive(Clone, Debug, Args)]
pub struct QualityFlags {
    /// The station: its id, or any identifier such as KPRN, METAR:KPRN or "buoy 45012"
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
    pub record: RecordFlags,
}

/// Reports on the quality of a station of a record. Nothing is written, but no other process may
/// have the folder open. A running server gives the same answer over HTTP.
///
/// # Errors
/// A setting or a time is invalid, there is no record or no such station, or the record is open
/// elsewhere.
pub fn quality(flags: &QualityFlags) -> Outcome {
    let QualityFlags { station, start, end, json, record } = flags;
    let config = load(record)?;
    let OpenStation { store, id, newest_ms } = open_station(&config, station)?;
    let instant = |text: &Option<String>| text.as_deref().map(parse_instant).transpose();
    let end_ms = instant(end)?.unwrap_or(newest_ms);
    let start_ms = instant(start)?.unwrap_or(end_ms.saturating_sub(DEFAULT_MS));
    let window = ClosedWindow::new(start_ms, end_ms)?;
    check_quality_window(window)?;
    let intake = Intake::new(config.checker()?);
    let quality = intake.station_quality(&*store, id, window)?;
    let quality = quality.ok_or_else(|| format!("no station has the id \"{id}\""))?;
    print(*json, &quality, |out| write_report(out, &quality))?;
    Ok(true)
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
