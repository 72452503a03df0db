//! The command `summary`: summaries of hours, days or months of a station.

use std::error::Error;
use std::io::{self, Write};
use std::str::FromStr;

use crate::config::RecordFlags;
use crate::routes::standard_offset;
use clap::Args;
use mesonet::query::{
    AnswerUnits, ShownUnit, StationSummaries, SummaryQuery, UnitSystem, station_summaries,
};
use mesonet::summary::{
    Coverage, Extreme, LocalDate, Period, Summary, UtcOffset, VariableSummary, period_label,
};
use mesonet::{Iso8601, Quality, Variable};

use super::{OpenStation, Outcome, load, open_station, print};

/// The flags of `summary`.
#[derive(Clone, Debug, Args)]
pub struct SummaryFlags {
    /// The station: its id, or any identifier such as KPRN, METAR:KPRN or "buoy 45012"
    pub station: String,

    /// What each summary is of: hour, day or month; of window, the dates as a whole
    #[arg(long, default_value = "day", value_parser = Period::from_str)]
    pub period: Period,

    /// First date at the place; that of --to if not given
    #[arg(long, value_parser = LocalDate::from_str)]
    pub from: Option<LocalDate>,

    /// Last date, included; that of the station's newest report if not given
    #[arg(long, value_parser = LocalDate::from_str)]
    pub to: Option<LocalDate>,

    /// The zone of the tz database whose standard time the days are of, such as America/Toronto; UTC if
    /// neither it nor an offset is given
    #[arg(long, conflicts_with = "utc_offset")]
    pub tz: Option<String>,

    /// The offset of the days from UTC, such as -05:00
    #[arg(long, allow_hyphen_values = true, value_parser = UtcOffset::from_str)]
    pub utc_offset: Option<UtcOffset>,

    /// Variables, comma-separated; temperature, dew point, humidity, pressure, wind, precipitation and
    /// snow if not given
    #[arg(long, value_delimiter = ',', value_parser = Variable::from_str)]
    pub names: Vec<Variable>,

    /// The base of degree days in °C; 65 °F is 18.3333
    #[arg(long, default_value_t = 18.0, allow_hyphen_values = true)]
    pub degree_day_base: f64,

    /// The units: metric is that of the record; us is °F, mph, inHg, in, mi and ft; si is K, m/s, Pa and m
    #[arg(long, value_parser = UnitSystem::from_str)]
    pub units: Option<UnitSystem>,

    /// The unit of one variable, over those of --units, such as airTemperature=°F; may be repeated
    #[arg(long, value_name = "NAME=UNIT")]
    pub unit: Vec<String>,

    /// Print the summaries as JSON, in the form of a server's answer
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub record: RecordFlags,
}

/// Summarises a station of a record. Nothing is written, but no other process may have the folder open.
/// A running server gives the same answer over HTTP.
///
/// # Errors
/// A setting or a zone is invalid, there is no record or no such station, or the record is open
/// elsewhere.
pub fn summary(flags: &SummaryFlags) -> Outcome {
    let config = load(&flags.record)?;
    let OpenStation { store, id: station, newest_ms } = open_station(&config, &flags.station)?;
    let at_ms = |date: LocalDate| date.start_ms(UtcOffset::UTC);
    let offset = match &flags.tz {
        None => flags.utc_offset.unwrap_or_default(),
        Some(zone) => {
            let last_ms = flags.to.map_or(newest_ms, at_ms);
            standard_offset(zone, flags.from.map_or(last_ms, at_ms), last_ms)?
        }
    };
    let to = flags.to.unwrap_or_else(|| LocalDate::at(newest_ms, offset));
    let mut query = SummaryQuery::of_dates(flags.period, flags.from.unwrap_or(to), to, offset)?;
    if !flags.names.is_empty() {
        query.variables.clone_from(&flags.names);
    }
    query.degree_day_base_c = flags.degree_day_base;
    query.units = units(flags)?;
    let found = station_summaries(&*store, station, &query)?;
    let found = found.ok_or_else(|| format!("no station has the id \"{station}\""))?;
    print(flags.json, &found, |out| write_summaries(out, &found))?;
    Ok(true)
}

/// The units that are asked for, if any.
fn units(flags: &SummaryFlags) -> Result<Option<AnswerUnits>, Box<dyn Error>> {
    let system = flags.units.map(AnswerUnits::of);
    let mut asked = flags.unit.iter().peekable();
    if asked.peek().is_none() {
        return Ok(system);
    }
    let begin = system.unwrap_or_else(|| AnswerUnits::of(UnitSystem::Metric));
    let units = asked.try_fold(begin, |units, text| -> Result<_, Box<dyn Error>> {
        let (name, unit) = text.split_once('=').ok_or_else(|| {
            format!("invalid --unit \"{text}\"; it must be NAME=UNIT, such as airTemperature=°F")
        })?;
        Ok(units.with(name.parse()?, unit)?)
    })?;
    Ok(Some(units))
}

fn write_summaries(out: &mut impl Write, found: &StationSummaries) -> io::Result<()> {
    let StationSummaries { query, summaries, .. } = found;
    let metric = AnswerUnits::of(UnitSystem::Metric);
    let units = query.units.as_ref().unwrap_or(&metric);
    for of_period in summaries {
        writeln!(out, "{}", period_label(query.period, of_period.window, query.offset))?;
        for of_variable in &of_period.variables {
            write_variable(out, of_variable, units)?;
        }
        write_wind(out, of_period, &units.of_variable(Variable::WindSpeed))?;
        if let Some(of) = &of_period.degree_days {
            writeln!(
                out,
                "  degree days from {}: heating {}, cooling {} {}",
                in_unit(of.base_c, &units.of_variable(Variable::AirTemperature)),
                rounded(units.degree_days(of.heating)),
                rounded(units.degree_days(of.cooling)),
                trust(of.quality, of.coverage, &format!("{} days", of.days))
            )?;
        }
    }
    Ok(())
}

fn write_variable(
    out: &mut impl Write,
    of: &VariableSummary,
    units: &AnswerUnits,
) -> io::Result<()> {
    let unit = units.of_variable(of.variable);
    let mut parts = Vec::new();
    for (name, extreme) in [("max", &of.max), ("min", &of.min)] {
        parts.extend(extreme.as_ref().map(|extreme| {
            format!("{name} {} {}", in_unit(extreme.value, &unit), source(extreme))
        }));
    }
    for (name, mean) in
        [("mean", of.mean), ("mean max", of.mean_of_max), ("mean min", of.mean_of_min)]
    {
        parts.extend(mean.map(|mean| {
            let readings = format!("{} readings", mean.readings);
            let trust = trust(mean.quality, mean.coverage, &readings);
            format!("{name} {} {trust}", in_unit(mean.value(), &unit))
        }));
    }
    parts.extend(of.total.as_ref().map(|total| {
        let amounts = format!("{} amounts", total.readings);
        let trust = trust(total.quality, total.coverage, &amounts);
        let word = total.qualifier.map_or("total", |_| "trace");
        format!("{word} {} {trust}", in_unit(total.value, &unit))
    }));
    if parts.is_empty() {
        parts.push(format!("{} readings", of.count));
    }
    writeln!(out, "  {}: {}", of.variable, parts.join(", "))
}

fn write_wind(out: &mut impl Write, summary: &Summary, speed: &ShownUnit) -> io::Result<()> {
    let Some(wind) = &summary.wind else { return Ok(()) };
    let mut parts = Vec::new();
    parts.extend(wind.prevailing().map(|of| {
        let share = format!("{:.0} % of {} readings", of.share_percent, wind.readings);
        format!("from {:.0}° {}", of.from_degrees, trust(wind.quality, wind.coverage, &share))
    }));
    parts.extend(wind.peak.as_ref().map(|peak| {
        let from = peak.from_degrees.map(|degrees| format!(" from {degrees:.0}°"));
        let from = from.unwrap_or_default();
        format!("peak {}{from} {}", in_unit(peak.speed.value, speed), source(&peak.speed))
    }));
    writeln!(out, "  wind: {}", parts.join(", "))
}

/// What made an extreme, and how far it can be trusted.
fn source(extreme: &Extreme) -> String {
    let from = &extreme.from;
    let of = match from.interval_minutes {
        0 => from.interval_type.to_string(),
        minutes => format!("{} of {minutes} min", from.interval_type),
    };
    trust(extreme.quality, extreme.coverage, &format!("{}, {of}", Iso8601(from.ts_ms)))
}

fn trust(quality: Quality, coverage: Coverage, of: &str) -> String {
    format!("({of}, {}, {} %)", quality.base, (coverage.percent() * 10.0).round() / 10.0)
}

fn in_unit(value: f64, unit: &ShownUnit) -> String {
    format!("{} {}", rounded(unit.value(value)), unit.symbol())
}

/// Computed values have many digits that mean nothing.
fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
