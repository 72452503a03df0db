//! Bytes as hexadecimal digits.

use sha2::{Digest, Sha256};

/// Writes bytes as hexadecimal digits, two for each, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub fn hex_sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Whether a text is as many hexadecimal digits in lower case.
pub fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
