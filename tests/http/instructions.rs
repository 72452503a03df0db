//! How many instructions four requests take, as callgrind counts them: unlike a time, the number
//! hardly depends on the machine and on what else it does.
//!
//! The budgets are of builds for tests, with a tenth to spare. A change that needs more says why,
//! and raises them.

use std::env;
use std::process::Command;

use axum::http::header;
use mesonet::store::no_verdicts;
use mesonet::{Batch, MemoryStore, Reading, Report, Store, Variable};
use mesonet_server::Config;

use crate::models;
use crate::support::{Api, NOW_MS, id, instant, station};

/// A request, and the most instructions that it may take.
const BUDGETS: [(&str, u64); 4] = [
    ("details, 304", 113_000),
    ("station", 140_000),
    ("readings of a box", 187_000),
    ("model point", 297_000),
];

/// Names the request that a child measures.
const MEASURED: &str = "MESONET_TEST_MEASURED_REQUEST";

/// How often it is sent before it is counted: until then, things are made that are kept.
const BEFORE: usize = 5;
const COUNTED: u64 = 20;

#[test]
fn four_requests_stay_within_their_instructions() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: there is no valgrind");
        return;
    }
    let counts = BUDGETS.map(|(name, budget)| (name, instructions(name) / COUNTED, budget));
    let beyond = counts.iter().any(|&(_, count, budget)| count > budget);
    assert!(!beyond, "instructions of a request, and the budget: {counts:?}");
}

/// Counts the instructions of a request in a process of its own.
fn instructions(request: &str) -> u64 {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--trace-children=no"])
        .arg("--toggle-collect=*instructions*send_counted*")
        .arg(env::current_exe().unwrap())
        .args(["--exact", "instructions::measured", "--ignored", "--test-threads", "1"])
        .env(MEASURED, request)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}{}", String::from_utf8_lossy(&output.stdout));
    let count =
        stderr.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    count.filter(|&count| count > 0).unwrap_or_else(|| panic!("nothing was counted: {stderr}"))
}

#[test]
#[ignore = "is run under valgrind, by the test above"]
fn measured() {
    let Ok(request) = env::var(MEASURED) else { return };
    let (service, path) = match &*request {
        "details, 304" => (stations(), "/stations/map/details".to_owned()),
        "station" => (stations(), format!("/stations/{}", id("7"))),
        "readings of a box" => {
            (stations(), "/stations/readings?minLat=40&minLon=-90&maxLat=42&maxLon=-88".to_owned())
        }
        _ => {
            let service = models::service();
            let address = "/models/nam211/point?lat=40&lon=-90&run=latest&hour=0&fields=prmsl";
            for _ in 0..BEFORE {
                assert_eq!(service.get(address).status, 200);
            }
            send_counted(&|| assert_eq!(service.get(address).status, 200));
            return;
        }
    };
    let tag = service.get(&path).header(header::ETAG).unwrap_or("none").to_owned();
    let is_known = request == "details, 304";
    let headers = [(header::IF_NONE_MATCH, &*tag)];
    let send = || {
        let answer = service.get_with(&path, if is_known { &headers } else { &[] });
        assert_eq!(answer.status, if is_known { 304 } else { 200 });
    };
    for _ in 0..BEFORE {
        send();
    }
    send_counted(&send);
}

/// Callgrind counts from when this is called until it returns.
#[inline(never)]
fn send_counted(send: &dyn Fn()) {
    for _ in 0..COUNTED {
        send();
    }
}

/// 900 stations on a lattice with eight variables, an hour apart over half a day.
fn stations() -> Api {
    let store = MemoryStore::default();
    let variables: Vec<Variable> = Variable::map_variables().take(8).collect();
    let mut batch = Batch::default();
    for at in 0..900 {
        let name = at.to_string();
        let (column, row) = (f64::from(at % 30), f64::from(at / 30));
        batch.stations.extend(station(&name, column - 105.0, row + 25.0).stations);
        batch.reports.extend((0..12).map(|hour| {
            Report {
                station: id(&name),
                ts_ms: NOW_MS - hour * mesonet::time::HOUR_MS,
                revision: 0,
                present_weather: None,
                text: None,
                readings: variables
                    .iter()
                    .map(|&variable| Reading::unchecked(instant(variable), hour as f64))
                    .collect(),
            }
        }));
    }
    store.append(&batch, &mut no_verdicts).unwrap();
    Api::with(Config::default(), store)
}
