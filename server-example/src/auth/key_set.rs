//! The keys that check account tokens: a JSON Web Key Set (RFC 7517) from a file or an address, and
//! the key of the development issuer.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::key::Key;
use super::{issuer, provider};
use mesonet_service::fetch;

/// Length of the longest key set, and the maximum number of keys in it.
const MAX_BYTES: u64 = 256 << 10;
const MAX_KEYS: usize = 100;

/// Longest name of a key.
const MAX_KID_BYTES: usize = 256;

/// Shortest time between two requests for a key set at an address, whatever keys the tokens name.
const PAUSE: Duration = Duration::from_secs(60);

/// The same for a file.
const PAUSE_OF_FILE: Duration = Duration::from_secs(1);

/// The age at which a key set is read again, so that a key that was removed from it stops working.
const MAX_AGE: Duration = Duration::from_secs(15 * 60);

/// Where a key set comes from, and the issuer whose tokens it checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySetSource {
    /// A file, or an address that begins with `https://` (or `http://` on this machine).
    pub jwks: String,
    /// What `iss` must be.
    pub issuer: String,
    /// What `aud` must hold.
    pub audience: String,
}

/// The keys, renewed as they are needed.
pub struct KeySet {
    source: Option<KeySetSource>,
    /// The file of the development issuer's key, if its tokens are accepted.
    development: Option<PathBuf>,
    keys: ArcSwap<Keys>,
    asked: Mutex<Option<Instant>>,
}

struct Keys {
    by_kid: HashMap<String, Key>,
    read: Instant,
}

impl KeySetSource {
    fn is_address(&self) -> bool {
        self.jwks.starts_with("https://") || self.jwks.starts_with("http://")
    }

    fn read(&self) -> Result<Vec<u8>, String> {
        if self.is_address() {
            return fetch::document(&self.jwks, MAX_BYTES);
        }
        let path = Path::new(&self.jwks);
        let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(format!("{} bytes long; the limit is {MAX_BYTES}", bytes.len()));
        }
        Ok(bytes)
    }
}

impl KeySet {
    /// Reads the keys. If an address cannot be reached, its keys come later.
    ///
    /// # Errors
    /// The file of keys cannot be read or holds no key.
    pub fn new(source: Option<KeySetSource>, development: Option<PathBuf>) -> Result<Self, String> {
        provider::install();
        let set = Self {
            source,
            development,
            keys: ArcSwap::from_pointee(Keys { by_kid: HashMap::new(), read: Instant::now() }),
            asked: Mutex::const_new(None),
        };
        match (set.load(), &set.source) {
            (Ok(keys), _) => set.keys.store(Arc::new(keys)),
            (Err(error), Some(source)) if source.is_address() => {
                tracing::error!("{error}; until it is there, every account token is refused");
            }
            (Err(error), _) => return Err(error),
        }
        Ok(set)
    }

    /// Reads a set again, perhaps from another source.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn renewed(&self, source: Option<KeySetSource>) -> Result<Self, String> {
        let is_same = self.source == source;
        let new = Self::new(source, self.development.clone())?;
        if is_same && new.keys.load().by_kid.is_empty() {
            // An address that cannot be reached now.
            new.keys.store(self.keys.load_full());
        }
        Ok(new)
    }

    /// Returns a key. If the key is unknown, the set is read again; from an address, at most once a
    /// minute.
    pub async fn find(self: &Arc<Self>, kid: &str) -> Option<Key> {
        if kid.len() > MAX_KID_BYTES || self.is_empty() {
            return None;
        }
        let keys = self.keys.load();
        if let Some(key) = keys.by_kid.get(kid) {
            if keys.read.elapsed() > MAX_AGE {
                // The old keys serve until the new ones are there.
                let set = Arc::clone(self);
                tokio::spawn(async move { set.renew(MAX_AGE).await });
            }
            return Some(key.clone());
        }
        let of_file = self.source.as_ref().is_none_or(|source| !source.is_address());
        self.renew(if of_file { PAUSE_OF_FILE } else { PAUSE }).await;
        self.keys.load().by_kid.get(kid).cloned()
    }

    fn is_empty(&self) -> bool {
        self.source.is_none() && self.development.is_none()
    }

    /// Reads the keys again, unless that was tried within a pause.
    async fn renew(self: &Arc<Self>, pause: Duration) {
        let mut asked = self.asked.lock().await;
        if asked.is_some_and(|asked| asked.elapsed() < pause) {
            return;
        }
        *asked = Some(Instant::now());
        let set = Arc::clone(self);
        match tokio::task::spawn_blocking(move || set.load()).await {
            Ok(Ok(keys)) => self.keys.store(Arc::new(keys)),
            Ok(Err(error)) => tracing::warn!("{error}; the known keys stay in use"),
            Err(error) => tracing::error!("the keys of account tokens: {error}"),
        }
    }

    fn load(&self) -> Result<Keys, String> {
        let mut by_kid = HashMap::new();
        if let Some(source) = &self.source {
            let fault = |error: String| format!("the key set {}: {error}", source.jwks);
            by_kid = parse(&source.read().map_err(fault)?, source).map_err(fault)?;
        }
        match self.development.as_deref().map_or(Ok(None), issuer::public_key) {
            Ok(key) => by_kid.extend(key),
            // The key is for development alone, and a new one is quickly made.
            Err(error) => tracing::warn!(
                "tokens of the development issuer are refused: {error}; mesonet-server token makes a new key"
            ),
        }
        Ok(Keys { by_kid, read: Instant::now() })
    }
}

/// A key as it is published. Members that have no effect are not read.
#[derive(Deserialize)]
struct PublishedKey {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    used_for: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
    /// The private part, which does not belong in a published set.
    d: Option<serde::de::IgnoredAny>,
}

/// Reads a key set. Keys that cannot check tokens are left out, with the reason in the log.
fn parse(bytes: &[u8], source: &KeySetSource) -> Result<HashMap<String, Key>, String> {
    #[derive(Deserialize)]
    struct Set {
        keys: Vec<serde_json::Value>,
    }
    let set: Set = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if set.keys.len() > MAX_KEYS {
        return Err(format!("{} keys; the limit is {MAX_KEYS}", set.keys.len()));
    }
    let (issuer, audience) = (Arc::from(&*source.issuer), Arc::from(&*source.audience));
    let (mut by_kid, mut twice) = (HashMap::new(), Vec::new());
    for (number, value) in (1..).zip(set.keys) {
        let read = serde_json::from_value(value).map_err(|error| error.to_string());
        match read.and_then(|published| usable(&published)) {
            Ok((kid, decoding, algorithm)) => {
                let (issuer, audience) = (Arc::clone(&issuer), Arc::clone(&audience));
                let key = Key { decoding, algorithm, issuer, audience };
                if by_kid.insert(kid.clone(), key).is_some() {
                    twice.push(kid);
                }
            }
            Err(reason) => tracing::warn!("key {number} of {}: {reason}", source.jwks),
        }
    }
    for kid in twice {
        tracing::warn!("{}: the name {kid:?} occurs twice; no key of it is used", source.jwks);
        by_kid.remove(&kid);
    }
    if by_kid.is_empty() {
        return Err("it holds no key for RS256, ES256 or EdDSA".to_owned());
    }
    Ok(by_kid)
}

/// Returns a key with its name and its algorithm, or why it cannot be used.
fn usable(key: &PublishedKey) -> Result<(String, DecodingKey, Algorithm), String> {
    let kid = key.kid.clone().filter(|kid| (1..=MAX_KID_BYTES).contains(&kid.len()));
    let kid = kid.ok_or("it has no name (kid), or one that is too long")?;
    if key.d.is_some() {
        return Err("it holds its private part".to_owned());
    }
    let signs = key.used_for.as_ref().is_none_or(|used_for| used_for == "sig")
        && key.key_ops.as_ref().is_none_or(|all| all.iter().any(|one| one == "verify"));
    if !signs {
        return Err("it is not for signatures".to_owned());
    }
    let part = |part: &Option<String>| part.clone().ok_or("a part of it is missing");
    let invalid = |error: jsonwebtoken::errors::Error| error.to_string();
    let length = |text: &str| super::decoded(text).map(|bytes| bytes.len());
    let (decoding, algorithm) = match (&*key.kty, key.crv.as_deref()) {
        ("RSA", None) => {
            let (n, e) = (part(&key.n)?, part(&key.e)?);
            let modulus = super::decoded(&n).ok_or("its modulus does not decode")?;
            let bits = modulus.len() * 8
                - modulus.first().map_or(0, |first| first.leading_zeros() as usize);
            if !(2_048..=8_192).contains(&bits) {
                return Err(format!("its modulus has {bits} bits; allowed are 2048 to 8192"));
            }
            (DecodingKey::from_rsa_components(&n, &e).map_err(invalid)?, Algorithm::RS256)
        }
        ("EC", Some("P-256")) => {
            let (x, y) = (part(&key.x)?, part(&key.y)?);
            if length(&x) != Some(32) || length(&y) != Some(32) {
                return Err("its point must have 32 bytes each way".to_owned());
            }
            (DecodingKey::from_ec_components(&x, &y).map_err(invalid)?, Algorithm::ES256)
        }
        ("OKP", Some("Ed25519")) => {
            let x = part(&key.x)?;
            let point = super::decoded(&x).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
            let point = point.ok_or("its point must have 32 bytes")?;
            if is_of_small_order(point) {
                return Err(format!("{kid:?} has a point of small order: anyone can sign for it"));
            }
            (DecodingKey::from_ed_components(&x).map_err(invalid)?, Algorithm::EdDSA)
        }
        (kty, crv) => {
            let of = crv.map_or_else(String::new, |crv| format!(" {crv}"));
            return Err(format!("keys of {kty}{of} are not used"));
        }
    };
    let own = super::token::name(algorithm);
    if key.alg.as_ref().is_some_and(|alg| alg != own && !(alg == "Ed25519" && own == "EdDSA")) {
        return Err(format!("its algorithm must be {own}"));
    }
    Ok((kid, decoding, algorithm))
}

/// The points of Edwards25519 whose order divides 8: their y and, if there is one, its other
/// encoding. Signatures by such a key fit any message (RFC 8032, 5.1.7; "Taming the Many EdDSAs",
/// 2020, table 1).
const SMALL_ORDER: [[u8; 32]; 7] = {
    const fn of(first: u8, rest: u8, last: u8) -> [u8; 32] {
        let mut bytes = [rest; 32];
        (bytes[0], bytes[31]) = (first, last);
        bytes
    }
    [
        of(0x00, 0x00, 0x00),
        of(0x01, 0x00, 0x00),
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef,
            0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88,
            0x6d, 0x53, 0xfc, 0x05,
        ],
        [
            0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10,
            0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77,
            0x92, 0xac, 0x03, 0x7a,
        ],
        of(0xec, 0xff, 0x7f),
        of(0xed, 0xff, 0x7f),
        of(0xee, 0xff, 0x7f),
    ]
};

/// Whether a point is of small order. The highest bit is the sign of x.
fn is_of_small_order(mut point: [u8; 32]) -> bool {
    point[31] &= 0x7f;
    SMALL_ORDER.contains(&point)
}

#[cfg(test)]
#[path = "key_set_tests.rs"]
mod tests;
