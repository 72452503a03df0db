//! What became of a file that was pushed.

use std::collections::BTreeMap;

use utoipa::ToSchema;

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Pushed {
    /// Whether everything in the file was taken.
    whole: bool,
    /// By kind of file.
    kinds: BTreeMap<String, PushedKind>,
    /// Of raster products.
    #[schema(required = false)]
    products: PushedProducts,
    /// Of the files of a model.
    #[schema(required = false)]
    models: PushedModel,
    #[schema(required = false)]
    copies: u64,
    faults: Faults,
    /// Reports of stations whose place is unknown, by network and station.
    place_unknown: BTreeMap<String, u64>,
    #[schema(required = false)]
    late_stations: u64,
    in_the_future: BTreeMap<String, u64>,
    /// Reports that are more than a kilometre from their stations, by network and station: the stations stay where
    /// they were until another report or a table confirms it.
    #[schema(required = false)]
    placed_elsewhere: BTreeMap<String, u64>,
    /// The cutoff of retention, if readings are from before it: they were not stored.
    #[schema(required = false, value_type = String, format = DateTime)]
    expired_before: String,
    #[schema(required = false)]
    store_error: String,
    seconds: f64,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PushedKind {
    files: u64,
    reports: u64,
    readings: u64,
    added: u64,
    replaced: u64,
    unchanged: u64,
    overtaken: u64,
    expired: u64,
    revised: u64,
    refused: Faults,
    kept_as_reported: BTreeMap<String, u64>,
    without_variable: BTreeMap<String, u64>,
    unread_values: BTreeMap<String, u64>,
}

/// How many there are, and the first of them.
#[derive(ToSchema)]
pub struct Faults {
    count: u64,
    first: Vec<FileFault>,
}

#[derive(ToSchema)]
pub struct FileFault {
    file: String,
    error: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PushedProducts {
    files: u64,
    written: WrittenProducts,
    unchanged: u64,
    other_fields: u64,
    refused: Faults,
}

#[derive(ToSchema)]
pub struct WrittenProducts {
    count: u64,
    first: Vec<WrittenFile>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct WrittenFile {
    product: String,
    /// `instant` or a length of time.
    duration: String,
    #[schema(format = DateTime)]
    timestamp: String,
    width: u32,
    height: u32,
    bytes: u64,
    packing_error: f64,
    unit: String,
    /// Values beyond the packing range.
    clamped: u64,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct PushedModel {
    model: String,
    files: u64,
    fields: u64,
    used: u64,
    other_fields: u64,
    replaced: u64,
    there_already: u64,
    refused: u64,
    refusals: Vec<PushedRefusal>,
    runs: Vec<WrittenRun>,
    /// Runs that were removed because newer ones came.
    removed: Vec<String>,
    #[schema(required = false)]
    failure: String,
    #[schema(required = false)]
    retention_error: String,
}

#[derive(ToSchema)]
pub struct PushedRefusal {
    file: String,
    field: String,
    error: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct WrittenRun {
    run: String,
    /// Indices of the hours that were published.
    hours: Vec<u32>,
    of_hours: u32,
    products: Vec<WrittenProduct>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct WrittenProduct {
    name: String,
    unit: String,
    hours: u32,
    fields: u64,
    missing_levels: u64,
    half_step: f64,
    packing_error: f64,
}
