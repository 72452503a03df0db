//! The development issuer, and its key, which is made on first use.
//!
//! The issuer stands in for an identity provider while a client is being written. The server
//! accepts its tokens on a loopback address only.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header};
use mesonet::access::Plan;
use mesonet::time::parse_window;
use mesonet_service::files::create;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::key::Key;
use super::provider;

/// The issuer and the audience of its tokens.
const ISSUER: &str = "mesonet-development";
const AUDIENCE: &str = "mesonet";

/// The file of its key, in the folder of the record.
pub const FILE: &str = "development-token.key";

/// Longest validity of a token, milliseconds: 30 days.
const MAX_VALIDITY_MS: i64 = 30 * 86_400_000;

/// The account of a development token.
#[derive(Clone, Debug)]
pub struct DevelopmentAccount {
    /// Its plan.
    pub plan: Plan,
    /// The organisations that it belongs to.
    pub organisations: Vec<String>,
    /// Whether it is of the operator's staff.
    pub staff: bool,
    /// How long the token is valid, in days or hours.
    pub expires: String,
}

/// Why no token was made.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The plan is none. A caller without a plan sends no token.
    #[error("plan must be free, pro or commercial; got none")]
    Plan,
    /// The validity is not a span, or too long.
    #[error("expires must be a positive whole number followed by d or h, at most 30d; got \"{0}\"")]
    Expires(String),
    /// The key cannot be made or read.
    #[error("the key of the development issuer: {0}")]
    Key(String),
}

/// The file of the key of the development issuer.
pub fn key_file(data: &Path) -> PathBuf {
    data.join(FILE)
}

/// Makes a token of the development issuer. Its key is in a data folder, and is made on first use.
///
/// # Errors
/// The plan or the span is invalid, or the key cannot be made or read.
pub fn development_token(
    data: &Path,
    account: &DevelopmentAccount,
    now_ms: i64,
) -> Result<String, TokenError> {
    if account.plan == Plan::None {
        return Err(TokenError::Plan);
    }
    let expires = || TokenError::Expires(account.expires.clone());
    let validity_ms = parse_window(&account.expires).map_err(|_| expires())?;
    if validity_ms > MAX_VALIDITY_MS {
        return Err(expires());
    }
    provider::install();
    let fault = |error: io::Error| TokenError::Key(error.to_string());
    fs::create_dir_all(data).map_err(fault)?;
    let path = key_file(data);
    let secret = match fs::read(&path) {
        Ok(secret) if pair(&secret).is_err() => {
            let aside = path.with_extension("key.damaged");
            fs::rename(&path, &aside).map_err(fault)?;
            eprintln!(
                "{} is damaged: a new key is made, and tokens of the old one end; it is kept as {}",
                path.display(),
                aside.display()
            );
            make(&path)?
        }
        Ok(secret) => secret,
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path)?,
        Err(error) => return Err(fault(error)),
    };
    let pair = pair(&secret).map_err(TokenError::Key)?;
    let header = Header { kid: Some(kid(&pair)), ..Header::new(Algorithm::EdDSA) };
    let now_s = now_ms.div_euclid(1000);
    let claims = json!({
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "development",
        "iat": now_s,
        "exp": now_s + validity_ms / 1000,
        "plan": account.plan.name(),
        "orgs": account.organisations,
        "staff": account.staff,
    });
    let key = EncodingKey::from_ed_der(&secret);
    jsonwebtoken::encode(&header, &claims, &key).map_err(|error| TokenError::Key(error.to_string()))
}

/// Makes a key that only the owner of the file can read. If another process was first, its key is
/// returned.
fn make(path: &Path) -> Result<Vec<u8>, TokenError> {
    let fault = |error: io::Error| TokenError::Key(error.to_string());
    let secret = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
        .map_err(|_| TokenError::Key("the system gives no random bytes".to_owned()))?;
    match create(path, secret.as_ref()) {
        Ok(()) => Ok(secret.as_ref().to_vec()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::read(path).map_err(fault),
        Err(error) => Err(fault(error)),
    }
}

fn pair(secret: &[u8]) -> Result<Ed25519KeyPair, String> {
    Ed25519KeyPair::from_pkcs8(secret).map_err(|error| format!("it is damaged ({error})"))
}

/// The name of the key, made from its public part.
fn kid(pair: &Ed25519KeyPair) -> String {
    let digest = Sha256::digest(pair.public_key().as_ref());
    format!("development-{}", URL_SAFE_NO_PAD.encode(&digest[..12]))
}

/// Returns the key that checks the tokens, with its name; `None` if no key has been made.
pub fn public_key(path: &Path) -> Result<Option<(String, Key)>, String> {
    let fault = |error: String| format!("{}: {error}", path.display());
    let secret = match fs::read(path) {
        Ok(secret) => secret,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fault(error.to_string())),
    };
    let pair = pair(&secret).map_err(fault)?;
    let point = URL_SAFE_NO_PAD.encode(pair.public_key().as_ref());
    let decoding =
        DecodingKey::from_ed_components(&point).map_err(|error| fault(error.to_string()))?;
    let key = Key {
        decoding,
        algorithm: Algorithm::EdDSA,
        issuer: Arc::from(ISSUER),
        audience: Arc::from(AUDIENCE),
    };
    Ok(Some((kid(&pair), key)))
}

#[cfg(test)]
#[path = "issuer_tests.rs"]
mod tests;
