//! The Iowa Environmental Mesonet's tables of airport reports (CSV).

use std::io::BufRead;

use super::iem_field::{instant, is_missing, qualified, text};
use super::iem_groups::{PeakColumns, SkyColumns};
use super::metar_item::MetarItem;
use super::series::{EXPOSURE, SENSOR_HEIGHT_M, metar_peak_wind, metar_report};
use super::{Metar, Weather};
use crate::derived::station_pressure_hpa;
use crate::feed::collect::{Measurement, ReadingCollector};
use crate::feed::item::{FeedReport, FeedStation, FileContext, is_location_indicator};
use crate::feed::plausible;
use crate::feed::summary::{FeedError, FilePlace, RefusalReason, Summary, excerpt};
use crate::feed::text::csv_row::{CsvRow, MAX_LINE_BYTES};
use crate::feed::text::lines::Lines;
use crate::observation::IntervalType::{Average, Cumulative, Instantaneous, Max};
use crate::observation::{IdScheme, IntervalType, Quality, Reading, Report, SeriesKey, Variable};
use crate::time::{HOUR_MS, MINUTE_MS};
use crate::unit::{Vocabulary, inches_of_mercury_to_hpa};

/// Network that stations of IEM's tables belong to.
pub const IEM_NETWORK: &str = "IEM";

/// Longest id of a station; real ids have three or four characters.
const MAX_ID_BYTES: usize = 16;

/// Reads a table from the download page "ASOS-AWOS-METAR Data" and visits each row.
///
/// Lines with `#`, if any, come first. The header is found by its columns `station` and `valid`;
/// the other columns may be any of these, in any order:
///
/// | Column | Series |
/// | --- | --- |
/// | `tmpc`, else `tmpf`; `dwpc`, else `dwpf` | airTemperature, dewPointTemperature Instantaneous |
/// | `relh` | relativeHumidity Instantaneous |
/// | `sknt`, else `sped`; `drct` | windSpeed, windDirection Average 2 |
/// | `gust`, else `gust_mph` | windGust Max 10 |
/// | `peak_wind_gust` | windGust Max 60, in hourly reports |
/// | `peak_wind_gust`, `peak_wind_drct` at `peak_wind_time` | peakWindSpeed, peakWindDirection Instantaneous, in [`FeedReport::earlier`] |
/// | `mslp` | mslp Instantaneous |
/// | `alti` | altimeterSetting Instantaneous; calculated barometricPressure where the altitude is known |
/// | `ice_accretion_1hr`, `_3hr`, `_6hr` | iceAccretion Cumulative 60, in hourly reports; 180; 360 |
/// | `p01i`, else `p01m` | precipitation Cumulative 60, in hourly reports |
/// | `vsby` | visibility Instantaneous |
/// | `skyc1` … `skyl4` | cloudCover, cloudBaseHeight Instantaneous of each layer; ceilingHeight: the lowest `BKN`, `OVC` or `VV` |
/// | `snowdepth` | snowDepth Instantaneous |
/// | `wxcodes` | present weather |
/// | `lat`, `lon`, `elevation` | place and altitude of the station |
/// | `metar` | the report itself |
///
/// Units are part of the column names (IEM's page describes them): °F or °C, knots or miles
/// per hour, inches or millimetres, inches of mercury, millibars, statute miles, feet.
///
/// - The table is made from METAR reports, so intervals, the height of the wind sensor and its
///   exposure are those of [`metar_report`]. If the row contains the report itself (`metar`), and
///   it can be read and has the row's time, only the report is used: it holds more than the
///   columns, such as the amounts of 3, 6 and 24 hours, extremes and corrections. Otherwise the
///   columns are used.
/// - `p01i`, `ice_accretion_1hr` and `peak_wind_gust` count from the last hourly report. That is an
///   hour only in an hourly report (minute 45 to 59 or 0); in other reports they are counted as
///   values without a variable. A trace (`T`, `0.0001`) is 0 with the qualifier Trace.
/// - A calm has speed 0 and direction 0; a direction of 0 without a calm means nothing and is left
///   out.
/// - `M`, `null` and an empty field are no value. If `wxcodes` has none, the report may have said
///   that there is no weather or said nothing; present weather is then `None`.
/// - Times are UTC, the default of the page. A table that names another zone is not read.
/// - An altitude that is missing in the table is taken from the station on record.
/// - Other columns, such as `feel`, are counted as values without a variable.
///
/// Tables of the R package nycflights13 are recognized but not read: they were made from IEM's
/// tables, but keep only the hour of each observation.
///
/// # Errors
/// If the source fails, if there is no header, or if times are in another zone. A row that cannot
/// be read is counted and listed in the summary.
///
/// ```
/// use mesonet::{Variable, feed::{FileContext, read_iem_asos}};
/// let table = "\
/// station,valid,tmpf,drct,sknt,p01i,vsby,skyc1,skyl1,wxcodes
/// ORD,2010-10-23 01:51,54.0,170.0,6.0,0.02,10.0,BKN,4500.0,-RA BR
/// ORD,2010-10-23 02:51,M,M,M,M,M,M,M,M
/// ORD,yesterday,M,M,M,M,M,M,M,M
/// ";
/// let mut reports = Vec::new();
/// let file = FileContext::new("asos.csv", 0);
/// let summary = read_iem_asos(table.as_bytes(), &file, |item| reports.push(item.report))?;
/// assert_eq!(reports[0].present_weather.as_ref().unwrap(), &["Light rain", "Mist"]);
/// let ceiling =
///     reports[0].readings.iter().find(|one| one.series.variable == Variable::CeilingHeight);
/// assert_eq!(ceiling.unwrap().value, 1371.6);
/// assert_eq!((reports[1].readings.len(), summary.refused), (0, 1));
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_iem_asos(
    input: impl BufRead,
    file: &FileContext<'_>,
    mut visit: impl FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    let mut lines = Lines::new(input, MAX_LINE_BYTES);
    let mut row = CsvRow::new();
    let mut summary = Summary::default();
    let columns = header(&mut lines, &mut row)?;
    while let Some(line) = lines.next()? {
        if line.bytes.is_empty() || line.bytes.starts_with(b"#") {
            continue;
        }
        let outcome = row.split(line).and_then(|()| columns.report(&row, file, &mut summary));
        match outcome {
            Ok(item) => {
                visit(item);
                summary.read += 1;
            }
            Err(reason) => summary.refuse(FilePlace::Line(line.number), line.bytes, reason),
        }
    }
    Ok(summary)
}

/// What the values of a column mean.
#[derive(Clone, Copy, PartialEq)]
enum IemMeaning {
    /// A series.
    Of(Variable, IntervalType, i32),
    /// A series of an hour in hourly reports, nothing in others.
    OfHour(Variable, IntervalType),
    /// Altimeter setting.
    Altimeter,
}

/// A column with values.
struct IemColumn {
    name: &'static str,
    unit: &'static str,
    meaning: IemMeaning,
}

const fn column(name: &'static str, unit: &'static str, meaning: IemMeaning) -> IemColumn {
    IemColumn { name, unit, meaning }
}

/// The columns with values. If two give the same series, the first wins.
const COLUMNS: [IemColumn; 20] = {
    use IemMeaning::{Altimeter, Of, OfHour};
    #[allow(clippy::enum_glob_use, reason = "a table of variables")]
    use Variable::*;
    [
        column("tmpc", "degC", Of(AirTemperature, Instantaneous, 0)),
        column("tmpf", "degF", Of(AirTemperature, Instantaneous, 0)),
        column("dwpc", "degC", Of(DewPointTemperature, Instantaneous, 0)),
        column("dwpf", "degF", Of(DewPointTemperature, Instantaneous, 0)),
        column("relh", "%", Of(RelativeHumidity, Instantaneous, 0)),
        column("sknt", "kt", Of(WindSpeed, Average, 2)),
        column("sped", "mph", Of(WindSpeed, Average, 2)),
        column("drct", "degT", Of(WindDirection, Average, 2)),
        column("gust", "kt", Of(WindGust, Max, 10)),
        column("gust_mph", "mph", Of(WindGust, Max, 10)),
        column("peak_wind_gust", "kt", OfHour(WindGust, Max)),
        column("mslp", "mb", Of(Mslp, Instantaneous, 0)),
        column("alti", "inHg", Altimeter),
        column("p01i", "in", OfHour(Precipitation, Cumulative)),
        column("p01m", "mm", OfHour(Precipitation, Cumulative)),
        column("ice_accretion_1hr", "in", OfHour(IceAccretion, Cumulative)),
        column("ice_accretion_3hr", "in", Of(IceAccretion, Cumulative, 180)),
        column("ice_accretion_6hr", "in", Of(IceAccretion, Cumulative, 360)),
        column("vsby", "mi", Of(Visibility, Instantaneous, 0)),
        column("snowdepth", "in", Of(SnowDepth, Instantaneous, 0)),
    ]
};

/// The positions of the columns.
struct IemColumns {
    names: Vec<String>,
    station: usize,
    valid: usize,
    lat: Option<usize>,
    lon: Option<usize>,
    elevation: Option<usize>,
    metar: Option<usize>,
    weather: Option<usize>,
    sky: SkyColumns,
    peak: Option<PeakColumns>,
    values: Vec<(usize, &'static IemColumn)>,
    others: Vec<usize>,
}

/// Finds the header: the first line with the required column names.
fn header<R: BufRead>(lines: &mut Lines<R>, row: &mut CsvRow) -> Result<IemColumns, FeedError> {
    while let Some(line) = lines.next()? {
        if let Some(zone) = zone_of_comment(line.bytes) {
            only_utc(&zone)?;
        }
        if line.bytes.starts_with(b"#") || row.split(line).is_err() {
            continue;
        }
        let names: Vec<String> = row
            .fields()
            .map(|field| String::from_utf8_lossy(field.trim_ascii()).into_owned())
            .collect();
        let at = |name: &str| names.iter().position(|of| of == name);
        if at("origin").is_some() && at("time_hour").is_some() {
            return Err(FeedError::NotThisKind(
                "a table of nycflights13, which keeps only the hour of each observation, so the \
                 times are not known"
                    .to_owned(),
            ));
        }
        let valid = names.iter().position(|name| zone_of_valid(name).is_some());
        if let (Some(station), Some(valid)) = (at("station"), valid) {
            if let Some(zone) = zone_of_valid(&names[valid]).filter(|zone| !zone.is_empty()) {
                only_utc(zone)?;
            }
            return Ok(IemColumns::new(names, station, valid));
        }
    }
    Err(FeedError::Header { needed: "station and valid", lines: lines.number() })
}

/// The zone in `#DEBUG: Time Zone -> Etc/UTC`.
fn zone_of_comment(line: &[u8]) -> Option<String> {
    let line = String::from_utf8_lossy(line.strip_prefix(b"#DEBUG: Time Zone")?).into_owned();
    line.split_once("->").map(|(_, zone)| zone.trim().to_owned())
}

/// The zone in the name of the column of times: `valid`, `valid(UTC)`, `valid (GMT timezone)`.
fn zone_of_valid(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("valid")?.trim();
    if rest.is_empty() {
        return Some("");
    }
    let zone = rest.strip_prefix('(')?.strip_suffix(')')?;
    Some(zone.strip_suffix("timezone").unwrap_or(zone).trim())
}

fn only_utc(zone: &str) -> Result<(), FeedError> {
    if matches!(zone, "UTC" | "GMT" | "Etc/UTC" | "Etc/GMT") {
        return Ok(());
    }
    let zone = excerpt(zone);
    Err(FeedError::NotThisKind(format!(
        "the times are in the zone \"{zone}\"; only tables in UTC are read"
    )))
}

impl IemColumns {
    fn new(names: Vec<String>, station: usize, valid: usize) -> Self {
        let at = |name: &str| names.iter().position(|of| of == name);
        let columns = Self {
            station,
            valid,
            lat: at("lat"),
            lon: at("lon"),
            elevation: at("elevation"),
            metar: at("metar"),
            weather: at("wxcodes"),
            sky: SkyColumns::new(at),
            peak: PeakColumns::new(at),
            values: COLUMNS
                .iter()
                .filter_map(|column| at(column.name).map(|at| (at, column)))
                .collect(),
            others: Vec::new(),
            names: Vec::new(),
        };
        let read = |at: usize| {
            let Self { lat, lon, elevation, metar, weather, .. } = columns;
            [Some(station), Some(valid), lat, lon, elevation, metar, weather].contains(&Some(at))
                || columns.sky.hold(at)
                || columns.peak.is_some_and(|peak| peak.hold(at))
                || columns.values.iter().any(|&(of, _)| of == at)
        };
        let others = (0..names.len()).filter(|&at| !read(at)).collect();
        Self { names, others, ..columns }
    }

    fn report(
        &self,
        row: &CsvRow,
        file: &FileContext<'_>,
        summary: &mut Summary,
    ) -> Result<FeedReport, RefusalReason> {
        let (got, expected) = (row.fields().count(), self.names.len());
        if got != expected {
            return Err(RefusalReason::FieldCount { got, expected });
        }
        let native_id = text(row, self.station)?;
        if native_id.is_empty()
            || native_id.len() > MAX_ID_BYTES
            || !native_id.bytes().all(|byte| byte.is_ascii_graphic())
        {
            return Err(RefusalReason::Field { what: "valid station id", got: excerpt(native_id) });
        }
        let ts_ms = instant(text(row, self.valid)?)?;
        let mut station = FeedStation {
            sensor_height_m: Some(SENSOR_HEIGHT_M),
            station_type: Some(EXPOSURE),
            ..FeedStation::new(IEM_NETWORK, native_id)
        };
        if is_location_indicator(native_id) {
            station.identifiers.add(IdScheme::Icao, native_id);
        }
        // A place that is missing or unknown is ignored; the report is valid without it.
        let number = |at: Option<usize>| text(row, at?).ok()?.parse::<f64>().ok();
        station.place = number(self.lon)
            .zip(number(self.lat))
            .and_then(|(lon, lat)| plausible::place(lon, lat));
        let said_m = number(self.elevation).and_then(plausible::altitude_m);
        // An altitude on record is used only for the pressure: the row itself does not give it for
        // the station.
        let known_m = || (file.known)(station.id()).and_then(|known| known.altitude_m);
        station.altitude_m = said_m.or_else(known_m);

        let raw_text = self.metar.map_or(Ok(""), |at| text(row, at))?;
        let metar = Metar::parse(raw_text).ok().filter(|metar| metar.time_ms(ts_ms) == ts_ms);
        let (report, earlier) = if let Some(metar) = metar {
            let FeedStation { place, altitude_m, .. } = station;
            let kind = metar.kind;
            let item = MetarItem {
                native_id,
                ts_ms,
                raw_text,
                header: None,
                place,
                altitude_m,
                kind,
                metar,
            };
            let of_station = |report| Report { station: station.id(), ..report };
            (of_station(metar_report(&item)), metar_peak_wind(&item).map(of_station))
        } else {
            let peak = self.peak.map(|peak| peak.report(row, station.id(), ts_ms)).transpose()?;
            (self.report_of_columns(row, &station, ts_ms, summary)?, peak.flatten())
        };
        station.altitude_m = said_m;
        Ok(FeedReport { station, report, earlier })
    }

    fn report_of_columns(
        &self,
        row: &CsvRow,
        station: &FeedStation,
        ts_ms: i64,
        summary: &mut Summary,
    ) -> Result<Report, RefusalReason> {
        let mut values = Vec::with_capacity(self.values.len());
        for &(at, column) in &self.values {
            values.extend(qualified(row, at, column.name)?.map(|value| (column, value)));
        }
        let present_weather = self.present_weather(row)?;

        let is_hourly = matches!(ts_ms.rem_euclid(HOUR_MS) / MINUTE_MS, 45..=59 | 0);
        let of_column = |name: &str| values.iter().find(|(of, _)| of.name == name).map(|of| of.1.0);
        let is_turning = of_column("sknt").or(of_column("sped")).is_none_or(|speed| speed > 0.0);
        let mut pressure_hpa = None;
        let Summary { kept_as_reported, without_variable, .. } = summary;
        let mut readings = ReadingCollector::new(Vocabulary::Plain, kept_as_reported);
        for &(&IemColumn { name, unit, meaning }, (value, qualifier)) in &values {
            let (variable, kind, minutes) = match meaning {
                IemMeaning::Of(Variable::WindDirection, ..) if value == 0.0 && is_turning => {
                    continue;
                }
                IemMeaning::Of(variable, kind, minutes) => (variable, kind, minutes),
                IemMeaning::OfHour(variable, kind) if is_hourly => (variable, kind, 60),
                IemMeaning::Altimeter => {
                    pressure_hpa = station.altitude_m.and_then(|altitude_m| {
                        station_pressure_hpa(inches_of_mercury_to_hpa(value), altitude_m)
                    });
                    (Variable::AltimeterSetting, Instantaneous, 0)
                }
                IemMeaning::OfHour(..) => {
                    without_variable.add(name);
                    continue;
                }
            };
            let of = Measurement::new(variable, kind, minutes, unit);
            if !readings.so_far().iter().any(|other| of.is_of(&other.series)) {
                readings.push_qualified(of, value, Quality::UNCHECKED, qualifier);
            }
        }
        self.sky.read(row, &mut readings)?;
        for &at in self.others.iter().filter(|&&at| !is_missing(row.field(Some(at)))) {
            without_variable.add(&self.names[at]);
        }
        let mut readings = readings.into_readings();
        readings.extend(pressure_hpa.map(|value| Reading {
            series: SeriesKey::new(Variable::BarometricPressure, Instantaneous, 0).calculated(),
            value,
            quality: Quality::UNCHECKED,
            qualifier: None,
        }));
        Ok(Report {
            station: station.id(),
            ts_ms,
            revision: 0,
            present_weather,
            text: None,
            readings,
        })
    }

    fn present_weather(&self, row: &CsvRow) -> Result<Option<Vec<String>>, RefusalReason> {
        let Some(at) = self.weather.filter(|&at| !is_missing(row.field(Some(at)))) else {
            return Ok(None);
        };
        let groups = text(row, at)?.split_ascii_whitespace();
        let read = groups.filter_map(|group| Weather::read(group.as_bytes()));
        Ok(Some(
            read.filter(|weather| !weather.recent).map(|weather| weather.to_string()).collect(),
        ))
    }
}

/// Whether a file looks like one of this kind, or like one derived from such a table.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    let start = String::from_utf8_lossy(start);
    let header = start.lines().find(|line| !line.starts_with('#') && !line.trim().is_empty());
    header.is_some_and(|header| {
        let mut names = header.split(',').map(|name| name.trim_matches(['"', ' ']));
        match names.next() {
            Some("station") => names.any(|name| zone_of_valid(name).is_some()),
            Some("origin") => names.any(|name| name == "time_hour"),
            _ => false,
        }
    })
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_iem_asos(input, file, visit)
}

#[cfg(test)]
#[path = "iem_asos_tests.rs"]
mod tests;
