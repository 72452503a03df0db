//! The store as the original of a copy, and as the copy.

use std::sync::Arc;

use super::catalogue::{GENERATION, PLACES_GENERATION, add_series, put_state, set_meta};
use super::stations::Stations;
use super::view::View;
use super::{EmbeddedStore, Maintenance};
use crate::store::copy::{Duplicate, Original, ReferenceData};
use crate::store::{StationRecords, StoreError};

impl Stations {
    /// What is known of the stations apart from their readings; the readings are in the view.
    pub(super) fn reference_data(&self, view: &View) -> ReferenceData {
        let weather_of = |state: &super::stations::StationState| {
            state.record.present_weather.as_ref().map(|_| state.weather_of)
        };
        let health = view.health(Vec::new());
        ReferenceData {
            directory: Arc::clone(&view.directory),
            weather_of: self.sorted().map(weather_of).collect(),
            retain_from_ms: Some(view.retain_from_ms).filter(|&from_ms| from_ms > i64::MIN),
            readings: health.sealed_readings + health.fresh_readings,
        }
    }
}

impl Original for EmbeddedStore {
    fn reference_data(&self) -> Result<ReferenceData, StoreError> {
        let state = self.state();
        Ok(state.stations.reference_data(&state.view))
    }

    fn note(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.meta_get(name)
    }
}

impl Duplicate for EmbeddedStore {
    fn set_note(&self, name: &str, text: &str) -> Result<(), StoreError> {
        self.meta_set(name, text)
    }

    fn retain(&self, from_ms: i64) -> Result<(), StoreError> {
        self.set_cutoff_of_copy(from_ms)
    }

    fn appear(&self, records: &StationRecords) -> Result<(), StoreError> {
        // This leaves no older state of a station in the journal, which would count when the store
        // is opened.
        self.maintain(&Maintenance { seal_all: true, ..Maintenance::default() })?;
        let mut state = self.state();
        let state = &mut *state;
        let mut series = Arc::clone(&state.series);
        let known = series.list.len();
        state.stations.begin();
        let mut changed = Vec::new();
        for record in records.iter() {
            let Some(place) = state.stations.place(record.station.id) else { continue };
            let mut is_changed = state.stations.put(record.station.clone());
            for of in &record.series {
                let key = &of.series.key;
                let slot = match series.slot_of(key) {
                    Some(slot) => Some(slot),
                    None => Arc::make_mut(&mut series).add(key),
                };
                let Some(slot) = slot else {
                    state.stations.roll_back();
                    return Err(StoreError::Columns(format!(
                        "the id {} of a {} series belongs to another",
                        of.series.id, key.variable
                    )));
                };
                is_changed |= state.stations.appear(place, &series, slot, of.first_appearance_ms);
            }
            changed.extend(is_changed.then_some(place));
        }
        if changed.is_empty() {
            return Ok(());
        }
        state.stations.generation += 1;
        state.stations.settle();
        let stations = &state.stations;
        let written = state.catalogue.transaction(|transaction| {
            for fresh in &series.list[known..] {
                add_series(transaction, fresh)?;
            }
            for &place in &changed {
                put_state(transaction, stations.state(place))?;
            }
            let places = stations.places_generation.to_string();
            set_meta(transaction, PLACES_GENERATION, &places)?;
            set_meta(transaction, GENERATION, &stations.generation.to_string())
        });
        if let Err(error) = written {
            state.stations.roll_back();
            return Err(error);
        }
        state.series = series;
        self.publish(state);
        Ok(())
    }

    fn upkeep(&self, is_last: bool) -> Result<(), StoreError> {
        self.maintain(&Maintenance { retain_from_ms: None, seal_all: is_last }).map(|_| ())
    }
}
