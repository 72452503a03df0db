//! Signals from the system.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a signal says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalAction {
    /// SIGTERM, or SIGINT as by Ctrl-C.
    Stop,
    /// SIGHUP: from the service manager, or from a closing terminal, which does not stop the
    /// server.
    #[cfg_attr(not(unix), allow(dead_code, reason = "there is no such signal"))]
    Reload,
}

/// Listens for signals from its creation on, so that no signal kills a server that is starting.
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

    /// Waits for the next signal.
    pub async fn next(&mut self) -> SignalAction {
        tokio::select! {
            _ = self.terminate.recv() => SignalAction::Stop,
            _ = self.interrupt.recv() => SignalAction::Stop,
            _ = self.hang_up.recv() => SignalAction::Reload,
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

    /// Waits for the next signal.
    pub async fn next(&mut self) -> SignalAction {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        SignalAction::Stop
    }
}
