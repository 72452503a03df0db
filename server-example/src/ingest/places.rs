//! Where stations are and what they are called: on record, in a table, by their reports.

use std::collections::HashMap;
use std::sync::Arc;

use mesonet::{Directory, LonLat, Station, StationId, feed::FeedStation};

/// Places are rounded, or cut, to hundredths of a degree by some feeds: a smaller difference is
/// no move.
const SAME_PLACE_DEG: f64 = 0.0101;

/// What is known of stations, while reports come in.
///
/// The description of a station is that of its newest report, field by field: a report that leaves
/// a field out erases nothing, and an older one only fills in what nobody has said yet.
pub struct Places<'a> {
    tables: &'a HashMap<StationId, Station>,
    directory: Arc<Directory>,
    met: HashMap<StationId, Met>,
}

/// Nobody knows where a station is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceUnknown;

/// A station that has reported since the directory was looked at.
struct Met {
    station: Station,
    newest_ms: i64,
}

impl<'a> Places<'a> {
    /// What tables and the stations on record say.
    pub fn new(tables: &'a HashMap<StationId, Station>, directory: Arc<Directory>) -> Self {
        Self { tables, directory, met: HashMap::new() }
    }

    /// A station as it is known now.
    pub fn get(&self, id: StationId) -> Option<&Station> {
        let met = || self.met.get(&id).map(|met| &met.station);
        let on_record = || self.directory.get(id).map(|record| &record.station);
        met().or_else(on_record).or_else(|| self.tables.get(&id))
    }

    /// Takes note of a report. Gives the station where it is not on record as it is now; an error
    /// where nobody knows its place.
    pub fn report(
        &mut self,
        id: StationId,
        said: &FeedStation,
        ts_ms: i64,
    ) -> Result<Option<&Station>, PlaceUnknown> {
        if !self.met.contains_key(&id) {
            let record = self.directory.get(id);
            let known = record.map(|record| &record.station).or_else(|| self.tables.get(&id));
            let station = match (known, said.place) {
                (Some(known), _) => known.clone(),
                (None, Some(place)) => said.clone().at(place),
                (None, None) => return Err(PlaceUnknown),
            };
            let newest_ms = record.and_then(|record| record.update_time_ms).unwrap_or(i64::MIN);
            let is_new = record.is_none();
            let met = self.met.entry(id).or_insert(Met { station, newest_ms });
            let changed = met.say(said, ts_ms);
            return Ok((changed || is_new).then_some(&met.station));
        }
        let Some(met) = self.met.get_mut(&id) else { return Ok(None) };
        Ok(met.say(said, ts_ms).then_some(&met.station))
    }
}

impl Met {
    /// Takes over what a report says of the station; whether that changed anything.
    fn say(&mut self, said: &FeedStation, ts_ms: i64) -> bool {
        let newer = ts_ms >= self.newest_ms;
        self.newest_ms = self.newest_ms.max(ts_ms);
        let station = &mut self.station;
        let mut changed = false;
        let mut set = |is_said: bool, is_unknown: bool, differs: bool| {
            let set = is_said && differs && (newer || is_unknown);
            changed |= set;
            set
        };
        if let Some(name) = &said.name
            && set(!name.is_empty(), station.name == station.native_id, *name != station.name)
        {
            station.name.clone_from(name);
        }
        if let Some(place) = said.place
            && set(true, false, is_elsewhere(station.coordinates, place))
        {
            station.coordinates = place;
        }
        if set(
            said.altitude_m.is_some(),
            station.altitude_m.is_none(),
            said.altitude_m != station.altitude_m,
        ) {
            station.altitude_m = said.altitude_m;
        }
        if let Some(height_m) = said.sensor_height_m
            && set(true, station.sensor_height_m == 0.0, height_m != station.sensor_height_m)
        {
            station.sensor_height_m = height_m;
        }
        if set(
            said.station_type.is_some(),
            station.station_type.is_none(),
            said.station_type != station.station_type,
        ) {
            station.station_type = said.station_type;
        }
        changed
    }
}

/// Whether a place is another one, or the same one told more finely.
fn is_elsewhere(known: LonLat, said: LonLat) -> bool {
    let (known, said) = ([known.lon(), known.lat()], [said.lon(), said.lat()]);
    let moved = known.iter().zip(said).any(|(known, said)| {
        let apart = (known - said).abs();
        apart.min(360.0 - apart) > SAME_PLACE_DEG
    });
    moved || said.map(decimals).iter().max() > known.map(decimals).iter().max()
}

/// Decimals that a coordinate is written with, as far as it matters.
fn decimals(degrees: f64) -> u8 {
    let is_whole = |scaled: f64| (scaled - scaled.round()).abs() < 1e-6;
    let scales = [1.0, 10.0, 100.0, 1e3, 1e4];
    scales.iter().position(|scale| is_whole(degrees * scale)).unwrap_or(scales.len()) as u8
}

#[cfg(test)]
mod tests {
    use mesonet::{StationType, feed::metar_station};

    use super::*;

    fn at(lon: f64, lat: f64) -> LonLat {
        LonLat::new(lon, lat).unwrap()
    }

    fn said(native_id: &str) -> FeedStation {
        FeedStation::new("METAR", native_id)
    }

    fn tables() -> HashMap<StationId, Station> {
        let station = metar_station("CYYZ", Some("Toronto"), at(-79.629, 43.679), Some(173.0));
        HashMap::from([(station.id, station)])
    }

    #[test]
    fn a_place_comes_from_the_report_or_a_table_or_nowhere() {
        let tables = tables();
        let mut places = Places::new(&tables, Arc::default());
        let toronto = places.report(said("CYYZ").id(), &said("CYYZ"), 0).unwrap().unwrap().clone();
        assert_eq!((&*toronto.name, toronto.coordinates), ("Toronto", at(-79.629, 43.679)));
        // Known now, and nothing new.
        assert_eq!(places.report(toronto.id, &said("CYYZ"), 10), Ok(None));

        let buffalo = FeedStation { place: Some(at(-78.74, 42.94)), ..said("KBUF") };
        let buffalo = places.report(buffalo.id(), &buffalo, 0).unwrap().unwrap();
        assert_eq!((&*buffalo.name, buffalo.coordinates), ("KBUF", at(-78.74, 42.94)));
        assert_eq!(places.report(said("KXYZ").id(), &said("KXYZ"), 0), Err(PlaceUnknown));
    }

    #[test]
    fn a_newer_report_changes_what_it_says_and_an_older_one_fills_in() {
        let tables = HashMap::new();
        let mut places = Places::new(&tables, Arc::default());
        let id = said("A").id();
        let first = FeedStation { place: Some(at(1.0, 2.0)), altitude_m: Some(5.0), ..said("A") };
        places.report(id, &first, 100).unwrap();
        let older = FeedStation {
            name: Some("Alpha".into()),
            place: Some(at(8.0, 9.0)),
            altitude_m: Some(6.0),
            sensor_height_m: Some(10.0),
            station_type: Some(StationType::Suburban),
            ..said("A")
        };
        let station = places.report(id, &older, 50).unwrap().unwrap();
        assert_eq!((&*station.name, station.coordinates), ("Alpha", at(1.0, 2.0)));
        assert_eq!((station.altitude_m, station.sensor_height_m), (Some(5.0), 10.0));
        assert_eq!(station.station_type, Some(StationType::Suburban));
        let newer =
            FeedStation { name: Some("Beta".into()), place: Some(at(8.0, 9.0)), ..said("A") };
        let station = places.report(id, &newer, 100).unwrap().unwrap();
        assert_eq!((&*station.name, station.coordinates), ("Beta", at(8.0, 9.0)));
        assert_eq!((station.altitude_m, station.sensor_height_m), (Some(5.0), 10.0));
    }

    #[test]
    fn a_place_told_less_finely_is_no_move() {
        let fine = at(-79.6296, 43.6791);
        for same in [at(-79.63, 43.68), at(-79.62, 43.67), at(-79.6, 43.7), fine] {
            let moved = (same.lon() - fine.lon()).abs() > SAME_PLACE_DEG;
            assert_eq!(is_elsewhere(fine, same), moved, "{same:?}");
        }
        assert!(is_elsewhere(at(-79.63, 43.68), fine));
        assert!(is_elsewhere(fine, at(-79.65, 43.68)));
        // Over the antimeridian too.
        assert!(!is_elsewhere(at(179.995, 0.0), at(-179.999, 0.0)));
    }
}
