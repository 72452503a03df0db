//! Entity tags. They are made from what an answer is made from, and compared with those of a
//! request.

use axum::http::header::InvalidHeaderValue;
use axum::http::{HeaderMap, HeaderValue, header};
use sha2::{Digest, Sha256};

use super::encoding::Encoding;

/// Returns a digest of parts in this order, as 32 hexadecimal digits. Half of a SHA-256 is plenty
/// to distinguish the answers of one address.
pub fn digest(parts: &[&[u8]]) -> String {
    let digest = parts.iter().fold(Sha256::new(), Sha256::chain_update).finalize();
    let half = digest[..16].iter().fold(0, |tag, &byte| tag << 8 | u128::from(byte));
    format!("{half:032x}")
}

/// Returns the strong tag of a content in an encoding. Each encoding has its own bytes, and
/// therefore its own tag.
///
/// # Errors
/// The content is not text for a header.
pub fn etag(content: &str, encoding: Encoding) -> Result<HeaderValue, InvalidHeaderValue> {
    HeaderValue::try_from(format!("\"{content}-{}\"", encoding.name()))
}

/// Whether `If-None-Match` names the tag, by the weak comparison of RFC 9110.
pub fn has_already(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let lines = headers.get_all(header::IF_NONE_MATCH).iter();
    // The server's tags contain no commas, so a list of tags can be split at commas.
    lines.flat_map(|line| line.as_bytes().split(|&byte| byte == b',')).any(|tag| {
        let tag = tag.trim_ascii();
        tag == b"*" || tag.strip_prefix(b"W/").unwrap_or(tag) == etag.as_bytes()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_of_all_parts_and_a_tag_names_the_encoding() {
        // The first half of the SHA-256 of "abc", FIPS 180-2 appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223";
        assert_eq!(digest(&[b"abc"]), abc);
        assert_eq!(digest(&[b"a", b"", b"bc"]), abc);
        assert_ne!(digest(&[b"a", b"\0", b"bc"]), abc);
        assert_eq!(etag(abc, Encoding::Gzip).unwrap(), format!("\"{abc}-gzip\""));
        assert!(etag("a\n", Encoding::Gzip).is_err());
    }
}
