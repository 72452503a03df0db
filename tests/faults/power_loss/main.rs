//! Acknowledged work survives a loss of power at any moment, and unfinished work is there
//! completely or not at all.
//!
//! A child process works in a folder, step by step, and reports each finished step; every change to
//! a file and everything that it makes durable is recorded. The record is then replayed up to each
//! of its entries, and of the changes that were not durable, nothing, everything, only names, only
//! bytes, or a random part is kept. Each possible state of the disk is written to a new folder,
//! opened and checked. It shows the result of the acknowledged steps, perhaps with that of the
//! unfinished one, and nothing is damaged. The work can continue from there.
//!
//! `MESONET_POWER_LOSS` sets how many random states there are for each entry; the default is 1.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports))]

mod alerts;
mod disk;
mod products;
mod readings;
mod recorder;
mod rewriting;
mod runs;
#[path = "../../../core/tests/version_6/mod.rs"]
mod version_6;

use std::collections::HashSet;
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use disk::{Disk, Replay, Survivors};
use recorder::{Record, chance, no_child_starts, record};

/// The variable that gives the watched process its work, its folder, and the file for its marks.
const CHILD: &str = "MESONET_POWER_LOSS_CHILD";

/// Work in a folder, in steps. The folder does not exist at first.
trait Work: Sized {
    const NAME: &'static str;
    const STEPS: usize;
    /// What can be seen of it.
    type Seen: PartialEq + Debug;

    /// Begins, or continues after a loss of power.
    fn open(dir: &Path) -> Self;

    /// Does a step; its effects are durable when this returns.
    fn step(&mut self, number: usize);

    /// Returns what must be seen after this many steps.
    fn expected(steps: usize) -> Self::Seen;

    /// Returns what is seen in a folder, which must be intact.
    fn seen(dir: &Path) -> Self::Seen;
}

/// Returns a folder in memory if possible: nothing waits for a disk.
fn temporary() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// Works while it is watched. This is not a test by itself: the other tests start it.
#[test]
#[ignore = "started by the tests that watch it"]
fn child() {
    let Ok(call) = std::env::var(CHILD) else { return };
    let [name, dir, marks] = *call.split('\n').collect::<Vec<_>>() else { panic!("{call}") };
    let (dir, marks) = (Path::new(dir), Path::new(marks));
    match name {
        readings::Readings::NAME => work::<readings::Readings>(dir, marks),
        runs::Runs::NAME => work::<runs::Runs>(dir, marks),
        products::Products::NAME => work::<products::Products>(dir, marks),
        rewriting::Rewriting::NAME => work::<rewriting::Rewriting>(dir, marks),
        alerts::Alerts::NAME => work::<alerts::Alerts>(dir, marks),
        other => panic!("{other}"),
    }
}

fn work<W: Work>(dir: &Path, marks: &Path) {
    let mut marks = File::options().append(true).open(marks).unwrap();
    let mut work = W::open(dir);
    for number in 0..W::STEPS {
        work.step(number);
        // In one call: each is a mark.
        marks.write_all(number.to_string().as_bytes()).unwrap();
    }
}

fn survives_a_loss_of_power<W: Work>() {
    if !cfg!(target_os = "linux") {
        println!("skipped: a process can be watched like this only on Linux");
        return;
    }
    let by_chance = std::env::var("MESONET_POWER_LOSS").map_or(1, |text| text.parse().unwrap());
    let temporary = temporary();
    let work = temporary.path().canonicalize().unwrap();
    let (root, marks) = (work.join("root"), work.join("marks"));
    fs::create_dir(&root).unwrap();
    File::create(&marks).unwrap();
    let call = [W::NAME, root.join("data").to_str().unwrap(), marks.to_str().unwrap()].join("\n");
    let records = record(&work, &root, &marks, CHILD, &call);

    let expected: Vec<W::Seen> = (0..=W::STEPS).map(W::expected).collect();
    let mut replay = Replay::new(&root);
    let (mut done, mut states, mut synced) = (0, 0, 0);
    let mut known = HashSet::new();
    for (at, record) in records.iter().enumerate() {
        replay.step(record);
        done += usize::from(matches!(record, Record::Mark(_)));
        synced +=
            usize::from(matches!(record, Record::Synced { .. } | Record::FolderSynced { .. }));
        let mut survivors = vec![Survivors::Everything];
        if record.is_turning_point() {
            survivors.extend([
                Survivors::Nothing,
                Survivors::Names,
                Survivors::NamesAndLengths,
                Survivors::Bytes,
            ]);
        }
        let seed = |number| chance((at as u64) << 32 | number);
        survivors.extend((0..by_chance).map(|number| Survivors::Some(seed(number))));
        for survivors in survivors {
            let disk = replay.lose_power(survivors);
            if !known.insert((done, disk.digest())) {
                continue;
            }
            states += 1;
            let goes_on = states % 4 == 0;
            let _alone = no_child_starts();
            let checked = catch_unwind(AssertUnwindSafe(|| {
                check::<W>(&work, &disk, done, &expected, goes_on);
            }));
            assert!(
                checked.is_ok(),
                "{}: power lost after record {at} of {} ({record:?}), {done} steps done, \
                 {survivors:?} of what was not safe is there",
                W::NAME,
                records.len(),
            );
        }
    }
    assert_eq!(done, W::STEPS);
    assert_is_the_folder(&replay.lose_power(Survivors::Everything), &root);
    println!(
        "{}: {} records with {synced} syncs, {states} states of the disk",
        W::NAME,
        records.len()
    );
}

/// Opens a possible state of the disk and continues from it.
fn check<W: Work>(work: &Path, disk: &Disk, done: usize, expected: &[W::Seen], goes_on: bool) {
    let root = work.join("state");
    if root.exists() {
        fs::remove_dir_all(&root).unwrap();
    }
    fs::create_dir(&root).unwrap();
    disk.write_to(&root);
    let dir = root.join("data");
    let seen = W::seen(&dir);
    let under_way = (done + 1).min(W::STEPS);
    let next = if seen == expected[done] { done } else { under_way };
    let shown = |seen: &W::Seen| format!("{seen:?}").chars().take(400).collect::<String>();
    assert!(
        seen == expected[next],
        "after {done} steps: got {}…; expected {}…",
        shown(&seen),
        shown(&expected[done])
    );
    if !goes_on {
        return;
    }
    let until = W::STEPS.min(next + 2);
    let mut work = W::open(&dir);
    for step in next..until {
        work.step(step);
    }
    drop(work);
    assert!(W::seen(&dir) == expected[until], "it does not continue");
}

/// Asserts that nothing went unrecorded: replaying the record gives what the process left.
fn assert_is_the_folder(disk: &Disk, root: &Path) {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone());
            }
            if !path.to_str().unwrap().ends_with("-shm") {
                found.push(path);
            }
        }
    }
    found.sort();
    let recorded = disk.paths();
    let paths: Vec<PathBuf> = recorded.keys().map(|path| root.join(path)).collect();
    assert_eq!(
        {
            let mut paths = paths;
            paths.sort();
            paths
        },
        found
    );
    for (path, bytes) in recorded {
        if let Some(bytes) = bytes {
            assert!(fs::read(root.join(&path)).unwrap() == bytes, "{}", path.display());
        }
    }
}

#[test]
fn readings_survive_a_loss_of_power() {
    survives_a_loss_of_power::<readings::Readings>();
}

#[test]
fn old_segments_that_are_written_anew_survive_a_loss_of_power() {
    survives_a_loss_of_power::<rewriting::Rewriting>();
}

#[test]
fn model_runs_survive_a_loss_of_power() {
    survives_a_loss_of_power::<runs::Runs>();
}

#[test]
fn raster_products_survive_a_loss_of_power() {
    survives_a_loss_of_power::<products::Products>();
}

#[test]
fn alerts_survive_a_loss_of_power() {
    survives_a_loss_of_power::<alerts::Alerts>();
}
