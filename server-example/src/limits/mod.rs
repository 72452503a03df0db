//! How many requests a client address may send, and what each may take of cores and memory.
//!
//! A client address may send a fixed number of requests in any span of a given length. A few more
//! wait for a short time, and all others get 429.
//!
//! | What | Where |
//! | --- | --- |
//! | The client address that a request counts for | `client_addr.rs` |
//! | The same behind proxies | `hops.rs` |
//! | The count of each client address | `window.rs` |
//! | Fair shares of something that is scarce | `shares.rs` |

mod client_addr;
mod hops;
mod shares;
mod window;

pub use client_addr::{ClientAddr, Peer};
pub use hops::{Hops, ProxyHeader};
pub use shares::{Share, Shares};
pub use window::{Allowance, Turn, Window};
