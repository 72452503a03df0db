//! The cone that Lambert's conformal conic and the polar stereographic projection share.

use super::spheroid::Spheroid;
use super::{normalised, turned};
use crate::grid::Rotation;

/// A conformal map on a cone: meridians are rays, parallels are arcs around a pole.
///
/// Snyder's equations 15-1, 15-2 and 15-4 forward, and 15-5, 15-10 and 15-11 inverse; on an
/// ellipsoid with t of 15-9 for the tangent. The stereographic projection of a pole is the cone of
/// constant ±1 (Snyder, page 105).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cone {
    /// The cone constant n: the ratio of the turn of a meridian to its longitude. If it is below 0,
    /// the apex is the South Pole.
    n: f64,
    /// Radius of the equator's arc, with the sign of n.
    equator_m: f64,
    /// Distance of the origin from the apex, with the sign of n.
    origin_m: f64,
    central_lon: f64,
    earth: Spheroid,
}

impl Cone {
    /// Returns a cone with the radius of the equator's arc, and its origin at a latitude.
    pub(super) fn new(
        n: f64,
        equator_m: f64,
        central_lon: f64,
        origin_lat: f64,
        earth: Spheroid,
    ) -> Self {
        let equator_m = equator_m * n.signum();
        let mut cone = Self { n, equator_m, origin_m: 0.0, central_lon, earth };
        cone.origin_m = cone.arc_m(origin_lat);
        cone
    }

    /// Returns the radius of the arc of a parallel, with the sign of n.
    pub(super) fn arc_m(&self, lat: f64) -> f64 {
        let from_equator = lat * self.n.signum();
        if from_equator <= -90.0 {
            return f64::INFINITY * self.n.signum();
        }
        let tangent = self.earth.tangent(from_equator.to_radians());
        self.equator_m * libm::pow(tangent, self.n.abs())
    }

    /// Returns the turn of a meridian against the y axis; the winds have the same turn.
    pub(super) fn rotation(&self, lon: f64) -> Rotation {
        Rotation::from_angle_rad(self.n * turned(lon - self.central_lon).to_radians())
    }

    /// Returns the point where an arc and a meridian meet.
    #[inline]
    pub(super) fn meet(&self, arc_m: f64, meridian: Rotation) -> (f64, f64) {
        (arc_m * meridian.sin, self.origin_m - arc_m * meridian.cos)
    }

    pub(super) fn inverse(&self, x_m: f64, y_m: f64) -> (f64, f64) {
        let side = self.n.signum();
        let (across, along) = (side * x_m, side * (self.origin_m - y_m));
        let lon = self.central_lon + libm::atan2(across, along).to_degrees() / self.n;
        let radius = libm::hypot(across, along) / self.equator_m.abs();
        let tangent = libm::pow(radius, 1.0 / self.n.abs());
        let lat = side * self.earth.lat_of_tangent(tangent);
        (normalised(lon), lat)
    }

    /// Returns the rotation at a point of the map: the direction of its meridian, without a
    /// transcendental function.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each caller has the instructions that it may use")]
    pub(super) fn rotation_at(&self, x_m: f64, y_m: f64) -> Rotation {
        let side = self.n.signum();
        let (across, along) = (side * x_m, side * (self.origin_m - y_m));
        let radius = (across * across + along * along).sqrt();
        // Every meridian begins at the pole; the central one is used.
        if radius == 0.0 {
            return Rotation::IDENTITY;
        }
        let inverse = 1.0 / radius;
        Rotation { cos: along * inverse, sin: across * inverse }
    }
}
