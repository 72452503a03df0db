use proptest::prelude::*;

use super::*;
use crate::query::Positions;
use crate::time::{ClosedWindow, DAY_MS, MINUTE_MS, Step};

fn walked(ts_ms: &[i64], positions: Positions) -> Vec<usize> {
    let mut walk = positions.walk(ts_ms);
    positions.iter().map(|at_ms| walk.to(at_ms)).collect()
}

fn counted(ts_ms: &[i64], positions: Positions) -> Vec<usize> {
    let upto = |at_ms| ts_ms.iter().filter(|&&ts_ms| ts_ms <= at_ms).count();
    positions.iter().map(upto).collect()
}

#[test]
fn instants_at_both_ends_of_time_are_counted() {
    let hour = Positions::new(
        ClosedWindow::new(0, 60 * MINUTE_MS).unwrap(),
        Step::from_minutes(20).unwrap(),
    );
    let mut ts_ms = vec![i64::MIN; 9];
    ts_ms.extend([i64::MIN + 1, -1, 0, 1, 20 * MINUTE_MS, 60 * MINUTE_MS, 60 * MINUTE_MS + 1]);
    ts_ms.extend([i64::MAX; 9]);
    assert!(matches!(hour.walk(&ts_ms).stride, Stride::Search));
    assert_eq!(walked(&ts_ms, hour), [12, 14, 14, 15]);
}

proptest! {
    /// Few and many instants for a position, on it and beside it, bursts and gaps.
    #[test]
    fn each_position_has_passed_what_is_at_or_before_it(
        mut ts_ms in prop::collection::vec(
            prop_oneof![-5_i64..300, Just(60), Just(61)].prop_map(|minute| minute * MINUTE_MS),
            0..600,
        ),
        beside_ms in -1_i64..=1,
        (span, step) in (1_i64..240, 1_i64..90),
    ) {
        for ts_ms in &mut ts_ms {
            *ts_ms += beside_ms;
        }
        ts_ms.sort_unstable();
        let window = ClosedWindow::new(0, span * MINUTE_MS).unwrap();
        let positions = Positions::new(window, Step::from_minutes(step).unwrap());
        prop_assert_eq!(walked(&ts_ms, positions), counted(&ts_ms, positions));
    }

    /// A long series in which a position passes more instants than the blocks hold.
    #[test]
    fn what_is_farther_than_the_blocks_is_found(gap in 1_i64..200, days in 1_i64..20) {
        let ts_ms: Vec<i64> = (0..2_000).map(|index| index * gap * MINUTE_MS).collect();
        let window = ClosedWindow::new(-DAY_MS, days * DAY_MS).unwrap();
        let positions = Positions::new(window, Step::from_minutes(720).unwrap());
        prop_assert_eq!(walked(&ts_ms, positions), counted(&ts_ms, positions));
    }
}
