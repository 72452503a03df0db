//! Bodies that many callers request. They are encoded when they change, and compressed at most once,
//! not per request.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use axum::body::{Body, Bytes};
use axum::http::header::InvalidHeaderValue;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mesonet::store::StoreError;
use serde::Serialize;

use super::encoding::{AcceptedEncodings, Compressor, Effort, Encoding};
use super::etag::{digest, etag, has_already};
use crate::http::error::ApiError;
use mesonet_service::sync::get_or_try_init;

/// A JSON body with its strong ETags, in each encoding that a caller has asked for.
///
/// It is compressed when a caller first accepts an encoding, and ahead if the body that it replaces
/// was asked for in it. A body that changes often is compressed fast at first, and thoroughly once
/// it has stayed the same for a while. The bytes of the two differ, and so do their tags. A caller
/// who has either one has the content.
#[derive(Clone, Debug)]
pub struct Snapshot {
    content: Arc<Content>,
}

#[derive(Debug)]
struct Content {
    cache_control: &'static str,
    effort: Effort,
    identity: Bytes,
    /// For each of [`Encoding::ALL`], the tags of the fast and of the thorough compression.
    etags: [[HeaderValue; 2]; 4],
    /// In the order of [`Encoding::ALL`].
    compressed: [OnceLock<Compressed>; 4],
    /// The encodings in which the body was sent.
    asked: [AtomicBool; 4],
}

#[derive(Clone, Debug)]
struct Compressed {
    body: Bytes,
    effort: Effort,
}

/// A body of up to this length is compressed thoroughly while a caller waits, which takes some
/// milliseconds.
const SMALL_BYTES: usize = 256 << 10;

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
    /// A body that replaces another one, if any. It is compressed in the encodings in which that
    /// was sent.
    ///
    /// # Errors
    /// A compressor failed.
    pub fn new(
        body: impl Into<Bytes>,
        cache_control: &'static str,
        effort: Effort,
        replaced: Option<&Self>,
    ) -> io::Result<Self> {
        let identity = body.into();
        let content = digest(&[&identity]);
        let tags = |encoding: Encoding| {
            let thorough = etag(&content, encoding)?;
            let fast = match encoding {
                Encoding::Identity => thorough.clone(),
                _ => etag(&format!("{content}-fast"), encoding)?,
            };
            Ok([fast, thorough])
        };
        let [none, gzip, brotli, zstd] = Encoding::ALL.map(tags);
        let etags = (|| Ok::<_, InvalidHeaderValue>([none?, gzip?, brotli?, zstd?]))();
        Self::with(
            Content {
                cache_control,
                effort,
                identity,
                etags: etags.map_err(io::Error::other)?,
                compressed: Default::default(),
                asked: Default::default(),
            },
            replaced,
        )
    }

    /// A body that is never replaced, of which there is the Brotli already, compressed thoroughly.
    ///
    /// # Errors
    /// It is no Brotli.
    pub fn of_brotli(brotli: &'static [u8], cache_control: &'static str) -> io::Result<Self> {
        let mut body = Vec::new();
        brotli::Decompressor::new(brotli, 4096).read_to_end(&mut body)?;
        let snapshot = Self::new(body, cache_control, Effort::Thorough, None)?;
        let packed = Compressed { body: Bytes::from_static(brotli), effort: Effort::Thorough };
        snapshot.content.compressed[Encoding::Brotli as usize].get_or_init(|| packed);
        Ok(snapshot)
    }

    /// Compresses the body ahead.
    fn with(content: Content, replaced: Option<&Self>) -> io::Result<Self> {
        for encoding in Encoding::ALL {
            if replaced.is_some_and(|replaced| replaced.was_asked(encoding)) {
                content.compress(encoding, content.effort)?;
            }
        }
        Ok(Self { content: Arc::new(content) })
    }

    /// The same body, compressed thoroughly; `None` if it is already, as far as it was asked for.
    ///
    /// # Errors
    /// A compressor failed.
    pub fn thorough(&self) -> io::Result<Option<Self>> {
        let content = &*self.content;
        let is_fast = |encoding: Encoding| {
            let compressed = content.compressed[encoding as usize].get();
            compressed.is_some_and(|compressed| compressed.effort == Effort::Fastest)
        };
        if !Encoding::ALL.into_iter().any(|encoding| self.was_asked(encoding) && is_fast(encoding))
        {
            return Ok(None);
        }
        let thorough = Content {
            cache_control: content.cache_control,
            effort: Effort::Thorough,
            identity: content.identity.clone(),
            etags: content.etags.clone(),
            compressed: Default::default(),
            asked: Encoding::ALL.map(|encoding| self.was_asked(encoding).into()),
        };
        Self::with(thorough, Some(self)).map(Some)
    }

    /// The body without encoding.
    pub fn identity(&self) -> &Bytes {
        &self.content.identity
    }

    fn was_asked(&self, encoding: Encoding) -> bool {
        self.content.asked[encoding as usize].load(Ordering::Relaxed)
    }

    /// Answers a request: 304 if the caller has the body already.
    pub fn answer(&self, headers: &HeaderMap) -> Response {
        let content = &*self.content;
        let encoding = AcceptedEncodings::of(headers).smallest();
        let [fast, thorough] = &content.etags[encoding as usize];
        let (mut response, etag) = if has_already(headers, fast) || has_already(headers, thorough) {
            (StatusCode::NOT_MODIFIED.into_response(), content.etag(encoding))
        } else {
            content.answer(encoding)
        };
        let cache_control = HeaderValue::from_static(content.cache_control);
        tag(&mut response, etag.clone(), cache_control);
        response
    }
}

impl Content {
    /// The body in an encoding, and its tag.
    fn answer(&self, encoding: Encoding) -> (Response, &HeaderValue) {
        self.asked[encoding as usize].store(true, Ordering::Relaxed);
        let effort = if self.identity.len() <= SMALL_BYTES { self.effort } else { Effort::Fastest };
        match self.compress(encoding, effort) {
            Ok(compressed) => (json(encoding, compressed.body.clone()), self.etag(encoding)),
            Err(error) => {
                tracing::error!("a body is sent uncompressed: {error}");
                let plain = Encoding::Identity;
                (json(plain, self.identity.clone()), self.etag(plain))
            }
        }
    }

    /// The body in an encoding; compresses it if it was not yet.
    fn compress(&self, encoding: Encoding, effort: Effort) -> io::Result<&Compressed> {
        get_or_try_init(&self.compressed[encoding as usize], || {
            let body = match encoding {
                Encoding::Identity => self.identity.clone(),
                _ => Compressor::encode(encoding, effort, &self.identity)?.into(),
            };
            Ok(Compressed { body, effort })
        })
    }

    /// The tag of the body in an encoding, as it is compressed or will be.
    fn etag(&self, encoding: Encoding) -> &HeaderValue {
        let compressed = self.compressed[encoding as usize].get();
        let effort = compressed.map_or(self.effort, |compressed| compressed.effort);
        &self.etags[encoding as usize][usize::from(effort == Effort::Thorough)]
    }
}

const VARY: HeaderValue = HeaderValue::from_static("accept-encoding");

/// The request headers that an answer for one caller depends on.
const PER_CALLER: HeaderValue = HeaderValue::from_static("accept-encoding, authorization, cookie");

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
pub fn json_tagged(headers: &HeaderMap, body: impl Into<Bytes>) -> Result<Response, ApiError> {
    let body = body.into();
    json_of_content(headers, &digest(&[&body]), body)
}

/// The same for a body whose digest is known.
///
/// # Errors
/// The compressor failed.
pub fn json_of_content(
    headers: &HeaderMap,
    content: &str,
    body: Bytes,
) -> Result<Response, ApiError> {
    let encoding = AcceptedEncodings::of(headers).fastest();
    let etag = etag(content, encoding).map_err(ApiError::internal)?;
    let mut response = if has_already(headers, &etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else if encoding == Encoding::Identity {
        json(encoding, body)
    } else {
        json_bytes(encoding, &body)?
    };
    tag(&mut response, etag, HeaderValue::from_static("no-cache"));
    Ok(response)
}

/// A 200 with a small JSON body, encoded as the caller prefers.
///
/// # Errors
/// The value cannot be serialized or the compressor failed.
pub fn json_value(
    accepted: AcceptedEncodings,
    value: &impl Serialize,
) -> Result<Response, ApiError> {
    let body = serde_json::to_vec(value).map_err(ApiError::internal)?;
    json_bytes(accepted.fastest(), &body)
}

/// A small JSON body that nobody keeps.
///
/// # Errors
/// The value cannot be serialized.
pub fn json_not_stored(status: StatusCode, value: &impl Serialize) -> Result<Response, ApiError> {
    let body = serde_json::to_vec(value).map_err(ApiError::internal)?;
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
    Ok((status, headers, body).into_response())
}

/// Marks an answer as specific to the caller.
pub fn not_stored(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::VARY, PER_CALLER);
    response
}

/// Marks an answer with its tag, or the 304 in place of it.
pub fn tag(response: &mut Response, etag: HeaderValue, cache_control: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ETAG, etag);
    headers.insert(header::VARY, VARY);
    headers.insert(header::CACHE_CONTROL, cache_control);
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
        let snapshot = Snapshot::new("{}", "no-cache", Effort::Thorough, None).unwrap();
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

    const ENCODINGS: [&str; 4] = ["gzip", "br", "zstd", "identity"];

    fn accepting(encoding: &str, tag: Option<&str>) -> HeaderMap {
        let mut headers = request(tag.as_slice());
        headers.append(header::ACCEPT_ENCODING, encoding.parse().unwrap());
        headers
    }

    fn tag(snapshot: &Snapshot, encoding: &str) -> String {
        let answer = snapshot.answer(&accepting(encoding, None));
        answer.headers()[header::ETAG].to_str().unwrap().to_owned()
    }

    #[test]
    fn what_was_compressed_fast_is_compressed_thoroughly_once_and_has_the_content_of_both_tags() {
        let text = "[1,2,3]".repeat(1_000);
        let fast = Snapshot::new(text.clone(), "no-cache", Effort::Fastest, None).unwrap();
        // Nobody has asked for it.
        assert!(fast.thorough().unwrap().is_none());
        let fast_tags = ENCODINGS.map(|encoding| tag(&fast, encoding));
        let thorough = fast.thorough().unwrap().unwrap();
        assert!(thorough.thorough().unwrap().is_none());
        assert_eq!(thorough.identity(), &text);
        for (encoding, fast_tag) in ENCODINGS.iter().zip(fast_tags) {
            let tags = [fast_tag, tag(&thorough, encoding)];
            assert_eq!(tags[0] == tags[1], *encoding == "identity");
            for (snapshot, tag) in
                [&fast, &thorough].into_iter().flat_map(|s| tags.iter().map(move |t| (s, t)))
            {
                let answer = snapshot.answer(&accepting(encoding, Some(tag)));
                assert_eq!(answer.status(), StatusCode::NOT_MODIFIED);
            }
        }
    }

    #[test]
    fn a_body_is_compressed_ahead_only_in_what_the_one_before_was_asked_for() {
        let new = |text: &str, replaced: Option<&Snapshot>| {
            Snapshot::new(text.repeat(1_000), "no-cache", Effort::Fastest, replaced).unwrap()
        };
        let ahead = |snapshot: &Snapshot| {
            Encoding::ALL.map(|one| snapshot.content.compressed[one as usize].get().is_some())
        };
        let first = new("[1]", None);
        assert_eq!(ahead(&first), [false; 4]);
        tag(&first, "gzip");
        // A caller who has it already does not ask for its bytes.
        first.answer(&accepting("br", Some("*")));
        let second = new("[2]", Some(&first));
        assert_eq!(ahead(&second), Encoding::ALL.map(|one| one == Encoding::Gzip));
        // Nobody asked for the second.
        assert_eq!(ahead(&new("[3]", Some(&second))), [false; 4]);
    }

    /// A tag says how the bytes are compressed that come with it.
    #[test]
    fn a_large_body_is_compressed_fast_while_a_caller_waits_and_has_that_tag() {
        let text = "[1,2,3]".repeat(SMALL_BYTES / 7 + 1);
        let large = Snapshot::new(text, "no-cache", Effort::Thorough, None).unwrap();
        let fast = tag(&large, "gzip");
        assert!(fast.contains("-fast"), "{fast}");
        let settled = large.thorough().unwrap().unwrap();
        assert!(!tag(&settled, "gzip").contains("-fast"));
        assert!(settled.thorough().unwrap().is_none());
    }

    #[test]
    fn tags_follow_the_content_and_the_encoding() {
        let tags = |body: &[u8]| {
            let body = Bytes::copy_from_slice(body);
            let snapshot = Snapshot::new(body, "no-cache", Effort::Thorough, None).unwrap();
            Encoding::ALL.map(|encoding| snapshot.content.etag(encoding).clone())
        };
        assert_eq!(tags(b"{}"), tags(b"{}"));
        let mut all = [tags(b"{}"), tags(b"[]")].concat();
        all.sort_unstable_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
        all.dedup();
        assert_eq!(all.len(), 8);
    }
}
