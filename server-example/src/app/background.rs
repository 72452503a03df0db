//! Work in the background.

use std::fmt::Display;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::state::State;

/// How long background work waits after a failure, for example a full disk.
const AFTER_FAILURE: Duration = Duration::from_secs(30);

/// Background work may take one part in this many of a core.
const SHARE: u32 = 10;

/// One round of work. Returns the pause that it asks for.
type Round = Box<dyn FnMut(&State) -> Duration + Send>;

/// Repeats background work until the server stops. It runs off the threads that serve connections.
/// After each round comes the pause that the round asks for, or a longer one by `rest`.
pub fn repeat<T: Send + 'static, E: Display>(
    beside: &mut JoinSet<()>,
    state: &Arc<State>,
    mut own: T,
    rest: fn(Duration) -> Duration,
    work: impl Fn(&State, &mut T) -> Result<Duration, E> + Send + 'static,
) {
    let round: Round = Box::new(move |state| {
        work(state, &mut own).unwrap_or_else(|error| {
            tracing::error!("{error}");
            AFTER_FAILURE
        })
    });
    beside.spawn(repeat_round(Arc::clone(state), round, rest));
}

async fn repeat_round(state: Arc<State>, mut round: Round, rest: fn(Duration) -> Duration) {
    while !state.services.is_stopping() {
        let (state, started) = (Arc::clone(&state), Instant::now());
        let done = tokio::task::spawn_blocking(move || {
            let pause = round(&state);
            (round, pause)
        });
        let pause;
        (round, pause) = match done.await {
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
