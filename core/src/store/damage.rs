//! The parts missing from an answer because part of the store is damaged.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Directory, Reader, Selection, SeriesSlice, StoreError, VisitReports, VisitWeather};
use crate::observation::StationId;
use crate::time::ClosedWindow;

/// The unreadable blocks of a store's files that hold, or may hold, requested readings.
///
/// ```
/// use mesonet::store::Damage;
/// let mut of_answer = Damage::default();
/// of_answer.join(Damage::default());
/// assert_eq!(of_answer.blocks(), 0, "nothing is missing");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage(BTreeSet<(i64, u32)>);

impl Damage {
    /// Returns the number of blocks; 0 if nothing is missing.
    pub fn blocks(&self) -> u64 {
        self.0.len() as u64
    }

    /// Adds the damage of another answer; each block counts once.
    pub fn join(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Adds a block of a file, by numbers that are unique in the store.
    pub fn add(&mut self, file: i64, block: u32) {
        self.0.insert((file, block));
    }
}

/// A reader that records what is missing from everything read through it. If it reports no damage,
/// the answer to a query is complete.
///
/// ```
/// use mesonet::query::{Caps, ReadingsQuery, readings};
/// use mesonet::{ClosedWindow, MemoryStore, Variable};
/// use mesonet::store::Watched;
/// let store = MemoryStore::default();
/// let watched = Watched::new(&store);
/// let day = ClosedWindow::new(0, 86_400_000)?;
/// let query = ReadingsQuery::new(day, [Variable::AirTemperature]);
/// readings(&watched, &query, Caps::default())?;
/// assert_eq!(watched.damage().blocks(), 0);
/// # Ok::<(), mesonet::Error>(())
/// ```
pub struct Watched<'a> {
    reader: &'a dyn Reader,
    damage: Mutex<Damage>,
}

impl<'a> Watched<'a> {
    /// Watches a reader.
    pub fn new(reader: &'a dyn Reader) -> Self {
        Self { reader, damage: Mutex::default() }
    }

    /// Returns what was missing from all reads so far.
    pub fn damage(&self) -> Damage {
        self.damage.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, damage: &Damage) {
        let mut noted = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        noted.join(damage.clone());
    }
}

impl Reader for Watched<'_> {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.reader.directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let damage = self.reader.scan(selection, visit)?;
        self.note(&damage);
        Ok(damage)
    }

    fn scan_latest(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let damage = self.reader.scan_latest(selection, visit)?;
        self.note(&damage);
        Ok(damage)
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        let damage = self.reader.scan_weather(stations, window, visit)?;
        self.note(&damage);
        Ok(damage)
    }

    fn scan_reports(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitReports<'_>,
    ) -> Result<Damage, StoreError> {
        let damage = self.reader.scan_reports(stations, window, visit)?;
        self.note(&damage);
        Ok(damage)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        self.reader.held_from_ms()
    }

    fn longest_scan_ms(&self) -> i64 {
        self.reader.longest_scan_ms()
    }
}
