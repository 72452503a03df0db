//! Credentials: who sends a request, from an account token or an API key.
//!
//! | What | Where |
//! | --- | --- |
//! | From the headers of a request to its caller | [`Credentials::caller`] |
//! | Callers and what they may use | `access.rs` |
//! | Account tokens | `token.rs` |
//! | The keys that check the tokens | `key_set.rs`, `provider.rs` |
//! | Tokens for development | `issuer.rs` |
//!
//! Credentials are checked against real time, even while recorded data is replayed.

pub mod access;
mod issuer;
mod key;
mod key_set;
pub mod operator;
mod provider;
mod token;

use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mesonet_service::clock::system_ms;
use mesonet_service::keys::{KeysError, KnownKeys};

use self::access::Caller;
pub use self::issuer::{DevelopmentAccount, development_token, key_file};
use self::key_set::KeySet;
pub use self::key_set::KeySetSource;
use self::token::Token;
pub use self::token::{Account, Rejection};

/// Why credentials cannot be checked.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AuthError(pub String);

/// The cookie in which browsers send an account token.
const COOKIE: &str = "acct_at";

/// Everything needed to check credentials.
pub struct Credentials {
    key_set: ArcSwap<KeySet>,
    /// `None` without a record on disk.
    pub keys: Option<KnownKeys>,
}

impl Credentials {
    /// Reads the keys of account tokens. Takes the API keys of a record on disk as given.
    ///
    /// # Errors
    /// The key set cannot be read.
    pub fn new(
        source: Option<KeySetSource>,
        development: Option<PathBuf>,
        keys: Option<KnownKeys>,
    ) -> Result<Self, AuthError> {
        if development.as_ref().is_some_and(|path| path.exists()) {
            tracing::warn!("tokens of the development issuer are accepted");
        }
        let key_set = KeySet::new(source, development).map_err(AuthError)?;
        let credentials = Self { key_set: ArcSwap::from_pointee(key_set), keys };
        if let Some(keys) = &credentials.keys {
            match keys.renew() {
                // What is open to all is still served. A caller with a key gets 503 until the
                // record can be read.
                Err(error @ KeysError::Lost { .. }) => tracing::error!("{error}"),
                renewed => renewed.map_err(|error| AuthError(error.to_string()))?,
            }
        }
        Ok(credentials)
    }

    /// Reads the keys of account tokens again, from the source in the new settings. If the address
    /// is the same and cannot be reached, its keys stay.
    ///
    /// # Errors
    /// The key set cannot be read; the old one stays.
    pub fn reload(&self, source: Option<KeySetSource>) -> Result<(), AuthError> {
        let old = self.key_set.load();
        let new = old.renewed(source).map_err(AuthError)?;
        self.key_set.store(Arc::new(new));
        Ok(())
    }

    /// Returns who sends a request. An unknown API key counts as no credential.
    ///
    /// # Errors
    /// The token is invalid.
    pub async fn caller(
        &self,
        headers: &HeaderMap,
        anonymous: &Caller,
    ) -> Result<Caller, Rejection> {
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

/// The credential of a request: the one in the header, or else the account token in the cookie.
/// Credentials in query strings and bodies are ignored.
pub fn credential(headers: &HeaderMap) -> Result<Option<&str>, Rejection> {
    let mut sent = headers.get_all(header::AUTHORIZATION).iter();
    if let Some(first) = sent.next() {
        let text = first.to_str().map_err(|_| Rejection::Malformed)?.trim();
        let (scheme, credential) = text.split_once(' ').unwrap_or((text, ""));
        // A header with another scheme counts as no credential.
        if scheme.eq_ignore_ascii_case("bearer") {
            // With two headers, it is unclear which one is meant.
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

#[cfg(test)]
#[path = "credentials_tests.rs"]
mod tests;
