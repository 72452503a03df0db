//! What all requests share: settings, clock, store, and the bodies that are encoded ahead.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};

use arc_swap::{ArcSwap, ArcSwapOption};
use axum::response::Response;
use mesonet::{AlertClock, AlertStore, Intake, MINUTE_MS, Store, StoreError, Variable, Watched};

use crate::alerts::AlertView;
use crate::clock::{Clock, system_ms};
use crate::config::{Config, ConfigError};
use crate::door::Party;
use crate::error::ApiError;
use crate::ingest::{
    FileFault, Ingest, IngestError, Lanes, ModelFiles, ModelInlet, ModelProgress, NoModel, Options,
    Reception, Summary, Target, ingest, ingest_model, model_named, take_in_model_sample,
};
use crate::model_runs::ModelRuns;
use crate::products::{Inlet, ProductFiles, take_in_sample};
use crate::record::{Origin, Record};
use crate::sample::station_tables;
use crate::snapshot::Snapshot;
use crate::station_bodies::{Details, Markers};
use crate::until_told::UntilTold;
use crate::work::{Cost, Load, Turns, held_answer};
use crate::zones::{ZoneSet, ZonesError};

/// What all requests share.
pub struct State {
    config: Config,
    clock: Clock,
    store: Arc<dyn Store>,
    alerts: Arc<AlertStore>,
    /// The store where it is one on disk.
    record: Option<Record>,
    intake: Intake,
    products: ProductFiles,
    models: ModelRuns,
    /// Done once the product of the sample is there, if it is to be.
    sample_product: Once,
    /// Likewise its model runs.
    sample_models: Once,
    lanes: Lanes,
    reception: Reception,
    alert_view: ArcSwapOption<AlertView>,
    /// Held while that is made: who comes meanwhile waits for it.
    alert_builder: Mutex<()>,
    markers: ArcSwap<Markers>,
    details: ArcSwap<Details>,
    units: Snapshot,
    /// Unpacked when they are first asked for.
    zones: OnceLock<Arc<ZoneSet>>,
    turns: Turns,
    /// Set once the server is told to stop.
    is_stopping: AtomicBool,
}

/// The body of a snapshot could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// A setting makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The zones of alerts cannot be read.
    #[error(transparent)]
    Zones(#[from] ZonesError),
    /// A compressor failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A value has no JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl State {
    /// What requests share from now on; the bodies that are encoded ahead are there at once.
    ///
    /// # Errors
    /// Such a body could not be made.
    pub fn new(
        config: Config,
        clock: Clock,
        store: Arc<dyn Store>,
        intake: Intake,
    ) -> Result<Arc<Self>, SnapshotError> {
        Self::build(config, clock, store, None, intake)
    }

    /// The same over a store on disk.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_record(
        config: Config,
        clock: Clock,
        record: Record,
        intake: Intake,
    ) -> Result<Arc<Self>, SnapshotError> {
        let state =
            Self::build(config, clock, Arc::clone(record.store()) as _, Some(record), intake)?;
        state.remove_unfinished();
        Ok(state)
    }

    /// Removes what processes that were killed had begun to write beside the record.
    fn remove_unfinished(&self) {
        let products = self.products.remove_unfinished().map_err(|error| error.to_string());
        let models = self.models.store().remove_unfinished().map_err(|error| error.to_string());
        for (what, removed) in [("raster products", products), ("model runs", models)] {
            match removed {
                Ok(0) => {}
                Ok(count) => tracing::info!(
                    "{count} unfinished files of {what}, left by a process that was killed, were \
                     removed"
                ),
                Err(error) => tracing::warn!("unfinished files of {what} stay: {error}"),
            }
        }
    }

    fn build(
        config: Config,
        clock: Clock,
        store: Arc<dyn Store>,
        record: Option<Record>,
        intake: Intake,
    ) -> Result<Arc<Self>, SnapshotError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Arc::new(Self {
            markers: ArcSwap::from_pointee(Markers::new(&*store)?),
            details: ArcSwap::from_pointee(Details::new(&*store, clock.now_ms(), None)?),
            units: units()?,
            zones: OnceLock::new(),
            turns: Turns::new(cores, config.answer_memory_bytes),
            is_stopping: AtomicBool::new(false),
            alerts: record.as_ref().map(|record| Arc::clone(record.alerts())).unwrap_or_default(),
            alert_view: ArcSwapOption::default(),
            alert_builder: Mutex::new(()),
            products: ProductFiles::new(&config.data, config.catalogue()?),
            models: ModelRuns::new(&config.data, config.model_catalogue()?),
            sample_product: Once::new(),
            sample_models: Once::new(),
            config,
            clock,
            store,
            record,
            intake,
            lanes: Lanes::default(),
            reception: Reception::default(),
        }))
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Tells what is done beside the answers to stop where it can.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Whether it was told to.
    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Whether the clock shows real time, not that of a replay.
    pub fn is_live(&self) -> bool {
        self.clock.is_live()
    }

    /// The time of the clock, milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.clock.now_ms()
    }

    /// The record of stations and readings.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// How many damaged blocks were met while the store was read; each that is new goes to the log.
    pub(crate) fn note_damage(&self, store: &Watched<'_>) -> u64 {
        let blocks = store.damage().blocks();
        if let Some(record) = self.record.as_ref().filter(|_| blocks > 0) {
            record.log_faults();
        }
        blocks
    }

    /// The alerts.
    pub fn alerts(&self) -> &AlertStore {
        &self.alerts
    }

    /// The alerts with their state as it is now.
    ///
    /// # Errors
    /// The zones of alerts cannot be read.
    pub(crate) fn alert_view(&self) -> Result<Arc<AlertView>, ZonesError> {
        let current = |clock| {
            let view = self.alert_view.load_full();
            view.filter(|view| view.is_current(&self.alerts, clock))
        };
        if let Some(view) = current(self.alert_clock()) {
            return Ok(view);
        }
        let _one_at_a_time = self.alert_builder.lock().unwrap_or_else(PoisonError::into_inner);
        let clock = self.alert_clock();
        if let Some(view) = current(clock) {
            return Ok(view);
        }
        let view = Arc::new(AlertView::new(self.alerts.record(), self.zones()?, clock));
        self.alert_view.store(Some(Arc::clone(&view)));
        Ok(view)
    }

    fn alert_clock(&self) -> AlertClock {
        let of = if self.is_live() { AlertClock::live } else { AlertClock::replay };
        of(self.now_ms())
    }

    /// The way into the store, with its checks.
    pub fn intake(&self) -> &Intake {
        &self.intake
    }

    /// The files of raster products.
    pub fn products(&self) -> &ProductFiles {
        &self.products
    }

    /// The same, with the product of the sample where the record is the sample: it is made when
    /// products are first asked for, so that nobody who asks for none waits for it.
    pub(crate) fn products_with_sample(&self) -> &ProductFiles {
        self.sample_product.call_once(|| {
            self.make_of_sample("the raster product", || take_in_sample(&self.products));
        });
        &self.products
    }

    /// The runs of models.
    pub fn models(&self) -> &ModelRuns {
        &self.models
    }

    /// The same, with the runs of the sample where the record is the sample: they are made once,
    /// and who asks meanwhile waits.
    pub fn models_with_sample(&self) -> &ModelRuns {
        self.sample_models.call_once(|| {
            self.make_of_sample("the model runs", || {
                let (store, catalogue) = (self.models.store(), self.models.catalogue());
                take_in_model_sample(store, catalogue, system_ms())
            });
        });
        &self.models
    }

    /// Makes what belongs to the sample, where the record is the sample.
    fn make_of_sample(&self, what: &str, make: impl FnOnce() -> io::Result<()>) {
        let Some(record) = &self.record else { return };
        let made = match record.origin() {
            Ok(Origin::Sample) => make().map_err(|error| error.to_string()),
            Ok(Origin::New | Origin::Own) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = made {
            tracing::error!("{what} of the sample: {error}");
        }
    }

    /// Who reads files in beside whom.
    pub(crate) fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// Takes the bodies of pushes in.
    pub(crate) fn reception(&self) -> &Reception {
        &self.reception
    }

    /// Reads files of a model into its runs; see [`ingest_model`]. One caller at a time for each
    /// model, as its lane sees to: another one is told that the run is being written.
    ///
    /// # Errors
    /// A name that no model has.
    pub fn ingest_model(
        &self,
        model: &str,
        options: Options,
        read: impl FnOnce(&mut ModelFiles<'_>),
    ) -> Result<(Vec<FileFault>, Summary), NoModel> {
        let source = model_named(self.models.catalogue(), model)?;
        let inlet = ModelInlet { store: self.models.store(), source };
        Ok(ingest_model(inlet, options, &ModelProgress::default(), read))
    }

    /// Reads files into the store; see [`ingest`]. Each caller is on its lane. What anyone but
    /// the server itself brings in makes the record theirs: its clock is live from the next start.
    ///
    /// # Errors
    /// The store cannot be read or written, before or after the files are read. Where it fails
    /// while they are, the summary says it.
    pub fn ingest<T>(
        &self,
        options: Options,
        read: impl FnOnce(&mut Ingest<'_>) -> T,
    ) -> Result<(T, Summary), IngestError> {
        let tables = station_tables()?;
        let target = Target {
            intake: &self.intake,
            store: &UntilTold { store: &*self.store, told: &self.is_stopping },
            alerts: &self.alerts,
            tables,
            products: Some(Inlet { files: &self.products, only: None }),
        };
        let done = ingest(target, options, &AtomicU64::new(0), read)?;
        if let Some(record) = &self.record
            && done.1.total(|kind| kind.receipt.added as u64) > 0
        {
            record.make_own()?;
        }
        Ok(done)
    }

    /// The markers of all stations.
    pub(crate) fn markers(&self) -> Snapshot {
        self.markers.load().snapshot.clone()
    }

    /// The details of all stations.
    pub(crate) fn details(&self) -> Arc<Details> {
        self.details.load_full()
    }

    /// The units of all variables.
    pub(crate) fn units(&self) -> &Snapshot {
        &self.units
    }

    /// The zones that alerts are issued for: those that come along, and those of the settings' files.
    ///
    /// # Errors
    /// A file of zones cannot be read, or those that come along are damaged.
    pub fn zones(&self) -> Result<Arc<ZoneSet>, ZonesError> {
        if let Some(zones) = self.zones.get() {
            return Ok(Arc::clone(zones));
        }
        let zones = ZoneSet::load(&self.config.zones)?;
        Ok(Arc::clone(self.zones.get_or_init(|| zones)))
    }

    /// Makes anew what has changed: markers when a station came or moved, details when anything
    /// came in or, as their `qualities` age, after a minute, alerts when their state changes.
    /// Requests see the old until the new is whole. One caller at a time.
    ///
    /// # Errors
    /// A body could not be made; the old one stays.
    pub fn refresh(&self) -> Result<(), SnapshotError> {
        self.alert_view()?.make_snapshot()?;
        let (directory, now_ms) = (self.store.directory()?, self.now_ms());
        if self.markers.load().places_generation != directory.places_generation {
            self.markers.store(Arc::new(Markers::new(&*self.store)?));
        }
        let details = self.details.load();
        let aged = now_ms - details.built_ms >= MINUTE_MS;
        if aged || details.generation != directory.generation {
            self.details.store(Arc::new(Details::new(
                &*self.store,
                now_ms,
                Some(&details.snapshot),
            )?));
        }
        Ok(())
    }

    /// The cores and the memory, shared by those who ask.
    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Does work that keeps a core busy: off the threads that serve connections, and no more of it
    /// at once than the cores can do.
    ///
    /// # Errors
    /// A panic in the work, as an internal error.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        party: Party,
        load: Load,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let turn = self.turns.on_core(party, load).await;
        let state = Arc::clone(self);
        let task = tokio::task::spawn_blocking(move || {
            let done = work(&state);
            // Not before: the work goes on where the caller has stopped to wait for it.
            drop(turn);
            done
        });
        task.await.map_err(ApiError::internal)
    }

    /// Makes an answer that is in memory as a whole until the caller has taken it.
    ///
    /// # Errors
    /// What `make` refuses, or a panic in it as an internal error.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        party: Party,
        cost: Cost,
        make: impl FnOnce(&Self) -> Result<Response, ApiError> + Send + 'static,
    ) -> Result<Response, ApiError> {
        let memory = self.turns.memory(party, cost.bytes).await;
        held_answer(self.work(party, cost.load, make).await??, memory).await
    }

    /// Does what reads a little of a file and is done at once: off the threads that serve
    /// connections, but without waiting behind heavy work.
    ///
    /// # Errors
    /// A panic in it, as an internal error.
    pub(crate) async fn look_up<T: Send + 'static>(
        self: &Arc<Self>,
        look_up: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let state = Arc::clone(self);
        let task = tokio::task::spawn_blocking(move || look_up(&state));
        task.await.map_err(ApiError::internal)
    }
}

/// The units are constant, so a caller may keep them.
fn units() -> Result<Snapshot, SnapshotError> {
    let units: BTreeMap<&str, &str> =
        Variable::ALL.iter().map(|variable| (variable.name(), variable.unit().symbol())).collect();
    Ok(Snapshot::new(serde_json::to_vec(&units)?, "public, max-age=3600")?)
}
