//! Signals from the system.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for signals from its creation on, so that none ends a server that is starting.
pub struct Signals {
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(unix)]
    interrupt: Signal,
    #[cfg(unix)]
    hang_up: Signal,
}

#[cfg(unix)]
impl Signals {
    /// Starts listening.
    ///
    /// # Errors
    /// The system does not allow it.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits until the server is told to stop. SIGHUP, from a closing terminal or to reload
    /// settings, does not stop it.
    pub async fn stop_requested(mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hang_up.recv() => tracing::warn!(
                    "SIGHUP has no effect: settings are read at the start, so restart the server \
                     to reload them"
                ),
            }
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Does nothing.
    ///
    /// # Errors
    /// None.
    pub fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits until the server is told to stop.
    pub async fn stop_requested(self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
