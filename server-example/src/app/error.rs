//! Why a server cannot start or go on.

use std::io;
use std::net::SocketAddr;

use mesonet::store::StoreError;
use mesonet_service::fetch;

use super::watch::WatchError;
use crate::config::ConfigError;
use crate::sample::SampleError;
use crate::state::StateError;
use crate::state::zones::ZonesError;

/// Why a server could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A setting is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The sample is damaged.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// The clock cannot start at the sample.
    #[error(
        "now is sample, but the record holds readings other than the sample; it must be live or an \
         RFC 3339 instant"
    )]
    NotOfSample,
    /// The filter of a broker is invalid.
    #[error("mqtt {name}: filter: {error}")]
    Filter {
        /// The name of the broker.
        name: String,
        /// What is wrong.
        error: String,
    },
    /// A fetcher could not be started.
    #[error(transparent)]
    Fetch(#[from] fetch::SpawnError),
    /// The watched folder cannot be read, or the store takes nothing.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// The alert zones cannot be read.
    #[error(transparent)]
    Zones(#[from] ZonesError),
    /// The sample has no reports.
    #[error("the sample has no reports")]
    Empty,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The state could not be made or updated.
    #[error(transparent)]
    State(#[from] StateError),
    /// The server cannot listen, for example because the address is taken.
    #[error("cannot listen on {listen}: {error}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// The system's error.
        error: io::Error,
    },
    /// The server cannot go on.
    #[error(transparent)]
    Io(#[from] io::Error),
}
