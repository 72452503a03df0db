//! How spans are sent: with the HTTP client of the fetchers, on the thread that sends.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use ureq::tls::TlsConfig;

/// Longest exchange with the collector.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Longest answer of the collector that is read.
const MAX_ANSWER_BYTES: u64 = 64 << 10;

/// A client that logs when sending starts to fail, and when it works again.
#[derive(Debug)]
pub struct Sender {
    agent: ureq::Agent,
    is_failing: AtomicBool,
}

impl Sender {
    pub fn new() -> Self {
        let tls = TlsConfig::builder()
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let config = ureq::Agent::config_builder()
            .tls_config(tls.build())
            .timeout_global(Some(TIMEOUT))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .build();
        Self { agent: config.into(), is_failing: AtomicBool::new(false) }
    }

    fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, ureq::Error> {
        let mut response = self.agent.run(request.map(Vec::from))?;
        let read = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        let body = Bytes::from(read?);
        Ok(response.map(|_| body))
    }

    /// A collector may be unreachable for hours. The log has one line when it goes, and one when it
    /// is back.
    fn note(&self, failure: Option<&dyn std::fmt::Display>) {
        let was_failing = self.is_failing.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(error) if !was_failing => tracing::warn!(
                "traces cannot be sent, and are dropped until they can: the collector: {error}"
            ),
            None if was_failing => tracing::info!("traces are sent again"),
            _ => {}
        }
    }
}

impl HttpClient for Sender {
    fn send_bytes<'a, 'b>(
        &'a self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        let sent = self.send(request);
        match &sent {
            Ok(response) if response.status().is_success() => self.note(None),
            Ok(response) => self.note(Some(&response.status())),
            Err(error) => self.note(Some(error)),
        }
        Box::pin(std::future::ready(sent.map_err(Into::into)))
    }
}
