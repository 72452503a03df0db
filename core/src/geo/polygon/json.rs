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
        shape(self.polygons.iter(), serializer)
    }
}

/// Several outlines as one geometry; `null` if there are none.
#[cfg(feature = "alert")]
#[derive(Clone, Debug)]
pub(crate) struct Outlines<'a>(pub Vec<&'a MultiPolygon>);

#[cfg(feature = "alert")]
impl Serialize for Outlines<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_empty() {
            return serializer.serialize_none();
        }
        shape(self.0.iter().flat_map(|outline| &outline.polygons), serializer)
    }
}

fn shape<'a, S: Serializer>(
    polygons: impl Iterator<Item = &'a Polygon>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Shape<T> {
        r#type: &'static str,
        coordinates: T,
    }
    let mut rings: Vec<_> = polygons.map(Rings).collect();
    match rings.pop() {
        Some(one) if rings.is_empty() => {
            Shape { r#type: "Polygon", coordinates: one }.serialize(serializer)
        }
        last => {
            rings.extend(last);
            Shape { r#type: "MultiPolygon", coordinates: rings }.serialize(serializer)
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

#[cfg(all(test, feature = "alert"))]
mod tests {
    use super::*;

    #[test]
    fn outlines_are_put_together_as_one_geometry() {
        let outline = |text: &str| serde_json::from_str::<MultiPolygon>(text).unwrap();
        let one = outline(r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#);
        let two = outline(
            r#"{"type":"MultiPolygon","coordinates":[[[[2,0],[3,0],[3,1],[2,0]]],[[[4,0],[5,0],[5,1],[4,0]]]]}"#,
        );
        let of = |outlines: &[&MultiPolygon]| {
            serde_json::to_string(&Outlines(outlines.to_vec())).unwrap()
        };
        assert_eq!(of(&[]), "null");
        assert_eq!(of(&[&one]), serde_json::to_string(&one).unwrap());
        assert_eq!(of(&[&two]), serde_json::to_string(&two).unwrap());
        let all = outline(&of(&[&one, &two, &one]));
        assert_eq!(all.polygons().len(), 4);
        assert_eq!(all.polygons()[1..3], *two.polygons());
    }
}
