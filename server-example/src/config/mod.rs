//! What can be set: by flag, else environment variable, else configuration file, else default.

mod check;
mod flags;

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use figment::Figment;
use figment::providers::{Format, Serialized, Toml};
use mesonet::{
    Caps, CatalogueError, CheckConfig, CheckConfigError, Checker, EmbeddedOptions, ModelCatalogue,
    ModelCatalogueError, Plan, RasterCatalogue, parse_window,
};
use serde::{Deserialize, Serialize};

pub use self::flags::Flags;
use crate::door::{Limits, Pace};
use crate::fetch::FetchConfig;
use crate::replay_start::ReplayStart;

/// The settings of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Where the server listens.
    pub listen: SocketAddr,
    /// Folder of the record of stations and readings.
    pub data: PathBuf,
    /// Where the clock starts; `None` is at the sample's newest reading where the record holds
    /// nothing but the sample, else real time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<ReplayStart>,
    /// How long readings are kept: days or hours; `None` is for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<String>,
    /// Fresh readings from which on they are sealed into a segment.
    pub seal_readings: usize,
    /// Folder from which feed files are read as they come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<PathBuf>,
    /// Whether files stay in that folder once they are read.
    pub watch_keep: bool,
    /// SHA-256 of the keys with which feed files may be pushed, in hexadecimal.
    pub ingest_key_hashes: Vec<String>,
    /// Longest body of a feed file that is pushed.
    pub max_ingest_bytes: u64,
    /// What is fetched, in `[[fetch]]` tables; nothing without one.
    pub fetch: Vec<FetchConfig>,
    /// What a caller without a credential counts as; `None` is the interface's rule.
    pub assume_plan: Plan,
    /// Path below which the observation service lies.
    pub api_prefix: String,
    /// Path below which the model service lies, `/models/…` and `/capabilities`; empty is the root.
    pub model_prefix: String,
    /// Sites whose pages may call the service from a browser.
    pub cors_origins: Vec<String>,
    /// File of limits for the quality checks, which go over those that ship.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<PathBuf>,
    /// Files of zones, which go over those that come along.
    pub zones: Vec<PathBuf>,
    /// File of raster products, which go over those that ship.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub products: Option<PathBuf>,
    /// File of sources of model output, which go over those that ship.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<PathBuf>,
    /// What goes to the log: the name of a level.
    pub log: String,
    /// Most cells of a readings answer.
    pub max_cells: u64,
    /// Most positions in time of a readings answer.
    pub max_positions: u64,
    /// Most station ids of a request.
    pub max_station_ids: usize,
    /// Most values of a series of the model service.
    pub max_model_values: usize,
    /// Longest body of a request.
    pub max_body_bytes: usize,
    /// Most connections at once.
    pub max_connections: usize,
    /// Most connections of one address (IPv6: of one /64); `None` is a quarter of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_address_connections: Option<usize>,
    /// How long the head of a request may take.
    pub head_timeout_s: u64,
    /// How long a connection may rest between requests.
    pub idle_timeout_s: u64,
    /// How fast a caller must send its body and take its answer, on average over 20 s.
    pub min_bytes_per_s: u64,
    /// Memory for answers that are computed or wait to be taken.
    pub answer_memory_bytes: usize,
}

impl Default for Config {
    fn default() -> Self {
        let Caps { cells, positions } = Caps::default();
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            data: PathBuf::from("mesonet-data"),
            now: None,
            retention: None,
            seal_readings: EmbeddedOptions::default().seal_readings,
            watch: None,
            watch_keep: false,
            ingest_key_hashes: Vec::new(),
            max_ingest_bytes: 64 << 20,
            fetch: Vec::new(),
            assume_plan: Plan::None,
            api_prefix: "/api/v1".to_owned(),
            model_prefix: String::new(),
            cors_origins: Vec::new(),
            limits: None,
            zones: Vec::new(),
            products: None,
            models: None,
            log: "info".to_owned(),
            max_cells: cells,
            max_positions: positions,
            max_station_ids: 5_000,
            max_model_values: 1_000_000,
            max_body_bytes: 1 << 20,
            max_connections: 4_096,
            max_address_connections: None,
            head_timeout_s: 10,
            idle_timeout_s: 75,
            min_bytes_per_s: 4_096,
            answer_memory_bytes: 512 << 20,
        }
    }
}

/// A setting that makes no sense.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file that is not there or cannot be read.
    #[error("the file {}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Limits of the quality checks that make no sense.
    #[error("{}: {error}", .path.display())]
    Limits {
        /// The file.
        path: PathBuf,
        /// The line and the reason.
        error: CheckConfigError,
    },
    /// A catalogue of raster products that makes no sense.
    #[error("{}: {error}", .path.display())]
    Products {
        /// The file.
        path: PathBuf,
        /// The place and the reason.
        error: CatalogueError,
    },
    /// A catalogue of sources of model output that makes no sense.
    #[error("{}: {error}", .path.display())]
    Models {
        /// The file.
        path: PathBuf,
        /// The place and the reason.
        error: ModelCatalogueError,
    },
    /// A file that cannot be read, a key that is none, a value of the wrong type.
    #[error("{0}")]
    Read(#[from] Box<figment::Error>),
    /// A value that is not allowed.
    #[error("{key} is {got}; allowed is {allowed}")]
    Value {
        /// Key of the setting.
        key: &'static str,
        /// What was given.
        got: String,
        /// What is allowed.
        allowed: &'static str,
    },
}

impl Config {
    /// Puts the settings together and checks them.
    ///
    /// # Errors
    /// A configuration file that cannot be read or holds an unknown key, or a value that is not
    /// allowed.
    pub fn load(flags: &Flags) -> Result<Self, ConfigError> {
        let mut figment = Figment::from(Serialized::defaults(Self::default()));
        if let Some(path) = &flags.config {
            // A file that is not there would count as an empty one.
            let found = std::fs::metadata(path);
            found.map_err(|error| ConfigError::File { path: path.clone(), error })?;
            figment = figment.merge(Toml::file_exact(path));
        }
        // The command line has read the environment where a flag was not given.
        let config: Self =
            figment.merge(Serialized::defaults(flags)).extract().map_err(Box::new)?;
        config.check()?;
        config.checker()?;
        config.catalogue()?;
        config.model_catalogue()?;
        Ok(config)
    }

    /// The quality checks with the limits of this deployment.
    ///
    /// # Errors
    /// A file of limits that cannot be read or makes no sense.
    pub fn checker(&self) -> Result<Checker, ConfigError> {
        let Some(path) = &self.limits else { return Ok(Checker::default()) };
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::File { path: path.clone(), error })?;
        let config = CheckConfig::from_toml(&text)
            .map_err(|error| ConfigError::Limits { path: path.clone(), error })?;
        Ok(Checker::new(config))
    }

    /// The raster products of this deployment.
    ///
    /// # Errors
    /// A file of products that cannot be read or makes no sense.
    pub fn catalogue(&self) -> Result<RasterCatalogue, ConfigError> {
        let Some(path) = &self.products else { return Ok(RasterCatalogue::default()) };
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::File { path: path.clone(), error })?;
        RasterCatalogue::from_toml(&text)
            .map_err(|error| ConfigError::Products { path: path.clone(), error })
    }

    /// The sources of model output of this deployment.
    ///
    /// # Errors
    /// A file of sources that cannot be read or makes no sense.
    pub fn model_catalogue(&self) -> Result<ModelCatalogue, ConfigError> {
        let Some(path) = &self.models else { return Ok(ModelCatalogue::default()) };
        let text = std::fs::read_to_string(path)
            .map_err(|error| ConfigError::File { path: path.clone(), error })?;
        ModelCatalogue::from_toml(&text)
            .map_err(|error| ConfigError::Models { path: path.clone(), error })
    }

    /// What is asked of those who connect.
    pub(crate) fn door_limits(&self) -> Limits {
        let quarter = self.max_connections.div_ceil(4);
        Limits {
            connections: self.max_connections,
            of_party: self.max_address_connections.unwrap_or(quarter),
            head: Duration::from_secs(self.head_timeout_s),
            idle: Duration::from_secs(self.idle_timeout_s),
            pace: self.pace(),
        }
    }

    /// How fast a caller must send and take.
    pub(crate) fn pace(&self) -> Pace {
        Pace { bytes_per_s: self.min_bytes_per_s }
    }

    /// How long readings are kept, milliseconds; `None` is for ever.
    pub fn retention_ms(&self) -> Option<i64> {
        self.retention.as_deref().and_then(|span| parse_window(span).ok())
    }

    /// How the store on disk is kept.
    pub fn store_options(&self) -> EmbeddedOptions {
        EmbeddedOptions { seal_readings: self.seal_readings, ..EmbeddedOptions::default() }
    }

    /// The caps of a readings answer.
    pub fn caps(&self) -> Caps {
        Caps { cells: self.max_cells, positions: self.max_positions }
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
