//! The shapes of bodies that are written piece by piece or have no type of their own. Other bodies
//! are described at the types that are served.
//!
//! No code makes values of these types. The test stage `interface` compares them with the answers
//! of a running server, member by member.
#![expect(dead_code, reason = "only the form of these types is used")]
#![expect(unused_qualifications, reason = "the derived code has them")]

use std::collections::BTreeMap;

use mesonet::query::StationDetail;
use mesonet::{IntervalType, StationId, alert, zone};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{OneOfBuilder, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::auth::Rejection;

/// Why an account token is rejected.
#[derive(ToSchema)]
pub struct Rejected {
    reason: Rejection,
}

/// A fault of the server (RFC 7807).
#[derive(ToSchema)]
pub struct Problem {
    r#type: String,
    title: String,
    status: u16,
    /// `urn:mesonet:request:` and the id of the request in the log.
    instance: String,
}

/// Stations by id.
#[derive(ToSchema)]
pub struct StationDetails(BTreeMap<String, StationDetail>);

/// The canonical unit of each variable, by its name.
#[derive(ToSchema)]
pub struct Units(BTreeMap<String, String>);

/// A GeoJSON FeatureCollection of alerts, newest first.
#[derive(ToSchema)]
pub struct Alerts {
    r#type: CollectionType,
    features: Vec<alert::Feature<'static>>,
}

/// A GeoJSON FeatureCollection of zones, in the order of the codes.
#[derive(ToSchema)]
pub struct Zones {
    r#type: CollectionType,
    features: Vec<zone::Zone>,
}

#[derive(ToSchema)]
enum CollectionType {
    FeatureCollection,
}

/// Which readings of a station are wanted. What is left out, or null, does not narrow the choice.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SeriesRequest {
    station_id: StationId,
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

/// The definition of a native grid: its type has a variant for each projection.
#[derive(ToSchema)]
pub struct GridDefinition {
    /// As `ny`.
    rows: u32,
    /// As `nx`.
    columns: u32,
    /// Name of the projection; which of the members after it are there depends on it.
    projection: String,
    #[schema(required = false)]
    radius_m: f64,
    #[schema(required = false)]
    flattening: f64,
    #[schema(required = false)]
    origin_lat: f64,
    #[schema(required = false)]
    true_lat: f64,
    #[schema(required = false)]
    central_lon: f64,
    /// Two parallels of a conic projection, or the number of parallels of a Gaussian grid.
    #[schema(required = false)]
    parallels: Parallels,
    #[schema(required = false)]
    south_pole_lat: f64,
    #[schema(required = false)]
    south_pole_lon: f64,
    #[schema(required = false)]
    south: bool,
    /// The cell at row 0 and column 0.
    first_lon: f64,
    first_lat: f64,
    /// Metres on a map, degrees on a globe.
    column_step: f64,
    row_step: f64,
    /// Whether winds are along the axes of the grid.
    grid_relative_winds: bool,
}

pub struct Parallels;

impl PartialSchema for Parallels {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new().item(Vec::<f64>::schema()).item(u32::schema()).into()
    }
}

impl ToSchema for Parallels {}
