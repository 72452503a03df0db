//! How much is asked of those who connect, and how many of them there may be.

use std::time::Duration;

use tokio::time::Instant;

/// The limits of the door.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once.
    pub connections: usize,
    /// Of these, those of one party.
    pub of_party: usize,
    /// How long a head may take, from its first byte; the first one from the accept.
    pub head: Duration,
    /// How long a connection may rest between requests.
    pub idle: Duration,
    /// How fast a caller must take its answer.
    pub pace: Pace,
}

impl Limits {
    /// The connections that a process may have which may open so many files: some are kept for the
    /// store and for the files that are served.
    pub fn within(self, files: Option<u64>) -> Self {
        const KEPT: u64 = 256;
        let Some(files) = files else { return self };
        let room = files - KEPT.min(files / 2);
        let connections = self.connections.min(usize::try_from(room).unwrap_or(usize::MAX)).max(1);
        Self { connections, of_party: self.of_party.min(connections), ..self }
    }
}

/// The least throughput of someone who sends or takes.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// In bytes per second, on average over [`SPAN`](Self::SPAN).
    pub bytes_per_s: u64,
}

impl Pace {
    /// The time over which the average is taken, so that a short pause does no harm.
    pub const SPAN: Duration = Duration::from_secs(20);

    /// When someone who began then, and has done so many bytes since, is too slow.
    pub fn deadline(self, began: Instant, bytes: u64) -> Instant {
        let earned = Duration::from_millis(bytes.saturating_mul(1_000) / self.bytes_per_s.max(1));
        began + earned.max(Self::SPAN)
    }
}

/// Lets the process open as many files as it is allowed to, and tells how many that are. `None`
/// where the system does not say.
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

/// The same where there is no such limit.
#[cfg(not(unix))]
pub fn raise_file_limit() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_kept_for_the_store() {
        let limits = Limits {
            connections: 4_096,
            of_party: 1_024,
            head: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            pace: Pace { bytes_per_s: 4_096 },
        };
        let within = |files| {
            let limits = limits.within(files);
            (limits.connections, limits.of_party)
        };
        assert_eq!(within(None), (4_096, 1_024));
        assert_eq!(within(Some(1 << 20)), (4_096, 1_024));
        assert_eq!(within(Some(1_024)), (768, 768));
        assert_eq!(within(Some(256)), (128, 128));
        assert_eq!(within(Some(0)), (1, 1));
    }

    #[test]
    fn a_pace_grants_a_span_and_then_what_was_earned() {
        let (pace, began) = (Pace { bytes_per_s: 1_000 }, Instant::now());
        assert_eq!(pace.deadline(began, 0), began + Pace::SPAN);
        assert_eq!(pace.deadline(began, 20_000), began + Pace::SPAN);
        assert_eq!(pace.deadline(began, 60_000), began + Duration::from_secs(60));
    }
}
