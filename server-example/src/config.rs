//! What can be set: by flag, else environment variable, else configuration file, else default.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, io};

use axum::http::{HeaderValue, Uri};
use clap::Args;
use figment::Figment;
use figment::providers::{Format, Serialized, Toml};
use mesonet::{
    Caps, CatalogueError, CheckConfig, CheckConfigError, Checker, EmbeddedOptions, ModelCatalogue,
    ModelCatalogueError, Plan, RasterCatalogue, parse_window,
};
use serde::{Deserialize, Serialize};

use crate::door::{Limits, Pace};
use crate::fetch::FetchConfig;
use crate::ingest::KeyHash;
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

/// The flags of `serve`. Each has an environment variable and a key in the configuration file.
#[derive(Clone, Debug, Default, Args, Serialize)]
pub struct Flags {
    /// Configuration file (TOML); its keys are the long flags with _ for -
    #[arg(long, env = "MESONET_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,

    /// Address and port to listen on [default: 127.0.0.1:8080]
    #[arg(long, env = "MESONET_LISTEN", value_name = "ADDR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<SocketAddr>,

    /// Folder of the record, made if there is none [default: mesonet-data]
    #[arg(long, env = "MESONET_DATA", value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<PathBuf>,

    /// Where the clock starts: an ISO 8601 instant, "sample" for the newest reading of the
    /// sample, "live" for real time [default: sample where the record holds nothing but the
    /// sample, else live]
    #[arg(long, env = "MESONET_NOW", value_name = "TIME|sample|live")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<ReplayStart>,

    /// How long readings are kept, in days or hours, for example 400d [default: for ever]
    #[arg(long, env = "MESONET_RETENTION", value_name = "SPAN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<String>,

    /// Fresh readings from which on they are sealed into a segment file [default: 1000000]
    #[arg(long, env = "MESONET_SEAL_READINGS", value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal_readings: Option<usize>,

    /// Folder from which feed files are read as they come, and moved to done/ or failed/ in it
    #[arg(long, env = "MESONET_WATCH", value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<PathBuf>,

    /// Whether files stay in that folder once they are read [default: false]
    #[arg(long, env = "MESONET_WATCH_KEEP", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch_keep: Option<bool>,

    /// SHA-256 of the keys with which feed files may be pushed (see push-key), comma-separated
    /// [default: none]
    #[arg(long, env = "MESONET_INGEST_KEY_HASHES", value_name = "HASHES", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ingest_key_hashes: Option<Vec<String>>,

    /// Longest body of a feed file that is pushed [default: 67108864]
    #[arg(long, env = "MESONET_MAX_INGEST_BYTES", value_name = "BYTES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ingest_bytes: Option<u64>,

    /// For development: callers count as this plan (none, free, pro, commercial); only on a
    /// loopback address [default: none]
    #[arg(long, env = "MESONET_ASSUME_PLAN", value_name = "PLAN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assume_plan: Option<Plan>,

    /// Path below which the observation service lies [default: /api/v1]
    #[arg(long, env = "MESONET_API_PREFIX", value_name = "PATH")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_prefix: Option<String>,

    /// Path below which the model service lies [default: none, it lies at the root]
    #[arg(long, env = "MESONET_MODEL_PREFIX", value_name = "PATH")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_prefix: Option<String>,

    /// Sites whose pages may call the service, comma-separated [default: none]
    #[arg(long, env = "MESONET_CORS_ORIGINS", value_name = "ORIGINS", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cors_origins: Option<Vec<String>>,

    /// Limits of the quality checks (TOML), which go over those that ship [default: none]
    #[arg(long, env = "MESONET_LIMITS", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<PathBuf>,

    /// Files of zones of alerts (.shp, .geojson), comma-separated, which go over those that come
    /// along [default: none]
    #[arg(long, env = "MESONET_ZONES", value_name = "FILES", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<Vec<PathBuf>>,
    /// Raster products (TOML), which go over those that ship [default: none]
    #[arg(long, env = "MESONET_PRODUCTS", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub products: Option<PathBuf>,

    /// Sources of model output (TOML), which go over those that ship [default: none]
    #[arg(long, env = "MESONET_MODELS", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<PathBuf>,

    /// What goes to the log: off, error, warn, info, debug or trace [default: info]
    #[arg(long, env = "MESONET_LOG", value_name = "LEVEL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,

    /// Most cells of a readings answer [default: 500000]
    #[arg(long, env = "MESONET_MAX_CELLS", value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cells: Option<u64>,

    /// Most positions in time of a readings answer [default: 2000]
    #[arg(long, env = "MESONET_MAX_POSITIONS", value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_positions: Option<u64>,

    /// Most station ids of a request [default: 5000]
    #[arg(long, env = "MESONET_MAX_STATION_IDS", value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_station_ids: Option<usize>,

    /// Most values of a series of the model service [default: 1000000]
    #[arg(long, env = "MESONET_MAX_MODEL_VALUES", value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_model_values: Option<usize>,

    /// Longest body of a request [default: 1048576]
    #[arg(long, env = "MESONET_MAX_BODY_BYTES", value_name = "BYTES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_body_bytes: Option<usize>,

    /// Most connections at once [default: 4096, less where the process may open fewer files]
    #[arg(long, env = "MESONET_MAX_CONNECTIONS", value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_connections: Option<usize>,

    /// Most connections of one address (IPv6: of one /64); behind a proxy as many as in all
    /// [default: a quarter of all]
    #[arg(long, env = "MESONET_MAX_ADDRESS_CONNECTIONS", value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_address_connections: Option<usize>,

    /// How long the head of a request may take [default: 10]
    #[arg(long, env = "MESONET_HEAD_TIMEOUT_S", value_name = "SECONDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_timeout_s: Option<u64>,

    /// How long a connection may rest between requests; behind a proxy longer than the proxy keeps
    /// it [default: 75]
    #[arg(long, env = "MESONET_IDLE_TIMEOUT_S", value_name = "SECONDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout_s: Option<u64>,

    /// How fast a caller must send its body and take its answer, on average over 20 s
    /// [default: 4096]
    #[arg(long, env = "MESONET_MIN_BYTES_PER_S", value_name = "BYTES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_bytes_per_s: Option<u64>,

    /// Memory for answers that are computed or wait to be taken [default: 536870912]
    #[arg(long, env = "MESONET_ANSWER_MEMORY_BYTES", value_name = "BYTES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_memory_bytes: Option<usize>,
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

    /// Checks what the types of the settings cannot.
    ///
    /// # Errors
    /// A value that is not allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        let refuse = |key, got: &dyn fmt::Display, allowed| {
            Err(ConfigError::Value { key, got: got.to_string(), allowed })
        };
        if self.assume_plan > Plan::None && !self.listen.ip().is_loopback() {
            let got = format!("{} while listening on {}", self.assume_plan, self.listen);
            return refuse("assume_plan", &got, "none unless on a loopback address (127.0.0.1)");
        }
        if !is_prefix(&self.api_prefix) {
            let allowed = "a path of letters, digits, - . _ ~ that starts with / and does not \
                           end with it, for example /api/v1";
            return refuse("api_prefix", &format!("\"{}\"", self.api_prefix), allowed);
        }
        if !(self.model_prefix.is_empty() || is_prefix(&self.model_prefix)) {
            let allowed = "empty, or a path as for api_prefix";
            return refuse("model_prefix", &format!("\"{}\"", self.model_prefix), allowed);
        }
        // Both have an endpoint /capabilities, and one has all below /models.
        let models = format!("{}/models", self.model_prefix);
        if self.api_prefix == self.model_prefix
            || format!("{}/", self.api_prefix).starts_with(&format!("{models}/"))
        {
            let allowed = "a path that is not that of the model service";
            return refuse("api_prefix", &format!("\"{}\"", self.api_prefix), allowed);
        }
        if let Some(origin) = self.cors_origins.iter().find(|origin| !is_origin(origin)) {
            let allowed = "origins such as https://example.org";
            return refuse("cors_origins", &format!("\"{origin}\""), allowed);
        }
        if !["off", "error", "warn", "info", "debug", "trace"].contains(&&*self.log) {
            let allowed = "off, error, warn, info, debug, trace";
            return refuse("log", &format!("\"{}\"", self.log), allowed);
        }
        if self.max_cells < 1 {
            return refuse("max_cells", &self.max_cells, "1 or more");
        }
        if self.max_positions < 2 {
            return refuse("max_positions", &self.max_positions, "2 (start and end) or more");
        }
        if self.max_station_ids < 1 {
            return refuse("max_station_ids", &self.max_station_ids, "1 or more");
        }
        if self.max_model_values < 1 {
            return refuse("max_model_values", &self.max_model_values, "1 or more");
        }
        if self.seal_readings < 1 {
            return refuse("seal_readings", &self.seal_readings, "1 or more");
        }
        if self.data.as_os_str().is_empty() {
            return refuse("data", &"empty", "a folder");
        }
        if let Some(span) = &self.retention
            && parse_window(span).is_err()
        {
            let allowed = "a positive whole number followed by d or h, for example 400d";
            return refuse("retention", &format!("\"{span}\""), allowed);
        }
        if let Some(hash) = self.ingest_key_hashes.iter().find(|hash| !KeyHash::is_hash(hash)) {
            let allowed = "64 hexadecimal digits, as push-key prints them";
            return refuse("ingest_key_hashes", &format!("\"{hash}\""), allowed);
        }
        for source in &self.fetch {
            source.check()?;
        }
        if self.max_ingest_bytes < 1 << 10 {
            return refuse("max_ingest_bytes", &self.max_ingest_bytes, "1024 or more");
        }
        if !(64..=1 << 26).contains(&self.max_body_bytes) {
            return refuse("max_body_bytes", &self.max_body_bytes, "64 to 67108864");
        }
        if self.max_connections < 1 {
            return refuse("max_connections", &self.max_connections, "1 or more");
        }
        if self.max_address_connections == Some(0) {
            return refuse("max_address_connections", &0, "1 or more");
        }
        for (key, seconds) in
            [("head_timeout_s", self.head_timeout_s), ("idle_timeout_s", self.idle_timeout_s)]
        {
            if !(1..=3_600).contains(&seconds) {
                return refuse(key, &seconds, "1 to 3600");
            }
        }
        if self.min_bytes_per_s < 1 {
            return refuse("min_bytes_per_s", &self.min_bytes_per_s, "1 or more");
        }
        if self.answer_memory_bytes < 16 << 20 {
            return refuse("answer_memory_bytes", &self.answer_memory_bytes, "16777216 or more");
        }
        Ok(())
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

fn is_prefix(text: &str) -> bool {
    let segments = text.strip_prefix('/');
    segments.is_some_and(|segments| {
        segments.split('/').all(|segment| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            !matches!(segment, "" | "." | "..") && segment.bytes().all(plain)
        })
    })
}

fn is_origin(text: &str) -> bool {
    let shown = |uri: &Uri| {
        let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
        (matches!(scheme, "http" | "https") && !authority.as_str().contains('@'))
            .then(|| format!("{scheme}://{authority}"))
    };
    // A browser sends scheme, host and port and nothing else, so nothing else can ever match.
    text.parse().ok().and_then(|uri| shown(&uri)).is_some_and(|origin| origin == text)
        && HeaderValue::from_str(text).is_ok()
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
