//! Alerts and zones as GeoJSON.

use std::collections::BTreeMap;

use utoipa::openapi::schema::{OneOfBuilder, Schema};
use utoipa::openapi::{Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use super::{CollectionType, FeatureType, Position, ZoneKind};

/// A GeoJSON FeatureCollection of alerts, newest first.
#[derive(ToSchema)]
pub struct Alerts {
    r#type: CollectionType,
    features: Vec<AlertFeature>,
}

#[derive(ToSchema)]
pub struct AlertFeature {
    r#type: FeatureType,
    /// Id of the alert.
    id: String,
    /// Null if no outline is known.
    #[schema(required = true)]
    geometry: Option<Geometry>,
    properties: Alert,
}

/// An outline; rings are closed, the first of a polygon is its outer one.
pub struct Geometry;

impl PartialSchema for Geometry {
    fn schema() -> RefOr<Schema> {
        let named = |name| Ref::from_schema_name(name);
        OneOfBuilder::new()
            .item(named(PolygonGeometry::name()))
            .item(named(MultiPolygonGeometry::name()))
            .into()
    }
}

impl ToSchema for Geometry {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((PolygonGeometry::name().into(), PolygonGeometry::schema()));
        schemas.push((MultiPolygonGeometry::name().into(), MultiPolygonGeometry::schema()));
        PolygonGeometry::schemas(schemas);
        MultiPolygonGeometry::schemas(schemas);
    }
}

#[derive(ToSchema)]
pub struct PolygonGeometry {
    r#type: PolygonType,
    coordinates: Vec<Vec<Position>>,
}

#[derive(ToSchema)]
pub struct MultiPolygonGeometry {
    r#type: MultiPolygonType,
    coordinates: Vec<Vec<Vec<Position>>>,
}

#[derive(ToSchema)]
pub enum PolygonType {
    Polygon,
}

#[derive(ToSchema)]
pub enum MultiPolygonType {
    MultiPolygon,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Alert {
    id: String,
    issuer: String,
    message_type: MessageType,
    /// When it was sent, if the message does not say.
    #[schema(format = DateTime)]
    effective_time: String,
    /// When the event begins.
    #[schema(required = false, format = DateTime)]
    onset: String,
    #[schema(required = false, format = DateTime)]
    expiry_time: String,
    alert_confidence: AlertConfidence,
    alert_impact: AlertImpact,
    alert_colour: AlertColour,
    alert_type: AlertType,
    #[schema(required = false)]
    severity: AlertSeverity,
    #[schema(required = false)]
    urgency: AlertUrgency,
    #[schema(required = false)]
    certainty: AlertCertainty,
    alert_headline: String,
    alert_description: String,
    /// What to do.
    #[schema(required = false)]
    instruction: String,
    /// Language of the texts, such as `en-CA`.
    #[schema(required = false)]
    language: String,
    /// As of the time of the request, over the whole chain of messages.
    status: AlertStatus,
    #[schema(format = DateTime)]
    sent: String,
    #[schema(required = false)]
    event: String,
    /// Codes of the event by the name of their list.
    #[schema(required = false)]
    event_codes: BTreeMap<String, Vec<String>>,
    /// A page about the alert.
    #[schema(required = false)]
    web: String,
    /// The alerts that it follows.
    #[schema(required = false)]
    previous_ids: Vec<String>,
    /// The alerts that follow it.
    #[schema(required = false)]
    next_ids: Vec<String>,
    #[schema(required = false, format = DateTime)]
    event_end_time: String,
    #[schema(required = false)]
    risk_ranking: i32,
    #[schema(required = false)]
    coverage: String,
    #[schema(required = false)]
    designation_code: String,
    #[schema(required = false)]
    storm: AlertStorm,
    /// Codes of Specific Area Message Encoding.
    #[schema(required = false)]
    same_codes: Vec<String>,
    /// What the geometry lacks: codes of zones whose outline is not known, and names of areas that
    /// have neither a code nor an outline.
    #[schema(required = false)]
    missing_zones: Vec<String>,
    #[schema(required = false)]
    areas: Vec<AlertArea>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct AlertStorm {
    #[schema(required = false, format = DateTime)]
    time: String,
    #[schema(required = false)]
    speed_kmh: f64,
    /// Where it moves to, clockwise from north.
    #[schema(required = false)]
    direction_deg: f64,
    #[schema(required = false)]
    geometry_type: String,
    points: Vec<LatLon>,
    #[schema(required = false)]
    motion: String,
    #[schema(required = false)]
    position: String,
    #[schema(required = false)]
    reference_points: Vec<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct AlertArea {
    description: String,
    kind: AreaKind,
    threat_status: ThreatStatus,
    /// The state of the alert in this area.
    status: AlertStatus,
    /// Code of the zone: CLC in Canada, UGC in the United States.
    #[schema(required = false)]
    clc_code: String,
    /// The same, only in the United States.
    #[schema(required = false)]
    ugc_code: String,
    /// Only of fire weather zones, whose codes are those of forecast zones too.
    #[schema(required = false)]
    zone_kind: ZoneKind,
    /// The rings that the message itself draws.
    polygons: Vec<Vec<LatLon>>,
    /// With the fields below: what the message says here, only where it is not what the alert says.
    #[schema(required = false)]
    event: String,
    #[schema(required = false)]
    alert_type: AlertType,
    #[schema(required = false)]
    severity: AlertSeverity,
    #[schema(required = false)]
    urgency: AlertUrgency,
    #[schema(required = false)]
    certainty: AlertCertainty,
    #[schema(required = false)]
    alert_impact: AlertImpact,
    #[schema(required = false)]
    alert_confidence: AlertConfidence,
    #[schema(required = false)]
    alert_colour: AlertColour,
    #[schema(required = false, format = DateTime)]
    effective_time: String,
    #[schema(required = false, format = DateTime)]
    onset: String,
    #[schema(required = false, format = DateTime)]
    expiry_time: String,
    #[schema(required = false, format = DateTime)]
    event_end_time: String,
    #[schema(required = false)]
    alert_headline: String,
    #[schema(required = false)]
    alert_description: String,
    #[schema(required = false)]
    instruction: String,
}

#[derive(ToSchema)]
pub struct LatLon {
    lat: f64,
    lon: f64,
}

/// Declares enumerations of the words of alerts. Each has `Unknown`.
macro_rules! of_alerts {
    ($($name:ident { $($word:ident)* })*) => {$(
        #[derive(ToSchema)]
        pub enum $name { $($word,)* Unknown }
    )*};
}

of_alerts! {
    MessageType { Alert Update Cancel }
    AlertConfidence { Low Moderate High VeryHigh }
    AlertImpact { Low Moderate High Extreme }
    AlertColour { Yellow Orange Red }
    AlertType { Statement Advisory Watch Warning }
    AlertSeverity { Extreme Severe Moderate Minor }
    AlertUrgency { Immediate Expected Future Past }
    AlertCertainty { Observed Likely Possible Unlikely }
    AlertStatus { Active Superseded Ended Cancelled }
    AreaKind { Coverage ThreatArea }
    ThreatStatus { Issued Continued Ended Cancelled }
}

/// A GeoJSON FeatureCollection of zones, in the order of the codes.
#[derive(ToSchema)]
pub struct Zones {
    r#type: CollectionType,
    features: Vec<ZoneFeature>,
}

#[derive(ToSchema)]
pub struct ZoneFeature {
    r#type: FeatureType,
    /// The code.
    id: String,
    geometry: Geometry,
    properties: Zone,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Zone {
    /// CLC in Canada, UGC in the United States.
    clc_code: String,
    /// The same, only in the United States.
    #[schema(required = false)]
    ugc_code: String,
    kind: ZoneKind,
    name_en: String,
    name_fr: String,
    #[schema(required = false)]
    area_km2: f64,
    #[schema(required = false)]
    centroid: LatLon,
    /// Whether it is in use no longer; only if so.
    #[schema(required = false)]
    retired: bool,
}
