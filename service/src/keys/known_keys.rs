//! The API keys that a running server knows: a copy of the record of keys, renewed every second.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;

use super::api_key::KeyDigest;
use super::key_file::{KeyFile, KeyFolder, path_in};
use super::key_record::{KeyRecord, KeysError, SharedKeyRecord, ValidKeys};

/// How often the server looks whether a key was issued or revoked.
pub const LOOK: Duration = Duration::from_secs(1);

/// How often it records which keys were used.
const RECORD_USE: Duration = Duration::from_secs(60);

/// The valid keys, and those that were used since uses were last recorded.
pub struct KnownKeys {
    record: SharedKeyRecord,
    /// When each valid key expires.
    valid: ArcSwap<ValidKeys>,
    used: Mutex<HashMap<KeyDigest, i64>>,
    /// Whether their uses are recorded.
    records_use: bool,
    looked: Mutex<LastLook>,
    /// Whether the record could be read at the last look.
    is_trusted: AtomicBool,
}

/// What is known from the last look.
#[derive(Default)]
struct LastLook {
    /// A record on disk that stays open.
    file: Option<OpenFile>,
    recorded: Option<Instant>,
}

/// The file of a folder. It is read only if it has changed.
#[derive(Default)]
struct OpenFile {
    data: PathBuf,
    file: Option<KeyFile>,
    /// The identity of the open file, as the system sees it.
    identity: Option<(u64, u64)>,
    changes: Option<i64>,
}

impl KnownKeys {
    /// The keys of a record on disk.
    pub fn new(data: &Path) -> Self {
        let file = OpenFile { data: data.to_owned(), ..OpenFile::default() };
        let looked = Mutex::new(LastLook { file: Some(file), recorded: None });
        Self { looked, ..Self::shared(Arc::new(KeyFolder(data.to_owned())), true) }
    }

    /// The keys of a record on disk that belongs to another server. The file is not written here;
    /// it is replaced as a whole.
    pub fn of_another(data: &Path) -> Self {
        Self { records_use: false, ..Self::new(data) }
    }

    /// The keys that several servers share. `records_use` says whether this server records their
    /// uses.
    pub fn shared(record: SharedKeyRecord, records_use: bool) -> Self {
        let (valid, used) = (ArcSwap::default(), Mutex::default());
        let is_trusted = AtomicBool::new(true);
        Self { record, valid, used, records_use, looked: Mutex::default(), is_trusted }
    }

    /// The record in which the keys are issued and revoked.
    pub fn record(&self) -> &dyn KeyRecord {
        &*self.record
    }

    /// Whether a credential is a valid key at a time.
    pub fn knows(&self, credential: &str, now_ms: i64) -> bool {
        let Some(digest) = KeyDigest::of(credential) else { return false };
        // The time of a look-up by hash tells a stranger nothing about the keys.
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

    /// Whether the record could be read at the last look. If so, a credential that is not known is
    /// not a key.
    pub fn is_trusted(&self) -> bool {
        self.is_trusted.load(Ordering::Relaxed)
    }

    /// Whether an unknown credential may still be a key, because the record cannot be read.
    pub fn may_be(&self, credential: &str) -> bool {
        !self.is_trusted() && KeyDigest::of(credential).is_some()
    }

    /// Reads the present state of the record of keys.
    ///
    /// # Errors
    /// The record cannot be read or written. The known keys stay valid.
    pub fn renew(&self) -> Result<(), KeysError> {
        let renewed = self.look();
        self.is_trusted.store(renewed.is_ok(), Ordering::Relaxed);
        renewed
    }

    fn look(&self) -> Result<(), KeysError> {
        let Ok(mut looked) = self.looked.lock() else { return Ok(()) };
        let LastLook { file, recorded } = &mut *looked;
        let valid = match file {
            Some(file) => file.look(self.records_use).inspect_err(|_| file.forget())?,
            None => Some(self.record.valid()?),
        };
        if let Some(valid) = valid
            && valid != **self.valid.load()
        {
            self.valid.store(valid.into());
        }
        if recorded.is_none_or(|recorded| recorded.elapsed() >= RECORD_USE) {
            *recorded = Some(Instant::now());
            self.record_use(file.as_mut())?;
        }
        Ok(())
    }

    /// Uses that cannot be recorded are recorded the next time.
    fn record_use(&self, file: Option<&mut OpenFile>) -> Result<(), KeysError> {
        let used = self.used.lock().map(|mut used| std::mem::take(&mut *used)).unwrap_or_default();
        if used.is_empty() {
            return Ok(());
        }
        let recorded = match file {
            Some(open) => open.used(&used).inspect_err(|_| open.forget()),
            None => self.record.used(&used),
        };
        if recorded.is_err()
            && let Ok(mut later) = self.used.lock()
        {
            for (digest, used_ms) in used {
                later.entry(digest).or_insert(used_ms);
            }
        }
        recorded
    }

    /// Records the last uses, before the server stops.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn close(&self) -> Result<(), KeysError> {
        if let Ok(mut looked) = self.looked.lock() {
            looked.recorded = None;
        }
        self.renew()
    }
}

impl OpenFile {
    /// The next look starts from scratch.
    fn forget(&mut self) {
        *self = Self { data: std::mem::take(&mut self.data), ..Self::default() };
    }

    fn used(&self, used: &HashMap<KeyDigest, i64>) -> Result<(), KeysError> {
        self.file.as_ref().map_or(Ok(()), |file| file.used(used))
    }

    /// The valid keys; `None` if they have not changed since the last look.
    fn look(&mut self, is_own: bool) -> Result<Option<ValidKeys>, KeysError> {
        // A deleted or replaced file still exists for a process that has it open.
        let found = identity(&path_in(&self.data));
        if self.identity != found {
            self.forget();
            self.identity = found;
        }
        if self.file.is_none() {
            self.file = KeyFile::open(&self.data)?;
        }
        // The keys of a replaced file stay valid until the new file is read.
        let Some(file) = &self.file else { return Ok(found.is_none().then(ValidKeys::new)) };
        let changes = file.changes()?;
        if self.changes == Some(changes) {
            return Ok(None);
        }
        let valid = file.valid()?;
        if is_own {
            // The file may be from a version that did not count keys. A folder that cannot be
            // written is reported elsewhere.
            let _ = file.count();
        }
        self.changes = Some(changes);
        Ok(Some(valid))
    }
}

/// The identity of a file; `None` if there is no file.
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
