//! The vectors of the time grid.

use mesonet::access::{Plan, check_lookback};
use mesonet::query::{
    Caps, GridCells, NO_READING, Pick, Positions, Ragged, pick_series, plan_time_grid, resample,
};
use mesonet::{ClosedWindow, Step};
use serde_json::{Value, json};

use super::{all, assert_count, list, number, text, vectors};

fn whole(of: &Value, key: &str) -> i64 {
    of[key].as_i64().unwrap_or_else(|| panic!("{key} is not a whole number in {of}"))
}

fn integers(of: &Value, key: &str) -> Vec<i64> {
    all(of, key, |one| one.as_i64().unwrap())
}

fn window(case: &Value) -> ClosedWindow {
    ClosedWindow::new(whole(case, "start_ms"), whole(case, "end_ms")).unwrap()
}

fn step(case: &Value) -> Step {
    Step::from_minutes(whole(case, "step")).unwrap()
}

fn positions(case: &Value) -> Positions {
    Positions::new(window(case), step(case))
}

fn plan(case: &Value) {
    let caps = integers(case, "caps");
    let caps = Caps { cells: caps[0] as u64, positions: caps[1] as u64 };
    let (stations, names) = (whole(case, "stations") as usize, whole(case, "names") as usize);
    let plan = plan_time_grid(window(case), step(case), stations, names, caps);
    assert_eq!(plan.step.minutes(), whole(case, "used"), "{case}");
    assert_eq!(plan.positions.len() as i64, whole(case, "positions"), "{case}");
    assert_eq!(json!(plan.coarsening), case["coarsening"], "{case}");
}

fn resampled(case: &Value) {
    let (ts_ms, offsets) = (integers(case, "ts_ms"), integers(case, "offsets"));
    let value = all(case, "values", number);
    let series = Ragged::new(&ts_ms, &value, &offsets).unwrap();
    let room = series.len() * positions(case).len() as usize;
    let (mut filled, mut age_ms, mut reading) = (vec![0.0; room], vec![0; room], vec![0; room]);
    let mut cells = GridCells { value: &mut filled, age_ms: &mut age_ms, reading: &mut reading };
    resample(&series, positions(case), case["max_age_ms"].as_i64(), &mut cells).unwrap();
    assert_eq!(reading, integers(case, "reading"), "{case}");
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&filled), bits(&all(case, "filled", number)), "{case}");
    for (at, wanted) in list(case, "age_ms").iter().enumerate() {
        assert_eq!((reading[at] >= 0).then_some(age_ms[at]), wanted.as_i64(), "{case}");
    }
}

fn picked(case: &Value) {
    let candidates: Vec<Vec<i64>> = list(case, "candidates")
        .iter()
        .map(|times| times.as_array().unwrap().iter().map(|ms| ms.as_i64().unwrap()).collect())
        .collect();
    let candidates: Vec<&[i64]> = candidates.iter().map(Vec::as_slice).collect();
    let room = positions(case).len() as usize;
    let (mut picks, mut scratch) = (vec![Pick::EMPTY; room], vec![0; room]);
    let max_age_ms = case["max_age_ms"].as_i64();
    pick_series(&candidates, positions(case), max_age_ms, &mut picks, &mut scratch).unwrap();
    let pick_summary = |pick: &Pick| match pick.reading {
        NO_READING => (-1, -1),
        reading => (i64::from(pick.series), i64::from(reading)),
    };
    let (series, reading): (Vec<i64>, Vec<i64>) = picks.iter().map(pick_summary).unzip();
    assert_eq!(series, integers(case, "series"), "{case}");
    assert_eq!(reading, integers(case, "reading"), "{case}");
}

fn lookback(case: &Value) {
    let plan: Plan = text(case, "plan").parse().unwrap();
    let refused = check_lookback(window(case), whole(case, "now_ms"), plan).err();
    let refused = refused.map(|error| error.to_string());
    assert_eq!(refused.as_deref(), case["refused"].as_str(), "{case}");
}

fn refused(case: &Value) {
    let (ts_ms, offsets) = (integers(case, "ts_ms"), integers(case, "offsets"));
    let value = all(case, "values", number);
    let error = Ragged::new(&ts_ms, &value, &offsets).unwrap_err();
    assert_eq!(error.to_string(), text(case, "message"), "{case}");
}

/// Holds the cases of a section to the library.
type Section = fn(&Value);

#[test]
fn time_grid() {
    let file = vectors("time_grid.json");
    let mut ran = 0;
    let sections: [(&str, Section); 5] = [
        ("plan", plan),
        ("resample", resampled),
        ("pick", picked),
        ("lookback", lookback),
        ("refused", refused),
    ];
    for (section, check) in sections {
        list(&file, section).iter().for_each(check);
        ran += list(&file, section).len();
    }
    assert_count(ran, &file);
}
