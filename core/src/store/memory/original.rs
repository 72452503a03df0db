//! The store in memory as the original of a copy.

use super::{MemoryStore, StationData, View};
use crate::observation::StationId;
use crate::store::copy::{Original, Standing};
use crate::store::{Damage, Reader, StoreError};
use crate::time::ClosedWindow;

impl Original for MemoryStore {
    fn standing(&self) -> Result<Standing, StoreError> {
        let record = self.read();
        let directory = View { store: self, record: &record }.directory()?;
        let weather_of = |&place: &usize| {
            let StationData { record, weather_of, .. } = &record.stations[place];
            record.present_weather.as_ref().map(|_| *weather_of)
        };
        let readings = |of: &StationData| {
            of.columns.iter().map(|columns| columns.ts_ms.len()).sum::<usize>() + of.weather.len()
        };
        Ok(Standing {
            directory,
            weather_of: record.by_id.iter().map(weather_of).collect(),
            retain_from_ms: None,
            readings: record.stations.iter().map(readings).sum::<usize>() as u64,
        })
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut dyn FnMut(usize, i64, u8, &[String]),
    ) -> Result<Damage, StoreError> {
        let record = self.read();
        for (i, station) in stations.iter().enumerate() {
            let Some(&place) = record.places.get(station) else { continue };
            for (ts_ms, revision, words) in within(&record.stations[place].weather, window) {
                visit(i, *ts_ms, *revision, words);
            }
        }
        Ok(Damage::default())
    }

    fn note(&self, _: &str) -> Result<Option<String>, StoreError> {
        Ok(None)
    }
}

/// The reports of the weather in a window.
pub(super) fn within(
    weather: &[(i64, u8, Vec<String>)],
    window: ClosedWindow,
) -> impl Iterator<Item = &(i64, u8, Vec<String>)> {
    let from = weather.partition_point(|known| known.0 < window.start_ms());
    weather[from..].iter().take_while(move |known| known.0 <= window.end_ms())
}
