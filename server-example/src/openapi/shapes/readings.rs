//! Readings, series and the requests for them.

use std::collections::BTreeMap;

use utoipa::ToSchema;

use super::{BaseQualityCode, IntervalType, Qualifier, ReasonQualityCode, Uuid};

/// Readings by station.
#[derive(ToSchema)]
pub struct Readings {
    /// By station id; stations without readings are left out.
    stations: BTreeMap<String, StationReadings>,
    /// The step of the grid in minutes, as used; only where one was requested.
    #[schema(required = false)]
    step: i64,
    /// Why the step is not the requested one; only where it is not.
    #[schema(required = false)]
    coarsening: Coarsening,
}

#[derive(ToSchema)]
pub struct StationReadings {
    /// By time, then in the order of the names, then by series.
    readings: Vec<Reading>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Reading {
    #[schema(format = DateTime)]
    timestamp: String,
    /// Name of the variable.
    r#type: String,
    /// The series: an id among the `types` of the station.
    type_id: i32,
    /// In the unit of the series.
    value: f64,
    quality: Quality,
    #[schema(required = false)]
    qualifier: Qualifier,
    /// Seconds between the time of the grid and the reading; only of grids.
    #[schema(required = false)]
    age: i32,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Quality {
    base_quality: BaseQualityCode,
    reason_quality: ReasonQualityCode,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Coarsening {
    /// Minutes.
    requested_step: i64,
    factor: i64,
    limited_by: LimitedBy,
    cells: u64,
    positions: u64,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum LimitedBy {
    Cells,
    Positions,
}

/// The stations whose readings are wanted. Unknown ones are left out.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ReadingsRequest {
    #[schema(max_items = 5000)]
    station_ids: Vec<Uuid>,
}

/// Which readings of a station are wanted. What is left out, or null, does not narrow the choice.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SeriesRequest {
    station_id: Uuid,
    /// Name of the variable, exact.
    name: String,
    interval_type: Option<IntervalType>,
    interval_minutes: Option<i32>,
    /// True: only derived values. False: only reported ones.
    calculated: Option<bool>,
    reported_unit: Option<String>,
    group_bucket_name: Option<String>,
    /// Without effect.
    station_ids: Option<Vec<String>>,
}

/// Readings of one variable at one station. Where several series match, the description is that of
/// the first.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ObservationSeries {
    station_id: Uuid,
    name: String,
    pretty_name: String,
    reported_unit: String,
    interval_type: IntervalType,
    interval_minutes: i32,
    #[schema(required = false, format = DateTime)]
    first_appearance: String,
    /// By name of the bucket; only of series that have one.
    #[schema(required = false)]
    bucket_metadata: BTreeMap<String, Bucket>,
    /// By time, then by series.
    readings: Vec<SeriesReading>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Bucket {
    pretty_name: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SeriesReading {
    #[schema(format = DateTime)]
    timestamp: String,
    value: f64,
    quality: Quality,
    #[schema(required = false)]
    qualifier: Qualifier,
    calculated: bool,
    #[schema(required = false)]
    group_bucket_name: String,
}

/// What the reports of a station say of the weather.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct StationWeather {
    station_id: Uuid,
    reports: Vec<WeatherReport>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct WeatherReport {
    #[schema(format = DateTime)]
    timestamp: String,
    present_weather: Vec<String>,
}

/// Which readings of a station are exported.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct BulkRequest {
    station_id: Uuid,
    /// The series; all if left out or empty. All entries must have the same bounds and range.
    requests: Option<Vec<BulkEntry>>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct BulkEntry {
    name: Option<String>,
    interval_type: Option<IntervalType>,
    interval_minutes: Option<i32>,
    calculated: Option<bool>,
    reported_unit: Option<String>,
    group_bucket_name: Option<String>,
    /// Included.
    lower_value_bound: Option<f64>,
    /// Included.
    upper_value_bound: Option<f64>,
    quality_range: Option<QualityRange>,
}

/// Verdicts from one to another, both included.
#[derive(ToSchema)]
pub struct QualityRange {
    worst: Option<BaseQualityCode>,
    best: Option<BaseQualityCode>,
}
