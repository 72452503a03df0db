//! What `tests/run` reads from the logs of the test runners.

use std::io::Write;
use std::process::{Command, Stdio};

/// The counts of a log and the names of what was skipped.
fn counted(log: &str) -> String {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/count.awk");
    let mut awk = Command::new("awk")
        .args(["-f", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    awk.stdin.take().unwrap().write_all(log.as_bytes()).unwrap();
    String::from_utf8(awk.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn what_is_skipped_is_counted_and_named_whatever_the_runner() {
    let cargo = "\
running 3 tests
test a::b ... ok
test a::c ... ignored, needs a broker
test core/src/x.rs - y (line 3) ... ignored
test result: ok. 1 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s
";
    assert_eq!(counted(cargo), "1 0 2\na::c: needs a broker\ncore/src/x.rs - y (line 3)\n");
    let pytest = "\
....sx
SKIPPED [1] tests/python/test_units.py:52: could not import 'pandas'
XFAIL tests/python/test_units.py::test_x - is known
========= 4 passed, 1 skipped, 1 xfailed, 2 warnings in 61.12s (0:01:01) =========
";
    assert_eq!(
        counted(pytest),
        "4 0 2\n\
         SKIPPED [1] tests/python/test_units.py:52: could not import 'pandas'\n\
         XFAIL tests/python/test_units.py::test_x - is known\n"
    );
    let campaign = "\
skipped: a full disk: this user may not mount a file system
17 passed, 0 failed, 1 skipped
";
    assert_eq!(counted(campaign), "17 0 1\na full disk: this user may not mount a file system\n");
    let node = "\
ok 1 - x
# Subtest: y
    ok 2 - y # SKIP no browser
not ok 3 - z # TODO later
# tests 3
# pass 1
# fail 0
# cancelled 0
# skipped 1
# todo 1
";
    assert_eq!(counted(node), "1 0 2\ny # SKIP no browser\nz # TODO later\n");
    let stage = "=== skipped: message broker: rabbitmq-server cannot be installed\n";
    assert_eq!(counted(stage), "0 0 1\nmessage broker: rabbitmq-server cannot be installed\n");
    assert_eq!(counted(&[cargo, pytest, node, stage].concat()).lines().next(), Some("6 0 7"));
}

#[test]
fn what_failed_is_counted_whatever_the_runner() {
    let cargo = "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 9 filtered out; \
                 finished in 0.00s\n";
    assert_eq!(counted(cargo), "3 2 0\n");
    assert_eq!(counted("1 failed, 3 passed, 2 errors in 0.12s\n"), "3 3 0\n");
    assert_eq!(counted("# pass 4\n# fail 1\n# cancelled 1\n"), "4 2 0\n");
    assert_eq!(counted("nothing was run\n"), "0 0 0\n");
}
