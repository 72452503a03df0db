//! How requests are read and answers are encoded and sent.
//!
//! | What | Where |
//! | --- | --- |
//! | Query parameters and JSON bodies | `extract.rs` |
//! | Content encodings, compressors | `encoding.rs` |
//! | Entity tags | `etag.rs` |
//! | Bodies encoded ahead, small answers | `snapshot.rs` |
//! | Long bodies, piece by piece | `stream.rs` |
//! | The header for readings missing from a damaged record | `damage.rs` |

pub mod damage;
pub mod encoding;
pub mod etag;
pub mod extract;
pub mod snapshot;
pub mod stream;
