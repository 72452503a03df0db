//! Which stations stand around which: worked out once, as long as no station comes or moves.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::geo::StationIndex;
use crate::store::Directory;

/// The stations within a radius of each other, found as they are asked for.
#[derive(Debug)]
pub(super) struct Nearby {
    index: Arc<StationIndex>,
    radius_km: f64,
    lists: Box<[OnceLock<List>]>,
}

/// The stations nearest to one, from the nearest on, with their distances in km; itself not.
#[derive(Debug)]
struct List {
    near: Box<[(u32, f64)]>,
    /// Whether these are all within the radius.
    whole: bool,
}

impl Nearby {
    /// How many are remembered of one station: the check takes the fifty nearest that have a value.
    const REMEMBERED: usize = 128;

    fn new(directory: &Directory, radius_km: f64) -> Self {
        let lists = directory.stations.iter().map(|_| OnceLock::new()).collect();
        Self { index: Arc::clone(&directory.index), radius_km, lists }
    }

    /// The stations around one, as places in the directory, from the nearest on.
    pub fn around<'a>(
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
            List { near: first, whole: near.next().is_none() }
        });
        let first = list.near.iter().map(|&(other, distance_km)| (other as usize, distance_km));
        let rest = (!list.whole).then(|| std::iter::once_with(all).flatten().skip(list.near.len()));
        first.chain(rest.into_iter().flatten())
    }
}

/// The lists of the stations that were last on record.
#[derive(Clone, Debug, Default)]
pub(super) struct NearbyCache(Arc<Mutex<Option<Arc<Nearby>>>>);

impl NearbyCache {
    /// The lists for a directory: those at hand where its stations stand as they stood.
    pub fn of(&self, directory: &Directory, radius_km: f64) -> Arc<Nearby> {
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
