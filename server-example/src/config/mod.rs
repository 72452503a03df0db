//! The settings. They come, in this order, from flags, environment variables, the configuration
//! file and defaults.

mod late_after;
mod replay_start;
mod settings;
mod shown;
mod validate;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mesonet::check::Checker;
use mesonet::query::Caps;
use mesonet::store::EmbeddedOptions;
use mesonet::time::parse_window;
use mesonet::{check, model, raster};
use serde::{Deserialize, Serialize};

pub use self::late_after::LateAfter;
pub use self::replay_start::ReplayStart;
pub use self::settings::{CatalogueFlags, Config, Flags, KeepFlags, RecordFlags};
use crate::auth::{self, AuthError};
use crate::connections::{Certificate, ConnectionLimits, TlsError};
use crate::http::body::Pace;
use crate::http::names::is_almost;
use crate::limits::{Allowance, Hops};
use crate::observe::traces::TracesError;
use mesonet_service::clock::system_ms;
use mesonet_service::ingest::made_tables;
use mesonet_service::password::PasswordError;
use mesonet_service::record::{RecordPlace, RecordSettings};
use mesonet_service::setting::InvalidSetting;

/// The form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// Hides what looks like a key that was pasted into a setting.
fn without_keys(text: &str) -> String {
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split_inclusive(|letter: char| !is_of_word(letter))
        .map(|word| {
            let key = word.trim_end_matches(|letter: char| !is_of_word(letter));
            if key.starts_with("mesonet_") && key.len() >= 32 {
                format!("(hidden){}", &word[key.len()..])
            } else {
                word.to_owned()
            }
        })
        .collect()
}

/// An invalid setting.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file is missing or cannot be read.
    #[error("the file {}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The limits of the quality checks, or a catalogue, are invalid.
    #[error("{}: {error}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The line or the place, and the reason.
        error: Box<mesonet::Error>,
    },
    /// A push key is not given by its hash, or its scope is invalid.
    #[error("entry {entry} of ingest_key_hashes: {error}")]
    PushKey {
        /// The number of the entry, counted from 1.
        entry: usize,
        /// What is wrong. The entry is not repeated: it may be the key itself.
        error: String,
    },
    /// The file is not TOML, a key is unknown, or a value has the wrong type.
    #[error("{}: line {line}: {}", .path.display(), without_keys(.reason))]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What was found and what is allowed.
        reason: String,
    },
    /// The command needs a record on disk.
    #[error("{command} is for a record on disk; store is {place}: {instead}")]
    NotOnDisk {
        /// The command.
        command: &'static str,
        /// The place of the record.
        place: String,
        /// What to do instead.
        instead: &'static str,
    },
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The password of ClickHouse cannot be read.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// Traces cannot be sent to the configured collector.
    #[error("traces: {0}")]
    Traces(#[from] TracesError),
    /// Credentials cannot be checked.
    #[error(transparent)]
    Auth(#[from] AuthError),
    /// A value is not allowed.
    #[error(transparent)]
    Value(#[from] InvalidSetting),
}

/// Reads a configuration file.
fn read(path: &Path) -> Result<Config, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| ConfigError::File { path: path.to_owned(), error })?;
    toml::from_str(&text).map_err(|error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = &text[..text.floor_char_boundary(at)];
        ConfigError::Line {
            path: path.to_owned(),
            line: 1 + before.matches('\n').count(),
            reason: reason(&error.message().replace('\n', " "), before),
        }
    })
}

/// Adds the key to what is wrong with its value. Of an unknown key that is almost that of a setting,
/// only the right one is named, not all.
fn reason(message: &str, before: &str) -> String {
    if let Some(unknown) = message.strip_prefix("unknown field `") {
        let right = unknown.split_once("`, expected one of ").and_then(|(key, names)| {
            Some((key, names.split('`').find(|name| is_almost(key, name))?))
        });
        return right.map_or_else(
            || message.to_owned(),
            |(key, name)| format!("unknown field `{key}`; the name is {name}"),
        );
    }
    let key = before.rsplit('\n').next().and_then(|line| line.trim_end().strip_suffix('='));
    match key.map(str::trim) {
        // Anything else can be part of a value, and a value can be secret.
        Some(key)
            if !key.is_empty()
                && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b)) =>
        {
            format!("{key}: {message}")
        }
        _ => message.to_owned(),
    }
}

impl Config {
    /// Merges the settings from all sources and checks them.
    ///
    /// # Errors
    /// The configuration file cannot be read or has an unknown key, or a value is not allowed.
    pub fn load(flags: &Flags) -> Result<Self, ConfigError> {
        let mut config = flags.record.config.as_deref().map_or(Ok(Self::default()), read)?;
        // The command line has already read the environment for flags that were not given.
        config.override_with(flags);
        config.check()?;
        config.checker()?;
        config.catalogue()?;
        config.model_catalogue()?;
        Ok(config)
    }

    /// Returns these settings with the changes that a running server can apply, and the names of
    /// changed settings that need a restart.
    pub(crate) fn taking(&self, new: &Self) -> (Self, Vec<&'static str>) {
        let mut taken = new.clone();
        let left = taken.keep_from(self);
        (taken, left)
    }

    /// The quality checks with the limits of this deployment.
    ///
    /// # Errors
    /// The file of limits cannot be read or is invalid.
    pub fn checker(&self) -> Result<Checker, ConfigError> {
        let config = own(self.limits.as_deref(), check::Config::from_toml)?;
        Ok(config.map(Checker::new).unwrap_or_default())
    }

    /// The raster products of this deployment.
    ///
    /// # Errors
    /// The file of products cannot be read or is invalid.
    pub fn catalogue(&self) -> Result<raster::RasterCatalogue, ConfigError> {
        Ok(own(self.products.as_deref(), raster::RasterCatalogue::from_toml)?.unwrap_or_default())
    }

    /// The models of this deployment: the built-in ones, those that were made from files (`ingest
    /// --model` with an unknown name), and those of its own file.
    ///
    /// # Errors
    /// The file of models cannot be read or is invalid.
    pub fn model_catalogue(&self) -> Result<model::Catalogue, ConfigError> {
        let mut catalogue = model::Catalogue::default();
        let file = |(path, error)| ConfigError::File { path, error };
        for (path, text) in made_tables(&self.data).map_err(file)? {
            let content = |error: model::ModelCatalogueError| ConfigError::Content {
                path,
                error: Box::new(error.into()),
            };
            catalogue = catalogue.with(&text).map_err(content)?;
        }
        // The deployment's own file comes last.
        let stated = own(self.models.as_deref(), |text| catalogue.clone().with(text))?;
        Ok(stated.unwrap_or(catalogue))
    }

    /// The keys of account tokens; `None` if no such tokens are accepted.
    pub(crate) fn token_source(&self) -> Option<auth::KeySetSource> {
        Some(auth::KeySetSource {
            jwks: self.token_keys.clone()?,
            issuer: self.token_issuer.clone()?,
            audience: self.token_audience.clone()?,
        })
    }

    /// The settings of the record.
    pub fn record(&self) -> RecordSettings {
        RecordSettings {
            place: self.place(),
            data: self.data.clone(),
            options: self.store_options(),
            store_password_file: self.store_password_file.clone(),
            read_only: self.read_only,
        }
    }

    /// The file of the key of the development issuer, if its tokens are accepted: the server has
    /// keys and listens on a loopback address.
    pub(crate) fn development_key(&self, has_keys: bool) -> Option<PathBuf> {
        (has_keys && self.listen.ip().is_loopback()).then(|| auth::key_file(&self.data))
    }

    /// The certificate of the server; `None` if it speaks no TLS.
    ///
    /// # Errors
    /// The certificate cannot be used.
    pub(crate) fn certificate(&self) -> Result<Option<Certificate>, ConfigError> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else {
            return Ok(None);
        };
        Ok(Some(Certificate::read(certificate, key, system_ms())?))
    }

    /// The proxies that are trusted.
    pub(crate) fn hops(&self) -> Result<Hops, ConfigError> {
        Hops::new(&self.trusted_proxies, self.proxy_header).map_err(|error| {
            let allowed = "addresses, or networks such as 10.0.0.0/8";
            let got = format!("\"{}\"", error.0);
            InvalidSetting { key: "trusted_proxies", got, allowed }.into()
        })
    }

    /// How many requests a client address may send.
    pub(crate) fn allowance(&self) -> Allowance {
        Allowance {
            requests: self.rate_requests,
            span: Duration::from_secs(self.rate_span_s),
            waiting: self.rate_waiting,
            longest_wait: Duration::from_millis(self.rate_wait_ms),
        }
    }

    /// The limits for connections.
    pub(crate) fn connection_limits(&self) -> ConnectionLimits {
        let quarter = self.max_connections.div_ceil(4);
        ConnectionLimits {
            connections: self.max_connections,
            of_client: self.max_address_connections.unwrap_or(quarter),
            head: Duration::from_secs(self.head_timeout_s),
            idle: Duration::from_secs(self.idle_timeout_s),
            pace: self.pace(),
        }
    }

    /// How fast a caller must send and read.
    pub(crate) fn pace(&self) -> Pace {
        Pace { bytes_per_s: self.min_bytes_per_s }
    }

    /// How long readings are kept, milliseconds; `None` is forever.
    pub fn retention_ms(&self) -> Option<i64> {
        self.retention.as_deref().and_then(|span| parse_window(span).ok())
    }

    /// The place of the readings, the stations and the alerts.
    pub fn place(&self) -> RecordPlace {
        // The setting was checked when the settings were loaded.
        let elsewhere = self.store.parse().ok();
        let is_elsewhere = |place: &RecordPlace| matches!(place, RecordPlace::ClickHouse(_));
        elsewhere.filter(is_elsewhere).unwrap_or_else(|| RecordPlace::Embedded(self.data.clone()))
    }

    /// Refuses a command that works on the files of a record if they are elsewhere.
    ///
    /// # Errors
    /// The record is in ClickHouse.
    pub fn on_disk(&self, command: &'static str, instead: &'static str) -> Result<(), ConfigError> {
        match self.place() {
            RecordPlace::Embedded(_) => Ok(()),
            place @ RecordPlace::ClickHouse(_) => {
                Err(ConfigError::NotOnDisk { command, place: place.to_string(), instead })
            }
        }
    }

    /// The options of the store on disk.
    pub fn store_options(&self) -> EmbeddedOptions {
        EmbeddedOptions { seal_readings: self.seal_readings, ..EmbeddedOptions::default() }
    }

    /// The limits of a readings answer.
    pub fn caps(&self) -> Caps {
        Caps { cells: self.max_cells, positions: self.max_positions }
    }
}

/// Reads a deployment's own file of limits or of a catalogue, if it has one.
fn own<T, E: Into<mesonet::Error>>(
    path: Option<&Path>,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, ConfigError> {
    let Some(path) = path else { return Ok(None) };
    let text = std::fs::read_to_string(path)
        .map_err(|error| ConfigError::File { path: path.to_owned(), error })?;
    let content = read(&text).map_err(|error| ConfigError::Content {
        path: path.to_owned(),
        error: Box::new(error.into()),
    })?;
    Ok(Some(content))
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
