//! API keys: random texts that stand for the commercial plan. Only their hashes are kept.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::hex::{hex, hex_sha256, is_hex};

/// The prefix of keys, so that a leaked one is recognized.
const PREFIX: &str = "mesonet_key_";
const RANDOM_BYTES: usize = 32;

/// Length of the check digits at the end.
const CHECK_DIGITS: usize = 8;

/// Length of the name by which a key is shown.
const ID_DIGITS: usize = 12;

/// SHA-256 of a key. Keys are random, so a plain hash reveals nothing, and a slow one would only let
/// strangers keep the cores busy.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyDigest(pub [u8; 32]);

impl KeyDigest {
    /// Hashes a credential if it has the form of a key: the prefix and right check digits. Anything
    /// else is not a key, and is not looked up in the record of keys.
    pub fn of(credential: &str) -> Option<Self> {
        let digits = credential.strip_prefix(PREFIX)?;
        let (random, check) = digits.split_at_checked(RANDOM_BYTES * 2)?;
        let is_key = is_hex(random, RANDOM_BYTES * 2) && check == check_digits(random);
        is_key.then(|| Self::hash(credential))
    }

    /// Returns a new random key and its hash.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn fresh() -> Result<(String, Self), getrandom::Error> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes)?;
        let random = hex(&bytes);
        let key = format!("{PREFIX}{random}{}", check_digits(&random));
        let digest = Self::hash(&key);
        Ok((key, digest))
    }

    /// The name by which the key is listed and revoked.
    pub fn id(&self) -> String {
        let mut id = self.digits();
        id.truncate(ID_DIGITS);
        id
    }

    /// The hash in hexadecimal digits.
    pub fn digits(&self) -> String {
        hex(&self.0)
    }

    /// Reads a hash from its digits, in lower case; `None` if it is something else.
    #[cfg(any(test, feature = "clickhouse"))]
    pub fn of_digits(digits: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(digits.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        let digest = Self(bytes);
        (digest.digits() == digits).then_some(digest)
    }

    fn hash(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }
}

impl fmt::Debug for KeyDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyDigest({})", self.id())
    }
}

/// The check digits distinguish a miscopied key from an unknown one.
fn check_digits(random: &str) -> String {
    hex_sha256(random.as_bytes())[..CHECK_DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_by_its_form_and_a_bad_copy_is_not() {
        let (key, digest) = KeyDigest::fresh().unwrap();
        let (other, _) = KeyDigest::fresh().unwrap();
        assert_ne!(key, other);
        assert_eq!(KeyDigest::of(&key), Some(digest));
        assert_ne!(KeyDigest::of(&other), Some(digest));
        assert_eq!(key.len(), PREFIX.len() + 72);
        let swapped: String = {
            let mut bytes: Vec<char> = key.chars().collect();
            let at = (20..60).find(|&at| bytes[at] != bytes[at + 1]).unwrap();
            bytes.swap(at, at + 1);
            bytes.into_iter().collect()
        };
        for bad in [&swapped, &key.to_uppercase(), &key[..key.len() - 1], "", "mesonet_key_", "é"]
        {
            assert_eq!(KeyDigest::of(bad), None, "{bad}");
        }
    }

    #[test]
    fn no_output_shows_more_than_the_id() {
        let digest = KeyDigest([0xab; 32]);
        assert_eq!(digest.id(), "abababababab");
        assert_eq!(KeyDigest::of_digits(&digest.digits()), Some(digest));
        for bad in ["", "ab", &"AB".repeat(32), &"ab".repeat(33), &"+a".repeat(32)] {
            assert_eq!(KeyDigest::of_digits(bad), None, "{bad}");
        }
        assert_eq!(format!("{digest:?}"), "KeyDigest(abababababab)");
    }
}
