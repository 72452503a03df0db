//! Account tokens: signed JSON Web Tokens (RFC 7515, 7519), checked as RFC 8725 advises.
//!
//! Only the key set decides which key checks a token. What a token says about keys (`jwk`, `jku`,
//! `x5c`, `x5u`) is never used, and its `alg` must be that of the key.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::Algorithm;
use mesonet::access::Plan;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::key::Key;

/// Length of the longest token.
pub const MAX_TOKEN_BYTES: usize = 8_192;

/// How far the clocks of the issuer and of this server may differ.
pub const LEEWAY_S: f64 = 30.0;

/// Maximum number of organisations of an account.
const MAX_ORGANISATIONS: usize = 256;

/// Why a token is refused, in the order of the tests. Only an expired token is worth a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Reason)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// The token cannot be decoded, or uses something that is not understood.
    Malformed,
    /// The token names no key, or a key that the key set does not have.
    UnknownKid,
    /// The key did not make the signature, or the algorithm is not that of the key.
    BadSignature,
    /// The token has expired.
    Expired,
    /// Another claim is missing or wrong.
    BadClaims,
}

/// What a valid token says of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The plan: free, pro or commercial.
    pub plan: Plan,
    /// The organisations that it belongs to.
    pub organisations: Vec<String>,
    /// Whether it is of the operator's staff.
    pub is_staff: bool,
    /// The name of the account for the log: the claim `sub`.
    pub subject: Option<String>,
}

/// A token that has been read but not checked.
pub struct Token<'a> {
    /// The header and the claims as they were sent. The signature covers them.
    signed: &'a str,
    signature: &'a str,
    /// The key that it names.
    pub kid: Option<String>,
    algorithm: String,
    claims: Map<String, Value>,
}

impl<'a> Token<'a> {
    /// Whether a credential is a token, and not an API key: it has exactly two dots.
    pub fn is_one(credential: &str) -> bool {
        credential.bytes().filter(|&byte| byte == b'.').count() == 2
    }

    /// Reads a token.
    ///
    /// # Errors
    /// It is malformed.
    pub fn read(text: &'a str) -> Result<Self, Rejection> {
        if text.len() > MAX_TOKEN_BYTES {
            return Err(Rejection::Malformed);
        }
        let (signed, signature) = text.rsplit_once('.').ok_or(Rejection::Malformed)?;
        let (header, claims) = signed.split_once('.').ok_or(Rejection::Malformed)?;
        let (header, claims) = (members(header)?, members(claims)?);
        URL_SAFE_NO_PAD.decode(signature).map_err(|_| Rejection::Malformed)?;

        // An extension that must be understood, or a token in a token.
        if ["crit", "b64", "cty", "enc", "zip"].iter().any(|name| header.contains_key(*name)) {
            return Err(Rejection::Malformed);
        }
        let is_of_us = header.get("typ").is_none_or(|of| {
            let known = |of: &str| {
                let of = of.to_ascii_lowercase();
                matches!(of.strip_prefix("application/").unwrap_or(&of), "jwt" | "at+jwt")
            };
            of.as_str().is_some_and(known)
        });
        let Some(Value::String(algorithm)) = header.get("alg") else {
            return Err(Rejection::Malformed);
        };
        let kid = match header.get("kid") {
            None => None,
            Some(Value::String(kid)) => Some(kid.clone()),
            Some(_) => return Err(Rejection::Malformed),
        };
        if !is_of_us {
            return Err(Rejection::Malformed);
        }
        Ok(Self { signed, signature, kid, algorithm: algorithm.clone(), claims })
    }

    /// Checks the token against the key that it names, at a time in seconds since 1970.
    ///
    /// # Errors
    /// The first reason to refuse the token.
    pub fn check(&self, key: &Key, now_s: f64) -> Result<Account, Rejection> {
        if self.algorithm != name(key.algorithm) {
            return Err(Rejection::BadSignature);
        }
        let message = self.signed.as_bytes();
        let verified =
            jsonwebtoken::crypto::verify(self.signature, message, &key.decoding, key.algorithm);
        if !verified.unwrap_or(false) {
            return Err(Rejection::BadSignature);
        }
        let claims = Claims(&self.claims);
        let expires_s = claims.instant("exp")?.ok_or(Rejection::BadClaims);
        if expires_s.is_ok_and(|expires_s| now_s - expires_s > LEEWAY_S) {
            return Err(Rejection::Expired);
        }
        expires_s?;
        claims.instant("iat")?;
        if claims.instant("nbf")?.is_some_and(|from_s| from_s - now_s > LEEWAY_S) {
            return Err(Rejection::BadClaims);
        }
        if claims.text("iss")? != Some(&*key.issuer) || !claims.is_for(&key.audience) {
            return Err(Rejection::BadClaims);
        }
        claims.account()
    }
}

/// The name of an algorithm in a header.
pub const fn name(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::RS256 => "RS256",
        Algorithm::ES256 => "ES256",
        Algorithm::EdDSA => "EdDSA",
        // No key has another one.
        _ => "",
    }
}

struct Claims<'a>(&'a Map<String, Value>);

impl<'a> Claims<'a> {
    /// Reads a claim that may be missing.
    fn claim<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Rejection> {
        self.0.get(name).map(|value| read(value).ok_or(Rejection::BadClaims)).transpose()
    }

    /// An instant in seconds since 1970; may have a fraction (RFC 7519, 2).
    fn instant(&self, name: &str) -> Result<Option<f64>, Rejection> {
        self.claim(name, Value::as_f64)
    }

    fn text(&self, name: &str) -> Result<Option<&'a str>, Rejection> {
        self.claim(name, Value::as_str)
    }

    /// Whether an audience is among those of the token.
    fn is_for(&self, audience: &str) -> bool {
        match self.0.get("aud") {
            Some(Value::String(one)) => one == audience,
            Some(Value::Array(all)) => {
                all.iter().all(Value::is_string) && all.iter().any(|one| one == audience)
            }
            _ => false,
        }
    }

    fn account(&self) -> Result<Account, Rejection> {
        let plan: Plan = self
            .text("plan")?
            .and_then(|plan| plan.parse().ok())
            .filter(|&plan| plan > Plan::None)
            .ok_or(Rejection::BadClaims)?;
        let organisations = self.claim("orgs", |value| {
            let all = value.as_array().filter(|all| all.len() <= MAX_ORGANISATIONS)?;
            all.iter().map(|one| one.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
        })?;
        let organisations = organisations.unwrap_or_default();
        let is_staff = self.claim("staff", Value::as_bool)?.unwrap_or_default();
        let subject = self.text("sub")?.map(str::to_owned);
        Ok(Account { plan, organisations, is_staff, subject })
    }
}

/// Reads a part of a token: a JSON object in base64url. No member may occur twice.
fn members(part: &str) -> Result<Map<String, Value>, Rejection> {
    let json = URL_SAFE_NO_PAD.decode(part).map_err(|_| Rejection::Malformed)?;
    let Members(members) = serde_json::from_slice(&json).map_err(|_| Rejection::Malformed)?;
    Ok(members)
}

/// A JSON object in which all names differ.
struct Members(Map<String, Value>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Different;
        impl<'de> Visitor<'de> for Different {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Map::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    if members.insert(name, value).is_some() {
                        return Err(A::Error::custom("a member stands twice"));
                    }
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Different)
    }
}

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;
