//! Keeps the API keys of a running server up to date with what other processes issue and revoke.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::background::repeat;
use crate::state::State;
use mesonet_service::keys::LOOK;

/// Starts the task that keeps the keys of a server up to date. A failure is logged once.
pub fn keep_keys(beside: &mut JoinSet<()>, state: &Arc<State>) {
    // With a record in ClickHouse the task only waits, which takes no core.
    repeat(
        beside,
        state,
        None::<String>,
        |_| Duration::ZERO,
        |state, trouble| {
            let Some(keys) = &state.credentials.keys else { return Ok::<_, Infallible>(LOOK) };
            match keys.renew() {
                Ok(()) => {
                    if trouble.take().is_some() {
                        tracing::info!("the API keys are up to date again");
                    }
                }
                Err(error) => {
                    let text = error.to_string();
                    if trouble.as_ref() != Some(&text) {
                        tracing::error!(
                            "the known API keys stay valid, even those that were revoked since: {text}"
                        );
                    }
                    *trouble = Some(text);
                }
            }
            Ok(LOOK)
        },
    );
}
