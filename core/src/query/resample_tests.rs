use proptest::prelude::*;

use super::*;
use crate::time::{ClosedWindow, MINUTE_MS, Step};

#[test]
fn what_is_not_ragged_is_refused_by_name() {
    let refused = |ts_ms: &[i64], value: &[f64], offsets: &[i64]| {
        Ragged::new(ts_ms, value, offsets).unwrap_err().to_string()
    };
    assert_eq!(refused(&[0], &[], &[0, 1]), "lengths must match: got 1 for times, 0 for values");
    assert!(refused(&[], &[], &[]).starts_with("offsets must hold at least the 0"));
    for (offsets, index, got) in [
        (&[1, 2][..], 0, 1),
        (&[0, 2, 1, 2], 2, 1),
        (&[0, 1], 1, 1),
        (&[0, 3], 1, 3),
        (&[-1], 0, -1),
    ] {
        let error = Ragged::new(&[0, 1], &[0.0, 0.0], offsets).unwrap_err();
        assert_eq!(error, RaggedError::Offsets { index, got, readings: 2 }, "{offsets:?}");
    }
    let error = Ragged::new(&[9, 0, 1, 0], &[0.0; 4], &[0, 1, 4]).unwrap_err();
    assert_eq!(error, RaggedError::Order { series: 1, reading: 2 });
}

#[test]
fn cells_of_another_number_are_refused_and_not_written() {
    let window = ClosedWindow::new(0, 2 * MINUTE_MS).unwrap();
    let positions = Positions::new(window, Step::from_minutes(1).unwrap());
    let series = Ragged::new(&[0], &[1.0], &[0, 1]).unwrap();
    let (mut value, mut age_ms, mut reading) = ([7.0; 3], [7; 3], [7; 2]);
    let mut cells = GridCells { value: &mut value, age_ms: &mut age_ms, reading: &mut reading };
    assert!(resample(&series, positions, None, &mut cells).is_err());
    assert_eq!((value, age_ms, reading), ([7.0; 3], [7; 3], [7; 2]));
}

proptest! {
    /// Against a plain walk through all readings for each cell.
    #[test]
    fn each_cell_has_the_latest_reading_that_is_not_too_old(
        series in prop::collection::vec(prop::collection::vec(-50_i64..50, 0..20), 0..6),
        (start, span, step) in (-40_i64..40, 1_i64..60, 1_i64..20),
        max_age_ms in prop::option::of(0_i64..30 * MINUTE_MS),
    ) {
        let (mut ts_ms, mut offsets) = (Vec::new(), vec![0]);
        for mut of in series {
            of.sort_unstable();
            ts_ms.extend(of.into_iter().map(|minute| minute * MINUTE_MS));
            offsets.push(ts_ms.len() as i64);
        }
        let values: Vec<f64> = (0..ts_ms.len()).map(|index| index as f64).collect();
        let window = ClosedWindow::new(start * MINUTE_MS, (start + span) * MINUTE_MS).unwrap();
        let positions = Positions::new(window, Step::from_minutes(step).unwrap());
        let ragged = Ragged::new(&ts_ms, &values, &offsets).unwrap();
        let room = ragged.len() * positions.len() as usize;
        let (mut value, mut age_ms, mut reading) = (vec![0.0; room], vec![0; room], vec![0; room]);
        let mut cells = GridCells { value: &mut value, age_ms: &mut age_ms, reading: &mut reading };
        resample(&ragged, positions, max_age_ms, &mut cells).unwrap();
        let mut at = 0;
        for pair in offsets.windows(2) {
            for at_ms in positions.iter() {
                let latest = (pair[0] as usize..pair[1] as usize).rfind(|&i| ts_ms[i] <= at_ms);
                let kept = latest.filter(|&i| max_age_ms.is_none_or(|most| at_ms - ts_ms[i] <= most));
                if let Some(i) = kept {
                    let cell = (value[at], age_ms[at], reading[at]);
                    prop_assert_eq!(cell, (values[i], at_ms - ts_ms[i], i as i64));
                } else {
                    prop_assert!(value[at].is_nan());
                    prop_assert_eq!((age_ms[at], reading[at]), (GridCells::NO_AGE, -1));
                }
                at += 1;
            }
        }
        prop_assert_eq!(at, room);
    }
}
