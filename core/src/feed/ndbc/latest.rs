//! `latest_obs.txt`: the latest observation of each station.

use std::io::BufRead;

use super::station;
use super::table::{NdbcRows, header_of};
use crate::feed::item::{FeedReport, FeedStation, FileContext};
use crate::feed::summary::{FeedError, Summary};

/// Reads `latest_obs.txt`, one row per station, and visits each.
///
/// The columns are found by their names, and their units are read from the line below; the series
/// are those of a `.txt` file in [`read_ndbc_realtime2`](super::read_ndbc_realtime2). `STN`, `LAT`
/// and `LON` are required. A place off the globe is ignored.
///
/// # Errors
/// If the source fails, if there is no header line, or if the number of units is not that of the
/// columns. A row that cannot be read is counted and listed in the summary.
///
/// ```
/// use mesonet::feed::read_ndbc_latest;
/// let table = "\
/// ##STN   LAT    LON     YYYY MM DD hh mm WDIR WSPD GST WVHT  DPD APD MWD   PRES PTDY ATMP WTMP DEWP VIS TIDE
/// ##text  deg    deg       yr mo day hr mn degT m/s m/s   m   sec sec degT   hPa  hPa degC degC degC nmi   ft
/// 44013 42.346 -70.651 2018 07 30 18 50  120  4.0 4.0 0.4     8 5.2   73 1019.5 -0.8 22.3 22.5 19.1  MM   MM
/// ";
/// let mut places = Vec::new();
/// let summary = read_ndbc_latest(table.as_bytes(), |item| {
///     places.push((item.station.native_id, item.station.place.unwrap().lat()));
///     assert_eq!(item.report.readings.len(), 12);
/// })?;
/// assert_eq!(places, [("44013".to_owned(), 42.346)]);
/// assert_eq!((summary.read, summary.without_variable.total()), (1, 0));
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_ndbc_latest(
    input: impl BufRead,
    mut visit: impl FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    let mut summary = Summary::default();
    let mut rows = NdbcRows::open(input)?;
    if !rows.table.names_stations() {
        return Err(FeedError::NotThisKind(
            "the latest observations need the columns STN, LAT and LON, which this table lacks"
                .to_owned(),
        ));
    }
    while let Some(row) = rows.next(&mut summary)? {
        let Some(native_id) = row.native_id.as_deref() else { continue };
        let station = FeedStation { place: row.place, ..station(native_id) };
        visit(rows.table.report(&row, station, 0, &mut summary));
        summary.read += 1;
    }
    Ok(summary)
}

/// Whether a file looks like one of this kind.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    header_of(start).is_some_and(|table| table.names_stations())
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    _file: &FileContext<'_>,
    visit: &mut dyn FnMut(FeedReport),
) -> Result<Summary, FeedError> {
    read_ndbc_latest(input, visit)
}
