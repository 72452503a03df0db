//! The examples run on the files of the repository and print what they promise.
//!
//! `cargo test` builds the examples beside the tests; with `--test examples` alone they are as old
//! as their last build.

use std::path::PathBuf;
use std::process::Command;

/// Runs an example and returns what it printed.
fn run(name: &str, arguments: &[&str]) -> (bool, String) {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.set_file_name("examples");
    path.push(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let output = Command::new(&path).args(arguments).output().unwrap_or_else(|error| {
        panic!(
            "{}: {error}; build it: cargo build -p mesonet --all-features --examples",
            path.display()
        )
    });
    let printed = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(printed).unwrap())
}

/// Returns the lines that an example prints about its own file.
fn lines(name: &str) -> Vec<String> {
    let (succeeded, printed) = run(name, &[]);
    assert!(succeeded, "{printed}");
    printed.lines().map(str::to_owned).collect()
}

#[test]
fn metar_to_store_prints_the_latest_temperatures() {
    let lines = lines("metar_to_store");
    assert_eq!(lines[0], "awc-csv: read 5003, readings added 60152, without a place 34");
    assert_eq!(lines[1], "PFNO: 10.6 °C");
    assert_eq!(lines.len(), 11);
}

#[test]
fn feed_file_prints_what_became_of_the_file() {
    assert_eq!(lines("feed_file"), ["ghcnh: read 4, refused 1, readings added 59"]);
    // A path that is given replaces the file of the example.
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data");
    let alerts = format!("{data}/nws_observation/pynws/alerts_active_zone.json");
    assert_eq!(run("feed_file", &[&alerts]), (true, "nws-alerts: read 1, alerts added 1\n".into()));
    let (succeeded, printed) = run(
        "feed_file",
        &[&format!("{data}/nws_observation/pynws/stations_observations_noprop.json")],
    );
    assert!(!succeeded && printed.contains("UnknownKind"), "{printed}");
}

#[test]
fn grib_value_prints_the_value_of_each_field() {
    let lines = lines("grib_value");
    assert_eq!(lines[0], "7:0.1.3 at level 200:0, 2010-03-08T12:00:00Z: 12.3");
    assert_eq!(lines.len(), 75);
}

#[test]
fn check_series_explains_the_worst_verdict() {
    let lines = lines("check_series");
    assert_eq!(
        lines[0],
        "mslp 1021.4 hPa at 2018-06-30T23:40:00Z: Instrumentation, Change, from the check spike"
    );
    assert!(lines.iter().any(|line| line.starts_with("  spike: Instrumentation, ")), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("  range: Good, ")), "{lines:?}");
}

#[test]
fn model_series_prints_each_hour() {
    let lines = lines("model_series");
    assert_eq!(lines[0], "2010-03-08T12:00:00Z: 12.33 kg/m²");
    assert_eq!(lines.len(), 25);
}

#[test]
fn alerts_here_prints_the_alerts_in_force() {
    assert_eq!(
        lines("alerts_here"),
        ["Flash Flood Warning issued July 15 at 2:00PM MDT until July 15 at 3:15PM MDT by NWS \
             Pueblo CO"]
    );
}
