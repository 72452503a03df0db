//! Lambert's conformal conic projection.

use super::cone::Cone;
use super::spheroid::Spheroid;

/// Returns the cone through two parallels that are true to scale, or the cone that touches the
/// Earth if both are the same (Snyder's equations 15-2, 15-3 and 15-8; for an ellipsoid, 15-8 to
/// 15-10).
pub(super) fn cone(
    radius_m: f64,
    origin_lat: f64,
    central_lon: f64,
    parallels: [f64; 2],
    earth: Spheroid,
) -> Cone {
    let n = cone_constant(parallels, earth);
    let first = parallels[0].to_radians();
    let f = earth.radius(first) * libm::pow(earth.cotangent(first), n) / n;
    Cone::new(n, radius_m * f.abs(), central_lon, origin_lat, earth)
}

/// Returns n, the ratio of the turn of a meridian to its longitude.
fn cone_constant([first, second]: [f64; 2], earth: Spheroid) -> f64 {
    let (first, second) = (first.to_radians(), second.to_radians());
    if first == second {
        return libm::sin(first);
    }
    libm::log(earth.radius(first) / earth.radius(second))
        / libm::log(earth.tangent(first) / earth.tangent(second))
}
