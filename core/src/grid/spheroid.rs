//! The conformal maps of an ellipsoid.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

/// The shape of an Earth that is flattened at its poles; with eccentricity 0, a sphere.
///
/// Snyder's equations 15-9 (t), 14-15 (m) and 7-9 (back from t); with an eccentricity of 0 they
/// are those of the sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spheroid {
    pub(super) eccentricity: f64,
}

/// Turns of the iteration for a latitude. Each gains two digits on the Earth, whose eccentricity
/// squared is 0.0067.
const TURNS: usize = 20;

impl Spheroid {
    pub(super) const SPHERE: Self = Self { eccentricity: 0.0 };

    /// Returns the shape of a flattening, (a − b)/a.
    pub(super) fn of_flattening(flattening: f64) -> Self {
        Self { eccentricity: libm::sqrt(flattening * (2.0 - flattening)) }
    }

    /// Returns t of a latitude in radians: the tangent of half its distance from the pole, on the
    /// sphere to which the ellipsoid is mapped.
    pub(super) fn tangent(self, lat: f64) -> f64 {
        libm::tan(FRAC_PI_4 - lat / 2.0) / self.stretch(lat)
    }

    /// Returns 1/t of a latitude in radians.
    pub(super) fn cotangent(self, lat: f64) -> f64 {
        libm::tan(FRAC_PI_4 + lat / 2.0) * self.stretch(lat)
    }

    /// Returns m of a latitude in radians: the radius of its parallel, in semi-axes.
    pub(super) fn radius(self, lat: f64) -> f64 {
        let ratio = self.eccentricity * libm::sin(lat);
        libm::cos(lat) / libm::sqrt(1.0 - ratio * ratio)
    }

    /// Returns the logarithm of 1/t of a latitude in radians: its distance from the equator on
    /// Mercator's map.
    pub(super) fn isometric(self, lat: f64) -> f64 {
        libm::log(libm::tan(FRAC_PI_4 + lat / 2.0)) + libm::log(self.stretch(lat))
    }

    /// Returns the latitude in degrees of such a logarithm.
    pub(super) fn lat_of_isometric(self, isometric: f64) -> f64 {
        if self.eccentricity == 0.0 {
            return libm::atan(libm::sinh(isometric)).to_degrees();
        }
        self.lat_of_tangent(libm::exp(-isometric))
    }

    /// Returns the latitude in degrees of t.
    pub(super) fn lat_of_tangent(self, tangent: f64) -> f64 {
        if self.eccentricity == 0.0 {
            return 90.0 - 2.0 * libm::atan(tangent).to_degrees();
        }
        let mut lat = FRAC_PI_2 - 2.0 * libm::atan(tangent);
        for _ in 0..TURNS {
            let next = FRAC_PI_2 - 2.0 * libm::atan(tangent * self.stretch(lat));
            let step = (next - lat).abs();
            lat = next;
            if step < 1e-15 {
                break;
            }
        }
        lat.to_degrees()
    }

    fn stretch(self, lat: f64) -> f64 {
        if self.eccentricity == 0.0 {
            return 1.0;
        }
        let ratio = self.eccentricity * libm::sin(lat);
        libm::pow((1.0 - ratio) / (1.0 + ratio), self.eccentricity / 2.0)
    }
}
