//! Files of zones as weather services publish them: GeoJSON and shapefiles.

mod geojson;
mod projection;
mod shapefile;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::geo::{GeometryError, LonLat, MultiPolygon, Polygon};
use crate::zone::{Code, Zone, ZoneKind};

pub use geojson::read_geojson;
pub use projection::ProjectionError;
pub use shapefile::{Shapefile, read_shapefile};

/// Largest file that is read, in bytes.
///
/// ```
/// use std::io::Read;
/// use mesonet::zone::{MAX_FILE_BYTES, read_geojson};
/// // Of a file from elsewhere no more is read than can be used.
/// let file = &br#"{"type":"FeatureCollection","features":[]}"#[..];
/// let mut bytes = Vec::new();
/// file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
/// assert_eq!(read_geojson(&bytes, None)?.rows, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub const MAX_FILE_BYTES: u64 = 1 << 29;

/// How many refusals are kept; further ones are only counted.
const KEPT_REFUSALS: usize = 100;

/// The error for a zone file that cannot be read at all.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ZoneFileError {
    /// The file is too large.
    #[error("a file of zones must have at most {MAX_FILE_BYTES} bytes; got {0}")]
    Size(u64),
    /// Not a GeoJSON FeatureCollection.
    #[error("not a GeoJSON FeatureCollection: {0}")]
    GeoJson(String),
    /// GeoJSON in a coordinate system other than RFC 7946's.
    #[error("GeoJSON must be in WGS 84 longitude and latitude; got crs {0}")]
    Crs(String),
    /// Invalid shapes of a shapefile.
    #[error("not the .shp of a shapefile: {0}")]
    Shapes(String),
    /// Invalid table of a shapefile.
    #[error("not the .dbf of a shapefile: {0}")]
    Table(String),
    /// The table and the shapes do not match.
    #[error("a shapefile must have as many rows as shapes; got {rows} rows and {shapes} shapes")]
    Rows {
        /// Number of rows in the table.
        rows: usize,
        /// Number of shapes.
        shapes: usize,
    },
    /// The encoding of the table is unknown.
    #[error("the .cpg of a shapefile must name an encoding such as UTF-8 or 1252; got \"{0}\"")]
    Encoding(String),
    /// Coordinates that are not longitudes and latitudes.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
}

/// The content of a zone file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// The zones, in the order of the file. Parts of a zone in separate rows are joined.
    pub zones: Vec<Zone>,
    /// Number of rows in the file.
    pub rows: usize,
    /// Number of rows that are not zones.
    pub refused: usize,
    /// The first hundred refusals.
    pub refusals: Vec<ZoneRefusal>,
    /// Number of rings without an area, which are left out: slivers flattened by rounding.
    pub flat_rings: usize,
}

/// How far the outlines of a file may be from those that are kept, degrees: 111 m at most.
pub const FILE_TOLERANCE_DEG: f64 = 0.001;

impl File {
    /// Repairs the outlines and simplifies each by itself, by at most [`FILE_TOLERANCE_DEG`]. At a
    /// border two zones may overlap or leave a gap of up to twice that.
    ///
    /// # Errors
    /// An outline cannot be simplified.
    ///
    /// ```
    /// use mesonet::zone::{self, read_geojson};
    /// let text = br#"{"type":"FeatureCollection","features":[{"type":"Feature",
    ///     "properties":{"UGC":"NYZ010"},"geometry":{"type":"Polygon","coordinates":
    ///     [[[-79,42],[-78.5,42.0001],[-78,42],[-78,43],[-79,43],[-79,42]]]}}]}"#;
    /// let mut file: zone::File = read_geojson(text, None)?;
    /// let positions = |file: &zone::File| file.zones[0].geometry.as_ref().map(|of| of.positions());
    /// let before = positions(&file);
    /// file.simplify()?;
    /// assert_eq!((before, positions(&file)), (Some(6), Some(5)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn simplify(&mut self) -> Result<(), GeometryError> {
        for zone in &mut self.zones {
            let outline = zone.geometry.as_ref().map(MultiPolygon::repaired);
            let simple =
                outline.map(|outline| outline.simplified(FILE_TOLERANCE_DEG)).transpose()?;
            zone.geometry = simple.and_then(|outline| MultiPolygon::dissolved([&outline]));
        }
        Ok(())
    }
}

/// A row that is not a zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneRefusal {
    /// The number of the row, from 0.
    pub row: usize,
    /// Why it was refused.
    pub reason: String,
}

/// A row as read: its columns, and the rings of each polygon, outer ring first.
struct ZoneRow {
    columns: Vec<(String, ColumnValue)>,
    outline: Vec<Vec<Vec<LonLat>>>,
}

/// A non-empty column of a row.
enum ColumnValue {
    Text(String),
    Number(f64),
}

/// The rows of a file being read.
#[derive(Default)]
struct ZoneRows {
    file: File,
    places: HashMap<(Code, ZoneKind), usize>,
}

impl ZoneRows {
    /// Adds a row, or the reason why it cannot be read. `hint` is the kind of a UGC with a Z if the
    /// row does not give one.
    fn take(&mut self, row: Result<ZoneRow, String>, hint: Option<ZoneKind>) {
        match row.and_then(|row| self.zone(row, hint)) {
            Ok(zone) => match self.places.entry((zone.code, zone.kind)) {
                Entry::Occupied(place) => join(&mut self.file.zones[*place.get()], zone),
                Entry::Vacant(place) => {
                    place.insert(self.file.zones.len());
                    self.file.zones.push(zone);
                }
            },
            Err(reason) => {
                self.file.refused += 1;
                if self.file.refusals.len() < KEPT_REFUSALS {
                    self.file.refusals.push(ZoneRefusal { row: self.file.rows, reason });
                }
            }
        }
        self.file.rows += 1;
    }

    fn zone(&mut self, row: ZoneRow, hint: Option<ZoneKind>) -> Result<Zone, String> {
        let code = row.code()?;
        let kind = row.kind(code, hint)?;
        let place = match (row.number(&["LON_DD", "LON"]), row.number(&["LAT_DD", "LAT"])) {
            (Some(lon), Some(lat)) => {
                Some(LonLat::new(lon, lat).map_err(|error| error.to_string())?)
            }
            _ => None,
        };
        Ok(Zone {
            code,
            kind,
            name_en: row.text(&["NAME", "nameEn", "COUNTYNAME"]).map(str::to_owned),
            name_fr: row.text(&["NOM", "nameFr"]).map(str::to_owned),
            centroid: place,
            area_km2: row
                .number(&["AREA_KM2", "areaKm2"])
                .filter(|area_km2| *area_km2 > 0.0 && area_km2.is_finite()),
            geometry: self.outline(row.outline).map_err(|error| error.to_string())?,
            is_retired: false,
        })
    }

    /// Returns the polygons of a row, without rings that have no area.
    fn outline(
        &mut self,
        polygons: Vec<Vec<Vec<LonLat>>>,
    ) -> Result<Option<MultiPolygon>, GeometryError> {
        let mut parts = Vec::with_capacity(polygons.len());
        for mut rings in polygons {
            let exterior = if rings.is_empty() { Vec::new() } else { rings.remove(0) };
            let before = rings.len();
            rings.retain(|hole| !matches!(Polygon::new(hole, &[]), Err(GeometryError::Flat(_))));
            self.file.flat_rings += before - rings.len();
            match Polygon::new(&exterior, &rings) {
                Err(GeometryError::Flat(_)) => self.file.flat_rings += 1,
                part => parts.push(part?),
            }
        }
        if parts.is_empty() { Ok(None) } else { MultiPolygon::new(parts).map(Some) }
    }
}

/// Adds another part of a zone. A centroid is that of a part, so it is dropped.
fn join(known: &mut Zone, part: Zone) {
    known.centroid = None;
    known.area_km2 = None;
    let parts = [known.geometry.take(), part.geometry].into_iter().flatten();
    let polygons: Vec<Polygon> = parts.flat_map(|part| part.polygons().to_vec()).collect();
    // Polygons that are already cut stay as they are.
    known.geometry = MultiPolygon::new(polygons).ok();
}

impl ZoneRow {
    fn column(&self, names: &[&str]) -> Option<&ColumnValue> {
        names.iter().find_map(|name| {
            let column = self.columns.iter().find(|(column, _)| column.eq_ignore_ascii_case(name));
            column.map(|(_, value)| value)
        })
    }

    fn text(&self, names: &[&str]) -> Option<&str> {
        match self.column(names)? {
            ColumnValue::Text(text) => Some(text),
            ColumnValue::Number(_) => None,
        }
    }

    fn number(&self, names: &[&str]) -> Option<f64> {
        match self.column(names)? {
            ColumnValue::Text(text) => text.trim().parse().ok(),
            ColumnValue::Number(number) => Some(*number),
        }
    }

    /// Returns the code of the zone, from the columns of ECCC, of the National Weather Service's
    /// files and of its API, in this order.
    fn code(&self) -> Result<Code, String> {
        let code = if let Some(code) = self.text(&["CLC", "clcCode", "UGC", "ugcCode"]) {
            code.to_owned()
        } else if let Some((state, number)) =
            self.text(&["STATE_ZONE"]).and_then(|zone| zone.split_at_checked(2))
        {
            format!("{state}Z{number}")
        } else if let Some((state, number)) = self.text(&["STATE"]).zip(
            // The first two digits repeat the state.
            self.text(&["FIPS"]).and_then(|fips| fips.get(2..)),
        ) {
            format!("{state}C{number}")
        } else if let Some(code) = self.text(&["ID"]) {
            code.to_owned()
        } else {
            return Err("no code: a column CLC, UGC, STATE_ZONE, FIPS with STATE, or ID is needed"
                .to_owned());
        };
        code.parse().map_err(|error: crate::zone::ZoneCodeError| error.to_string())
    }

    /// Returns the kind of the zone: what the row says, else the hint if it fits the code, else by
    /// the code.
    fn kind(&self, code: Code, hint: Option<ZoneKind>) -> Result<ZoneKind, String> {
        let said = self.text(&["kind", "type"]).and_then(|kind| match kind {
            "county" => Some(ZoneKind::County),
            "fire" => Some(ZoneKind::Fire),
            "public" => Some(ZoneKind::Public),
            "marine" | "coastal" | "offshore" => Some(ZoneKind::Marine),
            // ECCC's "land", and "zone" and "forecast", which are both land and sea.
            _ => None,
        });
        let kind = said.or(hint.filter(|hint| hint.has(code))).unwrap_or(ZoneKind::of(code));
        if kind.has(code) { Ok(kind) } else { Err(format!("zone {code} cannot be of kind {kind}")) }
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
