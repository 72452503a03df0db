//! Lambert's conformal conic projection.

use std::f64::consts::FRAC_PI_4;

use super::cone::Cone;

/// Returns the cone through two parallels that are true to scale, or the one that touches the
/// sphere if both are the same (Snyder's equations 15-2, 15-3 and 15-8).
pub(super) fn cone(radius_m: f64, origin_lat: f64, central_lon: f64, parallels: [f64; 2]) -> Cone {
    let n = cone_constant(parallels);
    let first = parallels[0].to_radians();
    let f = libm::cos(first) * libm::pow(libm::tan(FRAC_PI_4 + first / 2.0), n) / n;
    Cone::new(n, radius_m * f.abs(), central_lon, origin_lat)
}

/// Returns n, the ratio of the turn of a meridian to its longitude.
pub(super) fn cone_constant([first, second]: [f64; 2]) -> f64 {
    let (first, second) = (first.to_radians(), second.to_radians());
    if first == second {
        return libm::sin(first);
    }
    let tangent = |lat: f64| libm::tan(FRAC_PI_4 - lat / 2.0);
    libm::log(libm::cos(first) / libm::cos(second)) / libm::log(tangent(first) / tangent(second))
}
