//! Sends alerts to webhooks: one thread for each, so that a receiver that hangs keeps neither another
//! webhook nor a request waiting.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mesonet_service::webhooks::Webhook;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::state::State;

/// How long a webhook waits after the log of events could not be read.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// Starts the threads, which end with the stream of events. A server that replays earlier data sends
/// tests only, because receivers would take its alerts for those of today.
///
/// # Errors
/// A thread cannot be started.
pub fn deliver(state: &Arc<State>) -> io::Result<()> {
    if !state.clock.is_live() {
        if !state.webhooks.is_empty() {
            tracing::warn!("the server replays earlier data: webhooks get tests, and no alerts");
        }
        return Ok(());
    }
    for webhook in &state.webhooks {
        let (state, webhook, runtime) = (Arc::clone(state), Arc::clone(webhook), Handle::current());
        thread::Builder::new()
            .name("webhook".to_owned())
            .spawn(move || run(&state, &webhook, &runtime))?;
    }
    Ok(())
}

/// Delivers whenever something changes, until the server ends or the receiver wants no more.
fn run(state: &State, webhook: &Webhook, runtime: &Handle) {
    let mut changes = state.live.changes();
    while !state.live.is_closed() {
        changes.borrow_and_update();
        let mut pause = None;
        match webhook.wait() {
            None => return,
            Some(wait) if wait.is_zero() => {
                if let Err(error) = state.deliver(webhook) {
                    tracing::error!("webhook {}: {error}", webhook.config().name);
                    pause = Some(AFTER_FAILURE);
                }
            }
            Some(_) => {}
        }
        let Some(wait) = webhook.wait() else { return };
        if state.live.is_closed() {
            return;
        }
        let pause = pause.or((!wait.is_zero()).then_some(wait));
        // Also the end of the server is a change.
        runtime.block_on(async {
            match pause {
                Some(pause) => drop(timeout(pause, changes.changed()).await),
                None => drop(changes.changed().await),
            }
        });
    }
}
