//! Local times: the zones of the tz database, and the zone of each station.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwapOption;
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use mesonet::geo::time_zone_at;
use mesonet::store::Directory;
use mesonet::time::LocalClock;
use mesonet::{LonLat, StationId};

use mesonet_service::sync::lock;

/// From when to when clocks know the changes of their zone: 1900 and 2100. Before and after, the
/// offset is the first or the last of them.
const CHANGES_S: [i64; 2] = [-2_208_988_800, 4_102_444_800];

/// The clocks of stations, by id.
pub type StationClocks = Arc<HashMap<StationId, Arc<LocalClock>>>;

/// The clocks that were asked for.
#[derive(Default)]
pub struct TimeZones {
    /// By the name of the zone; at most all of the tz database.
    clocks: Mutex<HashMap<String, Arc<LocalClock>>>,
    stations: ArcSwapOption<Known>,
}

/// The stations of a directory whose zone is known.
struct Known {
    places_generation: u64,
    places: HashMap<StationId, LonLat>,
    clocks: StationClocks,
}

impl TimeZones {
    /// The clock of a zone of the tz database, which is part of the server; `None` for another name.
    pub fn clock(&self, name: &str) -> Option<Arc<LocalClock>> {
        let zone = TimeZone::get(name).ok()?;
        let name = zone.iana_name()?;
        let mut clocks = lock(&self.clocks);
        if let Some(known) = clocks.get(name) {
            return Some(Arc::clone(known));
        }
        let clock = Arc::new(made(name, &zone));
        clocks.insert(name.to_owned(), Arc::clone(&clock));
        Some(clock)
    }

    /// The clocks of all stations that lie in a zone. The zone of a station is found once, and again
    /// when it moves.
    pub fn of_stations(&self, directory: &Directory) -> StationClocks {
        let known = self.stations.load_full();
        if let Some(known) = &known
            && known.places_generation == directory.places_generation
        {
            return Arc::clone(&known.clocks);
        }
        let mut places = HashMap::with_capacity(directory.stations.len());
        let mut clocks = HashMap::with_capacity(directory.stations.len());
        for record in &directory.stations {
            let (id, place) = (record.station.id, record.station.coordinates);
            let before = known.as_ref().filter(|known| known.places.get(&id) == Some(&place));
            let clock = match before {
                Some(known) => known.clocks.get(&id).cloned(),
                None => time_zone_at(place).and_then(|name| self.clock(name)),
            };
            places.insert(id, place);
            clocks.extend(clock.map(|clock| (id, clock)));
        }
        let clocks = Arc::new(clocks);
        let places_generation = directory.places_generation;
        let known = Known { places_generation, places, clocks: Arc::clone(&clocks) };
        self.stations.store(Some(Arc::new(known)));
        clocks
    }
}

fn made(name: &str, zone: &TimeZone) -> LocalClock {
    let [first, last] = CHANGES_S.map(|second| Timestamp::from_second(second).unwrap_or_default());
    let changes = zone.following(first).take_while(|change| change.timestamp() < last);
    let changes = changes.map(|at| (at.timestamp().as_millisecond(), minutes(at.offset())));
    LocalClock::new(name, minutes(zone.to_offset(first)), changes)
}

/// To the minute, as times are written: until 1972, some offsets had seconds.
fn minutes(offset: Offset) -> i32 {
    (f64::from(offset.seconds()) / 60.0).round() as i32
}

#[cfg(test)]
mod tests {
    use mesonet::geo::time_zones;
    use mesonet::store::no_verdicts;
    use mesonet::time::{HOUR_MS, parse_instant};
    use mesonet::{Batch, MemoryStore, Reader, Station, Store};

    use super::*;

    fn text(zone: &str, at: &str) -> String {
        TimeZones::default().clock(zone).unwrap().text(parse_instant(at).unwrap())
    }

    /// Changes of summer time as governments have published them.
    #[test]
    fn local_times_are_those_of_the_law() {
        for (zone, at, expected) in [
            ("America/Toronto", "2024-03-10T06:59:59Z", "2024-03-10T01:59:59-05:00"),
            ("America/Toronto", "2024-03-10T07:00:00Z", "2024-03-10T03:00:00-04:00"),
            ("America/Toronto", "2024-11-03T05:59:59Z", "2024-11-03T01:59:59-04:00"),
            ("America/Toronto", "2024-11-03T06:00:00Z", "2024-11-03T01:00:00-05:00"),
            ("America/St_Johns", "2024-08-03T20:00:00Z", "2024-08-03T17:30:00-02:30"),
            ("America/Phoenix", "2024-08-03T20:00:00Z", "2024-08-03T13:00:00-07:00"),
            // Yukon has had UTC−7 the whole year since November 2020.
            ("America/Whitehorse", "2019-12-01T12:00:00Z", "2019-12-01T04:00:00-08:00"),
            ("America/Whitehorse", "2021-12-01T12:00:00Z", "2021-12-01T05:00:00-07:00"),
            ("America/New_York", "1980-07-01T12:00:00Z", "1980-07-01T08:00:00-04:00"),
            ("America/New_York", "2075-07-01T12:00:00Z", "2075-07-01T08:00:00-04:00"),
            ("america/new_york", "0000-01-01T00:00:00Z", "-0001-12-31T19:00:00-05:00"),
            ("Etc/GMT+5", "2024-01-01T00:00:00.250Z", "2023-12-31T19:00:00.250-05:00"),
            ("UTC", "2024-01-01T00:00:00Z", "2024-01-01T00:00:00+00:00"),
        ] {
            assert_eq!(text(zone, at), expected, "{zone} {at}");
        }
        assert!(TimeZones::default().clock("Mars/Olympus").is_none());
    }

    /// What the library says in a century of hours, and at each change.
    #[test]
    fn clocks_agree_with_the_tz_database_in_every_zone_of_stations() {
        for name in time_zones() {
            let zone = TimeZone::get(name).unwrap();
            let clock = TimeZones::default().clock(name).unwrap();
            let from_ms = CHANGES_S[0] * 1_000;
            for hour in (0..200 * 8_766).step_by(97) {
                let ts_ms = from_ms + hour * HOUR_MS;
                let at = Timestamp::from_millisecond(ts_ms).unwrap();
                if at < Timestamp::from_second(CHANGES_S[1]).unwrap() {
                    let expected = minutes(zone.to_offset(at));
                    assert_eq!(clock.offset_minutes(ts_ms), expected, "{name} {at}");
                }
            }
        }
    }

    #[test]
    fn a_station_that_moves_gets_another_zone() {
        let store = MemoryStore::default();
        let station = |lon: f64, lat: f64| Station {
            coordinates: LonLat::new(lon, lat).unwrap(),
            ..toronto()
        };
        let put = |station: Station| {
            let batch = Batch { stations: vec![station], reports: vec![] };
            store.append(&batch, &mut no_verdicts).unwrap();
        };
        let zones = TimeZones::default();
        let zone = |zones: &TimeZones| {
            let clocks = zones.of_stations(&store.directory().unwrap());
            clocks.values().next().map(|clock| clock.name().to_owned())
        };
        assert_eq!(zone(&zones), None);
        put(station(-79.63, 43.68));
        assert_eq!(zone(&zones).as_deref(), Some("America/Toronto"));
        assert_eq!(zone(&zones).as_deref(), Some("America/Toronto"));
        put(station(-114.0, 51.0));
        assert_eq!(zone(&zones).as_deref(), Some("America/Edmonton"));
        put(station(-40.0, 40.0));
        assert_eq!(zone(&zones), None);
    }

    fn toronto() -> Station {
        Station {
            id: StationId::new("TEST", "A"),
            network: "TEST".into(),
            native_id: "A".into(),
            name: "A".into(),
            station_type: None,
            coordinates: LonLat::new(-79.63, 43.68).unwrap(),
            sensor_height_m: 10.0,
            altitude_m: None,
            identifiers: mesonet::observation::Identifiers::default(),
            earlier_places: mesonet::observation::EarlierPlaces::default(),
        }
    }
}
