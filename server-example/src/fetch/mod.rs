//! Live fetchers: feed files from the services that publish them, as they come.
//!
//! | Source | File |
//! | --- | --- |
//! | Folders of the Datamart, listed | `folders.rs`, `listing.rs` |
//! | api.weather.gov by station, a file at one address | `poller.rs` |
//! | The Datamart's messages (feature `amqp`) | `notice.rs`, `amqp.rs` |
//! | One request | `client.rs`, `address.rs`, `retry.rs` |
//! | What was seen, over restarts | `memory.rs` |
//! | From files to the store | `into_store.rs` |
//!
//! A [`Poller`] asks conditionally, remembers what it has seen over restarts, backs off where a
//! server fails or asks for it, and hands each file that came whole to a [`Sink`]. What each
//! setting means stands in `docs/fetch.md`.

mod address;
#[cfg(feature = "amqp")]
mod amqp;
mod client;
mod folders;
mod into_store;
mod listing;
mod memory;
#[cfg(any(feature = "amqp", test))]
mod notice;
mod poller;
mod retry;
mod settings;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use mesonet::feed::FeedKind;
use sha2::{Digest, Sha256};

pub use client::RootsError;
pub use poller::{Poller, Round};
pub use settings::{FetchConfig, Source};

use crate::clock::system_ms;
use crate::config::ConfigError;
use poller::locked;

/// A file that came whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchedFile<'a> {
    /// Its name, from which its kind may be told.
    pub name: &'a str,
    /// Where it came from.
    pub address: &'a str,
    /// What is in it.
    pub bytes: &'a [u8],
}

/// Files that came together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// The files, in the order of their folder.
    pub files: &'a [FetchedFile<'a>],
    /// When they came, milliseconds since 1970.
    pub received_ms: i64,
    /// Their kind, where the settings say it.
    pub kind: Option<FeedKind>,
}

/// What a sink took of a delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Reports of the files.
    pub reports: u64,
    /// Their readings.
    pub readings: u64,
    /// Files that are of no kind that is read, or damaged: their addresses and why. They are not
    /// fetched again until they change.
    pub faults: Vec<String>,
}

/// A store that takes nothing now: the files are fetched again later.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// Where fetched files go.
pub trait Sink: Send + Sync {
    /// Takes files in. What it has taken when it returns is safe: it is not fetched again. A file
    /// that cannot be read keeps no other from being taken.
    ///
    /// # Errors
    /// The store takes nothing now.
    fn take(&self, delivery: &Delivery<'_>) -> Result<Taken, Unavailable>;
}

/// Fetchers at work. They stop when this is dropped, each after the request that is under way.
#[derive(Debug, Default)]
pub struct Fetchers {
    told_to_stop: Arc<Stop>,
    threads: Vec<JoinHandle<()>>,
}

/// A sign to stop that sleepers wake for.
#[derive(Debug, Default)]
struct Stop {
    flag: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

/// Starts a thread for each source. `folder` is where they keep what they have seen.
///
/// # Errors
/// A setting makes no sense, the folder cannot be made, the system has no root certificates, or no thread can be started.
pub fn spawn(
    configs: &[FetchConfig],
    folder: Option<&Path>,
    sink: &Arc<dyn Sink>,
) -> Result<Fetchers, SpawnError> {
    let mut fetchers = Fetchers::default();
    if let Some(folder) = folder.filter(|_| !configs.is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    for config in configs {
        let path = folder.map(|folder| folder.join(memory_name(config)));
        let stop = Arc::clone(&fetchers.told_to_stop);
        let thread = std::thread::Builder::new().name(format!("fetch {}", config.source));
        let mut poller = Poller::new(config.clone(), path, Arc::clone(sink))?;
        // What stands before an @ may be a password.
        let shown = config.url().rsplit('@').next().unwrap_or_default();
        tracing::info!("fetches {} from {shown}", config.source);
        fetchers.threads.push(thread.spawn(move || run(&mut poller, &stop))?);
    }
    Ok(fetchers)
}

/// A fetcher that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// A setting makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No certificates to tell servers by.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The folder of the memory, or the thread.
    #[error("cannot start a fetcher: {0}")]
    Io(#[from] std::io::Error),
}

/// The file in which a source keeps what it has seen: another address is another memory.
fn memory_name(config: &FetchConfig) -> String {
    use std::fmt::Write;
    let digest = Sha256::digest(config.url());
    let mut name = format!("{}-", config.source);
    for byte in digest.iter().take(6) {
        let _ = write!(name, "{byte:02x}");
    }
    name + ".json"
}

fn run(poller: &mut Poller, stop: &Stop) {
    #[cfg(feature = "amqp")]
    if poller.config.source == Source::DatamartAmqp {
        return amqp::run(poller, stop);
    }
    while !stop.flag.load(Ordering::Relaxed) {
        let round = poller.poll(system_ms(), &stop.flag);
        let wait_ms = (poller.next_ms() - system_ms()).max(0);
        say(poller.config.source, &round, wait_ms);
        stop.sleep(Duration::from_millis(wait_ms.unsigned_abs()));
    }
}

/// Says in the log how a poll went.
fn say(source: Source, round: &Round, wait_ms: i64) {
    if let Some(reason) = &round.stopped {
        tracing::warn!("{source}: {reason}; goes on in {} s", wait_ms / 1000);
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
        let guard = locked(&self.lock);
        let told = |(): &mut ()| !self.flag.load(Ordering::Relaxed);
        drop(self.wake.wait_timeout_while(guard, time, told).map_err(PoisonError::into_inner));
    }

    fn tell(&self) {
        let _guard = locked(&self.lock);
        self.flag.store(true, Ordering::Relaxed);
        self.wake.notify_all();
    }
}

impl Fetchers {
    /// Tells all to stop and waits until they have.
    pub fn stop(mut self) {
        self.told_to_stop.tell();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a fetcher had ended by a panic");
            }
        }
    }
}

impl Drop for Fetchers {
    fn drop(&mut self) {
        self.told_to_stop.tell();
    }
}

#[cfg(test)]
mod replay_server;
#[cfg(test)]
mod tests;
