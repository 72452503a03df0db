//! Plans, and how far back each plan may look.

use std::fmt;
use std::str::FromStr;

use crate::time::{ClosedWindow, DAY_MS, HOUR_MS, Iso8601};

/// How much later than the lookback the end of a window may lie, so that a client is not refused if
/// it computed "seven days ago" a moment before it sent the request.
pub const GRACE_MS: i64 = HOUR_MS;

/// The plan of a caller. Each includes the lower ones: a higher plan satisfies a lower requirement.
///
/// ```
/// use mesonet::access::{Plan, PlanError};
/// assert!(Plan::Commercial > Plan::Pro);
/// assert_eq!(Plan::ALL.map(Plan::name), ["none", "free", "pro", "commercial"]);
/// assert_eq!("pro".parse(), Ok(Plan::Pro));
/// assert_eq!("Pro".parse::<Plan>(), Err(PlanError("Pro".to_owned())));
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Plan {
    /// No account.
    None,
    /// An account without a paid plan.
    Free,
    /// 30 days of lookback.
    Pro,
    /// Unlimited lookback; every API key has this plan.
    Commercial,
}

impl Plan {
    /// Every plan, lowest first.
    pub const ALL: [Self; 4] = [Self::None, Self::Free, Self::Pro, Self::Commercial];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Free => "free",
            Self::Pro => "pro",
            Self::Commercial => "commercial",
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for an unknown plan name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a plan; allowed are none, free, pro, commercial")]
pub struct PlanError(pub String);

impl FromStr for Plan {
    type Err = PlanError;
    fn from_str(got: &str) -> Result<Self, PlanError> {
        Self::ALL
            .into_iter()
            .find(|plan| plan.name() == got)
            .ok_or_else(|| PlanError(got.to_owned()))
    }
}

/// How long a window may be and how far back it may reach; `None` means unlimited.
///
/// ```
/// use mesonet::access::{Limits, Plan};
/// use mesonet::time::DAY_MS;
/// assert_eq!(Limits::of(Plan::Free).max_window_ms, Some(7 * DAY_MS));
/// assert_eq!(Limits::of(Plan::Pro).max_reach_ms, Some(30 * DAY_MS));
/// assert_eq!(Limits::of(Plan::Commercial).max_reach_ms, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// The maximum of end − start.
    pub max_window_ms: Option<i64>,
    /// The maximum of now − end, to which [`GRACE_MS`] is added.
    pub max_reach_ms: Option<i64>,
}

/// A window beyond the limits of a plan.
///
/// ```
/// use mesonet::ClosedWindow;
/// use mesonet::access::{GRACE_MS, LookbackError, Plan, check_lookback};
/// use mesonet::time::{DAY_MS, parse_instant};
/// let now_ms = parse_instant("2024-08-03T21:19:00Z")?;
/// let day = |end_ms| ClosedWindow::new(end_ms - DAY_MS, end_ms);
/// let week_ago_ms = now_ms - 7 * DAY_MS;
/// assert_eq!(check_lookback(day(week_ago_ms - GRACE_MS)?, now_ms, Plan::Free), Ok(()));
/// let refused = check_lookback(day(week_ago_ms - DAY_MS)?, now_ms, Plan::Free);
/// assert!(matches!(refused, Err(LookbackError::Reach { limit_ms, .. }) if limit_ms == 7 * DAY_MS));
/// # Ok::<(), mesonet::time::TimeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LookbackError {
    /// Longer than the limit.
    #[error("the window is {got} long; the limit maxWindowMs of plan {plan} is {limit}",
        got = Span(*.got_ms), limit = Span(*.limit_ms))]
    Window {
        /// End − start.
        got_ms: i64,
        /// The limit.
        limit_ms: i64,
        /// The plan whose limit it is.
        plan: Plan,
    },
    /// Further back than the limit.
    #[error("the window ends at {end}, which is {got} ago; the limit maxReachMs of plan {plan} is \
        {limit} (and {grace} of grace)", end = Iso8601(*.end_ms), got = Span(*.got_ms),
        limit = Span(*.limit_ms), grace = Span(GRACE_MS))]
    Reach {
        /// The end of the window.
        end_ms: i64,
        /// Now − end.
        got_ms: i64,
        /// The limit.
        limit_ms: i64,
        /// The plan whose limit it is.
        plan: Plan,
    },
    /// A single moment further back than the limit.
    #[error("{at} is {got} ago; the limit maxReachMs of plan {plan} is {limit} (and {grace} of \
        grace)", at = Iso8601(*.at_ms), got = Span(*.got_ms), limit = Span(*.limit_ms),
        grace = Span(GRACE_MS))]
    Moment {
        /// The moment.
        at_ms: i64,
        /// Now − the moment.
        got_ms: i64,
        /// The limit.
        limit_ms: i64,
        /// The plan whose limit it is.
        plan: Plan,
    },
}

impl Limits {
    /// Returns the limits of a plan: 7 days for none and free, 30 days for pro, unlimited for
    /// commercial.
    pub const fn of(plan: Plan) -> Self {
        let lookback_ms = match plan {
            Plan::None | Plan::Free => Some(7 * DAY_MS),
            Plan::Pro => Some(30 * DAY_MS),
            Plan::Commercial => None,
        };
        Self { max_window_ms: lookback_ms, max_reach_ms: lookback_ms }
    }
}

/// Checks a window against the lookback of a plan: its length, and how far back it ends.
///
/// # Errors
/// The window exceeds a limit; the error has the limit's name and size.
///
/// ```
/// use mesonet::access::{Plan, check_lookback};
/// use mesonet::ClosedWindow;
/// use mesonet::time::DAY_MS;
/// let now_ms = 20_000 * DAY_MS;
/// let week = ClosedWindow::new(now_ms - 7 * DAY_MS, now_ms)?;
/// assert!(check_lookback(week, now_ms, Plan::None).is_ok());
/// let month = ClosedWindow::new(now_ms - 30 * DAY_MS, now_ms)?;
/// assert_eq!(
///     check_lookback(month, now_ms, Plan::Free).unwrap_err().to_string(),
///     "the window is 30 d long; the limit maxWindowMs of plan free is 7 d",
/// );
/// assert!(check_lookback(month, now_ms, Plan::Pro).is_ok());
/// # Ok::<(), mesonet::time::TimeError>(())
/// ```
pub fn check_lookback(window: ClosedWindow, now_ms: i64, plan: Plan) -> Result<(), LookbackError> {
    let Limits { max_window_ms, max_reach_ms } = Limits::of(plan);
    let got_ms = window.span_ms();
    if let Some(limit_ms) = max_window_ms.filter(|&limit_ms| got_ms > limit_ms) {
        return Err(LookbackError::Window { got_ms, limit_ms, plan });
    }
    let end_ms = window.end_ms();
    let got_ms = now_ms.saturating_sub(end_ms);
    match max_reach_ms {
        Some(limit_ms) if got_ms > limit_ms + GRACE_MS => {
            Err(LookbackError::Reach { end_ms, got_ms, limit_ms, plan })
        }
        _ => Ok(()),
    }
}

/// Checks how far back a single moment lies against the lookback of a plan.
///
/// # Errors
/// It lies further back than a window may end; the error has the limit's name and size.
///
/// ```
/// use mesonet::access::{Plan, check_moment};
/// use mesonet::time::{DAY_MS, HOUR_MS};
/// let (now_ms, week_ago_ms) = (20_000 * DAY_MS, 19_993 * DAY_MS);
/// assert!(check_moment(week_ago_ms - HOUR_MS, now_ms, Plan::None).is_ok());
/// assert!(check_moment(week_ago_ms - 2 * HOUR_MS, now_ms, Plan::None).is_err());
/// assert!(check_moment(0, now_ms, Plan::Commercial).is_ok());
/// ```
pub fn check_moment(at_ms: i64, now_ms: i64, plan: Plan) -> Result<(), LookbackError> {
    let got_ms = now_ms.saturating_sub(at_ms);
    match Limits::of(plan).max_reach_ms {
        Some(limit_ms) if got_ms > limit_ms + GRACE_MS => {
            Err(LookbackError::Moment { at_ms, got_ms, limit_ms, plan })
        }
        _ => Ok(()),
    }
}

/// Displays a duration in days, hours, minutes and seconds, without units that are zero.
struct Span(i64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (s, ms) = (self.0 / 1000, self.0 % 1000);
        let parts = [
            (s / 86_400, "d"),
            (s / 3600 % 24, "h"),
            (s / 60 % 60, "min"),
            (s % 60, "s"),
            (ms, "ms"),
        ];
        let shown: Vec<String> = parts
            .into_iter()
            .filter(|&(count, _)| count != 0)
            .map(|(count, unit)| format!("{count} {unit}"))
            .collect();
        f.write_str(&shown.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 1_722_719_940_000;

    fn check(start_ago_ms: i64, end_ago_ms: i64, plan: Plan) -> Result<(), String> {
        let window = ClosedWindow::new(NOW_MS - start_ago_ms, NOW_MS - end_ago_ms).unwrap();
        check_lookback(window, NOW_MS, plan).map_err(|error| error.to_string())
    }

    #[test]
    fn a_window_may_be_as_long_as_the_lookback_and_no_longer() {
        for (plan, days) in [(Plan::None, 7), (Plan::Free, 7), (Plan::Pro, 30)] {
            assert_eq!(check(days * DAY_MS, 0, plan), Ok(()));
            assert_eq!(
                check(days * DAY_MS + 1, 0, plan),
                Err(format!(
                    "the window is {days} d 1 ms long; the limit maxWindowMs of plan {plan} is {days} d"
                ))
            );
        }
        assert_eq!(check(36_500 * DAY_MS, 0, Plan::Commercial), Ok(()));
    }

    #[test]
    fn an_end_may_lie_one_hour_further_back_than_the_lookback() {
        let (reach, hour) = (7 * DAY_MS, HOUR_MS);
        assert_eq!(check(reach + 2 * hour, reach, Plan::None), Ok(()));
        assert_eq!(check(reach + 2 * hour, reach + hour, Plan::None), Ok(()));
        assert_eq!(
            check(reach + 2 * hour, reach + hour + 1000, Plan::None),
            Err("the window ends at 2024-07-27T20:18:59Z, which is 7 d 1 h 1 s ago; the limit \
                 maxReachMs of plan none is 7 d (and 1 h of grace)"
                .to_owned())
        );
        assert_eq!(check(20_000 * DAY_MS, 19_000 * DAY_MS, Plan::Commercial), Ok(()));
    }

    #[test]
    fn an_end_in_the_future_is_within_the_limits() {
        assert_eq!(check(DAY_MS, -DAY_MS, Plan::None), Ok(()));
    }

    #[test]
    fn a_span_is_shown_without_units_that_are_zero() {
        let shown = |ms: i64| Span(ms).to_string();
        assert_eq!(shown(DAY_MS + 2 * HOUR_MS + 3 * 60_000 + 4_005), "1 d 2 h 3 min 4 s 5 ms");
        assert_eq!(shown(25 * HOUR_MS), "1 d 1 h");
        assert_eq!(shown(HOUR_MS + 59_999), "1 h 59 s 999 ms");
        assert_eq!(shown(60_000), "1 min");
    }

    #[test]
    fn plans_are_ranked() {
        assert!(Plan::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!("Pro".parse::<Plan>(), Err(PlanError("Pro".to_owned())));
    }
}
