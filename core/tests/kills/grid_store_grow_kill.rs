//! Runs that grow stay whole, whenever the process that writes them is killed.
//!
//! A child process publishes levels one by one, and lets its runs grow meanwhile: by an hour between
//! others, a level between others, a product, and a wider packing, for which files that are
//! published are written again. It is killed (SIGKILL) at random moments, repeatedly on the same
//! folder. After each kill every plane that the store shows is either missing as a whole or holds
//! the expected values; everything reported as published is there; nothing is damaged. The next
//! process goes on.
//!
//! `MESONET_KILLS` sets the minimum number of kills; the default is 40.

use std::path::Path;
use std::time::Duration;

use mesonet::grid::{Encoding, GridProjection, LatLonGlobe};
use mesonet::model::{LevelValues, ProductDefinition, RunDefinition, RunStamp};
use mesonet::time::HOUR_MS;
use mesonet::{grid, model};

use crate::kill::{Kills, Test, chance, run_until_killed};

const MODEL: &str = "killed";

/// 2026-07-01T00:00:00Z.
const START_MS: i64 = 1_782_864_000_000;
const ROWS: usize = 40;
const COLUMNS: usize = 50;
const KEPT: usize = 2;

/// Planes: an hour after the start, a product, a level.
type Planes = &'static [(i64, &'static str, f64)];

/// What is published together, and how far the run has grown for it.
const STEPS: [(usize, Planes); 7] = [
    (0, &[(0, "t2", 0.0), (0, "t", 1000.0)]),
    (0, &[(0, "t", 500.0)]),
    (1, &[(1, "t2", 0.0), (2, "t", 1000.0)]),
    (2, &[(0, "t", 850.0)]),
    (2, &[(1, "t", 850.0)]),
    (3, &[(0, "rain", 0.0), (2, "t2", 0.0)]),
    (3, &[(1, "t", 1000.0), (2, "t", 850.0)]),
];

fn stamp(number: u64) -> RunStamp {
    RunStamp::from_ms(START_MS + number as i64 * 6 * HOUR_MS).unwrap()
}

fn number(run: RunStamp) -> u64 {
    ((run.start_ms() - START_MS) / (6 * HOUR_MS)) as u64
}

fn definition(number: u64, grown: usize) -> RunDefinition {
    let run = stamp(number);
    let product = |name: &str, levels_hpa: Option<&[f64]>, scale| ProductDefinition {
        name: name.to_owned(),
        unit: "K".to_owned(),
        levels_hpa: levels_hpa.map(<[f64]>::to_vec),
        member: None,
        attributes: std::collections::BTreeMap::new(),
        encoding: Encoding::new(scale, 100.0, i16::MIN).unwrap(),
    };
    let hours: &[i64] = if grown < 1 { &[0, 2] } else { &[0, 1, 2] };
    let levels_hpa: &[f64] = if grown < 2 { &[1000.0, 500.0] } else { &[1000.0, 850.0, 500.0] };
    let mut products = vec![
        product("t2", None, if grown < 3 { 0.5 } else { 1.0 }),
        product("t", Some(levels_hpa), 0.5),
    ];
    if grown >= 3 {
        products.insert(0, product("rain", None, 0.5));
    }
    RunDefinition {
        model: MODEL.to_owned(),
        run,
        grid: grid::Definition {
            rows: ROWS,
            columns: COLUMNS,
            projection: GridProjection::Globe(LatLonGlobe::LatLon),
            first_lon: -100.0,
            first_lat: 30.0,
            column_step: 0.5,
            row_step: 0.5,
            grid_relative_winds: false,
        },
        valid_ms: hours.iter().map(|hour| run.start_ms() + hour * HOUR_MS).collect(),
        products,
    }
}

/// Returns values that identify their run, hour, product and level: whole numbers, so that all
/// packings hold them.
fn values(number: u64, hour: i64, product: &str, hpa: f64) -> Vec<f64> {
    let product = product.bytes().map(u64::from).sum::<u64>();
    let shift = chance(number * 1_000_003 + hour as u64 * 7919 + product * 31 + hpa as u64) % 9_000;
    (0..ROWS * COLUMNS).map(|cell| ((cell as u64 * 7 + shift) % 10_000) as f64).collect()
}

/// The index of a level of a product.
fn level_of(definition: &RunDefinition, product: &str, hpa: f64) -> Option<usize> {
    let product = definition.products.iter().find(|own| own.name == product)?;
    match &product.levels_hpa {
        None => Some(0),
        Some(levels_hpa) => levels_hpa.iter().position(|level| *level == hpa),
    }
}

fn hour_of(definition: &RunDefinition, hour: i64) -> Option<usize> {
    let valid_ms = definition.run.start_ms() + hour * HOUR_MS;
    definition.valid_ms.binary_search(&valid_ms).ok()
}

/// How far a run has grown.
fn grown(store: &model::RunStore, number: u64) -> usize {
    let Ok(run) = store.run(MODEL, stamp(number)) else { return 0 };
    (0..4).find(|grown| definition(number, *grown) == *run.definition()).unwrap()
}

/// Writes runs until it is killed.
fn child(first: u64, folder: &Path) {
    let store = model::RunStore::new(folder);
    store.remove_unfinished().unwrap();
    for number in first.. {
        for (index, (needed, planes)) in STEPS.into_iter().enumerate() {
            let before = grown(&store, number);
            let definition = definition(number, needed.max(before));
            println!("{} {number} {index}", if needed > before { "grow" } else { "begin" });
            let mut writer = store.write_run(definition.clone()).unwrap();
            let mut hours = Vec::new();
            for &(hour, product, hpa) in planes {
                let hour_index = hour_of(&definition, hour).unwrap();
                let level = level_of(&definition, product, hpa).unwrap();
                if !writer.missing_levels(hour_index, product).contains(&level) {
                    continue;
                }
                let own = definition.products.iter().find(|own| own.name == product).unwrap();
                let values = values(number, hour, product, hpa);
                let raw: Vec<i16> =
                    values.iter().map(|value| own.encoding.encode(*value)).collect();
                let mut levels = vec![None; own.levels()];
                levels[level] = Some(LevelValues::Each(&raw));
                writer.add_levels(hour_index, product, &levels).unwrap();
                hours.push(hour_index);
            }
            println!("written {number} {index}");
            if !hours.is_empty() {
                writer.publish(&hours, START_MS).unwrap();
            }
            println!("published {number} {index}");
        }
        store.keep_newest(MODEL, KEPT).unwrap();
    }
}

/// Returns the last step that a process reported as published, with its run.
fn last_published(said: &str) -> Option<(u64, usize)> {
    let (_, last) = said.lines().filter_map(|line| line.split_once("published ")).next_back()?;
    let (number, step) = last.split_once(' ').unwrap();
    Some((number.parse().unwrap(), step.parse().unwrap()))
}

/// Compares every plane of a run with what it should hold, and returns how many are there.
fn check(run: &model::Run, number: u64) -> usize {
    assert_eq!(run.verify(), []);
    let (definition, mut there) = (run.definition(), 0);
    for hour in [0, 1, 2] {
        let Some(index) = hour_of(definition, hour).filter(|hour| run.is_published(*hour)) else {
            continue;
        };
        for product in &definition.products {
            let read = run.product(&product.name).unwrap();
            for level in 0..product.levels() {
                let mut raw = vec![0; ROWS * COLUMNS];
                read.part_into(index, level, 0..ROWS, 0..COLUMNS, &mut raw).unwrap();
                if raw.iter().all(|raw| *raw == i16::MIN) {
                    continue;
                }
                let hpa = product.levels_hpa.as_ref().map_or(0.0, |levels| levels[level]);
                let values = values(number, hour, &product.name, hpa);
                let got = raw.iter().map(|raw| product.encoding.decode(*raw));
                assert!(got.eq(values), "{number}: {hour} {} {hpa}", product.name);
                there += 1;
            }
        }
    }
    there
}

fn a_run_that_grows_is_whole_after_a_kill_at_any_moment() {
    let kills = Kills::new(40);
    let folder = tempfile::tempdir().unwrap();
    let store = model::RunStore::new(folder.path());
    let (mut first, mut planes, mut unfinished, mut gone_on) = (0, 0, 0, 0);
    let mut kill = 0;
    while kills.go_on(kill, &[("while a run grew", unfinished), ("within a run", gone_on)]) {
        // Most of the time goes into what is written; a run grows in a moment.
        let (sign, longest_us) =
            [("written", 5_000), ("published", 5_000), ("grow", 3_000)][kill as usize % 3];
        let delay = Duration::from_micros(chance(kill) % longest_us);
        // Not only of the first step.
        let signs = vec![sign; 1 + (chance(kill + 7) % 3) as usize];
        let said = run_until_killed(&TEST, first, folder.path(), &signs, delay);
        kill += 1;
        for run in store.runs(MODEL).unwrap() {
            let run = store.run(MODEL, run).unwrap();
            let number = number(run.definition().run);
            planes += check(&run, number);
            let found = store.check_run(MODEL, run.definition().run).unwrap();
            assert_eq!(found.faults, [], "kill {kill}");
            let document = folder.path().join(MODEL).join(run.definition().run.to_string());
            let document = std::fs::read_to_string(document.join("zarr.json")).unwrap();
            unfinished += usize::from(document.contains("\"growing\": true"));
        }
        if let Some((number, step)) = last_published(&said) {
            let run = store.run(MODEL, stamp(number)).unwrap();
            for (_, planes) in &STEPS[..=step] {
                for &(hour, product, hpa) in *planes {
                    let hour = hour_of(run.definition(), hour).unwrap();
                    let level = level_of(run.definition(), product, hpa).unwrap();
                    let value = run.product(product).unwrap().value(hour, level, 3, 3).unwrap();
                    assert!(value.is_some(), "kill {kill}: {hour} {product} {hpa} is gone");
                }
            }
        }
        let Some(&newest) = store.runs(MODEL).unwrap().first() else { continue };
        gone_on += usize::from(first == number(newest));
        first = number(newest);
    }
    println!(
        "{kill} kills up to run {first}; {planes} planes were read and right; {unfinished} times files \
         were yet to be written again, {gone_on} times a run was gone on with"
    );
}

pub const TEST: Test = Test {
    name: "a_run_that_grows_is_whole_after_a_kill_at_any_moment",
    test: a_run_that_grows_is_whole_after_a_kill_at_any_moment,
    child,
};
