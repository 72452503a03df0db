//! The polar stereographic projection, for either pole.

use super::cone::Cone;

/// Returns the cone of constant 1 in the north and −1 in the south, with its origin at the pole.
///
/// Snyder's equations 21-5 to 21-7 and 21-9 to 21-11. The scale k₀ is that of a map that is true at
/// a parallel φ: 2k₀ = 1 + sin|φ| (from 21-7).
pub(super) fn cone(radius_m: f64, south: bool, central_lon: f64, true_lat: f64) -> Cone {
    let side = if south { -1.0 } else { 1.0 };
    let equator_m = radius_m * (1.0 + libm::sin(true_lat.abs().to_radians()));
    Cone::new(side, equator_m, central_lon, side * 90.0)
}
