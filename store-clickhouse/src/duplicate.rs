//! The record as the original of a copy, and as the copy.

use std::sync::Arc;

use mesonet::Series;
use mesonet::store::copy::{Duplicate, Original, ReferenceData};
use mesonet::store::{StationRecords, StoreError};

use crate::known::StationState;
use crate::reader::ClickHouseReader;
use crate::store::ClickHouseStore;
use crate::view::RecordView;
use crate::write::{Additions, BatchWriter, today};

impl RecordView {
    fn reference_data(&self) -> ReferenceData {
        let weather_of = |state: &Arc<StationState>| {
            state.record.present_weather.as_ref().map(|_| state.weather_of)
        };
        let retain_from_ms = self.visible.retain_from_ms;
        ReferenceData {
            directory: Arc::clone(&self.directory),
            weather_of: self.stations.values().map(weather_of).collect(),
            retain_from_ms: Some(retain_from_ms).filter(|&from_ms| from_ms > i64::MIN),
            readings: self.stations.values().flat_map(|state| &state.readings).sum(),
        }
    }
}

impl Original for ClickHouseReader {
    fn reference_data(&self) -> Result<ReferenceData, StoreError> {
        Ok(self.view().reference_data())
    }

    fn note(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.mark(name)
    }
}

impl Original for ClickHouseStore {
    fn reference_data(&self) -> Result<ReferenceData, StoreError> {
        Ok(self.view().reference_data())
    }

    fn note(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.mark(name)
    }
}

impl Duplicate for ClickHouseStore {
    fn set_note(&self, name: &str, text: &str) -> Result<(), StoreError> {
        self.set_mark(name, text)
    }

    fn retain(&self, from_ms: i64) -> Result<(), StoreError> {
        self.retain_from(from_ms)
    }

    fn appear(&self, records: &StationRecords) -> Result<(), StoreError> {
        self.write(|writer| writer.appear(records, today()))
    }

    /// Each chunk has written the states of its stations. At the end, states that later ones have
    /// overtaken are dropped, as if the next day had come.
    fn upkeep(&self, is_last: bool) -> Result<(), StoreError> {
        if is_last {
            self.write(|writer| writer.drop_old_states(today() + 1).map(|_| ()))?;
        }
        Ok(())
    }
}

impl BatchWriter {
    /// Takes over the descriptions of stations, their series, and when each series first appeared.
    fn appear(&mut self, records: &StationRecords, written_day: i32) -> Result<(), StoreError> {
        let mut next = self.known.clone();
        let mut series: Vec<Arc<Series>> = Vec::new();
        let mut changed = Vec::new();
        for record in records.iter() {
            let id = record.station.id;
            let Some(known) = next.stations.get(&id).cloned() else { continue };
            let mut state = StationState::clone(&known);
            if known.record.station != record.station {
                let moved = known.record.station.coordinates != record.station.coordinates;
                Arc::make_mut(&mut state.record).station = record.station.clone();
                next.places_generation += u64::from(moved);
            }
            for of in &record.series {
                let key = &of.series.key;
                let own = if let Some(own) = next.series.get(key) {
                    Arc::clone(own)
                } else {
                    let fresh = Arc::make_mut(&mut next.series).add(key.clone());
                    let fresh = fresh.ok_or_else(|| {
                        let (id, variable) = (of.series.id, key.variable);
                        let cause =
                            format!("the id {id} of a {variable} series belongs to another");
                        StoreError::Columns(cause)
                    })?;
                    series.push(Arc::clone(&fresh));
                    fresh
                };
                state.appear(&own, of.first_appearance_ms);
            }
            if state != *known {
                Arc::make_mut(&mut next.stations).insert(id, Arc::new(state));
                changed.push(id);
            }
        }
        if changed.is_empty() {
            return Ok(());
        }
        next.generation += 1;
        next.make_directory();
        self.commit(next, &Additions { series, ..Additions::default() }, &changed, written_day)
    }
}
