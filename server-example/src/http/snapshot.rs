//! Bodies that many callers request. They are encoded and compressed when they change, not per
//! request.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mesonet::store::StoreError;
use serde::Serialize;

use super::encoding::{Accepted, Compressor, Effort, Encoding};
use super::etag::{digest, etag, has_already};
use crate::http::error::ApiError;

/// A JSON body in every encoding, each with its strong ETag.
///
/// A body that changes often is compressed fast at first, and thoroughly once it has stayed the
/// same for a while. The bytes of the two differ, and so do their tags. A caller who has either one
/// has the content.
#[derive(Clone, Debug)]
pub struct Snapshot {
    cache_control: &'static str,
    effort: Effort,
    /// In the order of [`Encoding::ALL`].
    representations: [Representation; 4],
}

#[derive(Clone, Debug)]
struct Representation {
    body: Bytes,
    etag: HeaderValue,
    /// The tag of the same content, compressed with the other effort.
    other_etag: HeaderValue,
}

/// Why the body of a snapshot could not be made.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A compressor failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A value cannot be serialized.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl Snapshot {
    /// Compresses a body in every encoding.
    ///
    /// # Errors
    /// A compressor failed.
    pub fn new(body: Vec<u8>, cache_control: &'static str, effort: Effort) -> io::Result<Self> {
        Self::compress(&Bytes::from(body), cache_control, effort)
    }

    /// The same body, compressed thoroughly; `None` if it is already.
    ///
    /// # Errors
    /// A compressor failed.
    pub fn thorough(&self) -> io::Result<Option<Self>> {
        if self.effort == Effort::Thorough {
            return Ok(None);
        }
        Self::compress(self.identity(), self.cache_control, Effort::Thorough).map(Some)
    }

    fn compress(body: &Bytes, cache_control: &'static str, effort: Effort) -> io::Result<Self> {
        let content = digest(&[body]);
        let representation = |encoding: Encoding| {
            let body = match encoding {
                Encoding::Identity => body.clone(),
                _ => Compressor::encode(encoding, effort, body)?.into(),
            };
            let thorough = etag(&content, encoding).map_err(io::Error::other)?;
            let fast = match encoding {
                Encoding::Identity => thorough.clone(),
                _ => etag(&format!("{content}-fast"), encoding).map_err(io::Error::other)?,
            };
            let (etag, other_etag) = match effort {
                Effort::Thorough => (thorough, fast),
                Effort::Fastest => (fast, thorough),
            };
            Ok::<_, io::Error>(Representation { body, etag, other_etag })
        };
        let [identity, gzip, brotli, zstd] = Encoding::ALL.map(representation);
        Ok(Self { cache_control, effort, representations: [identity?, gzip?, brotli?, zstd?] })
    }

    /// The body without encoding.
    pub fn identity(&self) -> &Bytes {
        &self.representations[Encoding::Identity as usize].body
    }

    /// Answers a request: 304 if the caller has the body already.
    pub fn answer(&self, headers: &HeaderMap) -> Response {
        let encoding = Accepted::of(headers).smallest();
        let Representation { body, etag, other_etag } = &self.representations[encoding as usize];
        let mut response = if has_already(headers, etag) || has_already(headers, other_etag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            json(encoding, body.clone())
        };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, etag.clone());
        headers.insert(header::VARY, VARY);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(self.cache_control));
        response
    }
}

pub const VARY: HeaderValue = HeaderValue::from_static("accept-encoding");

/// The request headers that an answer for one caller depends on.
pub const PER_CALLER: HeaderValue =
    HeaderValue::from_static("accept-encoding, authorization, cookie");

/// A 200 with a JSON body that is already encoded.
pub fn json(encoding: Encoding, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::VARY, VARY);
    if encoding != Encoding::Identity {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
    }
    response
}

/// A 200 with a JSON body that is encoded now.
///
/// # Errors
/// The compressor failed.
pub fn json_bytes(encoding: Encoding, body: &[u8]) -> Result<Response, ApiError> {
    let body = Compressor::encode(encoding, Effort::Fastest, body).map_err(ApiError::internal)?;
    Ok(json(encoding, body))
}

/// A 200 with a JSON body that is encoded now, with its tag, or a 304 to a caller who has it.
///
/// # Errors
/// The compressor failed.
pub fn json_tagged(headers: &HeaderMap, body: &[u8]) -> Result<Response, ApiError> {
    let encoding = Accepted::of(headers).fastest();
    let etag = etag(&digest(&[body]), encoding).map_err(ApiError::internal)?;
    let mut response = if has_already(headers, &etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        json_bytes(encoding, body)?
    };
    let headers = response.headers_mut();
    headers.insert(header::ETAG, etag);
    headers.insert(header::VARY, VARY);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(response)
}

/// A 200 with a small JSON body, encoded as the caller prefers.
///
/// # Errors
/// The value cannot be serialized or the compressor failed.
pub fn json_value(accepted: Accepted, value: &impl Serialize) -> Result<Response, ApiError> {
    let body = serde_json::to_vec(value).map_err(ApiError::internal)?;
    json_bytes(accepted.fastest(), &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(if_none_match: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for line in if_none_match {
            headers.append(header::IF_NONE_MATCH, line.parse().unwrap());
        }
        headers
    }

    #[test]
    fn if_none_match_takes_lists_weak_tags_and_a_star() {
        let snapshot = Snapshot::new(b"{}".to_vec(), "no-cache", Effort::Thorough).unwrap();
        let full = snapshot.answer(&request(&[]));
        assert_eq!(full.status(), StatusCode::OK);
        let tag = full.headers()[header::ETAG].to_str().unwrap();
        for known in [tag, &format!("W/{tag}"), &format!("\"x\" ,{tag}"), "*"] {
            let answer = snapshot.answer(&request(&[known]));
            assert_eq!(answer.status(), StatusCode::NOT_MODIFIED, "{known}");
            assert_eq!(answer.headers()[header::ETAG], tag);
            assert_eq!(answer.headers()[header::VARY], "accept-encoding");
            assert_eq!(answer.headers()[header::CACHE_CONTROL], "no-cache");
            assert!(!answer.headers().contains_key(header::CONTENT_TYPE));
        }
        assert_eq!(snapshot.answer(&request(&["\"x\"", tag])).status(), StatusCode::NOT_MODIFIED);
        for other in ["\"x\"", tag.trim_matches('"'), "", "W/\"\""] {
            assert_eq!(snapshot.answer(&request(&[other])).status(), StatusCode::OK, "{other}");
        }
    }

    #[test]
    fn what_was_compressed_fast_is_compressed_thoroughly_once_and_has_the_content_of_both_tags() {
        let text = "[1,2,3]".repeat(1_000).into_bytes();
        let fast = Snapshot::new(text.clone(), "no-cache", Effort::Fastest).unwrap();
        let thorough = fast.thorough().unwrap().unwrap();
        assert!(thorough.thorough().unwrap().is_none());
        assert_eq!(thorough.identity(), &text);
        let request = |encoding: &str, tag: Option<&str>| {
            let mut headers = request(tag.as_slice());
            headers.append(header::ACCEPT_ENCODING, encoding.parse().unwrap());
            headers
        };
        for encoding in ["gzip", "br", "zstd", "identity"] {
            let tags = [&fast, &thorough].map(|snapshot| {
                let answer = snapshot.answer(&request(encoding, None));
                answer.headers()[header::ETAG].to_str().unwrap().to_owned()
            });
            assert_eq!(tags[0] == tags[1], encoding == "identity");
            for (snapshot, tag) in
                [&fast, &thorough].into_iter().flat_map(|s| tags.iter().map(move |t| (s, t)))
            {
                let answer = snapshot.answer(&request(encoding, Some(tag)));
                assert_eq!(answer.status(), StatusCode::NOT_MODIFIED);
            }
        }
    }

    #[test]
    fn tags_follow_the_content_and_the_encoding() {
        let tags = |body: &[u8]| {
            let snapshot = Snapshot::new(body.to_vec(), "no-cache", Effort::Thorough).unwrap();
            snapshot.representations.map(|representation| representation.etag)
        };
        assert_eq!(tags(b"{}"), tags(b"{}"));
        let mut all = [tags(b"{}"), tags(b"[]")].concat();
        all.sort_unstable_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        all.dedup();
        assert_eq!(all.len(), 8);
    }
}
