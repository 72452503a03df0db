//! What a fetcher has seen, kept across restarts so that nothing is fetched twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use mesonet::durable::replace;
use mesonet::time::DAY_MS;
use serde::{Deserialize, Serialize};

use super::client::Validators;
use super::retry::{pause_ms, random};

/// Entries that have not been seen for this long are forgotten.
const KEPT_MS: i64 = 4 * DAY_MS;

/// Length of the longest memory file that is read. A million files take a fifth of it.
const MAX_BYTES: u64 = 128 << 20;

/// First pause after a file failed.
const FILE_PAUSE_MS: i64 = 60_000;

const VERSION: u32 = 1;

/// What a fetcher has seen. Losing it costs requests, not data: reading the same data again changes
/// nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Memory {
    version: u32,
    /// When the last poll that reached everything began, milliseconds since 1970.
    pub complete_ms: Option<i64>,
    /// Files at addresses of their own, by address.
    pub files: BTreeMap<String, FileMemory>,
    /// The queue at a broker, which keeps messages while the fetcher does not listen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    /// Folders, by address.
    pub folders: BTreeMap<String, FolderMemory>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileMemory {
    pub seen_ms: i64,
    #[serde(flatten)]
    pub validators: Validators,
    /// The time until which the file is fresh, as the server said.
    pub fresh_until_ms: i64,
    pub trial: Trial,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FolderMemory {
    pub seen_ms: i64,
    /// Its stamp in the listing above, if a later change would show there.
    pub stamp: Option<u64>,
    /// Whether it holds no folders: then a new file changes its own time.
    pub is_leaf: bool,
    pub validators: Validators,
    /// Stamps of the files that are done.
    pub done: BTreeSet<u64>,
    /// Files that will be requested again, by name.
    pub pending: BTreeMap<String, PendingFile>,
}

/// A file of a folder that needs another request: the last one failed, or the file may have changed
/// since.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingFile {
    pub stamp: u64,
    pub is_settled: bool,
    #[serde(flatten)]
    pub validators: Validators,
    pub trial: Trial,
}

/// How often a file failed, and when it is requested again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Trial {
    pub failures: u32,
    pub retry_ms: i64,
}

impl Memory {
    /// Loads the memory. It starts empty if the file is missing, damaged or of another version.
    pub(super) fn load(path: &Path) -> Self {
        let read = || -> io::Result<Self> {
            let file = File::open(path)?;
            Ok(serde_json::from_reader(BufReader::new(file.take(MAX_BYTES)))?)
        };
        match read() {
            Ok(memory) if memory.version == VERSION => return memory,
            Ok(memory) => {
                tracing::warn!(
                    "{} is not used: it is of version {}",
                    path.display(),
                    memory.version
                );
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!("{} is not used: {error}", path.display()),
        }
        Self::default()
    }

    /// Writes the memory atomically.
    pub(super) fn save(&mut self, path: &Path) -> io::Result<()> {
        self.version = VERSION;
        replace(path, &serde_json::to_vec(self)?)
    }

    /// Forgets entries that have not been seen for a long time.
    pub(super) fn forget(&mut self, now_ms: i64) {
        let oldest_ms = now_ms.saturating_sub(KEPT_MS);
        self.files.retain(|_, file| file.seen_ms >= oldest_ms);
        self.folders.retain(|_, folder| folder.seen_ms >= oldest_ms);
    }
}

impl Trial {
    pub(super) fn fail(&mut self, now_ms: i64) {
        self.failures += 1;
        self.retry_ms = now_ms.saturating_add(pause_ms(FILE_PAUSE_MS, self.failures, random()));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn memory() -> Memory {
        let validators = Validators { etag: Some("\"a\"".to_owned()), last_modified: None };
        let trial = Trial { failures: 2, retry_ms: 9 };
        let file =
            FileMemory { seen_ms: 5, validators: validators.clone(), fresh_until_ms: 7, trial };
        let pending = PendingFile { stamp: u64::MAX, is_settled: true, validators, trial };
        let folder = FolderMemory {
            seen_ms: 6,
            stamp: Some(u64::MAX - 1),
            is_leaf: true,
            validators: Validators::default(),
            done: BTreeSet::from([1, u64::MAX]),
            pending: BTreeMap::from([("b.xml".to_owned(), pending)]),
        };
        Memory {
            version: VERSION,
            complete_ms: Some(8),
            queue: Some("q_anonymous.mesonet.1".to_owned()),
            files: BTreeMap::from([("https://a/b".to_owned(), file)]),
            folders: BTreeMap::from([("https://a/c/".to_owned(), folder)]),
        }
    }

    #[test]
    fn it_comes_back_as_it_was_and_starts_empty_if_damaged() {
        let folder =
            std::env::temp_dir().join(format!("mesonet-fetch-memory-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("fetch.json");
        assert_eq!(Memory::load(&path), Memory::default());
        memory().save(&path).unwrap();
        assert_eq!(Memory::load(&path), memory());

        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() / 2]).unwrap();
        assert_eq!(Memory::load(&path), Memory::default());
        fs::write(&path, text.replace("\"version\":1", "\"version\":2")).unwrap();
        assert_eq!(Memory::load(&path), Memory::default());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_was_not_seen_for_long_is_forgotten() {
        let mut memory = memory();
        memory.forget(KEPT_MS + 6);
        assert_eq!((memory.files.len(), memory.folders.len()), (0, 1));
        memory.forget(KEPT_MS + 7);
        assert_eq!(memory.folders.len(), 0);
    }
}
