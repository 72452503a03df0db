//! The summary of a period, from the readings of a station.

use super::amounts::Amounts;
use super::extremes::Search;
use super::hours::Hours;
use super::rules::{Role, role_of};
use super::state::HourlyMeans;
use super::{DegreeDays, Rules, SeriesColumns, Summary, VariableSummary, WIND_VARIABLES, wind};
use crate::observation::Variable;
use crate::time::{DAY_MS, HalfOpenWindow};

/// Summarises one period of one station after another, reusing its buffers.
///
/// ```
/// use mesonet::observation::QualityCode;
/// use mesonet::summary::{Rules, SeriesColumns, Summarizer, Summary};
/// use mesonet::time::{DAY_MS, HOUR_MS, MINUTE_MS};
/// use mesonet::{HalfOpenWindow, IntervalType, Quality, Series, SeriesKey, Variable};
/// let series = |kind, minutes| Series::from(SeriesKey::new(Variable::AirTemperature, kind, minutes));
/// let (air, max) = (series(IntervalType::Instantaneous, 0), series(IntervalType::Max, 360));
/// // 20.0 °C at 05:53 and 22.0 °C at 11:53, whose report has 23.3 °C as the maximum of six hours.
/// let ts_ms = [5, 11].map(|hour| hour * HOUR_MS + 53 * MINUTE_MS);
/// let good = [QualityCode::from(Quality::GOOD); 2];
/// let columns = [
///     SeriesColumns::new(&air, &ts_ms, &[20.0, 22.0], &good, &[0; 2])?,
///     SeriesColumns::new(&max, &ts_ms[1..], &[23.3], &good[1..], &[0])?,
/// ];
/// let day = HalfOpenWindow::new(0, DAY_MS)?;
/// let mut summary = Summary::begin(day);
/// Summarizer::new(Rules::default()).summarize(&columns, day, &mut summary);
/// let air = summary.of(Variable::AirTemperature).ok_or("there are readings")?;
/// let (max, min) = (air.max.ok_or("a maximum")?, air.min.ok_or("a minimum")?);
/// assert_eq!((max.value, max.from.interval_minutes), (23.3, 360));
/// assert_eq!((min.value, min.from.ts_ms), (20.0, ts_ms[0]));
/// assert_eq!(air.mean.map(|mean| mean.value()), Some(21.0));
/// assert_eq!(max.coverage.minutes, 7 * 60, "the hour of 05:53, and six hours");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Summarizer {
    rules: Rules,
    max: Search,
    min: Search,
    means: HourlyMeans,
    amounts: Amounts,
    hours: Hours,
}

impl Summarizer {
    /// Creates a summariser with rules.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            max: Search::for_max(),
            min: Search::for_min(),
            means: HourlyMeans::default(),
            amounts: Amounts::default(),
            hours: Hours::default(),
        }
    }

    /// Changes the rules, for a station of another network.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// Summarises a period of a station, and replaces what the summary held.
    ///
    /// The columns may come in any order; a series may come in several columns, as a store hands them
    /// out. They should reach from 20 minutes before the period to 20 minutes after it
    /// ([`Rules::nominal_ms`]); readings that do not count for the period are passed over. A period may
    /// have any length; degree days are those of a day.
    pub fn summarize(
        &mut self,
        columns: &[SeriesColumns<'_>],
        window: HalfOpenWindow,
        summary: &mut Summary,
    ) {
        summary.window = window;
        summary.variables.clear();
        summary.parts.clear();
        (summary.wind, summary.degree_days) = (None, None);
        let ordered = in_order(columns);
        let same = |one: &(SeriesColumns<'_>, usize), other: &(SeriesColumns<'_>, usize)| {
            one.0.series.key.variable == other.0.series.key.variable
        };
        for of_variable in ordered.chunk_by(same) {
            let found = self.variable(of_variable, window, summary);
            summary.variables.extend(found);
        }
        let of_wind =
            |of: &(SeriesColumns<'_>, usize)| WIND_VARIABLES.contains(&of.0.series.key.variable);
        if ordered.iter().any(of_wind) {
            summary.wind = wind::summarize(&ordered, window, self.rules, &mut self.hours);
        }
        if window.span_ms() == DAY_MS
            && let Some(air) = summary.of(Variable::AirTemperature)
            && let (Some(max), Some(min)) = (&air.max, &air.min)
        {
            let base_c = self.rules.degree_day_base_c;
            summary.degree_days = Some(DegreeDays::of_day(max, min, base_c));
        }
    }

    /// Summarises the columns of one variable; `None` if it has no reading in the window.
    fn variable(
        &mut self,
        columns: wind::Ordered<'_, '_>,
        window: HalfOpenWindow,
        summary: &mut Summary,
    ) -> Option<VariableSummary> {
        let Self { rules, max, min, means, amounts, .. } = self;
        let mut found = VariableSummary::new(columns.first()?.0.series.key.variable);
        max.begin(window);
        min.begin(window);
        means.begin(window);
        amounts.begin();
        for (of, preference) in columns {
            let Some(role) = role_of(&of.series.key) else { continue };
            for counted in of.in_window(window, role, *rules) {
                if !counted.is_usable {
                    found.rejected += 1;
                    continue;
                }
                found.count += 1;
                match role {
                    Role::State => {
                        max.show(of, *preference, counted, false, window);
                        min.show(of, *preference, counted, false, window);
                        // The mean of a longer time says nothing of an hour.
                        if of.series.key.interval_minutes <= 60 {
                            means.show(of, *preference, counted, window);
                        }
                    }
                    Role::Max => max.show(of, *preference, counted, true, window),
                    Role::Min => min.show(of, *preference, counted, true, window),
                    Role::Amount => amounts.show(of, *preference, counted),
                    Role::Count => {}
                }
            }
        }
        (found.max, found.min) = (max.found(window), min.found(window));
        found.mean = means.found(window);
        found.total = amounts.found(window, &mut summary.parts);
        (found.count + found.rejected > 0).then_some(found)
    }
}

/// The columns by variable, preference and time, each with the place of its series in that order.
fn in_order<'a>(columns: &[SeriesColumns<'a>]) -> Vec<(SeriesColumns<'a>, usize)> {
    let mut ordered: Vec<_> = columns.iter().map(|&of| (of, 0)).collect();
    ordered.sort_by(|(one, _), (other, _)| {
        let by_variable = one.series.key.variable.cmp(&other.series.key.variable);
        by_variable
            .then_with(|| one.series.preference.cmp(&other.series.preference))
            .then_with(|| one.ts_ms.first().cmp(&other.ts_ms.first()))
    });
    for at in 1..ordered.len() {
        let is_other = ordered[at].0.series.id != ordered[at - 1].0.series.id;
        ordered[at].1 = ordered[at - 1].1 + usize::from(is_other);
    }
    ordered
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
