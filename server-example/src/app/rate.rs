//! The rate of each client address.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tokio::time::{Instant, sleep_until};

use crate::limits::{ClientAddr, Peer, Turn};
use crate::routes::push::is_permitted;
use crate::state::State;

/// Makes a request wait for its turn, or refuses it. A request without a connection, as in a test in
/// the same process, is not counted.
pub async fn limit(state: &State, request: &mut Request) -> Option<Response> {
    let Peer(peer) = request.extensions_mut().remove()?;
    let client_addr = ClientAddr::of(state.hops.load().client(peer, request.headers()));
    // From here on the request counts for the client address behind the proxies.
    request.extensions_mut().insert(client_addr);
    if is_permitted(state, request) {
        return None;
    }
    let turn = state.rate.take(client_addr, Instant::now());
    state.services.metrics.limited(turn);
    match turn {
        Turn::Now => None,
        Turn::At(instant) => {
            sleep_until(instant).await;
            None
        }
        Turn::Refused => Some(StatusCode::TOO_MANY_REQUESTS.into_response()),
    }
}
