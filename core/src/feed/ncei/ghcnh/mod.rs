//! NCEI's Global Historical Climatology Network hourly (GHCNh): pipe-separated tables.

mod cell;

use std::io::BufRead;

use crate::feed::collect::ReadingCollector;
use crate::feed::item::{FeedReport, FeedStation, FileContext};
use crate::feed::plausible;
use crate::feed::sign::holds;
use crate::feed::summary::{FeedError, FilePlace, RefusalReason, Summary, excerpt};
use crate::feed::text::lines::{Line, Lines};
use crate::observation::{IdScheme, Report};
use crate::unit::Vocabulary;
use cell::{CellOutcome, ColumnKind, GhcnhCell, GhcnhColumn};

/// Network that stations of GHCNh belong to.
pub const GHCNH_NETWORK: &str = "GHCNh";

/// Longest line that is read; remarks contain a whole report.
const MAX_LINE_BYTES: usize = 64 * 1024;
/// Maximum number of fields in a line; version 1.1.0 has 329 columns.
const MAX_FIELDS: usize = 1024;

/// Reads a table of GHCNh and visits the report of each row.
///
/// Columns are found by their names, both those of version 1.0 (`Station_ID`, `Year` to `Minute`,
/// `Latitude`) and of 1.1 (`STATION`, `DATE`, `LATITUDE`). Units, codes and quality are those of
/// the *README file for the Global Historical Climatology Network hourly*, version 1.1.0. Each
/// variable has five attributes of its own. Four are used: the measurement code, the quality code,
/// the report type and the source code. The height of the wind sensor is not given, so wind at 10 m
/// cannot be derived from these tables.
///
/// | Column | Unit | Series |
/// | --- | --- | --- |
/// | `temperature`, `dew_point_temperature`, `wet_bulb_temperature` | °C | airTemperature, dewPointTemperature, wetBulbTemperature Instantaneous |
/// | `station_level_pressure`, `sea_level_pressure` | hPa | barometricPressure, mslp Instantaneous |
/// | `wind_speed`, `wind_direction` | m/s, ° | windSpeed, windDirection: Average 5, 60, 180 by measurement code H, R, T; else 2 in METAR and SPECI, 10 in SYNOP and the like; else Unknown |
/// | `wind_gust` | m/s | windGust: Max 10 in METAR and SPECI, else Unknown |
/// | `relative_humidity` | % | relativeHumidity Instantaneous |
/// | `precipitation` | mm | precipitation Cumulative 60 |
/// | `precipitation_3_hour` to `_24_hour`, `_5_minute`, `_15_minute` | mm | precipitation Cumulative of that time |
/// | `snow_depth` | mm | snowDepth Instantaneous |
/// | `altimeter`, `pressure_3hr_change` | hPa | altimeterSetting Instantaneous; pressureTendency Cumulative 180 |
/// | `sky_cover_1` …, `sky_cover_baseht_1` … | oktas, m | cloudCover, cloudBaseHeight Instantaneous of each layer |
/// | `visibility`, `ceiling_height` | km, m | visibility, ceilingHeight Instantaneous |
/// | `pres_wx_AU`, else `_MW`, else `_AW` | | present weather |
///
/// Where a column leaves a choice:
/// - The interval is Unknown, of 0 minutes, if the period is not given.
/// - Humidity and wet-bulb temperature that the network calculated (code D) are reported values.
/// - A calm has the direction 0, as reported; a direction of 0 with a speed is left out, and
///   so is a variable one. A ceiling of 22000 m means that there is none.
/// - A trace of precipitation (code 2) or snow depth (3) is 0 with the qualifier Trace. Amounts that are impossible (code 1), incomplete (I, J), or for
///   an accumulated (4), deleted (5, 6) or missing (7, 8) period are left out and counted. Code 3
///   is a measurable amount in real files.
/// - `precipitation` of METAR and SPECI counts from the last hourly report (section IX of the
///   README). That is an hour only in METAR at minute 45 to 59 or 0; in other reports it is left
///   out and counted. For source 382, a number as measurement code gives the hours.
/// - If two columns give the same series, the first wins.
/// - A row merges the reports of one time; the network does this, so there is one row per time.
///
/// Letters of the quality code are checks that failed
/// ([`GHCNH_CHECKS`](crate::observation::GHCNH_CHECKS)), a digit or a capital is a code of the
/// source: of the Integrated Surface Data ([`ISD`](crate::observation::ISD)) for sources 313 to
/// 315, 322, 335, 343, 344, 346; for 220 to 223, 347, 348 1 is Good, 2 Doubtful, 3 Error, 5
/// (removed) Suppressed; for 345 0 is Good, 1 Doubtful, 3 Error; for 382 an absent code is Good,
/// any other Doubtful. The worst counts. Codes of other sources, and absent codes, give no verdict.
/// Humidity out of range (o) is Error.
///
/// Remarks and other columns are not variables of the service and are counted by the name of their
/// column.
///
/// # Errors
/// If the source fails or there is no header. A row without a station, without a time, or with
/// another number of fields than the header is counted and listed in the summary; a value that is
/// not a number is counted by its column.
///
/// ```
/// use mesonet::{BaseQuality, feed::read_ghcnh};
/// let table = "\
/// STATION|Station_name|DATE|LATITUDE|LONGITUDE|ELEVATION|temperature|\
/// temperature_Measurement_Code|temperature_Quality_Code|temperature_Report_Type|\
/// temperature_Source_Code|temperature_Source_Station_ID
/// USW00013967|OKLAHOMA CITY|2024-01-01T02:52:00|35.39|-97.6|391.7|3.3||5|FM15-METAR|343|723530-13967
/// ";
/// read_ghcnh(table.as_bytes(), |item| {
///     let reading = &item.report.readings[0];
///     assert_eq!((reading.value, reading.quality.base), (3.3, BaseQuality::Good));
/// })?;
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_ghcnh(
    input: impl BufRead,
    mut visit: impl FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    let mut lines = Lines::new(input, MAX_LINE_BYTES);
    let mut summary = Summary::default();
    let header = Header::find(&mut lines)?;
    while let Some(line) = lines.next()? {
        if line.bytes.is_empty() {
            continue;
        }
        match header.report(line, &mut summary) {
            Ok(report) => {
                visit(report);
                summary.read += 1;
            }
            Err(reason) => summary.refuse(FilePlace::Line(line.number), line.bytes, reason),
        }
    }
    Ok(summary)
}

/// The positions of the time columns.
enum TimeColumns {
    Date(usize),
    /// Year, month, day, hour, minute.
    Parts([usize; 5]),
}

/// The positions of all columns.
struct Header {
    count: usize,
    station: usize,
    time: TimeColumns,
    name: Option<usize>,
    place: Option<(usize, usize)>,
    elevation: Option<usize>,
    columns: Vec<GhcnhColumn>,
}

impl Header {
    fn find(lines: &mut Lines<impl BufRead>) -> Result<Self, FeedError> {
        let header = match lines.next()? {
            Some(line) if !line.cut => Self::of(line.bytes),
            _ => None,
        };
        let needed = "Station_ID or STATION, and DATE or Year, Month, Day, Hour, Minute";
        header.ok_or(FeedError::Header { needed, lines: lines.number() })
    }

    fn of(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let names: Vec<_> = line.trim_start_matches('\u{feff}').split('|').collect();
        if names.len() > MAX_FIELDS {
            return None;
        }
        let at = |name: &str| names.iter().position(|known| known.eq_ignore_ascii_case(name));
        let parts = || Some([at("Year")?, at("Month")?, at("Day")?, at("Hour")?, at("Minute")?]);
        let columns = names.iter().enumerate().filter_map(|(value, name)| {
            let attribute = |attribute: &str| at(&format!("{name}_{attribute}"));
            let quality = attribute("Quality_Code")?;
            Some(GhcnhColumn {
                name: (*name).to_owned(),
                kind: ColumnKind::of(name),
                value,
                measurement: attribute("Measurement_Code"),
                quality: Some(quality),
                report_type: attribute("Report_Type"),
                source: attribute("Source_Code"),
            })
        });
        Some(Self {
            count: names.len(),
            station: at("Station_ID").or_else(|| at("STATION"))?,
            time: at("DATE").map(TimeColumns::Date).or_else(|| parts().map(TimeColumns::Parts))?,
            name: at("Station_name"),
            place: at("Longitude").zip(at("Latitude")),
            elevation: at("Elevation"),
            columns: columns.collect(),
        })
    }

    fn report(&self, line: Line<'_>, summary: &mut Summary) -> Result<FeedReport, RefusalReason> {
        if line.cut {
            return Err(RefusalReason::TooLong { limit: MAX_LINE_BYTES });
        }
        let line = std::str::from_utf8(line.bytes).map_err(|_| RefusalReason::NotText)?;
        let row: Vec<_> = line.split('|').take(MAX_FIELDS + 1).map(str::trim).collect();
        if row.len() != self.count {
            return Err(RefusalReason::FieldCount { got: row.len(), expected: self.count });
        }
        let station = self.station(&row)?;
        let (ts_ms, minute) = self.time(&row)?;
        let mut readings = ReadingCollector::new(Vocabulary::Plain, &mut summary.kept_as_reported);
        let mut weather: [Option<Vec<String>>; 3] = [None, None, None];
        for column in &self.columns {
            let value = row[column.value];
            if matches!(value, "" | "-9999" | "-9999.0") {
                continue;
            }
            let cell = GhcnhCell { value, column, row: &row, minute };
            match column.kind {
                ColumnKind::None => summary.without_variable.add(&column.name),
                ColumnKind::Weather(way) => {
                    let words = weather[way].get_or_insert_default();
                    words.extend(cell.weather().filter(|word| !words.contains(word)));
                }
                _ => match cell.measured(&self.columns) {
                    CellOutcome::Value(of, value) => {
                        let is_new = readings.so_far().iter().all(|one| !of.is_of(&one.series));
                        if is_new {
                            let qualifier = cell.qualifier().filter(|_| value == 0.0);
                            readings.push_qualified(of, value, cell.quality(), qualifier);
                        }
                    }
                    CellOutcome::Nothing => {}
                    CellOutcome::Left(why) => {
                        summary.without_variable.add(&format!("{} {why}", column.name));
                    }
                    CellOutcome::Unread => summary.unread_values.add(&column.name),
                },
            }
        }
        let report = Report {
            station: station.id(),
            ts_ms,
            revision: 0,
            present_weather: weather.into_iter().flatten().next(),
            text: None,
            readings: readings.into_readings(),
        };
        Ok(FeedReport::new(station, report))
    }

    fn station(&self, row: &[&str]) -> Result<FeedStation, RefusalReason> {
        let id = row[self.station];
        if id.is_empty() {
            return Err(RefusalReason::Without { what: "station" });
        }
        if id.len() > MAX_ID_BYTES {
            return Err(RefusalReason::Field { what: "valid station id", got: excerpt(id) });
        }
        let mut station = FeedStation::new(GHCNH_NETWORK, id);
        station.identifiers.add(IdScheme::Ghcn, id);
        let text = |at: Option<usize>| at.map(|at| row[at]).filter(|text| !text.is_empty());
        station.name = text(self.name).map(excerpt);
        let number = |at: usize| row[at].parse::<f64>().ok();
        // A place that is empty or unknown is ignored; the report is valid without it.
        station.place =
            self.place.and_then(|(lon, lat)| plausible::place(number(lon)?, number(lat)?));
        station.altitude_m = self.elevation.and_then(number).and_then(plausible::altitude_m);
        Ok(station)
    }

    /// The time and its minute.
    fn time(&self, row: &[&str]) -> Result<(i64, u8), RefusalReason> {
        let text = match &self.time {
            TimeColumns::Date(at) => format!("{}Z", row[*at].trim_end_matches('Z')),
            TimeColumns::Parts(parts) => {
                let [year, month, day, hour, minute] = parts.map(|at| excerpt(row[at]));
                format!("{year:0>4}-{month:0>2}-{day:0>2}T{hour:0>2}:{minute:0>2}:00Z")
            }
        };
        let ts_ms = plausible::observed(&excerpt(&text))?;
        Ok((ts_ms, (ts_ms.div_euclid(60_000).rem_euclid(60)) as u8))
    }
}

/// Longest identifier; real identifiers have 11 characters.
const MAX_ID_BYTES: usize = 32;
/// Whether a file looks like one of this kind.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    holds(start, "|temperature_Measurement_Code|") || holds(start, "|temperature_Quality_Code|")
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    _file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_ghcnh(input, visit)
}

#[cfg(test)]
#[path = "ghcnh_tests.rs"]
mod tests;
