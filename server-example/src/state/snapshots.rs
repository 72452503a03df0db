//! Bodies that many callers request. They are made when their content changes.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

use arc_swap::{ArcSwap, ArcSwapOption};
use mesonet::store::AlertStore;
use mesonet::{StationId, Store, Variable};

use crate::http::encoding::Effort;
use crate::http::snapshot::{Snapshot, SnapshotError};
use crate::state::alert_clocks::AlertClocks;
use crate::state::alerts::AlertView;
use crate::state::station_bodies::{Details, Markers};
use crate::state::zones::{ZoneSet, ZonesError};
use mesonet_service::sync::{get_or_try_init, lock};

/// The alerts, markers, details, units and the description as they were last encoded.
pub struct Snapshots {
    alert_view: ArcSwapOption<AlertView>,
    /// Held while the body is made. Other requests wait for it.
    alert_builder: Mutex<()>,
    markers: ArcSwap<Markers>,
    details: ArcSwap<Details>,
    /// The units of all variables.
    pub units: Snapshot,
    /// The body stays the same as long as the server runs.
    description: OnceLock<Snapshot>,
}

impl Snapshots {
    /// Makes all bodies except the alerts and the description, which are made when first requested.
    ///
    /// # Errors
    /// A body could not be made.
    pub fn new(store: &dyn Store, now_ms: i64) -> Result<Self, SnapshotError> {
        Ok(Self {
            alert_view: ArcSwapOption::default(),
            alert_builder: Mutex::new(()),
            markers: ArcSwap::from_pointee(Markers::new(store, None)?),
            details: ArcSwap::from_pointee(Details::new(store, now_ms)?),
            units: units()?,
            description: OnceLock::new(),
        })
    }

    /// The alerts with their state at the time of the clocks. The clocks are read again once it is
    /// this caller's turn to make the alerts.
    ///
    /// # Errors
    /// The alert zones cannot be read.
    pub fn alerts(
        &self,
        alerts: &AlertStore,
        zones: impl FnOnce() -> Result<Arc<ZoneSet>, ZonesError>,
        clocks: impl Fn() -> AlertClocks,
    ) -> Result<Arc<AlertView>, ZonesError> {
        let current = |clocks| {
            let view = self.alert_view.load_full();
            view.filter(|view| view.is_current(alerts, clocks))
        };
        if let Some(view) = current(clocks()) {
            return Ok(view);
        }
        let _one_at_a_time = lock(&self.alert_builder);
        let clocks = clocks();
        if let Some(view) = current(clocks) {
            return Ok(view);
        }
        let before = self.alert_view.load_full();
        let view = AlertView::new(alerts.record(), zones()?, clocks, before.as_deref());
        let view = Arc::new(view);
        view.log_missing(before.as_deref());
        self.alert_view.store(Some(Arc::clone(&view)));
        Ok(view)
    }

    /// The markers of all stations.
    pub fn markers(&self) -> Snapshot {
        self.markers.load().snapshot.clone()
    }

    /// The details of all stations.
    pub fn details(&self) -> Arc<Details> {
        self.details.load_full()
    }

    /// The description of the service, which is made when it is first requested.
    ///
    /// # Errors
    /// The body could not be made.
    pub fn description(
        &self,
        make: impl FnOnce() -> serde_json::Result<Vec<u8>>,
    ) -> Result<&Snapshot, SnapshotError> {
        get_or_try_init(&self.description, || {
            Ok(Snapshot::new(make()?, "no-cache", Effort::Fastest, None)?)
        })
    }

    /// Updates the markers when a station is added or moves, and the details when anything arrives
    /// or, as their `qualities` age, after a minute. `touched` are the stations with new data.
    /// Requests see the old bodies until the new ones are complete. One caller at a time.
    ///
    /// # Errors
    /// A body could not be made; the old one is kept.
    pub fn refresh(
        &self,
        store: &dyn Store,
        now_ms: i64,
        touched: &HashSet<StationId>,
    ) -> Result<(), SnapshotError> {
        let directory = store.directory()?;
        if self.markers.load().places_generation != directory.places_generation {
            let markers = Markers::new(store, Some(&self.markers.load().snapshot))?;
            self.markers.store(Arc::new(markers));
        }
        if let Some(details) = self.details.load().updated(store, now_ms, touched)? {
            self.details.store(Arc::new(details));
        }
        Ok(())
    }

    /// Compresses the details thoroughly if they were compressed fast and have not changed since
    /// the last call.
    ///
    /// # Errors
    /// A compressor failed.
    pub fn settle(&self, last: &mut Option<Arc<Details>>) -> Result<(), SnapshotError> {
        let details = self.details();
        let is_same = last.replace(Arc::clone(&details));
        if is_same.is_some_and(|last| last.has_body_of(&details))
            && let Some(settled) = details.settled()?
        {
            // Unless there are newer ones in the meantime.
            self.details.compare_and_swap(&details, Arc::new(settled));
        }
        Ok(())
    }
}

/// The units are constant, so callers may cache them.
fn units() -> Result<Snapshot, SnapshotError> {
    let units: BTreeMap<&str, &str> =
        Variable::ALL.iter().map(|variable| (variable.name(), variable.unit().symbol())).collect();
    Ok(Snapshot::new(serde_json::to_vec(&units)?, "public, max-age=3600", Effort::Thorough, None)?)
}
