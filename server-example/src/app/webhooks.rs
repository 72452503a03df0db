//! Sends alerts to webhooks: one task for each, so that none waits for another.

use std::sync::Arc;
use std::time::Duration;

use mesonet_service::webhooks::Webhook;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::state::State;

/// How long a webhook waits after the log of events could not be read.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// Starts the tasks. A server that replays earlier data sends tests only: whoever gets an alert must
/// not take it for one of today.
pub fn deliver(beside: &mut JoinSet<()>, state: &Arc<State>) {
    if !state.clock.is_live() {
        if !state.webhooks.is_empty() {
            tracing::warn!("the server replays earlier data: webhooks get tests, and no alerts");
        }
        return;
    }
    for webhook in &state.webhooks {
        beside.spawn(run(Arc::clone(state), Arc::clone(webhook)));
    }
}

/// Delivers whenever something changes, until the server ends or the receiver wants no more.
async fn run(state: Arc<State>, webhook: Arc<Webhook>) {
    let mut changes = state.live.changes();
    while !state.live.is_closed() {
        changes.borrow_and_update();
        let Some(wait) = webhook.wait() else { return };
        if wait.is_zero() {
            let (own, of) = (Arc::clone(&state), Arc::clone(&webhook));
            let done = tokio::task::spawn_blocking(move || own.deliver(&of)).await;
            let failure = match done {
                Ok(Ok(())) => None,
                Ok(Err(error)) => Some(error.to_string()),
                Err(error) => Some(error.to_string()),
            };
            if let Some(failure) = failure {
                tracing::error!("webhook {}: {failure}", webhook.config().name);
                let _ = timeout(AFTER_FAILURE, changes.changed()).await;
                continue;
            }
        }
        match webhook.wait() {
            None => return,
            // A retry, or the end of the server.
            Some(wait) if !wait.is_zero() => drop(timeout(wait, changes.changed()).await),
            Some(_) => drop(changes.changed().await),
        }
    }
}
