//! One bounded HTTP request: conditional, with a deadline, over few redirects.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::{HeaderMap, Response, StatusCode, Uri, header};
use serde::{Deserialize, Serialize};
use ureq::Body;
use ureq::tls::{Certificate, TlsConfig};

use super::address::{Policy, redirected};
use crate::clock::system_ms;

/// The `User-Agent` of requests that the server makes for itself.
pub(crate) const USER_AGENT: &str = concat!("mesonet-server/", env!("CARGO_PKG_VERSION"));

/// Maximum number of redirects followed for one file.
const MAX_REDIRECTS: usize = 3;

/// Bytes of an error answer that are read for its text.
const MAX_PROBLEM_BYTES: u64 = 4096;

/// Longest header values that are kept from one request to the next.
const MAX_VALIDATOR_BYTES: usize = 256;

/// The validators that a server gave for a version of a file, so that the next request can ask for
/// a newer one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Validators {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// A successful answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// The file; `None` if it is still the version of the validators.
    pub bytes: Option<Vec<u8>>,
    pub validators: Validators,
    /// For how long the answer is fresh, as the server says.
    pub fresh_ms: Option<i64>,
    /// The server's clock, milliseconds since 1970.
    pub date_ms: Option<i64>,
}

/// A request that returned no file.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestError {
    #[error("not found (status {0})")]
    Missing(u16),
    #[error("the server asks to wait (status {status})")]
    Busy { status: u16, retry_after_ms: Option<i64> },
    #[error("status {status}{problem}")]
    Status { status: u16, problem: String },
    #[error("longer than {limit} bytes")]
    TooLong { limit: u64 },
    #[error("more than {MAX_REDIRECTS} redirects")]
    TooManyRedirects,
    #[error("redirected to \"{0}\", which is not allowed")]
    Redirect(String),
    #[error("the host cannot be reached: {0}")]
    Unreachable(ureq::Error),
    #[error("the transfer broke off: {0}")]
    Broken(String),
}

/// A client cannot be created.
#[derive(Debug, thiserror::Error)]
#[error("no root certificates are installed (Debian's package: ca-certificates){0}")]
pub struct RootsError(String);

/// The limits of a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct FetchLimits {
    pub max_bytes: u64,
    pub timeout: Duration,
}

pub(super) struct Client {
    agent: ureq::Agent,
    limits: FetchLimits,
    policy: Policy,
}

impl Client {
    /// Creates a client that identifies itself to servers.
    pub(super) fn new(
        user_agent: &str,
        limits: FetchLimits,
        policy: Policy,
        tls: TlsConfig,
    ) -> Self {
        let config = ureq::Agent::config_builder()
            .tls_config(tls)
            .user_agent(user_agent)
            // The time covers everything from the name lookup to the last byte, so no server can
            // hold a thread longer.
            .timeout_global(Some(limits.timeout))
            .timeout_connect(Some(limits.timeout.min(Duration::from_secs(15))))
            // Each target is checked against the policy, so redirects are followed here.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .build();
        Self { agent: config.into(), limits, policy }
    }

    /// Fetches a file, or finds that it is still the known version.
    pub(super) fn get(
        &self,
        address: &str,
        accept: &str,
        known: &Validators,
    ) -> Result<Answer, RequestError> {
        let mut address = address.to_owned();
        for _ in 0..=MAX_REDIRECTS {
            let mut request = self.agent.get(&address).header(header::ACCEPT, accept);
            if let Some(etag) = &known.etag {
                request = request.header(header::IF_NONE_MATCH, etag);
            } else if let Some(last_modified) = &known.last_modified {
                request = request.header(header::IF_MODIFIED_SINCE, last_modified);
            }
            let response = request.call().map_err(failed)?;
            if !response.status().is_redirection() || response.status() == StatusCode::NOT_MODIFIED
            {
                return self.answer(response, known);
            }
            let target = text(response.headers(), header::LOCATION).unwrap_or_default();
            address = redirected(&address, target)
                .filter(|next| {
                    next.parse::<Uri>().is_ok_and(|uri| self.policy.allows(&uri).is_ok())
                })
                .ok_or_else(|| RequestError::Redirect(target.chars().take(200).collect()))?;
        }
        Err(RequestError::TooManyRedirects)
    }

    fn answer(
        &self,
        mut response: Response<Body>,
        known: &Validators,
    ) -> Result<Answer, RequestError> {
        let status = response.status();
        let headers = response.headers();
        let date_ms = text(headers, header::DATE).and_then(http_date_ms);
        let fresh_ms = fresh_ms(headers, date_ms);
        match status {
            StatusCode::NOT_MODIFIED => {
                let validators = known.clone();
                return Ok(Answer { bytes: None, validators, fresh_ms, date_ms });
            }
            StatusCode::OK => {}
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                return Err(RequestError::Missing(status.as_u16()));
            }
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                let retry_after_ms = retry_after_ms(headers);
                return Err(RequestError::Busy { status: status.as_u16(), retry_after_ms });
            }
            _ => {
                let problem = problem(&mut response);
                return Err(RequestError::Status { status: status.as_u16(), problem });
            }
        }
        let validator = |name| {
            let value = text(headers, name);
            value.filter(|value| value.len() <= MAX_VALIDATOR_BYTES).map(ToOwned::to_owned)
        };
        let validators = Validators {
            etag: validator(header::ETAG),
            last_modified: validator(header::LAST_MODIFIED),
        };
        let limit = self.limits.max_bytes;
        // The limit is on the decoded bytes, however many were transferred.
        let mut bytes = Vec::new();
        let mut body = response.body_mut().as_reader().take(limit + 1);
        body.read_to_end(&mut bytes).map_err(|error| RequestError::Broken(error.to_string()))?;
        if bytes.len() as u64 > limit {
            return Err(RequestError::TooLong { limit });
        }
        Ok(Answer { bytes: Some(bytes), validators, fresh_ms, date_ms })
    }
}

/// TLS that trusts the certificates that the system trusts. For an address without encryption, they
/// are not read.
pub(crate) fn tls_for(address: &str) -> Result<TlsConfig, RootsError> {
    let tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
    if address.starts_with("http://") {
        return Ok(tls.build());
    }
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let because = found.errors.first().map(|error| format!(": {error}")).unwrap_or_default();
        return Err(RootsError(because));
    }
    let roots = found.certs.iter().map(|der| Certificate::from_der(der).to_owned());
    Ok(tls.root_certs(roots.into()).build())
}

/// Fetches a small document that the server itself needs, within ten seconds.
///
/// # Errors
/// The document cannot be fetched, or is too long.
pub fn document(address: &str, max_bytes: u64) -> Result<Vec<u8>, String> {
    let limits = FetchLimits { max_bytes, timeout: Duration::from_secs(10) };
    let tls = tls_for(address).map_err(|error| error.to_string())?;
    let client = Client::new(USER_AGENT, limits, DOCUMENTS, tls);
    let answer = client.get(address, "application/json", &Validators::default());
    let bytes = answer.map_err(|error| error.to_string())?.bytes;
    bytes.ok_or_else(|| "it did not come".to_owned())
}

/// Whether such a document may be fetched from an address.
pub fn may_fetch(address: &Uri) -> bool {
    DOCUMENTS.allows(address).is_ok()
}

/// Where such documents may come from.
const DOCUMENTS: Policy = Policy { allow_http: false };

fn failed(error: ureq::Error) -> RequestError {
    use ureq::{Error, Timeout};
    match error {
        Error::Io(ref io)
            if !matches!(
                io.kind(),
                io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::HostUnreachable
                    | io::ErrorKind::NetworkUnreachable
            ) =>
        {
            RequestError::Broken(error.to_string())
        }
        Error::Io(_)
        | Error::HostNotFound
        | Error::ConnectionFailed
        | Error::Tls(_)
        | Error::Rustls(_)
        | Error::Timeout(Timeout::Resolve | Timeout::Connect) => RequestError::Unreachable(error),
        _ => RequestError::Broken(error.to_string()),
    }
}

/// Returns the problem details of an answer with an error status, if it has them (RFC 9457).
fn problem(response: &mut Response<Body>) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Problem {
        title: String,
        detail: String,
    }
    let kind = text(response.headers(), header::CONTENT_TYPE).unwrap_or_default();
    if !kind.starts_with("application/problem+json") {
        return String::new();
    }
    let mut bytes = Vec::new();
    let read = response.body_mut().as_reader().take(MAX_PROBLEM_BYTES).read_to_end(&mut bytes);
    match (read, serde_json::from_slice::<Problem>(&bytes)) {
        (Ok(_), Ok(problem)) => {
            let text = format!(" ({}: {})", problem.title, problem.detail);
            text.chars().filter(|c| !c.is_control()).take(300).collect()
        }
        _ => String::new(),
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Returns how long an answer is fresh: `max-age` minus its age, else `Expires` (RFC 9111).
fn fresh_ms(headers: &HeaderMap, date_ms: Option<i64>) -> Option<i64> {
    let directives = text(headers, header::CACHE_CONTROL).unwrap_or_default();
    let mut max_age = None;
    for directive in directives.split(',').map(str::trim) {
        if directive.eq_ignore_ascii_case("no-cache") || directive.eq_ignore_ascii_case("no-store")
        {
            return None;
        }
        if let Some(seconds) = directive.strip_prefix("max-age=") {
            max_age = seconds.parse::<u32>().ok();
        }
    }
    if let Some(max_age) = max_age {
        let age = text(headers, header::AGE).and_then(|age| age.parse::<u32>().ok()).unwrap_or(0);
        return Some(i64::from(max_age.saturating_sub(age)) * 1000);
    }
    let expires_ms = text(headers, header::EXPIRES).and_then(http_date_ms)?;
    Some((expires_ms - date_ms?).max(0))
}

/// How long a server asks to wait before the next request, by its own clock.
pub(crate) fn retry_after_ms(headers: &HeaderMap) -> Option<i64> {
    let date_ms = text(headers, header::DATE).and_then(http_date_ms);
    wait_ms(text(headers, header::RETRY_AFTER)?, date_ms.unwrap_or_else(system_ms))
}

/// Reads `Retry-After`: seconds or a date.
fn wait_ms(text: &str, now_ms: i64) -> Option<i64> {
    match text.trim().parse::<u32>() {
        Ok(seconds) => Some(i64::from(seconds) * 1000),
        Err(_) => Some((http_date_ms(text)? - now_ms).max(0)),
    }
}

fn http_date_ms(text: &str) -> Option<i64> {
    let time = httpdate::parse_http_date(text.trim()).ok()?;
    let since = time.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(header::HeaderName, &'static str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), header::HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn an_answer_is_fresh_as_long_as_it_says() {
        let of = |pairs: &[_]| fresh_ms(&headers(pairs), Some(1_000_000));
        assert_eq!(of(&[]), None);
        assert_eq!(
            of(&[(header::CACHE_CONTROL, "public, max-age=274, s-maxage=5")]),
            Some(274_000)
        );
        assert_eq!(of(&[(header::CACHE_CONTROL, "max-age=60"), (header::AGE, "50")]), Some(10_000));
        assert_eq!(of(&[(header::CACHE_CONTROL, "max-age=60"), (header::AGE, "70")]), Some(0));
        assert_eq!(of(&[(header::CACHE_CONTROL, "no-cache, max-age=60")]), None);
        assert_eq!(of(&[(header::CACHE_CONTROL, "max-age=-1")]), None);
        assert_eq!(of(&[(header::EXPIRES, "Thu, 01 Jan 1970 00:16:41 GMT")]), Some(1_000));
        assert_eq!(of(&[(header::EXPIRES, "0")]), None);
        assert_eq!(
            fresh_ms(&headers(&[(header::EXPIRES, "Thu, 01 Jan 1970 00:16:41 GMT")]), None),
            None
        );
    }

    #[test]
    fn a_server_asks_for_patience_in_seconds_or_until_a_date() {
        assert_eq!(wait_ms("120", 0), Some(120_000));
        assert_eq!(wait_ms("Thu, 01 Jan 1970 00:02:00 GMT", 60_000), Some(60_000));
        assert_eq!(wait_ms("Thu, 01 Jan 1970 00:02:00 GMT", 600_000), Some(0));
        assert_eq!(wait_ms("soon", 0), None);
        assert_eq!(wait_ms("-5", 0), None);
    }
}
