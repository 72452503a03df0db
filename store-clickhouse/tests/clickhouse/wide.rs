//! More stations and days than one query or one insert takes, beside the store in memory.

use mesonet::observation::Qualifier;
use mesonet::store::{Selection, SeriesSlice, Verdicts, no_verdicts};
use mesonet::time::DAY_MS;
use mesonet::{
    Batch, ClosedWindow, IntervalType, LonLat, MemoryStore, Quality, Reader, Reading, Report,
    SeriesKey, Station, StationId, Store, Variable,
};

use mesonet_clickhouse::ClickHouseReader;

use crate::support::{id, migrated, open, station};

const STATIONS: usize = 2300;
const DAYS: i64 = 100;
/// Between two readings of a day.
const RECENT_FROM_MS: i64 = 60 * DAY_MS + 1;

type Seen = Vec<(usize, i32, Vec<i64>, Vec<u64>, Vec<u8>, Vec<u8>)>;

fn series() -> [SeriesKey; 3] {
    [
        SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0),
        SeriesKey::new(Variable::WindSpeed, IntervalType::Average, 2),
        SeriesKey::new(Variable::Mslp, IntervalType::Instantaneous, 0),
    ]
}

/// A generator of numbers that are the same each time (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

fn report(numbers: &mut Numbers) -> Report {
    let reading = |numbers: &mut Numbers, series: SeriesKey| Reading {
        qualifier: Qualifier::of_code(numbers.below(4) as u8),
        ..Reading::unchecked(series, numbers.below(1000) as f64 / 10.0)
    };
    let all = series();
    let readings = all.into_iter().filter(|_| numbers.below(3) > 0).collect::<Vec<_>>();
    Report {
        station: id(&numbers.below(STATIONS as u64).to_string()),
        // Few moments, so that there are corrections.
        ts_ms: numbers.below(DAYS as u64) as i64 * DAY_MS + numbers.below(3) as i64,
        revision: numbers.below(2) as u8,
        present_weather: None,
        text: None,
        readings: readings.into_iter().map(|series| reading(numbers, series)).collect(),
    }
}

fn seen(store: &dyn Reader, selection: &Selection<'_>, latest: bool) -> Seen {
    let mut seen = Seen::new();
    let mut visit = |i: usize, slices: &[SeriesSlice<'_>]| {
        for slice in slices {
            let id = slice.series.id.0;
            // A series may come in several slices.
            if seen.last().is_none_or(|last| (last.0, last.1) != (i, id)) {
                seen.push((i, id, vec![], vec![], vec![], vec![]));
            }
            let (_, _, ts_ms, bits, quality, qualifier) = seen.last_mut().unwrap();
            ts_ms.extend(slice.ts_ms);
            bits.extend(slice.value.iter().map(|value| value.to_bits()));
            quality.extend(slice.quality.iter().map(|code| code.0));
            qualifier.extend(slice.qualifier);
        }
    };
    let damage = if latest {
        store.scan_latest(selection, &mut visit)
    } else {
        store.scan(selection, &mut visit)
    };
    assert_eq!(damage.unwrap().blocks(), 0);
    seen
}

/// Some of the days are in the memory of the store and of a reader beside it, others in its tables.
pub fn many_stations_and_days_are_as_in_memory(url: &str) {
    let options = migrated(url);
    let (cluster, memory) = (open(&options), MemoryStore::default());
    let reader = ClickHouseReader::open(&options).unwrap();
    let stations: Vec<Station> = (0..STATIONS)
        .map(|i| {
            let place = LonLat::new(-140.0 + i as f64 / 30.0, 25.0 + (i % 50) as f64).unwrap();
            Station { coordinates: place, ..station(&i.to_string()) }
        })
        .collect();
    let mut numbers = Numbers(7);
    let mut judged = Vec::new();
    for batch in 0..3 {
        // The first batch is read, the others come in.
        if batch == 1 {
            let of_store = cluster.keep_recent(RECENT_FROM_MS..DAYS * DAY_MS, usize::MAX).unwrap();
            reader.update().unwrap();
            let of_reader = reader.keep_recent(RECENT_FROM_MS..DAYS * DAY_MS, usize::MAX);
            assert!(of_store.readings > 5000, "{of_store:?}");
            assert_eq!(of_reader, Ok(of_store));
        }
        let reports: Vec<_> = (0..8000).map(|_| report(&mut numbers)).collect();
        judged.extend(reports.iter().step_by(100).cloned());
        // On readings of this batch, of those before, and on some that are not there.
        let verdict = |of: &Report| Verdicts {
            station: of.station,
            series: series()[batch].id(),
            ts_ms: vec![of.ts_ms],
            quality: vec![Quality::GOOD],
        };
        let verdicts: Vec<Verdicts> = judged.iter().map(verdict).collect();
        let batch = Batch { stations: if batch == 0 { stations.clone() } else { vec![] }, reports };
        let judge = || Ok(verdicts.clone());
        let receipt = cluster.append(&batch, &mut |_| judge()).unwrap();
        assert_eq!(Ok(receipt), memory.append(&batch, &mut |_| judge()));
        assert!(receipt.added > 10_000 && receipt.revised > 0, "{receipt:?}");
        let again = cluster.append(&batch, &mut no_verdicts).unwrap();
        assert_eq!(Ok(again), memory.append(&batch, &mut no_verdicts));
        reader.update().unwrap();
    }
    let ids: Vec<StationId> = stations.iter().map(|station| station.id).collect();
    assert_eq!(cluster.directory().unwrap().stations, memory.directory().unwrap().stations);
    let windows = [
        (i64::MIN, i64::MAX),
        (0, DAYS * DAY_MS),
        (40 * DAY_MS, 43 * DAY_MS),
        (7, 8),
        (RECENT_FROM_MS, RECENT_FROM_MS + 2 * DAY_MS),
        (RECENT_FROM_MS - 1, RECENT_FROM_MS),
    ];
    for (from_ms, to_ms) in windows {
        for variables in [Variable::ALL, &[Variable::WindSpeed]] {
            let window = ClosedWindow::new(from_ms, to_ms).unwrap();
            let selection = Selection { stations: &ids, variables, window };
            for latest in [false, true] {
                let expected = seen(&memory, &selection, latest);
                for ours in [&cluster as &dyn Reader, &reader] {
                    let ours = seen(ours, &selection, latest);
                    assert!(ours == expected, "{from_ms} {to_ms} {latest} differ");
                }
            }
        }
    }
}
