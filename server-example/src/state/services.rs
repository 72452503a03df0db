//! What requests, fetchers and background work use: stores, products, models, zones.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Once, OnceLock};

use mesonet::store::{AlertStore, ChangeLog, StoreError, Watched};
use mesonet::{Intake, Reader, Store};

use super::StateError;
use super::lanes::Lanes;
use super::live::{Live, LiveLimits};
use super::receive::Reception;
use crate::config::Config;
use crate::observe::metrics::Metrics;
use crate::sample::models::take_in_model_sample;
use crate::sample::product::take_in_sample;
use crate::state::model_runs::ModelRuns;
use crate::state::zones::{ZoneSet, ZonesError};
use mesonet_service::archive::Archive;
use mesonet_service::backup::Follower;
use mesonet_service::clock::system_ms;
use mesonet_service::ingest::refused::RefusedReports;
use mesonet_service::ingest::{
    FileFault, Ingest, IngestSummary, ModelFiles, ModelInlet, ModelProgress, NoModel, Options,
    Target, ingest, ingest_model, model_named,
};
use mesonet_service::products::{ProductFiles, ProductSink};
use mesonet_service::record::{ChangedStations, Origin, Record, StopGuard, Upstream, is_read_only};
use mesonet_service::retention::Retention;
use mesonet_service::sync::get_or_try_init;
use tokio::sync::Notify;

/// The stores of a server, and what writes to them.
pub struct Services {
    /// The record of stations and readings.
    pub store: Arc<dyn Store>,
    /// The same record, which also notes the stations with new data.
    pub(crate) changed_stations: Arc<ChangedStations>,
    /// The alerts.
    pub alerts: Arc<AlertStore>,
    /// The readings that the store no longer holds, if they are archived.
    pub(crate) archive: Option<Arc<Archive>>,
    record_of: RecordOf,
    /// The intake of the store, with its checks.
    pub intake: Intake,
    /// The files of raster products.
    pub products: ProductFiles,
    /// The runs of models.
    pub models: ModelRuns,
    /// Which files may be read in at the same time.
    pub(crate) lanes: Lanes,
    /// Receives the bodies of pushes.
    pub(crate) reception: Reception,
    /// The metrics.
    pub(crate) metrics: Arc<Metrics>,
    /// The reports that could not be read lately.
    pub(crate) refused: RefusedReports,
    /// Notified when an alert, a model run or a raster product may have come in.
    pub(crate) items_came: Arc<Notify>,
    /// Made when first needed.
    retention: OnceLock<Retention>,
    /// Done once the parts of the sample have been created, if they are needed.
    sample_product: Once,
    sample_models: Once,
    zone_files: Vec<PathBuf>,
    /// Unpacked when first requested.
    zones: OnceLock<Arc<ZoneSet>>,
    /// Set once the server is told to stop. The server goes on for a while, and says that it is
    /// leaving.
    is_shutting_down: AtomicBool,
    /// Set once the server stops.
    is_stopping: AtomicBool,
}

/// The kind of record of a server.
pub(crate) enum RecordOf {
    /// In memory, or in a store that the caller made.
    Elsewhere,
    /// On disk or in ClickHouse; this server writes to it.
    Record(Record),
    /// The record of another server: this server reads what the other one writes.
    Followed(Arc<dyn Upstream>),
    /// The record of another server: this server follows its backups.
    Backups(Arc<Follower>),
}

impl RecordOf {
    /// The folder of the server, if there is one and it may write there.
    pub(super) fn folder<'c>(&self, config: &'c Config) -> Option<&'c Path> {
        let may_write = match self {
            Self::Record(_) | Self::Backups(_) => true,
            Self::Followed(_) => !is_read_only(&config.data),
            Self::Elsewhere => false,
        };
        Some(&*config.data).filter(|folder| may_write && folder.is_dir())
    }
}

impl Services {
    /// The services over a store.
    #[expect(clippy::too_many_arguments, reason = "each is a part of the services")]
    pub(crate) fn new(
        store: Arc<dyn Store>,
        record_of: RecordOf,
        intake: Intake,
        products: ProductFiles,
        models: ModelRuns,
        archive: Option<Archive>,
        zone_files: Vec<PathBuf>,
        refused: RefusedReports,
    ) -> Self {
        let changed_stations = Arc::new(ChangedStations::new(store));
        Self {
            alerts: match &record_of {
                RecordOf::Elsewhere => Arc::default(),
                RecordOf::Record(record) => Arc::clone(record.alerts()),
                RecordOf::Followed(follower) => Arc::clone(follower.alerts()),
                RecordOf::Backups(follower) => Arc::clone(follower.alerts()),
            },
            store: Arc::clone(&changed_stations) as _,
            changed_stations,
            archive: archive.map(Arc::new),
            record_of,
            intake,
            products,
            models,
            lanes: Lanes::default(),
            reception: Reception::default(),
            metrics: Arc::default(),
            refused,
            items_came: Arc::default(),
            retention: OnceLock::new(),
            sample_product: Once::new(),
            sample_models: Once::new(),
            zone_files,
            zones: OnceLock::new(),
            is_shutting_down: AtomicBool::new(false),
            is_stopping: AtomicBool::new(false),
        }
    }

    /// The state of the retention of the record.
    ///
    /// # Errors
    /// The record cannot be read.
    pub(crate) fn retention(&self, record: &Record) -> Result<&Retention, StoreError> {
        get_or_try_init(&self.retention, || Retention::of(record))
    }

    /// The record, if this server writes to it.
    pub(crate) fn record(&self) -> Option<&Record> {
        match &self.record_of {
            RecordOf::Record(record) => Some(record),
            RecordOf::Elsewhere | RecordOf::Followed(_) | RecordOf::Backups(_) => None,
        }
    }

    /// Whether this server reads its record from its own files.
    pub(crate) fn is_on_disk(&self) -> bool {
        self.record().is_some_and(Record::is_on_disk)
    }

    /// The follower, if this server follows the backups of another one.
    pub(crate) fn of_backups(&self) -> Option<&Follower> {
        match &self.record_of {
            RecordOf::Backups(follower) => Some(follower),
            RecordOf::Elsewhere | RecordOf::Record(_) | RecordOf::Followed(_) => None,
        }
    }

    /// The record of another server, if this server only reads it.
    pub(crate) fn follower(&self) -> Option<&dyn Upstream> {
        match &self.record_of {
            RecordOf::Followed(follower) => Some(&**follower),
            RecordOf::Backups(follower) => Some(&**follower),
            RecordOf::Elsewhere | RecordOf::Record(_) => None,
        }
    }

    /// Begins the stream of events after what is on record.
    ///
    /// # Errors
    /// The record cannot be read, or the notes about what was told cannot be written.
    pub(super) fn begin_live(&self, config: &Config) -> Result<Live, StateError> {
        let last = match self.change_log() {
            Some(log) => log.changes_after(u64::MAX, 0)?.last,
            None => 0,
        };
        let name = self.follower().map(Upstream::record_name).unwrap_or_default();
        Ok(Live::new(LiveLimits::of(config), self.record_of.folder(config), last, &name)?)
    }

    /// What the last batches changed, if the record can tell.
    pub(crate) fn change_log(&self) -> Option<&dyn ChangeLog> {
        match self.record() {
            Some(record) => Some(record.change_log()),
            None => self.follower().map(Upstream::change_log),
        }
    }

    /// Removes unfinished files of killed processes outside the record.
    pub(crate) fn remove_unfinished(&self) {
        let products = self.products.remove_unfinished().map_err(|error| error.to_string());
        let models = self.models.store().remove_unfinished().map_err(|error| error.to_string());
        for (what, removed) in [("raster products", products), ("model runs", models)] {
            match removed {
                Ok(0) => {}
                Ok(count) => tracing::info!(
                    "removed {count} unfinished files of {what}, left by a killed process"
                ),
                Err(error) => tracing::warn!("cannot remove unfinished files of {what}: {error}"),
            }
        }
    }

    /// From now on says that the server is about to stop.
    pub(crate) fn begin_shutdown(&self) {
        self.is_shutting_down.store(true, Ordering::Relaxed);
    }

    /// Whether the server is about to stop.
    pub(crate) fn is_shutting_down(&self) -> bool {
        self.is_shutting_down.load(Ordering::Relaxed)
    }

    /// Tells background work to stop where it can.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Whether background work was told to stop.
    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Reads from the store. Returns the result, and how many damaged blocks were met.
    ///
    /// # Errors
    /// The errors of `read`.
    pub(crate) fn read<T, E>(
        &self,
        read: impl FnOnce(&dyn Reader) -> Result<T, E>,
    ) -> Result<(T, u64), E> {
        let store = Watched::new(&*self.store);
        let found = read(&store)?;
        Ok((found, self.note_damage(&store)))
    }

    /// Returns how many damaged blocks were met while the store was read, and logs the new ones.
    pub(crate) fn note_damage(&self, store: &Watched<'_>) -> u64 {
        let blocks = store.damage().blocks();
        if let Some(record) = self.record().filter(|_| blocks > 0) {
            record.log_faults();
        }
        blocks
    }

    /// The files of raster products. If the record is the sample, they include the product of the
    /// sample. That product is created when products are first requested, so that other requests do
    /// not wait for it.
    pub(crate) fn products_with_sample(&self) -> &ProductFiles {
        self.sample_product.call_once(|| {
            self.make_of_sample("the raster product", || take_in_sample(&self.products));
        });
        &self.products
    }

    /// The runs of models. If the record is the sample, they include the runs of the sample. Those
    /// are created once, and requests wait for them.
    pub fn models_with_sample(&self) -> &ModelRuns {
        self.sample_models.call_once(|| {
            self.make_of_sample("the model runs", || {
                let (store, catalogue) = (self.models.store(), self.models.catalogue());
                take_in_model_sample(store, &catalogue, system_ms())
            });
        });
        &self.models
    }

    /// Whether [`Self::models_with_sample`] returns at once.
    pub(crate) fn has_model_sample(&self) -> bool {
        self.sample_models.is_completed()
    }

    /// Creates a part of the sample, if the record is the sample.
    fn make_of_sample(&self, what: &str, make: impl FnOnce() -> io::Result<()>) {
        let Some(record) = self.record() else { return };
        let made = match record.origin() {
            Ok(Origin::Sample) => make().map_err(|error| error.to_string()),
            Ok(Origin::New | Origin::Own) => Ok(()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = made {
            tracing::error!("cannot create {what} of the sample: {error}");
        }
    }

    /// Reads files of a model into its runs; see [`ingest_model`]. The lane of each model allows
    /// one caller at a time. Another caller is told that the run is being written.
    ///
    /// # Errors
    /// The model is unknown.
    pub fn ingest_model(
        &self,
        model: &str,
        options: Options,
        read: impl FnOnce(&mut ModelFiles<'_>),
    ) -> Result<(Vec<FileFault>, IngestSummary), NoModel> {
        let catalogue = self.models.catalogue();
        let source = model_named(&catalogue, model)?;
        let inlet = ModelInlet { store: self.models.store(), source };
        let done = ingest_model(inlet, options, &ModelProgress::default(), read);
        self.items_came.notify_one();
        Ok(done)
    }

    /// Reads files into the store; see [`ingest`]. Each caller is on its lane. Data from anyone but
    /// the server itself makes the record live: from the next start, its clock shows real time.
    ///
    /// # Errors
    /// The store cannot be read or written before or after the files are read. If the store fails
    /// in between, the summary says so.
    pub fn ingest<T>(
        &self,
        options: Options,
        read: impl FnMut(&mut Ingest<'_>) -> T,
    ) -> Result<(T, IngestSummary), StoreError> {
        // With an archive, the cutoff depends on the archive.
        if let Some(record) = self.record().filter(|_| self.archive.is_none()) {
            self.retention(record)?.take_back(record, options.now_ms)?;
        }
        let target = Target {
            intake: &self.intake,
            store: &StopGuard { store: &*self.store, stopped: &self.is_stopping },
            alerts: &self.alerts,
            products: Some(ProductSink { files: &self.products, only: None }),
            maintain: None,
        };
        let done = ingest(target, options, &AtomicU64::new(0), read)?;
        self.items_came.notify_one();
        self.metrics.ingested(&done.1);
        if let Err(error) = self.refused.note(&done.1, system_ms()) {
            tracing::error!("cannot keep the reports that could not be read: {error}");
        }
        if let Some(record) = self.record()
            && done.1.total(|kind| kind.receipt.added as u64) > 0
        {
            record.make_own()?;
        }
        Ok(done)
    }

    /// The zones that alerts are issued for: the bundled ones and those of configured files.
    ///
    /// # Errors
    /// A file of zones cannot be read, or the bundled ones are damaged.
    pub fn zones(&self) -> Result<Arc<ZoneSet>, ZonesError> {
        get_or_try_init(&self.zones, || ZoneSet::load(&self.zone_files)).map(Arc::clone)
    }
}
