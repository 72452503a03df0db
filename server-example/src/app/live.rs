//! Publishes what comes in to those who listen.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::state::{State, StateError};

/// How often alerts, model runs and raster products are looked at, though nobody says that some came:
/// the state of an alert changes with time, and other processes write files.
const LOOK: Duration = Duration::from_secs(1);

/// How long the server waits after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// Starts the tasks that publish what comes in.
pub fn publish(beside: &mut JoinSet<()>, state: &Arc<State>) {
    // A server that reads the record of another one publishes what it has read: see `serve.rs`.
    if state.services.follower().is_none() {
        let came = state.services.changed_stations.new_batches();
        beside.spawn(repeat(Arc::clone(state), came, State::publish_batches));
    }
    let came = Arc::clone(&state.services.items_came);
    beside.spawn(repeat(Arc::clone(state), came, State::publish_items));
}

/// Repeats work whenever something came, and from time to time, until the stream ends.
async fn repeat(state: Arc<State>, came: Arc<Notify>, work: fn(&State) -> Result<(), StateError>) {
    while !state.live.is_closed() {
        let own = Arc::clone(&state);
        let done = tokio::task::spawn_blocking(move || work(&own)).await;
        let failure = match done {
            Ok(Ok(())) => {
                // Unless something came in the meantime.
                let _ = timeout(LOOK, came.notified()).await;
                continue;
            }
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        tracing::error!("the server cannot send events on /live: {failure}");
        tokio::time::sleep(AFTER_FAILURE).await;
    }
}
