//! The API keys as a running server knows them: a copy of the record of keys, renewed every second.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;

use super::api_key::KeyDigest;
use super::key_file::{KeyFile, KeysError, path_in};

/// How often the server looks whether a key was issued or revoked.
pub const LOOK: Duration = Duration::from_secs(1);

/// How often it records which keys were used.
const RECORD_USE: Duration = Duration::from_secs(60);

/// The valid keys, and which were used since that was last recorded.
pub struct KnownKeys {
    data: PathBuf,
    /// When each valid key expires.
    valid: ArcSwap<HashMap<KeyDigest, Option<i64>>>,
    used: Mutex<HashMap<KeyDigest, i64>>,
    /// Whether their uses are written down.
    records_use: bool,
    file: Mutex<OpenFile>,
}

#[derive(Default)]
struct OpenFile {
    file: Option<KeyFile>,
    /// Which file is open, as the system tells files apart.
    identity: Option<(u64, u64)>,
    changes: Option<i64>,
    recorded: Option<Instant>,
}

impl KnownKeys {
    /// The keys of a record.
    pub fn new(data: &Path) -> Self {
        Self {
            data: data.to_owned(),
            valid: ArcSwap::default(),
            used: Mutex::default(),
            records_use: true,
            file: Mutex::default(),
        }
    }

    /// The keys of a record that belongs to another server: nothing is written to its file, which is
    /// exchanged as a whole.
    pub fn of_another(data: &Path) -> Self {
        Self { records_use: false, ..Self::new(data) }
    }

    /// Whether a credential is a valid key at a time.
    pub fn knows(&self, credential: &str, now_ms: i64) -> bool {
        let Some(digest) = KeyDigest::of(credential) else { return false };
        // A look-up by the hash tells a stranger nothing about keys, whatever time it takes.
        let valid = self.valid.load();
        let is_valid = valid
            .get(&digest)
            .is_some_and(|expires_ms| expires_ms.is_none_or(|expires_ms| now_ms < expires_ms));
        if is_valid
            && self.records_use
            && let Ok(mut used) = self.used.lock()
        {
            used.insert(digest, now_ms);
        }
        is_valid
    }

    /// The valid keys; another allocation after each change.
    pub fn valid(&self) -> Arc<HashMap<KeyDigest, Option<i64>>> {
        self.valid.load_full()
    }

    /// Takes in what the record of keys says now.
    ///
    /// # Errors
    /// The file cannot be read or written. The keys that are known go on.
    pub fn renew(&self) -> Result<(), KeysError> {
        let Ok(mut open) = self.file.lock() else { return Ok(()) };
        // A file that was deleted or replaced is still there for whom it is open.
        let found = identity(&path_in(&self.data));
        if open.identity != found {
            *open = OpenFile { identity: found, ..OpenFile::default() };
            // Those of a file that was exchanged stay until the new one is read.
            if found.is_none() {
                self.valid.store(Arc::default());
            }
        }
        if open.file.is_none() {
            open.file = KeyFile::open(&self.data)?;
        }
        let renewed = self.renew_from(&mut open);
        if renewed.is_err() {
            // The next look begins anew.
            *open = OpenFile::default();
        }
        renewed
    }

    fn renew_from(&self, open: &mut OpenFile) -> Result<(), KeysError> {
        let Some(file) = &mut open.file else { return Ok(()) };
        let changes = file.changes()?;
        if open.changes != Some(changes) {
            self.valid.store(file.valid()?.into());
            open.changes = Some(changes);
        }
        if open.recorded.is_none_or(|recorded| recorded.elapsed() >= RECORD_USE) {
            open.recorded = Some(Instant::now());
            let used = self.used.lock().map(|mut used| std::mem::take(&mut *used));
            if let Ok(used) = used
                && !used.is_empty()
            {
                file.used(&used)?;
            }
        }
        Ok(())
    }

    /// Records the last uses, before the server stops.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn close(&self) -> Result<(), KeysError> {
        if let Ok(mut open) = self.file.lock() {
            open.recorded = None;
        }
        self.renew()
    }
}

/// Tells files apart; `None` if there is none.
fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = std::fs::metadata(path).ok()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some((found.dev(), found.ino()))
    }
    #[cfg(not(unix))]
    {
        let created = found.created().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some((0, created.as_nanos() as u64))
    }
}

#[cfg(test)]
#[path = "known_keys_tests.rs"]
mod tests;
