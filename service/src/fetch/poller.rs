//! One fetcher: what a poll requests, in what order, and when the next poll is due.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex};

use mesonet::time::{DAY_MS, HOUR_MS};

use super::address::{Template, file_name};
use super::client::{Client, tls_for};
use super::memory::{FileMemory, Memory};
use super::retry::{asked_pause_ms, interval_ms, pause_ms, random};
use super::settings::FetchConfig;
use super::visit::{Cause, FileJob, FileOutcome, Round, Visit};
use super::{Sink, SpawnError};
use crate::sync::lock;

/// How long the folder of a day is polled after the last poll of that day: files arrive late.
const GRACE_MS: i64 = 2 * HOUR_MS;

/// How far back a fetcher looks after downtime: folders are kept for weeks, but a restarted server
/// should not begin with all of them.
const MAX_CATCH_UP_MS: i64 = 2 * DAY_MS;

/// Longest freshness that is accepted from a server.
const MAX_FRESH_MS: i64 = HOUR_MS;

/// A fetcher without a clock: the caller passes the time.
pub struct Poller {
    pub(super) config: FetchConfig,
    pub(super) template: Template,
    pub(super) client: Client,
    pub(super) memory: Memory,
    memory_path: Option<PathBuf>,
    sink: Arc<dyn Sink>,
    failures: u32,
    next_ms: i64,
}

impl Poller {
    /// Creates a fetcher that hands its files to a sink and remembers in a file what it has seen.
    ///
    /// # Errors
    /// A setting is invalid, or the system has no root certificates. A fetcher without encryption
    /// needs none.
    pub fn new(
        config: FetchConfig,
        memory_path: Option<PathBuf>,
        sink: Arc<dyn Sink>,
    ) -> Result<Self, SpawnError> {
        config.check()?;
        let template = config.template()?;
        let tls = tls_for(config.url())?;
        let client = Client::new(&config.user_agent, config.limits(), config.policy(), tls);
        let memory = memory_path.as_deref().map(Memory::load).unwrap_or_default();
        Ok(Self {
            config,
            template,
            client,
            memory,
            memory_path,
            sink,
            failures: 0,
            next_ms: i64::MIN,
        })
    }

    /// When the next poll is due, milliseconds since 1970.
    pub fn next_ms(&self) -> i64 {
        self.next_ms
    }

    /// Requests everything that may be new and hands it on. Returns early when told to stop.
    pub fn poll(&mut self, now_ms: i64, stop_requested: &AtomicBool) -> Round {
        let started_ms = self.memory.complete_ms.unwrap_or(now_ms).min(now_ms) - GRACE_MS;
        let from_ms = started_ms.max(now_ms - MAX_CATCH_UP_MS);
        let addresses = self.template.addresses(from_ms, now_ms, &self.config.stations);
        let is_dated = self.template.is_dated();
        let round = self.visit(now_ms, stop_requested, |visit, memory| {
            if visit.config.source.is_folder() {
                visit.folders(addresses, is_dated, memory);
            } else {
                visit.files(addresses, memory);
            }
        });
        if round.stopped.is_none() {
            self.memory.complete_ms = Some(now_ms);
        }
        self.memory.forget(now_ms);
        self.save();
        round
    }

    /// Makes requests, and schedules the next poll by their outcome.
    pub(super) fn visit(
        &mut self,
        now_ms: i64,
        stop_requested: &AtomicBool,
        work: impl FnOnce(&Visit<'_>, &mut Memory),
    ) -> Round {
        let config = &self.config;
        let visit = Visit {
            now_ms,
            config,
            client: &self.client,
            sink: &*self.sink,
            stop_requested,
            failures_in_a_row: AtomicU32::new(0),
            cause: Mutex::default(),
            round: Mutex::default(),
        };
        work(&visit, &mut self.memory);
        let mut round = std::mem::take(&mut *lock(&visit.round));
        let cause = lock(&visit.cause).take();
        let wait_ms = if let Some(Cause { text, retry_after_ms }) = cause {
            round.stopped = Some(text);
            self.failures += 1;
            let own_ms = pause_ms(i64::from(config.interval_s) * 1000, self.failures, random());
            asked_pause_ms(own_ms, retry_after_ms)
        } else {
            self.failures = 0;
            interval_ms(config.interval_s, random())
        };
        self.next_ms = now_ms.saturating_add(wait_ms);
        round
    }

    pub(super) fn save(&mut self) {
        if let Some(path) = &self.memory_path
            && let Err(error) = self.memory.save(path)
        {
            tracing::warn!("{}: {error}", path.display());
        }
    }
}

impl Visit<'_> {
    /// Requests files at individual addresses.
    fn files(&self, addresses: Vec<String>, memory: &mut Memory) {
        let jobs: Vec<FileJob> = addresses
            .into_iter()
            .filter_map(|address| {
                let known = memory.files.get(&address).cloned().unwrap_or_default();
                let due_ms = known.fresh_until_ms.max(known.trial.retry_ms);
                let job = FileJob { name: self.name(&address), address, known: known.validators };
                (due_ms <= self.now_ms).then_some(job)
            })
            .collect();
        let note = |job: FileJob, outcome| {
            let file = memory.files.entry(job.address).or_default();
            file.seen_ms = self.now_ms;
            match outcome {
                FileOutcome::Done { validators, fresh_ms } => {
                    let fresh_ms = fresh_ms.unwrap_or(0).clamp(0, MAX_FRESH_MS);
                    *file = FileMemory {
                        seen_ms: self.now_ms,
                        validators,
                        fresh_until_ms: self.now_ms + fresh_ms,
                        ..FileMemory::default()
                    };
                }
                FileOutcome::Failed => file.trial.fail(self.now_ms),
                FileOutcome::NotReached => {}
            }
        };
        self.fetch(jobs, |job| job, note);
    }

    /// Returns the name of a file at an individual address. A service that answers by station gives
    /// all of them the same name, so the station is prepended.
    fn name(&self, address: &str) -> String {
        let station = self.config.stations.iter().find(|id| address.contains(&format!("/{id}/")));
        let name = file_name(address);
        station.map_or_else(|| name.to_owned(), |id| format!("{id}-{name}"))
    }
}
