//! The grid of a field: section 3.

use super::GribError;
use super::axes::{AxisStep, LatLonAxes};
use super::earth::Earth;
use super::octets::Octets;
use super::row_lengths::RowLengths;
use super::scan::Scan;
use crate::grid::{GridProjection, LatLonGlobe, Map, Projection};

/// NCEP's own template of a rotated globe that is not E-staggered.
const NON_E: u16 = 32_769;

/// The grid of a field: its rows and columns, and the positions of its points.
///
/// A grid whose rows differ in length, such as a reduced Gaussian grid, has as many columns as its
/// longest row; in the other rows each cell stands for the nearest point of the row
/// ([`is_reduced`](Self::is_reduced)).
///
/// Row 0 contains the first point of the message, so rows may run north or south; the sign of the
/// step between them says which. Columns run in the direction of i, to the east unless the step is
/// negative.
///
/// ```
/// # let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2");
/// use mesonet::grib;
/// use mesonet::grib::GridGeometry;
/// let bytes = std::fs::read(sample)?;
/// let field = grib::fields(&bytes).next().ok_or("no field")??;
/// let grid: grib::Grid = field.grid()?;
/// assert_eq!((grid.rows(), grid.columns()), (140, 210));
/// let earth = grib::Earth { major_m: 6_371_189.0, minor_m: 6_371_189.0 };
/// assert!(grid.earth() == earth && earth.is_sphere());
/// let GridGeometry::Projected { dx_m, dy_m, .. } = grid.geometry() else { panic!("it is a map") };
/// assert_eq!((dx_m, dy_m), (47_625.0, 47_625.0));
/// assert!(grid.grid_relative_winds());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    rows: usize,
    columns: usize,
    earth: Earth,
    geometry: GridGeometry,
    grid_relative_winds: bool,
    scan: Scan,
    rows_of: Option<RowLengths>,
}

/// The positions of the points of a grid. Angles in degrees, longitudes to the east.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GridGeometry {
    /// Latitude and longitude (template 3.0).
    LatLon(LatLonAxes),
    /// Latitude and longitude on a globe whose south pole was moved (template 3.1).
    RotatedLatLon {
        /// The rows and columns on the rotated globe.
        axes: LatLonAxes,
        /// The latitude of the moved south pole.
        south_pole_lat: f64,
        /// The longitude of the moved south pole.
        south_pole_lon: f64,
        /// The rotation about the new axis: meridian 0 of the axes lies this far to the east of the
        /// meridian that runs to the North Pole.
        angle: f64,
    },
    /// Latitude and longitude, with rows at Gaussian parallels (template 3.40).
    Gaussian {
        /// The number of parallels between a pole and the equator.
        parallels: usize,
        /// Longitude of the first point.
        first_lon: f64,
        /// Latitude of the first point.
        first_lat: f64,
        /// The step from column to column.
        lon_step: f64,
        /// Whether the rows run north.
        northward: bool,
    },
    /// A map of a sphere, or of an ellipsoid ([`Grid::earth`]; templates 3.10, 3.20 and 3.30).
    Projected {
        /// The projection; its radius is the semi-axis to the equator.
        projection: Projection,
        /// Longitude of the first point.
        first_lon: f64,
        /// Latitude of the first point.
        first_lat: f64,
        /// The step from column to column, in metres.
        dx_m: f64,
        /// The step from row to row, in metres.
        dy_m: f64,
    },
}

impl Grid {
    pub(super) fn read(section: Octets<'_>) -> Result<Self, GribError> {
        let template = section.u16(13)?;
        let scan_octet = match template {
            0 | 1 | 40 | NON_E => 72,
            10 => 60,
            20 | 30 => 65,
            _ => return Err(unsupported(template)),
        };
        let (columns, rows) = (section.u32(31)?, section.u32(35)?);
        if rows == u32::MAX {
            return Err(GribError::Grid("the number of its rows is not given"));
        }
        let scan = Scan::new(section.u8(scan_octet)?)?;
        let is_row_by_row = !(scan.columns_first() || scan.alternates());
        let rows_of = RowLengths::read(section, template, rows, is_row_by_row)?;
        let columns = rows_of.map_or(columns, |rows_of| rows_of.longest);
        if columns == u32::MAX {
            return Err(GribError::Grid("the number of its columns is not given"));
        }
        let points = match rows_of {
            None => u64::from(columns) * u64::from(rows),
            Some(rows_of) => rows_of.points,
        };
        if points == 0 {
            return Err(GribError::Grid("it has no points"));
        }
        let expected = u64::from(section.u32(7)?);
        if points != expected {
            let what = "number of points";
            return Err(GribError::Mismatch { what, got: points, expected });
        }
        let earth = Earth::read(section)?;
        let flags = section.u8(if matches!(template, 10 | 20 | 30) { 47 } else { 55 })?;
        let geometry = match template {
            0 => GridGeometry::LatLon(LatLonAxes::read(
                section,
                columns,
                rows,
                scan,
                AxisStep::Stated,
            )?),
            1 => GridGeometry::RotatedLatLon {
                axes: LatLonAxes::read(section, columns, rows, scan, AxisStep::OfEnds)?,
                south_pole_lat: degrees(section, 73)?,
                south_pole_lon: degrees(section, 77)?,
                angle: section.f32(81)?.into(),
            },
            40 => gaussian(section, columns, rows, scan)?,
            NON_E => non_e(section, columns, rows, scan)?,
            _ => projected(section, template, earth, scan)?,
        };
        Ok(Self {
            rows: rows as usize,
            columns: columns as usize,
            earth,
            geometry,
            grid_relative_winds: flags & 8 != 0,
            scan,
            rows_of,
        })
    }

    /// Returns the number of points that a message has values for: one for each cell, fewer on a
    /// reduced grid.
    pub(super) fn points(&self) -> usize {
        self.rows_of.map_or(self.rows * self.columns, |rows_of| rows_of.points as usize)
    }

    /// Returns whether the rows differ in length in the message, as on a reduced Gaussian grid. Its
    /// cells then have the values of the nearest points of their rows: no value is interpolated,
    /// but a cell may be up to half the spacing of its row away from its point.
    pub fn is_reduced(&self) -> bool {
        self.rows_of.is_some()
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the shape of the Earth that the grid assumes.
    pub fn earth(&self) -> Earth {
        self.earth
    }

    /// Returns the positions of the points.
    pub fn geometry(&self) -> GridGeometry {
        self.geometry
    }

    /// Returns whether wind components on the grid are along its axes instead of to the east and
    /// north.
    pub fn grid_relative_winds(&self) -> bool {
        self.grid_relative_winds
    }

    /// Turns values in the order of a message into rows that all run in the direction of i.
    pub(super) fn in_rows(&self, mut values: Vec<f32>, section: Octets<'_>) -> Vec<f32> {
        let (rows, columns) = (self.rows, self.columns);
        if let Some(rows_of) = self.rows_of {
            return rows_of.drawn_out(&values, section, rows);
        }
        let line = if self.scan.columns_first() { rows } else { columns };
        if self.scan.alternates() {
            for line in values.chunks_mut(line).skip(1).step_by(2) {
                line.reverse();
            }
        }
        if !self.scan.columns_first() {
            return values;
        }
        let mut in_rows = Vec::with_capacity(values.len());
        for row in 0..rows {
            in_rows.extend(values[row..].iter().step_by(rows));
        }
        in_rows
    }
}

/// Returns an error that names a grid that is not supported (code table 3.1).
fn unsupported(template: u16) -> GribError {
    let what = match template {
        2 | 3 | 41..=43 => "grid template (stretched)",
        4 | 5 => "grid template (latitudes and longitudes of any distance)",
        12 => "grid template (transverse Mercator)",
        31 => "grid template (Albers)",
        50..=63 => "grid template (spherical harmonics)",
        90 => "grid template (a view from space)",
        100 => "grid template (icosahedral)",
        101 => "grid template (unstructured, as the icosahedral grid of ICON)",
        140 => "grid template (Lambert's azimuthal projection)",
        150 => "grid template (HEALPix)",
        204 => "grid template (curvilinear)",
        32_768 => "grid template (Arakawa E-staggered, rotated)",
        _ => "grid template",
    };
    GribError::Unsupported {
        what,
        got: template.into(),
        allowed: "0 (latitude and longitude), 1 (rotated), 10 (Mercator), 20 (polar \
                  stereographic), 30 (Lambert), 40 (Gaussian), 32769 (NCEP's rotated)",
    }
}

/// Template 3.40: octets 69 to 72 are the number of parallels and the scanning mode.
fn gaussian(
    section: Octets<'_>,
    columns: u32,
    rows: u32,
    scan: Scan,
) -> Result<GridGeometry, GribError> {
    let axes = LatLonAxes::read(section, columns, rows, scan, AxisStep::Stated)?;
    let parallels = section.u32(68)?;
    if rows > parallels.saturating_mul(2) {
        return Err(GribError::Grid("it has more rows than Gaussian parallels"));
    }
    Ok(GridGeometry::Gaussian {
        parallels: parallels as usize,
        first_lon: axes.first_lon,
        first_lat: axes.first_lat,
        lon_step: axes.lon_step,
        northward: scan.j_sign() > 0.0,
    })
}

/// NCEP's template 3.32769, a rotated globe that is not staggered, of the Rapid Refresh: octets 56
/// to 63 are the place where its equator and meridian 0 meet, 73 to 80 the last point. Both corners
/// are given in coordinates of the Earth, and the steps follow from them, as in NCEP's library ip
/// (`ip_rot_equid_cylind_grid`).
fn non_e(
    section: Octets<'_>,
    columns: u32,
    rows: u32,
    scan: Scan,
) -> Result<GridGeometry, GribError> {
    let [centre_lat, centre_lon] = [degrees(section, 56)?, degrees(section, 60)?];
    if centre_lat.abs() > 90.0 {
        return Err(GribError::Grid("its centre is not on the globe"));
    }
    if columns < 2 || rows < 2 {
        return Err(GribError::Grid("the step between its points is not given"));
    }
    let (south_pole_lat, south_pole_lon) = (centre_lat - 90.0, centre_lon);
    let globe = Map::from(GridProjection::Globe(LatLonGlobe::RotatedLatLon {
        south_pole_lat,
        south_pole_lon,
    }));
    let corner = |octet| {
        let (lat, lon) = (degrees(section, octet)?, degrees(section, octet + 4)?);
        Ok(globe.forward(lon, lat))
    };
    let ((first_lon, first_lat), (last_lon, last_lat)) = (corner(47)?, corner(73)?);
    let lon_step = (last_lon - first_lon) / f64::from(columns - 1);
    let lat_step = (last_lat - first_lat) / f64::from(rows - 1);
    if lon_step * scan.i_sign() <= 0.0 || lat_step * scan.j_sign() <= 0.0 {
        return Err(GribError::Grid("its corners contradict its scanning mode"));
    }
    Ok(GridGeometry::RotatedLatLon {
        axes: LatLonAxes { first_lon, first_lat, lon_step, lat_step },
        south_pole_lat,
        south_pole_lon,
        angle: 0.0,
    })
}

fn projected(
    section: Octets<'_>,
    template: u16,
    earth: Earth,
    scan: Scan,
) -> Result<GridGeometry, GribError> {
    let radius_m = earth.major_m;
    let (first_lat, first_lon) = (degrees(section, 39)?, degrees(section, 43)?);
    let scale_lat = degrees(section, 48)?;
    let latitudes = |latitudes: &[f64]| {
        let beyond = latitudes.iter().find(|lat| lat.abs() >= 90.0);
        beyond.map_or(Ok(()), |_| {
            Err(GribError::Grid("a latitude of its projection is a pole or beyond"))
        })
    };
    let (projection, steps) = match template {
        10 => {
            latitudes(&[scale_lat, first_lat])?;
            if section.u32(61)? != 0 {
                return Err(GribError::Grid("rotated Mercator grids are not supported"));
            }
            let projection = Projection::Mercator {
                radius_m,
                // The map may begin at any meridian; with this choice no cell near the first point
                // crosses its edge.
                central_lon: first_lon,
                true_lat: scale_lat,
            };
            (projection, 65)
        }
        20 => {
            if !(0.0..=90.0).contains(&scale_lat.abs()) {
                return Err(GribError::Grid("a latitude of its projection is beyond the pole"));
            }
            let (south, central_lon) = (section.u8(64)? & 0x80 != 0, degrees(section, 52)?);
            let true_lat = if south { -scale_lat.abs() } else { scale_lat.abs() };
            (Projection::PolarStereographic { radius_m, south, central_lon, true_lat }, 56)
        }
        _ => {
            let parallels = [degrees(section, 66)?, degrees(section, 70)?];
            latitudes(&[scale_lat, parallels[0], parallels[1]])?;
            if parallels[0] + parallels[1] == 0.0 {
                return Err(GribError::Grid("the cone of its projection is a cylinder"));
            }
            let central_lon = degrees(section, 52)?;
            let projection = Projection::LambertConformal {
                radius_m,
                origin_lat: scale_lat,
                central_lon,
                parallels,
            };
            (projection, 56)
        }
    };
    let step_m = |octet| match section.u32(octet)? {
        0 | u32::MAX => Err(GribError::Grid("the step between its points is not given")),
        millimetres => Ok(f64::from(millimetres) / 1000.0),
    };
    let (dx_m, dy_m) = (step_m(steps)? * scan.i_sign(), step_m(steps + 4)? * scan.j_sign());
    let (x, y) = projection.forward(first_lon, first_lat);
    if !(x.is_finite() && y.is_finite()) {
        return Err(GribError::Grid("its first point is not on its map"));
    }
    Ok(GridGeometry::Projected { projection, first_lon, first_lat, dx_m, dy_m })
}

/// Reads millionths of a degree as degrees.
fn degrees(section: Octets<'_>, octet: usize) -> Result<f64, GribError> {
    Ok(f64::from(section.i32(octet)?) / 1e6)
}

#[cfg(test)]
#[path = "grid_tests.rs"]
mod tests;
