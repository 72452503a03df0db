//! Reports that place their station elsewhere, before anything confirms them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::geo::LonLat;
use crate::observation::StationId;

/// How far from its station a report may be without being elsewhere: places are rounded, and
/// instruments are spread over an aerodrome.
const NEAR_KM: f64 = 1.0;

/// How far apart reports may be that confirm one another: a drifting or sailing station moves at
/// most this far between two reports, and two wrong places are farther apart.
const TOGETHER_KM: f64 = 100.0;

/// The most stations that are remembered, and the most reports of each. So the memory of one
/// station is small, and the memory of all is bounded.
const MAX_STATIONS: usize = 10_000;
const MAX_REPORTS: usize = 8;

/// Places that single reports have given for stations, and that nothing has confirmed yet.
///
/// A report that is more than a kilometre from its station does not move the station: otherwise a
/// wrong place, such as 0° N 0° E, would take the station along. The station moves when a report of
/// another time is nearer to the new place than to the old one, and not more than 100 km from the
/// new place, or when a table has the station there.
///
/// Clones share the memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Moves(Arc<Mutex<HashMap<StationId, StationMemory>>>);

/// The memory of a station.
#[derive(Clone, Debug, Default)]
struct StationMemory {
    /// The reports from elsewhere, with their times.
    elsewhere: Vec<(i64, LonLat)>,
    /// The time of the newest report, since the first of these, that was from the known place of
    /// the station.
    here_ms: Option<i64>,
}

/// What to do with the place of a report.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PlaceDecision {
    /// It is near the station, or confirmed by a table.
    Here,
    /// The station has moved, with this report and earlier ones: the moves, by time.
    Moved(Vec<(i64, LonLat)>),
    /// It is elsewhere, and nothing confirms it. The report is remembered.
    Elsewhere,
}

impl Moves {
    /// Notes a report from the known place of its station.
    pub(super) fn here(&self, id: StationId, ts_ms: i64) {
        if let Some(remembered) = self.all().get_mut(&id) {
            remembered.here_ms = remembered.here_ms.max(Some(ts_ms));
        }
    }

    /// Compares the place of a report with that of its station.
    pub(super) fn placed(
        &self,
        id: StationId,
        known: LonLat,
        said: (i64, LonLat),
        in_table: impl FnOnce() -> Option<LonLat>,
    ) -> PlaceDecision {
        let (ts_ms, place) = said;
        let within_km = known.distance_km(place).min(TOGETHER_KM);
        let is_near = |there: LonLat| there.distance_km(place) <= NEAR_KM;
        if is_near(known) {
            self.here(id, ts_ms);
            return PlaceDecision::Here;
        }
        let is_in_table = in_table().is_some_and(is_near);
        let mut all = self.all();
        if is_in_table {
            all.remove(&id);
            return PlaceDecision::Here;
        }
        if all.len() >= MAX_STATIONS && !all.contains_key(&id) {
            return PlaceDecision::Elsewhere;
        }
        let StationMemory { elsewhere, here_ms } = all.entry(id).or_default();
        let confirms = |&(at_ms, there): &(i64, LonLat)| {
            at_ms != ts_ms && there.distance_km(place) < within_km
        };
        if elsewhere.iter().any(confirms) {
            // The station was back between the older reports and this one.
            let is_since =
                |&(at_ms, _): &(i64, LonLat)| here_ms.is_none_or(|here_ms| at_ms > here_ms);
            let since = elsewhere.iter().filter(|one| confirms(one) && is_since(one));
            let mut moves: Vec<(i64, LonLat)> = since.copied().chain([said]).collect();
            moves.sort_by_key(|&(at_ms, _)| at_ms);
            all.remove(&id);
            return PlaceDecision::Moved(moves);
        }
        if !elsewhere.contains(&said) {
            if elsewhere.len() == MAX_REPORTS {
                elsewhere.remove(0);
            }
            elsewhere.push(said);
        }
        PlaceDecision::Elsewhere
    }

    // The content is consistent at every moment.
    fn all(&self) -> MutexGuard<'_, HashMap<StationId, StationMemory>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "moves_tests.rs"]
mod tests;
