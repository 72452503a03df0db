//! Stations by what people call them.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::OnceLock;

use super::{Directory, StationRecord};
use crate::observation::{IdScheme, StationId};

/// The names of the stations of a [`Directory`], each looked up once it is first asked for.
#[derive(Debug, Default)]
pub struct StationNames {
    /// Indices of stations that share network and name with another.
    shared: OnceLock<HashSet<usize>>,
    /// Stations by identifier in capitals.
    by_identifier: OnceLock<HashMap<String, Vec<usize>>>,
}

/// The network of buoys that `buoy:45012` means.
const BUOYS: &str = "NDBC";

/// How many stations a message about an ambiguous name lists.
const MOST_CANDIDATES: usize = 10;

/// The reason why a name does not lead to a station.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StationNameError {
    /// No station has the identifier.
    #[error("no station has the id \"{0}\"")]
    Unknown(String),
    /// Several stations have it.
    #[error("\"{got}\" is the id of {} stations; name one of {}", candidates.len(), listed(candidates))]
    Ambiguous {
        /// What was given.
        got: String,
        /// The stations that have it: the id with its network, which names one of them, and the name.
        candidates: Vec<(String, String)>,
    },
}

fn listed(candidates: &[(String, String)]) -> String {
    let mut text = String::new();
    for (at, (id, name)) in candidates.iter().take(MOST_CANDIDATES).enumerate() {
        let comma = if at > 0 { ", " } else { "" };
        let _ = write!(text, "{comma}{id} ({name})");
    }
    let more = candidates.len().saturating_sub(MOST_CANDIDATES);
    if more > 0 {
        let _ = write!(text, " and {more} more");
    }
    text
}

impl Directory {
    /// Whether another station of the same network has the name of the station with this index.
    pub fn shares_name(&self, station: usize) -> bool {
        let find = || {
            let mut first = HashMap::with_capacity(self.stations.len());
            let mut shared = HashSet::new();
            for (at, record) in self.stations.iter().enumerate() {
                if let Some(&earlier) = first.get(&record.station.network_and_name()) {
                    shared.extend([earlier, at]);
                } else {
                    first.insert(record.station.network_and_name(), at);
                }
            }
            shared
        };
        self.names.shared.get_or_init(find).contains(&station)
    }

    /// Returns the station that a text names, ignoring case: by its id, a UUID, which need not be on
    /// record; or by an identifier, such as `CYYZ`, `71624` or `45012`. A scheme or a network before
    /// it, as in `wmo:71624`, `METAR:CYYZ` and `buoy 45012`, leaves out the others.
    ///
    /// Of several stations with the same identifier, the one counts whose network calls it so: others
    /// may state the identifier of an aerodrome where they stand.
    ///
    /// # Errors
    /// No station has the identifier, or several have.
    ///
    /// ```
    /// # use mesonet::{Intake, MemoryStore, intake::FeedFile};
    /// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
    /// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
    /// # let store = MemoryStore::default();
    /// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
    /// // The store has one report of Toronto Pearson.
    /// use mesonet::{Reader, StationId};
    /// let directory = store.directory()?;
    /// let toronto = StationId::new("METAR", "CYYZ");
    /// for name in ["cyyz", "icao:CYYZ", "METAR CYYZ", &toronto.to_string()] {
    ///     assert_eq!(directory.named(name), Ok(toronto));
    /// }
    /// let unknown = directory.named("CYUL").unwrap_err();
    /// assert_eq!(unknown.to_string(), "no station has the id \"CYUL\"");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn named(&self, text: &str) -> Result<StationId, StationNameError> {
        let text = text.trim();
        if let Ok(id) = text.parse() {
            return Ok(id);
        }
        let mut found = self.with_identifier(text, |_, _| true);
        if found.is_empty()
            && let Some((prefix, id)) = text.split_once([':', ' '])
        {
            let prefix = prefix.trim();
            let is_scheme = |scheme: IdScheme| scheme.name().eq_ignore_ascii_case(prefix);
            let network = if prefix.eq_ignore_ascii_case("buoy") { BUOYS } else { prefix };
            found = self.with_identifier(id.trim(), |record, scheme| {
                is_scheme(scheme)
                    || (scheme == IdScheme::Provider
                        && record.station.network.eq_ignore_ascii_case(network))
            });
        }
        let of_network = |&&(_, is_own): &&(usize, bool)| is_own;
        let own: Vec<&(usize, bool)> = found.iter().filter(of_network).collect();
        match (&found[..], &own[..]) {
            ([], _) => Err(StationNameError::Unknown(text.to_owned())),
            (&[(one, _)], _) | (_, &[&(one, _)]) => Ok(self.stations[one].station.id),
            _ => {
                let candidate = |&(at, _): &(usize, bool)| {
                    let station = &self.stations[at].station;
                    (format!("{}:{}", station.network, station.native_id), station.name.clone())
                };
                let candidates = found.iter().map(candidate).collect();
                Err(StationNameError::Ambiguous { got: text.to_owned(), candidates })
            }
        }
    }

    /// The stations with an identifier, and whether it is the one of their network.
    fn with_identifier(
        &self,
        id: &str,
        is_meant: impl Fn(&StationRecord, IdScheme) -> bool,
    ) -> Vec<(usize, bool)> {
        let by_identifier = self.names.by_identifier.get_or_init(|| {
            let mut stations: HashMap<String, Vec<usize>> = HashMap::new();
            for (at, record) in self.stations.iter().enumerate() {
                for (_, id) in record.station.all_identifiers().iter() {
                    let of_id = stations.entry(id.to_uppercase()).or_default();
                    // A station may have the same id in two schemes.
                    if of_id.last() != Some(&at) {
                        of_id.push(at);
                    }
                }
            }
            stations
        });
        let places = by_identifier.get(&id.to_uppercase()).map_or(&[][..], |places| places);
        let meant = |&at: &usize| {
            let record = &*self.stations[at];
            let ids = record.station.all_identifiers();
            let mut schemes = ids.iter().filter(|(_, of)| of.to_uppercase() == id.to_uppercase());
            let is_own = record.station.native_id.to_uppercase() == id.to_uppercase();
            schemes.any(|(scheme, _)| is_meant(record, scheme)).then_some((at, is_own))
        };
        places.iter().filter_map(meant).collect()
    }
}

#[cfg(test)]
#[path = "names_tests.rs"]
mod tests;
