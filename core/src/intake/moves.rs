//! Reports that place their station elsewhere, before anything confirms them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::geo::LonLat;
use crate::observation::StationId;

/// How far from its station a report may be without being elsewhere: places are rounded, and instruments stand
/// about an aerodrome.
const NEAR_KM: f64 = 1.0;

/// How far apart reports may be that confirm one another: what drifts or sails is that far at most between two of
/// them, and two wrong places are farther apart.
const TOGETHER_KM: f64 = 100.0;

/// Most stations and reports of each that are remembered. The memory of a station is small, and that of all
/// bounded.
const MAX_STATIONS: usize = 10_000;
const MAX_REPORTS: usize = 8;

/// Places that single reports have given stations, which nothing has confirmed yet.
///
/// A report that is more than a kilometre from its station does not move it: a wrong place, such as 0° N 0° E,
/// would take every reading of the station along. It moves when a report of another time is nearer to
/// the new place than to the old one, and not more than 100 km from it, or when a table has it there.
///
/// Clones share what is remembered.
#[derive(Clone, Debug, Default)]
pub(super) struct Moves(Arc<Mutex<Remembered>>);

/// The reports of each station, with their times.
type Remembered = HashMap<StationId, Vec<(i64, LonLat)>>;

impl Moves {
    /// Whether a report places its station elsewhere and nothing confirms it. The report is remembered then.
    pub(super) fn is_unconfirmed(
        &self,
        id: StationId,
        known: LonLat,
        said: (i64, LonLat),
        in_table: impl FnOnce() -> Option<LonLat>,
    ) -> bool {
        let (ts_ms, place) = said;
        let within_km = known.distance_km(place).min(TOGETHER_KM);
        let is_near = |there: LonLat| there.distance_km(place) <= NEAR_KM;
        if is_near(known) || in_table().is_some_and(is_near) {
            return false;
        }
        let mut all = self.all();
        if all.len() >= MAX_STATIONS && !all.contains_key(&id) {
            return true;
        }
        let before = all.entry(id).or_default();
        let confirms = |&(at_ms, there): &(i64, LonLat)| {
            at_ms != ts_ms && there.distance_km(place) < within_km
        };
        if before.iter().any(confirms) {
            all.remove(&id);
            return false;
        }
        if !before.contains(&said) {
            if before.len() == MAX_REPORTS {
                before.remove(0);
            }
            before.push(said);
        }
        true
    }

    // What is in it stands for itself at every moment.
    fn all(&self) -> MutexGuard<'_, Remembered> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "moves_tests.rs"]
mod tests;
