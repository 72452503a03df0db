//! Zones in a shapefile.

use std::io::Cursor;

use ::geo::{Coord, Intersects, LineString};
use ::shapefile::dbase::encoding::{DynEncoding, Unicode};
use ::shapefile::dbase::{FieldValue, ReaderBuilder, Record};
use ::shapefile::{PolygonRing, Shape, ShapeReader};

use super::{ColumnValue, ZoneRow, ZoneRows, projection};
use crate::geo::LonLat;
use crate::zone::{File, MAX_FILE_BYTES, ZoneFileError, ZoneKind};

/// The parts of a shapefile. Its index, the `.shx`, is not needed.
#[derive(Clone, Copy, Debug)]
pub struct Shapefile<'a> {
    /// The shapes.
    pub shp: &'a [u8],
    /// The table.
    pub dbf: &'a [u8],
    /// The coordinate system.
    pub prj: &'a str,
    /// The encoding of texts in the table, for example `UTF-8` or `1252`. The default is UTF-8.
    pub cpg: Option<&'a str>,
}

/// Reads zones from a shapefile. The columns are those of
/// [`read_geojson`](crate::zone::read_geojson).
///
/// - Coordinates are longitudes and latitudes on WGS 84 or NAD 83, used as they are; projected
///   files are refused.
/// - Clockwise rings of a shape are outer rings, the others are holes; a hole belongs to the outer
///   ring around it. Altitudes and measures are dropped.
/// - Rows that are not zones are counted and reported.
///
/// # Errors
/// A part cannot be read, the parts do not match, or the coordinate system is not supported.
///
/// ```
/// # use std::{fs::File, io::Read};
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/zones/eccc_zones_bc");
/// # let unpacked = |ending| -> std::io::Result<Vec<u8>> {
/// #     let mut bytes = Vec::new();
/// #     let file = File::open(format!("{folder}.{ending}.gz"))?;
/// #     flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).map(|_| bytes)
/// # };
/// # let (shp, dbf) = (unpacked("shp")?, unpacked("dbf")?);
/// # let prj = std::fs::read_to_string(format!("{folder}.prj"))?;
/// // Environment Canada's zones of British Columbia.
/// use mesonet::{BBox, LonLat, zone};
/// let parts = zone::Shapefile { shp: &shp, dbf: &dbf, prj: &prj, cpg: None };
/// let file = zone::read_shapefile(parts, None)?;
/// assert_eq!((file.rows, file.zones.len(), file.refused), (75, 63, 12));
/// let refusal: &zone::ZoneRefusal = &file.refusals[0];
/// assert!(refusal.row < file.rows && !refusal.reason.is_empty());
/// let zones = zone::Zones::new(file.zones);
/// let masset = LonLat::new(-132.09, 53.05)?;
/// let names: Vec<_> = zones.at(masset).filter_map(|zone| zone.name_en.as_deref()).collect();
/// assert_eq!(names, ["Haida Gwaii"]);
/// let islands = BBox::new(-133.5, 51.5, -131.0, 54.5)?;
/// assert!(!zones.is_empty() && zones.in_box(islands).count() < zones.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_shapefile(file: Shapefile<'_>, hint: Option<ZoneKind>) -> Result<File, ZoneFileError> {
    let Shapefile { shp, dbf, prj, cpg } = file;
    for part in [shp, dbf] {
        if part.len() as u64 > MAX_FILE_BYTES {
            return Err(ZoneFileError::Size(part.len() as u64));
        }
    }
    projection::check(prj)?;
    let outlines = outlines(shp)?;
    let rows = rows(dbf, cpg)?;
    if outlines.len() != rows.len() {
        return Err(ZoneFileError::Rows { rows: rows.len(), shapes: outlines.len() });
    }
    let mut zones = ZoneRows::default();
    for (columns, outline) in rows.into_iter().zip(outlines) {
        zones.take(outline.map(|outline| ZoneRow { columns, outline }), hint);
    }
    Ok(zones.file)
}

/// Returns the non-empty columns of each row of the table.
fn rows(dbf: &[u8], cpg: Option<&str>) -> Result<Vec<Vec<(String, ColumnValue)>>, ZoneFileError> {
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
                FieldValue::Character(text) => ColumnValue::Text(text?),
                FieldValue::Numeric(number) => ColumnValue::Number(number?),
                FieldValue::Float(number) => ColumnValue::Number(number?.into()),
                FieldValue::Integer(number) => ColumnValue::Number(number.into()),
                FieldValue::Double(number) => ColumnValue::Number(number),
                _ => return None,
            };
            Some((name, value))
        });
        Ok(values.collect())
    };
    table.iter_records().map(columns).collect::<Result<_, _>>().map_err(refuse)
}

type Outline = Result<Vec<Vec<Vec<LonLat>>>, String>;

/// Returns the rings of each shape.
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

/// Checks the counts in the records against the length of the file, because the reader allocates as
/// many positions as they claim.
fn check_counts(shp: &[u8]) -> Result<(), ZoneFileError> {
    let refuse =
        |at: usize, text: &str| Err(ZoneFileError::Shapes(format!("at byte {at}: {text}")));
    let mut at = 100;
    while at < shp.len() {
        let Some((head, rest)) = shp[at..].split_at_checked(8) else {
            return refuse(at, "a record is truncated");
        };
        let words = big_endian(&head[4..]).and_then(|words| usize::try_from(words).ok());
        let Some(record) = words.and_then(|words| rest.get(..words.checked_mul(2)?)) else {
            return refuse(at, "a record is longer than the file");
        };
        let Some(kind) = little_endian(record, 0) else {
            return refuse(at, "a record has no type");
        };
        // Null shapes, and polygons with or without altitudes and measures. Others are refused, so
        // their counts do not matter.
        if ![0, 5, 15, 25].contains(&kind) {
            return refuse(at, "a record is not a polygon");
        }
        if kind != 0 {
            let parts = little_endian(record, 36).and_then(|parts| usize::try_from(parts).ok());
            let points = little_endian(record, 40).and_then(|points| usize::try_from(points).ok());
            let room = record.len().saturating_sub(44);
            let (Some(parts), Some(points)) = (parts, points) else {
                return refuse(at, "a record has no counts");
            };
            if parts.saturating_mul(4).saturating_add(points.saturating_mul(16)) > room {
                return refuse(at, "a record claims more positions than it has");
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

/// Assigns holes to the outer rings around them.
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
            return Err("a hole lies outside every outer ring".to_owned());
        };
        outer[around].push(hole);
    }
    Ok(outer)
}
