//! Support for tests that kill a child process, repeatedly on the same folder.
//!
//! The child process is the test program itself, started with other arguments. Such a program has
//! its own `main`, so that the child does not run the tests.

use std::env::{args_os, current_exe, var};
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};

use crate::process::{Process, Said};

/// The argument that turns the program into the child process.
const CHILD: &str = "--process-that-is-killed";

/// How many kills must have hit each moment that a test is about.
const ENOUGH: usize = 3;

/// How long to wait for a sign of the child.
const PATIENCE: Duration = Duration::from_secs(120);

/// A test that kills a process of its own.
#[derive(Clone, Copy)]
pub struct Test {
    pub name: &'static str,
    pub test: fn(),
    /// What the process does: where to begin, and in which folder.
    pub child: fn(first: u64, folder: &Path),
}

/// Runs the tests, or the process of one if the arguments say so.
pub fn main(tests: &[Test]) {
    let arguments: Vec<_> = args_os().collect();
    if let [_, flag, name, first, folder] = &*arguments
        && flag == CHILD
    {
        let test = tests.iter().find(|test| name == test.name).unwrap();
        return (test.child)(first.to_str().unwrap().parse().unwrap(), Path::new(folder));
    }
    let trial = |test: &Test| {
        let run = test.test;
        Trial::test(test.name, move || {
            run();
            Ok(())
        })
    };
    libtest_mimic::run(&Arguments::from_args(), tests.iter().map(trial).collect()).exit()
}

/// Starts the child, kills it a moment after the last of the awaited signs, and returns what it
/// wrote.
pub fn run_until_killed(
    test: &Test,
    first: u64,
    folder: &Path,
    signs: &[&str],
    delay: Duration,
) -> String {
    let mut command = Command::new(current_exe().unwrap());
    command.arg(CHILD).arg(test.name).arg(first.to_string()).arg(folder);
    let mut process = Process::start(&mut command, PATIENCE);
    for sign in signs {
        process.wait_for(sign);
    }
    sleep(delay);
    let Said { out, err } = process.kill();
    // Killed, as opposed to having ended by itself.
    assert_eq!(err, "", "{out}");
    out
}

/// How often to kill: at least `MESONET_KILLS` times or the default, then until the kills have hit
/// the moments that the test is about, but at most ten times as often.
pub struct Kills {
    least: u64,
    most: u64,
}

impl Kills {
    pub fn new(default: u64) -> Self {
        let least = var("MESONET_KILLS").map_or(default, |text| text.parse().unwrap());
        Self { least, most: 10 * least.max(default) }
    }

    /// Returns whether to continue after this many kills.
    pub fn go_on(&self, kills: u64, found: &[(&str, usize)]) -> bool {
        let missing = found.iter().filter(|(_, count)| *count < ENOUGH);
        let missing: Vec<&str> = missing.map(|(moment, _)| *moment).collect();
        assert!(
            missing.is_empty() || kills < self.most,
            "of {kills} kills fewer than {ENOUGH} were {missing:?}"
        );
        kills < self.least || !missing.is_empty()
    }
}

/// Returns a pseudo-random number from a seed (SplitMix64).
pub fn chance(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
