//! The query behind the reports endpoint: the texts of the reports of a station.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::observation::StationId;
use crate::store::{Reader, StoreError};
use crate::time::{ClosedWindow, DAY_MS, Iso8601};

/// The most reports of an answer.
pub const MAX_REPORTS: usize = 10_000;

/// How much time is read at once. It keeps an answer to a long window small in memory.
const STEP_MS: i64 = 32 * DAY_MS;

/// The texts of the reports of one station in a window, ascending in time.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n\
/// #     CYYZ 032100Z 24012KT 15SM 29/17 A2991,CYYZ,2024-08-03T21:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has two reports of Toronto Pearson, at 20 and at 21 UTC.
/// use mesonet::query::{StationReports, station_reports};
/// use mesonet::{ClosedWindow, StationId};
/// let day = ClosedWindow::new(1_722_643_200_000, 1_722_729_600_000)?;
/// let found = station_reports(&store, StationId::new("METAR", "CYYZ"), day, 1)?;
/// let found: StationReports = found.ok_or("it is not on record")?;
/// assert_eq!(found.reports[0].text, "CYYZ 032000Z 24012G20KT 15SM 29/17 A2991");
/// assert_eq!(found.next_ms, Some(1_722_718_800_000)); // 21 UTC
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StationReports {
    /// The station.
    #[serde(rename = "stationId")]
    pub station: StationId,
    /// The reports that have a text, each the one in force at its time: what a correction or a newer
    /// report has replaced is not kept.
    pub reports: Vec<ReportOfStation>,
    /// Time of the first report of the window that is not in the answer; absent if all are. The
    /// same request with it as `start` continues.
    #[serde(rename = "next", serialize_with = "maybe", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>, format = DateTime))]
    pub next_ms: Option<i64>,
}

/// One report as it came in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReportOfStation {
    /// Time of the report.
    #[serde(rename = "timestamp", serialize_with = "instant")]
    #[cfg_attr(feature = "openapi", schema(value_type = String, format = DateTime))]
    pub ts_ms: i64,
    /// 0 for a first report, higher for each correction of it.
    pub revision: u8,
    /// The heading of the bulletin that the report came in, such as `SACN31 CWAO 032000`; absent if
    /// it came without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// The report, with white space as one space.
    pub text: String,
}

/// Finds the first texts of the reports of a station in a window with both ends included, as many as
/// `limit` and at most [`MAX_REPORTS`]. Returns `None` if the station is not on record.
///
/// # Errors
/// The store cannot be read, or keeps no texts.
///
/// ```
/// use mesonet::query::station_reports;
/// use mesonet::{ClosedWindow, MemoryStore, StationId};
/// let (store, day) = (MemoryStore::default(), ClosedWindow::new(0, 86_400_000)?);
/// assert_eq!(station_reports(&store, StationId::new("METAR", "CYYZ"), day, 10)?, None);
/// # Ok::<(), mesonet::Error>(())
/// ```
pub fn station_reports(
    store: &dyn Reader,
    station: StationId,
    window: ClosedWindow,
    limit: usize,
) -> Result<Option<StationReports>, StoreError> {
    let directory = store.directory()?;
    let Some(record) = directory.get(station) else { return Ok(None) };
    let limit = limit.min(MAX_REPORTS);
    let mut found = StationReports { station, reports: Vec::new(), next_ms: None };
    // Nothing is later than the newest report, nor earlier than what is held.
    let end_ms = record.update_time_ms.unwrap_or(i64::MIN).min(window.end_ms());
    let first_ms = window.start_ms().max(store.held_from_ms()?);
    for_each_step(first_ms, end_ms, &mut |step| {
        store.scan_reports(&[station], step, &mut |_, kept| {
            if found.reports.len() < limit {
                found.reports.push(ReportOfStation {
                    ts_ms: kept.ts_ms,
                    revision: kept.revision,
                    header: kept.header.map(str::to_owned),
                    text: kept.text.to_owned(),
                });
            } else {
                found.next_ms = found.next_ms.or(Some(kept.ts_ms));
            }
        })?;
        Ok(found.next_ms.is_none())
    })?;
    Ok(Some(found))
}

/// Takes a step with each piece of a span until one returns `false`. Before 1950 there is one piece,
/// since nothing is from then.
fn for_each_step(
    first_ms: i64,
    end_ms: i64,
    step: &mut dyn FnMut(ClosedWindow) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    const YEAR_1950_MS: i64 = -631_152_000_000;
    let mut start_ms = first_ms;
    // A store that keeps no texts says so even if there is nothing to read.
    loop {
        let until_ms = start_ms.max(YEAR_1950_MS).saturating_add(STEP_MS).min(end_ms);
        // A closed window has at least two instants.
        let window = ClosedWindow::new(start_ms, until_ms.max(start_ms.saturating_add(1)));
        let Ok(window) = window else { return Ok(()) };
        if !step(window)? || until_ms >= end_ms {
            return Ok(());
        }
        start_ms = until_ms + 1;
    }
}

/// Finds the text of the newest report of each of some stations in a window; `None` for a station
/// without one.
///
/// # Errors
/// The store cannot be read, or keeps no texts.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson.
/// use mesonet::query::newest_report_texts;
/// use mesonet::{ClosedWindow, StationId};
/// let stations = [StationId::new("METAR", "CYUL"), StationId::new("METAR", "CYYZ")];
/// let day = ClosedWindow::new(1_722_643_200_000, 1_722_729_600_000)?;
/// let texts = newest_report_texts(&store, &stations, day)?;
/// assert_eq!(texts[0], None);
/// assert!(texts[1].as_ref().is_some_and(|text| text.starts_with("CYYZ 032000Z")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn newest_report_texts(
    store: &dyn Reader,
    stations: &[StationId],
    window: ClosedWindow,
) -> Result<Vec<Option<String>>, StoreError> {
    let mut newest = vec![None; stations.len()];
    store.scan_reports(stations, window, &mut |i, kept| newest[i] = Some(kept.text.to_owned()))?;
    Ok(newest)
}

/// The texts of the reports of a station, by time, for readings of these times.
///
/// # Errors
/// The store cannot be read, or keeps no texts.
///
/// ```
/// use mesonet::query::report_texts;
/// use mesonet::{ClosedWindow, MemoryStore, StationId};
/// let (store, day) = (MemoryStore::default(), ClosedWindow::new(0, 86_400_000)?);
/// assert!(report_texts(&store, StationId::new("METAR", "CYYZ"), day)?.is_empty());
/// # Ok::<(), mesonet::Error>(())
/// ```
pub fn report_texts(
    store: &dyn Reader,
    station: StationId,
    window: ClosedWindow,
) -> Result<BTreeMap<i64, String>, StoreError> {
    let mut texts = BTreeMap::new();
    store.scan_reports(&[station], window, &mut |_, kept| {
        texts.insert(kept.ts_ms, kept.text.to_owned());
    })?;
    Ok(texts)
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn instant<S: Serializer>(ts_ms: &i64, to: S) -> Result<S::Ok, S::Error> {
    Iso8601(*ts_ms).serialize(to)
}

#[allow(clippy::ref_option, reason = "the signature is serde's")]
fn maybe<S: Serializer>(ts_ms: &Option<i64>, to: S) -> Result<S::Ok, S::Error> {
    ts_ms.map(Iso8601).serialize(to)
}
