//! The hours that a run should have.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::model::RunStamp;
use crate::time::{DAY_MS, HOUR_MS};

/// Greatest hour after the start of a run.
const MAX_HOUR: u32 = 9999;

/// The hours of a model's runs: one rule, or several rules, of which the last one that applies to
/// the run counts.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "HoursText")]
pub(super) struct Hours(Vec<HoursRule>);

/// The hours of runs that start at certain hours of the day.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct HoursRule {
    hours: ForecastHours,
    /// The hours of the day (UTC); none means any.
    #[serde(default)]
    starts: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum HoursText {
    One(ForecastHours),
    Several(Vec<HoursRule>),
}

impl From<HoursText> for Hours {
    fn from(text: HoursText) -> Self {
        match text {
            HoursText::One(hours) => Self(vec![HoursRule { hours, starts: Vec::new() }]),
            HoursText::Several(rules) => Self(rules),
        }
    }
}

impl Hours {
    /// Returns the valid times of a run, ascending; `None` if no rule applies to it.
    pub(super) fn of(&self, run: RunStamp) -> Option<Vec<i64>> {
        let start_ms = run.start_ms();
        let start = start_ms.rem_euclid(DAY_MS);
        let holds = |rule: &&HoursRule| {
            rule.starts.is_empty()
                || rule.starts.iter().any(|&hour| i64::from(hour) * HOUR_MS == start)
        };
        let rule = self.0.iter().rev().find(holds)?;
        Some(rule.hours.0.iter().map(|&hour| start_ms + i64::from(hour) * HOUR_MS).collect())
    }
}

/// Hours after the start of a run, ascending: `0-36,39-84/3` is every hour up to 36 and every third
/// hour from 39 to 84.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct ForecastHours(Vec<u32>);

impl ForecastHours {
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().copied()
    }
}

/// The error for a text that does not state hours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ForecastHoursError(String);

impl fmt::Display for ForecastHoursError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "invalid hours \"{}\": they must be whole hours up to {MAX_HOUR}, or spans of them \
             with or without a step, for example 0-36,39-84/3",
            self.0
        )
    }
}

impl FromStr for ForecastHours {
    type Err = ForecastHoursError;
    fn from_str(text: &str) -> Result<Self, ForecastHoursError> {
        let part = |part: &str| {
            let (span, step) = part.split_once('/').unwrap_or((part, "1"));
            let (first, last) = span.split_once('-').unwrap_or((span, span));
            let number = |text: &str| {
                let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                text.parse::<u32>().ok().filter(|&hour| plain && hour <= MAX_HOUR)
            };
            let (first, last, step) = (number(first)?, number(last)?, number(step)?);
            (first <= last && step > 0).then(|| (first..=last).step_by(step as usize))
        };
        let mut hours = BTreeSet::new();
        for text_part in text.split(',') {
            let part = part(text_part.trim()).ok_or_else(|| ForecastHoursError(text.to_owned()))?;
            hours.extend(part);
        }
        Ok(Self(hours.into_iter().collect()))
    }
}

impl TryFrom<String> for ForecastHours {
    type Error = ForecastHoursError;
    fn try_from(text: String) -> Result<Self, ForecastHoursError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_steps_are_put_together() {
        let hours = |text: &str| text.parse::<ForecastHours>().map(|hours| hours.0);
        assert_eq!(hours("0-2,6-12/3"), Ok(vec![0, 1, 2, 6, 9, 12]));
        assert_eq!(hours("12, 0, 12"), Ok(vec![0, 12]));
        assert_eq!(hours("0-7/3"), Ok(vec![0, 3, 6]));
        for text in ["", "a", "3-1", "0-3/0", "-1", "+1", "0,,1", "10000", "1.5", "0-1-2"] {
            assert_eq!(hours(text), Err(ForecastHoursError(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn the_last_rule_that_holds_for_a_start_counts() {
        #[derive(Deserialize)]
        struct Text {
            hours: Hours,
        }
        let text = r#"hours = [{ hours = "0-1" }, { hours = "0-3", starts = [0, 12] }]"#;
        let hours = toml::from_str::<Text>(text).unwrap().hours;
        let count = |run: &str| hours.of(run.parse().unwrap()).map(|valid_ms| valid_ms.len());
        assert_eq!(count("20240101T120000Z"), Some(4));
        assert_eq!(count("20240101T130000Z"), Some(2));
        assert_eq!(count("20240101T120100Z"), Some(2));
        let only = r#"hours = [{ hours = "0-3", starts = [0] }]"#;
        let only = toml::from_str::<Text>(only).unwrap().hours;
        assert_eq!(only.of("20240101T010000Z".parse().unwrap()), None);
        let run: RunStamp = "20240101T000000Z".parse().unwrap();
        assert_eq!(only.of(run).unwrap()[3], run.start_ms() + 3 * HOUR_MS);
    }
}
