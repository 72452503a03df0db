//! The rate of each client address.

use std::sync::Arc;

use axum::extract::{Request, State as Shared};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::time::{Instant, sleep_until};

use crate::limits::{ClientAddr, Peer, Turn};
use crate::routes::push::is_permitted;
use crate::state::State;

/// Lets a request through, makes it wait for its turn, or refuses it. A request without a
/// connection, as in a test in the same process, is not counted.
pub async fn limit(
    Shared(state): Shared<Arc<State>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(&Peer(peer)) = request.extensions().get() else { return next.run(request).await };
    let client_addr = ClientAddr::of(state.hops.load().client(peer, request.headers()));
    // From here on the request counts for the client address behind the proxies.
    request.extensions_mut().insert(client_addr);
    if is_permitted(&state, &request) {
        return next.run(request).await;
    }
    let turn = state.rate.take(client_addr, Instant::now());
    state.services.metrics.limited(turn);
    match turn {
        Turn::Now => {}
        Turn::At(instant) => sleep_until(instant).await,
        Turn::Refused => return StatusCode::TOO_MANY_REQUESTS.into_response(),
    }
    next.run(request).await
}
