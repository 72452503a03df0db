//! Zones in a GeoJSON FeatureCollection.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::{ColumnValue, ZoneRow, ZoneRows};
use crate::geo::outline_of_geojson;
use crate::zone::{File, MAX_FILE_BYTES, ZoneFileError, ZoneKind};

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
/// The code is in a property `CLC`, `clcCode`, `UGC`, `ugcCode`, `STATE_ZONE`, `FIPS` (with
/// `STATE`) or `id`, the names in `NAME`, `NOM`, `nameEn`, `nameFr`, the area in `AREA_KM2`, the
/// centroid in `LON_DD` and `LAT_DD` or `LON` and `LAT`, in upper or lower case. A UGC with a Z is
/// of the kind given by `kind` or `type`, else by the hint, else marine if it has a marine prefix,
/// else public. Features that are not zones are counted and reported.
///
/// ```
/// use mesonet::zone;
/// let text = br#"{"type":"FeatureCollection","features":[
///     {"type":"Feature","properties":{"CLC":"041320","NOM":"Sarnia"},"geometry":null},
///     {"type":"Feature","properties":{"UGC":"OKZ25"},"geometry":null}]}"#;
/// let file = zone::read_geojson(text, None)?;
/// assert_eq!((file.rows, file.zones.len(), file.refused), (2, 1, 1));
/// assert_eq!(file.zones[0].kind, zone::ZoneKind::Base);
/// assert!(file.refusals[0].reason.starts_with("\"OKZ25\" is not a zone code"));
/// # Ok::<(), mesonet::zone::ZoneFileError>(())
/// ```
///
/// # Errors
/// The bytes are not a FeatureCollection, or use a coordinate system other than RFC 7946's.
pub fn read_geojson(bytes: &[u8], hint: Option<ZoneKind>) -> Result<File, ZoneFileError> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(ZoneFileError::Size(bytes.len() as u64));
    }
    let collection: Collection<'_> =
        serde_json::from_slice(bytes).map_err(|error| ZoneFileError::GeoJson(error.to_string()))?;
    if collection.r#type != "FeatureCollection" {
        return Err(ZoneFileError::GeoJson(format!("its type is {:?}", collection.r#type)));
    }
    // RFC 7946 has no `crs`. Earlier GeoJSON had one, and these are its names for the coordinate
    // system that is read.
    if let Some(crs) = collection.crs.filter(|crs| !crs.is_null()) {
        let name = crs["properties"]["name"].as_str().unwrap_or_default();
        if !name.ends_with("CRS84") && !name.ends_with("EPSG::4326") && name != "EPSG:4326" {
            return Err(ZoneFileError::Crs(crs.to_string()));
        }
    }
    let mut rows = ZoneRows::default();
    for feature in collection.features {
        rows.take(row(feature).map_err(|error| error.to_string()), hint);
    }
    Ok(rows.file)
}

fn row(feature: &RawValue) -> Result<ZoneRow, serde_json::Error> {
    let Feature { properties, geometry } = serde_json::from_str(feature.get())?;
    let columns = properties.unwrap_or_default().into_iter().filter_map(|(name, value)| {
        let value = match value {
            Json::String(text) => ColumnValue::Text(text),
            Json::Number(number) => ColumnValue::Number(number.as_f64()?),
            _ => return None,
        };
        Some((name, value))
    });
    let geometry = geometry.filter(|geometry| geometry.get() != "null");
    let outline = geometry.map(|geometry| outline_of_geojson(geometry.get())).transpose()?;
    Ok(ZoneRow { columns: columns.collect(), outline: outline.unwrap_or_default() })
}
