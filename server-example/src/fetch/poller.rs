//! One fetcher: what a poll asks for, in what order, and when the next one is due.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::address::{Template, file_name};
use super::client::{Answer, Client, RequestError, Validators, system_roots};
use super::folders::{FileJob, FileOutcome};
use super::memory::{FileMemory, Memory};
use super::retry::{asked_pause_ms, interval_ms, pause_ms, random};
use super::settings::FetchConfig;
use super::{Delivery, FetchedFile, Sink, SpawnError, Unavailable};

/// How long the folder of a day is looked at after the last poll of that day: files come late.
const GRACE_MS: i64 = 2 * 3_600_000;

/// How far back a fetcher looks that was off: folders are kept for weeks, but a server that starts
/// again should not begin with all of them.
const MAX_CATCH_UP_MS: i64 = 2 * 86_400_000;

/// Longest time for which a server's word is taken that asking again is no use.
const MAX_FRESH_MS: i64 = 3_600_000;

/// Failures one after the other that end a poll: it is not one file that is broken then.
const MAX_FAILURES_IN_A_ROW: u32 = 8;

/// Files that are handed on together: a store takes many at once for the price of one.
const PART_FILES: usize = 256;

/// Bytes after which a part is handed on. It may hold one more file for each connection.
const PART_BYTES: u64 = 64 << 20;

/// First pause after a file failed.
const FILE_PAUSE_MS: i64 = 60_000;

/// What one poll did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Requests that were made for files.
    pub asked: u64,
    /// Files that were taken in.
    pub taken: u64,
    /// Files that were still the version known.
    pub unchanged: u64,
    /// Files that came whole and could not be read.
    pub unreadable: u64,
    /// Files that did not come. They are tried again.
    pub failed: u64,
    /// Files that failed so often that they are let go.
    pub given_up: u64,
    /// Folders whose listing was read.
    pub listed: u64,
    /// Reports of the files.
    pub reports: u64,
    /// Readings of the files.
    pub readings: u64,
    /// Why the poll was broken off, if it was.
    pub stopped: Option<String>,
}

/// A fetcher. Holds no clock: whoever polls says what time it is.
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

/// What ends a poll before everything was asked for.
enum Cause {
    Busy { status: u16, retry_after_ms: Option<i64> },
    Other(String),
}

/// One poll under way: shared by the threads that ask.
pub(super) struct Visit<'a> {
    pub now_ms: i64,
    pub config: &'a FetchConfig,
    pub client: &'a Client,
    sink: &'a dyn Sink,
    cause: Mutex<Option<Cause>>,
    told_to_stop: &'a AtomicBool,
    failures_in_a_row: AtomicU32,
    pub round: Mutex<Round>,
}

impl Poller {
    /// A fetcher that hands its files to a sink, and remembers what it has seen in a file.
    ///
    /// # Errors
    /// A setting makes no sense, or the system has no root certificates. A fetcher that asks
    /// without encryption needs none.
    pub fn new(
        config: FetchConfig,
        memory_path: Option<PathBuf>,
        sink: Arc<dyn Sink>,
    ) -> Result<Self, SpawnError> {
        config.check()?;
        let template = config.template()?;
        let is_plain = config.url().starts_with("http://");
        let roots = if is_plain { None } else { Some(system_roots()?) };
        let client = Client::new(&config.user_agent, config.limits(), config.policy(), roots);
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

    /// Asks for everything that may be new and hands it on. Goes back to the caller early when
    /// told to stop.
    pub fn poll(&mut self, now_ms: i64, told_to_stop: &AtomicBool) -> Round {
        let started_ms = self.memory.complete_ms.unwrap_or(now_ms).min(now_ms) - GRACE_MS;
        let from_ms = started_ms.max(now_ms - MAX_CATCH_UP_MS);
        let addresses = self.template.addresses(from_ms, now_ms, &self.config.stations);
        let is_dated = self.template.is_dated();
        let round = self.visit(now_ms, told_to_stop, |visit, memory| {
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

    /// Makes requests, and says from how they went when the next are due.
    pub(super) fn visit(
        &mut self,
        now_ms: i64,
        told_to_stop: &AtomicBool,
        work: impl FnOnce(&Visit<'_>, &mut Memory),
    ) -> Round {
        let config = &self.config;
        let visit = Visit {
            now_ms,
            config,
            client: &self.client,
            sink: &*self.sink,
            cause: Mutex::default(),
            told_to_stop,
            failures_in_a_row: AtomicU32::new(0),
            round: Mutex::default(),
        };
        work(&visit, &mut self.memory);
        let cause = locked(&visit.cause).take();
        let mut round = std::mem::take(&mut *locked(&visit.round));
        let retry_after_ms = match &cause {
            Some(Cause::Busy { retry_after_ms, .. }) => *retry_after_ms,
            _ => None,
        };
        round.stopped = cause.map(|cause| match cause {
            Cause::Busy { status, .. } => format!("the server asks for patience (status {status})"),
            Cause::Other(text) => text,
        });
        if round.stopped.is_none() {
            self.failures = 0;
            self.next_ms = now_ms.saturating_add(interval_ms(config.interval_s, random()));
        } else {
            self.failures += 1;
            let own_ms = pause_ms(i64::from(config.interval_s) * 1000, self.failures, random());
            self.next_ms = now_ms.saturating_add(asked_pause_ms(own_ms, retry_after_ms));
        }
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
    /// Asks for files at addresses of their own.
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
        self.fetch(jobs, |job, outcome| {
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
        });
    }

    /// The name of a file at an address of its own. Those of a service that answers by station are
    /// all called the same, so the station is put before it.
    fn name(&self, address: &str) -> String {
        let station = self.config.stations.iter().find(|id| address.contains(&format!("/{id}/")));
        let name = file_name(address);
        station.map_or_else(|| name.to_owned(), |id| format!("{id}-{name}"))
    }

    /// Asks for files and hands on what came, a part of them at a time: `done` hears of each.
    pub(super) fn fetch<T: AsRef<FileJob> + Send>(
        &self,
        mut jobs: Vec<T>,
        mut done: impl FnMut(T, FileOutcome),
    ) {
        while !jobs.is_empty() && self.goes_on() {
            let bytes = AtomicU64::new(0);
            let parts = jobs.len().min(PART_FILES);
            let rest = jobs.split_off(parts);
            let (got, mut left) = self.each(jobs, |job| {
                // What one part holds in memory is bounded, by all of its files together.
                if bytes.load(Ordering::Relaxed) > PART_BYTES {
                    return None;
                }
                let answer = self.file(job.as_ref());
                let length =
                    answer.as_ref().and_then(|answer| answer.as_ref().ok()?.bytes.as_ref());
                bytes.fetch_add(length.map_or(0, |bytes| bytes.len() as u64), Ordering::Relaxed);
                answer
            });
            left.extend(rest);
            jobs = left;
            for (job, outcome) in self.hand_on(got) {
                done(job, outcome);
            }
        }
        for job in jobs {
            done(job, FileOutcome::NotReached);
        }
    }

    /// Asks for one file. `None` where the poll ends with it.
    fn file(&self, job: &FileJob) -> Option<Result<Answer, ()>> {
        let answer = self.client.get(&job.address, self.config.source.accept(), &job.known);
        let mut round = locked(&self.round);
        round.asked += 1;
        match answer {
            Ok(answer) => {
                self.failures_in_a_row.store(0, Ordering::Relaxed);
                round.unchanged += u64::from(answer.bytes.is_none());
                Some(Ok(answer))
            }
            Err(error) => {
                round.failed += 1;
                drop(round);
                tracing::warn!("{} {}: {error}", self.config.source, job.address);
                self.fail(error).then_some(Err(()))
            }
        }
    }

    /// Hands files to the sink. A store that takes nothing ends the poll, and they are asked for
    /// again in the next.
    fn hand_on<T: AsRef<FileJob>>(
        &self,
        got: Vec<(T, Result<Answer, ()>)>,
    ) -> Vec<(T, FileOutcome)> {
        let files: Vec<FetchedFile<'_>> = got
            .iter()
            .filter_map(|(job, answer)| {
                let FileJob { name, address, .. } = job.as_ref();
                let bytes = answer.as_ref().ok()?.bytes.as_deref()?;
                Some(FetchedFile { name, address, bytes })
            })
            .collect();
        let delivery =
            Delivery { files: &files, received_ms: self.now_ms, kind: self.config.kind() };
        let is_taken = files.is_empty() || self.deliver(&delivery);
        got.into_iter()
            .map(|(job, answer)| match answer {
                Err(()) => (job, FileOutcome::Failed),
                Ok(Answer { bytes: Some(_), .. }) if !is_taken => (job, FileOutcome::NotReached),
                Ok(Answer { validators, fresh_ms, .. }) => {
                    (job, FileOutcome::Done { validators, fresh_ms })
                }
            })
            .collect()
    }

    fn deliver(&self, delivery: &Delivery<'_>) -> bool {
        match self.sink.take(delivery) {
            Ok(taken) => {
                let mut round = locked(&self.round);
                round.unreadable += taken.faults.len() as u64;
                round.taken +=
                    (delivery.files.len() - taken.faults.len().min(delivery.files.len())) as u64;
                round.reports += taken.reports;
                round.readings += taken.readings;
                for fault in taken.faults {
                    tracing::warn!("{} {fault}", self.config.source);
                }
                true
            }
            Err(Unavailable(reason)) => {
                self.stop(Cause::Other(reason));
                false
            }
        }
    }

    /// Whether the poll goes on after a request that brought nothing.
    pub(super) fn fail(&self, error: RequestError) -> bool {
        if error.is_of_the_host() {
            self.stop(match error {
                RequestError::Busy { status, retry_after_ms } => {
                    Cause::Busy { status, retry_after_ms }
                }
                error => Cause::Other(error.to_string()),
            });
            return false;
        }
        // What is not there is an answer like any other.
        if !matches!(error, RequestError::Missing(_)) {
            let failures = self.failures_in_a_row.fetch_add(1, Ordering::Relaxed) + 1;
            if failures >= MAX_FAILURES_IN_A_ROW {
                self.stop(Cause::Other(format!("{failures} failures in a row, the last: {error}")));
            }
        }
        true
    }

    /// Ends the poll: nothing more is asked for.
    pub(super) fn stop_for(&self, reason: String) {
        self.stop(Cause::Other(reason));
    }

    fn stop(&self, cause: Cause) {
        locked(&self.cause).get_or_insert(cause);
    }

    pub(super) fn goes_on(&self) -> bool {
        if self.told_to_stop.load(Ordering::Relaxed) {
            self.stop(Cause::Other("told to stop".to_owned()));
        }
        locked(&self.cause).is_none()
    }

    /// Does what is to be done for each item, a few at once, until the poll ends. Gives what was
    /// done, in the order of the items, and what is left.
    pub(super) fn each<T: Send, R: Send>(
        &self,
        items: Vec<T>,
        work: impl Fn(&T) -> Option<R> + Sync,
    ) -> (Vec<(T, R)>, Vec<T>) {
        let threads = self.config.connections.min(items.len());
        let items = Mutex::new(items.into_iter().enumerate());
        let done = Mutex::new(Vec::new());
        let left = Mutex::new(Vec::new());
        let worker = || {
            while self.goes_on() {
                let Some((at, item)) = locked(&items).next() else { break };
                match work(&item) {
                    Some(result) => locked(&done).push((at, item, result)),
                    None => locked(&left).push(item),
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(worker);
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|&(at, ..)| at);
        let mut left = left.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unreached = items.into_inner().unwrap_or_else(PoisonError::into_inner);
        left.extend(unreached.map(|(_, item)| item));
        (done.into_iter().map(|(_, item, result)| (item, result)).collect(), left)
    }
}

impl super::memory::Trial {
    pub(super) fn fail(&mut self, now_ms: i64) {
        self.failures += 1;
        self.retry_ms = now_ms.saturating_add(pause_ms(FILE_PAUSE_MS, self.failures, random()));
    }
}

/// What a lock guards. A thread that panicked with it has left counters, no half-done work.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Validators that stand for no version.
pub(super) const UNKNOWN: Validators = Validators { etag: None, last_modified: None };
