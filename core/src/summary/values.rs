//! What a summary says.

use std::ops::Range;

use super::{DegreeDays, WindSummary};
use crate::observation::{IntervalType, Qualifier, Quality, SeriesId, Variable};
use crate::time::{HalfOpenWindow, MINUTE_MS};

/// The summary of a period at one station. It is filled by a
/// [`Summarizer`](super::Summarizer::summarize) and may be filled again.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The period.
    pub window: HalfOpenWindow,
    /// The variables with readings in the period, in the order of [`Variable::ALL`].
    pub variables: Vec<VariableSummary>,
    /// The amounts that totals are made of; each total has a range of them. Empty in a month.
    pub parts: Vec<Part>,
    /// The wind; `None` without a speed and a gust.
    pub wind: Option<WindSummary>,
    /// The degree days; `None` without both extremes of a day's air temperature.
    pub degree_days: Option<DegreeDays>,
}

/// The summary of one variable.
#[derive(Clone, Debug, PartialEq)]
pub struct VariableSummary {
    /// The variable.
    pub variable: Variable,
    /// How many readings counted.
    pub count: u32,
    /// How many readings were rejected.
    pub rejected: u32,
    /// The maximum.
    pub max: Option<Extreme>,
    /// The minimum.
    pub min: Option<Extreme>,
    /// The mean.
    pub mean: Option<Mean>,
    /// The mean of the maxima of the days; only of a month.
    pub mean_of_max: Option<Mean>,
    /// The mean of the minima of the days; only of a month.
    pub mean_of_min: Option<Mean>,
    /// The total.
    pub total: Option<Total>,
}

/// The reading that made a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its series.
    pub series: SeriesId,
    /// Its time, milliseconds since 1970.
    pub ts_ms: i64,
    /// How it represents its interval.
    pub interval_type: IntervalType,
    /// The length of its interval; 0 for instantaneous.
    pub interval_minutes: i32,
}

/// How much of a period is known.
///
/// ```
/// use mesonet::summary::Coverage;
/// assert_eq!(Coverage { minutes: 18 * 60, of_minutes: 24 * 60 }.percent(), 75.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The length of what is known. A reading stands for the hour of the period that it is in, an
    /// extreme or an amount for its interval.
    pub minutes: i64,
    /// The length of the period.
    pub of_minutes: i64,
}

/// A maximum or a minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extreme {
    /// The value, in the unit of the variable.
    pub value: f64,
    /// The verdict on the reading that made it.
    pub quality: Quality,
    /// The qualifier of that reading.
    pub qualifier: Option<Qualifier>,
    /// That reading.
    pub from: Source,
    /// How much of the period was looked at.
    pub coverage: Coverage,
}

/// A mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The sum of what the mean is of: the hours of a period, the days of a month.
    pub sum: f64,
    /// How many hours or days these are; at least 1.
    pub terms: u32,
    /// How many readings these were made of.
    pub readings: u32,
    /// The time of the first of the readings.
    pub first_ms: i64,
    /// The time of the last.
    pub last_ms: i64,
    /// The worst verdict on the readings.
    pub quality: Quality,
    /// How much of the period is known.
    pub coverage: Coverage,
}

/// A total.
#[derive(Clone, Debug, PartialEq)]
pub struct Total {
    /// The sum of the amounts.
    pub value: f64,
    /// Trace, if the sum is 0 and one of the amounts was a trace.
    pub qualifier: Option<Qualifier>,
    /// How many amounts it is of.
    pub readings: u32,
    /// The time of the first of them.
    pub first_ms: i64,
    /// The time of the last.
    pub last_ms: i64,
    /// The worst verdict on them.
    pub quality: Quality,
    /// How much of the period they cover.
    pub coverage: Coverage,
    /// The amounts, as a range of [`Summary::parts`]; empty in a month.
    pub parts: Range<usize>,
}

/// An amount that is a part of a total.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// The reading.
    pub from: Source,
    /// Its value.
    pub value: f64,
    /// The verdict on it.
    pub quality: Quality,
    /// Its qualifier.
    pub qualifier: Option<Qualifier>,
}

impl Coverage {
    /// Returns the share of the period, in percent.
    pub fn percent(self) -> f64 {
        if self.of_minutes == 0 {
            return 0.0;
        }
        // Not more than all: a period may have a part of a minute.
        (self.minutes as f64 * 100.0 / self.of_minutes as f64).min(100.0)
    }

    pub(super) fn of(minutes: i64, window: HalfOpenWindow) -> Self {
        Self { minutes, of_minutes: window.span_ms() / MINUTE_MS }
    }
}

impl Mean {
    /// Returns the mean.
    pub fn value(&self) -> f64 {
        self.sum / f64::from(self.terms)
    }
}

impl Summary {
    /// Creates the summary of a period of which nothing is known.
    ///
    /// ```
    /// use mesonet::HalfOpenWindow;
    /// use mesonet::summary::Summary;
    /// let empty = Summary::begin(HalfOpenWindow::new(0, 86_400_000)?);
    /// assert!(empty.variables.is_empty() && empty.wind.is_none());
    /// # Ok::<(), mesonet::time::TimeError>(())
    /// ```
    pub fn begin(window: HalfOpenWindow) -> Self {
        Self { window, variables: Vec::new(), parts: Vec::new(), wind: None, degree_days: None }
    }

    /// Returns the summary of a variable; `None` if it had no reading.
    pub fn of(&self, variable: Variable) -> Option<&VariableSummary> {
        self.variables.iter().find(|of| of.variable == variable)
    }

    /// Whether there was no reading.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }
}

impl VariableSummary {
    pub(super) fn new(variable: Variable) -> Self {
        Self {
            variable,
            count: 0,
            rejected: 0,
            max: None,
            min: None,
            mean: None,
            mean_of_max: None,
            mean_of_min: None,
            total: None,
        }
    }
}
