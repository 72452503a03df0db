//! The secret of a webhook, and signatures with it.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;

/// What the text of a secret begins with.
const PREFIX: &str = "whsec_";

/// The lengths of a secret in bytes, as Standard Webhooks recommends.
const BYTES: std::ops::RangeInclusive<usize> = 24..=64;

/// The longest file that is read.
const MAX_FILE_BYTES: u64 = 1 << 10;

/// A file with a secret that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the secret in {}: {cause}", .path.display())]
pub struct SecretError {
    path: PathBuf,
    cause: String,
}

/// A secret that the server shares with the receiver.
pub(super) struct Secret(hmac::Key);

impl Secret {
    /// Reads the secret in a file: one line, `whsec_` and 24 to 64 bytes in base64.
    pub(super) fn read(path: &Path) -> Result<Self, SecretError> {
        let failed = |cause: String| SecretError { path: path.to_owned(), cause };
        let length = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?.len();
        if length > MAX_FILE_BYTES {
            return Err(failed(format!(
                "the file has {length} bytes; allowed are {MAX_FILE_BYTES}"
            )));
        }
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        Self::parse(text.trim_end()).ok_or_else(|| {
            failed(format!(
                "the file must have one line, {PREFIX} and {} to {} random bytes in base64",
                BYTES.start(),
                BYTES.end()
            ))
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let bytes = STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
        BYTES.contains(&bytes.len()).then(|| Self(hmac::Key::new(hmac::HMAC_SHA256, &bytes)))
    }

    /// The value of `webhook-signature` for a delivery.
    pub(super) fn sign(&self, id: &str, at_s: i64, body: &[u8]) -> String {
        let mut context = hmac::Context::with_key(&self.0);
        context.update(format!("{id}.{at_s}.").as_bytes());
        context.update(body);
        format!("v1,{}", STANDARD.encode(context.sign()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification's own test suite.
    #[test]
    fn a_signature_is_that_of_the_standard() {
        let secret = Secret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = br#"{"test": 2432232314}"#;
        let signature = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_is_one_line_of_enough_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Secret::read(&path).map(|_| ()).map_err(|error| error.cause)
        };
        let of = |bytes: usize| format!("whsec_{}", STANDARD.encode(vec![7; bytes]));
        for good in [of(24), of(64) + "\n", of(32) + "\r\n"] {
            assert_eq!(read(&good), Ok(()));
        }
        let allowed = "the file must have one line, whsec_ and 24 to 64 random bytes in base64";
        let twice = format!("{}\n{}\n", of(24), of(24));
        for bad in ["", "secret", "whsec_secret", &of(23), &of(65), &twice, &of(24)[6..]] {
            assert_eq!(read(bad), Err(allowed.to_owned()), "{bad}");
        }
        let long = "the file has 1025 bytes; allowed are 1024";
        assert_eq!(read(&"x".repeat(1025)), Err(long.to_owned()));
        assert!(Secret::read(&folder.path().join("none")).is_err());
    }
}
