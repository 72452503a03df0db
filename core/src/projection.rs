//! Map projections of a sphere, from longitude and latitude to metres.
//!
//! The formulas are those of J. P. Snyder, Map Projections: A Working Manual, US Geological Survey
//! Professional Paper 1395 (1987), for the sphere.

use std::f64::consts::FRAC_PI_4;

/// A projection of a sphere whose x axis points east and y axis north at its central meridian.
///
/// ```
/// use mesonet::Projection;
/// let lambert = Projection::LambertConformal {
///     radius_m: 6_371_229.0,
///     origin_lat: 38.5,
///     central_lon: -97.5,
///     parallels: [38.5, 38.5],
/// };
/// let (x, y) = lambert.forward(-97.5, 38.5);
/// assert!(x.abs() < 1e-6 && y.abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Projection {
    /// Lambert's conformal conic (Snyder's equations 15-1 to 15-5), origin at a latitude on the
    /// central meridian.
    LambertConformal {
        /// Radius of the sphere in metres.
        radius_m: f64,
        /// Latitude of the origin.
        origin_lat: f64,
        /// Longitude that runs along the y axis.
        central_lon: f64,
        /// The parallels that are true to scale; twice the same for a cone that touches.
        parallels: [f64; 2],
    },
    /// The polar stereographic one (Snyder's equations 21-5 to 21-12), origin at its pole.
    PolarStereographic {
        /// Radius of the sphere in metres.
        radius_m: f64,
        /// Whether its centre is the South Pole.
        south: bool,
        /// Longitude that runs along the y axis.
        central_lon: f64,
        /// The parallel that is true to scale.
        true_lat: f64,
    },
    /// Mercator's (Snyder's equations 7-1 and 7-2), origin on the equator.
    Mercator {
        /// Radius of the sphere in metres.
        radius_m: f64,
        /// Longitude of the origin.
        central_lon: f64,
        /// The parallel that is true to scale.
        true_lat: f64,
    },
}

impl Projection {
    /// Projects a position in degrees to x and y in metres.
    ///
    /// The pole that a projection cannot show has no finite y.
    pub fn forward(self, lon: f64, lat: f64) -> (f64, f64) {
        // The tangent that grows from the south pole to the north pole.
        let tangent = |lat: f64| libm::tan(FRAC_PI_4 + lat.to_radians() / 2.0);
        match self {
            Self::LambertConformal { radius_m, origin_lat, central_lon, parallels } => {
                let n = cone(parallels);
                let f =
                    libm::cos(parallels[0].to_radians()) * libm::pow(tangent(parallels[0]), n) / n;
                let rho = |lat: f64| radius_m * f / libm::pow(tangent(lat), n);
                let theta = n * turned(lon - central_lon).to_radians();
                (rho(lat) * libm::sin(theta), rho(origin_lat) - rho(lat) * libm::cos(theta))
            }
            Self::PolarStereographic { radius_m, south, central_lon, true_lat } => {
                let side = if south { -1.0 } else { 1.0 };
                let scale = radius_m * (1.0 + libm::sin(true_lat.to_radians().abs()));
                let rho = scale * tangent(-side * lat);
                let theta = turned(lon - central_lon).to_radians();
                (rho * libm::sin(theta), -side * rho * libm::cos(theta))
            }
            Self::Mercator { radius_m, central_lon, true_lat } => {
                let scale = radius_m * libm::cos(true_lat.to_radians());
                let x = scale * turned(lon - central_lon).to_radians();
                (x, scale * libm::log(tangent(lat)))
            }
        }
    }
}

/// The constant of a cone, n: the turn of its meridians against their longitudes.
fn cone([first, second]: [f64; 2]) -> f64 {
    let (first, second) = (first.to_radians(), second.to_radians());
    if first == second {
        return libm::sin(first);
    }
    let tangent = |lat: f64| libm::tan(FRAC_PI_4 - lat / 2.0);
    libm::log(libm::cos(first) / libm::cos(second)) / libm::log(tangent(first) / tangent(second))
}

/// A difference of longitudes within ±180°.
fn turned(degrees: f64) -> f64 {
    let turned = libm::fmod(degrees, 360.0);
    match turned {
        _ if turned > 180.0 => turned - 360.0,
        _ if turned < -180.0 => turned + 360.0,
        _ => turned,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is(projection: Projection, lon: f64, lat: f64, x: f64, y: f64) {
        let got = projection.forward(lon, lat);
        assert!((got.0 - x).abs() < 1e-6 && (got.1 - y).abs() < 1e-6, "{got:?}");
    }

    /// Snyder's numerical examples, pages 266, 295 and 310: a sphere of radius 1.
    #[test]
    fn the_examples_of_the_manual() {
        let mercator = Projection::Mercator { radius_m: 1.0, central_lon: -180.0, true_lat: 0.0 };
        is(mercator, -75.0, 35.0, 1.832_595_7, 0.652_836_5);
        let lambert = Projection::LambertConformal {
            radius_m: 1.0,
            origin_lat: 23.0,
            central_lon: -96.0,
            parallels: [33.0, 45.0],
        };
        is(lambert, -75.0, 35.0, 0.296_678_5, 0.246_211_2);
    }

    #[test]
    fn the_poles_of_a_stereographic_projection_are_mirrored() {
        let north = Projection::PolarStereographic {
            radius_m: 6_371_229.0,
            south: false,
            central_lon: -111.0,
            true_lat: 60.0,
        };
        let (x, y) = north.forward(-111.0 + 30.0, 60.0);
        // On the true parallel the circle has the radius that it has on the globe.
        assert!(
            (libm::hypot(x, y)
                - 6_371_229.0
                    * 0.5
                    * (1.0 + 3_f64.sqrt() / 2.0)
                    * 2.0
                    * libm::tan(15_f64.to_radians()))
            .abs()
                < 1e-3
        );
        assert!(x > 0.0 && y < 0.0);
        let south = Projection::PolarStereographic {
            radius_m: 6_371_229.0,
            south: true,
            central_lon: -111.0,
            true_lat: -60.0,
        };
        let (mirrored_x, mirrored_y) = south.forward(-111.0 + 30.0, -60.0);
        assert!((x - mirrored_x).abs() < 1e-6 && (y + mirrored_y).abs() < 1e-6);
        is(north, 0.0, 90.0, 0.0, 0.0);
        is(south, 0.0, -90.0, 0.0, 0.0);
    }

    #[test]
    fn longitudes_go_round() {
        for (degrees, within) in [(10.0, 10.0), (190.0, -170.0), (-190.0, 170.0), (725.0, 5.0)] {
            assert_eq!(turned(degrees), within);
        }
    }
}
