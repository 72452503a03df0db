//! The explorer: the page at `/` for browsers, built from `server-example/web` and kept in the binary.

use std::sync::{Arc, OnceLock};

use axum::extract::{Path, State as Shared};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use axum::routing::get;

use crate::http::encoding::{preferences, weight};
use crate::http::error::ApiError;
use crate::http::parameter::{Form, Parameter};
use crate::http::snapshot::Snapshot;
use crate::openapi::{About, Credentials, Tag};
use crate::routes::Endpoint;
use crate::state::State;
use mesonet_service::sync::get_or_try_init;

/// Name of each file and its content in Brotli, written by the build of the page; `index.html` is
/// the first.
const FILES: &[(&str, &[u8])] = include!("../../web/dist/files.rs");

/// The page may load and call only what is of this origin. The library is WebAssembly. Workers and
/// pictures are made from what was loaded. Whose pages may frame it comes last.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
     img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; manifest-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors ";

/// For files whose names are made from their content.
const FOR_GOOD: &str = "public, max-age=31536000, immutable";

/// For the page and the library, whose names stay the same.
const ASKED_AGAIN: &str = "no-cache";

/// The files that can be requested by name.
const LIBRARY: &str = "mesonet.wasm";

/// Whether a file belongs to the library. Its bytes depend on the compiler, so its name is not made
/// from them.
fn is_library(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, ending)| ending == "wasm")
}

/// What robots may read.
const ROBOTS: &str = "robots.txt";

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/robots.txt", || get(robots)).about(|| {
        About::new("getRobots", Tag::Server, "What robots may read")
            .credentials(Credentials::Any)
            .plain("text/plain", "The rules.")
            .cached("`no-cache`")
            .tagged()
    }),
    Endpoint::get("/explorer/{file}", || get(file)).about(|| {
        let name = Parameter::new("file", Form::Text(100), "Name of the file.");
        About::new("getPageFile", Tag::Server, "A file of the page at /")
            .credentials(Credentials::Any)
            .path(&[name.example(LIBRARY)])
            .bytes("application/wasm", "The library.")
            .plain("text/javascript", "A program.")
            .plain("text/css", "A style sheet.")
            .bytes("application/octet-stream", "Outlines of countries and states; towns.")
            .bytes("image/png", "An icon.")
            .plain("image/svg+xml", "The icon.")
            .plain("application/manifest+json", "What makes the page an application.")
            .cached("For good where the name is made from the content, else `no-cache`.")
            .tagged()
    }),
];

async fn robots(
    Shared(state): Shared<Arc<State>>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    file(Shared(state), Path(ROBOTS.to_owned()), headers).await
}

/// Whether a caller would rather have a page than JSON: browsers name `text/html`, programs do not.
pub fn is_preferred(headers: &HeaderMap) -> bool {
    let weight_of = |wanted: &str| {
        let mut named = preferences(headers, header::ACCEPT).filter(|(name, _)| name == wanted);
        let (_, parameters) = named.next()?;
        let parameters = parameters.into_iter().flat_map(|all| all.split(';'));
        Some(parameters.filter_map(weight).next_back().unwrap_or(1.0))
    };
    let html = weight_of("text/html").unwrap_or_default();
    html > 0.0 && html >= weight_of("application/json").unwrap_or_default()
}

/// The page, which pages of these sites may show in a frame.
pub fn page(headers: &HeaderMap, sites: &[String]) -> Result<Response, ApiError> {
    let mut response = file_at(0, headers)?;
    let sites = if sites.is_empty() { "'none'".to_owned() } else { sites.join(" ") };
    let policy = HeaderValue::try_from(format!("{POLICY}{sites}")).map_err(ApiError::internal)?;
    let of_page = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ];
    response.headers_mut().extend(of_page);
    Ok(response)
}

async fn file(
    Shared(state): Shared<Arc<State>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let answer = move |_: &State| {
        let place = FILES.iter().skip(1).position(|(known, _)| *known == name);
        let place = place.ok_or_else(|| ApiError::NotFound(format!("unknown file \"{name}\"")))?;
        file_at(place + 1, &headers)
    };
    state.look_up(answer).await?
}

fn file_at(place: usize, headers: &HeaderMap) -> Result<Response, ApiError> {
    let (name, brotli) = FILES[place];
    let mut response = unpacked(place, brotli)?.answer(headers);
    let headers = response.headers_mut();
    if headers.contains_key(header::CONTENT_TYPE) {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type(name)));
    }
    Ok(response)
}

/// Returns a file, which is unpacked when it is first requested: for its tag, and for those who
/// accept no Brotli.
fn unpacked(place: usize, brotli: &'static [u8]) -> Result<&'static Snapshot, ApiError> {
    static UNPACKED: [OnceLock<Snapshot>; FILES.len()] = [const { OnceLock::new() }; FILES.len()];
    get_or_try_init(&UNPACKED[place], || {
        let name = FILES[place].0;
        let keeps_its_name = place == 0 || name == ROBOTS || is_library(name);
        let caching = if keeps_its_name { ASKED_AGAIN } else { FOR_GOOD };
        Snapshot::of_brotli(brotli, caching).map_err(ApiError::internal)
    })
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("webmanifest") => "application/manifest+json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_get_the_page_and_programs_json() {
        let is_page = |accept: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            is_preferred(&headers)
        };
        assert!(is_page("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
        assert!(is_page("application/json;q=0.5, TEXT/HTML"));
        for other in
            ["*/*", "application/json", "text/html;q=0.1,application/json", "text/html;q=0"]
        {
            assert!(!is_page(other), "{other}");
        }
        assert!(!is_preferred(&HeaderMap::new()));
    }

    #[test]
    fn the_page_is_the_first_file_and_the_library_is_among_the_others() {
        assert_eq!(FILES[0].0, "index.html");
        assert!(FILES.iter().any(|(name, _)| *name == LIBRARY));
    }
}
