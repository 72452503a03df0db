//! The store in memory as the original of a copy.

use super::{MemoryStore, MemoryView, StationData};
use crate::store::copy::{Original, ReferenceData};
use crate::store::{Reader, StoreError};

impl Original for MemoryStore {
    fn reference_data(&self) -> Result<ReferenceData, StoreError> {
        let record = self.read();
        let directory = MemoryView { store: self, record: &record }.directory()?;
        let weather_of = |&place: &usize| {
            let StationData { record, weather_of, .. } = &record.stations[place];
            record.present_weather.as_ref().map(|_| *weather_of)
        };
        let readings = |of: &StationData| {
            of.columns.iter().map(|columns| columns.ts_ms.len()).sum::<usize>() + of.weather.len()
        };
        Ok(ReferenceData {
            directory,
            weather_of: record.by_id.iter().map(weather_of).collect(),
            retain_from_ms: None,
            readings: record.stations.iter().map(readings).sum::<usize>() as u64,
        })
    }

    fn note(&self, _: &str) -> Result<Option<String>, StoreError> {
        Ok(None)
    }
}
