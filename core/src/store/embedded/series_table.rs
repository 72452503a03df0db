//! The series of a store, each with a place that it keeps while the store is open.

use std::collections::HashMap;
use std::sync::Arc;

use crate::series::{Series, SeriesId, SeriesKey};

/// The series that were ever met. Runs name them by their places, so that nothing is looked up
/// when readings are read.
#[derive(Clone, Debug, Default)]
pub(super) struct SeriesTable {
    pub list: Vec<Arc<Series>>,
    by_key: HashMap<SeriesKey, u32>,
    by_id: HashMap<SeriesId, u32>,
}

impl SeriesTable {
    pub fn slot(&self, id: SeriesId) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    pub fn slot_of(&self, key: &SeriesKey) -> Option<u32> {
        self.by_key.get(key).copied()
    }

    /// Adds a series; `None` where its id is taken by another.
    pub fn add(&mut self, key: &SeriesKey) -> Option<u32> {
        let series = Arc::new(Series::from(key.clone()));
        if self.by_id.contains_key(&series.id) {
            return None;
        }
        let slot = self.list.len() as u32;
        self.by_id.insert(series.id, slot);
        self.by_key.insert(key.clone(), slot);
        self.list.push(series);
        Some(slot)
    }
}
