//! Stations and their series.

use std::collections::BTreeMap;

use utoipa::ToSchema;

use super::{BaseQualityCode, IntervalType, Uuid};

/// Stations by id.
#[derive(ToSchema)]
pub struct StationDetails(BTreeMap<String, StationDetail>);

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct StationDetail {
    /// Data provider, as the source feed names it.
    network: String,
    /// Unique only within a network.
    name: String,
    #[schema(required = false)]
    station_type: StationType,
    /// What the most recent report says of the weather.
    #[schema(required = false)]
    present_weather: Vec<String>,
    /// Where it is now.
    coordinates: Position,
    /// Height of the sensor above ground in metres; 0 where the network gives none.
    elevation: f64,
    /// When the station last reported.
    #[schema(required = false, format = DateTime)]
    update_time: String,
    /// The series that it reports.
    types: Vec<ObservationType>,
    /// Distinct verdicts on its latest readings of map variables over 12 hours, worst first.
    qualities: Vec<BaseQualityCode>,
    /// Its ids by scheme: `icao`, `wmo`, the provider's own and others.
    identifiers: BTreeMap<String, Vec<String>>,
    /// Where it was before it moved, the oldest first, at most 64; absent if it has not. Readings before `until` are
    /// from there.
    #[schema(required = false)]
    earlier_places: Vec<EarlierPlace>,
}

/// A place where a station was before it moved.
#[derive(ToSchema)]
pub struct EarlierPlace {
    /// The first moment at which it was elsewhere.
    #[schema(format = DateTime)]
    until: String,
    coordinates: Position,
}

/// The exposure of a station.
#[derive(ToSchema)]
pub enum StationType {
    OpenCountry,
    Suburban,
    OpenWater,
}

/// Longitude and latitude, degrees.
#[derive(ToSchema)]
#[schema(min_items = 2, max_items = 2)]
pub struct Position(Vec<f64>);

/// A series: one variable at one station, measured in one way.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ObservationType {
    /// Readings name it as `typeId`.
    id: i32,
    /// Name of the variable.
    name: String,
    pretty_name: String,
    /// Label of the group that it belongs to, such as a layer of clouds; else empty.
    group_bucket_name: String,
    /// Unit of its values.
    reported_unit: String,
    /// Whether the service derives its values.
    calculated: bool,
    interval_type: IntervalType,
    /// Length of averaging or accumulation; 0 if instantaneous.
    interval_minutes: i32,
    #[schema(format = DateTime)]
    first_appearance: String,
}

/// A GeoJSON FeatureCollection of stations.
#[derive(ToSchema)]
pub struct StationMarkers {
    r#type: CollectionType,
    features: Vec<StationMarker>,
}

#[derive(ToSchema)]
pub enum CollectionType {
    FeatureCollection,
}

#[derive(ToSchema)]
pub enum FeatureType {
    Feature,
}

#[derive(ToSchema)]
pub enum PointType {
    Point,
}

#[derive(ToSchema)]
pub struct StationMarker {
    r#type: FeatureType,
    /// Id of the station.
    id: Uuid,
    geometry: PointGeometry,
    properties: NoProperties,
}

#[derive(ToSchema)]
pub struct PointGeometry {
    r#type: PointType,
    coordinates: Position,
}

/// Always empty.
#[derive(ToSchema)]
#[schema(max_properties = 0)]
pub struct NoProperties {}

/// The canonical unit of each variable, by its name.
#[derive(ToSchema)]
pub struct Units(BTreeMap<String, String>);
