//! A broker: what it has got, and how it does.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mesonet::Iso8601;
use serde::Serialize;

use super::progress::{MqttLeftOut, Progress};
use super::settings::MqttConfig;
use super::topic::Topics;
use super::{NotificationConfig, settings};
use crate::clock::system_ms;
use crate::live::EventId;
use crate::note;
use crate::setting::InvalidSetting;
use crate::sync::lock;

/// The folder in the data folder with what each broker has got.
pub const FOLDER: &str = "mqtt";

/// How often the note of what was sent is written, at most. After a crash, what was sent since is sent
/// again.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// A connection that lasts so long is no failure. One that breaks earlier may break each time, so the
/// pauses become longer.
const STEADY: Duration = Duration::from_secs(10);

/// A broker cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MqttError {
    /// A setting is invalid.
    #[error(transparent)]
    Setting(#[from] InvalidSetting),
    /// A file that a setting names cannot be read.
    #[error("mqtt {name}: the file {}: {error}", .path.display())]
    File { name: String, path: PathBuf, error: std::io::Error },
    /// The folder for what was sent cannot be made or written.
    #[error("{}: {error}", .path.display())]
    Folder { path: PathBuf, error: std::io::Error },
}

/// A message for a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MqttMessage {
    /// The id: the same each time that it is sent.
    pub id: String,
    /// The topic.
    pub topic: String,
    /// JSON; empty to let the broker forget what it retains.
    pub payload: Vec<u8>,
    /// Whether the broker keeps it for those who subscribe later.
    pub is_retained: bool,
    /// After how many seconds the broker drops it.
    pub expiry_s: Option<u32>,
}

/// What comes next for a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A message is sent.
    Message(MqttMessage),
    /// Once the broker has all messages before, it has everything up to a position in the stream.
    Position(EventId),
}

/// A broker.
pub struct MqttBroker {
    config: MqttConfig,
    topics: Topics,
    /// The file with what was sent, if there is a folder for it.
    file: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    progress: Progress,
    connected_at: Option<Instant>,
    /// Failures in a row.
    failures: u32,
    retry_at: Option<Instant>,
    last_failure: Option<MqttFailure>,
    /// Whether the file is older than the progress.
    is_dirty: bool,
    saved_at: Option<Instant>,
}

impl State {
    fn is_steady(&self) -> bool {
        self.connected_at.is_some_and(|at| at.elapsed() >= STEADY)
    }
}

/// A broker and how it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MqttBroker)]
pub struct MqttStatus {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: String,
    /// The client identifier of this server.
    pub client_id: String,
    /// Whether there is a connection.
    pub is_connected: bool,
    /// How many messages the broker has acknowledged.
    pub published: u64,
    /// When it acknowledged the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Iso8601>,
    /// How often in a row there was no connection, or one that broke within ten seconds.
    pub failures: u32,
    /// In how many seconds the server connects again, after a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_in_s: Option<u64>,
    /// The last failure since the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<MqttFailure>,
    /// How many messages were left out because the broker cannot take them.
    pub left_out: u64,
    /// The last of them, the newest last.
    pub last_left_out: Vec<MqttLeftOut>,
}

/// Why a broker could not be reached, or why the connection broke.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct MqttFailure {
    /// When.
    pub at: Iso8601,
    /// Why.
    pub error: String,
}

/// What became of a test.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MqttTest {
    /// When it began.
    pub at: Iso8601,
    /// How long it took.
    pub took_ms: u64,
    /// Whether the broker has acknowledged it.
    pub is_published: bool,
    /// Why it has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl MqttBroker {
    /// Opens a broker, with what it has got according to its file in a folder. Does not connect.
    ///
    /// # Errors
    /// A setting is invalid, or a file cannot be read.
    pub fn open(config: &MqttConfig, folder: Option<&Path>) -> Result<Self, MqttError> {
        for path in config.files() {
            // Its content is read at each connection: it may be renewed.
            std::fs::File::open(path).map_err(|error| MqttError::File {
                name: config.name.clone(),
                path: path.to_owned(),
                error,
            })?;
        }
        let file = folder.map(|folder| folder.join(format!("{}.json", config.name)));
        let progress = file.as_deref().map(Progress::load).unwrap_or_default();
        let broker = Self {
            topics: Topics::new(&config.prefix),
            config: config.clone(),
            file,
            state: Mutex::new(State { progress, ..State::default() }),
        };
        let mut state = lock(&broker.state);
        if state.progress.lost.is_some() {
            broker.save(&mut state);
        }
        drop(state);
        Ok(broker)
    }

    /// Opens all brokers, with a folder in the data folder for what they have got.
    ///
    /// # Errors
    /// One cannot be opened, or the folder cannot be made.
    pub fn open_all(configs: &[MqttConfig], data: Option<&Path>) -> Result<Vec<Self>, MqttError> {
        let folder = data.map(|data| data.join(FOLDER)).filter(|_| !configs.is_empty());
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder)
                .map_err(|error| MqttError::Folder { path: folder.clone(), error })?;
        }
        configs.iter().map(|config| Self::open(config, folder.as_deref())).collect()
    }

    /// Its settings.
    pub fn config(&self) -> &MqttConfig {
        &self.config
    }

    /// The topics below its prefix.
    pub fn topics(&self) -> &Topics {
        &self.topics
    }

    /// What its notifications say; `None` if it gets none. `path` is where the interface begins.
    pub fn notifications(&self, path: &str) -> Option<NotificationConfig> {
        let url = self.config.public_url.as_deref()?.trim_end_matches('/');
        Some(NotificationConfig {
            topic: self.config.notification_topic()?,
            metadata_id: self.config.wis2_metadata_id.clone()?,
            public_url: format!("{url}{path}"),
        })
    }

    /// The id of the event up to which it has everything; `None` if it begins.
    pub fn position(&self) -> Option<String> {
        lock(&self.state).progress.position.clone()
    }

    /// Why it is not known what it has got, if that is so.
    pub fn lost(&self) -> Option<String> {
        lock(&self.state).progress.lost.clone()
    }

    /// Notes that it begins at a position. What comes after it is sent, also after a restart.
    pub fn begin(&self, position: EventId) {
        let mut state = lock(&self.state);
        if state.progress.position.is_none() && state.progress.lost.is_none() {
            state.progress.position = Some(position.to_string());
            self.save(&mut state);
        }
    }

    /// How it does.
    pub fn status(&self) -> MqttStatus {
        let state = lock(&self.state);
        let now = Instant::now();
        let address = match self.config.endpoint() {
            Ok(settings::Endpoint { host, port, is_encrypted }) => {
                let scheme = if is_encrypted { "mqtts" } else { "mqtt" };
                let host = if host.contains(':') { format!("[{host}]") } else { host };
                format!("{scheme}://{host}:{port}")
            }
            Err(_) => String::new(),
        };
        MqttStatus {
            name: self.config.name.clone(),
            address,
            client_id: self.config.client_id(),
            is_connected: state.connected_at.is_some(),
            published: state.progress.published,
            published_at: state.progress.published_ms.map(Iso8601),
            failures: state.failures,
            retry_in_s: state.retry_at.map(|at| at.saturating_duration_since(now).as_secs()),
            last_failure: state.last_failure.clone(),
            left_out: state.progress.left_out,
            last_left_out: state.progress.last_left_out.iter().cloned().collect(),
        }
    }

    fn save(&self, state: &mut State) {
        state.is_dirty = false;
        state.saved_at = Some(Instant::now());
        let Some(file) = &self.file else { return };
        if let Err(error) = note::save(file, &state.progress) {
            // Tried again with the next message.
            state.is_dirty = true;
            let name = &self.config.name;
            tracing::error!(
                "mqtt {name}: {}: {error}; after a restart, messages are sent again",
                file.display()
            );
        }
    }

    /// The message that tells whether the server is online.
    pub(super) fn status_message(&self, is_online: bool) -> MqttMessage {
        let status = if is_online { "online" } else { "offline" };
        MqttMessage {
            id: format!("status-{status}-{}", system_ms()),
            topic: self.topics.of(&["status"]),
            payload: format!("{{\"status\":\"{status}\"}}").into_bytes(),
            is_retained: true,
            expiry_s: None,
        }
    }

    /// Notes that it has everything up to a position.
    pub(super) fn pass(&self, position: EventId) {
        let mut state = lock(&self.state);
        let text = position.to_string();
        if state.progress.lost.take().is_some() || state.progress.position.as_ref() != Some(&text) {
            state.progress.position = Some(text);
            state.is_dirty = true;
        }
    }

    /// Notes that it has acknowledged messages.
    pub(super) fn acknowledged(&self, count: u64) {
        let mut state = lock(&self.state);
        state.progress.published += count;
        state.progress.published_ms = Some(system_ms());
        if state.is_steady() {
            state.failures = 0;
        }
        state.is_dirty = true;
    }

    /// Notes that it cannot take a message.
    pub(super) fn leave_out(&self, topic: &str, cause: &str) {
        let name = &self.config.name;
        tracing::error!("mqtt {name}: a message for the topic {topic:?} is left out: {cause}");
        let topic = topic.chars().take(300).collect();
        let left_out = MqttLeftOut { topic, at: Iso8601(system_ms()), cause: cause.to_owned() };
        let mut state = lock(&self.state);
        state.progress.leave_out(left_out);
        state.is_dirty = true;
    }

    /// Writes what was noted, unless that was done a moment ago. Returns when it must be called again.
    pub(super) fn save_if_due(&self) -> Option<Instant> {
        let mut state = lock(&self.state);
        let due = state.saved_at.map(|at| at + SAVE_EVERY).filter(|&due| due > Instant::now());
        if state.is_dirty && due.is_none() {
            self.save(&mut state);
        }
        state.saved_at.map(|at| at + SAVE_EVERY).filter(|_| state.is_dirty)
    }

    /// Writes what was noted.
    pub(super) fn save_now(&self) {
        let mut state = lock(&self.state);
        if state.is_dirty {
            self.save(&mut state);
        }
    }

    /// Notes that there is a connection.
    pub(super) fn connected(&self) {
        let mut state = lock(&self.state);
        state.connected_at = Some(Instant::now());
        state.retry_at = None;
    }

    /// Notes that there is none any more, and why. Returns how many failures there were in a row.
    pub(super) fn failed(&self, error: &str) -> u32 {
        let mut state = lock(&self.state);
        state.failures = if state.is_steady() { 1 } else { state.failures.saturating_add(1) };
        state.connected_at = None;
        let error = error.chars().take(500).collect();
        state.last_failure = Some(MqttFailure { at: Iso8601(system_ms()), error });
        state.failures
    }

    /// Notes that the connection was closed, or when the next one is tried.
    pub(super) fn waits(&self, pause: Option<Duration>) {
        let mut state = lock(&self.state);
        state.connected_at = None;
        state.retry_at = pause.map(|pause| Instant::now() + pause);
    }
}

#[cfg(not(feature = "mqtt"))]
impl MqttBroker {
    /// Says that this server was built without the feature `mqtt`; then it has no broker.
    #[allow(clippy::unused_async, reason = "with the feature, it waits for the broker")]
    pub async fn test(&self) -> MqttTest {
        let error = Some("this server was built without the feature mqtt".to_owned());
        MqttTest { at: Iso8601(system_ms()), took_ms: 0, is_published: false, error }
    }
}
