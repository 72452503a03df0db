//! A restored record that takes over. The old record is refused, and followers follow the new one.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::follower::{answers, backup, push, ready, run, start, wait_until};
use crate::process::{Server, data, output};

/// A grid and an export with their tags and cursors. These depend only on the record. Ages depend
/// on the clock of the replay, which started at another time in each server.
fn held(server: &Server) -> Vec<(Vec<String>, String)> {
    let answers = answers(server);
    vec![answers[3].clone(), answers[5].clone()]
}

#[track_caller]
fn refused(folder: &Path, args: &[&str]) -> String {
    let (ok, out, error) = output(folder, args);
    assert!(!ok, "{args:?}: {out}");
    error
}

/// The first server still runs, and does not know that it was replaced.
#[test]
fn a_restored_record_takes_over_and_the_record_before_is_refused_by_name() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    run(path, &["ingest", &data("metar/liveairdata_metars_20240803T1732Z.csv.gz")]);
    let old = start(&folder, &[]);
    backup(&folder);
    let follower =
        start(&folder, &["--data", "follower", "--follow", "backups", "--follow-every-s", "1"]);
    // In no backup, and so not in the record that takes over.
    assert!(push(&old, "METAR CYYZ 031740Z 24012KT 15SM 28/17 A2991=\n").contains(" 200 "));

    run(path, &["restore", "--from", "backups", "--to", "new"]);
    let error = refused(path, &["backup", "--to", "backups", "--data", "new"]);
    assert!(error.contains("mesonet-data, which was backed up at 20"), "{error}");
    assert!(error.contains("add --take-over"), "{error}");
    run(path, &["backup", "--to", "backups", "--data", "new", "--take-over"]);

    // The first server goes on taking in readings, but none of them get to the place.
    let error = refused(path, &["backup", "--to", "backups"]);
    assert!(error.starts_with("error: nothing was backed up: backups has the backups of another"));
    assert!(error.contains("new, which was backed up at 20"), "{error}");
    assert!(push(&old, "METAR CYYZ 031741Z 24012KT 15SM 28/17 A2991=\n").contains(" 200 "));

    let new = start(&folder, &["--data", "new"]);
    assert!(push(&new, "METAR CYYZ 031742Z 24012KT 15SM 26/17 A2991=\n").contains(" 200 "));
    run(path, &["backup", "--to", "backups", "--data", "new"]);
    wait_until("the follower follows it", || held(&follower) == held(&new));
    assert!(held(&follower) != held(&old));
    assert!(ready(&follower)["behindS"].as_i64().unwrap() >= 0);
    // With a flag that nobody gives by mistake, it is allowed.
    run(path, &["backup", "--to", "backups", "--take-over"]);
    wait_until("it follows the first one again", || held(&follower) == held(&old));
}

/// A place belongs to one record. An empty record that is pointed at the place by mistake does not
/// replace its backups.
#[test]
fn a_record_is_not_backed_up_over_that_of_another() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    run(path, &["ingest", &data("metar/liveairdata_metars_20240803T1732Z.csv.gz")]);
    backup(&folder);
    fs::rename(path.join("mesonet-data"), path.join("lost")).unwrap();
    fs::write(path.join("20240803.txt"), "METAR CYYZ 031745Z 24012KT 15SM 26/17 A2991=\n").unwrap();
    run(path, &["ingest", "20240803.txt"]);
    let error = refused(path, &["backup", "--to", "backups"]);
    assert!(error.contains("mesonet-data, which was backed up at 20"), "{error}");
    // The earlier record is recognized by its name, wherever its folder is now.
    run(path, &["backup", "--to", "backups", "--data", "lost"]);
}
