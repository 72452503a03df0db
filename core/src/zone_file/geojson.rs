//! Zones in a GeoJSON FeatureCollection.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::{MAX_ZONE_FILE_BYTES, Row, Rows, Value, ZoneFile, ZoneFileError};
use crate::geometry::outline_of_geojson;
use crate::zone::ZoneKind;

#[derive(Deserialize)]
struct Collection<'a> {
    r#type: String,
    #[serde(default)]
    crs: Option<Json>,
    #[serde(borrow)]
    features: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Feature<'a> {
    #[serde(default)]
    properties: Option<Map<String, Json>>,
    #[serde(borrow, default)]
    geometry: Option<&'a RawValue>,
}

/// Reads zones from a GeoJSON FeatureCollection.
///
/// The code is in a property `CLC`, `clcCode`, `UGC`, `ugcCode`, `STATE_ZONE`, `FIPS` (with `STATE`)
/// or `id`, the names in `NAME`, `NOM`, `nameEn`, `nameFr`, the area in `AREA_KM2`, the centroid in
/// `LON_DD` and `LAT_DD` or `LON` and `LAT`; letters of either case. A UGC with a Z is of the kind
/// that `kind` or `type` says, else of the hint, else marine where it begins as a marine one does,
/// else public. Features that are no zone are counted and told.
///
/// ```
/// use mesonet::{ZoneKind, read_zone_geojson};
/// let text = br#"{"type":"FeatureCollection","features":[
///     {"type":"Feature","properties":{"CLC":"041320","NOM":"Sarnia"},"geometry":null},
///     {"type":"Feature","properties":{"UGC":"OKZ25"},"geometry":null}]}"#;
/// let file = read_zone_geojson(text, None)?;
/// assert_eq!((file.rows, file.zones.len(), file.refused), (2, 1, 1));
/// assert_eq!(file.zones[0].kind, ZoneKind::Base);
/// assert!(file.refusals[0].reason.starts_with("\"OKZ25\" is no zone code"));
/// # Ok::<(), mesonet::ZoneFileError>(())
/// ```
///
/// # Errors
/// The bytes are no FeatureCollection, or of another coordinate system than RFC 7946's.
pub fn read_zone_geojson(bytes: &[u8], hint: Option<ZoneKind>) -> Result<ZoneFile, ZoneFileError> {
    if bytes.len() as u64 > MAX_ZONE_FILE_BYTES {
        return Err(ZoneFileError::Size(bytes.len() as u64));
    }
    let collection: Collection<'_> =
        serde_json::from_slice(bytes).map_err(|error| ZoneFileError::GeoJson(error.to_string()))?;
    if collection.r#type != "FeatureCollection" {
        return Err(ZoneFileError::GeoJson(format!("its type is {:?}", collection.r#type)));
    }
    // RFC 7946 has none; GeoJSON before it did, and this is how it named the one that we read.
    if let Some(crs) = collection.crs.filter(|crs| !crs.is_null()) {
        let name = crs["properties"]["name"].as_str().unwrap_or_default();
        if !name.ends_with("CRS84") && !name.ends_with("EPSG::4326") && name != "EPSG:4326" {
            return Err(ZoneFileError::Crs(crs.to_string()));
        }
    }
    let mut rows = Rows::default();
    for feature in collection.features {
        rows.take(row(feature).map_err(|error| error.to_string()), hint);
    }
    Ok(rows.file)
}

fn row(feature: &RawValue) -> Result<Row, serde_json::Error> {
    let Feature { properties, geometry } = serde_json::from_str(feature.get())?;
    let columns = properties.unwrap_or_default().into_iter().filter_map(|(name, value)| {
        let value = match value {
            Json::String(text) => Value::Text(text),
            Json::Number(number) => Value::Number(number.as_f64()?),
            _ => return None,
        };
        Some((name, value))
    });
    let geometry = geometry.filter(|geometry| geometry.get() != "null");
    let outline = geometry.map(|geometry| outline_of_geojson(geometry.get())).transpose()?;
    Ok(Row { columns: columns.collect(), outline: outline.unwrap_or_default() })
}
