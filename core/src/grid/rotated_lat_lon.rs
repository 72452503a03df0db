//! Latitude and longitude on a globe whose poles were moved.

use super::normalised;
use crate::grid::Rotation;

/// A globe that is rotated so that its south pole is at a given place. Its own meridian 0 runs from
/// there to the North Pole (WMO-No. 306, volume I.2, template 3.1, with an angle of rotation of 0).
///
/// The transformation is that of Snyder's equations 5-7 and 5-8b. With φ₀ the latitude of the moved
/// south pole + 90° and λ₀ its longitude, the winds along the axes are turned by an angle α with
/// cos α = (cos φ₀ cos φ + sin φ₀ sin φ cos Δλ) / cos φr and sin α = sin φ₀ sin Δλ / cos φr, where
/// φr is the latitude on the rotated globe and Δλ = λ − λ₀.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RotatedPole {
    sin: f64,
    cos: f64,
    lon: f64,
}

impl RotatedPole {
    pub(super) fn new(south_pole_lat: f64, south_pole_lon: f64) -> Self {
        let (sin, cos) = libm::sincos((south_pole_lat + 90.0).to_radians());
        Self { sin, cos, lon: south_pole_lon }
    }

    /// Returns the sine and cosine of a longitude as counted on this globe.
    pub(super) fn meridian(&self, lon: f64) -> (f64, f64) {
        libm::sincos((lon - self.lon).to_radians())
    }

    /// Returns longitude and latitude on the rotated globe, from the sines and cosines of those on
    /// Earth.
    #[inline]
    pub(super) fn meet(
        &self,
        (sin_lat, cos_lat): (f64, f64),
        (sin_lon, cos_lon): (f64, f64),
    ) -> (f64, f64) {
        let x = self.cos * cos_lat * cos_lon + self.sin * sin_lat;
        let y = cos_lat * sin_lon;
        let z = self.cos * sin_lat - self.sin * cos_lat * cos_lon;
        position(x, y, z)
    }

    pub(super) fn inverse(&self, lon: f64, lat: f64) -> (f64, f64) {
        let ((sin_lat, cos_lat), (sin_lon, cos_lon)) =
            (libm::sincos(lat.to_radians()), libm::sincos(lon.to_radians()));
        let x = self.cos * cos_lat * cos_lon - self.sin * sin_lat;
        let y = cos_lat * sin_lon;
        let z = self.cos * sin_lat + self.sin * cos_lat * cos_lon;
        let (lon, lat) = position(x, y, z);
        (normalised(lon + self.lon), lat)
    }

    /// Returns the rotation at a place on the rotated globe, from the sines and cosines of its
    /// coordinates there: sin α = sin φ₀ sin λr / cos φ and cos α = (cos φ₀ cos φr − sin φ₀ sin φr
    /// cos λr) / cos φ, which are the formulas above with the two globes exchanged.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each caller has the instructions that it may use")]
    pub(super) fn rotation_at(
        &self,
        (sin_lat, cos_lat): (f64, f64),
        (sin_lon, cos_lon): (f64, f64),
    ) -> Rotation {
        let cos = self.cos * cos_lat - self.sin * sin_lat * cos_lon;
        let sin = self.sin * sin_lon;
        // Their length is cos φ, which is 0 at the poles of the Earth.
        let length = (cos * cos + sin * sin).sqrt();
        if length == 0.0 {
            return Rotation::IDENTITY;
        }
        let inverse = 1.0 / length;
        Rotation { cos: cos * inverse, sin: sin * inverse }
    }
}

/// Returns longitude and latitude in degrees of a point on the unit sphere.
#[inline]
fn position(x: f64, y: f64, z: f64) -> (f64, f64) {
    let from_axis = libm::sqrt(x * x + y * y);
    (libm::atan2(y, x).to_degrees(), libm::atan2(z, from_axis).to_degrees())
}
