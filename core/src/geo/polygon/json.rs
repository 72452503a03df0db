//! Polygons as GeoJSON geometries.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::geo::{LonLat, MultiPolygon, Polygon};

/// A geometry as it is read.
#[derive(Deserialize)]
#[serde(tag = "type", content = "coordinates", expecting = "a GeoJSON Polygon or MultiPolygon")]
enum Geometry {
    Polygon(Vec<Vec<Position>>),
    MultiPolygon(Vec<Vec<Vec<Position>>>),
}

/// Longitude, latitude and optionally an altitude.
struct Position(LonLat);

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Numbers;
        impl<'de> Visitor<'de> for Numbers {
            type Value = Position;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a position of two or three numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Position, A::Error> {
                let missing = |count| A::Error::invalid_length(count, &self);
                let lon = numbers.next_element()?.ok_or_else(|| missing(0))?;
                let lat = numbers.next_element()?.ok_or_else(|| missing(1))?;
                let _altitude: Option<f64> = numbers.next_element()?;
                if numbers.next_element::<f64>()?.is_some() {
                    return Err(missing(4));
                }
                LonLat::new(lon, lat).map(Position).map_err(A::Error::custom)
            }
        }
        deserializer.deserialize_seq(Numbers)
    }
}

/// The rings of each polygon of a GeoJSON geometry, outer ring first, as given.
#[cfg(feature = "zone-files")]
pub(crate) fn outline_of_geojson(text: &str) -> Result<Vec<Vec<Vec<LonLat>>>, serde_json::Error> {
    let rings = |rings: Vec<Vec<Position>>| {
        rings.into_iter().map(|ring| ring.into_iter().map(|at| at.0).collect()).collect()
    };
    Ok(match serde_json::from_str(text)? {
        Geometry::Polygon(polygon) => vec![rings(polygon)],
        Geometry::MultiPolygon(polygons) => polygons.into_iter().map(rings).collect(),
    })
}

impl<'de> Deserialize<'de> for MultiPolygon {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let polygons = match Geometry::deserialize(deserializer)? {
            Geometry::Polygon(rings) => vec![rings],
            Geometry::MultiPolygon(polygons) => polygons,
        };
        let polygon = |rings: Vec<Vec<Position>>| {
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
        #[derive(Serialize)]
        struct Shape<T> {
            r#type: &'static str,
            coordinates: T,
        }
        match &self.polygons[..] {
            [one] => Shape { r#type: "Polygon", coordinates: Rings(one) }.serialize(serializer),
            all => {
                let coordinates: Vec<_> = all.iter().map(Rings).collect();
                Shape { r#type: "MultiPolygon", coordinates }.serialize(serializer)
            }
        }
    }
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
