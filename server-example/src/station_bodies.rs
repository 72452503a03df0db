//! Precomputed bodies with all stations: their markers and their details.

use std::ops::Range;
use std::sync::Arc;

use mesonet::Reader;
use mesonet::query::{StationMarkers, details};
use mesonet::store::{StationRecord, Watched};

use crate::http::snapshot::{Snapshot, SnapshotError};

/// The markers of all stations.
pub struct Markers {
    pub places_generation: u64,
    pub snapshot: Snapshot,
}

/// The details of all stations at one moment.
pub struct Details {
    pub generation: u64,
    pub built_ms: i64,
    /// The whole object.
    pub snapshot: Snapshot,
    /// How many damaged blocks of the record hold readings that it lacks.
    pub damaged: u64,
    /// Each station, and the range of its member `"id":{…}` in the identity body.
    members: Vec<(Arc<StationRecord>, Range<usize>)>,
}

impl Markers {
    pub fn new(store: &dyn Reader) -> Result<Self, SnapshotError> {
        let directory = store.directory()?;
        let markers = StationMarkers::new(directory.stations.iter().map(|record| &**record));
        let snapshot = Snapshot::new(serde_json::to_vec(&markers)?, "no-cache")?;
        Ok(Self { places_generation: directory.places_generation, snapshot })
    }
}

impl Details {
    /// The details as they are now; if nothing has changed, the known body with its encodings.
    pub fn new(
        store: &dyn Reader,
        now_ms: i64,
        known: Option<&Snapshot>,
    ) -> Result<Self, SnapshotError> {
        // Read first: what arrives meanwhile makes the details stale, not permanently wrong.
        let generation = store.directory()?.generation;
        let store = Watched::new(store);
        let details = details(&store, now_ms)?;
        let mut members = Vec::with_capacity(details.len());
        let mut body = vec![b'{'];
        for detail in &details {
            if body.len() > 1 {
                body.push(b',');
            }
            let start = body.len();
            serde_json::to_writer(&mut body, &detail.record.station.id)?;
            body.push(b':');
            serde_json::to_writer(&mut body, detail)?;
            members.push((Arc::clone(&detail.record), start..body.len()));
        }
        body.push(b'}');
        let snapshot = match known.filter(|known| known.identity() == &body) {
            Some(known) => known.clone(),
            None => Snapshot::new(body, "no-cache")?,
        };
        let damaged = store.damage().blocks();
        Ok(Self { generation, built_ms: now_ms, snapshot, damaged, members })
    }

    /// Returns the object with some of the stations.
    pub fn of(&self, is_in: impl Fn(&StationRecord) -> bool) -> Vec<u8> {
        let whole = self.snapshot.identity();
        let mut body = vec![b'{'];
        for (_, member) in self.members.iter().filter(|(record, _)| is_in(record)) {
            if body.len() > 1 {
                body.push(b',');
            }
            body.extend_from_slice(&whole[member.clone()]);
        }
        body.push(b'}');
        body
    }
}
