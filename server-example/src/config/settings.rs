//! Every setting: its name, meaning, default, environment variable, and the group it belongs to.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use mesonet::access::Plan;
use mesonet::query::Caps;
use mesonet::store::EmbeddedOptions;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::LogFormat;
use crate::config::replay_start::ReplayStart;
use crate::limits::ProxyHeader;
use mesonet_service::fetch::FetchConfig;
use mesonet_service::mqtt::MqttConfig;
use mesonet_service::webhooks::WebhookConfig;

/// Makes [`Config`], which has every setting, and [`Flags`] by group, which have the settings that
/// were given. A setting without a default is an `Option`. The text after `by default` is for
/// the help. A reload leaves the settings as they are that `needs restart` stands after.
macro_rules! settings {
    ($(
        $(#[$group:meta])* $flags:ident: $Flags:ident, $heading:literal $(, with { $($own:tt)* })? {$(
            $(#[doc = $doc:literal])+
            $(#[arg($($arg:tt)+)])?
            $name:ident: $type:ty $(= $default:expr)?, $env:literal, $value:literal
            $(, by default $without:literal)? $(, needs $restart:ident)?;
        )*}
    )*) => {
        /// The settings of a server.
        ///
        /// The name of a field is its key in the file. The names of the environment variable and
        /// the flag follow from it: `max_cells`, `MESONET_MAX_CELLS` and `--max-cells`.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct Config {
            $($(
                $(#[doc = $doc])+
                $(#[doc = concat!("\n\n`None`: ", $without, ".")])?
                pub $name: setting_type!($type $(, $default)?),
            )*)*
            /// What is fetched, in `[[fetch]]` tables of the configuration file only. Without a
            /// table, nothing is fetched.
            pub fetch: Vec<FetchConfig>,
            /// Where alerts are sent, in `[[webhooks]]` tables of the configuration file only. Without
            /// a table, nothing is sent.
            pub webhooks: Vec<WebhookConfig>,
            /// The brokers that events are sent to, in `[[mqtt]]` tables of the configuration file
            /// only. Without a table, nothing is sent.
            pub mqtt: Vec<MqttConfig>,
        }

        impl Config {
            /// Takes the flags that were given.
            pub(super) fn override_with(&mut self, flags: &Flags) {
                $($(
                    if let Some(given) = &flags.$flags.$name {
                        self.$name = setting_value!(given.clone() $(, $default)?);
                    }
                )*)*
            }

            /// Puts back the settings that are read only at the start. Returns the names of those
            /// that differed.
            pub(super) fn keep_from(&mut self, running: &Self) -> Vec<&'static str> {
                let mut kept = Vec::new();
                $($($(keep!(self, running, kept, $name needs $restart);)?)*)*
                keep!(self, running, kept, fetch needs restart);
                keep!(self, running, kept, webhooks needs restart);
                keep!(self, running, kept, mqtt needs restart);
                kept
            }
        }

        impl Default for Config {
            fn default() -> Self {
                Self {
                    $($($name: default_value!($($default)?),)*)*
                    fetch: Vec::new(),
                    webhooks: Vec::new(),
                    mqtt: Vec::new(),
                }
            }
        }

        $(
            $(#[$group])*
            #[derive(Clone, Debug, Default, Args)]
            pub struct $Flags {
                $($($own)*)?
                $(
                    $(#[doc = $doc])+
                    #[arg(
                        long, env = $env, value_name = $value, help_heading = $heading,
                        help = help(
                            concat!($($doc),+),
                            default_text!($type $(= $default)? $(, $without)?),
                        ),
                        $($($arg)+)?
                    )]
                    pub $name: Option<$type>,
                )*
            }
        )*

        /// The flags of `serve`: every group. Each flag has an environment variable and a key in the
        /// configuration file.
        #[derive(Clone, Debug, Default, Args)]
        #[allow(missing_docs, reason = "each field is the group that its type describes")]
        pub struct Flags {
            $(
                #[command(flatten)]
                pub $flags: $Flags,
            )*
        }
    };
}

macro_rules! keep {
    ($new:ident, $running:ident, $kept:ident, $name:ident needs $restart:ident) => {
        if $new.$name != $running.$name {
            $new.$name = $running.$name.clone();
            $kept.push(stringify!($name));
        }
    };
}

macro_rules! setting_type {
    ($type:ty) => { Option<$type> };
    ($type:ty, $default:expr) => { $type };
}

macro_rules! setting_value {
    ($given:expr) => {
        Some($given)
    };
    ($given:expr, $default:expr) => {
        $given
    };
}

macro_rules! default_value {
    () => {
        None
    };
    ($default:expr) => {
        $default
    };
}

macro_rules! default_text {
    ($type:ty = $default:expr) => {
        &shown::<$type>(&$default)
    };
    ($type:ty, $without:literal) => {
        $without
    };
}

settings! {
    /// The record and the file of its settings: flags of every command.
    record: RecordFlags, "Record", with {
        /// Configuration file (TOML); its keys are the long flags of serve with _ for -
        #[arg(long, env = "MESONET_CONFIG", value_name = "FILE", help_heading = "Record")]
        pub config: Option<PathBuf>,
    } {
        /// Folder of the record; serve and ingest create it
        data: PathBuf = "mesonet-data".into(), "MESONET_DATA", "DIR", needs restart;
        /// Where readings, stations and alerts are: embedded, which is in that folder,
        /// clickhouse:http://HOST:PORT/DATABASE, or for a cluster with all its nodes
        /// clickhouse:http://HOST:PORT,HOST:PORT,…/DATABASE/CLUSTER; with USER@ before the first HOST
        /// for another user than default
        store: String = "embedded".into(), "MESONET_STORE", "PLACE", needs restart;
        /// File with the password of that user, one line
        store_password_file: PathBuf, "MESONET_STORE_PASSWORD_FILE", "FILE",
            by default "the environment variable CLICKHOUSE_PASSWORD, else none", needs restart;
    }

    /// How far back the record is kept.
    keep: KeepFlags, "Record" {
        /// How long readings and alerts are kept, in days or hours, for example 400d
        retention: String, "MESONET_RETENTION", "SPAN", by default "forever";
        /// Where the archive of the record is: bulk export answers from it for what retention has
        /// deleted, and retention deletes only what is in it
        archive: String, "MESONET_ARCHIVE", "PLACE", by default "none", needs restart;
    }

    /// The store on disk.
    store: StoreFlags, "Record" {
        /// Number of fresh readings at which they are sealed into a segment file
        seal_readings: usize = EmbeddedOptions::default().seal_readings,
            "MESONET_SEAL_READINGS", "N", needs restart;
        /// Where the backups of another server are: this one serves the newest of them, and takes
        /// nothing in
        follow: String, "MESONET_FOLLOW", "PLACE", by default "none", needs restart;
        /// How often a follower looks for a newer backup
        follow_every_s: u64 = 10, "MESONET_FOLLOW_EVERY_S", "SECONDS", needs restart;
        /// How many hours of readings of a record in ClickHouse are in memory; 0 keeps none there
        recent_hours: u32 = 48, "MESONET_RECENT_HOURS", "HOURS", needs restart;
        /// Most memory for these; fewer hours are kept if it is not enough
        recent_memory_bytes: usize = 1 << 30, "MESONET_RECENT_MEMORY_BYTES", "BYTES", needs restart;
        /// Whether the server only reads its record in ClickHouse, which another one writes: it shows
        /// what that takes in a second later, and takes nothing in
        read_only: bool = false, "MESONET_READ_ONLY", "BOOL", needs restart;
    }

    /// The service: its address, its paths, its clock and its callers.
    service: ServiceFlags, "Service", with {
        /// Print the settings as they would be used, and where each comes from, and end
        #[arg(long, help_heading = "Service")]
        pub print_config: bool,
    } {
        /// Address and port to listen on
        listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 8080)), "MESONET_LISTEN", "ADDR",
            needs restart;
        /// Certificate of the server with its chain (PEM); the server then speaks TLS only
        tls_cert: PathBuf, "MESONET_TLS_CERT", "FILE", by default "none: no TLS", needs restart;
        /// Private key of that certificate (PEM)
        tls_key: PathBuf, "MESONET_TLS_KEY", "FILE", by default "none", needs restart;
        /// Address and port of /metrics, for a monitoring system. Everyone who reaches it may read it
        metrics_listen: SocketAddr, "MESONET_METRICS_LISTEN", "ADDR", by default "none",
            needs restart;
        /// Address of an OpenTelemetry collector for traces of requests (OTLP over HTTP, as JSON), for
        /// example http://127.0.0.1:4318
        otlp_endpoint: String, "MESONET_OTLP_ENDPOINT", "ADDRESS",
            by default "that of OTEL_EXPORTER_OTLP_ENDPOINT, else none", needs restart;
        /// Path prefix of the observation service
        api_prefix: String = "/api/v1".into(), "MESONET_API_PREFIX", "PATH", needs restart;
        /// Path prefix of the model service, /models and /capabilities; empty is the root
        model_prefix: String = String::new(), "MESONET_MODEL_PREFIX", "PATH", needs restart;
        /// Sites whose pages may call the service from a browser, comma-separated; https://*.a.org
        /// stands for every subdomain of a.org
        #[arg(value_delimiter = ',')]
        cors_origins: Vec<String> = Vec::new(), "MESONET_CORS_ORIGINS", "ORIGINS";
        /// Sites whose pages may show the explorer in a frame, comma-separated, in the form of
        /// cors-origins
        #[arg(value_delimiter = ',')]
        frame_origins: Vec<String> = Vec::new(), "MESONET_FRAME_ORIGINS", "ORIGINS";
        /// Where the clock starts: an RFC 3339 instant, "sample" for the newest reading of the
        /// sample, "live" for real time
        now: ReplayStart, "MESONET_NOW", "TIME|sample|live",
            by default "sample if the record holds nothing but the sample, else live",
            needs restart;
        /// For development: callers are treated as having this plan (none, free, pro, commercial);
        /// only on a loopback address
        assume_plan: Plan = Plan::None, "MESONET_ASSUME_PLAN", "PLAN", needs restart;
        /// Log level: off, error, warn, info, debug or trace
        log: String = "info".into(), "MESONET_LOG", "LEVEL", needs restart;
        /// Form of the log: text or json
        log_format: LogFormat = LogFormat::Text, "MESONET_LOG_FORMAT", "FORM", needs restart;
        /// Whether each request is in the log
        log_requests: bool = true, "MESONET_LOG_REQUESTS", "BOOL", needs restart;
    }

    /// Whose account tokens are accepted.
    credentials: CredentialFlags, "Credentials" {
        /// Keys of account tokens: a JSON Web Key Set, a file or an https:// address
        token_keys: String, "MESONET_TOKEN_KEYS", "FILE|ADDRESS", by default "none";
        /// Who must have issued an account token (its iss); required with token-keys
        token_issuer: String, "MESONET_TOKEN_ISSUER", "TEXT", by default "none";
        /// Whom an account token must be for (its aud); required with token-keys
        token_audience: String, "MESONET_TOKEN_AUDIENCE", "TEXT", by default "none";
    }

    /// Limits and catalogues that readings, products and runs are made with.
    catalogues: CatalogueFlags, "Catalogues" {
        /// Limits of the quality checks (TOML), which override the built-in ones
        limits: PathBuf, "MESONET_LIMITS", "FILE", by default "none", needs restart;
        /// Raster products (TOML), which override the built-in ones
        products: PathBuf, "MESONET_PRODUCTS", "FILE", by default "none";
        /// Sources of model output (TOML), which override the built-in ones
        models: PathBuf, "MESONET_MODELS", "FILE", by default "none";
    }

    /// The zones that alerts are issued for.
    zones: ZoneFlags, "Catalogues" {
        /// Files of alert zones (.shp, .geojson), comma-separated, which override the built-in ones
        #[arg(value_delimiter = ',')]
        zones: Vec<PathBuf> = Vec::new(), "MESONET_ZONES", "FILES", needs restart;
    }

    /// How feed files come in while the server runs.
    feeds: FeedFlags, "Feeds" {
        /// Folder from which feed files are read as they arrive, then moved to done/ or failed/ in
        /// it
        watch: PathBuf, "MESONET_WATCH", "DIR", by default "none", needs restart;
        /// Whether files stay in that folder after they are read
        watch_keep: bool = false, "MESONET_WATCH_KEEP", "BOOL", needs restart;
        /// SHA-256 of the keys with which feed files may be pushed (see push-key), comma-separated
        #[arg(value_delimiter = ',')]
        ingest_key_hashes: Vec<String> = Vec::new(), "MESONET_INGEST_KEY_HASHES", "HASHES";
        /// How long no station of a network may report until its feed is late: a span for all, and
        /// NETWORK=SPAN or NETWORK=never for one, comma-separated; never is never late
        #[arg(value_delimiter = ',')]
        late_after: Vec<String> = vec!["90m".into()], "MESONET_LATE_AFTER", "SPANS";
        /// Largest feed file that can be pushed
        max_ingest_bytes: u64 = 64 << 20, "MESONET_MAX_INGEST_BYTES", "BYTES";
    }

    /// What one request may cost.
    requests: RequestFlags, "Requests" {
        /// Maximum number of cells in a readings answer
        max_cells: u64 = Caps::default().cells, "MESONET_MAX_CELLS", "N";
        /// Maximum number of time positions in a readings answer
        max_positions: u64 = Caps::default().positions, "MESONET_MAX_POSITIONS", "N";
        /// Maximum number of station ids in a request
        max_station_ids: usize = 5_000, "MESONET_MAX_STATION_IDS", "N";
        /// Maximum number of values in a series of the model service
        max_model_values: usize = 1_000_000, "MESONET_MAX_MODEL_VALUES", "N";
        /// Longest request body
        max_body_bytes: usize = 1 << 20, "MESONET_MAX_BODY_BYTES", "BYTES";
        /// Memory for answers that are being computed or sent
        answer_memory_bytes: usize = 512 << 20, "MESONET_ANSWER_MEMORY_BYTES", "BYTES",
            needs restart;
    }

    /// How many requests a client address may send.
    rate: RateFlags, "Rate" {
        /// Most requests of one address (IPv6: of one /64) in any span of rate-span-s; 0 lifts the
        /// limit
        rate_requests: usize = 150, "MESONET_RATE_REQUESTS", "N";
        /// The length of that span
        rate_span_s: u64 = 10, "MESONET_RATE_SPAN_S", "SECONDS";
        /// Most requests of one address that wait for their turn; others are refused with 429
        rate_waiting: usize = 50, "MESONET_RATE_WAITING", "N";
        /// Longest wait of a request for its turn
        rate_wait_ms: u64 = 10_000, "MESONET_RATE_WAIT_MS", "MILLISECONDS";
        /// Addresses and networks of proxies that are trusted to say whom they serve,
        /// comma-separated
        #[arg(value_delimiter = ',')]
        trusted_proxies: Vec<String> = Vec::new(), "MESONET_TRUSTED_PROXIES", "NETWORKS";
        /// The header in which they say it: x-forwarded-for or forwarded
        proxy_header: ProxyHeader = ProxyHeader::XForwardedFor, "MESONET_PROXY_HEADER", "NAME";
    }

    /// Who may connect, and for how long.
    connections: ConnectionFlags, "Connections" {
        /// Maximum number of connections; fewer if the process may open fewer files
        max_connections: usize = 4_096, "MESONET_MAX_CONNECTIONS", "N", needs restart;
        /// Maximum number of connections of one address (IPv6: of one /64); behind a proxy, set it
        /// to the total
        max_address_connections: usize, "MESONET_MAX_ADDRESS_CONNECTIONS", "N",
            by default "a quarter of all", needs restart;
        /// Maximum number of requests at a time on one HTTP/2 connection
        max_streams: u32 = 100, "MESONET_MAX_STREAMS", "N", needs restart;
        /// How long the head of a request may take; the first one with the TLS handshake
        head_timeout_s: u64 = 10, "MESONET_HEAD_TIMEOUT_S", "SECONDS", needs restart;
        /// How long a connection may be idle between requests; behind a proxy, longer than the
        /// proxy keeps it
        idle_timeout_s: u64 = 75, "MESONET_IDLE_TIMEOUT_S", "SECONDS", needs restart;
        /// How long the server goes on after it is told to stop, for proxies to notice: not ready, and
        /// each connection ends with its next answer
        leave_s: u64 = 0, "MESONET_LEAVE_S", "SECONDS", needs restart;
        /// How fast a caller must send its body and read its answer, on average over 20 s
        min_bytes_per_s: u64 = 4_096, "MESONET_MIN_BYTES_PER_S", "BYTES", needs restart;
    }

    /// The stream of events.
    live: LiveFlags, "Live" {
        /// Maximum number of callers who listen to /live
        live_listeners: usize = 2_000, "MESONET_LIVE_LISTENERS", "N", needs restart;
        /// Maximum number of them of one address (IPv6: of one /64)
        live_address_listeners: usize = 100, "MESONET_LIVE_ADDRESS_LISTENERS", "N", needs restart;
        /// How often something is sent to a listener at least, so that proxies keep the connection
        live_heartbeat_s: u64 = 15, "MESONET_LIVE_HEARTBEAT_S", "SECONDS", needs restart;
        /// Memory for the last events, which all listeners share: a listener who falls behind them must
        /// fetch everything anew
        live_memory_bytes: usize = 32 << 20, "MESONET_LIVE_MEMORY_BYTES", "BYTES", needs restart;
    }
}

/// Formats the help of a flag. Each line of a doc comment begins with a space, so joining the lines
/// needs no separator.
fn help(meaning: &str, default: &str) -> String {
    format!("{} [default: {default}]", meaning.trim_start())
}

/// Formats a default as it is written in the configuration file, a text without its quotes.
fn shown<T: Serialize>(default: &T) -> String {
    match serde_json::json!(default) {
        Value::String(text) if !text.is_empty() => text,
        Value::String(_) | Value::Array(_) => "none".to_owned(),
        other => other.to_string(),
    }
}
