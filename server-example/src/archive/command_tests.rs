use mesonet::observation::Identifiers;
use mesonet::store::{Damage, Directory, Past, Selection, SeriesSlice, VisitWeather, unjudged};
use mesonet::time::HOUR_MS;
use mesonet::{
    Batch, ClosedWindow, IntervalType, LonLat, MemoryStore, Quality, Reading, Report, SeriesKey,
    Station, StationId, Store, Variable,
};
use std::cell::Cell;
use tempfile::TempDir;

use super::super::Archive;
use super::*;

const JUNE: &str = "2024-06-01T00:00:00Z";
const AUGUST: &str = "2024-08-01T00:00:00Z";

fn instant(text: &str) -> i64 {
    parse_instant(text).unwrap()
}

/// A record whose cutoff and damage a test sets, also while it is read.
struct Worn {
    store: MemoryStore,
    held_ms: Cell<i64>,
    /// The cutoff after the next scan.
    then_ms: Cell<Option<i64>>,
    blocks: Cell<u32>,
}

impl Reader for Worn {
    fn directory(&self) -> Result<Arc<Directory>, StoreError> {
        self.store.directory()
    }

    fn scan(
        &self,
        selection: &Selection<'_>,
        visit: &mut dyn FnMut(usize, &[SeriesSlice<'_>]),
    ) -> Result<Damage, StoreError> {
        let mut damage = self.store.scan(selection, visit)?;
        (0..self.blocks.get()).for_each(|block| damage.add(1, block));
        if let Some(then_ms) = self.then_ms.take() {
            self.held_ms.set(then_ms);
        }
        Ok(damage)
    }

    fn scan_weather(
        &self,
        stations: &[StationId],
        window: ClosedWindow,
        visit: &mut VisitWeather<'_>,
    ) -> Result<Damage, StoreError> {
        self.store.scan_weather(stations, window, visit)
    }

    fn held_from_ms(&self) -> Result<i64, StoreError> {
        Ok(self.held_ms.get())
    }
}

/// Five stations that report every six hours in June and July.
fn worn() -> Worn {
    let names: Vec<String> = (0..5).map(|number| format!("S{number}")).collect();
    let station = |name: &String| Station {
        id: StationId::new("TEST", name),
        network: "TEST".into(),
        native_id: name.clone(),
        name: name.clone(),
        station_type: None,
        coordinates: LonLat::new(0.0, 0.0).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
    };
    let hours = (instant(AUGUST) - instant(JUNE)) / HOUR_MS;
    let report = |name: &String, hour: i64| Report {
        station: StationId::new("TEST", name),
        ts_ms: instant(JUNE) + hour * HOUR_MS,
        revision: 0,
        present_weather: None,
        readings: vec![Reading {
            series: SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0),
            value: hour as f64,
            quality: Quality::GOOD,
            qualifier: None,
        }],
    };
    let reports =
        names.iter().flat_map(|name| (0..hours).step_by(6).map(|hour| report(name, hour)));
    let batch = Batch { stations: names.iter().map(station).collect(), reports: reports.collect() };
    let store = MemoryStore::default();
    store.append(&batch, &mut unjudged).unwrap();
    let held_ms = Cell::new(i64::MIN);
    Worn { store, held_ms, then_ms: Cell::default(), blocks: Cell::default() }
}

fn place(folder: &TempDir) -> Place {
    Place::create(&folder.path().display().to_string()).unwrap()
}

fn run(folder: &TempDir, store: &Worn) -> Result<Summary, ArchiveError> {
    let run = Run {
        place: place(folder),
        store,
        held_now: Box::new(|| store.held_from_ms()),
        name: "0123456789abcdef".to_owned(),
        before_ms: instant(AUGUST),
        take_over: false,
        // Two stations in a file, and one left.
        file_readings: 200,
    };
    run.run()
}

fn outcomes(summary: &Summary) -> Vec<(String, Outcome, u64, usize)> {
    let of = |done: &MonthDone| (done.month.to_string(), done.outcome, done.readings, done.files);
    summary.months.iter().map(of).collect()
}

#[test]
fn each_station_is_whole_in_one_file_of_a_month() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    let summary = run(&folder, &store).unwrap();
    let june = ("2024-06".to_owned(), Outcome::Added, 600, 3);
    let july = ("2024-07".to_owned(), Outcome::Added, 620, 3);
    assert_eq!(outcomes(&summary), [june, july]);
    let (_, manifest) = Manifest::newest(&place(&folder)).unwrap();
    for month in &manifest.months {
        let files = &month.files;
        assert!(files.is_sorted_by(|one, next| one.first <= one.last && one.last < next.first));
        assert_eq!(files.iter().map(|file| file.readings).sum::<u64>(), month.readings);
        for file in files {
            let bytes = std::fs::read(folder.path().join(&file.path)).unwrap();
            assert_eq!(bytes.len() as u64, file.bytes);
            assert_eq!(crate::backup::hex_sha256(&bytes), file.sha256);
        }
    }
}

#[test]
fn a_month_that_is_cut_while_it_is_read_is_not_archived() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    store.then_ms.set(Some(instant("2024-06-20T00:00:00Z")));
    let summary = run(&folder, &store).unwrap();
    assert_eq!(summary.months[0].outcome, Outcome::Gone);
    assert!(!summary.is_whole());
    let (_, manifest) = Manifest::newest(&place(&folder)).unwrap();
    assert_eq!(manifest.months.len(), 1);
    // Nothing of it is left.
    let june = folder.path().join("year=2024/month=06");
    assert_eq!(std::fs::read_dir(june).map_or(0, Iterator::count), 0);
    // The next run has what the record still holds of it.
    let summary = run(&folder, &store).unwrap();
    assert_eq!(summary.months[0].outcome, Outcome::Added);
    let (_, manifest) = Manifest::newest(&place(&folder)).unwrap();
    assert_eq!(manifest.months[0].from, instant("2024-06-20T00:00:00Z"));
}

#[test]
fn what_was_archived_whole_is_not_replaced_by_less() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    run(&folder, &store).unwrap();
    let before = Manifest::newest(&place(&folder)).unwrap();
    store.blocks.set(2);
    let summary = run(&folder, &store).unwrap();
    assert!(summary.months.iter().all(|month| month.outcome == Outcome::Damaged));
    assert!(!summary.is_whole());
    store.held_ms.set(instant("2024-07-15T00:00:00Z"));
    let summary = run(&folder, &store).unwrap();
    assert!(summary.months.iter().all(|month| month.outcome == Outcome::Kept));
    assert!(summary.is_whole());
    assert_eq!(Manifest::newest(&place(&folder)).unwrap(), before);
}

#[test]
fn a_damaged_month_is_archived_with_what_is_left_and_says_so_until_it_is_whole() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    store.blocks.set(1);
    let summary = run(&folder, &store).unwrap();
    assert!(!summary.is_whole());
    assert!(summary.to_string().contains("; 1 damaged blocks of the record are not in it\n"));
    assert_eq!(Manifest::newest(&place(&folder)).unwrap().1.months[0].damaged, 1);
    store.blocks.set(0);
    let summary = run(&folder, &store).unwrap();
    assert!(summary.months.iter().all(|month| month.outcome == Outcome::Replaced));
    assert!(
        summary.is_whole() && Manifest::newest(&place(&folder)).unwrap().1.months[0].damaged == 0
    );
}

/// Also where a month ends between them.
#[test]
fn readings_of_a_series_come_in_the_order_of_time() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    run(&folder, &store).unwrap();
    let archive = Arc::new(Archive::new(&folder.path().display().to_string()));
    let span_ms = instant("2024-06-29T00:00:00Z")..instant("2024-07-03T00:00:00Z");
    let expected: Vec<i64> = span_ms.clone().step_by(6 * HOUR_MS as usize).collect();
    for record in &store.directory().unwrap().stations {
        let mut found = Vec::new();
        let mut visit = |slices: &[SeriesSlice<'_>]| {
            found.extend(slices.iter().flat_map(|slice| slice.ts_ms));
        };
        let damage = archive.open().scan(record, span_ms.clone(), &mut visit).unwrap();
        assert_eq!((found, damage.blocks()), (expected.clone(), 0));
    }
}

#[test]
fn only_our_own_files_are_deleted() {
    let month: Month = "2024-06".parse().unwrap();
    assert!(is_ours("2024-06-0123abcd-0000.parquet", month));
    for name in [
        "2024-07-0123abcd-0000.parquet",
        "2024-06-0123abcd-0000.csv",
        "2024-06-0123abcd.parquet",
        "2024-06-0123abcx-0000.parquet",
        "2024-06-0123abcd-00a0.parquet",
        "mine.parquet",
    ] {
        assert!(!is_ours(name, month), "{name}");
    }
}
