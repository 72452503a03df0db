//! An alert as a feature of GeoJSON.

use std::borrow::Cow;

use serde::Serialize;

use crate::alert::{Alert, AlertState, Message, geometry, missing_zones};
use crate::geo::{FeatureType, MultiPolygon};
use crate::zone::Zones;

/// An alert with the outlines of its areas, as the service returns it.
///
/// The geometry is the union of its [outlines](crate::alert::outlines), in which touching outlines
/// are dissolved; `null` if no outline is known. The property `missingZones` lists the places that
/// it lacks.
///
/// ```
/// use mesonet::alert::{self, Feature};
/// use mesonet::zone::Zones;
/// let square = r#"{"type":"Polygon","coordinates":[[[-98,35],[-97,35],[-97,36],[-98,36],[-98,35]]]}"#;
/// let area = alert::MessageArea { geometry: Some(serde_json::from_str(square)?), ..Default::default() };
/// let part = alert::Part { areas: vec![area], ..Default::default() };
/// let message = alert::Message { id: "1".into(), parts: vec![part], ..Default::default() };
/// let states = alert::resolve(&[&message], alert::Clock::live(0));
/// let zones = Zones::default();
/// let feature = Feature::new(&message, &states[0], &zones, "en");
/// let json = serde_json::to_value(&feature)?;
/// assert_eq!((&json["type"], &json["id"]), (&"Feature".into(), &"1".into()));
/// assert_eq!(json["geometry"]["type"], "Polygon");
/// assert_eq!(json["properties"]["status"], "Active");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = AlertFeature))]
pub struct Feature<'a> {
    r#type: FeatureType,
    /// Id of the alert.
    id: &'a str,
    /// Null if no outline is known.
    #[cfg_attr(feature = "openapi", schema(required = true, value_type = Option<MultiPolygon>))]
    geometry: Option<Cow<'a, MultiPolygon>>,
    properties: Alert<'a>,
}

impl<'a> Feature<'a> {
    /// A message in a language, with the state that [`resolve`](crate::alert::resolve) returns for
    /// it: see [`Alert::new`].
    pub fn new(message: &'a Message, state: &'a AlertState, zones: &Zones, language: &str) -> Self {
        let geometry = geometry(message, state, zones).map(Cow::Owned);
        Self::with(message, state, geometry, zones, language)
    }

    /// The same, with a [`geometry`] that was computed before. The geometry depends only on the
    /// message, the states of its areas, and the zones.
    pub fn drawn(
        message: &'a Message,
        state: &'a AlertState,
        geometry: Option<&'a MultiPolygon>,
        zones: &Zones,
        language: &str,
    ) -> Self {
        Self::with(message, state, geometry.map(Cow::Borrowed), zones, language)
    }

    fn with(
        message: &'a Message,
        state: &'a AlertState,
        geometry: Option<Cow<'a, MultiPolygon>>,
        zones: &Zones,
        language: &str,
    ) -> Self {
        let mut properties = Alert::new(message, state, language);
        properties.missing_zones = missing_zones(message, zones);
        Self { r#type: FeatureType::Feature, id: &message.id, geometry, properties }
    }
}
