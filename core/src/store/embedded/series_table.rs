//! The table that the runs of a store refer to: the series, each with an index that is fixed while
//! the store is open, and the words of present weather.

use std::collections::HashMap;
use std::sync::Arc;

use super::report_texts::{TEXTS, TEXTS_SLOT};
use super::weather_table::{WEATHER, WEATHER_SLOT, WeatherTable};
use crate::observation::{Series, SeriesId, SeriesKey};

/// All series ever seen. Runs refer to them by index, so that reading needs no lookups.
#[derive(Clone, Debug, Default)]
pub(super) struct SeriesList {
    pub list: Vec<Arc<Series>>,
    /// Words of present weather.
    pub weather: WeatherTable,
    by_key: HashMap<SeriesKey, u32>,
    by_id: HashMap<SeriesId, u32>,
}

impl SeriesList {
    /// Returns the index of a series; the index of present weather is [`WEATHER_SLOT`], that of
    /// texts of reports [`TEXTS_SLOT`].
    pub(super) fn slot(&self, id: SeriesId) -> Option<u32> {
        match id {
            WEATHER => Some(WEATHER_SLOT),
            TEXTS => Some(TEXTS_SLOT),
            id => self.by_id.get(&id).copied(),
        }
    }

    pub(super) fn slot_of(&self, key: &SeriesKey) -> Option<u32> {
        self.by_key.get(key).copied()
    }

    /// Adds a series; `None` if its id belongs to another.
    pub(super) fn add(&mut self, key: &SeriesKey) -> Option<u32> {
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
