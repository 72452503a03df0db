//! How a server stops: it reloads until a signal asks it to stop, and then gives proxies time to notice.

use std::sync::Arc;
use std::time::Duration;

use crate::app::reload::reload;
use crate::app::signals::{SignalAction, Signals};
use crate::config::Flags;
use crate::connections::Certificate;
use crate::state::State;

/// How long answers in flight may take once the server stops.
pub const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// Reloads at SIGHUP, until another signal says to stop and the time that proxies have to notice is over.
pub async fn wait_for_shutdown(
    mut signals: Signals,
    state: Arc<State>,
    flags: Flags,
    certificate: Option<Arc<Certificate>>,
) {
    while signals.next().await == SignalAction::Reload {
        let (state, flags) = (Arc::clone(&state), flags.clone());
        let certificate = certificate.clone();
        let reloaded = move || reload(&state, &flags, certificate.as_deref());
        if let Err(error) = tokio::task::spawn_blocking(reloaded).await {
            tracing::error!("the reload has ended: {error}");
        }
    }
    state.services.begin_shutdown();
    let leave_s = state.config().leave_s;
    if leave_s > 0 {
        tracing::info!("shutting down: the server stops in {leave_s} s");
        let again = async { while signals.next().await == SignalAction::Reload {} };
        // A second signal ends the wait.
        let _ = tokio::time::timeout(Duration::from_secs(leave_s), again).await;
    }
    tracing::info!("stopping");
    // A stream has no end of its own.
    state.live.close();
    // Files that are being taken in may end by themselves first.
    tokio::spawn(async move {
        tokio::time::sleep(SHUTDOWN_GRACE / 2).await;
        state.services.stop();
    });
}
