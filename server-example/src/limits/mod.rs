//! How many requests an address may send, and what each caller may take of cores and memory.
//!
//! An address may send exactly so many requests in any span of a length, a few more after a short wait, and gets 429
//! beyond.
//!
//! | What | Where |
//! | --- | --- |
//! | The address or network that a request counts for | `client_addr.rs` |
//! | The same behind proxies | `hops.rs` |
//! | The count of each address | `window.rs` |
//! | Fair shares of something that is scarce | `shares.rs` |

mod client_addr;
mod hops;
mod shares;
mod window;

pub use client_addr::{ClientAddr, Peer};
pub use hops::{Hops, ProxyHeader};
pub use shares::{Share, Shares};
pub use window::{Allowance, Turn, Window};
