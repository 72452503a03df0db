use mesonet::observation::{EarlierPlaces, Identifiers};
use mesonet::store::{
    Damage, Directory, PastReadings, Selection, SeriesSlice, VisitWeather, no_verdicts,
};
use mesonet::time::HOUR_MS;
use mesonet::{
    Batch, ClosedWindow, IntervalType, LonLat, MemoryStore, Quality, Reading, Report, SeriesKey,
    Station, StationId, Store, Variable,
};
use std::cell::Cell;
use std::sync::Barrier;
use std::thread;
use tempfile::TempDir;

use super::super::Archive;
use super::*;
use mesonet::time::parse_instant;

const JUNE: &str = "2024-06-01T00:00:00Z";
const AUGUST: &str = "2024-08-01T00:00:00Z";

fn instant(text: &str) -> i64 {
    parse_instant(text).unwrap()
}

/// A record whose cutoff and damage a test can set, even while it is read.
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

fn station(name: &str) -> Station {
    Station {
        id: StationId::new("TEST", name),
        network: "TEST".into(),
        native_id: name.to_owned(),
        name: name.to_owned(),
        station_type: None,
        coordinates: LonLat::new(0.0, 0.0).unwrap(),
        sensor_height_m: 0.0,
        altitude_m: None,
        identifiers: Identifiers::default(),
        earlier_places: EarlierPlaces::default(),
    }
}

fn report(name: &str, ts_ms: i64) -> Report {
    Report {
        station: StationId::new("TEST", name),
        ts_ms,
        revision: 0,
        present_weather: None,
        text: None,
        readings: vec![Reading {
            series: SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0),
            value: ((ts_ms - instant(JUNE)) / HOUR_MS) as f64,
            quality: Quality::GOOD,
            qualifier: None,
        }],
    }
}

/// A record of five stations.
fn record_of(reports: Vec<Report>) -> Worn {
    let stations = (0..5).map(|number| station(&format!("S{number}"))).collect();
    let store = MemoryStore::default();
    store.append(&Batch { stations, reports }, &mut no_verdicts).unwrap();
    let held_ms = Cell::new(i64::MIN);
    Worn { store, held_ms, then_ms: Cell::default(), blocks: Cell::default() }
}

/// Five stations that report every six hours in June and July.
fn worn() -> Worn {
    let hours = || (instant(JUNE)..instant(AUGUST)).step_by(6 * HOUR_MS as usize);
    let of = |number| hours().map(move |ts_ms| report(&format!("S{number}"), ts_ms));
    record_of((0..5).flat_map(of).collect())
}

fn place(folder: &TempDir) -> ObjectPlace {
    ObjectPlace::create(&folder.path().display().to_string()).unwrap()
}

fn run(folder: &TempDir, store: &Worn) -> Result<ArchiveSummary, ArchiveError> {
    let run = ArchiveRun {
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

fn outcomes(summary: &ArchiveSummary) -> Vec<(String, MonthOutcome, u64, usize)> {
    let of = |done: &MonthDone| (done.month.to_string(), done.outcome, done.readings, done.files);
    summary.months.iter().map(of).collect()
}

#[test]
fn each_station_is_whole_in_one_file_of_a_month() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    let summary = run(&folder, &store).unwrap();
    let june = ("2024-06".to_owned(), MonthOutcome::Added, 600, 3);
    let july = ("2024-07".to_owned(), MonthOutcome::Added, 620, 3);
    assert_eq!(outcomes(&summary), [june, july]);
    let (_, manifest) = ArchiveManifest::newest(&place(&folder)).unwrap();
    for month in &manifest.months {
        let files = &month.files;
        assert!(files.is_sorted_by(|one, next| one.first <= one.last && one.last < next.first));
        assert_eq!(files.iter().map(|file| file.readings).sum::<u64>(), month.readings);
        for file in files {
            let bytes = std::fs::read(folder.path().join(&file.path)).unwrap();
            assert_eq!(bytes.len() as u64, file.bytes);
            assert_eq!(crate::hex::hex_sha256(&bytes), file.sha256);
        }
    }
}

#[test]
fn a_month_that_is_cut_while_it_is_read_is_not_archived() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    store.then_ms.set(Some(instant("2024-06-20T00:00:00Z")));
    let summary = run(&folder, &store).unwrap();
    assert_eq!(summary.months[0].outcome, MonthOutcome::Gone);
    assert!(!summary.is_whole());
    let (_, manifest) = ArchiveManifest::newest(&place(&folder)).unwrap();
    assert_eq!(manifest.months.len(), 1);
    // No file of it is left.
    let june = folder.path().join("year=2024/month=06");
    assert_eq!(std::fs::read_dir(june).map_or(0, Iterator::count), 0);
    // The next run archives what the record still holds of it.
    let summary = run(&folder, &store).unwrap();
    assert_eq!(summary.months[0].outcome, MonthOutcome::Added);
    let (_, manifest) = ArchiveManifest::newest(&place(&folder)).unwrap();
    assert_eq!(manifest.months[0].from, instant("2024-06-20T00:00:00Z"));
}

#[test]
fn what_was_archived_whole_is_not_replaced_by_less() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    run(&folder, &store).unwrap();
    let before = ArchiveManifest::newest(&place(&folder)).unwrap();
    store.blocks.set(2);
    let summary = run(&folder, &store).unwrap();
    assert!(summary.months.iter().all(|month| month.outcome == MonthOutcome::Damaged));
    assert!(!summary.is_whole());
    store.held_ms.set(instant("2024-07-15T00:00:00Z"));
    let summary = run(&folder, &store).unwrap();
    assert!(summary.months.iter().all(|month| month.outcome == MonthOutcome::Kept));
    assert!(summary.is_whole());
    assert_eq!(ArchiveManifest::newest(&place(&folder)).unwrap(), before);
}

#[test]
fn a_damaged_month_is_archived_with_what_is_left_and_says_so_until_it_is_whole() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    store.blocks.set(1);
    let summary = run(&folder, &store).unwrap();
    assert!(!summary.is_whole());
    assert!(summary.to_string().contains("; 1 damaged blocks of the record are not in it\n"));
    assert_eq!(ArchiveManifest::newest(&place(&folder)).unwrap().1.months[0].damaged, 1);
    store.blocks.set(0);
    let summary = run(&folder, &store).unwrap();
    assert!(summary.months.iter().all(|month| month.outcome == MonthOutcome::Replaced));
    assert!(
        summary.is_whole()
            && ArchiveManifest::newest(&place(&folder)).unwrap().1.months[0].damaged == 0
    );
}

/// Even where a month ends between them.
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

/// A new record that takes over, one that was restored from an older backup, one that has lost a
/// file.
#[test]
fn a_month_of_which_the_record_has_fewer_readings_stays() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    run(&folder, &store).unwrap();
    let before = ArchiveManifest::newest(&place(&folder)).unwrap();
    let other = record_of(vec![report("S1", instant("2024-07-15T01:00:00Z"))]);
    let summary = run(&folder, &other).unwrap();
    let june = ("2024-06".to_owned(), MonthOutcome::Fewer, 600, 3);
    let july = ("2024-07".to_owned(), MonthOutcome::Fewer, 620, 3);
    assert_eq!(outcomes(&summary), [june, july]);
    assert!(!summary.is_whole());
    assert_eq!(ArchiveManifest::newest(&place(&folder)).unwrap(), before);
    for file in before.1.months.iter().flat_map(|month| &month.files) {
        assert_eq!(folder.path().join(&file.path).metadata().unwrap().len(), file.bytes);
    }
    // Nor does retention delete what the archive lacks.
    let covered = covered(&folder, &other, AUGUST);
    assert_eq!(covered.0, "2024-07-01T00:00:00Z");
    assert!(
        covered.1.contains("it has 620 readings of 2024-07, and the record 1"),
        "{}",
        covered.1
    );
}

/// Its files would stay, but no answer would use them.
#[test]
fn an_archive_that_has_lost_its_manifests_is_not_begun_anew() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    run(&folder, &store).unwrap();
    std::fs::remove_dir_all(folder.path().join("manifests")).unwrap();
    let refused = run(&folder, &store).unwrap_err().to_string();
    assert!(refused.contains("has files of an archive in year=…/ and no manifest"), "{refused}");
    assert!(!folder.path().join("manifests").exists());
}

/// A run that begins while another one writes its first files does not take them for the rest of an
/// archive.
#[test]
fn of_two_runs_that_begin_at_once_none_misses_a_manifest() {
    for _ in 0..50 {
        let folder = TempDir::new().unwrap();
        let barrier = Barrier::new(2);
        let begin = || {
            let store = record_of(vec![report("S1", instant("2024-06-15T01:00:00Z"))]);
            barrier.wait();
            run(&folder, &store).map(|summary| summary.is_whole())
        };
        let results = thread::scope(|scope| {
            let runs = [scope.spawn(begin), scope.spawn(begin)];
            runs.map(|run| run.join().unwrap())
        });
        for result in results {
            assert!(matches!(result, Ok(true) | Err(ArchiveError::Meanwhile(_))), "{result:?}");
        }
    }
}

/// One report with a wrong date must not cost a manifest for each month since.
#[test]
fn centuries_without_readings_are_no_manifests_of_their_own() {
    let folder = TempDir::new().unwrap();
    let store = record_of(vec![
        report("S1", instant("1820-06-15T01:00:00Z")),
        report("S1", instant("2024-06-15T01:00:00Z")),
    ]);
    let summary = run(&folder, &store).unwrap();
    assert_eq!(summary.months.len(), 204 * 12 + 1);
    let manifests = std::fs::read_dir(folder.path().join("manifests")).unwrap().count();
    assert_eq!(manifests, 3, "an empty one, and one for each month with readings");
    assert_eq!(ArchiveManifest::newest(&place(&folder)).unwrap().1.months.len(), 204 * 12 + 1);
    assert_eq!(covered(&folder, &store, AUGUST), ("2024-08-01T00:00:00Z".into(), String::new()));
}

/// How far retention may delete before a cutoff, and why not up to the cutoff.
fn covered(folder: &TempDir, store: &Worn, cutoff: &str) -> (String, String) {
    covered_by(folder, store, cutoff, "0123456789abcdef")
}

fn covered_by(folder: &TempDir, store: &Worn, cutoff: &str, name: &str) -> (String, String) {
    let archive = Arc::new(Archive::new(&folder.path().display().to_string()));
    let covered = archive.covered(name, store, instant(cutoff)).unwrap();
    let lack = covered.lack.map(|lack| lack.to_string()).unwrap_or_default();
    (mesonet::Iso8601(covered.until_ms).to_string(), lack)
}

#[test]
fn retention_deletes_what_the_archive_has_and_no_part_of_a_month() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    run(&folder, &store).unwrap();
    let until = |cutoff| covered(&folder, &store, cutoff);
    let (june, july, august) =
        ("2024-06-01T00:00:00Z", "2024-07-01T00:00:00Z", "2024-08-01T00:00:00Z");
    assert_eq!(until(AUGUST), (august.to_owned(), String::new()));
    assert_eq!(until("2024-07-31T23:59:59Z"), (july.to_owned(), String::new()));
    // A record that was once cut in the middle of a month.
    store.held_ms.set(instant("2024-06-20T00:00:00Z"));
    assert_eq!(until(AUGUST), (august.to_owned(), String::new()));
    store.held_ms.set(i64::MIN);

    let late = |name, text| Batch { stations: vec![], reports: vec![report(name, instant(text))] };
    store.store.append(&late("S1", "2024-07-20T01:00:00Z"), &mut no_verdicts).unwrap();
    let lack = "it has 620 readings of 2024-07, and the record 621";
    assert_eq!(until(AUGUST), (july.to_owned(), lack.to_owned()));
    store.held_ms.set(instant("2024-07-15T00:00:00Z"));
    let lack = "it has 340 readings of 2024-07, and the record 341";
    assert_eq!(until(AUGUST), ("2024-07-15T00:00:00Z".to_owned(), lack.to_owned()));
    store.held_ms.set(i64::MIN);
    run(&folder, &store).unwrap();
    assert_eq!(until(AUGUST).0, august);

    // Readings earlier than everything that was archived, and later.
    store.store.append(&late("S1", "2024-05-20T01:00:00Z"), &mut no_verdicts).unwrap();
    let (first, lack) = until(AUGUST);
    assert_eq!(first, "2024-05-01T00:00:00Z");
    assert_eq!(lack, format!("it lacks readings of {first} to {june}"));
    run(&folder, &store).unwrap();
    store.store.append(&late("S1", "2024-08-20T01:00:00Z"), &mut no_verdicts).unwrap();
    let (until_august, lack) = until("2024-10-01T00:00:00Z");
    assert_eq!(until_august, august);
    assert_eq!(lack, format!("it lacks readings of {august} to 2024-10-01T00:00:00Z"));
}

#[test]
fn retention_trusts_no_archive_of_another_record_and_none_that_lacks_files() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    std::fs::create_dir_all(folder.path()).unwrap();
    assert_eq!(covered_by(&folder, &store, AUGUST, "").1, "it has nothing yet");
    run(&folder, &store).unwrap();
    for name in ["", "fedcba9876543210"] {
        let (_, lack) = covered_by(&folder, &store, AUGUST, name);
        assert_eq!(lack, "it is that of another record, 0123456789abcdef");
    }
    let (_, manifest) = ArchiveManifest::newest(&place(&folder)).unwrap();
    let file = &manifest.months[1].files[0].path;
    std::fs::write(folder.path().join(file), "short").unwrap();
    let (until, lack) = covered(&folder, &store, AUGUST);
    assert_eq!(until, "2024-07-01T00:00:00Z");
    assert!(lack.starts_with(&format!("{file} has 5 bytes; the manifest says ")), "{lack}");
    std::fs::remove_file(folder.path().join(file)).unwrap();
    assert_eq!(covered(&folder, &store, AUGUST).1, format!("{file} is missing"));
}

/// A restored record holds the same readings. Nothing is written again, but the archive belongs to
/// it from then on.
#[test]
fn a_record_that_takes_over_is_the_one_of_the_archive_though_no_month_changes() {
    let (folder, store) = (TempDir::new().unwrap(), worn());
    run(&folder, &store).unwrap();
    let by = |name: &str, take_over| {
        let run = ArchiveRun {
            place: place(&folder),
            store: &store,
            held_now: Box::new(|| store.held_from_ms()),
            name: name.to_owned(),
            before_ms: instant(AUGUST),
            take_over,
            file_readings: 200,
        };
        run.run()
    };
    let name = "fedcba9876543210";
    assert!(matches!(by(name, false), Err(ArchiveError::OfOther { .. })));
    let summary = by(name, true).unwrap();
    assert!(summary.months.iter().all(|month| month.outcome == MonthOutcome::Unchanged));
    assert_eq!(covered_by(&folder, &store, AUGUST, name).1, "");
    let (number, _) = ArchiveManifest::newest(&place(&folder)).unwrap();
    by(name, false).unwrap();
    assert_eq!(
        ArchiveManifest::newest(&place(&folder)).unwrap().0,
        number,
        "nothing has changed since"
    );
}
