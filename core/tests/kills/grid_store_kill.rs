//! Published hours are complete and stay, whenever the process that writes them is killed.
//!
//! A child process writes runs, publishes their hours one by one and in pairs, removes the old
//! runs, and reports what it did; it is killed (SIGKILL) at random moments, repeatedly on the same
//! folder. After each kill every hour that the store shows is compared value by value with the
//! expected one; everything reported as published is there; of a pair either both hours are there
//! or neither. The next process continues the run where it stopped.
//!
//! `MESONET_KILLS` sets the minimum number of kills; the default is 100. The test continues until
//! enough kills have hit each of the moments between writing, publication and removal.

use std::path::Path;
use std::time::Duration;

use mesonet::grid::{Encoding, GridProjection, LatLonGlobe};
use mesonet::model::{ProductDefinition, RunDefinition, RunStamp};
use mesonet::time::HOUR_MS;
use mesonet::{grid, model};

use crate::kill::{Kills, Test, chance, run_until_killed};

const MODEL: &str = "killed";

/// 2026-07-01T00:00:00Z.
const START_MS: i64 = 1_782_864_000_000;
const HOURS: usize = 6;
const ROWS: usize = 40;
const COLUMNS: usize = 50;
/// Products and their levels.
const PRODUCTS: [(&str, usize); 3] = [("t2", 1), ("t", 3), ("rain", 1)];
/// The runs that are kept.
const KEPT: usize = 2;
const NODATA: i16 = i16::MIN;

/// The hours that are published together.
const STEPS: [&[usize]; 4] = [&[0], &[1, 2], &[3], &[4, 5]];

fn stamp(number: u64) -> RunStamp {
    RunStamp::from_ms(START_MS + number as i64 * 6 * HOUR_MS).unwrap()
}

fn number(run: RunStamp) -> u64 {
    ((run.start_ms() - START_MS) / (6 * HOUR_MS)) as u64
}

fn definition(number: u64) -> RunDefinition {
    let run = stamp(number);
    let product = |(name, levels): (&str, usize)| ProductDefinition {
        name: name.to_owned(),
        unit: "K".to_owned(),
        levels_hpa: (levels > 1)
            .then(|| (0..levels).map(|level| 1000.0 - 150.0 * level as f64).collect()),
        member: None,
        attributes: std::collections::BTreeMap::new(),
        encoding: Encoding::new(0.5, 100.0, NODATA).unwrap(),
    };
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
        valid_ms: (0..HOURS).map(|hour| START_MS + hour as i64 * HOUR_MS).collect(),
        products: PRODUCTS.map(product).into(),
    }
}

/// The first hour has no rain.
fn is_absent(hour: usize, product: &str) -> bool {
    hour == 0 && product == "rain"
}

/// Returns values that identify their run, hour, product and level, with holes.
fn values(number: u64, hour: usize, product: usize) -> Vec<i16> {
    let (_, levels) = PRODUCTS[product];
    let field = (number * HOURS as u64 + hour as u64) * 8 + product as u64;
    let shift = chance(field) % 20_000;
    let of_cell = |cell: usize| match (cell as u64 + shift) % 13 {
        0 => NODATA,
        _ => ((cell as u64 * 7 + shift) % 60_000) as i16,
    };
    (0..levels * ROWS * COLUMNS).map(of_cell).collect()
}

/// Writes runs until it is killed.
fn child(first: u64, folder: &Path) {
    let store = model::RunStore::new(folder);
    for number in first.. {
        let mut writer = store.write_run(definition(number)).unwrap();
        for step in STEPS {
            if writer.published().iter().any(|published| published.hour == step[0]) {
                continue;
            }
            for &hour in step {
                for (product, (name, _)) in PRODUCTS.into_iter().enumerate() {
                    if !is_absent(hour, name) {
                        writer.write(hour, name, &values(number, hour, product)).unwrap();
                    }
                }
            }
            println!("written {number} {}", step[0]);
            writer.publish(step, START_MS).unwrap();
            println!("published {number} {}", step[step.len() - 1]);
        }
        store.keep_newest(MODEL, KEPT).unwrap();
        println!("removed {number}");
    }
}

/// Returns the last hour that a process reported as published, with its run.
type Said = Option<(u64, usize)>;

fn last_published(said: &str) -> Said {
    let (_, last) = said.lines().filter_map(|line| line.split_once("published ")).next_back()?;
    let (number, hour) = last.split_once(' ').unwrap();
    Some((number.parse().unwrap(), hour.parse().unwrap()))
}

/// Compares everything that a run shows with the expected values.
fn check(run: &model::Run, number: u64) {
    assert_eq!(*run.definition(), definition(number));
    assert_eq!(run.verify(), []);
    for step in STEPS {
        let together = step.iter().filter(|hour| run.is_published(**hour)).count();
        assert!(together == 0 || together == step.len(), "half of {step:?} is published");
    }
    let mut plane = vec![0; ROWS * COLUMNS];
    for published in run.published() {
        let hour = published.hour;
        for (product, (name, levels)) in PRODUCTS.into_iter().enumerate() {
            assert_eq!(published.absent.iter().any(|absent| absent == name), is_absent(hour, name));
            let wanted = values(number, hour, product);
            for level in 0..levels {
                let read = run.product(name).unwrap();
                read.part_into(hour, level, 0..ROWS, 0..COLUMNS, &mut plane).unwrap();
                if is_absent(hour, name) {
                    assert!(plane.iter().all(|&value| value == NODATA));
                } else {
                    assert!(plane == wanted[level * ROWS * COLUMNS..][..ROWS * COLUMNS]);
                }
            }
        }
    }
}

/// Returns what is in the folder of the model other than runs and their locks.
fn leftovers(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder.join(MODEL)) else { return Vec::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let unfinished =
        |name: &String| name.starts_with('.') && name.split('.').next_back() != Some("lock");
    names.filter(unfinished).collect()
}

fn what_is_published_is_whole_and_survives_a_kill_at_any_moment() {
    let kills = Kills::new(100);
    let folder = tempfile::tempdir().unwrap();
    let store = model::RunStore::new(folder.path());
    let (mut first, mut hours, mut unsaid, mut gone_on, mut swept) = (0, 0, 0, 0, 0);
    let mut kill = 0;
    while kills.go_on(
        kill,
        &[
            ("after publication", unsaid),
            ("within a run", gone_on),
            ("in unfinished writing or removal", swept),
        ],
    ) {
        let sign = ["written", "published", "removed"][kill as usize % 3];
        let delay = Duration::from_micros(chance(kill) % 20_000);
        let before = leftovers(folder.path());
        let said = last_published(&run_until_killed(&TEST, first, folder.path(), &[sign], delay));
        kill += 1;

        // One that was being made or removed now; older remains go with the next removal.
        let left = leftovers(folder.path());
        assert!(left.len() <= before.len() + 1, "kill {kill}: {left:?} after {before:?}");
        swept += before.iter().filter(|name| !left.contains(name)).count();
        let runs = store.runs(MODEL).unwrap();
        assert!(runs.len() <= KEPT + 1, "kill {kill}: {runs:?}");
        for run in &runs {
            let run = store.run(MODEL, *run).unwrap();
            check(&run, number(run.definition().run));
            hours += run.published().len();
        }
        if let Some((number, hour)) = said {
            let run = store.run(MODEL, stamp(number)).unwrap();
            assert!(run.is_published(hour), "kill {kill}: hour {hour} of run {number} is gone");
        }
        // The first one shown is the latest.
        let Some(&newest) = runs.first() else { continue };
        first = number(newest);
        let shown = store.run(MODEL, newest).unwrap();
        let last = shown.published().last().map(|last| (first, last.hour));
        unsaid += usize::from(last > said);
        gone_on += usize::from(!shown.is_complete());
    }
    println!(
        "{kill} kills up to run {first}; {hours} hours were read and right; {unsaid} times more was \
         published than was said, {gone_on} times a run was gone on with, {swept} folders of \
         unfinished work were cleared away"
    );
}

pub const TEST: Test = Test {
    name: "what_is_published_is_whole_and_survives_a_kill_at_any_moment",
    test: what_is_published_is_whole_and_survives_a_kill_at_any_moment,
    child,
};
