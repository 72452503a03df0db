//! Polygons as GeoJSON geometries.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::geo::{LonLat, MultiPolygon, Polygon};

/// A geometry as it is read.
#[derive(Deserialize)]
#[serde(tag = "type", content = "coordinates", expecting = "a GeoJSON Polygon or MultiPolygon")]
enum Geometry<P> {
    Polygon(Vec<Vec<P>>),
    MultiPolygon(Vec<Vec<Vec<P>>>),
}

impl<P> Geometry<P> {
    fn polygons(self) -> Vec<Vec<Vec<P>>> {
        match self {
            Self::Polygon(rings) => vec![rings],
            Self::MultiPolygon(polygons) => polygons,
        }
    }
}

/// Longitude, latitude and optionally an altitude.
struct JsonPosition(LonLat);

impl<'de> Deserialize<'de> for JsonPosition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers;
        impl<'de> Visitor<'de> for Numbers {
            type Value = JsonPosition;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a position of two or three numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(
                self,
                mut numbers: A,
            ) -> Result<JsonPosition, A::Error> {
                let missing = |count| A::Error::invalid_length(count, &self);
                let lon = numbers.next_element()?.ok_or_else(|| missing(0))?;
                let lat = numbers.next_element()?.ok_or_else(|| missing(1))?;
                let _altitude: Option<f64> = numbers.next_element()?;
                if numbers.next_element::<f64>()?.is_some() {
                    return Err(missing(4));
                }
                LonLat::new(lon, lat).map(JsonPosition).map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_seq(Numbers)
    }
}

/// The rings of each polygon of a GeoJSON geometry, outer ring first, as given.
pub(crate) fn outline_of_geojson(text: &str) -> Result<Vec<Vec<Vec<LonLat>>>, serde_json::Error> {
    let geometry: Geometry<JsonPosition> = serde_json::from_str(text)?;
    let rings = |rings: Vec<Vec<JsonPosition>>| {
        rings.into_iter().map(|ring| ring.into_iter().map(|at| at.0).collect()).collect()
    };
    Ok(geometry.polygons().into_iter().map(rings).collect())
}

/// The area of a GeoJSON geometry that may break the rules, as [`MultiPolygon::mended`] reads each of
/// its polygons, and whether all of it could be read.
pub(crate) fn mended_geojson<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<(Option<MultiPolygon>, bool), D::Error> {
    let polygons = Geometry::<Vec<f64>>::deserialize(deserializer)?.polygons();
    let place = |at: &Vec<f64>| match at[..] {
        [lon, lat] | [lon, lat, _] => LonLat::turned(lon, lat).ok(),
        _ => None,
    };
    let mended = |rings: &Vec<Vec<Vec<f64>>>| {
        let ring = |ring: &Vec<Vec<f64>>| ring.iter().map(place).collect::<Option<Vec<_>>>();
        MultiPolygon::mended(&rings.iter().map(ring).collect::<Option<Vec<_>>>()?).ok()
    };
    let parts: Vec<MultiPolygon> = polygons.iter().filter_map(mended).collect();
    let is_whole = parts.len() == polygons.len();
    let parts = parts.into_iter().flat_map(|part| part.polygons);
    Ok((MultiPolygon::new(parts).ok(), is_whole))
}

impl<'de> Deserialize<'de> for MultiPolygon {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let polygons = Geometry::<JsonPosition>::deserialize(deserializer)?.polygons();
        let polygon = |rings: Vec<Vec<JsonPosition>>| {
            let mut rings = rings.into_iter().map(|ring| ring.into_iter().map(|at| at.0).collect());
            let exterior: Vec<LonLat> = rings.next().unwrap_or_default();
            Polygon::new(&exterior, &rings.collect::<Vec<_>>())
        };
        let polygons: Result<Vec<_>, _> = polygons.into_iter().map(polygon).collect();
        polygons.and_then(Self::new).map_err(D::Error::custom)
    }
}

impl Serialize for MultiPolygon {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let outline = if let [one] = &*self.polygons {
            Outline::One(PolygonGeometry { r#type: PolygonType::Polygon, coordinates: Rings(one) })
        } else {
            let coordinates = self.polygons.iter().map(Rings).collect();
            let r#type = MultiPolygonType::MultiPolygon;
            Outline::Several(MultiPolygonGeometry { r#type, coordinates })
        };
        outline.serialize(serializer)
    }
}

/// The outline of an area, as it is written.
#[derive(Serialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Geometry))]
enum Outline<'a> {
    One(PolygonGeometry<'a>),
    Several(MultiPolygonGeometry<'a>),
}

described_as!(MultiPolygon, Outline<'static>);

/// An outline; its rings are closed, and the first is the outer one.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct PolygonGeometry<'a> {
    r#type: PolygonType,
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<LonLat>>))]
    coordinates: Rings<'a>,
}

/// Several outlines.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
struct MultiPolygonGeometry<'a> {
    r#type: MultiPolygonType,
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<Vec<Vec<LonLat>>>))]
    coordinates: Vec<Rings<'a>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
enum PolygonType {
    Polygon,
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
enum MultiPolygonType {
    MultiPolygon,
}

/// The rings of a polygon as arrays of positions.
struct Rings<'a>(&'a Polygon);

impl Serialize for Rings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let holes = self.0.holes();
        let mut rings = serializer.serialize_seq(Some(1 + holes.len()))?;
        rings.serialize_element(&self.0.exterior().collect::<Vec<_>>())?;
        for hole in holes {
            rings.serialize_element(&hole.collect::<Vec<_>>())?;
        }
        rings.end()
    }
}
