//! A webhook: what it has delivered, when it tries again, what it has left out.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use mesonet::Iso8601;
use mesonet::alert::Query;
use serde::Serialize;

use super::client::{Client, Outcome, WebhookAttempt};
use super::progress::{LeftOut, Progress};
use super::secret::{Secret, SecretError};
use super::settings::{WebhookConfig, origin};
use crate::clock::system_ms;
use crate::fetch::{RootsError, asked_pause_ms, pause_ms, random};
use crate::live::EventId;
use crate::note;
use crate::setting::InvalidSetting;
use crate::sync::lock;

/// The folder in the data folder with what each webhook has delivered.
pub const FOLDER: &str = "webhooks";

/// First pause after a failure. It doubles up to an hour.
const FIRST_PAUSE_MS: i64 = 5_000;

/// How often a receiver may refuse an alert before it is left out, so that the next ones arrive.
const MAX_REFUSALS: u32 = 5;

/// A webhook cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    /// A setting is invalid.
    #[error(transparent)]
    Setting(#[from] InvalidSetting),
    /// The secret cannot be read.
    #[error("webhook {0}: {1}")]
    Secret(String, SecretError),
    /// Encrypted addresses cannot be checked.
    #[error(transparent)]
    Roots(#[from] RootsError),
    /// The folder for what was delivered cannot be made.
    #[error("{}: {error}", .path.display())]
    Folder { path: PathBuf, error: std::io::Error },
}

/// What is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The id of the delivery: the same each time that it is tried.
    pub id: String,
    /// The id of the alert.
    pub alert: String,
    /// Whether the alert is in force.
    pub is_active: bool,
    /// The position in the stream of events after it.
    pub position: EventId,
    /// The content, JSON.
    pub body: Vec<u8>,
}

/// A webhook.
pub struct Webhook {
    config: WebhookConfig,
    query: Query,
    client: Client,
    /// The file with what was delivered, if there is a folder for it.
    file: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    progress: Progress,
    /// Failures in a row.
    failures: u32,
    retry_at: Option<Instant>,
    /// The delivery that the receiver refused last, and how often.
    refused: Option<(String, u32)>,
    is_gone: bool,
    last: Option<WebhookAttempt>,
}

/// A webhook and how it does.
#[derive(Clone, Debug, PartialEq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
pub struct WebhookStatus {
    /// Its name.
    pub name: String,
    /// Scheme, host and port of the address; the rest may be a secret.
    pub origin: String,
    /// How many deliveries have arrived.
    pub delivered: u64,
    /// When the last one arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Iso8601>,
    /// The last attempt since the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_attempt: Option<WebhookAttempt>,
    /// How many attempts failed in a row.
    pub failures: u32,
    /// In how many seconds the next attempt is made, after a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_in_s: Option<u64>,
    /// Whether the receiver said that it wants no more (status 410). Nothing is sent until the server
    /// starts anew.
    pub is_gone: bool,
    /// The latest alerts that the receiver refused five times, the newest last. They are not sent again.
    pub left_out: Vec<LeftOut>,
}

impl Webhook {
    /// Opens a webhook, with what it has delivered according to its file in a folder.
    ///
    /// # Errors
    /// A setting is invalid, or the secret or the system's certificates cannot be read.
    pub fn open(config: &WebhookConfig, folder: Option<&Path>) -> Result<Self, WebhookError> {
        let secret = Secret::read(&config.secret_file)
            .map_err(|error| WebhookError::Secret(config.name.clone(), error))?;
        let file = folder.map(|folder| folder.join(format!("{}.json", config.name)));
        let progress = file.as_deref().map(Progress::load).unwrap_or_default();
        Ok(Self {
            query: config.query()?.is_active(true),
            client: Client::new(config, secret)?,
            config: config.clone(),
            file,
            state: Mutex::new(State { progress, ..State::default() }),
        })
    }

    /// Opens all webhooks, with a folder in the data folder for what they have delivered.
    ///
    /// # Errors
    /// One cannot be opened, or the folder cannot be made.
    pub fn open_all(
        configs: &[WebhookConfig],
        data: Option<&Path>,
    ) -> Result<Vec<Self>, WebhookError> {
        let folder = data.map(|data| data.join(FOLDER)).filter(|_| !configs.is_empty());
        if let Some(folder) = &folder {
            std::fs::create_dir_all(folder)
                .map_err(|error| WebhookError::Folder { path: folder.clone(), error })?;
        }
        configs.iter().map(|config| Self::open(config, folder.as_deref())).collect()
    }

    /// Its settings.
    pub fn config(&self) -> &WebhookConfig {
        &self.config
    }

    /// The alerts in force that it sends. It sends their end too, see
    /// [`has_in_force`](Self::has_in_force).
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Whether an alert was in force when it was delivered last.
    pub fn has_in_force(&self, alert: &str) -> bool {
        lock(&self.state).progress.in_force.contains(alert)
    }

    /// Forgets the alerts that are no longer on record.
    pub fn retain(&self, is_on_record: impl Fn(&str) -> bool) {
        lock(&self.state).progress.in_force.retain(|alert| is_on_record(alert));
    }

    /// Where it is in the stream of events; `None` if it begins.
    pub fn position(&self) -> Option<EventId> {
        lock(&self.state).progress.position.as_ref()?.parse().ok()
    }

    /// How long to wait before the next attempt; `None` if the receiver wants no more.
    pub fn wait(&self) -> Option<Duration> {
        let state = lock(&self.state);
        let now = Instant::now();
        let wait = state.retry_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(now));
        (!state.is_gone).then_some(wait)
    }

    /// Tries to deliver a message. Returns whether the next one may follow: this one has arrived, or is
    /// left out.
    pub fn deliver(&self, message: &Message) -> bool {
        let (outcome, attempt) = self.client.send(&message.id, &message.body);
        let name = &self.config.name;
        let mut state = lock(&self.state);
        let is_done = match outcome {
            Outcome::Delivered => {
                state.progress.delivered += 1;
                state.progress.delivered_ms = Some(attempt.at.0);
                if message.is_active {
                    state.progress.in_force.insert(message.alert.clone());
                } else {
                    state.progress.in_force.remove(&message.alert);
                }
                true
            }
            Outcome::Refused => {
                let status = attempt.status.unwrap_or_default();
                let times = match state.refused.take() {
                    Some((id, times)) if id == message.id => times + 1,
                    _ => 1,
                };
                state.refused = Some((message.id.clone(), times));
                if times >= MAX_REFUSALS {
                    let alert = &message.alert;
                    tracing::error!(
                        "webhook {name}: the receiver refused the alert {alert} {times} times, the last \
                         time with status {status}; it is left out"
                    );
                    state.progress.leave_out(alert, attempt.at, status);
                }
                times >= MAX_REFUSALS
            }
            Outcome::Gone => {
                tracing::error!(
                    "webhook {name}: the receiver wants no more (status 410); nothing is sent until the \
                     server starts anew"
                );
                state.is_gone = true;
                false
            }
            Outcome::Failed { .. } => false,
        };
        if is_done {
            state.failures = 0;
            state.retry_at = None;
            state.refused = None;
            state.progress.position = Some(message.position.to_string());
            self.save(&state.progress);
        } else if !state.is_gone {
            state.failures = state.failures.saturating_add(1);
            let asked_ms = match outcome {
                Outcome::Failed { retry_after_ms } => retry_after_ms,
                _ => None,
            };
            let own_ms = pause_ms(FIRST_PAUSE_MS, state.failures, random());
            let pause = Duration::from_millis(asked_pause_ms(own_ms, asked_ms).unsigned_abs());
            state.retry_at = Some(Instant::now() + pause);
            let cause = attempt.error.clone().unwrap_or_else(|| {
                format!("the answer has status {}", attempt.status.unwrap_or_default())
            });
            tracing::warn!("webhook {name}: {cause}; the next attempt is in {} s", pause.as_secs());
        }
        state.last = Some(attempt);
        is_done
    }

    /// Notes that there is nothing more to send up to a position.
    pub fn pass(&self, position: EventId) {
        let mut state = lock(&self.state);
        let before = state.progress.position.replace(position.to_string());
        // After a restart, what is not for this webhook is looked at once more.
        if before.is_none() {
            self.save(&state.progress);
        }
    }

    /// Sends a test, whatever was delivered before. It changes nothing.
    pub fn test(&self) -> WebhookAttempt {
        let at_ms = system_ms();
        let body = serde_json::json!({
            "type": "test",
            "timestamp": Iso8601(at_ms),
            "data": { "webhook": self.config.name },
        });
        let id = format!("test-{}-{:016x}", self.config.name, getrandom::u64().unwrap_or_default());
        self.client.send(&id, body.to_string().as_bytes()).1
    }

    /// How it does.
    pub fn status(&self) -> WebhookStatus {
        let state = lock(&self.state);
        let now = Instant::now();
        let retry_in = state.retry_at.map(|at| at.saturating_duration_since(now).as_secs());
        let uri = self.config.url.parse();
        WebhookStatus {
            name: self.config.name.clone(),
            origin: uri.as_ref().map(origin).unwrap_or_default(),
            delivered: state.progress.delivered,
            delivered_at: state.progress.delivered_ms.map(Iso8601),
            last_attempt: state.last.clone(),
            failures: state.failures,
            retry_in_s: retry_in.filter(|_| !state.is_gone),
            is_gone: state.is_gone,
            left_out: state.progress.left_out.iter().cloned().collect(),
        }
    }

    fn save(&self, progress: &Progress) {
        let Some(file) = &self.file else { return };
        if let Err(error) = note::save(file, progress) {
            let name = &self.config.name;
            tracing::error!(
                "webhook {name}: {}: {error}; after a restart, alerts are sent again",
                file.display()
            );
        }
    }
}

#[cfg(test)]
#[path = "webhook_tests.rs"]
mod tests;
