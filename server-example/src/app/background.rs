//! Work in the background.

use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::state::State;

/// How long background work waits after a failure, for example a full disk.
const AFTER_FAILURE: Duration = Duration::from_secs(30);

/// Background work may take one part in this many of a core.
const SHARE: u32 = 10;

/// Repeats background work until the server stops. It runs off the threads that serve connections.
/// After each round comes the pause that the round asks for, or a longer one by [`rest`].
pub async fn repeat<T: Send + 'static, E: Display>(
    state: Arc<State>,
    mut own: T,
    rest: fn(Duration) -> Duration,
    work: impl Fn(&State, &mut T) -> Result<Duration, E> + Clone + Send + 'static,
) {
    while !state.services.is_stopping() {
        let (state, work, started) = (Arc::clone(&state), work.clone(), Instant::now());
        let round = tokio::task::spawn_blocking(move || {
            let pause = work(&state, &mut own).unwrap_or_else(|error| {
                tracing::error!("{error}");
                AFTER_FAILURE
            });
            (own, pause)
        });
        let pause;
        (own, pause) = match round.await {
            Ok(done) => done,
            Err(error) => {
                tracing::error!("background work has ended: {error}");
                return;
            }
        };
        tokio::time::sleep(pause.max(rest(started.elapsed()))).await;
    }
}

/// The pause after background work, so that it takes its share of a core.
pub fn rest(took: Duration) -> Duration {
    took * SHARE
}
