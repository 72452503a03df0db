//! The data on stations that the map needs: markers and details.

mod fields;
mod wire;

use std::collections::BTreeSet;
use std::sync::Arc;

pub use fields::{DetailFieldError, DetailFields, SelectedDetail};
pub use wire::{StationMarker, StationMarkers};

use crate::observation::{BaseQuality, StationId, Variable, distinct_worst_first};
use crate::store::{Directory, Reader, Selection, StationRecord, StoreError};
use crate::time::{ClosedWindow, HOUR_MS};

/// How far back the `qualities` of a station reach.
pub const QUALITIES_SPAN_MS: i64 = 12 * HOUR_MS;

/// A station with its details at one moment.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has one report of Toronto Pearson: 29 °C, wind 12 kt with gusts of 20 kt.
/// use mesonet::query::{self, QUALITIES_SPAN_MS, StationDetail};
/// use mesonet::{BaseQuality, StationId};
/// let (id, report_ms) = (StationId::new("METAR", "CYYZ"), 1_722_715_200_000);
/// let now: StationDetail = query::detail(&store, id, report_ms)?.ok_or("it is not on record")?;
/// assert_eq!(now.record.station.native_id, "CYYZ");
/// assert_eq!(now.qualities, [BaseQuality::Good]);
/// assert_eq!(query::details(&store, report_ms)?[0].record.station.id, id);
/// let later = query::detail(&store, id, report_ms + QUALITIES_SPAN_MS + 1)?;
/// assert_eq!(later.map(|detail| detail.qualities), Some(vec![]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StationDetail {
    /// The station and what its reports say about it.
    pub record: Arc<StationRecord>,
    /// The distinct base qualities of the latest reading of each series of a map variable over the
    /// last [`QUALITIES_SPAN_MS`], worst first; empty if there was no reading.
    pub qualities: Vec<BaseQuality>,
    /// Whether another station of its network has the same name. The name is then shown with the
    /// native id, as `NAME (id)`: a name must be unique within a network.
    pub shares_name: bool,
}

/// The details of all stations on record, by ascending id, as of an instant.
///
/// # Errors
/// If the store cannot read.
pub fn details(store: &dyn Reader, now_ms: i64) -> Result<Vec<StationDetail>, StoreError> {
    let directory = store.directory()?;
    of_places(store, &directory, 0..directory.stations.len(), now_ms)
}

/// The details of some of the stations on record, by ascending id, as of an instant. Unknown
/// stations are left out, and repeated stations count once.
///
/// # Errors
/// If the store cannot read.
///
/// ```
/// use mesonet::{MemoryStore, StationId, query::details_of};
/// let unknown = StationId::new("METAR", "CYYZ");
/// assert_eq!(details_of(&MemoryStore::default(), &[unknown], 0)?, []);
/// # Ok::<(), mesonet::store::StoreError>(())
/// ```
pub fn details_of(
    store: &dyn Reader,
    ids: &[StationId],
    now_ms: i64,
) -> Result<Vec<StationDetail>, StoreError> {
    let directory = store.directory()?;
    let place = |id: &StationId| directory.stations.place(*id);
    let places: BTreeSet<usize> = ids.iter().filter_map(place).collect();
    of_places(store, &directory, places, now_ms)
}

/// The details of one station, or `None` if there is no station with that id.
///
/// # Errors
/// If the store cannot read.
pub fn detail(
    store: &dyn Reader,
    id: StationId,
    now_ms: i64,
) -> Result<Option<StationDetail>, StoreError> {
    Ok(details_of(store, &[id], now_ms)?.pop())
}

/// The details of the stations at some places of the directory.
fn of_places(
    store: &dyn Reader,
    directory: &Directory,
    places: impl IntoIterator<Item = usize>,
    now_ms: i64,
) -> Result<Vec<StationDetail>, StoreError> {
    let detail = |place: usize| StationDetail {
        record: Arc::clone(&directory.stations[place]),
        qualities: Vec::new(),
        shares_name: directory.shares_name(place),
    };
    let mut details: Vec<StationDetail> = places.into_iter().map(detail).collect();
    let stations: Vec<StationId> = details.iter().map(|detail| detail.record.station.id).collect();
    let variables: Vec<Variable> = Variable::map_variables().collect();
    let Ok(window) = ClosedWindow::new(now_ms.saturating_sub(QUALITIES_SPAN_MS), now_ms) else {
        return Ok(details);
    };
    let selection = Selection { stations: &stations, variables: &variables, window };
    store.scan_latest(&selection, &mut |i, slices| {
        let latest = slices.iter().filter_map(|slice| slice.quality.last());
        details[i].qualities = distinct_worst_first(latest.map(|code| code.quality().base));
    })?;
    Ok(details)
}
