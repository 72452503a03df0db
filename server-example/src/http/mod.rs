//! How requests are read and answers are encoded and sent.
//!
//! | What | Where |
//! | --- | --- |
//! | Parameters of addresses | `parameter.rs` |
//! | Names that are almost right | `names.rs` |
//! | Query parameters and JSON bodies | `extract.rs`, `member.rs` |
//! | Paths with letters that are encoded | `path.rs` |
//! | Content encodings, compressors | `encoding.rs` |
//! | Entity tags | `etag.rs` |
//! | Bodies encoded ahead, small answers | `snapshot.rs` |
//! | Long bodies, piece by piece | `stream.rs` |
//! | A body that is received as a whole, and how fast it must arrive | `body.rs` |
//! | The id of a request | `request_id.rs` |
//! | Errors and their answers | `error.rs` |
//! | Work on the cores, and the memory of answers | `work.rs` |
//! | Which pages may call from a browser | `cors.rs` |
//! | The header for readings missing from a damaged record | `damage.rs` |

pub mod body;
pub mod cors;
pub mod damage;
pub mod encoding;
pub mod error;
pub mod etag;
pub mod extract;
pub mod member;
pub mod names;
pub mod parameter;
pub mod path;
pub mod request_id;
pub mod snapshot;
pub mod stream;
pub mod work;

use axum::http::{HeaderName, HeaderValue, header};

/// The current time of a replaying server, on every answer.
pub const REPLAY: HeaderName = HeaderName::from_static("x-mesonet-replay");

/// In the demonstration, the times of the feeds of alerts.
pub const REPLAY_ALERTS: HeaderName = HeaderName::from_static("x-mesonet-replay-alerts");

/// The geography version, on every answer with zones.
pub const GEOGRAPHY: HeaderName = HeaderName::from_static("x-mesonet-geography");

/// The headers of a page of an export.
pub mod bulk_headers {
    use axum::http::HeaderName;

    /// Headers that describe a page.
    pub const HAS_MORE: HeaderName = HeaderName::from_static("x-has-more");
    pub const NEXT_CURSOR: HeaderName = HeaderName::from_static("x-next-cursor");
    pub const SERIES_FOUND: HeaderName = HeaderName::from_static("x-series-found");
    pub const STATION_ID: HeaderName = HeaderName::from_static("x-station-id");
    pub const NAME: HeaderName = HeaderName::from_static("x-name");

    /// All headers that a page of another site must be able to read.
    pub const ALL: [HeaderName; 5] = [HAS_MORE, NEXT_CURSOR, SERIES_FOUND, STATION_ID, NAME];
}

/// Makes browsers trust the media type of a body, on every answer.
pub const NOSNIFF: HeaderName = header::X_CONTENT_TYPE_OPTIONS;
pub const NO_SNIFFING: HeaderValue = HeaderValue::from_static("nosniff");
