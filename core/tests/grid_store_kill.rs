//! Hours that are published are whole and stay, whenever the process that writes them is killed.
//!
//! A process of its own writes runs, publishes their hours one by one and in pairs, removes the old
//! runs, and says so; it is killed (SIGKILL) at a moment of chance, again and again on the same
//! folder. After each kill every hour that the store shows is held value by value against the one
//! that was to be written; what was said to be published is there; of a pair there are both hours or
//! none. The next process goes on with the run where it stood.
//!
//! `MESONET_KILLS` sets how often; the default is 100.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mesonet::{
    Encoding, GridDefinition, GridProjection, GridRun, GridStore, HOUR_MS, LatLonGlobe,
    ProductDefinition, RunDefinition, RunStamp,
};

/// Where the process that is killed finds its folder.
const CHILD: &str = "MESONET_GRID_KILL_CHILD";
const MODEL: &str = "killed";

/// 2026-07-01T00:00:00Z.
const START_MS: i64 = 1_782_864_000_000;
const HOURS: usize = 6;
const ROWS: usize = 40;
const COLUMNS: usize = 50;
/// Products and their levels.
const PRODUCTS: [(&str, usize); 3] = [("t2", 1), ("t", 3), ("rain", 1)];
/// Runs that stay.
const KEPT: usize = 2;
const NODATA: i16 = i16::MIN;

/// Hours that are published together.
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
        encoding: Encoding::new(0.5, 100.0, NODATA).unwrap(),
    };
    RunDefinition {
        model: MODEL.to_owned(),
        run,
        grid: GridDefinition {
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

/// A number that looks like chance, of a seed (SplitMix64).
fn chance(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Values that tell their run, hour, product and level, with holes.
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

/// Writes runs until it is killed. Not a test of its own: the one below starts it.
#[test]
#[ignore = "is started by the test that kills it"]
fn child() {
    let Ok(call) = std::env::var(CHILD) else { return };
    let (first, folder) = call.split_once(' ').unwrap();
    let store = GridStore::new(folder);
    for number in first.parse::<u64>().unwrap().. {
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

/// The last hour that a process said to be published, with its run.
type Said = Option<(u64, usize)>;

/// Starts the process, kills it a moment after a sign, and tells what it said to be published.
fn run_until_killed(folder: &Path, first: u64, sign: &str, delay: Duration) -> Said {
    let mut child: Child = Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(CHILD, format!("{first} {}", folder.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = None;
    let mut note = |line: &str| {
        if let Some((_, published)) = line.split_once("published ") {
            let (number, hour) = published.split_once(' ').unwrap();
            said = Some((number.parse().unwrap(), hour.parse().unwrap()));
        }
    };
    loop {
        let Some(line) = lines.next() else {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("the process ended by itself: {said}");
        };
        let line = line.unwrap();
        note(&line);
        if line.contains(sign) {
            break;
        }
    }
    // What it writes meanwhile is in the pipe, which holds more than it can write in that time.
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
    lines.for_each(|line| note(&line.unwrap()));
    said
}

/// Holds all that a run shows against what was to be written.
fn check(run: &GridRun, number: u64) {
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

/// What lies in the folder of the model and is no run, and no lock of one.
fn leftovers(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder.join(MODEL)) else { return Vec::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let unfinished =
        |name: &String| name.starts_with('.') && name.split('.').next_back() != Some("lock");
    names.filter(unfinished).collect()
}

#[test]
fn what_is_published_is_whole_and_survives_a_kill_at_any_moment() {
    let kills = std::env::var("MESONET_KILLS").map_or(100, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let store = GridStore::new(folder.path());
    let (mut first, mut hours, mut unsaid, mut gone_on, mut swept) = (0, 0, 0, 0, 0);
    for kill in 0..kills {
        let sign = ["written", "published", "removed"][kill as usize % 3];
        let delay = Duration::from_micros(chance(kill) % 20_000);
        let before = leftovers(folder.path());
        let said = run_until_killed(folder.path(), first, sign, delay);

        // One that was being made or removed now; what lay there before goes with the next removal.
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
        // The first that is shown is the latest.
        let Some(&newest) = runs.first() else { continue };
        first = number(newest);
        let shown = store.run(MODEL, newest).unwrap();
        let last = shown.published().last().map(|last| (first, last.hour));
        unsaid += usize::from(last > said);
        gone_on += usize::from(!shown.is_complete());
    }
    println!(
        "{kills} kills up to run {first}; {hours} hours were read and right; {unsaid} times more was \
         published than was said, {gone_on} times a run was gone on with, {swept} folders of \
         unfinished work were cleared away"
    );
    assert!(
        kills < 100 || (unsaid > 0 && gone_on > 0 && swept > 0),
        "no kill fell into publication"
    );
}
