//! One delivery: a signed POST request to the address of a webhook.

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::{StatusCode, header};
use ureq::tls::TlsConfig;
use ureq::unversioned::transport::DefaultConnector;

use super::WebhookConfig;
use super::secret::Secret;
use super::target::PublicResolver;
use crate::clock::system_ms;
use crate::fetch::{RootsError, retry_after_ms, system_roots};

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    pub outcome: Outcome,
    /// When it began, milliseconds since 1970.
    pub at_ms: i64,
    /// How long it took.
    pub took: Duration,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// Why there was none.
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
        let mut tls = TlsConfig::builder()
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
        if !config.url.starts_with("http://") {
            tls = tls.root_certs(system_roots()?);
        }
        let timeout = Duration::from_secs(u64::from(config.timeout_s));
        let agent = ureq::Agent::config_builder()
            .tls_config(tls.build())
            .user_agent(concat!("mesonet-server/", env!("CARGO_PKG_VERSION")))
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
    pub(super) fn send(&self, id: &str, body: &[u8]) -> Attempt {
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
                let outcome = match status {
                    status if status.is_success() => Outcome::Delivered,
                    StatusCode::GONE => Outcome::Gone,
                    StatusCode::REQUEST_TIMEOUT
                    | StatusCode::CONFLICT
                    | StatusCode::LOCKED
                    | StatusCode::TOO_EARLY
                    | StatusCode::TOO_MANY_REQUESTS
                    // The secret or the address is wrong: once mended, this message arrives too.
                    | StatusCode::UNAUTHORIZED
                    | StatusCode::FORBIDDEN
                    | StatusCode::NOT_FOUND
                    | StatusCode::METHOD_NOT_ALLOWED
                    | StatusCode::PROXY_AUTHENTICATION_REQUIRED => failed(&response),
                    status if status.is_client_error() => Outcome::Refused,
                    _ => failed(&response),
                };
                (outcome, Some(status.as_u16()), None)
            }
            Err(error) => {
                let text: String = error.to_string().chars().take(300).collect();
                (Outcome::Failed { retry_after_ms: None }, None, Some(text))
            }
        };
        Attempt { outcome, at_ms, took: began.elapsed(), status, error }
    }
}

fn failed(response: &http::Response<ureq::Body>) -> Outcome {
    Outcome::Failed { retry_after_ms: retry_after_ms(response.headers()) }
}
