//! The rules of verdicts.

use super::{batch, report, temperature};
use crate::observation::{
    BaseQuality, Batch, Quality, QualityCode, ReasonQuality, SeriesId, StationId, Variable,
};
use crate::store::{Reader, Receipt, Selection, SeriesSlice, Store, Verdicts, no_verdicts};
use crate::time::ClosedWindow;

pub(super) fn a_verdict_is_kept_unchanged(store: &dyn Store) {
    let doubtful = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Range };
    let mut doubted = report("A", 1, 0, 50.0);
    doubted.readings[0].quality = doubtful;
    store.append(&batch(vec![doubted]), &mut no_verdicts).unwrap();
    let selection = Selection {
        stations: &[StationId::new("TEST", "A")],
        variables: &[Variable::AirTemperature],
        window: ClosedWindow::new(0, 2).unwrap(),
    };
    let mut seen = 0;
    store
        .scan(&selection, &mut |_, slices| {
            assert_eq!(slices[0].quality, [QualityCode::from(doubtful)]);
            seen += 1;
        })
        .unwrap();
    assert_eq!(seen, 1);
}

pub(super) fn a_revised_verdict_leaves_the_value_and_the_source_verdict(store: &dyn Store) {
    let reports = vec![report("A", 1, 0, 5.0), report("A", 2, 0, 6.0)];
    store.append(&batch(reports), &mut no_verdicts).unwrap();
    let before = store.directory().unwrap().generation;
    let (station, series) = (StationId::new("TEST", "A"), temperature().id());
    // One reading is there, one is not.
    let verdicts = Verdicts { station, series, ts_ms: vec![2, 3], quality: vec![Quality::GOOD; 2] };
    let revise = |verdicts: &Verdicts| {
        let mut judge = |_: &dyn Reader| Ok(vec![verdicts.clone()]);
        store.append(&Batch::default(), &mut judge).unwrap()
    };
    assert_eq!(revise(&verdicts), Receipt { revised: 1, ..Receipt::default() });
    assert!(store.directory().unwrap().generation > before);
    assert_eq!(revise(&verdicts), Receipt::default());
    let elsewhere = Verdicts { station: StationId::new("TEST", "X"), ..verdicts.clone() };
    assert_eq!(revise(&elsewhere), Receipt::default());
    assert_eq!(revise(&Verdicts { series: SeriesId(1), ..verdicts }), Receipt::default());
    let selection = Selection {
        stations: &[station],
        variables: &[Variable::AirTemperature],
        window: ClosedWindow::new(0, 5).unwrap(),
    };
    let mut seen = 0;
    let mut visit = |expected: [Quality; 2]| {
        store
            .scan(&selection, &mut |_, slices| {
                let of = |column: fn(&SeriesSlice<'_>) -> Vec<QualityCode>| {
                    slices.iter().flat_map(column).map(QualityCode::quality).collect::<Vec<_>>()
                };
                assert_eq!(slices.last().unwrap().value.last(), Some(&6.0));
                assert_eq!(of(|slice| slice.quality.to_vec()), expected);
                assert_eq!(of(|slice| slice.source.to_vec()), [Quality::UNCHECKED; 2]);
                seen += 1;
            })
            .unwrap();
    };
    visit([Quality::UNCHECKED, Quality::GOOD]);
    // An unchanged reading keeps its verdict; a newer report brings its own.
    store.append(&batch(vec![report("A", 2, 0, 6.0)]), &mut no_verdicts).unwrap();
    visit([Quality::UNCHECKED, Quality::GOOD]);
    store.append(&batch(vec![report("A", 2, 1, 6.0)]), &mut no_verdicts).unwrap();
    visit([Quality::UNCHECKED; 2]);
    assert_eq!(seen, 3);
}

pub(super) fn a_judge_sees_the_batch_in_the_record(store: &dyn Store) {
    store.append(&batch(vec![report("A", 1, 0, 5.0)]), &mut no_verdicts).unwrap();
    let mut sights = 0;
    let mut judge = |record: &dyn Reader| {
        let stations = record.directory()?.stations.len();
        let selection = Selection {
            stations: &[StationId::new("TEST", "A")],
            variables: &[Variable::AirTemperature],
            window: ClosedWindow::new(0, 9).unwrap(),
        };
        record.scan(&selection, &mut |_, slices| {
            let seen: Vec<i64> = slices.iter().flat_map(|slice| slice.ts_ms).copied().collect();
            assert_eq!((stations, seen), (2, vec![1, 2]));
            sights += 1;
        })?;
        let (station, series) = (StationId::new("TEST", "A"), temperature().id());
        let (ts_ms, quality) = (vec![1, 2], vec![Quality::GOOD; 2]);
        Ok(vec![Verdicts { station, series, ts_ms, quality }])
    };
    let receipt = store.append(&batch(vec![report("A", 2, 0, 6.0)]), &mut judge).unwrap();
    assert_eq!(receipt, Receipt { added: 1, revised: 2, ..Receipt::default() });
    assert_eq!(sights, 1);
}
