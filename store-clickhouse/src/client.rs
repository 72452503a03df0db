//! The client of ClickHouse, over HTTP, or over HTTPS where an address says so.

use clickhouse::Client;
use clickhouse::error::Error;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client as HttpClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::crypto::ring;

use crate::options::Options;

/// How long a connection may wait for its next use. ClickHouse keeps an idle connection for 3 s or
/// more, so this is less.
const IDLE: std::time::Duration = std::time::Duration::from_secs(2);

/// What ClickHouse does at a limit of the user's profile: it refuses, whatever the profile says. If
/// it left out the rest of the rows, the answer would look whole.
const AT_LIMITS: [&str; 7] = [
    "read_overflow_mode",
    "result_overflow_mode",
    "timeout_overflow_mode",
    "group_by_overflow_mode",
    "sort_overflow_mode",
    "distinct_overflow_mode",
    "set_overflow_mode",
];

/// Returns a client without an address.
///
/// # Errors
/// An address asks for HTTPS, and this machine has no certificates to check a server with.
pub(crate) fn client(options: &Options) -> Result<Client, String> {
    let Options { urls, user, password, timeout, .. } = options;
    let is_secure = urls.iter().any(|url| url.starts_with("https://"));
    let seconds = timeout.as_secs().max(1).to_string();
    // Releases before 2023 cannot describe the columns of an answer, so the client does not ask.
    let mut client = if is_secure { secure()? } else { Client::default() }
        .with_validation(false)
        .with_setting("max_execution_time", &seconds)
        .with_setting("receive_timeout", &seconds)
        .with_setting("send_timeout", &seconds);
    for name in AT_LIMITS {
        client = client.with_setting(name, "throw");
    }
    if let Some(user) = user {
        client = client.with_user(user);
    }
    if let Some(password) = password {
        // Without a name the user would be nobody.
        client = client.with_user(user.as_deref().unwrap_or("default"));
        client = client.with_password(password);
    }
    Ok(client)
}

/// A client that trusts the certificate authorities that this machine trusts. The client of the
/// crate panics if there are none.
fn secure() -> Result<Client, String> {
    let connector = HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(ring::default_provider())
        .map_err(|error| format!("no certificates to check ClickHouse with: {error}"))?;
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    let connector = connector.https_or_http().enable_http1().wrap_connector(http);
    let client = HttpClient::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(IDLE)
        .build(connector);
    Ok(Client::with_http_client(client))
}

/// An error with its causes. The text of a connection error leaves them out.
pub(crate) fn with_causes(error: Error) -> Error {
    let Error::Network(network) = &error else { return error };
    let mut text = network.to_string();
    let mut cause = network.source();
    while let Some(inner) = cause {
        let told = inner.to_string();
        if !text.contains(&told) {
            text = format!("{text}: {told}");
        }
        cause = inner.source();
    }
    Error::Network(text.into())
}
