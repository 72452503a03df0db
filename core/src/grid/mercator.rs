//! Mercator's projection.

use std::f64::consts::FRAC_PI_4;

use super::{normalised, turned};

/// A map on a cylinder that cuts the sphere at a parallel (Snyder's equations 7-1, 7-2, 7-4 and
/// 7-5; the scale is that of page 47, cos φ of the true parallel).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mercator {
    /// Metres per radian along the equator.
    pub scale_m: f64,
    central_lon: f64,
}

impl Mercator {
    pub(super) fn new(radius_m: f64, central_lon: f64, true_lat: f64) -> Self {
        Self { scale_m: radius_m * libm::cos(true_lat.to_radians()), central_lon }
    }

    pub(super) fn x_m(&self, lon: f64) -> f64 {
        self.scale_m * turned(lon - self.central_lon).to_radians()
    }

    pub(super) fn y_m(&self, lat: f64) -> f64 {
        // The tangent of a right angle is not infinite in floating point.
        if lat.abs() >= 90.0 {
            return f64::INFINITY * lat.signum();
        }
        self.scale_m * libm::log(libm::tan(FRAC_PI_4 + lat.to_radians() / 2.0))
    }

    pub(super) fn inverse(&self, x_m: f64, y_m: f64) -> (f64, f64) {
        let lon = self.central_lon + (x_m / self.scale_m).to_degrees();
        (normalised(lon), libm::atan(libm::sinh(y_m / self.scale_m)).to_degrees())
    }
}
