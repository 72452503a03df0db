//! Recorded reports, released as the clock passes them.

use std::collections::HashMap;

use mesonet::{Batch, Report, Station, StationId};

/// Reports that wait for their time, and stations that wait for their first report.
#[derive(Clone, Debug)]
pub struct Timeline {
    stations: HashMap<StationId, Station>,
    /// The latest come first.
    reports: Vec<Report>,
}

impl Timeline {
    /// Creates a timeline of recorded stations and reports. Simultaneous reports keep their order.
    pub fn new(recorded: Batch) -> Self {
        let Batch { stations, mut reports } = recorded;
        reports.reverse();
        reports.sort_by_key(|report| std::cmp::Reverse(report.ts_ms));
        Self {
            stations: stations.into_iter().map(|station| (station.id, station)).collect(),
            reports,
        }
    }

    /// Time of the newest report, milliseconds since 1970.
    pub fn newest_ms(&self) -> Option<i64> {
        self.reports.first().map(|report| report.ts_ms)
    }

    /// Time of the next report to release, milliseconds since 1970.
    pub fn next_ms(&self) -> Option<i64> {
        self.reports.last().map(|report| report.ts_ms)
    }

    /// How many reports still wait.
    pub fn waiting(&self) -> usize {
        self.reports.len()
    }

    /// Releases the reports up to now that were not released before, oldest first. Also releases
    /// the stations that report for the first time.
    pub fn pass(&mut self, now_ms: i64) -> Batch {
        let from = self.reports.partition_point(|report| report.ts_ms > now_ms);
        let reports: Vec<Report> = self.reports.drain(from..).rev().collect();
        let stations =
            reports.iter().filter_map(|report| self.stations.remove(&report.station)).collect();
        Batch { stations, reports }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::station;

    fn report(station: &Station, ts_ms: i64, revision: u8) -> Report {
        let (station, readings) = (station.id, Vec::new());
        Report { station, ts_ms, revision, present_weather: None, text: None, readings }
    }

    #[test]
    fn reports_come_in_order_when_their_time_has_come_with_the_stations_first_met() {
        let [a, b, c] = ["CYYZ", "KBUF", "KJFK"].map(station);
        let reports =
            vec![report(&a, 30, 0), report(&b, 10, 0), report(&a, 10, 1), report(&a, 20, 0)];
        let stations = vec![a.clone(), b.clone(), c];
        let mut timeline = Timeline::new(Batch { stations, reports });
        assert_eq!((timeline.newest_ms(), timeline.next_ms()), (Some(30), Some(10)));

        assert_eq!(timeline.pass(9), Batch::default());
        let first = timeline.pass(10);
        assert_eq!(first.stations, [b.clone(), a.clone()]);
        assert_eq!(first.reports, [report(&b, 10, 0), report(&a, 10, 1)]);
        assert_eq!(timeline.waiting(), 2);
        let second = timeline.pass(1_000);
        assert_eq!(second.stations, []);
        assert_eq!(second.reports, [report(&a, 20, 0), report(&a, 30, 0)]);
        assert_eq!((timeline.waiting(), timeline.next_ms()), (0, None));
        assert_eq!(timeline.pass(i64::MAX), Batch::default());
    }
}
