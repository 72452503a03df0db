//! Followers that take over: one at a time, and the server before is told.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::follower::{answers, backup, push, ready, run, start, wait_until};
use crate::process::{Server, data, output};

fn follow(folder: &TempDir, name: &str) -> Server {
    start(folder, &["--data", name, "--follow", "backups", "--follow-every-s", "1"])
}

/// A grid and an export with their tags and cursors: what depends on the record alone. Ages of what
/// is shown go by the replay's clock, which started at another time in each server.
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

/// Two followers are promoted while the first server still runs: one wins. The first server's
/// backups are refused from then on, by name, and followers follow the new one.
#[test]
fn of_two_that_are_promoted_one_takes_over_and_the_server_before_is_refused_by_name() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    run(path, &["ingest", &data("metar/liveairdata_metars_20240803T1732Z.csv.gz")]);
    let old = start(&folder, &[]);
    backup(&folder);
    for name in ["one", "two", "three"] {
        assert_eq!(follow(&folder, name).stop().0, Some(0));
    }
    let third = follow(&folder, "three");
    // Not in any backup, and so not with the one that takes over.
    assert!(push(&old, "METAR CYYZ 031740Z 24012KT 15SM 28/17 A2991=\n").contains(" 200 "));

    let said = run(path, &["promote", "--data", "one"]);
    assert!(said.contains("one is a record of its own now, as of 20"), "{said}");
    assert!(said.contains("backups (epoch 2); backups of the other record are refused"), "{said}");
    let error = refused(path, &["promote", "--data", "two"]);
    assert!(
        error.contains("was taken over by another record, that of ")
            && error.contains("one, since 2")
    );
    assert!(error.contains("(epoch 2), which this folder does not hold"), "{error}");

    // The first server goes on taking in, and nothing of it comes to the place any more.
    let error = refused(path, &["backup", "--to", "backups"]);
    assert!(error.starts_with("error: nothing was backed up: backups has the backups of another"));
    assert!(error.contains("one, since 2") && error.contains("--take-over"), "{error}");
    assert!(push(&old, "METAR CYYZ 031741Z 24012KT 15SM 28/17 A2991=\n").contains(" 200 "));

    let new = start(&folder, &["--data", "one"]);
    assert!(push(&new, "METAR CYYZ 031742Z 24012KT 15SM 26/17 A2991=\n").contains(" 200 "));
    run(path, &["backup", "--to", "backups", "--data", "one"]);
    wait_until("the others follow it", || held(&third) == held(&new));
    assert!(held(&third) != held(&old));
    assert!(ready(&third)["behindS"].as_i64().unwrap() >= 0);
    // The one that came too late follows too, and can be promoted after that.
    let second = follow(&folder, "two");
    wait_until("it follows", || held(&second) == held(&new));
    drop(second);
    assert!(run(path, &["promote", "--data", "two"]).contains("(epoch 3)"));
    for loser in ["mesonet-data", "one"] {
        let error = refused(path, &["backup", "--to", "backups", "--data", loser]);
        assert!(error.contains("two, since 2"), "{error}");
    }
    // What cannot be meant by mistake can be asked for.
    run(path, &["backup", "--to", "backups", "--take-over"]);
    wait_until("they follow the first one again", || held(&third) == held(&old));
}

/// A place is of one record: an empty one that has its name by mistake does not replace its backups.
#[test]
fn a_record_is_not_backed_up_over_that_of_another() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let metar = data("metar/liveairdata_metars_20240803T1732Z.csv.gz");
    run(path, &["ingest", &metar]);
    backup(&folder);
    fs::rename(path.join("mesonet-data"), path.join("lost")).unwrap();
    fs::write(path.join("20240803.txt"), "METAR CYYZ 031745Z 24012KT 15SM 26/17 A2991=\n").unwrap();
    run(path, &["ingest", "20240803.txt"]);
    let error = refused(path, &["backup", "--to", "backups"]);
    assert!(error.contains("mesonet-data, since 2") && error.contains("(epoch 1)"), "{error}");
    // A restored one is another record too, so that a trial does not replace what it is a trial of.
    run(path, &["restore", "--from", "backups", "--to", "restored"]);
    let error = refused(path, &["backup", "--to", "backups", "--data", "restored"]);
    assert!(error.contains("--take-over"), "{error}");
    run(path, &["backup", "--to", "backups", "--data", "restored", "--take-over"]);
    run(path, &["backup", "--to", "backups", "--data", "restored"]);
    assert!(refused(path, &["backup", "--to", "backups", "--data", "lost"]).contains("restored"));
}
