//! `realtime2`: one file per station and kind of data; only its name identifies the station.

use std::io::BufRead;

use super::table::{NdbcRow, NdbcRows, header_of};
use super::{is_native_id, station};
use crate::feed::item::{FeedReport, FeedStation, FileContext};
use crate::feed::summary::{FeedError, Summary, excerpt};
use crate::time::MINUTE_MS;

/// Reads a file of one station and visits each row. The columns determine the kind of data.
///
/// | File | Column | Series |
/// | --- | --- | --- |
/// | `.txt`, `.drift` | `WSPD`, `WDIR` | windSpeed, windDirection Average 8 (buoys) or 2 (land) |
/// | | `GST` | windGust Max of the same minutes |
/// | | `WVHT`, `MWD` | waveHeight, waveDirection Average 20 |
/// | | `PRES`, `PTDY` | mslp Instantaneous, pressureTendency Cumulative 180 |
/// | | `ATMP`, `DEWP` | airTemperature, dewPointTemperature Instantaneous |
/// | | `WTMP` | seaSurfaceTemperature Instantaneous |
/// | | `VIS`, `TIDE` | visibility, tide Instantaneous |
/// | `.cwind` | `WSPD`, `WDIR` | windSpeed, windDirection Average 10 |
/// | | `GST`, `GDR` | windGust, maxWindDirection Max 60 |
/// | `.supl` | `PRES` | barometricPressure Min since the row before |
/// | | `WSPD`, `WDIR` | windSpeed, maxWindDirection Max since the row before |
/// | `.srad` | `SWRAD`, else `SRAD1` | avgGlobalSolarRadiation Average since the row before |
/// | `.ocean` | `OTMP` | seaSurfaceTemperature1m Instantaneous, where `DEPTH` is 1 m |
/// | `.rain` | `ACCUM` | precipitation Cumulative 60, an hour after the row |
/// | `.spec` | `WVHT`, `APD`, `MWD` | waveHeight, wavePeriodAverage, waveDirection Average 20 |
/// | `.dart` | `HEIGHT` | none |
///
/// Older tables, with a two-digit year (70 to 99), without minutes, without units or with `WD` and
/// `BAR` for `WDIR` and `PRES`, are read too; if a table gives no units, those that NDBC documents
/// are used. A value whose column has another unit is converted from that unit, or kept as
/// reported. Other columns are counted as values without a variable: `LWRAD`, salinity, oxygen, and
/// in `.spec` the separate swell and wind waves.
///
/// The intervals are based on NDBC, "Measurement Descriptions and Units" and "What are continuous
/// wind measurements?":
/// - Wind is averaged over 8 minutes at buoys and 2 at land stations. The file does not say which
///   the station is, but its id does: five or seven digits are a buoy, a name that starts with a
///   letter is C-MAN or another station on land. For other ids the interval is Unknown.
/// - The height of the wind sensor is not in the files and differs from hull to hull, so there is
///   no wind at 10 m and the station has no sensor height.
/// - `WVHT` is the mean of the highest third of the waves in 20 minutes, `APD` the average period of
///   all of them, `DPD` the period with the most energy: wavePeriodAverage, wavePeriodPeak.
/// - `TIDE` is the water level above or below mean lower low water.
/// - `.supl` and `.srad` are documented as hourly, which was the distance between rows. If rows are
///   closer, their values cover the time since the previous row: the times of the extremes
///   (`PTIME`, `WTIME`) are never before that row, and radiation falls to 0 within a row of sunset.
///   The interval is the shorter of the distances to the rows on both sides, but at most an hour.
/// - The pressure in `.supl` is documented as atmospheric, without reduction to sea level.
/// - `ACCUM` covers the hour that the row names, from minute 0 to 59, so its report is at the end
///   of that hour.
/// - `.drift` gives the position in each row.
///
/// `MM`, `N/A`, slashes and the nines of a column (`99.0` for a gust in `.cwind` between the hours)
/// mean a missing value.
///
/// # Errors
/// If the source fails, if there is no header line, if the number of units is not that of the
/// columns, or if the id is invalid. A row that cannot be read is counted and listed in the
/// summary.
///
/// ```
/// use mesonet::{IntervalType, Variable, feed::read_ndbc_realtime2};
/// let table = "\
/// ##YY  MM DD hh mm WDIR WSPD GDR GST GTIME
/// ##yr  mo dy hr mn degT m/s degT m/s hhmm
/// 2022 06 05 13 00 028  7.7  30 11.8 1231
/// 2022 06 05 12 50 031  8.2 999 99.0 9999
/// ";
/// let mut gusts = Vec::new();
/// let summary = read_ndbc_realtime2(table.as_bytes(), "TPLM2", |item| {
///     gusts.extend(item.report.readings.into_iter().filter(|reading| {
///         reading.series.variable == Variable::WindGust
///     }));
/// })?;
/// assert_eq!((summary.read, gusts.len()), (2, 1));
/// assert_eq!(gusts[0].value.round(), 42.0); // 11.8 m/s in km/h
/// assert_eq!(gusts[0].series.interval_type, IntervalType::Max);
/// assert_eq!(gusts[0].series.interval_minutes, 60);
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_ndbc_realtime2(
    input: impl BufRead,
    native_id: &str,
    mut visit: impl FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    if !is_native_id(native_id) {
        return Err(FeedError::NotThisKind(format!(
            "invalid station id \"{}\": it must have four to seven letters and digits",
            excerpt(native_id)
        )));
    }
    let station = station(&native_id.to_ascii_uppercase());
    let mut summary = Summary::default();
    let mut rows = NdbcRows::open(input)?;
    let mut since_before = None;
    let mut row = rows.next(&mut summary)?;
    while let Some(this) = row {
        // The period that the row covers is known once both of its neighbours are.
        row = rows.next(&mut summary)?;
        let to_next = row.as_ref().and_then(|next| minutes_between(&this, next));
        let minutes = since_before.into_iter().chain(to_next).min().unwrap_or(HOUR_MINUTES);
        let station = FeedStation { place: this.place, ..station.clone() };
        visit(rows.table.report(&this, station, minutes, &mut summary));
        summary.read += 1;
        since_before = to_next;
    }
    Ok(summary)
}

/// The longest time between rows that a value is assumed to cover.
const HOUR_MINUTES: i32 = 60;

/// Whole minutes between rows; `None` if it is more than an hour or zero.
fn minutes_between(a: &NdbcRow, b: &NdbcRow) -> Option<i32> {
    let minutes = i32::try_from(a.ts_ms.abs_diff(b.ts_ms) / MINUTE_MS.unsigned_abs()).ok()?;
    (1..=HOUR_MINUTES).contains(&minutes).then_some(minutes)
}

/// The station in a file name: the part before the first dot (`41002.txt`), without
/// the letter and year of yearly files (`41002h1998.txt`).
fn station_of_name(name: &str) -> Option<&str> {
    let stem = name.strip_prefix("realtime2_").unwrap_or(name);
    let stem = stem.split_once('.').map_or(stem, |(stem, _)| stem);
    let is_year = |tail: &str| {
        tail.starts_with(|kind: char| kind.is_ascii_lowercase())
            && tail.bytes().skip(1).all(|byte| byte.is_ascii_digit())
    };
    let yearly = stem.len().checked_sub(5).and_then(|at| stem.split_at_checked(at));
    let native_id = match yearly {
        Some((native_id, year)) if native_id.len() >= 4 && is_year(year) => native_id,
        _ => stem,
    };
    // Any short word could be an id; the ids of NDBC have a digit or are four capitals.
    let is_like_one = native_id.bytes().any(|byte| byte.is_ascii_digit())
        || (native_id.len() == 4 && native_id.bytes().all(|byte| byte.is_ascii_uppercase()));
    (is_native_id(native_id) && is_like_one).then_some(native_id)
}

/// Whether a file looks like one of this kind.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    header_of(start).is_some_and(|table| !table.names_stations())
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    let native_id = station_of_name(file.name).ok_or_else(|| {
        FeedError::NotThisKind(format!(
            "the name \"{}\" does not hold the station id; expected a name such as 41002.txt",
            excerpt(file.name)
        ))
    })?;
    read_ndbc_realtime2(input, native_id, visit)
}

#[cfg(test)]
#[path = "realtime2_tests.rs"]
mod tests;
