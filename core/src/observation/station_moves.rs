//! Stations that move, while their past places stay known.

use std::collections::BTreeMap;

use crate::geo::LonLat;
use crate::observation::earlier_place::is_other_place;
use crate::observation::{EarlierPlace, EarlierPlaces, Station};

impl Station {
    /// Returns where the station was at a time, milliseconds since 1970: where it is now, or an
    /// [earlier place](Station::earlier_places).
    ///
    /// ```
    /// use mesonet::{LonLat, feed::metar_station};
    /// let [old, new] = [LonLat::new(-79.63, 43.68)?, LonLat::new(-79.4, 43.63)?];
    /// let mut station = metar_station("CYYZ", None, old, None);
    /// station.move_to(new, 1_722_715_200_000);
    /// assert_eq!(station.coordinates, new);
    /// assert_eq!(station.coordinates_at(1_722_715_199_999), old);
    /// assert_eq!(station.coordinates_at(1_722_715_200_000), new);
    /// # Ok::<(), mesonet::geo::GeoError>(())
    /// ```
    pub fn coordinates_at(&self, ts_ms: i64) -> LonLat {
        self.earlier_places.at(ts_ms).map_or(self.coordinates, |place| place.coordinates)
    }

    /// Moves the station from a time on, milliseconds since 1970; older readings stay where they
    /// were. A time before the last move counts as the time of the last move.
    ///
    /// A difference of no more than 0.01° is not a move: the same place is given more precisely, or
    /// rounded.
    pub fn move_to(&mut self, place: LonLat, from_ms: i64) {
        if is_other_place(self.coordinates, place) {
            let coordinates = self.coordinates;
            self.earlier_places.push(EarlierPlace { until_ms: from_ms, coordinates });
            self.earlier_places.settle(place);
        }
        self.coordinates = place;
    }

    /// The moves: when, and to where.
    fn moves(&self) -> impl Iterator<Item = (i64, LonLat)> {
        let places = self.earlier_places.as_slice();
        let to = places.iter().skip(1).map(|place| place.coordinates).chain([self.coordinates]);
        places.iter().map(|place| place.until_ms).zip(to)
    }

    /// Returns the station as a store has it after a newer description.
    ///
    /// No description takes away an id or an earlier place. A description with moves is merged with
    /// what is known, by the times of the moves, so two descriptions may come in any order. A
    /// description with no moves, or with the same moves, and another place moves the station after
    /// its newest report, whose time is `newest_ms`.
    ///
    /// ```
    /// use mesonet::{LonLat, feed::metar_station};
    /// let [old, new] = [LonLat::new(-79.63, 43.68)?, LonLat::new(-79.4, 43.63)?];
    /// let [known, table] = [old, new].map(|place| metar_station("CYYZ", None, place, None));
    /// let station = known.described_as(&table, Some(5_000));
    /// assert_eq!((station.coordinates, station.coordinates_at(5_000)), (new, old));
    /// // Again: nothing is new.
    /// assert_eq!(station.described_as(&table, Some(9_000)), station);
    /// # Ok::<(), mesonet::geo::GeoError>(())
    /// ```
    #[must_use]
    pub fn described_as(&self, newer: &Self, newest_ms: Option<i64>) -> Self {
        let mut station = newer.clone();
        station.identifiers.add_all(&self.identifiers);
        let (known, said) = (&self.earlier_places, &newer.earlier_places);
        if said.is_empty() || said == known {
            station.earlier_places = known.clone();
            station.coordinates = self.coordinates;
            match newest_ms {
                Some(newest_ms) => {
                    station.move_to(newer.coordinates, newest_ms.saturating_add(1));
                }
                // The station was never there.
                None => station.coordinates = newer.coordinates,
            }
            return station;
        }
        let moves: BTreeMap<_, _> = self.moves().chain(newer.moves()).collect();
        let first = [said, known].into_iter().filter_map(|places| places.as_slice().first());
        let Some(first) = first.min_by_key(|place| place.until_ms) else { return station };
        (station.coordinates, station.earlier_places) =
            (first.coordinates, EarlierPlaces::default());
        for (until_ms, place) in moves {
            let coordinates = std::mem::replace(&mut station.coordinates, place);
            station.earlier_places.push(EarlierPlace { until_ms, coordinates });
        }
        station.earlier_places.settle(station.coordinates);
        station
    }
}

#[cfg(test)]
#[path = "station_moves_tests.rs"]
mod tests;
