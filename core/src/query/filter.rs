//! Which stations are wanted: by place, region, network and what they report.

use std::fmt;

use crate::geo::{BBox, Country, LonLat, Region};
use crate::observation::{StationId, StationType, Variable};
use crate::store::{Directory, StationRecord};

/// A choice of stations: those that match everything that is set.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n\
/// #     CYUL 032000Z 24012KT 15SM 27/17 A2991,CYUL,2024-08-03T20:00:00Z,45.47,-73.74\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// // The store has reports of Toronto Pearson and of Montreal Trudeau.
/// use mesonet::query::{Near, StationFilter};
/// use mesonet::{LonLat, Reader, StationId};
/// let directory = store.directory()?;
/// let near = Near::new(LonLat::new(-79.38, 43.65)?).nearest(1);
/// let filter = StationFilter { near: Some(near), ..StationFilter::default() };
/// let found = filter.select(&directory, &|_| true);
/// assert_eq!(found[0].id, StationId::new("METAR", "CYYZ"));
/// assert_eq!(found[0].away.map(|away| (away.distance_km.round(), away.bearing_deg.round())), Some((20.0, 280.0)));
/// let filter = StationFilter { regions: vec!["QC".parse()?], ..StationFilter::default() };
/// assert_eq!(filter.select(&directory, &|_| true)[0].id, StationId::new("METAR", "CYUL"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StationFilter {
    /// In this box.
    pub bbox: Option<BBox>,
    /// Around a place.
    pub near: Option<Near>,
    /// In one of these states and provinces; empty for all.
    pub regions: Vec<Region>,
    /// In this country.
    pub country: Option<Country>,
    /// Of one of these networks, by name, ignoring case; empty for all.
    pub networks: Vec<String>,
    /// Of one of these exposure classes; empty for all.
    pub station_types: Vec<StationType>,
    /// With a series of each of these variables.
    pub variables: Vec<Variable>,
    /// This many metres above mean sea level, or higher. A station without a known altitude does not
    /// match.
    pub min_altitude_m: Option<f64>,
    /// This many metres above mean sea level, or lower, likewise.
    pub max_altitude_m: Option<f64>,
}

/// Stations around a place, in the order of their distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    from: LonLat,
    radius_km: f64,
    nearest: usize,
}

impl Near {
    /// All stations, the nearest first.
    pub const fn new(from: LonLat) -> Self {
        Self { from, radius_km: f64::INFINITY, nearest: usize::MAX }
    }

    /// Only those that are at most this far away, along the great circle.
    #[must_use]
    pub const fn within_km(self, radius_km: f64) -> Self {
        Self { radius_km, ..self }
    }

    /// Only this many that match, the nearest ones.
    #[must_use]
    pub const fn nearest(self, nearest: usize) -> Self {
        Self { nearest, ..self }
    }
}

/// Where a station is, seen from a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Away {
    /// Great-circle distance in km.
    pub distance_km: f64,
    /// Bearing of the station at the place, degrees clockwise from north.
    pub bearing_deg: f64,
}

impl Away {
    fn new(from: LonLat, station: LonLat, distance_km: f64) -> Self {
        Self { distance_km, bearing_deg: from.bearing_deg(station) }
    }

    /// The distance as answers have it, to 10 m.
    pub fn shown_km(self) -> f64 {
        (self.distance_km * 100.0).round() / 100.0
    }

    /// The bearing as answers have it, to a degree; less than 360.
    pub fn shown_bearing_deg(self) -> f64 {
        self.bearing_deg.round() % 360.0
    }
}

impl fmt::Display for Away {
    /// As members of a JSON object.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (km, bearing_deg) = (self.shown_km(), self.shown_bearing_deg());
        write!(f, "\"distanceKm\":{km},\"bearing\":{bearing_deg}")
    }
}

/// A station that matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundStation {
    /// Its index in the directory.
    pub place: usize,
    /// Its id.
    pub id: StationId,
    /// Where it is, seen from the place of [`StationFilter::near`].
    pub away: Option<Away>,
}

impl StationFilter {
    /// Whether every station matches.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The box, if it is all that is set.
    pub fn only_box(&self) -> Option<BBox> {
        let rest = Self { bbox: None, ..self.clone() };
        self.bbox.filter(|_| rest.is_empty())
    }

    /// The stations that match this and a condition of the caller's: by id, or with
    /// [`near`](Self::near) from the nearest to the farthest.
    pub fn select(
        &self,
        directory: &Directory,
        condition: &dyn Fn(&StationRecord) -> bool,
    ) -> Vec<FoundStation> {
        let matches =
            |place: usize| self.matches(directory, place) && condition(&directory.stations[place]);
        let found = |place: usize, away| FoundStation {
            place,
            id: directory.stations[place].station.id,
            away,
        };
        let Some(near) = self.near else {
            let places = match self.bbox {
                Some(bbox) => {
                    let mut places: Vec<usize> = directory.index.in_box(bbox).collect();
                    places.sort_unstable();
                    places
                }
                None => (0..directory.stations.len()).collect(),
            };
            return places
                .into_iter()
                .filter(|&at| matches(at))
                .map(|at| found(at, None))
                .collect();
        };
        let around = directory.index.nearest(near.from);
        around
            .take_while(|&(_, distance_km)| distance_km <= near.radius_km)
            .filter(|&(place, _)| matches(place))
            .map(|(place, distance_km)| {
                let station = directory.stations[place].station.coordinates;
                found(place, Some(Away::new(near.from, station, distance_km)))
            })
            .take(near.nearest)
            .collect()
    }

    /// Whether a station of the directory matches, whatever others do:
    /// [`nearest`](Near::nearest) is not looked at.
    pub fn is_met(&self, directory: &Directory, id: StationId) -> bool {
        directory.stations.place(id).is_some_and(|place| {
            let at = directory.stations[place].station.coordinates;
            self.matches(directory, place)
                && self.near.is_none_or(|near| near.from.distance_km(at) <= near.radius_km)
        })
    }

    /// Whether a station matches in everything but the distance.
    fn matches(&self, directory: &Directory, place: usize) -> bool {
        let StationRecord { station, series, .. } = &*directory.stations[place];
        let has = |variable: &Variable| series.iter().any(|of| of.series.key.variable == *variable);
        let is_of = |network: &String| network.eq_ignore_ascii_case(&station.network);
        self.bbox.is_none_or(|bbox| bbox.contains(station.coordinates))
            && (self.networks.is_empty() || self.networks.iter().any(is_of))
            && (self.station_types.is_empty()
                || station.station_type.is_some_and(|class| self.station_types.contains(&class)))
            && self.variables.iter().all(has)
            && self.min_altitude_m.is_none_or(|least| station.altitude_m >= Some(least))
            && self
                .max_altitude_m
                .is_none_or(|most| station.altitude_m.is_some_and(|altitude_m| altitude_m <= most))
            && self.is_in_region(directory, place)
    }

    fn is_in_region(&self, directory: &Directory, place: usize) -> bool {
        if self.regions.is_empty() && self.country.is_none() {
            return true;
        }
        directory.index.region(place).is_some_and(|region| {
            (self.regions.is_empty() || self.regions.contains(&region))
                && self.country.is_none_or(|country| country == region.country())
        })
    }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
