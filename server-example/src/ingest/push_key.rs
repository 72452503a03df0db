//! Keys for pushing feed files. The server knows only their hashes.

use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::credentials::hex;

/// The prefix of keys, so that a leaked one is recognized.
const PREFIX: &str = "mesonet_push_";
const KEY_BYTES: usize = 32;

/// SHA-256 of a push key. Keys are random, so a plain hash reveals nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHash(String);

impl KeyHash {
    /// Hashes a key.
    pub fn of(key: &str) -> Self {
        Self(hex(&Sha256::digest(key.as_bytes())))
    }

    /// Returns a new random key and its hash.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn fresh() -> Result<(String, Self), getrandom::Error> {
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes)?;
        let key = format!("{PREFIX}{}", hex(&bytes));
        let hash = Self::of(&key);
        Ok((key, hash))
    }

    /// The hash as in the settings: 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a text is a hash as in the settings.
    pub fn is_hash(text: &str) -> bool {
        text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// Whether the hash is among those of the settings, compared in constant time.
    pub fn is_among(&self, hashes: &[String]) -> bool {
        let equal = |hash: &String| self.0.as_bytes().ct_eq(hash.to_ascii_lowercase().as_bytes());
        hashes.iter().map(equal).fold(Choice::from(0), |any, equal| any | equal).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_its_hash_alone() {
        let (key, hash) = KeyHash::fresh().unwrap();
        let (other, _) = KeyHash::fresh().unwrap();
        assert_ne!(key, other);
        assert!(key.starts_with(PREFIX) && key.len() == PREFIX.len() + 64);
        assert!(KeyHash::is_hash(hash.as_str()));
        let hashes = [KeyHash::of("x").as_str().to_owned(), hash.as_str().to_uppercase()];
        assert!(KeyHash::of(&key).is_among(&hashes));
        assert!(!KeyHash::of(&other).is_among(&hashes));
        assert!(!KeyHash::of(&key).is_among(&[]));
    }

    #[test]
    fn the_hash_is_sha_256() {
        // NIST, FIPS 180-4, the example of one block.
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(KeyHash::of("abc").as_str(), hash);
        assert!(!KeyHash::is_hash("abc") && !KeyHash::is_hash(&hash.replace('b', "g")));
    }
}
