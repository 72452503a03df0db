use proptest::prelude::*;

use super::*;

fn minutes(span: std::ops::Range<i64>) -> ClosedWindow {
    ClosedWindow::new(span.start * MINUTE_MS, span.end * MINUTE_MS).unwrap()
}

fn step(minutes: i64) -> Step {
    Step::from_minutes(minutes).unwrap()
}

fn any_column() -> impl Strategy<Value = Vec<i64>> {
    // Irregular, with gaps, with readings on positions and before the start.
    prop::collection::vec(-2000..4000_i64, 0..120).prop_map(|mut minutes| {
        minutes.sort_unstable();
        minutes.dedup();
        minutes.into_iter().map(|minute| minute * MINUTE_MS).collect()
    })
}

/// The rule as it is specified, one cell at a time.
fn naive_pick(candidates: &[&[i64]], at_ms: i64, max_age_ms: i64) -> Pick {
    let newest = candidates.iter().enumerate().filter_map(|(series, ts_ms)| {
        let reading = ts_ms.iter().rposition(|&ts| ts <= at_ms)?;
        let age_ms = at_ms - ts_ms[reading];
        (age_ms <= max_age_ms).then_some((series as u32, reading as u32, age_ms))
    });
    let newest: Vec<_> = newest.collect();
    let current = newest.iter().find(|&&(_, _, age_ms)| age_ms <= CURRENT_AGE_MS);
    let chosen = current.or_else(|| newest.iter().min_by_key(|&&(series, _, age)| (age, series)));
    chosen.map_or(Pick::EMPTY, |&(series, reading, _)| Pick { series, reading })
}

#[test]
fn positions_end_with_the_end() {
    let list = |window, step| Positions::new(window, step).iter().collect::<Vec<_>>();
    let at = |minutes: &[i64]| minutes.iter().map(|minute| minute * MINUTE_MS).collect::<Vec<_>>();
    assert_eq!(list(minutes(0..30), step(10)), at(&[0, 10, 20, 30]));
    assert_eq!(list(minutes(0..31), step(10)), at(&[0, 10, 20, 30, 31]));
    assert_eq!(list(minutes(5..6), step(10)), at(&[5, 6]));
    assert_eq!(Positions::new(minutes(0..31), step(10)).len(), 5);
}

#[test]
fn a_grid_within_the_caps_is_left_alone() {
    let plan = plan_time_grid(minutes(0..60), step(10), 10, 8, Caps::default());
    assert_eq!((plan.step, plan.coarsening), (step(10), None));
    let exactly = Caps { cells: 10 * 8 * 7, positions: 7 };
    assert_eq!(plan_time_grid(minutes(0..60), step(10), 10, 8, exactly).coarsening, None);
}

#[test]
fn the_binding_cap_is_named() {
    let caps = Caps { cells: 80, positions: 5 };
    let by_positions = plan_time_grid(minutes(0..60), step(10), 1, 1, caps).coarsening.unwrap();
    assert_eq!(
        by_positions,
        Coarsening {
            requested_step: 10,
            factor: 2,
            limited_by: LimitedBy::Positions,
            cells: 4,
            positions: 4,
        }
    );
    let by_cells = plan_time_grid(minutes(0..60), step(10), 10, 2, caps).coarsening.unwrap();
    assert_eq!((by_cells.limited_by, by_cells.factor, by_cells.cells), (LimitedBy::Cells, 2, 80));
}

#[test]
fn a_grid_is_never_refused() {
    let caps = Caps { cells: 1, positions: 1 };
    let plan = plan_time_grid(minutes(0..60), step(7), 1000, 8, caps);
    assert_eq!(plan.positions.iter().collect::<Vec<_>>(), [0, 60 * MINUTE_MS]);
    assert_eq!(plan.step.minutes() % 7, 0);
}

#[test]
fn no_stations_need_no_cells() {
    let plan = plan_time_grid(minutes(0..60), step(10), 0, 8, Caps { cells: 1, positions: 100 });
    assert_eq!(plan.coarsening, None);
}

#[test]
fn a_buffer_of_another_length_is_refused() {
    let positions = Positions::new(minutes(0..30), step(10));
    assert_eq!(
        as_of(&[0], positions, &mut [0; 3]).unwrap_err().to_string(),
        "got room for 3 values; the grid has 4"
    );
    assert!(pick_series(&[], positions, None, &mut [Pick::EMPTY; 4], &mut [0; 5]).is_err());
}

#[test]
fn a_tie_between_stale_series_goes_to_the_preferred_one() {
    let positions = Positions::new(minutes(0..600), step(600));
    let (mut picks, mut scratch) = ([Pick::EMPTY; 2], [0; 2]);
    pick_series(&[&[0], &[0]], positions, None, &mut picks, &mut scratch).unwrap();
    assert_eq!(picks[1], Pick { series: 0, reading: 0 });
}

proptest! {
    #[test]
    fn the_resampler_equals_the_naive_rule(
        columns in prop::collection::vec(any_column(), 0..5),
        start in -100..1000_i64,
        span in 1..3000_i64,
        step_minutes in 1..400_i64,
        max_age in prop::option::of(1..2000_i64),
    ) {
        let positions = Positions::new(minutes(start..start + span), step(step_minutes));
        let count = positions.len() as usize;
        let candidates: Vec<&[i64]> = columns.iter().map(Vec::as_slice).collect();
        let max_age_ms = max_age.map(|minutes| minutes * MINUTE_MS);
        let (mut picks, mut scratch) = (vec![Pick::EMPTY; count], vec![0; count]);
        pick_series(&candidates, positions, max_age_ms, &mut picks, &mut scratch).unwrap();
        for (at_ms, pick) in positions.iter().zip(picks) {
            prop_assert_eq!(pick, naive_pick(&candidates, at_ms, max_age_ms.unwrap_or(i64::MAX)));
        }
    }

    #[test]
    fn coarsening_is_the_smallest_multiple_that_satisfies_the_caps(
        span in 1..20_000_i64,
        step_minutes in 1..500_i64,
        stations in 0..300_usize,
        names in 1..9_usize,
        cells in 1..5_000_u64,
        position_cap in 1..300_u64,
    ) {
        let (window, caps) = (minutes(0..span), Caps { cells, positions: position_cap });
        let plan = plan_time_grid(window, step(step_minutes), stations, names, caps);
        prop_assert_eq!(plan.step.minutes() % step_minutes, 0);
        let factor = plan.step.minutes() / step_minutes;
        prop_assert_eq!(plan.coarsening.map_or(1, |coarsening| coarsening.factor), factor);

        let fits = |factor: i64| {
            let positions = Positions::new(window, step(step_minutes * factor)).len();
            positions == 2
                || positions <= position_cap
                    && positions * stations as u64 * names as u64 <= cells
        };
        prop_assert!(fits(factor));
        prop_assert!(factor == 1 || !fits(factor - 1));
    }

    #[test]
    fn positions_are_as_many_as_they_say(
        start in any::<i32>(),
        span_ms in 1..10_000_000_i64,
        step_minutes in 1..100_i64,
    ) {
        let start = i64::from(start);
        let window = ClosedWindow::new(start, start + span_ms).unwrap();
        let positions = Positions::new(window, step(step_minutes));
        let list: Vec<_> = positions.iter().collect();
        prop_assert_eq!(list.len() as u64, positions.len());
        prop_assert_eq!((list[0], list[list.len() - 1]), (start, start + span_ms));
        prop_assert!(list.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
