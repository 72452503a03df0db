//! Mercator's projection.

use super::spheroid::Spheroid;
use super::{normalised, turned};

/// A map on a cylinder that cuts the Earth at a parallel (Snyder's equations 7-1, 7-2, 7-4 and 7-5;
/// for an ellipsoid 7-7 and 7-9; the scale is from page 47, on a sphere cos φ of the true
/// parallel).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mercator {
    /// Metres per radian along the equator.
    pub scale_m: f64,
    central_lon: f64,
    earth: Spheroid,
}

impl Mercator {
    pub(super) fn new(radius_m: f64, central_lon: f64, true_lat: f64, earth: Spheroid) -> Self {
        Self { scale_m: radius_m * earth.radius(true_lat.to_radians()), central_lon, earth }
    }

    pub(super) fn x_m(&self, lon: f64) -> f64 {
        self.scale_m * turned(lon - self.central_lon).to_radians()
    }

    pub(super) fn y_m(&self, lat: f64) -> f64 {
        // The tangent of a right angle is not infinite in floating point.
        if lat.abs() >= 90.0 {
            return f64::INFINITY * lat.signum();
        }
        self.scale_m * self.earth.isometric(lat.to_radians())
    }

    pub(super) fn inverse(&self, x_m: f64, y_m: f64) -> (f64, f64) {
        let lon = self.central_lon + (x_m / self.scale_m).to_degrees();
        (normalised(lon), self.earth.lat_of_isometric(y_m / self.scale_m))
    }
}
