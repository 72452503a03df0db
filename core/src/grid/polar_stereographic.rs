//! The polar stereographic projection, for either pole.

use std::f64::consts::FRAC_PI_2;

use super::cone::Cone;
use super::spheroid::Spheroid;

/// Returns the cone of constant 1 in the north and −1 in the south, with its origin at the pole.
///
/// Snyder's equations 21-5 to 21-7 and 21-9 to 21-11. The scale k₀ makes the map true at a parallel
/// φ: 2k₀ = 1 + sin|φ| (from 21-7); for an ellipsoid, ρ = a·m·t/t_c (21-34), or at the pole the
/// limit of m/t (21-33).
pub(super) fn cone(
    radius_m: f64,
    south: bool,
    central_lon: f64,
    true_lat: f64,
    earth: Spheroid,
) -> Cone {
    let side = if south { -1.0 } else { 1.0 };
    let (lat, e) = (true_lat.abs().to_radians(), earth.eccentricity);
    let scale = if e == 0.0 {
        1.0 + libm::sin(lat)
    } else if lat >= FRAC_PI_2 {
        2.0 / libm::sqrt(libm::pow(1.0 + e, 1.0 + e) * libm::pow(1.0 - e, 1.0 - e))
    } else {
        earth.radius(lat) / earth.tangent(lat)
    };
    Cone::new(side, radius_m * scale, central_lon, side * 90.0, earth)
}
