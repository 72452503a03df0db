//! Zones in a shapefile.

use std::io::Cursor;

use ::geo::{Coord, Intersects, LineString};
use ::shapefile::dbase::encoding::{DynEncoding, Unicode};
use ::shapefile::dbase::{FieldValue, ReaderBuilder, Record};
use ::shapefile::{PolygonRing, Shape, ShapeReader};

use super::{MAX_ZONE_FILE_BYTES, Row, Rows, Value, ZoneFile, ZoneFileError, projection};
use crate::geo::LonLat;
use crate::zone::ZoneKind;

/// The parts of a shapefile. Its index, the `.shx`, is not needed.
#[derive(Clone, Copy, Debug)]
pub struct ZoneShapefile<'a> {
    /// The shapes.
    pub shp: &'a [u8],
    /// The table.
    pub dbf: &'a [u8],
    /// The coordinate system.
    pub prj: &'a str,
    /// The encoding of texts in the table, for example `UTF-8` or `1252`. Without it they must be
    /// UTF-8.
    pub cpg: Option<&'a str>,
}

/// Reads zones from a shapefile. Columns are those of [`read_zone_geojson`](super::read_zone_geojson).
///
/// - Coordinates are longitudes and latitudes on WGS 84 or NAD 83, taken as they are; files in a
///   projection are refused.
/// - Of the rings of a shape those that go clockwise are outer rings, the others holes; a hole
///   belongs to the outer ring around it. Altitudes and measures are dropped.
/// - Rows that are no zone are counted and told.
///
/// # Errors
/// A part that cannot be read, parts that are not of one file, another coordinate system.
pub fn read_zone_shapefile(
    file: ZoneShapefile<'_>,
    hint: Option<ZoneKind>,
) -> Result<ZoneFile, ZoneFileError> {
    let ZoneShapefile { shp, dbf, prj, cpg } = file;
    for part in [shp, dbf] {
        if part.len() as u64 > MAX_ZONE_FILE_BYTES {
            return Err(ZoneFileError::Size(part.len() as u64));
        }
    }
    projection::check(prj)?;
    let outlines = outlines(shp)?;
    let rows = rows(dbf, cpg)?;
    if outlines.len() != rows.len() {
        return Err(ZoneFileError::Rows { rows: rows.len(), shapes: outlines.len() });
    }
    let mut zones = Rows::default();
    for (columns, outline) in rows.into_iter().zip(outlines) {
        zones.take(outline.map(|outline| Row { columns, outline }), hint);
    }
    Ok(zones.file)
}

/// The columns of each row of the table that are not empty.
fn rows(dbf: &[u8], cpg: Option<&str>) -> Result<Vec<Vec<(String, Value)>>, ZoneFileError> {
    let refuse = |error: ::shapefile::dbase::Error| ZoneFileError::Table(error.to_string());
    let encoding = match cpg.map(str::trim) {
        None | Some("UTF-8" | "utf-8") => Unicode.into(),
        Some(name) => DynEncoding::from_name(name)
            .ok_or_else(|| ZoneFileError::Encoding(name.chars().take(60).collect()))?,
    };
    let mut table =
        ReaderBuilder::new().with_encoding(encoding).build(Cursor::new(dbf)).map_err(refuse)?;
    let columns = |row: Result<Record, _>| {
        let values = row?.into_iter().filter_map(|(name, value)| {
            let value = match value {
                FieldValue::Character(text) => Value::Text(text?),
                FieldValue::Numeric(number) => Value::Number(number?),
                FieldValue::Float(number) => Value::Number(number?.into()),
                FieldValue::Integer(number) => Value::Number(number.into()),
                FieldValue::Double(number) => Value::Number(number),
                _ => return None,
            };
            Some((name, value))
        });
        Ok(values.collect())
    };
    table.iter_records().map(columns).collect::<Result<_, _>>().map_err(refuse)
}

type Outline = Result<Vec<Vec<Vec<LonLat>>>, String>;

/// The rings of each shape.
fn outlines(shp: &[u8]) -> Result<Vec<Outline>, ZoneFileError> {
    check_counts(shp)?;
    let refuse = |error: ::shapefile::Error| ZoneFileError::Shapes(error.to_string());
    let mut reader = ShapeReader::new(Cursor::new(shp)).map_err(refuse)?;
    let shapes = reader.iter_shapes().map(|shape| {
        Ok(match shape? {
            Shape::NullShape => Ok(Vec::new()),
            Shape::Polygon(shape) => polygons(shape.into_inner(), |point| (point.x, point.y)),
            Shape::PolygonM(shape) => polygons(shape.into_inner(), |point| (point.x, point.y)),
            Shape::PolygonZ(shape) => polygons(shape.into_inner(), |point| (point.x, point.y)),
            other => Err(format!("a shape must be a polygon; got {}", other.shapetype())),
        })
    });
    shapes.collect::<Result<_, _>>().map_err(refuse)
}

/// Holds the counts in the records against the length of the file: the reader makes room for as many
/// positions as they say.
fn check_counts(shp: &[u8]) -> Result<(), ZoneFileError> {
    let refuse =
        |at: usize, text: &str| Err(ZoneFileError::Shapes(format!("at byte {at}: {text}")));
    let mut at = 100;
    while at < shp.len() {
        let Some((head, rest)) = shp[at..].split_at_checked(8) else {
            return refuse(at, "a record is cut off");
        };
        let words = big_endian(&head[4..]).and_then(|words| usize::try_from(words).ok());
        let Some(record) = words.and_then(|words| rest.get(..words.checked_mul(2)?)) else {
            return refuse(at, "a record is longer than the file");
        };
        let Some(kind) = little_endian(record, 0) else {
            return refuse(at, "a record has no type");
        };
        // Polygons without and with altitudes and measures; the others have no counts that matter
        // here, for they are refused by their header.
        if ![0, 5, 15, 25].contains(&kind) {
            return refuse(at, "a record is no polygon");
        }
        if kind != 0 {
            let parts = little_endian(record, 36).and_then(|parts| usize::try_from(parts).ok());
            let points = little_endian(record, 40).and_then(|points| usize::try_from(points).ok());
            let room = record.len().saturating_sub(44);
            let (Some(parts), Some(points)) = (parts, points) else {
                return refuse(at, "a record has no counts");
            };
            if parts.saturating_mul(4).saturating_add(points.saturating_mul(16)) > room {
                return refuse(at, "a record counts more positions than it has");
            }
            let mut start = 0;
            for part in 0..parts {
                let next = little_endian(record, 44 + 4 * part).unwrap_or(-1);
                if next < start || next as usize > points || part == 0 && next != 0 {
                    return refuse(at, "the parts of a record are not in order");
                }
                start = next;
            }
        }
        at += 8 + record.len();
    }
    Ok(())
}

fn big_endian(bytes: &[u8]) -> Option<i32> {
    bytes.first_chunk().copied().map(i32::from_be_bytes)
}

fn little_endian(bytes: &[u8], at: usize) -> Option<i32> {
    bytes.get(at..)?.first_chunk().copied().map(i32::from_le_bytes)
}

/// Puts the holes into the outer rings around them.
fn polygons<P>(rings: Vec<PolygonRing<P>>, place: impl Fn(&P) -> (f64, f64)) -> Outline {
    let ring = |points: Vec<P>| {
        let places = points.iter().map(&place).map(|(lon, lat)| LonLat::new(lon, lat));
        places.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())
    };
    let (mut outer, mut holes) = (Vec::new(), Vec::new());
    for one in rings {
        match one {
            PolygonRing::Outer(points) => outer.push(vec![ring(points)?]),
            PolygonRing::Inner(points) => holes.push(ring(points)?),
        }
    }
    let flat = |at: &LonLat| Coord { x: at.lon(), y: at.lat() };
    let shapes: Vec<_> = outer
        .iter()
        .map(|rings| {
            let exterior = LineString::new(rings[0].iter().map(flat).collect());
            ::geo::Polygon::new(exterior, Vec::new())
        })
        .collect();
    for hole in holes {
        let around =
            shapes.iter().position(|shape| hole.iter().all(|at| shape.intersects(&flat(at))));
        let Some(around) = around else {
            return Err("a hole lies in none of the outer rings".to_owned());
        };
        outer[around].push(hole);
    }
    Ok(outer)
}
