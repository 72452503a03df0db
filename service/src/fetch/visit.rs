//! One poll in flight: its requests, a few at once, and their outcome.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use super::client::{Answer, Client, RequestError, Validators};
use super::settings::FetchConfig;
use super::{Delivery, FetchedFile, Sink, Unavailable};
use crate::sync::lock;

/// Consecutive failures that end a poll: so many are not just one broken file.
const MAX_FAILURES_IN_A_ROW: u32 = 8;

/// Number of files that are handed on together: a store takes many at the cost of one.
const PART_FILES: usize = 256;

/// Number of bytes after which a part is handed on. The part may hold one more file for each
/// connection.
const PART_BYTES: u64 = 64 << 20;

/// What one poll did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Requests for files.
    pub asked: u64,
    /// Files that were taken in.
    pub taken: u64,
    /// Files that were still the known version.
    pub unchanged: u64,
    /// Files that arrived complete but could not be read.
    pub unreadable: u64,
    /// Files that could not be fetched. They are tried again.
    pub failed: u64,
    /// Files that failed so often that they were given up.
    pub given_up: u64,
    /// Folders whose listing was read.
    pub listed: u64,
    /// Reports of the files.
    pub reports: u64,
    /// Readings of the files.
    pub readings: u64,
    /// Why the poll was cut short, if it was.
    pub stopped: Option<String>,
}

/// A file to request.
#[derive(Clone, Debug)]
pub(super) struct FileJob {
    pub name: String,
    pub address: String,
    pub known: Validators,
}

/// The outcome of a request for a file.
pub(super) enum FileOutcome {
    Done {
        validators: Validators,
        fresh_ms: Option<i64>,
    },
    Failed,
    /// The poll ended before the request, so nothing is known about the file.
    NotReached,
}

/// Why a poll ended before everything was requested.
pub(super) struct Cause {
    pub text: String,
    /// How long the host asks to wait.
    pub retry_after_ms: Option<i64>,
}

/// One poll in flight, shared by the threads that make requests.
pub(super) struct Visit<'a> {
    pub now_ms: i64,
    pub config: &'a FetchConfig,
    pub client: &'a Client,
    pub sink: &'a dyn Sink,
    pub stop_requested: &'a AtomicBool,
    pub failures_in_a_row: AtomicU32,
    /// Why the poll ended early, if it did.
    pub cause: Mutex<Option<Cause>>,
    pub round: Mutex<Round>,
}

impl Visit<'_> {
    /// Requests the files of items and hands on what arrived, in parts; calls `done` for each.
    pub(super) fn fetch<T: Send>(
        &self,
        mut items: Vec<T>,
        job: impl Fn(&T) -> &FileJob + Sync,
        mut done: impl FnMut(T, FileOutcome),
    ) {
        while !items.is_empty() && self.goes_on() {
            let bytes = AtomicU64::new(0);
            let rest = items.split_off(items.len().min(PART_FILES));
            let (got, mut left) = self.each(items, |item| {
                // The memory of one part is bounded, over all its files together.
                if bytes.load(Ordering::Relaxed) > PART_BYTES {
                    return None;
                }
                let answer = self.file(job(item));
                let length =
                    answer.as_ref().and_then(|answer| answer.as_ref().ok()?.bytes.as_ref());
                bytes.fetch_add(length.map_or(0, |bytes| bytes.len() as u64), Ordering::Relaxed);
                answer
            });
            left.extend(rest);
            items = left;
            for (item, outcome) in self.hand_on(got, &job) {
                done(item, outcome);
            }
        }
        for item in items {
            done(item, FileOutcome::NotReached);
        }
    }

    /// Requests one file. `None` if this ends the poll.
    fn file(&self, job: &FileJob) -> Option<Result<Answer, ()>> {
        let answer = self.client.get(&job.address, self.config.source.accept(), &job.known);
        let mut round = lock(&self.round);
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
                self.fail(&error).then_some(Err(()))
            }
        }
    }

    /// Hands files to the sink. If the store takes nothing, the poll ends, and the next poll
    /// requests the files again.
    fn hand_on<T>(
        &self,
        got: Vec<(T, Result<Answer, ()>)>,
        job: impl Fn(&T) -> &FileJob,
    ) -> Vec<(T, FileOutcome)> {
        let files: Vec<FetchedFile<'_>> = got
            .iter()
            .filter_map(|(item, answer)| {
                let FileJob { name, address, .. } = job(item);
                let bytes = answer.as_ref().ok()?.bytes.as_deref()?;
                Some(FetchedFile { name, address, bytes })
            })
            .collect();
        let delivery =
            Delivery { files: &files, received_ms: self.now_ms, kind: self.config.kind() };
        let is_taken = files.is_empty() || self.deliver(&delivery);
        got.into_iter()
            .map(|(item, answer)| match answer {
                Err(()) => (item, FileOutcome::Failed),
                Ok(Answer { bytes: Some(_), .. }) if !is_taken => (item, FileOutcome::NotReached),
                Ok(Answer { validators, fresh_ms, .. }) => {
                    (item, FileOutcome::Done { validators, fresh_ms })
                }
            })
            .collect()
    }

    fn deliver(&self, delivery: &Delivery<'_>) -> bool {
        match self.sink.take(delivery) {
            Ok(taken) => {
                let mut round = lock(&self.round);
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
                self.stop(reason, None);
                false
            }
        }
    }

    /// Whether the poll goes on after a failed request.
    pub(super) fn fail(&self, error: &RequestError) -> bool {
        let retry_after_ms = match error {
            RequestError::Busy { retry_after_ms, .. } => *retry_after_ms,
            RequestError::Unreachable(_) => None,
            // A missing file is an answer like any other.
            RequestError::Missing(_) => return true,
            _ => {
                let failures = self.failures_in_a_row.fetch_add(1, Ordering::Relaxed) + 1;
                if failures >= MAX_FAILURES_IN_A_ROW {
                    self.stop(format!("{failures} failures in a row, last: {error}"), None);
                }
                return true;
            }
        };
        // Any other request to the host would fail the same way now.
        self.stop(error.to_string(), retry_after_ms);
        false
    }

    /// Ends the poll: nothing more is requested.
    pub(super) fn stop(&self, text: String, retry_after_ms: Option<i64>) {
        lock(&self.cause).get_or_insert(Cause { text, retry_after_ms });
    }

    pub(super) fn goes_on(&self) -> bool {
        if self.stop_requested.load(Ordering::Relaxed) {
            self.stop("told to stop".to_owned(), None);
        }
        lock(&self.cause).is_none()
    }

    /// Runs `work` for each item, a few at once, until the poll ends. Returns the results, in the
    /// order of the items, and the items left.
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
                let Some((at, item)) = lock(&items).next() else { break };
                match work(&item) {
                    Some(result) => lock(&done).push((at, item, result)),
                    None => lock(&left).push(item),
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(worker);
            }
        });
        let mut done = std::mem::take(&mut *lock(&done));
        done.sort_by_key(|&(at, ..)| at);
        let mut left = std::mem::take(&mut *lock(&left));
        left.extend(lock(&items).by_ref().map(|(_, item)| item));
        (done.into_iter().map(|(_, item, result)| (item, result)).collect(), left)
    }
}
