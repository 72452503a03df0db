use proptest::prelude::*;

use super::*;

/// A row of a run in memory.
fn run_of(ts_ms: &[i64]) -> SortedRun {
    let len = ts_ms.len();
    let row = RunRow {
        series: SeriesId(1),
        slot: 0,
        columns: 0,
        start: 0,
        len: len as u32,
        source: NONE,
        revision: NONE,
        qualifier: NONE,
        text: NONE,
    };
    let columns = RunColumns {
        ts_ms: ts_ms.to_vec().into(),
        value: ts_ms.iter().map(|&ts_ms| ts_ms as f64).collect::<Vec<_>>().into(),
        quality: vec![0; len].into(),
        source: Vec::new().into(),
        revision: Vec::new().into(),
        qualifier: Vec::new().into(),
        text: Arc::default(),
    };
    let stations = vec![(StationId::new("TEST", "A"), 0)];
    SortedRun::new(stations, vec![row], vec![columns], (ts_ms[0], ts_ms[len - 1]), None)
}

proptest! {
    #[test]
    fn a_guess_of_the_place_does_not_change_what_is_found(
        times in prop::collection::btree_set(-30_i64..30, 1..20),
        (from, to) in (-35_i64..35, -35_i64..35),
        near in (0_usize..25, 0_usize..25),
    ) {
        let times: Vec<i64> = times.into_iter().collect();
        let run = run_of(&times);
        let expected: Vec<i64> =
            times.iter().copied().filter(|&ts_ms| from <= ts_ms && ts_ms <= to).collect();
        let mut range = near.0..near.1;
        let part = run.whole_part(&run.rows[0], (from, to), &mut range).unwrap();
        prop_assert_eq!(part.ts_ms, &expected[..]);
        // What was found is a right guess for the next row.
        let again = run.whole_part(&run.rows[0], (from, to), &mut range).unwrap();
        prop_assert_eq!(again.ts_ms, &expected[..]);
        let last = run.whole_last(&run.rows[0], (from, to), &mut (near.0..near.1)).unwrap();
        prop_assert_eq!(last.ts_ms.last(), expected.last());
        prop_assert_eq!(last.value.last().copied(), expected.last().map(|&ts_ms| ts_ms as f64));
        prop_assert!(last.len() <= 1);
    }
}
