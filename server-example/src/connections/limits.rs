//! Limits on connections: their number, and their slowest pace.

use std::time::Duration;

use crate::http::body::Pace;

/// The limits on connections.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Number of connections.
    pub connections: usize,
    /// Maximum number of connections of one client address.
    pub of_client: usize,
    /// How long a head may take from its first byte. For the first head, from the accept.
    pub head: Duration,
    /// How long a connection may be idle between requests.
    pub idle: Duration,
    /// How fast a caller must read its answer.
    pub pace: Pace,
}

impl ConnectionLimits {
    /// Lowers the limits to what a process that may open `files` files can serve: some files are
    /// kept for the store and for the files that are served.
    pub fn within(self, files: Option<u64>) -> Self {
        const KEPT: u64 = 256;
        let Some(files) = files else { return self };
        let room = files - KEPT.min(files / 2);
        let connections = self.connections.min(usize::try_from(room).unwrap_or(usize::MAX)).max(1);
        Self { connections, of_client: self.of_client.min(connections), ..self }
    }
}

/// Raises the process's limit of open files as far as allowed, and returns it. `None` if the system
/// does not give it.
#[cfg(unix)]
pub fn raise_file_limit() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: maximum, maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        Err(_) => current,
    }
}

/// The same on systems without such a limit.
#[cfg(not(unix))]
pub fn raise_file_limit() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_kept_for_the_store() {
        let limits = ConnectionLimits {
            connections: 4_096,
            of_client: 1_024,
            head: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            pace: Pace { bytes_per_s: 4_096 },
        };
        let within = |files| {
            let limits = limits.within(files);
            (limits.connections, limits.of_client)
        };
        assert_eq!(within(None), (4_096, 1_024));
        assert_eq!(within(Some(1 << 20)), (4_096, 1_024));
        assert_eq!(within(Some(1_024)), (768, 768));
        assert_eq!(within(Some(256)), (128, 128));
        assert_eq!(within(Some(0)), (1, 1));
    }
}
