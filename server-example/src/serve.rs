//! The server as a process: fills its store from the sample, listens, replays, stops.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mesonet::{Intake, Iso8601, MemoryStore, Plan, StoreError};
use tokio::net::TcpListener;

use crate::clock::Clock;
use crate::config::{Config, ConfigError, ReplayStart};
use crate::replay::Timeline;
use crate::sample::{Sample, SampleError, sample};
use crate::state::{SnapshotError, State};

/// How often the server looks whether the clock has passed a report.
const TICK: Duration = Duration::from_secs(1);

/// Share of one core that making bodies ahead may take: one part in so many.
const SHARE: u32 = 10;

/// How long answers that are under way may take once the server was told to stop.
const FAREWELL: Duration = Duration::from_secs(10);

/// A server that could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// A setting makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The sample is damaged.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// The sample holds no report.
    #[error("the sample holds no report")]
    Empty,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A body that is encoded ahead could not be made.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The address is taken, for example.
    #[error("cannot listen on {listen}: {error}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// What the system says.
        error: io::Error,
    },
    /// The server cannot go on.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Serves the sample until the process is told to stop (SIGTERM, ctrl-c).
///
/// # Errors
/// The server cannot start; nothing that a request does ends it.
pub async fn serve(config: Config) -> Result<(), ServeError> {
    let listen = config.listen;
    // First, so that a taken address is said at once.
    let listener =
        TcpListener::bind(listen).await.map_err(|error| ServeError::Listen { listen, error })?;

    let Sample { batch, placeless, summary } = sample()?;
    let mut timeline = Timeline::new(batch);
    let newest_ms = timeline.newest_ms().ok_or(ServeError::Empty)?;
    let clock = Clock::started_at(match config.now {
        ReplayStart::Sample => newest_ms,
        ReplayStart::At(start_ms) => start_ms,
    });
    let store = Arc::new(MemoryStore::default());
    let past = timeline.pass(clock.now_ms());
    let (reports, stations) = (past.reports.len(), past.stations.len());
    let intake = Intake::new(config.checker()?);
    intake.take_in(&*store, past)?;
    tracing::info!(
        "replays data of {}: not live; {} reports of {} stations are read, {} wait for the clock, \
         {placeless} are of stations without a place, {} could not be read",
        date(clock.now_ms()),
        reports,
        stations,
        timeline.waiting(),
        summary.refused,
    );
    if config.assume_plan > Plan::None {
        tracing::warn!("assumes plan {} for every caller: for development", config.assume_plan);
    }

    let state = State::new(config, clock, store, intake)?;
    let app = crate::app(Arc::clone(&state));
    tracing::info!("listens on http://{}", listener.local_addr()?);
    let replay = tokio::spawn(replay(state, timeline));
    let (stop, stopped) = tokio::sync::watch::channel(());
    let server = axum::serve(listener, app).with_graceful_shutdown(async move {
        told_to_stop().await;
        tracing::info!("stops");
        drop(stop);
    });
    let overtime = async move {
        let mut stopped = stopped;
        // An error is the end of the sender: the server was told to stop.
        while stopped.changed().await.is_ok() {}
        tokio::time::sleep(FAREWELL).await;
    };
    tokio::select! {
        done = server.into_future() => done?,
        () = overtime => tracing::warn!("answers under way were broken off"),
    }
    replay.abort();
    Ok(())
}

/// The day of an instant, for people.
fn date(ts_ms: i64) -> String {
    Iso8601(ts_ms).to_string().split('T').next().unwrap_or_default().to_owned()
}

/// Feeds the store as the clock passes the recorded reports, and makes the bodies that changed.
async fn replay(state: Arc<State>, mut timeline: Timeline) {
    loop {
        let state = Arc::clone(&state);
        let started = Instant::now();
        let tick = tokio::task::spawn_blocking(move || {
            if let Err(error) = advance(&state, &mut timeline) {
                tracing::error!("{error}");
            }
            timeline
        });
        timeline = match tick.await {
            Ok(timeline) => timeline,
            Err(error) => {
                tracing::error!("the replay has ended: {error}");
                return;
            }
        };
        tokio::time::sleep(TICK.max(started.elapsed() * SHARE)).await;
    }
}

fn advance(state: &State, timeline: &mut Timeline) -> Result<(), ServeError> {
    let batch = timeline.pass(state.now_ms());
    if !batch.reports.is_empty() {
        let reports = batch.reports.len();
        state.intake().take_in(state.store(), batch)?;
        tracing::debug!("{reports} reports came in, {} wait", timeline.waiting());
    }
    Ok(state.refresh()?)
}

async fn told_to_stop() {
    let ctrl_c = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        match signal(SignalKind::terminate()) {
            Ok(mut terminate) => tokio::select! {
                _ = terminate.recv() => {}
                _ = ctrl_c => {}
            },
            Err(error) => {
                tracing::warn!("cannot be told by SIGTERM to stop: {error}");
                let _ = ctrl_c.await;
            }
        }
    }
    #[cfg(not(unix))]
    let _ = ctrl_c.await;
}
