//! The rules of the texts of reports, for stores that keep them.

use super::{batch, report, temperature};
use crate::observation::{Report, ReportText, StationId, Variable};
use crate::store::{Damage, Reader, Selection, SeriesSlice, Store, StoreError, no_verdicts};
use crate::time::ClosedWindow;

/// The texts of a station: time, revision, heading and text; `None` if the store keeps none.
fn texts(store: &dyn Reader, native_id: &str) -> Option<Vec<(i64, u8, String)>> {
    let window = ClosedWindow::new(i64::MIN, i64::MAX).unwrap();
    texts_in(store, native_id, window)
}

fn texts_in(
    store: &dyn Reader,
    native_id: &str,
    window: ClosedWindow,
) -> Option<Vec<(i64, u8, String)>> {
    let mut found = Vec::new();
    let station = StationId::new("TEST", native_id);
    let scanned = store.scan_reports(&[station], window, &mut |i, kept| {
        assert_eq!(i, 0);
        let header = kept.header.map_or_else(String::new, |header| format!("{header}|"));
        found.push((kept.ts_ms, kept.revision, header + kept.text));
    });
    match scanned {
        Err(StoreError::NoTexts) => None,
        scanned => {
            assert_eq!(scanned.unwrap(), Damage::default());
            Some(found)
        }
    }
}

fn with_text(native_id: &str, ts_ms: i64, revision: u8, text: &str) -> Report {
    Report { text: ReportText::new(text, None), ..report(native_id, ts_ms, revision, 1.0) }
}

pub(super) fn the_text_of_every_report_is_kept(store: &dyn Store) {
    if texts(store, "A").is_none() {
        return;
    }
    let append = |reports| store.append(&batch(reports), &mut no_verdicts).unwrap();
    let expect = |expected: &[(i64, u8, &str)]| {
        let expected = expected.iter().map(|&(ts_ms, of, text)| (ts_ms, of, text.to_owned()));
        assert_eq!(texts(store, "A").unwrap(), expected.collect::<Vec<_>>());
    };
    let headed = Report {
        text: ReportText::new("METAR A 10Z  OK=", Some("SACN31 CWAO 032000")),
        ..report("A", 10, 0, 1.0)
    };
    let receipt = append(vec![
        headed.clone(),
        report("A", 15, 0, 1.0),
        with_text("A", 30, 0, "A 30Z"),
        with_text("B", 10, 0, "B 10Z"),
    ]);
    assert_eq!(receipt.added, 4, "only readings are counted");
    // A late report takes its place in time, and one with only a text counts.
    append(vec![Report { readings: vec![], ..with_text("A", 20, 0, "A 20Z") }]);
    let first = "SACN31 CWAO 032000|METAR A 10Z OK=";
    let all = [(10, 0, first), (20, 0, "A 20Z"), (30, 0, "A 30Z")];
    expect(&all);
    assert_eq!(texts(store, "B").unwrap(), [(10, 0, "B 10Z".to_owned())]);
    assert_eq!(texts(store, "unknown").unwrap(), []);

    // The same again changes nothing, also as another feed writes it, nor does a batch that ends
    // where it began.
    let generation = || store.directory().unwrap().generation;
    let before = generation();
    append(vec![headed, with_text("A", 10, 0, "A 10Z OK")]);
    append(vec![Report { readings: vec![], ..with_text("A", 20, 0, "A 20Z") }]);
    append(vec![with_text("A", 30, 0, "A 30Z wrong"), with_text("A", 30, 0, "A 30Z")]);
    assert_eq!(generation(), before);
    expect(&all);
    // The newer wins, and a lower revision never does.
    append(vec![with_text("A", 20, 0, "A 20Z NEW")]);
    assert!(generation() > before);
    append(vec![with_text("A", 30, 1, "A 30Z COR")]);
    append(vec![with_text("A", 30, 0, "A 30Z")]);
    append(vec![Report { text: None, ..with_text("A", 20, 3, "") }]);
    let all = [(10, 0, first), (20, 0, "A 20Z NEW"), (30, 1, "A 30Z COR")];
    expect(&all);

    // Both ends of a window are in it, and a judge sees the batch in the record.
    let window = ClosedWindow::new(20, 30).unwrap();
    let times: Vec<_> = texts_in(store, "A", window).unwrap();
    assert_eq!(times.iter().map(|text| text.0).collect::<Vec<_>>(), [20, 30]);
    let mut seen = Vec::new();
    store
        .append(&batch(vec![with_text("A", 40, 0, "A 40Z")]), &mut |record| {
            seen = texts(record, "A").unwrap();
            Ok(vec![])
        })
        .unwrap();
    assert_eq!(seen.last(), Some(&(40, 0, "A 40Z".to_owned())));
    // A text is not a series of a station, and no scan finds it.
    let id = StationId::new("TEST", "A");
    assert_eq!(store.directory().unwrap().get(id).unwrap().series.len(), 1);
    let selection = Selection { stations: &[id], variables: Variable::ALL, window };
    let is_temperature = |slice: &SeriesSlice<'_>| slice.series.key == temperature();
    store.scan(&selection, &mut |_, slices| assert!(slices.iter().all(is_temperature))).unwrap();
}
