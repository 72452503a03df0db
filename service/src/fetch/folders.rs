//! Folders with listings: the Datamart's tree of SWOB files.
//!
//! Folders are read level by level. A listing says when each entry was changed:
//!
//! - A file whose time or size is new is requested; a known one is not.
//! - The time of a folder that holds only files changes when a file arrives, so the folder is not
//!   requested while the listing above shows the same time. The time of a folder of folders does
//!   not, so such a folder is always requested.
//! - Times are to the minute. A file that was changed within the minute of the listing is checked
//!   again with a conditional request.
//!
//! A listing is requested conditionally only if its files have unique names (a folder of a day). A
//! server that gives validators for listings makes them from the time of the folder, which does not
//! change when a file is overwritten.

use super::client::{Answer, RequestError, Validators};
use super::listing::{ListingEntry, read_listing};
use super::memory::{FolderMemory, Memory, PendingFile, Trial};
use super::visit::{FileJob, FileOutcome, Visit};
use crate::sync::lock;

/// Maximum depth of folders below the address: a day, a network, a day, a station.
const MAX_DEPTH: usize = 5;

/// Failures after which a file is given up. The last is about an hour after the first.
const MAX_FAILURES: u32 = 6;

/// A folder to list.
struct FolderJob {
    address: String,
    /// Its stamp in the listing above, if a later change would show there.
    stamp: Option<u64>,
    known: Validators,
}

/// A listing.
enum Listing {
    Unchanged,
    Missing,
    Entries { entries: Vec<ListingEntry>, listed_ms: i64, validators: Validators },
}

/// A file of a listing, to be requested.
struct FileRequest {
    folder: String,
    job: FileJob,
    stamp: u64,
    is_settled: bool,
}

impl Visit<'_> {
    /// Reads folders and everything below them, and requests the new files.
    pub(super) fn folders(&self, addresses: Vec<String>, is_dated: bool, memory: &mut Memory) {
        let mut wanted = Vec::new();
        let mut level: Vec<FolderJob> = addresses
            .into_iter()
            .map(|address| folder_job(address, None, is_dated, memory))
            .collect();
        for depth in 0..=MAX_DEPTH {
            if level.is_empty() {
                break;
            }
            let (listings, _) = self.each(level, |job| self.list(job));
            level = Vec::new();
            for (job, listing) in listings {
                let folder = memory.folders.entry(job.address.clone()).or_default();
                folder.seen_ms = self.now_ms;
                let below = match listing {
                    Listing::Missing => continue,
                    Listing::Unchanged => {
                        folder.stamp = job.stamp;
                        wanted.extend(self.wait_still(&job.address, folder));
                        continue;
                    }
                    Listing::Entries { entries, listed_ms, validators } => {
                        folder.stamp = job.stamp;
                        folder.validators = validators;
                        folder.is_leaf = !entries.iter().any(|entry| entry.is_folder);
                        wanted.extend(self.new_files(&job.address, folder, &entries, listed_ms));
                        entries.into_iter().filter(|entry| entry.is_folder).map(move |entry| {
                            let is_settled = entry.is_settled(listed_ms);
                            (entry, is_settled)
                        })
                    }
                };
                if depth == MAX_DEPTH {
                    continue;
                }
                for (entry, is_settled) in below {
                    let address = format!("{}{}/", job.address, entry.name);
                    match memory.folders.get_mut(&address) {
                        Some(known) if known.is_leaf && known.stamp == Some(entry.stamp) => {
                            known.seen_ms = self.now_ms;
                            wanted.extend(self.wait_still(&address, known));
                        }
                        _ => {
                            let stamp = is_settled.then_some(entry.stamp);
                            level.push(folder_job(address, stamp, is_dated, memory));
                        }
                    }
                }
            }
        }
        self.fetch(wanted, |file| &file.job, |file, outcome| self.note(&file, outcome, memory));
    }

    fn list(&self, job: &FolderJob) -> Option<Listing> {
        let answer = self.client.get(&job.address, "text/html", &job.known);
        let Answer { bytes, validators, date_ms, .. } = match answer {
            Ok(answer) => answer,
            Err(RequestError::Missing(_)) => return Some(Listing::Missing),
            Err(error) => {
                tracing::warn!("{} {}: {error}", self.config.source, job.address);
                // Without a listing the poll is incomplete, whatever the reason.
                if self.fail(&error) {
                    self.stop(format!("{}: {error}", job.address), None);
                }
                return None;
            }
        };
        lock(&self.round).listed += 1;
        let Some(bytes) = bytes else { return Some(Listing::Unchanged) };
        match read_listing(&String::from_utf8_lossy(&bytes)) {
            Ok(entries) => {
                let listed_ms = date_ms.unwrap_or(self.now_ms);
                Some(Listing::Entries { entries, listed_ms, validators })
            }
            Err(error) => {
                self.stop(format!("{}: {error}", job.address), None);
                None
            }
        }
    }

    /// Returns the files of a listing that are new or wait for another try. Forgets files that are
    /// no longer in the listing.
    fn new_files(
        &self,
        address: &str,
        folder: &mut FolderMemory,
        entries: &[ListingEntry],
        listed_ms: i64,
    ) -> Vec<FileRequest> {
        let files =
            || entries.iter().filter(|entry| !entry.is_folder && self.config.wants(&entry.name));
        let mut done = std::mem::take(&mut folder.done);
        let mut pending = std::mem::take(&mut folder.pending);
        for entry in files() {
            if done.remove(&entry.stamp) {
                folder.done.insert(entry.stamp);
                continue;
            }
            let is_settled = entry.is_settled(listed_ms);
            let before = pending.remove(&entry.name);
            let same = before.filter(|before| before.stamp == entry.stamp).unwrap_or_default();
            let file = PendingFile { stamp: entry.stamp, is_settled, ..same };
            folder.pending.insert(entry.name.clone(), file);
        }
        self.wait_still(address, folder)
    }

    /// Returns the files of a folder whose next try is due.
    fn wait_still(&self, address: &str, folder: &FolderMemory) -> Vec<FileRequest> {
        let due = folder.pending.iter().filter(|(_, file)| file.trial.retry_ms <= self.now_ms);
        due.map(|(name, file)| FileRequest {
            folder: address.to_owned(),
            job: FileJob {
                name: name.clone(),
                address: format!("{address}{name}"),
                known: file.validators.clone(),
            },
            stamp: file.stamp,
            is_settled: file.is_settled,
        })
        .collect()
    }

    /// Records the outcome of a file.
    fn note(&self, file: &FileRequest, outcome: FileOutcome, memory: &mut Memory) {
        let folder = memory.folders.entry(file.folder.clone()).or_default();
        let Some(pending) = folder.pending.get_mut(&file.job.name) else { return };
        let is_over = match outcome {
            FileOutcome::Done { validators, .. } => {
                // If the minute was not over yet, the file is requested once more in the next poll.
                let trial = Trial { failures: 0, retry_ms: self.now_ms + 1 };
                *pending = PendingFile { validators, trial, is_settled: true, ..*pending };
                file.is_settled
            }
            FileOutcome::Failed => {
                pending.trial.fail(self.now_ms);
                let gives_up = pending.trial.failures >= MAX_FAILURES;
                lock(&self.round).given_up += u64::from(gives_up);
                gives_up
            }
            FileOutcome::NotReached => false,
        };
        if is_over {
            folder.pending.remove(&file.job.name);
            folder.done.insert(file.stamp);
        }
    }
}

fn folder_job(address: String, stamp: Option<u64>, is_dated: bool, memory: &Memory) -> FolderJob {
    let known = memory.folders.get(&address).filter(|known| is_dated && known.is_leaf);
    let known = known.map(|known| known.validators.clone()).unwrap_or_default();
    FolderJob { address, stamp, known }
}
