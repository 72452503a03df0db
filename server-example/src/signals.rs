//! What the system tells the process.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Listens for signals from when it is made, so that none of them ends a server that is starting.
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
    /// Begins to listen.
    ///
    /// # Errors
    /// The system does not let it.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits until the server is told to stop. A terminal that closes, and whoever means by SIGHUP
    /// that settings are to be read again, do not stop it.
    pub async fn told_to_stop(mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => return,
                _ = self.hang_up.recv() => tracing::warn!(
                    "SIGHUP changes nothing: settings are read at the start, so restart the \
                     server to have them read again"
                ),
            }
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    /// Nothing is to be prepared.
    ///
    /// # Errors
    /// None.
    pub fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits until the server is told to stop.
    pub async fn told_to_stop(self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
