//! Files of zones as weather services publish them: GeoJSON and shapefiles.

mod geojson;
mod projection;
mod shapefile;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::geo::LonLat;
use crate::geometry::{GeometryError, MultiPolygon, Polygon};
use crate::zone::{Zone, ZoneCode, ZoneKind};

pub use geojson::read_zone_geojson;
pub use projection::ProjectionError;
pub use shapefile::{ZoneShapefile, read_zone_shapefile};

/// Largest file that is read, in bytes.
pub const MAX_ZONE_FILE_BYTES: u64 = 1 << 29;

/// Refusals that are kept; more are counted.
const KEPT_REFUSALS: usize = 100;

/// A file of zones that cannot be read at all.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ZoneFileError {
    /// Larger than what is read.
    #[error("a file of zones must have at most {MAX_ZONE_FILE_BYTES} bytes; got {0}")]
    Size(u64),
    /// No GeoJSON FeatureCollection.
    #[error("not a GeoJSON FeatureCollection: {0}")]
    GeoJson(String),
    /// GeoJSON of another coordinate system than RFC 7946's.
    #[error("GeoJSON must be in WGS 84 longitude and latitude; got crs {0}")]
    Crs(String),
    /// The shapes of a shapefile.
    #[error("not the .shp of a shapefile: {0}")]
    Shapes(String),
    /// The table of a shapefile.
    #[error("not the .dbf of a shapefile: {0}")]
    Table(String),
    /// Table and shapes are not of one file.
    #[error("a shapefile must have as many rows as shapes; got {rows} rows and {shapes} shapes")]
    Rows {
        /// Rows of the table.
        rows: usize,
        /// Shapes.
        shapes: usize,
    },
    /// The encoding of a table is none that is known.
    #[error("the .cpg of a shapefile must name an encoding such as UTF-8 or 1252; got \"{0}\"")]
    Encoding(String),
    /// Coordinates that are no longitudes and latitudes.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
}

/// What a file of zones holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ZoneFile {
    /// The zones, in the order of the file. Parts of one zone that are rows of their own are put
    /// together.
    pub zones: Vec<Zone>,
    /// Rows in the file.
    pub rows: usize,
    /// Rows that are no zone.
    pub refused: usize,
    /// The first hundred of them.
    pub refusals: Vec<ZoneRefusal>,
    /// Rings without an area, which are left out: slivers that rounding has flattened.
    pub flat_rings: usize,
}

/// A row of a file that is no zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneRefusal {
    /// Its number in the file, from 0.
    pub row: usize,
    /// Why it is none.
    pub reason: String,
}

/// A row as it is read: its columns, and the rings of each polygon, outer ring first.
struct Row {
    columns: Vec<(String, Value)>,
    outline: Vec<Vec<Vec<LonLat>>>,
}

/// A column of a row that is not empty.
enum Value {
    Text(String),
    Number(f64),
}

/// A file that is being read.
#[derive(Default)]
struct Rows {
    file: ZoneFile,
    places: HashMap<(ZoneCode, ZoneKind), usize>,
}

impl Rows {
    /// Takes a row in, or why it cannot be read. `hint` is what a UGC with a Z is of where the row
    /// itself does not say it.
    fn take(&mut self, row: Result<Row, String>, hint: Option<ZoneKind>) {
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

    fn zone(&mut self, row: Row, hint: Option<ZoneKind>) -> Result<Zone, String> {
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
        })
    }

    /// The polygons of a row, without the rings that have no area.
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

/// Adds a further part of a zone. Its centroid is that of a part, so none is left.
fn join(known: &mut Zone, part: Zone) {
    known.centroid = None;
    known.area_km2 = None;
    let parts = [known.geometry.take(), part.geometry].into_iter().flatten();
    let polygons: Vec<Polygon> = parts.flat_map(|part| part.polygons().to_vec()).collect();
    // Polygons that are cut already stay as they are.
    known.geometry = MultiPolygon::new(polygons).ok();
}

impl Row {
    fn column(&self, names: &[&str]) -> Option<&Value> {
        names.iter().find_map(|name| {
            let column = self.columns.iter().find(|(column, _)| column.eq_ignore_ascii_case(name));
            column.map(|(_, value)| value)
        })
    }

    fn text(&self, names: &[&str]) -> Option<&str> {
        match self.column(names)? {
            Value::Text(text) => Some(text),
            Value::Number(_) => None,
        }
    }

    fn number(&self, names: &[&str]) -> Option<f64> {
        match self.column(names)? {
            Value::Text(text) => text.trim().parse().ok(),
            Value::Number(number) => Some(*number),
        }
    }

    /// The code of the zone, from the columns of ECCC, of the National Weather Service's files and
    /// of its interface, in this order.
    fn code(&self) -> Result<ZoneCode, String> {
        let code = if let Some(code) = self.text(&["CLC", "clcCode", "UGC", "ugcCode"]) {
            code.to_owned()
        } else if let Some((state, number)) =
            self.text(&["STATE_ZONE"]).and_then(|zone| zone.split_at_checked(2))
        {
            format!("{state}Z{number}")
        } else if let Some((state, number)) = self.text(&["STATE"]).zip(
            // The first two digits are the state once more.
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

    /// What the zone is for: what the row says, else the hint where it fits the code, else by the
    /// code.
    fn kind(&self, code: ZoneCode, hint: Option<ZoneKind>) -> Result<ZoneKind, String> {
        let said = self.text(&["kind", "type"]).and_then(|kind| match kind {
            "county" => Some(ZoneKind::County),
            "fire" => Some(ZoneKind::Fire),
            "public" => Some(ZoneKind::Public),
            "marine" | "coastal" | "offshore" => Some(ZoneKind::Marine),
            // ECCC's "land", and "zone" and "forecast", which is both land and sea.
            _ => None,
        });
        let kind = said.or(hint.filter(|hint| hint.has(code))).unwrap_or(ZoneKind::of(code));
        if kind.has(code) { Ok(kind) } else { Err(format!("zone {code} is not of kind {kind}")) }
    }
}

#[cfg(test)]
#[path = "../zone_file_tests.rs"]
mod tests;
