//! Credentials: who sends a request, from an account token or an API key.
//!
//! | What | Where |
//! | --- | --- |
//! | From the headers of a request to its caller | [`identify`] |
//! | Account tokens | `token.rs` |
//! | The keys that they are checked with | `key_set.rs`, `provider.rs` |
//! | Tokens for development: the command `token` | `issuer.rs` |
//! | API keys: their form, their record, the record on disk and its count, those that a running server knows | `api_key.rs`, `key_record.rs`, `key_file.rs`, `key_count.rs`, `known_keys.rs` |
//! | The command `keys` | `keys_command.rs` |
//!
//! Credentials are checked against real time, also while recorded data is replayed.

mod api_key;
mod issuer;
mod key_count;
mod key_file;
mod key_record;
mod key_set;
mod keys_command;
mod known_keys;
mod provider;
mod token;

use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::extract::{Request, State as Shared};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

#[cfg(feature = "clickhouse")]
pub use api_key::KeyDigest;
pub use issuer::FILE as DEVELOPMENT_KEY;
pub use issuer::{TokenError, TokenFlags, token_command};
pub use key_count::FILE as KEY_COUNT;
pub use key_file::{FILE as KEYS, KeyFile, KeyFolder};
pub use key_record::{ApiKey, KeyEntry, KeyRecord, KeysError, SharedKeyRecord, Validity};
pub use key_set::Source;
pub use keys_command::{KeysCommandError, KeysFlags, keys_command};
pub use known_keys::{KnownKeys, LOOK};
pub use token::{Account, Rejection};

use crate::access::Caller;
use crate::clock::system_ms;
use crate::config::{Config, ConfigError};
use crate::error::ApiError;
use crate::http::request_line::OfPlan;
use crate::state::State;
use key_set::KeySet;
use token::Token;

/// The cookie in which browsers send an account token.
const COOKIE: &str = "acct_at";

/// What credentials are checked with.
pub struct Credentials {
    key_set: ArcSwap<KeySet>,
    /// `None` without a record on disk.
    pub keys: Option<KnownKeys>,
}

impl Credentials {
    /// Reads the keys of account tokens and, for a record on disk, those of the API, which are given.
    ///
    /// # Errors
    /// A key set that cannot be read.
    pub fn new(config: &Config, keys: Option<KnownKeys>) -> Result<Self, ConfigError> {
        let development = config.listen.ip().is_loopback() && keys.is_some();
        let development = development.then(|| issuer::key_file(&config.data));
        if development.as_ref().is_some_and(|path| path.exists()) {
            tracing::warn!("tokens of the development issuer are accepted");
        }
        let key_set = KeySet::new(config.token_source(), development);
        let credentials =
            Self { key_set: ArcSwap::from_pointee(key_set.map_err(ConfigError::KeySet)?), keys };
        if let Some(keys) = &credentials.keys {
            match keys.renew() {
                // What is open to all is served. A key gets 503 until the record can be read.
                Err(error @ KeysError::Lost { .. }) => tracing::error!("{error}"),
                renewed => renewed.map_err(|error| ConfigError::KeySet(error.to_string()))?,
            }
        }
        Ok(credentials)
    }

    /// Reads the keys of account tokens again, from where new settings say. Those of an address that
    /// cannot be reached stay, if it is the same address.
    ///
    /// # Errors
    /// A key set that cannot be read; the old one stays.
    pub fn reload(&self, config: &Config) -> Result<(), ConfigError> {
        let old = self.key_set.load();
        let new = old.renewed(config.token_source()).map_err(ConfigError::KeySet)?;
        self.key_set.store(Arc::new(new));
        Ok(())
    }

    /// Returns who sends a request. An API key that is not known counts as none.
    async fn caller(&self, headers: &HeaderMap, anonymous: &Caller) -> Result<Caller, Rejection> {
        let Some(credential) = credential(headers)? else { return Ok(anonymous.clone()) };
        if !Token::is_one(credential) {
            let keys = self.keys.as_ref();
            let is_known = keys.is_some_and(|keys| keys.knows(credential, system_ms()));
            return Ok(if is_known { anonymous.with_api_key() } else { anonymous.clone() });
        }
        let token = Token::read(credential)?;
        let kid = token.kid.as_deref().ok_or(Rejection::UnknownKid)?;
        let key = self.key_set.load_full().find(kid).await.ok_or(Rejection::UnknownKid)?;
        let now_s = system_ms() as f64 / 1000.0;
        token.check(&key, now_s).map(Caller::of_account)
    }
}

/// The credential of a request: that of the header, else the account token of the cookie. Those in
/// query strings and bodies are ignored.
fn credential(headers: &HeaderMap) -> Result<Option<&str>, Rejection> {
    let mut sent = headers.get_all(header::AUTHORIZATION).iter();
    if let Some(first) = sent.next() {
        let text = first.to_str().map_err(|_| Rejection::Malformed)?.trim();
        let (scheme, credential) = text.split_once(' ').unwrap_or((text, ""));
        // Another scheme is not ours, and counts as no credential.
        if scheme.eq_ignore_ascii_case("bearer") {
            // Two of them: nobody knows which was meant.
            if sent.next().is_some() {
                return Err(Rejection::Malformed);
            }
            return Ok(Some(credential.trim()));
        }
    }
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut named = cookies
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter_map(|(name, value)| (name == COOKIE).then_some(value.trim_matches('"')));
    // API keys are not sent in cookies.
    Ok(named.next().filter(|value| Token::is_one(value)))
}

/// Finds out who sends a request, before anything else looks at it. An invalid token is refused on
/// every endpoint, also where none is needed.
pub async fn identify(
    Shared(state): Shared<Arc<State>>,
    mut request: Request,
    next: Next,
) -> Response {
    let anonymous = Caller::anonymous(state.config().assume_plan);
    if let Some(keys) = &state.credentials.keys
        && let Ok(Some(sent)) = credential(request.headers())
        && keys.may_be(sent)
        && !keys.knows(sent, system_ms())
    {
        let text = "the record of API keys cannot be read now; send the request again later, or without a key";
        return ApiError::Refused(StatusCode::SERVICE_UNAVAILABLE, text.to_owned()).into_response();
    }
    match state.credentials.caller(request.headers(), &anonymous).await {
        Ok(caller) => {
            let plan = OfPlan(caller.plan);
            request.extensions_mut().insert(caller);
            let mut response = next.run(request).await;
            response.extensions_mut().insert(plan);
            response
        }
        Err(rejection) => rejection.into_response(),
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "reason": self }).to_string();
        let mut response = (StatusCode::UNAUTHORIZED, body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let challenge = HeaderValue::from_static("Bearer error=\"invalid_token\"");
        headers.insert(header::WWW_AUTHENTICATE, challenge);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

/// Decodes base64url without padding; `None` if it is something else.
fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// Lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
}

#[cfg(test)]
#[path = "credentials_tests.rs"]
mod tests;
