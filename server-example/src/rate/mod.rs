//! How many requests an address may send: exactly so many in any span of a length, a few more after a
//! short wait, and 429 beyond.
//!
//! | What | Where |
//! | --- | --- |
//! | Which address a request counts for, behind proxies too | `hops.rs` |
//! | The count of this server | `window.rs` |
//! | The count of several servers together in Redis, behind the feature `redis` | `shared.rs`, `window.lua` |
//! | What stands in its place without the feature | `not_shared.rs` |
//! | Where Redis is | `address.rs` |

mod address;
mod hops;
#[cfg(feature = "redis")]
mod shared;
#[cfg(not(feature = "redis"))]
#[path = "not_shared.rs"]
mod shared;
mod window;

use std::sync::Arc;

use axum::extract::{Request, State as Shared};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::{Instant, sleep_until};

pub use address::{RedisAddress, RedisAddressError};
pub use hops::{Hops, ProxyHeader};
pub use window::{Allowance, Turn, Window};

use crate::config::{Config, ConfigError};
use crate::door::{Party, Peer};
use crate::ingest::is_permitted;
use crate::state::State;

/// The counts of all addresses: of this server, or of several together as long as Redis answers.
pub struct Rate {
    window: Window,
    shared: Option<shared::Shared>,
}

/// How the counting of several servers together goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedHealth {
    /// Whether Redis counts now.
    pub is_up: bool,
    /// Requests that this server has counted alone.
    pub alone: u64,
}

impl Rate {
    /// No request has been counted by this server.
    ///
    /// # Errors
    /// The password of Redis cannot be read.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        let window = Window::new(config.allowance());
        Ok(Self { window, shared: shared::Shared::new(config)? })
    }

    /// Allows another number from now on. What was counted stays.
    pub fn set(&self, allowance: Allowance) {
        self.window.set(allowance);
    }

    /// Counts a request. A refused one does not count.
    pub async fn take(&self, party: Party) -> Turn {
        if let Some(shared) = &self.shared
            && let Some(turn) = shared.take(party, &self.window).await
        {
            return turn;
        }
        self.window.take(party, Instant::now())
    }

    /// Connects to Redis, and again whenever it was away. Ends only if the server counts by itself.
    pub async fn keep_connected(&self) {
        if let Some(shared) = &self.shared {
            shared.keep_connected().await;
        }
    }

    /// How it goes with Redis; `None` if the server counts by itself.
    pub fn shared_health(&self) -> Option<SharedHealth> {
        self.shared.as_ref().map(shared::Shared::health)
    }
}

/// Lets a request through, makes it wait for its turn, or refuses it. A request without a connection,
/// as in a test within the process, is not counted.
pub async fn limit(
    Shared(state): Shared<Arc<State>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(&Peer(peer)) = request.extensions().get() else { return next.run(request).await };
    let party = Party::of(state.hops.load().client(peer, request.headers()));
    // From here on the request counts for the address behind the proxies.
    request.extensions_mut().insert(party);
    if is_permitted(&state, &request) {
        return next.run(request).await;
    }
    let turn = state.rate.take(party).await;
    state.services.metrics.limited(turn);
    match turn {
        Turn::Now => {}
        Turn::At(instant) => sleep_until(instant).await,
        Turn::Refused => return StatusCode::TOO_MANY_REQUESTS.into_response(),
    }
    next.run(request).await
}
