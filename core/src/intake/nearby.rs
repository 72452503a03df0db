//! Nearby stations: computed once, until a station is added or moves.

use std::collections::HashMap;
use std::f64::consts::FRAC_PI_2;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::check::Spot;
use crate::geo::{EARTH_RADIUS_KM, StationIndex};
use crate::store::{Directory, StationRecord};

/// The stations within a radius of each other, found on demand.
#[derive(Debug)]
pub(super) struct Nearby {
    index: Arc<StationIndex>,
    radius_km: f64,
    lists: Box<[OnceLock<NearestStations>]>,
    spots: Box<[Spot]>,
}

/// The other stations nearest to one, nearest first, with their distances in km.
#[derive(Debug)]
struct NearestStations {
    near: Box<[(u32, f64)]>,
    /// Whether this is every station within the radius.
    whole: bool,
}

/// Stations by cubes of space whose sides are as long as the radius.
#[derive(Debug)]
pub(super) struct Cells {
    size_km: f64,
    stations: HashMap<[i32; 3], Vec<usize>>,
}

impl Cells {
    fn of(&self, spot: Spot) -> [i32; 3] {
        spot.place_km().map(|km| (km / self.size_km).floor() as i32)
    }
}

impl Nearby {
    /// How many are cached per station: the check takes the nearest twelve that have a value, and
    /// looks at all of them where stations have none. In a dense network this cache is most of the
    /// memory used.
    const REMEMBERED: usize = 128;

    fn new(directory: &Directory, radius_km: f64) -> Self {
        let lists = directory.stations.iter().map(|_| OnceLock::new()).collect();
        let spot = |of: &Arc<StationRecord>| Spot::new(of.station.coordinates, None);
        let spots = directory.stations.iter().map(spot).collect();
        Self { index: Arc::clone(&directory.index), radius_km, lists, spots }
    }

    /// Returns the place of a station.
    pub(super) fn spot(&self, directory: &Directory, place: usize) -> Spot {
        self.spots[place].at_altitude(directory.stations.outline(place).altitude_m)
    }

    /// Sorts stations by the part of the world that they are in.
    pub(super) fn cells(&self, places: impl Iterator<Item = usize>) -> Cells {
        // The radius is along the ground, with more than what rounding takes.
        let mut cells = Cells { size_km: self.radius_km + 1e-3, stations: HashMap::new() };
        for place in places {
            let cell = cells.of(self.spots[place]);
            cells.stations.entry(cell).or_default().push(place);
        }
        cells
    }

    /// The stations of some cells that may be within the radius of a station.
    pub(super) fn within<'c>(
        &self,
        place: usize,
        cells: &'c Cells,
    ) -> impl Iterator<Item = usize> + 'c {
        let [x, y, z] = cells.of(self.spots[place]);
        let around = (0..27).map(move |at| [x + at % 3 - 1, y + at / 3 % 3 - 1, z + at / 9 - 1]);
        around.filter_map(|cell| cells.stations.get(&cell)).flatten().copied()
    }

    /// Tells quickly whether a station may be between two distances from one, both included. The
    /// answer may be a wrong yes close to them.
    pub(super) fn is_around(
        &self,
        place: usize,
        (from_km, to_km): (f64, f64),
    ) -> impl Fn(usize) -> bool + '_ {
        // Along the straight line, with more than what rounding takes.
        let line_km = |arc_km: f64| {
            2.0 * EARTH_RADIUS_KM * libm::sin((arc_km / 2.0 / EARTH_RADIUS_KM).min(FRAC_PI_2))
        };
        let (least_km, most_km) = ((line_km(from_km) - 1e-3).max(0.0), line_km(to_km) + 1e-3);
        let spot = self.spots[place];
        move |other| {
            let [x, y, z] = spot.towards(self.spots[other]);
            let square = x * x + y * y + z * z;
            (least_km * least_km..=most_km * most_km).contains(&square)
        }
    }

    /// Returns the stations around one, as indices into the directory, nearest first.
    pub(super) fn around<'a>(
        &'a self,
        directory: &'a Directory,
        place: usize,
    ) -> impl Iterator<Item = (usize, f64)> + 'a {
        let all = move || {
            let near = self.index.nearest(directory.stations[place].station.coordinates);
            near.take_while(|&(_, distance_km)| distance_km <= self.radius_km)
                .filter(move |&(other, _)| other != place && other < directory.stations.len())
        };
        let list = self.lists[place].get_or_init(|| {
            let mut near = all().map(|(other, distance_km)| (other as u32, distance_km));
            let first: Box<[_]> = near.by_ref().take(Self::REMEMBERED).collect();
            NearestStations { near: first, whole: near.next().is_none() }
        });
        let first = list.near.iter().map(|&(other, distance_km)| (other as usize, distance_km));
        let rest = (!list.whole).then(|| std::iter::once_with(all).flatten().skip(list.near.len()));
        first.chain(rest.into_iter().flatten())
    }
}

/// The lists for the last directory seen.
#[derive(Clone, Debug, Default)]
pub(super) struct NearbyCache(Arc<Mutex<Option<Arc<Nearby>>>>);

impl NearbyCache {
    /// Returns the lists for a directory, from the cache if no station was added or moved.
    pub(super) fn of(&self, directory: &Directory, radius_km: f64) -> Arc<Nearby> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(known)
                if Arc::ptr_eq(&known.index, &directory.index)
                    && known.lists.len() == directory.stations.len() =>
            {
                Arc::clone(known)
            }
            _ => Arc::clone(known.insert(Arc::new(Nearby::new(directory, radius_km)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geo::LonLat;
    use crate::observation::{Batch, Station, StationId};
    use crate::observation::{EarlierPlaces, Identifiers};
    use crate::store::{MemoryStore, Reader, Store, no_verdicts};

    /// A network of stations on a spiral. Each station is farther from the first than the previous
    /// one, with gaps of at most a tenth of a degree.
    fn directory(stations: usize) -> Arc<Directory> {
        let station = |i: usize| {
            let (angle, degrees) = (i as f64 * 2.4, 0.004 * (i as f64 + 1.0));
            let native_id = format!("S{i}");
            Station {
                id: StationId::new("TEST", &native_id),
                network: "TEST".to_owned(),
                name: native_id.clone(),
                native_id,
                station_type: None,
                coordinates: LonLat::new(degrees * angle.sin(), degrees * angle.cos()).unwrap(),
                sensor_height_m: 10.0,
                altitude_m: None,
                identifiers: Identifiers::default(),
                earlier_places: EarlierPlaces::default(),
            }
        };
        let store = MemoryStore::default();
        let stations = (0..stations).map(station).collect();
        store.append(&Batch { stations, reports: vec![] }, &mut no_verdicts).unwrap();
        store.directory().unwrap()
    }

    /// Stations that are not cached are looked up: even in a dense network all stations within the
    /// radius are found, each once, in order, and none beyond it.
    #[test]
    fn cells_have_every_station_within_the_radius() {
        let directory = directory(400);
        for radius_km in [0.0, 3.0, 50.0, 1000.0] {
            let nearby = Nearby::new(&directory, radius_km);
            let cells = nearby.cells(0..400);
            for place in [0, 7, 200, 399] {
                let mut within: Vec<usize> = nearby.within(place, &cells).collect();
                within.sort_unstable();
                assert!(within.windows(2).all(|pair| pair[0] < pair[1]), "each one once");
                let near = nearby.around(&directory, place).map(|(other, _)| other);
                for other in near.chain([place]) {
                    assert!(within.binary_search(&other).is_ok(), "{other} of {place}");
                }
                let is_far = radius_km < 10.0;
                assert!(!is_far || within.len() < 100, "{}", within.len());
            }
        }
    }

    #[test]
    fn all_stations_in_the_radius_are_found_whatever_is_cached() {
        for stations in [2, 300, Nearby::REMEMBERED, Nearby::REMEMBERED + 1, Nearby::REMEMBERED + 2]
        {
            let directory = directory(stations);
            let place = |i: usize| directory.stations[i].station.coordinates;
            // One radius is exactly the distance of a station.
            let exact_km = place(0).distance_km(place(stations / 2));
            for radius_km in [0.0, 50.0, exact_km, 20_000.0] {
                let nearby = Nearby::new(&directory, radius_km);
                for from in [0, stations / 2, stations - 1] {
                    let mut expected: Vec<(usize, f64)> = (0..stations)
                        .filter(|&other| other != from)
                        .map(|other| (other, place(from).distance_km(place(other))))
                        .filter(|&(_, distance_km)| distance_km <= radius_km)
                        .collect();
                    expected.sort_by(|a, b| a.1.total_cmp(&b.1));
                    // The list is computed the first time and cached after that.
                    for _ in 0..2 {
                        let found: Vec<_> = nearby.around(&directory, from).collect();
                        assert_eq!(found, expected, "{stations} stations, {radius_km} km, {from}");
                    }
                }
            }
        }
    }

    #[test]
    fn no_station_between_two_distances_is_passed_over() {
        let directory = directory(300);
        let nearby = Nearby::new(&directory, 20_000.0);
        let place = |i: usize| directory.stations[i].station.coordinates;
        let distance_km = |other| place(7).distance_km(place(other));
        for (from_km, to_km) in [
            (0.0, 1.0),
            (distance_km(9), distance_km(9)),
            (10.0, distance_km(200)),
            (5.0, 30_000.0),
        ] {
            let is_around = nearby.is_around(7, (from_km, to_km));
            let (mut yes, mut wrong) = (0, 0);
            for other in 0..300 {
                let is_between = (from_km..=to_km).contains(&distance_km(other));
                assert!(is_around(other) || !is_between, "{other} at {}", distance_km(other));
                yes += usize::from(is_between);
                wrong += usize::from(is_around(other) && !is_between);
            }
            assert!(yes > 0 && wrong < 3, "{yes} and {wrong} for {from_km} to {to_km}");
        }
    }

    #[test]
    fn the_lists_are_kept_until_a_station_is_added() {
        let (cache, few, more) = (NearbyCache::default(), directory(3), directory(4));
        let first = cache.of(&few, 100.0);
        assert!(Arc::ptr_eq(&first, &cache.of(&few, 100.0)));
        let second = cache.of(&more, 100.0);
        assert!(!Arc::ptr_eq(&first, &second));
        assert_eq!(second.around(&more, 0).count(), 3);
        assert_eq!(cache.of(&few, 100.0).around(&few, 0).count(), 2);
    }
}
