//! A key that checks account tokens.

use std::sync::Arc;

use jsonwebtoken::{Algorithm, DecodingKey};

/// A key, and the issuer whose tokens it checks.
#[derive(Clone)]
pub struct Key {
    /// The key.
    pub decoding: DecodingKey,
    /// Its only algorithm.
    pub algorithm: Algorithm,
    /// What `iss` must be.
    pub issuer: Arc<str>,
    /// What `aud` must hold.
    pub audience: Arc<str>,
}
