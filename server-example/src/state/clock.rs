//! The clock of a server: real time, or the time of a replay of recorded data.

use std::time::Instant;

use mesonet::alert;
use mesonet_service::clock::system_ms;

use crate::state::alert_clocks::{AlertClocks, FeedClockLead};

/// The server's clock. While recorded data is replayed, "now" is a time in that data: it starts at
/// a given instant and advances with real time.
#[derive(Clone, Debug)]
pub struct Clock {
    kind: ClockKind,
    /// In the demonstration, alerts are replayed at clocks of their own.
    ahead: Option<FeedClockLead>,
}

#[derive(Clone, Debug)]
enum ClockKind {
    Live,
    Started { start_ms: i64, at: Instant },
    Stopped { now_ms: i64 },
}

impl Clock {
    /// A clock that shows real time.
    pub const fn live() -> Self {
        Self { kind: ClockKind::Live, ahead: None }
    }

    /// A clock that starts at an instant and runs on.
    pub fn started_at(start_ms: i64) -> Self {
        Self { kind: ClockKind::Started { start_ms, at: Instant::now() }, ahead: None }
    }

    /// A clock that stands still, so that tests get exact answers.
    pub const fn stopped_at(now_ms: i64) -> Self {
        Self { kind: ClockKind::Stopped { now_ms }, ahead: None }
    }

    /// The same clock for readings, with clocks of their own for the feeds of alerts.
    #[must_use]
    pub fn with_alerts_ahead(self, ahead: FeedClockLead) -> Self {
        Self { ahead: Some(ahead), ..self }
    }

    /// Whether the clock shows real time.
    pub const fn is_live(&self) -> bool {
        matches!(self.kind, ClockKind::Live)
    }

    /// The clocks of alerts now.
    pub(crate) fn alerts(&self) -> AlertClocks {
        let of = if self.is_live() { alert::Clock::live } else { alert::Clock::replay };
        AlertClocks { server: of(self.now_ms()), ahead: self.ahead }
    }

    /// The time, milliseconds since 1970 (UTC).
    pub fn now_ms(&self) -> i64 {
        match self.kind {
            ClockKind::Live => system_ms(),
            ClockKind::Started { start_ms, at } => {
                let passed_ms = i64::try_from(at.elapsed().as_millis()).unwrap_or(i64::MAX);
                start_ms.saturating_add(passed_ms)
            }
            ClockKind::Stopped { now_ms } => now_ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_started_clock_runs_on_and_a_stopped_one_does_not() {
        let (started, stopped) = (Clock::started_at(1_000), Clock::stopped_at(1_000));
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(started.now_ms() >= 1_005);
        assert_eq!(stopped.now_ms(), 1_000);
    }

    #[test]
    fn the_end_of_time_does_not_panic() {
        assert_eq!(Clock::started_at(i64::MAX).now_ms(), i64::MAX);
    }
}
