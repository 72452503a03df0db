//! The JSON form of summaries.

use std::collections::BTreeMap;

use serde::ser::{Serialize, Serializer};

use super::{AreaSummaries, StationSummaries};
use crate::observation::{IntervalType, Qualifier, Quality, SeriesId, StationId, Variable};
use crate::query::{AnswerUnits, ShownUnit, UnitSystem};
use crate::summary;
use crate::summary::{Coverage, period_label};
use crate::time::Iso8601;

/// Summaries of one station.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = StationSummaries))]
struct OfStation {
    station_id: StationId,
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(inline))]
    kind: PeriodKind,
    /// The periods in order.
    periods: Vec<PeriodSummary>,
}

/// Summaries of stations for one period.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = AreaSummaries))]
struct OfArea {
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(inline))]
    kind: PeriodKind,
    /// By station id; stations without readings are left out.
    stations: BTreeMap<String, PeriodSummary>,
}

described_as!(StationSummaries, OfStation);
described_as!(AreaSummaries, OfArea);

/// What the summaries are of.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct PeriodKind {
    /// `hour`, `day`, `month` or `window`.
    period: &'static str,
    /// Offset of the days from UTC, the same the whole year.
    utc_offset: String,
}

/// The summary of one period.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct PeriodSummary {
    /// The date of a day, year and month of a month, else the start.
    name: String,
    /// Start, included.
    start: Iso8601,
    /// End, not included.
    end: Iso8601,
    /// By name of the variable; only those with readings.
    variables: BTreeMap<&'static str, VariableSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wind: Option<WindSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    degree_days: Option<DegreeDays>,
}

/// The summary of one variable.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct VariableSummary {
    /// Unit of all values.
    unit: String,
    /// How many readings counted.
    count: u32,
    /// How many readings were rejected: Suppressed, Missing or Error.
    rejected: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<Extreme>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<Extreme>,
    /// Of the means of the hours; in a month, of those of the days.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<Mean>,
    /// The mean of the maxima of the days; only of a month.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_of_max: Option<Mean>,
    /// The mean of the minima of the days; only of a month.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_of_min: Option<Mean>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<Total>,
}

/// A maximum or a minimum.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SummaryExtreme))]
struct Extreme {
    value: f64,
    /// The verdict on the reading.
    quality: Quality,
    #[serde(skip_serializing_if = "Option::is_none")]
    qualifier: Option<Qualifier>,
    /// How much of the period was looked at.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 100))]
    coverage_percent: f64,
    /// The reading that made it.
    from: Source,
}

/// A reading; `/observations/explain` says why it has its verdict.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SummarySource))]
struct Source {
    /// Time of the report.
    timestamp: Iso8601,
    /// The series.
    type_id: SeriesId,
    interval_type: IntervalType,
    /// Length of the interval that ends with the report; 0 if instantaneous.
    interval_minutes: i32,
}

/// A mean.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SummaryMean))]
struct Mean {
    value: f64,
    /// The worst verdict on the readings.
    quality: Quality,
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 100))]
    coverage_percent: f64,
    from: MeanOf,
}

/// What a mean is of.
#[derive(serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct MeanOf {
    /// How many hours it is the mean of; in a month, how many days.
    terms: u32,
    /// How many readings these are made of.
    readings: u32,
    /// Time of the first of them.
    first: Iso8601,
    /// Time of the last.
    last: Iso8601,
}

/// A total.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SummaryTotal))]
struct Total {
    value: f64,
    /// The worst verdict on the amounts.
    quality: Quality,
    /// `trace` if the total is 0 and an amount was a trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    qualifier: Option<Qualifier>,
    /// How much of the period the amounts cover.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 100))]
    coverage_percent: f64,
    from: TotalOf,
}

/// What a total is of.
#[derive(serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct TotalOf {
    /// How many amounts it is of.
    readings: u32,
    /// Time of the first of them.
    first: Iso8601,
    /// Time of the last.
    last: Iso8601,
    /// The amounts by time; not of a month.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    parts: Vec<Part>,
}

/// An amount that is a part of a total.
#[derive(serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SummaryPart))]
struct Part {
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(inline))]
    from: Source,
    value: f64,
    quality: Quality,
    #[serde(skip_serializing_if = "Option::is_none")]
    qualifier: Option<Qualifier>,
}

/// The wind of a period. Speeds are in km/h or in `unit`, directions in degrees from which it blows.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct WindSummary {
    /// Unit of the speeds, that of `windSpeed`; only where units were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// How many readings of the speed counted.
    readings: u32,
    /// How many of them were calm.
    calm: u32,
    /// How many had no direction.
    variable: u32,
    /// The worst verdict on them.
    quality: Quality,
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 100))]
    coverage_percent: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prevailing: Option<PrevailingWind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resultant: Option<ResultantWind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak: Option<PeakWind>,
}

/// The sector of 30° from which the wind came most often.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct PrevailingWind {
    /// Its centre.
    direction: f64,
    /// Share of the readings, calm ones included.
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 100))]
    share_percent: f64,
    /// Mean speed in the sector.
    speed: f64,
}

/// The mean of the vectors.
#[derive(serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct ResultantWind {
    /// Absent if the vectors cancel out.
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<f64>,
    speed: f64,
}

/// The greatest gust or peak wind.
#[derive(serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct PeakWind {
    /// Name of its variable.
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    direction: Option<f64>,
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(inline))]
    speed: Extreme,
}

/// Degree days: how far (maximum + minimum) / 2 is from a base, in °C or `unit` times days.
#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct DegreeDays {
    /// Unit of the temperatures; only where units were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<String>,
    /// The base.
    base: f64,
    /// Below the base.
    heating: f64,
    /// Above it.
    cooling: f64,
    /// How many days they are of.
    days: u32,
    /// The worst verdict on the extremes.
    quality: Quality,
    #[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 100))]
    coverage_percent: f64,
}

/// Computed values have many digits that mean nothing.
fn rounded(value: f64) -> f64 {
    const DECIMALS: f64 = 1e4;
    (value * DECIMALS).round() / DECIMALS
}

/// A computed value in its unit.
fn computed(value: f64, unit: &ShownUnit) -> f64 {
    if unit.is_as_recorded() { rounded(value) } else { unit.computed(value) }
}

fn percent(coverage: Coverage) -> f64 {
    (coverage.percent() * 10.0).round() / 10.0
}

impl From<&summary::Source> for Source {
    fn from(of: &summary::Source) -> Self {
        Self {
            timestamp: Iso8601(of.ts_ms),
            type_id: of.series,
            interval_type: of.interval_type,
            interval_minutes: of.interval_minutes,
        }
    }
}

impl Extreme {
    fn new(of: &summary::Extreme, unit: &ShownUnit) -> Self {
        Self {
            value: unit.value(of.value),
            quality: of.quality,
            qualifier: of.qualifier,
            coverage_percent: percent(of.coverage),
            from: Source::from(&of.from),
        }
    }
}

impl Mean {
    fn new(of: &summary::Mean, unit: &ShownUnit) -> Self {
        Self {
            value: computed(of.value(), unit),
            quality: of.quality,
            coverage_percent: percent(of.coverage),
            from: MeanOf {
                terms: of.terms,
                readings: of.readings,
                first: Iso8601(of.first_ms),
                last: Iso8601(of.last_ms),
            },
        }
    }
}

impl Part {
    fn new(of: &summary::Part, unit: &ShownUnit) -> Self {
        Self {
            from: Source::from(&of.from),
            value: unit.value(of.value),
            quality: of.quality,
            qualifier: of.qualifier,
        }
    }
}

impl Total {
    fn new(of: &summary::Total, parts: &[summary::Part], unit: &ShownUnit) -> Self {
        let part = |part| Part::new(part, unit);
        Self {
            value: computed(of.value, unit),
            quality: of.quality,
            qualifier: of.qualifier,
            coverage_percent: percent(of.coverage),
            from: TotalOf {
                readings: of.readings,
                first: Iso8601(of.first_ms),
                last: Iso8601(of.last_ms),
                parts: parts[of.parts.clone()].iter().map(part).collect(),
            },
        }
    }
}

impl WindSummary {
    fn new(of: &summary::WindSummary, units: Option<&AnswerUnits>) -> Self {
        let unit = shown(units, Variable::WindSpeed);
        Self {
            unit: units.map(|_| unit.symbol().to_owned()),
            readings: of.readings,
            calm: of.calm,
            variable: of.variable,
            quality: of.quality,
            coverage_percent: percent(of.coverage),
            prevailing: of.prevailing().map(|of| PrevailingWind {
                direction: of.from_degrees,
                share_percent: rounded(of.share_percent),
                speed: computed(of.mean_kmh, &unit),
            }),
            resultant: of.resultant().map(|of| ResultantWind {
                direction: of.from_degrees.map(rounded),
                speed: computed(of.speed_kmh, &unit),
            }),
            peak: of.peak.as_ref().map(|peak| PeakWind {
                name: peak.variable.name(),
                direction: peak.from_degrees,
                speed: Extreme::new(&peak.speed, &unit),
            }),
        }
    }
}

/// The unit of a variable's values; without a choice of units, that of the record.
fn shown(units: Option<&AnswerUnits>, variable: Variable) -> ShownUnit {
    match units {
        Some(units) => units.of_variable(variable),
        None => AnswerUnits::of(UnitSystem::Metric).of_variable(variable),
    }
}

impl DegreeDays {
    fn new(of: &summary::DegreeDays, units: Option<&AnswerUnits>) -> Self {
        let unit = shown(units, Variable::AirTemperature);
        let sum = |value| rounded(units.map_or(value, |units| units.degree_days(value)));
        Self {
            unit: units.map(|_| unit.symbol().to_owned()),
            base: computed(of.base_c, &unit),
            heating: sum(of.heating),
            cooling: sum(of.cooling),
            days: of.days,
            quality: of.quality,
            coverage_percent: percent(of.coverage),
        }
    }
}

impl PeriodSummary {
    fn new(of: &summary::Summary, query: &super::SummaryQuery) -> Self {
        let (period, offset, units) = (query.period, query.offset, query.units.as_ref());
        let variable = |found: &summary::VariableSummary| {
            let unit = &shown(units, found.variable);
            let extreme = |of: &summary::Extreme| Extreme::new(of, unit);
            let mean = |of: &summary::Mean| Mean::new(of, unit);
            VariableSummary {
                unit: unit.symbol().to_owned(),
                count: found.count,
                rejected: found.rejected,
                max: found.max.as_ref().map(extreme),
                min: found.min.as_ref().map(extreme),
                mean: found.mean.as_ref().map(mean),
                mean_of_max: found.mean_of_max.as_ref().map(mean),
                mean_of_min: found.mean_of_min.as_ref().map(mean),
                total: found.total.as_ref().map(|total| Total::new(total, &of.parts, unit)),
            }
        };
        let variables = of.variables.iter().map(|found| (found.variable.name(), variable(found)));
        Self {
            name: period_label(period, of.window, offset),
            start: Iso8601(of.window.start_ms()),
            end: Iso8601(of.window.end_ms()),
            variables: variables.collect(),
            wind: of.wind.as_ref().map(|wind| WindSummary::new(wind, units)),
            degree_days: of.degree_days.as_ref().map(|sums| DegreeDays::new(sums, units)),
        }
    }
}

impl PeriodKind {
    fn new(query: &super::SummaryQuery) -> Self {
        Self { period: query.period.name(), utc_offset: query.offset.to_string() }
    }
}

impl Serialize for StationSummaries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { station, query, summaries } = self;
        let periods = summaries.iter().map(|of| PeriodSummary::new(of, query)).collect();
        OfStation { station_id: *station, kind: PeriodKind::new(query), periods }
            .serialize(serializer)
    }
}

impl Serialize for AreaSummaries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { query, stations } = self;
        let of_station = |(id, of): &(StationId, summary::Summary)| {
            (id.to_string(), PeriodSummary::new(of, query))
        };
        let stations = stations.iter().map(of_station).collect();
        OfArea { kind: PeriodKind::new(query), stations }.serialize(serializer)
    }
}
