//! API keys for several servers: sent by the one where they are issued, fetched by its followers.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::backup::{BackupError, KeyMirror, absolute, send_keys};
use crate::credentials::{LOOK, ValidKeys};
use crate::serve::repeat;
use crate::state::State;

/// Starts what keeps the keys of a server the newest, and those of its followers.
pub fn share_keys(beside: &mut JoinSet<()>, state: &Arc<State>) {
    let trouble = Trouble::default();
    // A record in ClickHouse is waited for, which costs no core.
    beside.spawn(repeat(
        Arc::clone(state),
        trouble,
        |_| Duration::ZERO,
        |state, trouble| {
            if let Some(keys) = &state.credentials.keys {
                trouble.note(keys.renew(), NOT_RENEWED, "the API keys are the newest again");
            }
            Ok(LOOK)
        },
    ));
    let config = state.config();
    if state.services.of_backups().is_some() {
        let every = Duration::from_secs(config.follow_keys_every_s);
        let look = move |state: &State, (): &mut ()| {
            let follower = state.services.of_backups();
            if follower.is_some_and(|follower| follower.keys.look())
                && let Some(keys) = &state.credentials.keys
            {
                keys.renew()?;
            }
            Ok(every)
        };
        beside.spawn(repeat(Arc::clone(state), (), |_| Duration::ZERO, look));
    }
    if let Some(place) = &config.followed_at {
        let sender = KeySender::new(place, &config.data);
        beside.spawn(repeat(
            Arc::clone(state),
            sender,
            |_| Duration::ZERO,
            |state, sender| {
                if let Some(keys) = &state.credentials.keys {
                    sender.send(keys.valid());
                }
                Ok(LOOK)
            },
        ));
    }
}

const NOT_RENEWED: &str = "the API keys that are known go on, also those that were revoked since";

/// What a loop has said last of what went wrong: each trouble is logged once.
#[derive(Debug, Default)]
struct Trouble(Option<String>);

impl Trouble {
    /// Notes how a round went. Returns what it gave.
    fn note<T, E: Display>(&mut self, done: Result<T, E>, what: &str, again: &str) -> Option<T> {
        match done {
            Ok(value) => {
                if self.0.take().is_some() {
                    tracing::info!("{again}");
                }
                Some(value)
            }
            Err(error) => {
                let text = error.to_string();
                if self.0.as_ref() != Some(&text) {
                    tracing::error!("{what}: {text}");
                }
                self.0 = Some(text);
                None
            }
        }
    }
}

/// Sends the keys of a server to its followers as soon as they change.
#[derive(Debug)]
pub struct KeySender {
    address: String,
    data: PathBuf,
    /// Those that were sent last.
    sent: Option<Arc<ValidKeys>>,
    trouble: Trouble,
}

impl KeySender {
    /// Sends those of a data folder to a place.
    pub fn new(address: &str, data: &Path) -> Self {
        let (address, data) = (absolute(address), data.to_owned());
        Self { address, data, sent: None, trouble: Trouble::default() }
    }

    /// Sends the keys if others are valid than those that were sent last. What cannot be sent is
    /// logged, and sent with the next call.
    pub fn send(&mut self, valid: Arc<ValidKeys>) {
        if self.sent.as_ref().is_some_and(|sent| Arc::ptr_eq(sent, &valid)) {
            return;
        }
        let sent = send_keys(&self.address, &self.data);
        let what = "followers do not know the newest API keys";
        if let Some(is_new) = self.trouble.note(sent, what, "followers know the API keys again") {
            if is_new {
                tracing::info!("the API keys were sent to {}", self.address);
            }
            self.sent = Some(valid);
        }
    }
}

/// The keys of a follower, and when they were last seen to be the newest.
#[derive(Debug)]
pub struct FollowedKeys {
    mirror: Mutex<(KeyMirror, Trouble)>,
    /// At first the start.
    seen: Mutex<Instant>,
}

impl FollowedKeys {
    /// Fetches the newest keys of a place into the folder of a follower. If that fails, those that
    /// are there go on.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn open(address: &str, folder: &Path) -> Result<Self, BackupError> {
        let mirror = KeyMirror::open(&absolute(address), folder)?;
        let mirror = Mutex::new((mirror, Trouble::default()));
        let keys = Self { mirror, seen: Mutex::new(Instant::now()) };
        keys.look();
        Ok(keys)
    }

    /// Fetches the keys if there are newer ones. Returns whether there were.
    pub fn look(&self) -> bool {
        let mut mirror = self.mirror.lock().unwrap_or_else(PoisonError::into_inner);
        let (mirror, trouble) = &mut *mirror;
        let looked_at = Instant::now();
        let looked = trouble.note(mirror.look(), NOT_RENEWED, "the API keys are the newest again");
        if looked.is_some() {
            *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = looked_at;
        }
        looked == Some(true)
    }

    /// How long ago the keys were the newest, seconds: since the start, if they have not been since.
    pub fn behind_s(&self) -> f64 {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).elapsed().as_secs_f64()
    }
}
