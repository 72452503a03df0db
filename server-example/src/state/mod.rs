//! What all requests share: settings, clock, services, bodies encoded ahead, and workers.

pub mod alert_clocks;
pub mod alerts;
pub mod clock;
pub mod feeds;
pub mod lanes;
pub mod live;
pub mod model_runs;
pub mod receive;
pub mod run_detail;
pub mod services;
pub mod snapshots;
pub mod station_bodies;
pub mod tiles;
pub mod time_zones;
pub mod zones;

use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use axum::extract::FromRef;
use axum::response::Response;
use mesonet::store::StoreError;
use mesonet::{Intake, Iso8601, Store};
use tower_http::cors::CorsLayer;

use crate::auth::Credentials;
use crate::config::{Config, ConfigError};
use crate::http::cors;
use crate::http::error::ApiError;
use crate::http::extract::BodyRules;
use crate::http::snapshot::SnapshotError;
use crate::http::work::{Cost, Load, Workers, hand_over};
use crate::limits::{ClientAddr, Hops, Window};
use crate::observe::traces::Traces;
use crate::state::alerts::AlertView;
use crate::state::clock::Clock;
use crate::state::live::Live;
use crate::state::model_runs::ModelRuns;
use crate::state::services::{RecordOf, Services};
use crate::state::snapshots::Snapshots;
use crate::state::tiles::Tiles;
use crate::state::time_zones::TimeZones;
use crate::state::zones::ZonesError;
use mesonet_service::archive::Archive;
use mesonet_service::backup::{BackupError, Follower};
use mesonet_service::ingest::refused::{RefusedError, RefusedReports};
use mesonet_service::keys::{KnownKeys, known_keys};
use mesonet_service::live::EventLogError;
use mesonet_service::mqtt::{MqttBroker, MqttError};
use mesonet_service::products::ProductFiles;
use mesonet_service::record::{ReadOnlyStore, Record, RecordPlace, UpdatedStations, Upstream};
use mesonet_service::webhooks::{Webhook, WebhookError};

/// What all requests share.
pub struct State {
    /// The settings. A reload replaces them.
    config: ArcSwap<Config>,
    /// The current time: real time, or the time of a replay.
    pub clock: Clock,
    /// The stores, products, models and zones.
    pub services: Arc<Services>,
    pub(crate) credentials: Credentials,
    /// Finds the client address of a request.
    pub(crate) hops: ArcSwap<Hops>,
    /// The sites whose pages may call from a browser.
    pub(crate) cors: ArcSwapOption<CorsLayer>,
    /// How many requests each client address has sent.
    pub(crate) rate: Window,
    pub(crate) snapshots: Snapshots,
    pub(crate) tiles: Tiles,
    pub(crate) time_zones: TimeZones,
    pub(crate) workers: Arc<Workers>,
    pub(crate) traces: Traces,
    /// The stream of events.
    pub(crate) live: Arc<Live>,
    /// Where alerts are sent.
    pub(crate) webhooks: Vec<Arc<Webhook>>,
    /// The brokers that events are sent to.
    pub(crate) mqtt: Vec<Arc<MqttBroker>>,
}

/// Why the state could not be made or updated.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A setting is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The alert zones cannot be read.
    #[error(transparent)]
    Zones(#[from] ZonesError),
    /// A body could not be made.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The API keys cannot be reached.
    #[error(transparent)]
    Keys(#[from] StoreError),
    /// The backups of the other server cannot be followed.
    #[error(transparent)]
    Follow(#[from] BackupError),
    /// The log of `/live` cannot be written.
    #[error(transparent)]
    EventLog(#[from] EventLogError),
    /// A webhook cannot be used.
    #[error(transparent)]
    Webhook(#[from] WebhookError),
    /// The refused reports cannot be read.
    #[error(transparent)]
    Refused(#[from] RefusedError),
    /// A broker of MQTT cannot be used.
    #[error(transparent)]
    Mqtt(#[from] MqttError),
    /// No place of backups is set.
    #[error("follow is not set; it must be the place of the backups of another server")]
    NoPlace,
}

impl State {
    /// Creates the state; the precomputed bodies are available at once.
    ///
    /// # Errors
    /// A body could not be made.
    pub fn new(
        config: Config,
        clock: Clock,
        store: Arc<dyn Store>,
        intake: Intake,
    ) -> Result<Arc<Self>, StateError> {
        Self::build(config, clock, store, RecordOf::Elsewhere, intake)
    }

    /// Creates the state over a record that this server writes to.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_record(
        config: Config,
        clock: Clock,
        record: Record,
        intake: Intake,
    ) -> Result<Arc<Self>, StateError> {
        let store = record.store();
        let state = Self::build(config, clock, store, RecordOf::Record(record), intake)?;
        state.services.remove_unfinished();
        Ok(state)
    }

    /// Creates the state over the backups of another server, at the place of the setting `follow`.
    ///
    /// # Errors
    /// As [`new`](Self::new). Or the setting is missing, there is no backup yet, or the data folder
    /// does not belong to a follower or cannot be used.
    pub fn of_backups(
        config: Config,
        clock: Clock,
        intake: Intake,
    ) -> Result<Arc<Self>, StateError> {
        let place = config.follow.as_deref().ok_or(StateError::NoPlace)?;
        let follower = Follower::open(place, &config.data)?;
        let as_of = Iso8601(follower.as_of_ms());
        tracing::info!("following {place}, as of {as_of}: takes nothing in");
        let follower = Arc::new(follower);
        let store = Arc::new(ReadOnlyStore(Arc::clone(&follower) as _));
        Self::build(config, clock, store, RecordOf::Backups(follower), intake)
    }

    /// Creates the state over the record of another server.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn of_another(
        config: Config,
        clock: Clock,
        follower: Arc<dyn Upstream>,
        intake: Intake,
    ) -> Result<Arc<Self>, StateError> {
        let store = Arc::new(ReadOnlyStore(Arc::clone(&follower)));
        Self::build(config, clock, store, RecordOf::Followed(follower), intake)
    }

    fn build(
        config: Config,
        clock: Clock,
        store: Arc<dyn Store>,
        record_of: RecordOf,
        intake: Intake,
    ) -> Result<Arc<Self>, StateError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let products = ProductFiles::new(&config.data, config.catalogue()?);
        let models = ModelRuns::new(&config.data, config.model_catalogue()?);
        let snapshots = Snapshots::new(&*store, clock.now_ms())?;
        let zones = config.zones.clone();
        let archive = config.archive.as_deref().map(Archive::new);
        let keys = match &record_of {
            RecordOf::Elsewhere => None,
            // The keys come with the backups of the other server, or are in a folder that is only
            // read.
            RecordOf::Backups(_) => Some(KnownKeys::of_another(&config.data)),
            RecordOf::Followed(_) if matches!(config.place(), RecordPlace::Embedded(_)) => {
                Some(KnownKeys::of_another(&config.data))
            }
            RecordOf::Record(_) | RecordOf::Followed(_) => Some(known_keys(&config.record())?),
        };
        let credentials =
            Credentials::new(config.token_source(), config.development_key(keys.is_some()), keys);
        let credentials = credentials.map_err(ConfigError::from)?;
        let folder = record_of.folder(&config);
        let refused = RefusedReports::open(folder).or_else(|error| {
            // The record is served all the same.
            tracing::error!("{error}; reports that are refused are known until the server stops");
            RefusedReports::open(None)
        })?;
        let services =
            Services::new(store, record_of, intake, products, models, archive, zones, refused);
        let live = Arc::new(services.begin_live(&config)?);
        let webhooks = Webhook::open_all(&config.webhooks, folder)?;
        let mqtt = MqttBroker::open_all(&config.mqtt, folder)?;
        let state = Arc::new(Self {
            services: Arc::new(services),
            live,
            webhooks: webhooks.into_iter().map(Arc::new).collect(),
            mqtt: mqtt.into_iter().map(Arc::new).collect(),
            credentials,
            hops: ArcSwap::from_pointee(config.hops()?),
            cors: ArcSwapOption::from_pointee(cors::layer(&config.cors_origins)),
            rate: Window::new(config.allowance()),
            snapshots,
            tiles: Tiles::default(),
            time_zones: TimeZones::default(),
            workers: Arc::new(Workers::new(cores, config.answer_memory_bytes)),
            traces: Traces::new(config.otlp_endpoint.as_deref()).map_err(ConfigError::from)?,
            config: ArcSwap::from_pointee(config),
            clock,
        });
        state.remember_batches()?;
        Ok(state)
    }

    /// The present settings.
    pub fn config(&self) -> Arc<Config> {
        self.config.load_full()
    }

    /// Applies the new settings that a running server can change. Returns the names of changed
    /// settings that need a restart. They keep their old values.
    ///
    /// # Errors
    /// A setting is invalid, or the keys of account tokens or a catalogue cannot be read. Nothing
    /// has changed then.
    pub(crate) fn reload(&self, new: &Config) -> Result<Vec<&'static str>, ConfigError> {
        let (config, left) = self.config().taking(new);
        let hops = config.hops()?;
        let (products, models) = (config.catalogue()?, config.model_catalogue()?);
        self.credentials.reload(config.token_source())?;
        self.services.products.take(products);
        self.services.models.take(models);
        self.hops.store(Arc::new(hops));
        self.cors.store(cors::layer(&config.cors_origins).map(Arc::new));
        self.rate.set(config.allowance());
        self.config.store(Arc::new(config));
        Ok(left)
    }

    /// Reads what the followed server has acknowledged in the meantime. Does nothing if this server
    /// follows none. [`refresh`](Self::refresh) then updates the bodies. One caller at a time.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn follow(&self) -> Result<(), StateError> {
        let Some(follower) = self.services.follower() else { return Ok(()) };
        let touched = match follower.update() {
            UpdatedStations::None => return Ok(()),
            UpdatedStations::Stations(stations) => stations.into_iter().collect(),
            UpdatedStations::All => {
                let directory = self.services.store.directory().map_err(SnapshotError::from)?;
                directory.stations.iter().map(|record| record.station.id).collect()
            }
        };
        self.services.changed_stations.put_back(touched);
        Ok(())
    }

    /// The alerts with their current state.
    ///
    /// # Errors
    /// The alert zones cannot be read.
    pub(crate) fn alert_view(&self) -> Result<Arc<AlertView>, ZonesError> {
        let services = &self.services;
        self.snapshots.alerts(&services.alerts, || services.zones(), || self.clock.alerts())
    }

    /// Updates the bodies whose content has changed. Requests see the old bodies until the new ones
    /// are complete. One caller at a time.
    ///
    /// # Errors
    /// A body could not be made; the old one is kept.
    pub fn refresh(&self) -> Result<(), StateError> {
        self.refresh_stations()?;
        self.refresh_alerts()
    }

    /// Updates the bodies with stations.
    pub(crate) fn refresh_stations(&self) -> Result<(), StateError> {
        let Services { changed_stations, store, .. } = &*self.services;
        let touched = changed_stations.take();
        let refreshed = self.snapshots.refresh(&**store, self.clock.now_ms(), &touched);
        if refreshed.is_err() {
            changed_stations.put_back(touched);
        }
        Ok(refreshed?)
    }

    /// Updates the body with alerts.
    pub(crate) fn refresh_alerts(&self) -> Result<(), StateError> {
        Ok(self.alert_view()?.make_snapshot()?)
    }

    /// Does work that keeps a core busy; see [`Workers::work`].
    ///
    /// # Errors
    /// The work panicked: an internal error.
    pub(crate) async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        client_addr: ClientAddr,
        load: Load,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let state = Arc::clone(self);
        self.workers.work(client_addr, load, move || work(&state)).await
    }

    /// Makes an answer that is in memory as a whole; see [`Workers::answer`].
    ///
    /// # Errors
    /// `make` refuses, or panics: an internal error.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        client_addr: ClientAddr,
        cost: Cost,
        make: impl FnOnce(&Self) -> Result<Response, ApiError> + Send + 'static,
    ) -> Result<Response, ApiError> {
        let state = Arc::clone(self);
        self.workers.answer(client_addr, cost, move || make(&state)).await
    }

    /// Does quick work that may wait for a database or a compressor, off the threads that serve
    /// connections, but without waiting behind heavy work.
    ///
    /// # Errors
    /// The work panicked: an internal error.
    pub(crate) async fn look_up<T: Send + 'static>(
        self: &Arc<Self>,
        look_up: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let state = Arc::clone(self);
        hand_over(move || look_up(&state)).await
    }

    /// Reads a little of the files of models. It is done where the request is served: handing it
    /// over would take longer. Requests that come before the sample runs are created, which takes
    /// seconds, are handed over.
    ///
    /// # Errors
    /// The work panicked: an internal error.
    pub(crate) async fn read_models<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        if self.services.has_model_sample() { Ok(read(self)) } else { self.look_up(read).await }
    }
}

impl FromRef<Arc<State>> for BodyRules {
    fn from_ref(state: &Arc<State>) -> Self {
        Self {
            limit: state.config().max_body_bytes,
            pace: state.config().pace(),
            workers: Arc::clone(&state.workers),
        }
    }
}
