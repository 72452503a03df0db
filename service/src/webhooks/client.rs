//! One delivery: a signed POST request to the address of a webhook.

use std::time::{Duration, Instant};

use http::{StatusCode, header};
use mesonet::Iso8601;
use serde::Serialize;
use ureq::unversioned::transport::DefaultConnector;

use super::WebhookConfig;
use super::secret::Secret;
use super::target::PublicResolver;
use crate::clock::system_ms;
use crate::fetch::{RootsError, USER_AGENT, retry_after_ms, tls_for};

/// The statuses from 400 to 499 after which the receiver may want the same message later.
const MAY_CHANGE: [StatusCode; 10] = [
    StatusCode::REQUEST_TIMEOUT,
    StatusCode::CONFLICT,
    StatusCode::LOCKED,
    StatusCode::TOO_EARLY,
    StatusCode::TOO_MANY_REQUESTS,
    // The secret or the address is wrong: once mended, this message arrives too.
    StatusCode::UNAUTHORIZED,
    StatusCode::FORBIDDEN,
    StatusCode::NOT_FOUND,
    StatusCode::METHOD_NOT_ALLOWED,
    StatusCode::PROXY_AUTHENTICATION_REQUIRED,
];

/// What became of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The receiver has it: a status from 200 to 299.
    Delivered,
    /// The receiver does not want this one, and is unlikely to want it later: a status from 400 to 499
    /// that does not ask to come again.
    Refused,
    /// The receiver wants none any more: status 410.
    Gone,
    /// It is tried again, not before the time that the receiver may have asked for.
    Failed { retry_after_ms: Option<i64> },
}

/// An attempt at a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookAttempt {
    /// When it began.
    pub at: Iso8601,
    /// How long it took.
    pub took_ms: u64,
    /// Whether the receiver took it.
    pub is_delivered: bool,
    /// The status of the answer; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why there was no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What sends the deliveries of a webhook.
pub(super) struct Client {
    agent: ureq::Agent,
    url: String,
    secret: Secret,
}

impl Client {
    pub(super) fn new(config: &WebhookConfig, secret: Secret) -> Result<Self, RootsError> {
        let timeout = Duration::from_secs(u64::from(config.timeout_s));
        let agent = ureq::Agent::config_builder()
            .tls_config(tls_for(&config.url)?)
            .user_agent(USER_AGENT)
            .timeout_global(Some(timeout))
            // A proxy would resolve the name, and a redirect name another one: neither is checked.
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .build();
        let agent = if config.allow_private {
            agent.into()
        } else {
            ureq::Agent::with_parts(agent, DefaultConnector::new(), PublicResolver::default())
        };
        Ok(Self { agent, url: config.url.clone(), secret })
    }

    /// Sends one message.
    pub(super) fn send(&self, id: &str, body: &[u8]) -> (Outcome, WebhookAttempt) {
        let (at_ms, began) = (system_ms(), Instant::now());
        let at_s = at_ms / 1000;
        let request = self
            .agent
            .post(&self.url)
            .header(header::CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", at_s.to_string())
            .header("webhook-signature", self.secret.sign(id, at_s, body));
        let (outcome, status, error) = match request.send(body) {
            Ok(response) => {
                let status = response.status();
                let may_change = MAY_CHANGE.contains(&status);
                let outcome = match status {
                    status if status.is_success() => Outcome::Delivered,
                    StatusCode::GONE => Outcome::Gone,
                    status if status.is_client_error() && !may_change => Outcome::Refused,
                    _ => Outcome::Failed { retry_after_ms: retry_after_ms(response.headers()) },
                };
                (outcome, Some(status.as_u16()), None)
            }
            Err(error) => {
                let text: String = error.to_string().chars().take(300).collect();
                (Outcome::Failed { retry_after_ms: None }, None, Some(text))
            }
        };
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let is_delivered = outcome == Outcome::Delivered;
        (outcome, WebhookAttempt { at: Iso8601(at_ms), took_ms, is_delivered, status, error })
    }
}
