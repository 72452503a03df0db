//! How many requests an address may send: exactly so many in any span of a length, a few more after a
//! short wait, and 429 beyond.
//!
//! | What | Where |
//! | --- | --- |
//! | Which address a request counts for, behind proxies too | `hops.rs` |
//! | The count of each address | `window.rs` |

mod hops;
mod window;

use std::sync::Arc;

use axum::extract::{Request, State as Shared};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::{Instant, sleep_until};

pub use hops::{Hops, ProxyHeader};
pub use window::{Allowance, Turn, Window};

use crate::door::{Party, Peer};
use crate::ingest::is_permitted;
use crate::state::State;

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
    let turn = state.rate.take(party, Instant::now());
    state.services.metrics.limited(turn);
    match turn {
        Turn::Now => {}
        Turn::At(instant) => sleep_until(instant).await,
        Turn::Refused => return StatusCode::TOO_MANY_REQUESTS.into_response(),
    }
    next.run(request).await
}
