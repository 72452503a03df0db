//! Points and series of models.

use std::collections::BTreeMap;

use utoipa::ToSchema;

/// Exact values of one cell of the native grid at one hour.
#[derive(ToSchema)]
pub struct ModelPoint {
    #[schema(pattern = "^[0-9]{8}T[0-9]{6}Z$")]
    run: String,
    /// Index into the hours of the run.
    hour: u32,
    #[schema(format = DateTime)]
    valid_time: String,
    /// When the newest part of the hour was published.
    #[schema(required = true, format = DateTime, rename = "availableAt")]
    available_at: Option<String>,
    /// How many hours the run has.
    forecast_hours: u32,
    row: u32,
    col: u32,
    /// The centre of the cell.
    #[schema(required = true)]
    lat: Option<f64>,
    #[schema(required = true)]
    lon: Option<f64>,
    /// By product.
    fields: BTreeMap<String, PointEntry>,
    wind_rotation: WindRotation,
}

/// A field at a point: `value` of a single level, else `values` in the order of `levels_hpa`.
#[derive(ToSchema)]
pub struct PointEntry {
    unit: String,
    /// Null if it is missing.
    #[schema(required = false)]
    value: Option<f64>,
    #[schema(required = false)]
    levels_hpa: Vec<f64>,
    #[schema(required = false)]
    values: Vec<Option<f64>>,
    /// Of an ensemble.
    #[schema(required = false)]
    member: u8,
    /// Of a statistic over an interval.
    #[schema(required = false)]
    interval: AnswerInterval,
}

#[derive(ToSchema)]
pub struct AnswerInterval {
    #[schema(format = DateTime)]
    start: String,
    /// The valid time.
    #[schema(format = DateTime)]
    end: String,
    /// `average`, `accumulation`, `maximum`, `minimum`, or a number of code table 4.10 of GRIB2.
    statistic: String,
}

/// Earth-relative u = cos · u + sin · v, and v = −sin · u + cos · v.
#[derive(ToSchema)]
pub struct WindRotation {
    cos: f64,
    sin: f64,
}

/// Values of one cell over the hours of a run.
#[derive(ToSchema)]
pub struct ModelSeries {
    #[schema(pattern = "^[0-9]{8}T[0-9]{6}Z$")]
    run: String,
    row: u32,
    col: u32,
    #[schema(required = true)]
    lat: Option<f64>,
    #[schema(required = true)]
    lon: Option<f64>,
    /// How many hours the run has.
    forecast_hours: u32,
    /// Of the whole run.
    #[schema(format = DateTime)]
    valid_from: String,
    #[schema(format = DateTime)]
    valid_to: String,
    #[schema(required = true, format = DateTime, rename = "availableAt")]
    available_at: Option<String>,
    wind_rotation: WindRotation,
    /// By product.
    fields: BTreeMap<String, SeriesEntry>,
}

#[derive(ToSchema)]
pub struct SeriesEntry {
    unit: String,
    /// Null for a product of a single level.
    #[schema(required = true)]
    levels_hpa: Option<Vec<f64>>,
    #[schema(required = false)]
    member: u8,
    /// By time; hours that are not published yet are left out.
    series: Vec<SeriesItem>,
}

/// `value` of a single level, else `values` in the order of `levels_hpa`.
#[derive(ToSchema)]
pub struct SeriesItem {
    hour: u32,
    #[schema(format = DateTime)]
    valid_time: String,
    #[schema(required = false)]
    value: Option<f64>,
    #[schema(required = false)]
    values: Vec<Option<f64>>,
    #[schema(required = false)]
    interval: AnswerInterval,
}
