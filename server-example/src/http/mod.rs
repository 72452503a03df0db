//! How requests are read and answers are encoded and sent.
//!
//! | What | Where |
//! | --- | --- |
//! | The addresses and their parameters | `endpoint.rs`, `parameter.rs` |
//! | Names that are almost right | `names.rs` |
//! | Query parameters and JSON bodies | `extract.rs`, `member.rs` |
//! | Paths with letters that are encoded | `path.rs` |
//! | Content encodings, compressors | `encoding.rs` |
//! | Entity tags | `etag.rs` |
//! | Bodies encoded ahead, small answers | `snapshot.rs` |
//! | Long bodies, piece by piece | `stream.rs` |
//! | Requests in the log, and their ids | `request_line.rs` |
//! | Which pages may call from a browser | `cors.rs` |
//! | The header for readings missing from a damaged record | `damage.rs` |

pub mod cors;
pub mod damage;
pub mod encoding;
pub mod endpoint;
pub mod etag;
pub mod extract;
pub mod member;
pub mod names;
pub mod parameter;
pub mod path;
pub mod request_line;
pub mod snapshot;
pub mod stream;
