//! Any of the projections, with its constants computed.

use super::cone::Cone;
use super::gaussian::GaussianRows;
use super::mercator::Mercator;
use super::rotated_lat_lon::RotatedPole;
use super::spheroid::Spheroid;
use super::{
    EllipsoidMap, GridProjection, LatLonGlobe, Projection, lambert, normalised, polar_stereographic,
};
use crate::grid::Rotation;

/// Converts longitude and latitude to the axes of a grid: metres, or degrees on a globe.
///
/// Every projection combines a part that depends only on the latitude with a part that depends only
/// on the longitude. So an image whose rows are parallels and whose columns are meridians needs the
/// costly functions once per row and column, not once per pixel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Map {
    LatLon,
    Gaussian(GaussianRows),
    RotatedLatLon(RotatedPole),
    Cone(Cone),
    Mercator(Mercator),
}

/// The terms of a latitude that a map needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parallel(f64, f64);

/// The terms of a longitude that a map needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meridian(f64, f64);

impl From<Projection> for Map {
    fn from(projection: Projection) -> Self {
        Self::of(projection, Spheroid::SPHERE)
    }
}

impl From<GridProjection> for Map {
    fn from(projection: GridProjection) -> Self {
        match projection {
            GridProjection::Map(projection) => projection.into(),
            GridProjection::Ellipsoid(EllipsoidMap { projection, flattening }) => {
                Self::of(projection, Spheroid::of_flattening(flattening))
            }
            GridProjection::Globe(LatLonGlobe::LatLon) => Self::LatLon,
            GridProjection::Globe(LatLonGlobe::Gaussian { parallels }) => {
                Self::Gaussian(GaussianRows::new(parallels))
            }
            GridProjection::Globe(LatLonGlobe::RotatedLatLon {
                south_pole_lat,
                south_pole_lon,
            }) => Self::RotatedLatLon(RotatedPole::new(south_pole_lat, south_pole_lon)),
        }
    }
}

impl Map {
    fn of(projection: Projection, earth: Spheroid) -> Self {
        match projection {
            Projection::LambertConformal { radius_m, origin_lat, central_lon, parallels } => {
                Self::Cone(lambert::cone(radius_m, origin_lat, central_lon, parallels, earth))
            }
            Projection::PolarStereographic { radius_m, south, central_lon, true_lat } => {
                let cone = polar_stereographic::cone;
                Self::Cone(cone(radius_m, south, central_lon, true_lat, earth))
            }
            Projection::Mercator { radius_m, central_lon, true_lat } => {
                Self::Mercator(Mercator::new(radius_m, central_lon, true_lat, earth))
            }
        }
    }

    pub(super) fn parallel(&self, lat: f64) -> Parallel {
        match self {
            Self::LatLon => Parallel(lat, 0.0),
            Self::Gaussian(rows) => Parallel(rows.y(lat), 0.0),
            Self::RotatedLatLon(_) => {
                let (sin, cos) = libm::sincos(lat.to_radians());
                Parallel(sin, cos)
            }
            Self::Cone(cone) => Parallel(cone.arc_m(lat), 0.0),
            Self::Mercator(mercator) => Parallel(mercator.y_m(lat), 0.0),
        }
    }

    pub(super) fn meridian(&self, lon: f64) -> Meridian {
        match self {
            Self::LatLon | Self::Gaussian(_) => Meridian(lon, 0.0),
            Self::RotatedLatLon(pole) => {
                let (sin, cos) = pole.meridian(lon);
                Meridian(sin, cos)
            }
            Self::Cone(cone) => {
                let Rotation { cos, sin } = cone.rotation(lon);
                Meridian(sin, cos)
            }
            Self::Mercator(mercator) => Meridian(mercator.x_m(lon), 0.0),
        }
    }

    /// Returns x and y where a parallel and a meridian meet.
    #[inline]
    pub(super) fn meet(&self, parallel: Parallel, meridian: Meridian) -> (f64, f64) {
        match self {
            Self::LatLon | Self::Gaussian(_) | Self::Mercator(_) => (meridian.0, parallel.0),
            Self::RotatedLatLon(pole) => {
                pole.meet((parallel.0, parallel.1), (meridian.0, meridian.1))
            }
            Self::Cone(cone) => {
                cone.meet(parallel.0, Rotation { cos: meridian.1, sin: meridian.0 })
            }
        }
    }

    pub(crate) fn forward(&self, lon: f64, lat: f64) -> (f64, f64) {
        self.meet(self.parallel(lat), self.meridian(lon))
    }

    /// Returns the longitude, from −180° to just below 180°, and the latitude.
    pub(super) fn inverse(&self, x: f64, y: f64) -> (f64, f64) {
        match self {
            Self::LatLon => (normalised(x), y),
            Self::Gaussian(rows) => (normalised(x), rows.lat(y)),
            Self::RotatedLatLon(pole) => pole.inverse(x, y),
            Self::Cone(cone) => cone.inverse(x, y),
            Self::Mercator(mercator) => mercator.inverse(x, y),
        }
    }

    /// Returns the terms of an x or y coordinate that the rotation needs: its sine and cosine on a
    /// rotated globe.
    pub(super) fn angle(&self, coordinate: f64) -> (f64, f64) {
        match self {
            Self::RotatedLatLon(_) => libm::sincos(coordinate.to_radians()),
            _ => (coordinate, 0.0),
        }
    }

    /// Returns the rotation of winds along the axes at coordinates that went through
    /// [`Self::angle`].
    #[inline]
    pub(super) fn rotation_at(&self, x: (f64, f64), y: (f64, f64)) -> Rotation {
        match self {
            Self::LatLon | Self::Gaussian(_) | Self::Mercator(_) => Rotation::IDENTITY,
            Self::RotatedLatLon(pole) => pole.rotation_at(y, x),
            Self::Cone(cone) => cone.rotation_at(x.0, y.0),
        }
    }

    /// Writes [`Self::rotation_at`] for the coordinates of a row.
    pub(super) fn rotations_of_row(
        &self,
        x: &[(f64, f64)],
        y: (f64, f64),
        rotations: &mut [Rotation],
    ) {
        match self {
            Self::LatLon | Self::Gaussian(_) | Self::Mercator(_) => {
                rotations.fill(Rotation::IDENTITY);
            }
            Self::RotatedLatLon(pole) => rotations_of_globe(pole, x, y, rotations),
            Self::Cone(cone) => rotations_of_cone(cone, x, y, rotations),
        }
    }

    /// Returns the units of x around the globe; `None` for maps whose x does not go round.
    pub(super) fn turn(&self) -> Option<f64> {
        match self {
            Self::LatLon | Self::Gaussian(_) | Self::RotatedLatLon(_) => Some(360.0),
            Self::Mercator(mercator) => Some(std::f64::consts::TAU * mercator.scale_m),
            Self::Cone(_) => None,
        }
    }
}

/// The loop of a map by itself, so that it is vectorised.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn rotations_of_cone(cone: &Cone, x: &[(f64, f64)], y: (f64, f64), rotations: &mut [Rotation]) {
    for (rotation, &x) in rotations.iter_mut().zip(x) {
        *rotation = cone.rotation_at(x.0, y.0);
    }
}

/// As [`rotations_of_cone`].
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn rotations_of_globe(
    pole: &RotatedPole,
    x: &[(f64, f64)],
    y: (f64, f64),
    rotations: &mut [Rotation],
) {
    for (rotation, &x) in rotations.iter_mut().zip(x) {
        *rotation = pole.rotation_at(y, x);
    }
}
