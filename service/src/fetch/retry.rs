//! When to try again.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Longest pause after failures.
const MAX_PAUSE_MS: i64 = 3_600_000;

/// Longest pause that a server can request.
const MAX_PATIENCE_MS: i64 = 86_400_000;

/// Returns the pause after a number of failures in a row. It doubles from the first pause up to an
/// hour. A random part of up to half is taken off, so that clients that failed together do not
/// return together.
pub(crate) fn pause_ms(first_ms: i64, failures: u32, random: f64) -> i64 {
    let doubled = first_ms.saturating_mul(1 << failures.saturating_sub(1).min(20));
    let whole = doubled.clamp(1, MAX_PAUSE_MS.max(first_ms));
    whole - (whole as f64 / 2.0 * random) as i64
}

/// Returns the pause if the server may have asked for one. It is never shorter than what the server
/// asked for.
pub(crate) fn asked_pause_ms(own_ms: i64, retry_after_ms: Option<i64>) -> i64 {
    own_ms.max(retry_after_ms.unwrap_or(0).min(MAX_PATIENCE_MS))
}

/// Returns the time to the next poll: the interval and up to a tenth more, so that servers started
/// together do not poll together.
pub(super) fn interval_ms(interval_s: u32, random: f64) -> i64 {
    let interval_ms = i64::from(interval_s) * 1000;
    interval_ms + (interval_ms as f64 / 10.0 * random) as i64
}

/// Returns a random number from 0 to 1, from the random seeds of hash maps.
pub(crate) fn random() -> f64 {
    (RandomState::new().build_hasher().finish() >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_doubles_up_to_an_hour_and_half_of_it_is_random() {
        let whole: Vec<i64> = (1..=8).map(|failures| pause_ms(60_000, failures, 0.0)).collect();
        let minutes = [1, 2, 4, 8, 16, 32, 60, 60].map(|minutes| minutes * 60_000);
        assert_eq!(whole, minutes);
        assert_eq!(pause_ms(60_000, 3, 0.5), 180_000);
        assert_eq!(pause_ms(60_000, u32::MAX, 1.0), 1_800_000);
        // An interval of more than an hour is not shortened.
        assert_eq!(pause_ms(7_200_000, 1, 0.0), 7_200_000);
        for _ in 0..1000 {
            assert!((0.0..1.0).contains(&random()));
        }
    }

    #[test]
    fn a_server_is_not_asked_before_the_time_that_it_gave() {
        assert_eq!(asked_pause_ms(60_000, None), 60_000);
        assert_eq!(asked_pause_ms(60_000, Some(120_000)), 120_000);
        assert_eq!(asked_pause_ms(60_000, Some(5_000)), 60_000);
        assert_eq!(asked_pause_ms(60_000, Some(i64::MAX)), MAX_PATIENCE_MS);
        assert_eq!(interval_ms(60, 0.0), 60_000);
        assert_eq!(interval_ms(60, 1.0), 66_000);
    }
}
