//! How old the newest reading is. Readings ahead of the clock do not count.

use mesonet::intake::AHEAD_MS;
use mesonet::store::{Selection, StoreError};
use mesonet::time::DAY_MS;
use mesonet::{ClosedWindow, Reader, StationId, Variable};

/// How far back to look for an earlier report of a station whose newest report is ahead of the
/// clock.
const LOOK_BACK_MS: i64 = 2 * DAY_MS;

/// Whether a reading is so far ahead of the clock that its time must be wrong.
pub fn is_ahead(ts_ms: i64, now_ms: i64) -> bool {
    ts_ms > now_ms.saturating_add(AHEAD_MS)
}

/// Returns the time of the newest reading that is not ahead of the clock; `None` if there is none.
///
/// # Errors
/// The record cannot be read.
pub fn newest_ms_by(record: &dyn Reader, now_ms: i64) -> Result<Option<i64>, StoreError> {
    let directory = record.directory()?;
    let (mut newest_ms, mut ahead) = (None, Vec::<StationId>::new());
    for station in directory.stations.iter() {
        match station.update_time_ms {
            Some(at_ms) if is_ahead(at_ms, now_ms) => ahead.push(station.station.id),
            at_ms => newest_ms = newest_ms.max(at_ms),
        }
    }
    let end_ms = now_ms.saturating_add(AHEAD_MS);
    if let Ok(window) = ClosedWindow::new(now_ms.saturating_sub(LOOK_BACK_MS), end_ms) {
        let selection = Selection { stations: &ahead, variables: Variable::ALL, window };
        record.scan_latest(&selection, &mut |_, slices| {
            let of_station = slices.iter().filter_map(|slice| slice.ts_ms.last().copied()).max();
            newest_ms = newest_ms.max(of_station);
        })?;
    }
    Ok(newest_ms)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mesonet::store::no_verdicts;
    use mesonet::time::HOUR_MS;
    use mesonet::{Batch, IntervalType, MemoryStore, Reading, Report, SeriesKey, Store};

    use super::*;
    use crate::testing::station;

    /// A reading hours ahead of the clock once made the age of the newest reading negative.
    #[test]
    fn a_reading_ahead_of_the_clock_is_not_the_newest() {
        let now_ms = 1_000 * HOUR_MS;
        let newest = |reports: &[(&str, i64)]| {
            let store = Arc::new(MemoryStore::default());
            for &(id, age_h) in reports {
                let station = station(id);
                let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
                let reports = vec![Report {
                    station: station.id,
                    ts_ms: now_ms - age_h * HOUR_MS,
                    revision: 0,
                    present_weather: None,
                    text: None,
                    readings: vec![Reading::unchecked(key, 20.0)],
                }];
                let batch = Batch { stations: vec![station], reports };
                store.append(&batch, &mut no_verdicts).unwrap();
            }
            newest_ms_by(&*store, now_ms).unwrap().map(|at_ms| (now_ms - at_ms) / HOUR_MS)
        };
        assert_eq!(newest(&[]), None);
        assert_eq!(newest(&[("KAAA", 2), ("KBBB", -5)]), Some(2));
        assert_eq!(newest(&[("KAAA", 9), ("KBBB", 3), ("KBBB", -5)]), Some(3));
        assert_eq!(newest(&[("KBBB", -5)]), None);
    }
}
