//! API keys of a record in ClickHouse, which all its servers share.

use mesonet_clickhouse::Options;
use serde_json::Value;
use tempfile::TempDir;

use crate::credentials::{bearer, comes_true, is_bulk_allowed, run, send};
use crate::gate::Gate;
use crate::in_clickhouse::{own_database, place, server, sql};
use crate::process::{Server, output};

fn place_of(url: &str) -> (Options, String) {
    let options = own_database(url);
    let place = place(&options);
    (options, place)
}

fn reader<'a>(store: &'a str, folder: &'a str) -> [&'a str; 6] {
    ["--store", store, "--read-only", "true", "--data", folder]
}

#[test]
fn a_key_is_known_and_refused_by_all_servers_within_seconds() {
    let Some(url) = server() else { return };
    let (folder, (options, store)) = (TempDir::new().unwrap(), place_of(&url));
    let writer = Server::start(&folder, &["--store", &store]);
    let reads = Server::start(&folder, &reader(&store, "reader"));
    let all = [&writer, &reads];

    // By the command, while servers run, whichever server writes.
    let with = |args: &[&str]| run(&folder, &[args, &["--store", &store]].concat());
    assert_eq!(with(&["keys", "list", "--json"]), "[]");
    let key = with(&["keys", "issue", "--label", "a network"]);
    let known = |key: &str| all.map(|server| is_bulk_allowed(server, &bearer(key)));
    comes_true(|| known(&key) == [true; 2]);
    let listed: Value = serde_json::from_str(&with(&["keys", "list", "--json"])).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    assert_eq!(listed[0]["label"], "a network");
    assert!(!sql(&options, "SELECT * FROM api_keys").contains(&key[12..76]), "the key is there");
    assert!(with(&["keys", "revoke", id]).contains("revoked"));
    comes_true(|| known(&key) == [false; 2]);
    assert!(!folder.path().join("mesonet-data/keys.sqlite").exists());

    // By an operator, at the writing server.
    let staff = run(&folder, &["token", "--plan", "free", "--staff"]);
    let own = [&bearer(&staff)[..], &["content-type: application/json".to_owned()]].concat();
    let line = "POST /api/v1/keys";
    let issued = send(writer.address(), line, &own, r#"{"label":"a partner"}"#).json();
    let (key, id) = (issued["key"].as_str().unwrap(), issued["id"].as_str().unwrap());
    assert!(is_bulk_allowed(&writer, &bearer(key)));
    comes_true(|| known(key) == [true; 2]);
    let staff_there = run(&folder, &["token", "--plan", "free", "--staff", "--data", "reader"]);
    let there =
        [&bearer(&staff_there)[..], &["content-type: application/json".to_owned()]].concat();
    send(reads.address(), line, &there, r#"{"label":"x"}"#).is(
        503,
        "\"this server only reads its record and takes nothing in; send it to the one that writes\"",
    );
    // The next writing server, with another folder, has the keys and their earlier uses too.
    assert_eq!(writer.stop().0, Some(0));
    let next = Server::start(&folder, &["--store", &store, "--data", "next"]);
    comes_true(|| is_bulk_allowed(&next, &bearer(key)));
    let listed: Value = serde_json::from_str(&with(&["keys", "list", "--json"])).unwrap();
    let used = listed.as_array().unwrap().iter().find(|entry| entry["id"] == id).unwrap();
    assert!(used["lastUsed"].as_str().is_some(), "{listed}");
}

#[test]
fn keys_go_on_while_clickhouse_is_away_and_what_was_revoked_ends_when_it_is_back() {
    let Some(url) = server() else { return };
    let (folder, (options, store)) = (TempDir::new().unwrap(), place_of(&url));
    let gate = Gate::before(&url);
    let gated = place(&gate.to(&options));
    let with = |args: &[&str]| run(&folder, &[args, &["--store", &store]].concat());
    let key = with(&["keys", "issue", "--label", "a network"]);
    let listed: Value = serde_json::from_str(&with(&["keys", "list", "--json"])).unwrap();
    let mut server = Server::start(&folder, &["--store", &gated]);
    comes_true(|| is_bulk_allowed(&server, &bearer(&key)));
    gate.close();
    with(&["keys", "revoke", listed[0]["id"].as_str().unwrap()]);
    let staff = run(&folder, &["token", "--plan", "free", "--staff"]);
    let headers = [&bearer(&staff)[..], &["content-type: application/json".to_owned()]].concat();
    let refused = send(server.address(), "POST /api/v1/keys", &headers, r#"{"label":"x"}"#);
    refused.is(503, "\"the data cannot be used right now; try again later\"");
    assert!(is_bulk_allowed(&server, &bearer(&key)));
    let (ok, _, error) = output(folder.path(), &["keys", "list", "--store", &gated]);
    assert!(!ok && error.starts_with("error: http://127.0.0.1:"), "{error}");
    let said = "stay valid, even those that were revoked since";
    // The server looks once a second.
    server.wait_for(said);

    gate.open();
    comes_true(|| !is_bulk_allowed(&server, &bearer(&key)));
    let (_, log) = server.stop();
    assert!((1..4).contains(&log.matches(said).count()), "{log}");
    assert!(log.contains("the API keys are up to date again"), "{log}");
}

/// Two commands at once, and two that revoke the same key.
#[test]
fn of_commands_at_once_no_key_is_lost() {
    let Some(url) = server() else { return };
    let (folder, (_, store)) = (TempDir::new().unwrap(), place_of(&url));
    let with = |args: &[&str]| run(&folder, &[args, &["--store", &store]].concat());
    let list =
        || -> Vec<Value> { serde_json::from_str(&with(&["keys", "list", "--json"])).unwrap() };
    std::thread::scope(|scope| {
        for label in ["a", "b", "c", "d"] {
            scope.spawn(move || with(&["keys", "issue", "--label", label]));
        }
    });
    let mut labels: Vec<_> = list().iter().map(|key| key["label"].to_string()).collect();
    labels.sort();
    assert_eq!(labels, ["\"a\"", "\"b\"", "\"c\"", "\"d\""]);
    let id = list()[0]["id"].as_str().unwrap().to_owned();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| with(&["keys", "revoke", &id]));
        }
    });
    assert_eq!(list().iter().filter(|key| key.get("revoked").is_some()).count(), 1);
}
