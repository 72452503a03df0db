//! A local web server that replays recorded files, and misbehaves on request.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use futures_util::stream::{self, StreamExt};
use mesonet::Iso8601;
use mesonet::time::parse_instant;

/// What the server answers at an address.
#[derive(Clone, Debug)]
pub(super) enum Page {
    /// A file, and when it was changed.
    File(Vec<u8>, i64),
    /// A status with headers and a text.
    Status(u16, Vec<(&'static str, String)>, String),
    /// A file whose connection breaks halfway.
    CutOff(Vec<u8>),
    /// A file that stalls after one byte.
    Stalled,
    /// More bytes than any limit allows.
    Endless,
}

#[derive(Default)]
struct Site {
    pages: BTreeMap<String, Page>,
    asked: Vec<String>,
    /// Whether files have validators.
    has_no_validators: bool,
    headers: Vec<(&'static str, &'static str)>,
    now_ms: i64,
}

/// The server, with the test's clock.
pub(super) struct ReplayServer {
    address: SocketAddr,
    site: Arc<Mutex<Site>>,
    _runtime: tokio::runtime::Runtime,
}

impl ReplayServer {
    pub(super) fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let site: Arc<Mutex<Site>> = Arc::default();
        let app = Router::new().fallback(answer).with_state(Arc::clone(&site));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(axum::serve(listener, app).into_future());
        Self { address, site, _runtime: runtime }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(super) fn put(&self, path: &str, page: Page) {
        self.site.lock().unwrap().pages.insert(path.to_owned(), page);
    }

    /// Serves a recorded file, changed at a time.
    pub(super) fn put_file(&self, path: &str, recorded: &str, changed: &str) {
        let changed_ms = parse_instant(changed).unwrap();
        self.put(path, Page::File(recorded_bytes(recorded), changed_ms));
    }

    pub(super) fn set_now(&self, now_ms: i64) {
        self.site.lock().unwrap().now_ms = now_ms;
    }

    pub(super) fn without_validators(&self) {
        self.site.lock().unwrap().has_no_validators = true;
    }

    /// Sets a header on every file from now on.
    pub(super) fn set_header(&self, name: &'static str, value: &'static str) {
        self.site.lock().unwrap().headers.push((name, value));
    }

    /// Returns the requests since the last call: paths, with the status of the answer.
    pub(super) fn asked(&self) -> Vec<String> {
        let mut asked = std::mem::take(&mut self.site.lock().unwrap().asked);
        asked.sort();
        asked
    }
}

/// Returns a file of `tests/data`, unpacked.
pub(super) fn recorded_bytes(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data").join(name);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if path.extension().is_none_or(|extension| extension != "gz") {
        return bytes;
    }
    let mut unpacked = Vec::new();
    GzDecoder::new(&*bytes).read_to_end(&mut unpacked).unwrap();
    unpacked
}

async fn answer(State(site): State<Arc<Mutex<Site>>>, request: Request) -> Response {
    let mut site = site.lock().unwrap();
    let path = request.uri().path_and_query().unwrap().to_string();
    assert!(request.headers()[header::USER_AGENT].to_str().unwrap().contains('@'));
    let mut response = match site.pages.get(&path) {
        Some(page) => page.answer(request.headers(), &site),
        None => site.listing(&path),
    };
    let date = std::time::UNIX_EPOCH + std::time::Duration::from_millis(site.now_ms as u64);
    let date = httpdate::fmt_http_date(date).parse().unwrap();
    response.headers_mut().insert(header::DATE, date);
    site.asked.push(format!("{} {path}", response.status().as_u16()));
    response
}

impl Page {
    fn answer(&self, asked: &HeaderMap, site: &Site) -> Response {
        match self {
            Self::File(bytes, changed_ms) => {
                let etag = format!("\"{:x}-{changed_ms:x}\"", bytes.len());
                let known = asked.get(header::IF_NONE_MATCH);
                let mut response = if known.is_some_and(|known| known.as_bytes() == etag.as_bytes())
                {
                    StatusCode::NOT_MODIFIED.into_response()
                } else {
                    bytes.clone().into_response()
                };
                if !site.has_no_validators {
                    response.headers_mut().insert(header::ETAG, etag.parse().unwrap());
                }
                for &(name, value) in &site.headers {
                    response.headers_mut().insert(name, value.parse().unwrap());
                }
                response
            }
            Self::Status(status, headers, text) => {
                let mut response = text.clone().into_response();
                *response.status_mut() = StatusCode::from_u16(*status).unwrap();
                for (name, value) in headers {
                    response.headers_mut().insert(*name, value.parse().unwrap());
                }
                response
            }
            Self::CutOff(bytes) => {
                let half = Bytes::copy_from_slice(&bytes[..bytes.len() / 2]);
                let cut = Err(std::io::Error::other("cut off"));
                let body = Body::from_stream(stream::iter([Ok(half), cut]));
                ([(header::CONTENT_LENGTH, bytes.len())], body).into_response()
            }
            Self::Stalled => {
                let byte = stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"<"))]);
                Body::from_stream(byte.chain(stream::pending())).into_response()
            }
            Self::Endless => {
                let piece = Bytes::from(vec![b'x'; 1 << 16]);
                let pieces = stream::repeat_with(move || Ok::<_, std::io::Error>(piece.clone()));
                Body::from_stream(pieces).into_response()
            }
        }
    }
}

impl Site {
    /// Returns the listing of a folder as Apache makes it: the files and folders directly below.
    fn listing(&self, path: &str) -> Response {
        let mut entries: BTreeMap<String, i64> = BTreeMap::new();
        for (below, page) in self.pages.range(path.to_owned()..) {
            let Some(rest) = below.strip_prefix(path).filter(|_| path.ends_with('/')) else {
                break;
            };
            let changed_ms = match page {
                Page::File(_, changed_ms) => *changed_ms,
                _ => 0,
            };
            let name = match rest.split_once('/') {
                // A folder changes when a file is added to it, not to one of its subfolders.
                Some((folder, file)) => {
                    let own_ms = if file.contains('/') { 0 } else { changed_ms };
                    (format!("{folder}/"), own_ms)
                }
                None => (rest.to_owned(), changed_ms),
            };
            let newest_ms = entries.entry(name.0).or_default();
            *newest_ms = name.1.max(*newest_ms);
        }
        if entries.is_empty() {
            return (StatusCode::NOT_FOUND, "no such folder").into_response();
        }
        let mut page =
            String::from("<pre><a href=\"?C=N;O=D\">Name</a> <a href=\"../\">Parent</a>\n");
        for (name, changed_ms) in entries {
            let changed = Iso8601(changed_ms).to_string().replace('T', " ");
            let minute = &changed[..16];
            writeln!(page, "<img alt=\"[ ]\"> <a href=\"{name}\">{name}</a> {minute}  9K").unwrap();
        }
        ([(header::CONTENT_TYPE, "text/html")], page).into_response()
    }
}
