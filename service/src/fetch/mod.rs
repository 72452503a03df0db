//! Live fetchers: feed files from the services that publish them, as they appear.
//!
//! | Source | File |
//! | --- | --- |
//! | Folders of the Datamart, listed | `folders.rs`, `listing.rs` |
//! | api.weather.gov by station, a file at one address | `poller.rs` |
//! | The Datamart's messages (feature `amqp`) | `notice.rs`, `amqp.rs` |
//! | Requests of one poll | `visit.rs` |
//! | One request | `client.rs`, `address.rs`, `retry.rs` |
//! | What was seen, across restarts | `memory.rs` |
//!
//! A [`Poller`] makes conditional requests, remembers what it has seen across restarts, backs off
//! when a server fails or asks for it, and hands each complete file to a [`Sink`]. The settings are
//! described in `docs/fetch.md`.

mod address;
#[cfg(feature = "amqp")]
mod amqp;
mod client;
mod folders;
mod listing;
mod memory;
#[cfg(any(feature = "amqp", test))]
mod notice;
mod poller;
mod retry;
mod settings;
mod visit;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use mesonet::feed;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

pub use client::{RootsError, document, may_fetch};
pub(crate) use client::{USER_AGENT, retry_after_ms, tls_for};
pub use poller::Poller;
pub(crate) use retry::{asked_pause_ms, pause_ms, random};
pub use settings::{FetchConfig, FetchSource};
pub use visit::Round;

use crate::clock::system_ms;
use crate::hex::hex_sha256;
use crate::setting::InvalidSetting;
use crate::sync::lock;

/// A complete file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchedFile<'a> {
    /// Its name, which may tell its kind.
    pub name: &'a str,
    /// Where it came from.
    pub address: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
}

/// Files that arrived together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// The files, in the order of their folder.
    pub files: &'a [FetchedFile<'a>],
    /// When they arrived, milliseconds since 1970.
    pub received_ms: i64,
    /// Their kind, if the settings give it.
    pub kind: Option<feed::Kind>,
}

/// What a sink took from a delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryResult {
    /// Reports of the files.
    pub reports: u64,
    /// Their readings.
    pub readings: u64,
    /// Files that are damaged or of an unknown kind: their addresses, and why. They are not fetched
    /// again until they change.
    pub faults: Vec<String>,
}

/// The store takes nothing now. The files are fetched again later.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// Where fetched files go.
pub trait Sink: Send + Sync {
    /// Takes files in. When it returns, the files are durable and are not fetched again. A file
    /// that cannot be read does not keep the others from being taken.
    ///
    /// # Errors
    /// The store takes nothing now.
    fn take(&self, delivery: &Delivery<'_>) -> Result<DeliveryResult, Unavailable>;
}

/// Running fetchers. They stop when this value is dropped, each after its request in flight.
#[derive(Debug, Default)]
pub struct Fetchers {
    stop_signal: Arc<Stop>,
    tasks: Vec<JoinHandle<()>>,
}

/// A stop signal that wakes sleepers.
#[derive(Debug, Default)]
struct Stop {
    flag: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

/// Starts a task of the runtime for each source. The fetchers keep in `folder` what they have seen.
///
/// # Errors
/// A setting is invalid, the folder cannot be created, or the system has no root certificates.
pub fn spawn(
    configs: &[FetchConfig],
    folder: Option<&Path>,
    sink: &Arc<dyn Sink>,
    runtime: &Handle,
) -> Result<Fetchers, SpawnError> {
    let mut fetchers = Fetchers::default();
    if let Some(folder) = folder.filter(|_| !configs.is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    for config in configs {
        let path = folder.map(|folder| folder.join(memory_name(config)));
        let stop = Arc::clone(&fetchers.stop_signal);
        let poller = Poller::new(config.clone(), path, Arc::clone(sink))?;
        // The part before an @ may contain a password.
        let shown = config.url().rsplit('@').next().unwrap_or_default();
        tracing::info!("fetching {} from {shown}", config.source);
        fetchers.tasks.push(start(poller, stop, runtime));
    }
    Ok(fetchers)
}

/// A fetcher could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// A setting is invalid.
    #[error(transparent)]
    Setting(#[from] InvalidSetting),
    /// There are no certificates to verify servers with.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The folder of the memory cannot be created.
    #[error("cannot start a fetcher: {0}")]
    Io(#[from] std::io::Error),
}

/// Returns the name of the file in which a source keeps what it has seen: one file per address.
fn memory_name(config: &FetchConfig) -> String {
    format!("{}-{}.json", config.source, &hex_sha256(config.url().as_bytes())[..12])
}

fn start(mut poller: Poller, stop: Arc<Stop>, runtime: &Handle) -> JoinHandle<()> {
    #[cfg(feature = "amqp")]
    if poller.config.source == FetchSource::DatamartAmqp {
        return runtime.spawn(amqp::run(poller, stop));
    }
    runtime.spawn_blocking(move || poll_until_stopped(&mut poller, &stop))
}

fn poll_until_stopped(poller: &mut Poller, stop: &Stop) {
    while !stop.flag.load(Ordering::Relaxed) {
        let round = poller.poll(system_ms(), &stop.flag);
        let wait_ms = (poller.next_ms() - system_ms()).max(0);
        say(poller.config.source, &round, wait_ms);
        stop.sleep(Duration::from_millis(wait_ms.unsigned_abs()));
    }
}

/// Logs how a poll went.
fn say(source: FetchSource, round: &Round, wait_ms: i64) {
    if let Some(reason) = &round.stopped {
        tracing::warn!("{source}: {reason}; retrying in {} s", wait_ms / 1000);
    }
    if round.taken + round.failed + round.unreadable > 0 {
        tracing::info!(
            "{source}: {} files with {} reports and {} readings, {} unchanged, {} unreadable, \
             {} failed, {} given up, {} listings",
            round.taken,
            round.reports,
            round.readings,
            round.unchanged,
            round.unreadable,
            round.failed,
            round.given_up,
            round.listed,
        );
    }
}

impl Stop {
    fn sleep(&self, time: Duration) {
        let guard = lock(&self.lock);
        let is_running = |(): &mut ()| !self.flag.load(Ordering::Relaxed);
        drop(self.wake.wait_timeout_while(guard, time, is_running));
    }

    fn tell(&self) {
        let _guard = lock(&self.lock);
        self.flag.store(true, Ordering::Relaxed);
        self.wake.notify_all();
    }
}

impl Fetchers {
    /// Tells all fetchers to stop and waits until they have.
    pub async fn stop(mut self) {
        self.stop_signal.tell();
        for task in self.tasks.drain(..) {
            if task.await.is_err() {
                tracing::error!("a fetcher panicked");
            }
        }
    }
}

impl Drop for Fetchers {
    fn drop(&mut self) {
        self.stop_signal.tell();
    }
}

#[cfg(test)]
#[path = "../../tests/support/replay_server.rs"]
mod replay_server;
#[cfg(test)]
mod tests;
