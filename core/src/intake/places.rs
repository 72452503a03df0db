//! Places and names of stations: from the record, from tables, and from their reports.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::moves::{Moves, PlaceDecision};
use crate::feed::FeedStation;
use crate::geo::LonLat;
use crate::observation::{Station, StationId, StationType, is_other_place};
use crate::store::Directory;

/// The most stations without a place that are tracked. For further stations, a later place is not
/// noticed.
const MAX_UNPLACED: usize = 1_000_000;

/// The facts known about stations while reports are read.
///
/// The description of a station comes from its newest report, field by field. A missing field
/// erases nothing, and an older report only fills in fields that are not known yet. If two reports
/// have the same time, the greater value counts, so that the order of the reports does not matter.
#[derive(Debug)]
pub(super) struct Places {
    directory: Arc<Directory>,
    met: HashMap<StationId, RecentStation>,
    /// Stations with a report that was left out because their place was unknown.
    unplaced: HashSet<StationId>,
    late: HashSet<StationId>,
    moves: Moves,
}

/// What a report says of its station in addition to the record.
pub(super) struct StationUpdate<'p> {
    /// The station as it is known now, if that changed.
    pub changed: Option<&'p Station>,
    /// Whether the report places the station elsewhere, and nothing confirms that.
    pub is_elsewhere: bool,
}

/// Finds a station in a table.
pub(super) type Table<'t> = dyn Fn(StationId) -> Option<Station> + 't;

/// The place of a station is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlaceUnknown;

/// A station that has reported since the directory was read.
#[derive(Debug)]
struct RecentStation {
    station: Station,
    since: Since,
}

/// The times of the reports from which the description of a station comes.
#[derive(Clone, Copy, Debug)]
struct Since {
    name_ms: i64,
    place_ms: i64,
    altitude_ms: i64,
    height_ms: i64,
    type_ms: i64,
}

impl Places {
    /// Starts from the stations on record.
    pub(super) fn new(directory: Arc<Directory>) -> Self {
        let (met, unplaced, late, moves) = Default::default();
        Self { directory, met, unplaced, late, moves }
    }

    /// Shares the memory of reports that have placed their stations elsewhere.
    pub(super) fn remember_in(&mut self, moves: &Moves) {
        self.moves = moves.clone();
    }

    /// Returns a station as it is known now.
    pub(super) fn get(&self, id: StationId, table: &Table<'_>) -> Option<Station> {
        let met = || self.met.get(&id).map(|met| &met.station);
        let on_record = || self.directory.get(id).map(|record| &record.station);
        met().or_else(on_record).cloned().or_else(|| table(id))
    }

    /// The stations with a place, or with facts needed for derived values, that became known only
    /// after some of their reports.
    pub(super) fn late(&self) -> &HashSet<StationId> {
        &self.late
    }

    /// Notes a report. Returns the station if it differs from the record, and whether the report
    /// places it elsewhere; an error if its place is unknown.
    pub(super) fn report(
        &mut self,
        id: StationId,
        said: &FeedStation,
        ts_ms: i64,
        table: &Table<'_>,
    ) -> Result<StationUpdate<'_>, PlaceUnknown> {
        let is_on_record = self.directory.get(id).is_some();
        if self.met.contains_key(&id) {
            let moves = &self.moves;
            let Some(met) = self.met.get_mut(&id) else {
                return Ok(StationUpdate { changed: None, is_elsewhere: false });
            };
            let before = met.derived_with();
            let placed = met.placed(is_on_record, moves, id, said, ts_ms, table);
            let is_elsewhere = placed == PlaceDecision::Elsewhere;
            let changed = met.say(said, ts_ms, placed);
            if met.derived_with() != before {
                self.late.insert(id);
            }
            return Ok(StationUpdate { changed: changed.then_some(&met.station), is_elsewhere });
        }
        let record = self.directory.get(id);
        let known = record.map(|record| record.station.clone()).or_else(|| table(id));
        let station = match (known, said.place) {
            (Some(known), _) => known,
            (None, Some(place)) => said.clone().at(place),
            (None, None) => {
                if self.unplaced.len() < MAX_UNPLACED {
                    self.unplaced.insert(id);
                }
                return Err(PlaceUnknown);
            }
        };
        if self.unplaced.contains(&id) {
            self.late.insert(id);
        }
        let newest_ms = record.and_then(|record| record.update_time_ms).unwrap_or(i64::MIN);
        let is_new = record.is_none();
        let met =
            self.met.entry(id).or_insert(RecentStation { station, since: Since::all(newest_ms) });
        let placed = met.placed(!is_new, &self.moves, id, said, ts_ms, table);
        let is_elsewhere = placed == PlaceDecision::Elsewhere;
        let changed = met.say(said, ts_ms, placed);
        Ok(StationUpdate { changed: (changed || is_new).then_some(&met.station), is_elsewhere })
    }
}

impl Since {
    const fn all(ts_ms: i64) -> Self {
        let [name_ms, place_ms, altitude_ms, height_ms, type_ms] = [ts_ms; 5];
        Self { name_ms, place_ms, altitude_ms, height_ms, type_ms }
    }
}

impl RecentStation {
    /// The facts that derived values need.
    fn derived_with(&self) -> (Option<f64>, f64, Option<StationType>) {
        (self.station.altitude_m, self.station.sensor_height_m, self.station.station_type)
    }

    /// What to do with the place of a report. A place that is not older than the known place moves
    /// a station on record only if something confirms it.
    fn placed(
        &self,
        is_on_record: bool,
        moves: &Moves,
        id: StationId,
        said: &FeedStation,
        ts_ms: i64,
        table: &Table<'_>,
    ) -> PlaceDecision {
        let is_newest = is_on_record && ts_ms >= self.since.place_ms;
        let Some(place) = said.place.filter(|_| is_newest) else { return PlaceDecision::Here };
        let known = self.station.coordinates;
        // Most reports give the place that is known.
        if known == place {
            moves.here(id, ts_ms);
            return PlaceDecision::Here;
        }
        let in_table = || table(id).map(|station| station.coordinates);
        moves.placed(id, known, (ts_ms, place), in_table)
    }

    /// Takes over what a report says about the station; returns whether that changed anything.
    /// Readings older than a move stay where they were.
    fn say(&mut self, said: &FeedStation, ts_ms: i64, placed: PlaceDecision) -> bool {
        let Self { station, since } = self;
        let has_past = since.place_ms > i64::MIN;
        let mut changed = false;
        // Whether to take over a value, by how it compares with the known one.
        let mut set = |since_ms: &mut i64, is_unknown: bool, compared: Ordering| {
            let is_later = ts_ms > *since_ms || ts_ms == *since_ms && compared == Ordering::Greater;
            let set = compared != Ordering::Equal && (is_unknown || is_later);
            if set && is_unknown {
                *since_ms = ts_ms;
            }
            *since_ms = ts_ms.max(*since_ms);
            changed |= set;
            set
        };
        if let Some(name) = said.name.as_ref().filter(|name| !name.is_empty())
            && set(&mut since.name_ms, station.name == station.native_id, name.cmp(&station.name))
        {
            station.name.clone_from(name);
        }
        if let Some(place) = said.place.filter(|_| placed != PlaceDecision::Elsewhere) {
            let compared = if is_elsewhere(station.coordinates, place) {
                let [known, said] =
                    [station.coordinates, place].map(|place| (place.lon(), place.lat()));
                said.partial_cmp(&known).unwrap_or(Ordering::Less)
            } else {
                Ordering::Equal
            };
            if set(&mut since.place_ms, false, compared) {
                let moves = match placed {
                    PlaceDecision::Moved(moves) => moves,
                    _ => vec![(ts_ms, place)],
                };
                for (from_ms, place) in moves {
                    if has_past {
                        station.move_to(place, from_ms);
                    }
                    station.coordinates = place;
                    since.place_ms = from_ms.max(since.place_ms);
                }
            }
        }
        if let Some(altitude_m) = said.altitude_m {
            let known_m = station.altitude_m;
            let compared =
                known_m.map_or(Ordering::Greater, |known_m| altitude_m.total_cmp(&known_m));
            if set(&mut since.altitude_ms, known_m.is_none(), compared) {
                station.altitude_m = Some(altitude_m);
            }
        }
        if let Some(height_m) = said.sensor_height_m {
            let known_m = station.sensor_height_m;
            if set(&mut since.height_ms, known_m == 0.0, height_m.total_cmp(&known_m)) {
                station.sensor_height_m = height_m;
            }
        }
        if let Some(kind) = said.station_type {
            let known = station.station_type;
            let compared =
                known.map_or(Ordering::Greater, |known| (kind as u8).cmp(&(known as u8)));
            if set(&mut since.type_ms, known.is_none(), compared) {
                station.station_type = Some(kind);
            }
        }
        // An id, once given, stays true: an old one may still be searched for.
        station.identifiers.add_all(&said.identifiers) || changed
    }
}

/// Whether a place is a different one, or the same place given more precisely.
fn is_elsewhere(known: LonLat, said: LonLat) -> bool {
    let precision = |place: LonLat| decimals(place.lon()).max(decimals(place.lat()));
    is_other_place(known, said) || precision(said) > precision(known)
}

/// The number of decimals of a coordinate, as far as it matters.
fn decimals(degrees: f64) -> u8 {
    let is_whole = |scaled: f64| (scaled - scaled.round()).abs() < 1e-6;
    let scales = [1.0, 10.0, 100.0, 1e3, 1e4];
    scales.iter().position(|scale| is_whole(degrees * scale)).unwrap_or(scales.len()) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The station after a report, if it differs from the record.
    fn report<'p>(
        places: &'p mut Places,
        id: StationId,
        said: &FeedStation,
        ts_ms: i64,
        table: &Table<'_>,
    ) -> Result<Option<&'p Station>, PlaceUnknown> {
        places.report(id, said, ts_ms, table).map(|said| said.changed)
    }
    use crate::feed::metar_station;

    fn at(lon: f64, lat: f64) -> LonLat {
        LonLat::new(lon, lat).unwrap()
    }

    fn feed_station(native_id: &str) -> FeedStation {
        FeedStation::new("METAR", native_id)
    }

    fn table(id: StationId) -> Option<Station> {
        let station = metar_station("CYYZ", Some("Toronto"), at(-79.629, 43.679), Some(173.0));
        (station.id == id).then_some(station)
    }

    #[test]
    fn a_place_comes_from_the_report_or_a_table_or_nowhere() {
        let mut places = Places::new(Arc::default());
        let cyyz = feed_station("CYYZ");
        let toronto = report(&mut places, cyyz.id(), &cyyz, 0, &table).unwrap().unwrap().clone();
        assert_eq!((&*toronto.name, toronto.coordinates), ("Toronto", at(-79.629, 43.679)));
        // Now known, with nothing new.
        assert_eq!(report(&mut places, toronto.id, &cyyz, 10, &table), Ok(None));

        let buffalo = FeedStation { place: Some(at(-78.74, 42.94)), ..feed_station("KBUF") };
        let buffalo = report(&mut places, buffalo.id(), &buffalo, 0, &table).unwrap().unwrap();
        assert_eq!((&*buffalo.name, buffalo.coordinates), ("KBUF", at(-78.74, 42.94)));
        let kxyz = feed_station("KXYZ");
        assert_eq!(report(&mut places, kxyz.id(), &kxyz, 0, &table), Err(PlaceUnknown));
    }

    #[test]
    fn a_newer_report_changes_what_it_says_and_an_older_one_fills_in() {
        let mut places = Places::new(Arc::default());
        let id = feed_station("A").id();
        let first =
            FeedStation { place: Some(at(1.0, 2.0)), altitude_m: Some(5.0), ..feed_station("A") };
        report(&mut places, id, &first, 100, &table).unwrap();
        let older = FeedStation {
            name: Some("Alpha".into()),
            place: Some(at(8.0, 9.0)),
            altitude_m: Some(6.0),
            sensor_height_m: Some(10.0),
            station_type: Some(StationType::Suburban),
            ..feed_station("A")
        };
        let station = report(&mut places, id, &older, 50, &table).unwrap().unwrap();
        assert_eq!((&*station.name, station.coordinates), ("Alpha", at(1.0, 2.0)));
        assert_eq!((station.altitude_m, station.sensor_height_m), (Some(5.0), 10.0));
        assert_eq!(station.station_type, Some(StationType::Suburban));
        let newer = FeedStation {
            name: Some("Beta".into()),
            place: Some(at(8.0, 9.0)),
            ..feed_station("A")
        };
        let station = report(&mut places, id, &newer, 100, &table).unwrap().unwrap();
        assert_eq!((&*station.name, station.coordinates), ("Beta", at(8.0, 9.0)));
        assert_eq!((station.altitude_m, station.sensor_height_m), (Some(5.0), 10.0));
    }

    #[test]
    fn a_less_precise_place_is_not_a_move() {
        let fine = at(-79.6296, 43.6791);
        for same in [at(-79.63, 43.68), at(-79.62, 43.67), at(-79.6, 43.7), fine] {
            let moved = (same.lon() - fine.lon()).abs() > 0.0101;
            assert_eq!(is_elsewhere(fine, same), moved, "{same:?}");
        }
        assert!(is_elsewhere(at(-79.63, 43.68), fine));
        assert!(is_elsewhere(fine, at(-79.65, 43.68)));
        // Over the antimeridian too.
        assert!(!is_elsewhere(at(179.995, 0.0), at(-179.999, 0.0)));
    }
}
