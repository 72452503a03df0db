//! A run of an earlier layout keeps every value, whenever the process that writes it again is killed.
//!
//! A child process gives a run of version 3 the present layout. It is killed (SIGKILL) at a random
//! moment; whatever was written again by then, the run is whole and shows the same integers, and the
//! next process goes on. Once it is done, the run of version 3 is put back.
//!
//! `MESONET_KILLS` sets the minimum number of kills; the default is 40.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use mesonet::model::{Run, RunStore};

use crate::kill::{Kills, Test, chance, run_until_killed};

const VERSION_3: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/version_3");
const MODEL: &str = "nam211";

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let from = entry.unwrap().path();
        let to = to.join(from.file_name().unwrap());
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::write(to, fs::read(from).unwrap()).unwrap();
        }
    }
}

/// Returns the integers of all levels that a run has.
fn integers(run: &Run) -> Vec<Vec<i16>> {
    assert_eq!(run.verify(), []);
    let grid = run.definition().grid;
    let mut all = Vec::new();
    for product in &run.definition().products {
        for (hour, level) in (0..2).flat_map(|hour| (0..product.levels()).map(move |of| (hour, of)))
        {
            if run.is_published(hour) {
                let mut raw = vec![0; grid.rows * grid.columns];
                let of = run.product(&product.name).unwrap();
                of.part_into(hour, level, 0..grid.rows, 0..grid.columns, &mut raw).unwrap();
                all.push(raw);
            }
        }
    }
    all
}

/// Writes the runs again and waits to be killed.
fn child(_first: u64, folder: &Path) {
    let store = RunStore::new(folder);
    store.remove_unfinished().unwrap();
    println!("begin");
    for run in store.runs(MODEL).unwrap() {
        store.upgrade(MODEL, run).unwrap();
    }
    println!("done");
    sleep(Duration::from_secs(3600));
}

fn a_run_that_is_written_again_is_whole_after_a_kill_at_any_moment() {
    let kills = Kills::new(40);
    let folder = tempfile::tempdir().unwrap();
    let store = RunStore::new(folder.path());
    let wanted = integers(&RunStore::new(VERSION_3).newest_run(MODEL).unwrap());
    assert!(wanted.len() > 4, "{}", wanted.len());
    let (mut before, mut within, mut done, mut kill) = (0, 0, 0, 0);
    while kills.go_on(kill, &[("within the run", within), ("after it", done)]) {
        if kill == 0 || !is_growing(&store) {
            let _ = fs::remove_dir_all(folder.path().join(MODEL));
            copy(&Path::new(VERSION_3).join(MODEL), &folder.path().join(MODEL));
        }
        let delay = Duration::from_micros(chance(kill) % 20_000);
        let said = run_until_killed(&TEST, 0, folder.path(), &["begin"], delay);
        kill += 1;
        let run = store.newest_run(MODEL).unwrap();
        assert!(integers(&run) == wanted, "kill {kill}");
        assert_eq!(store.check_run(MODEL, run.definition().run).unwrap().faults, []);
        match (said.contains("done"), is_growing(&store)) {
            (true, growing) => {
                assert!(!growing, "kill {kill}");
                done += 1;
            }
            (false, true) => within += 1,
            (false, false) => before += 1,
        }
    }
    println!("{kill} kills: {before} before anything or at the end, {within} within, {done} after");
}

/// Whether some files of the run are still to be written again.
fn is_growing(store: &RunStore) -> bool {
    let run = store.folder().join(MODEL).join("20180917T000000Z/zarr.json");
    fs::read_to_string(run).unwrap().contains("\"growing\": true")
}

pub const TEST: Test = Test {
    name: "a_run_that_is_written_again_is_whole_after_a_kill_at_any_moment",
    test: a_run_that_is_written_again_is_whole_after_a_kill_at_any_moment,
    child,
};
