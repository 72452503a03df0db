//! The cone that Lambert's conformal conic and the polar stereographic projection share.

use std::f64::consts::FRAC_PI_4;

use super::{normalised, turned};
use crate::wind::Rotation;

/// A conformal map on a cone: meridians are rays, parallels are arcs around a pole.
///
/// Snyder's equations 15-1, 15-2, 15-4 for the way there and 15-5, 15-10, 15-11 for the way back.
/// The stereographic projection of a pole is the cone of constant ±1 (Snyder, page 105).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cone {
    /// The constant of the cone, n: the turn of its meridians against their longitudes. Below 0 its
    /// apex is the South Pole.
    n: f64,
    /// Radius of the equator's arc, of the sign of n.
    equator_m: f64,
    /// Distance of the origin from the apex, of the sign of n.
    origin_m: f64,
    central_lon: f64,
}

impl Cone {
    /// A cone whose arc of the equator has a radius, with its origin at a latitude.
    pub fn new(n: f64, equator_m: f64, central_lon: f64, origin_lat: f64) -> Self {
        let mut cone = Self { n, equator_m: equator_m * n.signum(), origin_m: 0.0, central_lon };
        cone.origin_m = cone.arc_m(origin_lat);
        cone
    }

    /// Radius of the arc of a parallel, of the sign of n.
    pub fn arc_m(&self, lat: f64) -> f64 {
        let from_equator = lat * self.n.signum();
        if from_equator <= -90.0 {
            return f64::INFINITY * self.n.signum();
        }
        let tangent = libm::tan(FRAC_PI_4 - from_equator.to_radians() / 2.0);
        self.equator_m * libm::pow(tangent, self.n.abs())
    }

    /// The turn of a meridian against the y axis, which is also that of the winds.
    pub fn rotation(&self, lon: f64) -> Rotation {
        Rotation::from_angle_rad(self.n * turned(lon - self.central_lon).to_radians())
    }

    /// Where an arc and a meridian meet.
    #[inline]
    pub fn meet(&self, arc_m: f64, meridian: Rotation) -> (f64, f64) {
        (arc_m * meridian.sin, self.origin_m - arc_m * meridian.cos)
    }

    pub fn inverse(&self, x_m: f64, y_m: f64) -> (f64, f64) {
        let side = self.n.signum();
        let (across, along) = (side * x_m, side * (self.origin_m - y_m));
        let lon = self.central_lon + libm::atan2(across, along).to_degrees() / self.n;
        let radius = libm::hypot(across, along) / self.equator_m.abs();
        let tangent = libm::pow(radius, 1.0 / self.n.abs());
        let lat = side * (90.0 - 2.0 * libm::atan(tangent).to_degrees());
        (normalised(lon), lat)
    }

    /// The rotation at a point of the map: where its meridian points, without a transcendental.
    #[inline]
    pub fn rotation_at(&self, x_m: f64, y_m: f64) -> Rotation {
        let side = self.n.signum();
        let (across, along) = (side * x_m, side * (self.origin_m - y_m));
        let radius = libm::sqrt(across * across + along * along);
        // At the pole every meridian begins; the central one is taken.
        if radius == 0.0 {
            return Rotation::IDENTITY;
        }
        let inverse = 1.0 / radius;
        Rotation { cos: along * inverse, sin: across * inverse }
    }
}
