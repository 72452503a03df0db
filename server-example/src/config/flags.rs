//! The settings as flags and environment variables.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use mesonet::Plan;
use serde::Serialize;

use crate::replay_start::ReplayStart;

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
