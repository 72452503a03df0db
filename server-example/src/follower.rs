//! The record of a server that writes none: that of another one, some time behind it. A follower has
//! it from the newest backup.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mesonet::store::{
    AlertStore, EmbeddedReader, InFront, Judge, Receipt, StoreError, StoreHealth,
};
use mesonet::{Batch, Iso8601, Reader, StationId, Store};

use crate::backup::{BackupError, Mirror, Name};
use crate::clock::system_ms;
use crate::copy::refuse_unfinished_folder;
use crate::error::ApiError;

/// What a follower says to whoever would write to it.
const TAKES_NOTHING: &str =
    "this server follows another one and takes nothing in; send it to that one";

/// How often a page looks whether the backup that it needs is taken in, and the pause before it looks
/// again.
const LOOKS: usize = 200;
const PAUSE: Duration = Duration::from_millis(50);

/// What it says to the cursor of a page that was made of a newer record.
const BEHIND: &str = "the page before came from a server that knows more than this one yet; send the \
    request again in some seconds";
const OF_THE_OTHER: &str = "the cursor came from the server that this one follows, which knows more; go on there, \
    or begin again without a cursor";

/// What parts the cursor of an export from the backup that its page was made of.
const MADE_OF: char = '.';

/// The record of another server, some time behind it.
pub trait Upstream: Send + Sync {
    /// The stations and readings.
    fn reader(&self) -> &dyn Reader;

    /// Takes in what is new, and returns which stations that touches. A record that cannot be read is
    /// logged once.
    fn update(&self) -> Touched;

    /// Everything that the other server had acknowledged before this time is in the record.
    fn as_of_ms(&self) -> i64;

    /// How old that is, seconds; 0 if the clocks of the two servers differ by more.
    fn behind_s(&self) -> f64 {
        (system_ms() - self.as_of_ms()).max(0) as f64 / 1000.0
    }

    /// The alerts.
    fn alerts(&self) -> &Arc<AlertStore>;

    /// The state of the store.
    fn health(&self) -> StoreHealth;

    /// What keeps it from being read.
    fn trouble(&self) -> Option<&'static str>;

    /// What is said to whoever would write to it.
    fn takes_nothing(&self) -> &'static str;

    /// The follower of backups, if it is one.
    fn as_follower(&self) -> Option<&Follower> {
        None
    }
}

/// Which stations something new is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    None,
    #[cfg_attr(
        not(feature = "clickhouse"),
        expect(dead_code, reason = "a backup does not say which")
    )]
    Stations(Vec<StationId>),
    All,
}

/// The record of another server, as its newest backup has it.
#[derive(Debug)]
pub struct Follower {
    reader: EmbeddedReader,
    alerts: Arc<AlertStore>,
    folder: PathBuf,
    mirror: Mutex<Mirror>,
    as_of_ms: AtomicI64,
    shown: Mutex<Shown>,
    /// Why the last look at the backups failed.
    failure: Mutex<Option<String>>,
}

/// Which backups answers may be made of: while one is exchanged for another, of both.
#[derive(Debug, Default)]
struct Shown {
    /// At least this one.
    oldest: Option<Name>,
    /// At most this one.
    newest: Option<Name>,
}

impl Follower {
    /// Follows the backups of a place in a folder. What the folder has from before is served if the
    /// place cannot be reached.
    ///
    /// # Errors
    /// The folder is not that of a follower or cannot be used, or it is empty and there is no backup.
    pub fn open(place: &str, folder: &Path) -> Result<Self, BackupError> {
        let mut mirror = Mirror::open(place, folder)?;
        let updated = mirror.update(|_| Ok(()));
        let as_of_ms = match (updated, mirror.time_ms()) {
            (Ok(_), as_of_ms) => as_of_ms.unwrap_or(0),
            (Err(error), Some(as_of_ms)) => {
                tracing::warn!("{error}; serving what is there, of {}", Iso8601(as_of_ms));
                as_of_ms
            }
            (Err(error), None) => return Err(error),
        };
        let shown = Shown { oldest: mirror.name().cloned(), newest: mirror.name().cloned() };
        let follower = Self {
            shown: Mutex::new(shown),
            reader: EmbeddedReader::open(folder)?,
            alerts: Arc::default(),
            folder: folder.to_owned(),
            mirror: Mutex::new(mirror),
            as_of_ms: AtomicI64::new(as_of_ms),
            failure: Mutex::default(),
        };
        follower.show()?;
        Ok(follower)
    }

    /// Takes in what the folder has now.
    fn show(&self) -> Result<(), BackupError> {
        refuse_unfinished_folder(&self.folder)?;
        // Of another record, if one has taken over: nothing of the old one may stay.
        self.reader.reread()?;
        let (record, faults) = AlertStore::read(&self.folder)?;
        for fault in faults {
            tracing::error!("the alerts are damaged: {fault}");
        }
        self.alerts.exchange(record.messages);
        Ok(())
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the cursor of an export with the backup that its page was made of. To be called once the
    /// page is known.
    pub fn marked(&self, cursor: &str) -> String {
        let made_of = self.shown().newest.as_ref().map(Name::to_string).unwrap_or_default();
        format!("{cursor}{MADE_OF}{made_of}")
    }

    /// Returns the cursor of an export, which was checked, without its mark. To be called before the
    /// page is looked up. While the backup of the mark is being taken in it waits for it.
    ///
    /// # Errors
    /// The page before was made of a newer backup than this server has: rows that were there may be
    /// missing here. Or it came from the server that is followed, which is always newer.
    pub async fn unmarked<'a>(&self, cursor: &'a str) -> Result<&'a str, ApiError> {
        let Some((bare, made_of)) = parts(cursor) else {
            return Err(ApiError::BadRequest(OF_THE_OTHER.to_owned()));
        };
        for _ in 0..LOOKS {
            let (is_here, comes) = {
                let shown = self.shown();
                let has = |name: &Option<Name>| name.as_ref().is_some_and(|name| *name >= made_of);
                (has(&shown.oldest), has(&shown.newest))
            };
            if is_here {
                return Ok(bare);
            }
            if !comes {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        Err(ApiError::Later(BEHIND.to_owned()))
    }
}

impl Upstream for Follower {
    fn reader(&self) -> &dyn Reader {
        &self.reader
    }

    /// Fetches the newest backup, if it is not here.
    fn update(&self) -> Touched {
        let mut mirror = self.mirror.lock().unwrap_or_else(PoisonError::into_inner);
        let updated = mirror.update(|name| {
            self.shown().newest = Some(name.clone());
            self.show()?;
            self.shown().oldest = Some(name.clone());
            Ok(())
        });
        if let Some(as_of_ms) = mirror.time_ms() {
            self.as_of_ms.store(as_of_ms, Ordering::Relaxed);
        }
        drop(mirror);
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        match updated {
            Ok(is_new) => {
                if failure.take().is_some() {
                    tracing::info!("following again, as of {}", Iso8601(self.as_of_ms()));
                }
                if is_new { Touched::All } else { Touched::None }
            }
            Err(error) => {
                let text = error.to_string();
                if failure.as_ref() != Some(&text) {
                    tracing::error!(
                        "{text}; serving what is there, of {}",
                        Iso8601(self.as_of_ms())
                    );
                }
                *failure = Some(text);
                Touched::None
            }
        }
    }

    fn as_of_ms(&self) -> i64 {
        self.as_of_ms.load(Ordering::Relaxed)
    }

    fn alerts(&self) -> &Arc<AlertStore> {
        &self.alerts
    }

    fn health(&self) -> StoreHealth {
        self.reader.health()
    }

    /// What is here can be served in any case.
    fn trouble(&self) -> Option<&'static str> {
        None
    }

    fn takes_nothing(&self) -> &'static str {
        TAKES_NOTHING
    }

    fn as_follower(&self) -> Option<&Follower> {
        Some(self)
    }
}

/// Parts a cursor from the backup that its page was made of; `None` if it names none.
fn parts(cursor: &str) -> Option<(&str, Name)> {
    let (bare, made_of) = cursor.split_once(MADE_OF)?;
    Some((bare, Name::parse(made_of)?))
}

/// The cursor of an export for a server that follows none: it has all that its followers have.
pub fn without_mark(cursor: &str) -> &str {
    parts(cursor).map_or(cursor, |(bare, _)| bare)
}

/// The store of a server that writes none.
pub struct Followed(pub Arc<dyn Upstream>);

impl InFront for Followed {
    fn behind(&self) -> &dyn Reader {
        self.0.reader()
    }
}

impl Store for Followed {
    fn append(&self, _: &Batch, _: &mut Judge<'_>) -> Result<Receipt, StoreError> {
        let (path, cause) = ("the record".to_owned(), self.0.takes_nothing().to_owned());
        Err(StoreError::Unavailable { path, cause })
    }
}
