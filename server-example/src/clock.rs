//! The clock of a server that replays recorded data.

use std::time::Instant;

/// Tells the server what time it is. As long as the data are recorded ones, "now" is a time of
/// theirs: it starts where it is told to and runs on with real time.
#[derive(Clone, Debug)]
pub struct Clock {
    start_ms: i64,
    started: Option<Instant>,
}

impl Clock {
    /// A clock that shows an instant now and runs on.
    pub fn started_at(start_ms: i64) -> Self {
        Self { start_ms, started: Some(Instant::now()) }
    }

    /// A clock that stands still, so that a test knows its answers to the last digit.
    pub const fn stopped_at(now_ms: i64) -> Self {
        Self { start_ms: now_ms, started: None }
    }

    /// The time, milliseconds since 1970 (UTC).
    pub fn now_ms(&self) -> i64 {
        let passed = self.started.map_or(0, |started| started.elapsed().as_millis());
        self.start_ms.saturating_add(i64::try_from(passed).unwrap_or(i64::MAX))
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
    fn the_end_of_time_is_no_panic() {
        assert_eq!(Clock::started_at(i64::MAX).now_ms(), i64::MAX);
    }
}
