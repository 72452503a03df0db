//! A process that a test starts cannot block the test forever.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::Duration;

use crate::child::Process;

/// How long to wait for something that never comes. It is long enough for a busy machine to deliver
/// what does come.
const SHORT: Duration = Duration::from_secs(4);
const LONG: Duration = Duration::from_secs(120);

fn shell(script: &str, patience: Duration) -> Process {
    Process::start(Command::new("sh").args(["-c", script]), patience)
}

/// Returns the panic message of a failing test.
fn failure(test: impl FnOnce()) -> String {
    *catch_unwind(AssertUnwindSafe(test)).unwrap_err().downcast::<String>().unwrap()
}

#[test]
fn a_process_that_hangs_is_a_failure_with_its_name_and_last_output() {
    let said = failure(|| {
        shell("echo begins; echo is stuck >&2; exec sleep 600", SHORT).wait();
    });
    assert!(said.starts_with("\"sh\" \"-c\" "), "{said}");
    assert!(said.contains("timed out after 4s"), "{said}");
    assert!(
        said.ends_with("output:\nbegins\n--- the last of its standard error:\nis stuck"),
        "{said}"
    );
}

#[test]
fn a_process_that_closed_its_outputs_and_hangs_is_a_failure() {
    let said = failure(|| {
        shell("exec sleep 600 >&- 2>&-", SHORT).wait();
    });
    assert!(said.contains("timed out after 4s"), "{said}");
}

#[test]
fn a_process_that_keeps_writing_other_things_is_a_failure() {
    let said = failure(|| {
        shell("while :; do echo works; sleep 0.01; done", SHORT).wait_for("listens");
    });
    assert!(said.contains("timed out after 4s"), "{said}");
    assert!(said.contains("\nworks\nworks\n"), "{said}");
}

#[test]
fn a_process_that_ends_too_early_is_a_failure_with_its_last_output() {
    let said = failure(|| {
        shell("echo cannot begin >&2; exit 3", LONG).wait_for("listens");
    });
    assert!(said.contains("ended before it said \"listens\""), "{said}");
    assert!(said.ends_with("cannot begin"), "{said}");
}

#[test]
fn both_outputs_of_a_process_are_kept_and_its_status_returned() {
    // More than fits into a pipe.
    let (status, said) =
        shell("yes out | head -n 50000; yes error | head -n 50000 >&2; exit 3", LONG).wait();
    assert_eq!(status.code(), Some(3));
    assert_eq!(said.out, "out\n".repeat(50000));
    assert_eq!(said.err, "error\n".repeat(50000));
}

#[test]
fn a_process_is_ended_with_its_test() {
    let mut process = shell("echo begins; exec sleep 600", LONG);
    process.wait_for("begins");
    let pid = process.id().to_string();
    let lives = || Command::new("kill").args(["-0", &pid]).output().unwrap().status.success();
    assert!(lives());
    drop(process);
    assert!(!lives());
}
