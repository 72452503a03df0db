//! Bodies that many request: encoded and compressed when they change, not per request.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mesonet::store::StoreError;
use serde::Serialize;

use super::encoding::{Accepted, Compressor, Effort, Encoding};
use super::etag::{digest, etag, has_already};
use crate::error::ApiError;

/// A JSON body in every encoding, each with its strong ETag.
#[derive(Clone, Debug)]
pub struct Snapshot {
    cache_control: &'static str,
    /// In the order of [`Encoding::ALL`].
    representations: [Representation; 4],
}

#[derive(Clone, Debug)]
struct Representation {
    body: Bytes,
    etag: HeaderValue,
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
    pub fn new(body: Vec<u8>, cache_control: &'static str) -> io::Result<Self> {
        let body = Bytes::from(body);
        let content = digest(&[&body]);
        let representation = |encoding: Encoding| {
            let body = match encoding {
                Encoding::Identity => body.clone(),
                _ => Compressor::encode(encoding, Effort::Thorough, &body)?.into(),
            };
            let etag = etag(&content, encoding).map_err(io::Error::other)?;
            Ok::<_, io::Error>(Representation { body, etag })
        };
        let [identity, gzip, brotli, zstd] = Encoding::ALL.map(representation);
        Ok(Self { cache_control, representations: [identity?, gzip?, brotli?, zstd?] })
    }

    /// The body without encoding.
    pub fn identity(&self) -> &Bytes {
        &self.representations[Encoding::Identity as usize].body
    }

    /// Answers a request: 304 if the caller has the body already.
    pub fn answer(&self, headers: &HeaderMap) -> Response {
        let encoding = Accepted::of(headers).smallest();
        let Representation { body, etag } = &self.representations[encoding as usize];
        let mut response = if has_already(headers, etag) {
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
        let snapshot = Snapshot::new(b"{}".to_vec(), "no-cache").unwrap();
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
    fn tags_follow_the_content_and_the_encoding() {
        let tags = |body: &[u8]| {
            let snapshot = Snapshot::new(body.to_vec(), "no-cache").unwrap();
            snapshot.representations.map(|representation| representation.etag)
        };
        assert_eq!(tags(b"{}"), tags(b"{}"));
        let mut all = [tags(b"{}"), tags(b"[]")].concat();
        all.sort_unstable_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        all.dedup();
        assert_eq!(all.len(), 8);
    }
}
