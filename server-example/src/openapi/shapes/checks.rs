//! What the quality checks say.

use utoipa::ToSchema;

use super::{Check, Qualifier, Quality, Uuid};

/// Why a reading has its verdict.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Explanation {
    station_id: Uuid,
    type_id: i32,
    #[schema(required = false)]
    qualifier: Qualifier,
    /// Name of the variable.
    variable: String,
    unit: String,
    #[schema(format = DateTime)]
    timestamp: String,
    #[schema(required = true)]
    value: Option<f64>,
    /// The verdict of the source. Good is kept; Unknown is none.
    source: Quality,
    /// The checks that concern the variable, in their order; none if the source said Good.
    checks: Vec<CheckReport>,
    verdict: Quality,
    /// The check that gave the verdict.
    #[schema(required = false)]
    decided_by: Check,
    /// The inputs of a calculated reading, whose verdict is the worst of theirs.
    #[schema(required = false)]
    calculated_from: Vec<InputVerdict>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CheckReport {
    check: Check,
    ran: bool,
    #[schema(required = false)]
    not_run_because: String,
    inputs: Vec<CheckInput>,
    limits: Vec<CheckLimit>,
    /// Nearest first; only of the checks that compare stations.
    #[schema(required = false)]
    neighbours: Vec<Neighbour>,
    #[schema(required = false)]
    outcome: Quality,
}

#[derive(ToSchema)]
pub struct CheckInput {
    name: String,
    #[schema(required = true)]
    value: Option<f64>,
    unit: String,
    #[schema(required = false, format = DateTime)]
    timestamp: String,
}

#[derive(ToSchema)]
pub struct CheckLimit {
    name: String,
    #[schema(required = false)]
    min: f64,
    #[schema(required = false)]
    max: f64,
    unit: String,
    /// Where the limit was published.
    source: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Neighbour {
    #[schema(required = false)]
    station_id: Uuid,
    #[schema(required = false)]
    name: String,
    distance_km: f64,
    /// How much higher it is.
    rise_m: f64,
    value: f64,
    /// 0 if it is unlike the others and so left out.
    weight: f64,
    #[schema(required = false)]
    standardized_difference: f64,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct InputVerdict {
    /// Name of the variable.
    r#type: String,
    type_id: i32,
    value: f64,
    quality: Quality,
}

/// The verdicts on a station in a window, and what its neighbours say.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct StationQuality {
    station_id: Uuid,
    name: String,
    #[schema(format = DateTime)]
    start: String,
    #[schema(format = DateTime)]
    end: String,
    variables: Vec<VariableQuality>,
}

#[derive(ToSchema)]
pub struct VariableQuality {
    /// Name of the variable.
    r#type: String,
    months: Vec<MonthOfVerdicts>,
    #[schema(required = false)]
    neighbours: AgainstNeighbours,
}

#[derive(ToSchema)]
pub struct MonthOfVerdicts {
    /// Year and month in UTC.
    #[schema(pattern = "^[0-9]{4}-[0-9]{2}$")]
    month: String,
    readings: u64,
    /// The worst first.
    verdicts: Vec<VerdictRate>,
}

#[derive(ToSchema)]
pub struct VerdictRate {
    quality: Quality,
    readings: u64,
    #[schema(minimum = 0, maximum = 1)]
    share: f64,
}

/// Differences, station minus neighbours, in the unit of the variable.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct AgainstNeighbours {
    unit: String,
    compared: u64,
    mean_difference: f64,
    median_difference: f64,
    spread: f64,
    /// In standard deviations.
    median_standardized_difference: f64,
    #[schema(minimum = 0, maximum = 1)]
    share_flagged: f64,
    days: Vec<DayAgainstNeighbours>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct DayAgainstNeighbours {
    #[schema(format = Date)]
    day: String,
    compared: u64,
    mean_difference: f64,
    median_difference: f64,
    #[schema(minimum = 0, maximum = 1)]
    share_flagged: f64,
}
