//! The time at which the state of alerts is evaluated: the time of the server, or in the
//! demonstration a time for each feed of the sample, because the alerts of the sample are later
//! than its readings.

use mesonet::alert::{self, AlertState, Message};

/// 2026-08-12T23:14:00Z: a tornado warning in Ontario is in force, and what it supersedes is known.
const CANADA_MS: i64 = 1_786_576_440_000;

/// 2026-07-15T20:00:45Z: when the alerts of the United States were published.
const UNITED_STATES_MS: i64 = 1_784_145_645_000;

/// The arc of Canada among the identifiers of alerts (WMO-No. 1109).
const CANADIAN: &str = "urn:oid:2.49.0.1.124.";

/// How far the clocks of the feeds are ahead of the clock of the readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedClockLead {
    canada_ms: i64,
    united_states_ms: i64,
}

impl FeedClockLead {
    /// Lets the feeds of the sample start at moments with alerts in force while the readings start at
    /// `start_ms`.
    pub const fn of_sample(start_ms: i64) -> Self {
        Self {
            canada_ms: CANADA_MS.saturating_sub(start_ms),
            united_states_ms: UNITED_STATES_MS.saturating_sub(start_ms),
        }
    }

    const fn of(self, message_is_canadian: bool) -> i64 {
        if message_is_canadian { self.canada_ms } else { self.united_states_ms }
    }
}

/// The clocks of alerts at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlertClocks {
    /// The time of the server.
    pub server: alert::Clock,
    /// How far the clocks of the feeds are ahead of it; `None` if they are not.
    pub ahead: Option<FeedClockLead>,
}

impl AlertClocks {
    /// The times of the feeds of Canada and of the United States, if they have their own.
    pub fn feeds_ms(&self) -> Option<[i64; 2]> {
        let ahead = self.ahead?;
        Some([true, false].map(|canadian| self.server.now_ms.saturating_add(ahead.of(canadian))))
    }

    /// Returns the state of each message, and the time, by the clock of the server, until which the
    /// states stay the same.
    pub fn resolve(&self, messages: &[&Message]) -> (Vec<AlertState>, i64) {
        let Some(ahead) = self.ahead else {
            let until_ms = alert::next_change_ms(messages, self.server).unwrap_or(i64::MAX);
            return (alert::resolve(messages, self.server), until_ms);
        };
        // No message of one feed refers to a message of the other.
        let mut states = vec![AlertState::default(); messages.len()];
        let mut until_ms = i64::MAX;
        for canadian in [true, false] {
            let ahead_ms = ahead.of(canadian);
            let clock = alert::Clock::replay(self.server.now_ms.saturating_add(ahead_ms));
            let of_feed = |at: &usize| messages[*at].id.starts_with(CANADIAN) == canadian;
            let places: Vec<usize> = (0..messages.len()).filter(of_feed).collect();
            let feed: Vec<&Message> = places.iter().map(|&at| messages[at]).collect();
            if let Some(next_ms) = alert::next_change_ms(&feed, clock) {
                until_ms = until_ms.min(next_ms.saturating_sub(ahead_ms));
            }
            for (at, state) in places.into_iter().zip(alert::resolve(&feed, clock)) {
                states[at] = state;
            }
        }
        (states, until_ms)
    }

    /// Whether states that were resolved at these clocks, and are valid until `until_ms`, are still
    /// valid at later clocks.
    pub fn is_same_until(&self, until_ms: i64, later: &Self) -> bool {
        let is_live = |clocks: &Self| clocks.server.heard_until_ms == i64::MAX;
        is_live(self) == is_live(later)
            && self.ahead == later.ahead
            && (self.server.now_ms..until_ms).contains(&later.server.now_ms)
    }
}

#[cfg(test)]
mod tests {
    use mesonet::time::parse_instant;

    use super::*;
    use crate::sample::sample_alerts;

    const START_MS: i64 = 1_722_719_820_000;

    fn clocks(now_ms: i64) -> AlertClocks {
        let server = alert::Clock::replay(now_ms);
        AlertClocks { server, ahead: Some(FeedClockLead::of_sample(START_MS)) }
    }

    #[test]
    fn the_moments_are_those_of_the_sample() {
        assert_eq!(parse_instant("2026-08-12T23:14:00Z").unwrap(), CANADA_MS);
        assert_eq!(parse_instant("2026-07-15T20:00:45Z").unwrap(), UNITED_STATES_MS);
        let [canada_ms, united_states_ms] = clocks(START_MS + 5_000).feeds_ms().unwrap();
        assert_eq!(canada_ms, CANADA_MS + 5_000);
        assert_eq!(united_states_ms, UNITED_STATES_MS + 5_000);
    }

    #[test]
    fn alerts_of_both_countries_are_in_force_together() {
        let alerts = sample_alerts().unwrap();
        let messages: Vec<&Message> = alerts.iter().collect();
        let (states, until_ms) = clocks(START_MS).resolve(&messages);
        let active = |canadian: bool| {
            let of_feed = |(message, state): &(&&Message, &AlertState)| {
                message.id.starts_with(CANADIAN) == canadian
                    && state.status == alert::Status::Active
            };
            messages.iter().zip(&states).filter(of_feed).count()
        };
        assert!(active(true) >= 1, "Canada");
        assert!(active(false) >= 300, "United States");
        assert!(until_ms > START_MS);
        assert!(clocks(START_MS).is_same_until(until_ms, &clocks(until_ms - 1)));
        assert!(!clocks(START_MS).is_same_until(until_ms, &clocks(until_ms)));
    }

    #[test]
    fn without_feeds_of_their_own_all_are_at_the_clock_of_the_server() {
        let alerts = sample_alerts().unwrap();
        let messages: Vec<&Message> = alerts.iter().collect();
        let server = alert::Clock::replay(START_MS);
        let (states, _) = AlertClocks { server, ahead: None }.resolve(&messages);
        assert_eq!(states, alert::resolve(&messages, server));
    }
}
