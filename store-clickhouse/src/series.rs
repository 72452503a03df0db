//! The series that are known.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mesonet::{Series, SeriesKey};

/// The series on record, by what they are and by their number.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownSeries {
    by_key: HashMap<SeriesKey, Arc<Series>>,
    by_id: BTreeMap<i32, Arc<Series>>,
}

impl KnownSeries {
    pub(crate) fn get(&self, key: &SeriesKey) -> Option<&Arc<Series>> {
        self.by_key.get(key)
    }

    pub(crate) fn by_id(&self, id: i32) -> Option<&Arc<Series>> {
        self.by_id.get(&id)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Series>> {
        self.by_id.values()
    }

    /// Adds a series, unless its number belongs to another.
    pub(crate) fn add(&mut self, key: SeriesKey) -> Option<Arc<Series>> {
        let series = Arc::new(Series::from(key));
        if self.by_id.contains_key(&series.id.0) {
            return None;
        }
        self.by_id.insert(series.id.0, Arc::clone(&series));
        self.by_key.insert(series.key.clone(), Arc::clone(&series));
        Some(series)
    }
}
