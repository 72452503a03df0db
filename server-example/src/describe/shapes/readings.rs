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

/// Which readings of a station are wanted. Members that are left out select nothing.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SeriesRequest {
    station_id: Uuid,
    /// Name of the variable, exact.
    name: String,
    #[schema(required = false)]
    interval_type: IntervalType,
    #[schema(required = false)]
    interval_minutes: i32,
    /// True: only derived values. False: only reported ones.
    #[schema(required = false)]
    calculated: bool,
    #[schema(required = false)]
    reported_unit: String,
    #[schema(required = false)]
    group_bucket_name: String,
    /// Without effect.
    #[schema(required = false)]
    station_ids: Vec<String>,
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
    #[schema(required = false)]
    requests: Vec<BulkEntry>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct BulkEntry {
    #[schema(required = false)]
    name: String,
    #[schema(required = false)]
    interval_type: IntervalType,
    #[schema(required = false)]
    interval_minutes: i32,
    #[schema(required = false)]
    calculated: bool,
    #[schema(required = false)]
    reported_unit: String,
    #[schema(required = false)]
    group_bucket_name: String,
    /// Included.
    #[schema(required = false)]
    lower_value_bound: f64,
    /// Included.
    #[schema(required = false)]
    upper_value_bound: f64,
    #[schema(required = false)]
    quality_range: QualityRange,
}

/// Verdicts from one to another, both included.
#[derive(ToSchema)]
pub struct QualityRange {
    #[schema(required = false)]
    worst: BaseQualityCode,
    #[schema(required = false)]
    best: BaseQualityCode,
}
