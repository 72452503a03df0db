//! The rules of present weather.

use super::{batch, report, temperature};
use crate::observation::{Report, StationId, Variable};
use crate::store::{Damage, Reader, Selection, SeriesSlice, Store, no_verdicts};
use crate::time::ClosedWindow;

pub(super) fn weather_is_from_the_most_recent_report_that_has_any(store: &dyn Store) {
    let rain = |ts_ms, revision, words: &[&str]| Report {
        present_weather: Some(words.iter().map(|&word| word.to_owned()).collect()),
        ..report("A", ts_ms, revision, 1.0)
    };
    let weather = || {
        let directory = store.directory().unwrap();
        directory.get(StationId::new("TEST", "A")).unwrap().present_weather.clone()
    };
    store.append(&batch(vec![report("A", 5, 0, 1.0)]), &mut no_verdicts).unwrap();
    assert_eq!(weather(), None);
    store
        .append(&batch(vec![rain(10, 0, &["Rain"]), report("A", 20, 0, 1.0)]), &mut no_verdicts)
        .unwrap();
    assert_eq!(weather(), Some(vec!["Rain".to_owned()]));
    store.append(&batch(vec![rain(8, 0, &["Snow"])]), &mut no_verdicts).unwrap();
    assert_eq!(weather(), Some(vec!["Rain".to_owned()]));
    store.append(&batch(vec![rain(30, 0, &[])]), &mut no_verdicts).unwrap();
    assert_eq!(weather(), Some(vec![]));
}

/// The present weather of every report of a station.
fn all_weather(store: &dyn Reader, native_id: &str) -> Vec<(i64, String)> {
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    let mut found = Vec::new();
    let damage = store
        .scan_weather(&[StationId::new("TEST", native_id)], window, &mut |_, ts_ms, _, words| {
            found.push((ts_ms, words.join(" and ")));
        })
        .unwrap();
    assert_eq!(damage, Damage::default());
    found
}

pub(super) fn the_weather_of_every_report_is_kept(store: &dyn Store) {
    let weather_report = |name, ts_ms, revision, words: &[&str]| Report {
        present_weather: Some(words.iter().map(|&word| word.to_owned()).collect()),
        ..report(name, ts_ms, revision, 1.0)
    };
    let append = |reports| store.append(&batch(reports), &mut no_verdicts).unwrap();
    let receipt = append(vec![
        weather_report("A", 10, 0, &["Light rain", "Mist"]),
        weather_report("A", 30, 0, &[]),
        report("A", 40, 0, 1.0),
        weather_report("B", 10, 0, &["Snow"]),
    ]);
    assert_eq!(receipt.added, 4, "only readings are counted");
    // Late reports take their place in time, and a report with only weather counts.
    append(vec![Report {
        readings: vec![],
        ..weather_report("A", 20, 0, &["Light rain", "Mist"])
    }]);
    let mist = "Light rain and Mist".to_owned();
    let expected = [(10, mist.clone()), (20, mist.clone()), (30, String::new())];
    assert_eq!(all_weather(store, "A"), expected);
    assert_eq!(all_weather(store, "B"), [(10, "Snow".to_owned())]);
    assert_eq!(all_weather(store, "unknown"), []);

    // The same again changes nothing; the newer wins, and a lower revision never does.
    let generation = || store.directory().unwrap().generation;
    let before = generation();
    append(vec![weather_report("A", 30, 0, &["Hail"]), weather_report("A", 30, 0, &[])]);
    append(vec![Report {
        readings: vec![],
        ..weather_report("A", 20, 0, &["Light rain", "Mist"])
    }]);
    assert_eq!((all_weather(store, "A"), generation()), (expected.to_vec(), before));
    append(vec![weather_report("A", 10, 0, &["Rain"])]);
    assert!(generation() > before);
    append(vec![weather_report("A", 20, 1, &["Haze"])]);
    append(vec![weather_report("A", 20, 0, &["Smoke"]), weather_report("A", 30, 0, &["Fog"])]);
    let words = |store: &dyn Reader| all_weather(store, "A").into_iter().map(|(_, words)| words);
    assert_eq!(words(store).collect::<Vec<_>>(), ["Rain", "Haze", "Fog"]);

    // Both ends of a window are in it, and a judge sees the batch in the record.
    let window = ClosedWindow::new(20, 30).unwrap();
    let mut times = Vec::new();
    let id = StationId::new("TEST", "A");
    store.scan_weather(&[id], window, &mut |_, ts_ms, _, _| times.push(ts_ms)).unwrap();
    assert_eq!(times, [20, 30]);
    let mut seen = Vec::new();
    let hail = batch(vec![weather_report("A", 50, 0, &["Hail"])]);
    store
        .append(&hail, &mut |record| {
            seen = all_weather(record, "A");
            Ok(vec![])
        })
        .unwrap();
    assert_eq!(seen.last(), Some(&(50, "Hail".to_owned())));
    // Weather is not a series of a station, and no scan finds it.
    let directory = store.directory().unwrap();
    assert_eq!(directory.get(id).unwrap().series.len(), 1);
    let selection = Selection { stations: &[id], variables: Variable::ALL, window };
    let is_temperature = |slice: &SeriesSlice<'_>| slice.series.key == temperature();
    store.scan(&selection, &mut |_, slices| assert!(slices.iter().all(is_temperature))).unwrap();
}
