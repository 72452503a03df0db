//! Summaries of readings over an hour, a day, a month or any window: extremes, means, totals, wind
//! and degree days, each with what made it.
//!
//! | What | Items |
//! | --- | --- |
//! | The readings of one station: slices in | [`SeriesColumns`] |
//! | The summary of one period, in the caller's buffers | [`Summarizer`], [`Summary`], [`VariableSummary`] |
//! | The summary of a month, from its days | [`Summary::begin`], [`Summary::add`] |
//! | What made a value | [`Source`], [`Part`], [`Coverage`] |
//! | Periods of local dates | [`Period`], [`LocalDate`], [`UtcOffset`], [`periods`] |
//! | What depends on the network or the country | [`Rules`] |
//!
//! # Which readings count
//! - A reading that is Suppressed, Missing or Error is rejected. One that is in doubt counts, and
//!   its verdict is the quality of the value that it made. A mean or a total has the worst quality
//!   of its readings.
//! - Readings in a bucket (a single sensor, a cloud layer) and readings that are not in the unit of
//!   their variable do not count.
//! - A reading of less than an hour counts at its time: `start ≤ time < end`. An extreme or a mean
//!   of an hour or more, and an amount of any length, counts if its whole interval lies in the
//!   period. An interval of whole hours ends at the full hour for which its report was made
//!   ([`Rules::nominal_ms`]): the groups of a report of 04:53 are for the hours until 05:00.
//!
//! # How values are made
//! - **Maximum and minimum**: the greatest and least of the readings, and of the extremes of whole
//!   intervals (`1sTTT`, `2sTTT`, `4sTTTsTTT`, `PK WND`, the extremes of SWOB). An extreme of exactly
//!   the period, such as the 24-hour group at local midnight, decides alone if it is not in doubt.
//!   Of equal values the earliest is named.
//! - **Mean**: of the means of the hours, so that special reports do not weigh more than others. In
//!   an hour with several series the most instantaneous one counts
//!   ([`Series::preference`](crate::Series::preference)). The mean of a month is that of its days.
//! - **Total**: of amounts that do not overlap, the longest first, so that nothing is counted twice:
//!   the group of six hours rather than the six hourly ones. A total of 0 with a trace is a trace.
//! - **Wind**: the prevailing direction is the most frequent of twelve sectors of 30°, each of which
//!   holds three of the tens of degrees that reports are rounded to; the resultant wind is the mean
//!   of the vectors. The peak is the greatest gust or peak wind.
//! - **Degree days**: of (maximum + minimum) / 2, not rounded.
//!
//! A month is made of its days. The reasons and sources are in `docs/design.md`.

mod amounts;
mod columns;
mod degree_days;
mod extremes;
mod hours;
mod merge;
mod period;
mod rules;
mod state;
mod summarizer;
mod values;
mod wind;

pub use self::columns::SeriesColumns;
pub use self::degree_days::DegreeDays;
pub use self::period::{LocalDate, Period, SummaryError, UtcOffset, period_label, periods};
pub use self::rules::{Rules, Statistics, WIND_VARIABLES, statistics_of};
pub use self::summarizer::Summarizer;
pub use self::values::{Coverage, Extreme, Mean, Part, Source, Summary, Total, VariableSummary};
pub use self::wind::{PeakWind, PrevailingWind, ResultantWind, SECTORS, WindSummary};
