//! The directions in which stations around a place hide it from all stations that are farther away.
//!
//! A station hides a place from another station if that one is nearer to the hiding station than to
//! the place. On the sphere such positions form a hemisphere, so what holds at a distance in some
//! direction also holds farther away in that direction.

use crate::check::Spot;

/// Number of equal parts of the horizon.
pub(super) const SECTORS: usize = 32;

/// A margin greater than the rounding error, as a part of the unit sphere times km.
const SURE: f64 = 1e-6;

/// A place, and the stations around it in the order in which they were added.
pub(super) struct Horizon {
    /// Upwards from the place.
    up: [f64; 3],
    /// Two directions along the ground, at a right angle.
    along: [[f64; 3]; 2],
    /// Sine and cosine of the middle of each sector.
    sectors: [(f64, f64); SECTORS],
    /// Sine and cosine of half a sector.
    half: (f64, f64),
    /// The offset of each station upwards and in the two directions, in km.
    stations: Vec<[f64; 3]>,
}

impl Horizon {
    pub(super) fn new(place: Spot) -> Self {
        let place_km = place.place_km();
        let up = scaled(place_km, 1.0 / dot(place_km, place_km).sqrt());
        // Any direction other than upwards.
        let [x, y, z] = up;
        let aside = if z.abs() < 0.9 { [-y, x, 0.0] } else { [0.0, -z, y] };
        let first = scaled(aside, 1.0 / dot(aside, aside).sqrt());
        let second = [
            up[1] * first[2] - up[2] * first[1],
            up[2] * first[0] - up[0] * first[2],
            up[0] * first[1] - up[1] * first[0],
        ];
        let width = std::f64::consts::TAU / SECTORS as f64;
        let sectors = std::array::from_fn(|sector| libm::sincos(width * sector as f64));
        let (half, along) = (libm::sincos(width / 2.0), [first, second]);
        Self { up, along, sectors, half, stations: Vec::new() }
    }

    /// Adds a station by the vector towards it, in km.
    pub(super) fn add(&mut self, towards_km: [f64; 3]) {
        let [first, second] = self.along;
        let parts = [self.up, first, second].map(|direction| dot(direction, towards_km));
        self.stations.push(parts);
    }

    /// Returns, for each sector, the stations that surely hide the place from everything in that
    /// sector that is at least a distance away: one bit each, for up to 64 stations. Distances are
    /// below 10,000 km.
    pub(super) fn hiding(&self, angle_rad: f64) -> [u64; SECTORS] {
        let (sin, cos) = libm::sincos(angle_rad);
        let mut hiding = [0; SECTORS];
        for (which, &[up, first, second]) in self.stations.iter().enumerate() {
            for (mask, &(of_second, of_first)) in hiding.iter_mut().zip(&self.sectors) {
                let along = first * of_first + second * of_second;
                let across = (second * of_first - first * of_second).abs();
                // The least in the sector.
                let least = along * self.half.1 - across * self.half.0;
                let hides = least > 0.0 && up * cos + least * sin > SURE;
                *mask |= u64::from(hides) << which;
            }
        }
        hiding
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn scaled(of: [f64; 3], by: f64) -> [f64; 3] {
    of.map(|part| part * by)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::geo::{EARTH_RADIUS_KM, LonLat};

    proptest! {
        /// Any position farther away than a distance is nearer to the stations that are said to
        /// hide the place.
        #[test]
        fn what_is_hidden_is_nearer_to_what_hides_it(
            (lon, lat) in (-180.0..180.0_f64, -89.0..89.0_f64),
            stations in prop::collection::vec((-1.0..1.0_f64, -1.0..1.0_f64), 1..20),
            (east, north) in (-3.0..3.0_f64, -3.0..3.0_f64),
            part in 0.0..1.0_f64,
        ) {
            let at = |east: f64, north: f64| {
                let lat = (lat + north).clamp(-90.0, 90.0);
                let lon = lon + east / lat.to_radians().cos().max(0.02);
                LonLat::new((lon + 540.0).rem_euclid(360.0) - 180.0, lat).unwrap()
            };
            let place = at(0.0, 0.0);
            let spot = |at: LonLat| Spot::new(at, None);
            let mut horizon = Horizon::new(spot(place));
            let stations: Vec<LonLat> = stations.iter().map(|&(e, n)| at(e, n)).collect();
            for &station in &stations {
                horizon.add(spot(place).towards(spot(station)));
            }
            let far = at(east, north);
            let distance_km = place.distance_km(far);
            let hiding = horizon.hiding(part * distance_km / EARTH_RADIUS_KM);
            // The sector in which it is, by its own vector.
            let towards = spot(place).towards(spot(far));
            let (a, b) = (dot(horizon.along[0], towards), dot(horizon.along[1], towards));
            let turn = libm::atan2(b, a) / std::f64::consts::TAU * SECTORS as f64;
            let sector = (turn.round() as i64).rem_euclid(SECTORS as i64) as usize;
            for (which, station) in stations.iter().enumerate() {
                if hiding[sector] >> which & 1 == 1 {
                    prop_assert!(station.distance_km(far) < distance_km, "{station:?} {far:?}");
                }
            }
        }
    }

    #[test]
    fn stations_all_around_hide_a_place() {
        let spot = |lon: f64, lat: f64| Spot::new(LonLat::new(lon, lat).unwrap(), None);
        let place = spot(0.0, 0.0);
        let mut horizon = Horizon::new(place);
        for step in 0..12 {
            let (sin, cos) = libm::sincos(f64::from(step) * std::f64::consts::TAU / 12.0);
            horizon.add(place.towards(spot(0.1 * cos, 0.1 * sin)));
        }
        let beyond = horizon.hiding(0.11_f64.to_radians());
        assert!(beyond.iter().all(|mask| mask.count_ones() >= 3), "{beyond:x?}");
        // Nothing is hidden from positions nearer than half way.
        assert_eq!(horizon.hiding(0.04_f64.to_radians()), [0; SECTORS]);
    }
}
