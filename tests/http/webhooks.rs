//! Webhooks of a running server: alerts that come, change and end, across kills; tests by an operator.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use mesonet::Iso8601;
use serde_json::Value;
use tempfile::TempDir;

use self::receiver::Receiver;
use crate::credentials::{bearer, run, send};
use crate::follower::KEY;
use crate::process::{PATIENCE, Server, command};

#[path = "../../service/tests/support/receiver.rs"]
mod receiver;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A table of the configuration file.
fn table(folder: &TempDir, name: &str, url: &str, more: &str) -> String {
    let secret = folder.path().join("secret");
    fs::write(&secret, SECRET).unwrap();
    format!(
        "[[webhooks]]\nname = \"{name}\"\nurl = \"{url}\"\nsecret_file = \"{}\"\nallow_http = true\n\
         allow_private = true\n{more}\n",
        secret.display()
    )
}

fn write(folder: &TempDir, tables: &[String]) -> String {
    let path = folder.path().join("mesonet.toml");
    fs::write(&path, tables.concat()).unwrap();
    path.display().to_string()
}

pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

/// An alert of Canada for a square around 42.5 N 82.5 W, of now and for an hour.
pub fn cap(id: &str, kind: &str, severity: &str, refers: Option<(&str, &str)>) -> (String, String) {
    let at = |ms: i64| Iso8601(ms / 1000 * 1000).to_string().replace('Z', "-00:00");
    let (sent, end) = (at(now_ms()), at(now_ms() + 3_600_000));
    let references = refers.map_or_else(String::new, |(id, sent)| {
        format!("<references>cap-pac@canada.ca,{id},{sent}</references>")
    });
    let text = format!(
        "<alert xmlns=\"urn:oasis:names:tc:emergency:cap:1.2\"><identifier>{id}</identifier>\
         <sender>cap-pac@canada.ca</sender><sent>{sent}</sent><status>Actual</status>\
         <msgType>{kind}</msgType><scope>Public</scope>{references}<info><language>en-CA</language>\
         <event>tornado</event><urgency>Immediate</urgency><severity>{severity}</severity>\
         <certainty>Likely</certainty><expires>{end}</expires><headline>A tornado</headline>\
         <area><areaDesc>Sarnia</areaDesc><polygon>42,-83 42,-82 43,-82 43,-83 42,-83</polygon>\
         <geocode><valueName>layer:EC-MSC-SMC:1.0:CLC</valueName><value>041320</value></geocode>\
         </area></info></alert>"
    );
    (text, sent)
}

pub fn push(server: &Server, text: &str) {
    let answer =
        send(server.address(), "POST /api/v1/ingest?name=alert.cap", &bearer(KEY), text).json();
    assert_eq!(answer["kinds"]["cap"]["added"], 1, "{answer}");
}

pub fn start(folder: &TempDir, file: &str, now: &str) -> Server {
    let hash = mesonet_service::ingest::KeyHash::of(KEY);
    let args = ["--now", now, "--config", file, "--ingest-key-hashes", hash.as_str()];
    Server::start(folder, &args)
}

/// Waits for so many deliveries, and returns the ids and states of their alerts.
#[track_caller]
fn alerts(receiver: &Receiver, count: usize) -> Vec<(String, String)> {
    let until = Instant::now() + PATIENCE;
    while receiver.got().len() < count && Instant::now() < until {
        sleep(Duration::from_millis(20));
    }
    let of = |(_, body): &(String, String)| {
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["type"], "alert");
        let of = |value: &Value| value.as_str().unwrap().to_owned();
        (of(&body["data"]["id"]), of(&body["data"]["properties"]["status"]))
    };
    let got: Vec<_> = receiver.got().iter().map(of).collect();
    assert_eq!(got.len(), count, "{got:?}");
    got
}

#[test]
fn alerts_arrive_by_place_and_severity_and_so_does_their_end() {
    let folder = TempDir::new().unwrap();
    let ok = || Receiver::new(&["200 OK"]);
    let (here, elsewhere, severe) = (ok(), ok(), ok());
    let square = "polygon = [[-82.1, 42.9], [-81, 42.9], [-81, 44], [-82.1, 44]]";
    let file = write(
        &folder,
        &[
            table(&folder, "here", &here.url, "place = [-82.5, 42.5]"),
            table(&folder, "elsewhere", &elsewhere.url, "place = [-81.5, 42.5]"),
            table(&folder, "severe", &severe.url, &format!("severity = [\"Extreme\"]\n{square}")),
        ],
    );
    let server = start(&folder, &file, "live");
    let (first, sent) = cap("urn:oid:1", "Alert", "Moderate", None);
    push(&server, &first);
    let one = alerts(&here, 1);
    assert_eq!(one[0].1, "Active");
    let (second, _) = cap("urn:oid:2", "Alert", "Extreme", None);
    push(&server, &second);
    assert_ne!(alerts(&here, 2)[1].0, one[0].0);
    assert_eq!(alerts(&severe, 1)[0].1, "Active");
    // It was delivered, so its end is too.
    let (cancel, _) = cap("urn:oid:3", "Cancel", "Moderate", Some(("urn:oid:1", &sent)));
    push(&server, &cancel);
    let ended = alerts(&here, 3);
    assert_eq!((&ended[2].0, &*ended[2].1), (&one[0].0, "Cancelled"));
    assert_eq!((severe.got().len(), elsewhere.got().len()), (1, 0));
    let mut ids = here.ids();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    server.stop();
}

#[test]
fn what_did_not_arrive_is_sent_after_a_kill_and_the_rest_is_not() {
    let folder = TempDir::new().unwrap();
    let busy = Receiver::new(&["200 OK", "503 Service Unavailable"]);
    let file = write(&folder, &[table(&folder, "here", &busy.url, "")]);
    let server = start(&folder, &file, "live");
    push(&server, &cap("urn:oid:1", "Alert", "Severe", None).0);
    let one = alerts(&busy, 1);
    push(&server, &cap("urn:oid:2", "Alert", "Severe", None).0);
    let two = alerts(&busy, 2);
    let unsent = busy.ids()[1].clone();
    server.kill();
    let ready = Receiver::new(&["200 OK"]);
    let file = write(&folder, &[table(&folder, "here", &ready.url, "")]);
    let server = start(&folder, &file, "live");
    assert_eq!(alerts(&ready, 1), two[1..]);
    assert_eq!(ready.ids(), [unsent]);
    server.stop();
    // Without its file, the webhook begins anew, with the alerts in force.
    fs::remove_file(folder.path().join("mesonet-data/webhooks/here.json")).unwrap();
    let server = start(&folder, &file, "live");
    let again = alerts(&ready, 3);
    assert_eq!([&again[1], &again[2]], [&one[0], &two[1]]);
    server.stop();
}

#[test]
fn a_server_that_ends_does_not_wait_for_a_receiver_that_hangs() {
    let folder = TempDir::new().unwrap();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let file = write(&folder, &[table(&folder, "here", &url, "timeout_s = 60")]);
    let server = start(&folder, &file, "live");
    push(&server, &cap("urn:oid:1", "Alert", "Severe", None).0);
    drop(silent.accept().unwrap());
    let held = silent.accept();
    let began = Instant::now();
    server.stop();
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    drop(held);
}

#[test]
fn an_operator_lists_and_tests_webhooks_and_a_replay_sends_nothing_else() {
    let folder = TempDir::new().unwrap();
    let receiver = Receiver::new(&["200 OK", "404 Not Found"]);
    let file = write(&folder, &[table(&folder, "here", &receiver.url, "")]);
    let server = start(&folder, &file, "2026-05-14T16:40:00Z");
    push(&server, &cap("urn:oid:1", "Alert", "Severe", None).0);
    let token = |more: &[&str]| run(&folder, &[&["token", "--plan", "commercial"], more].concat());
    let (staff, other) = (token(&["--staff"]), token(&[]));
    let get = "GET /api/v1/webhooks";
    assert_eq!(send(server.address(), get, &[], "").status(), 401);
    assert_eq!(send(server.address(), get, &bearer(&other), "").status(), 403);
    let listed = send(server.address(), get, &bearer(&staff), "").json();
    let origin = receiver.url.strip_suffix("/hook").unwrap();
    let expected = serde_json::json!([{
        "name": "here", "origin": origin, "delivered": 0, "failures": 0, "isGone": false,
        "leftOut": [],
    }]);
    assert_eq!(listed["webhooks"], expected);
    let test = "POST /api/v1/webhooks/here/test";
    assert_eq!(send(server.address(), test, &bearer(&other), "").status(), 403);
    let tested = send(server.address(), test, &bearer(&staff), "").json();
    assert_eq!((&tested["isDelivered"], &tested["status"]), (&true.into(), &200.into()));
    let unknown = send(server.address(), "POST /api/v1/webhooks/none/test", &bearer(&staff), "");
    assert_eq!(unknown.status(), 404);
    // The command, beside the server.
    let mut test = command(folder.path(), &["webhooks", "test", "here", "--config", &file]);
    let output = test.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && text.starts_with("here: status 404 after "), "{text}");
    let listed = run(&folder, &["webhooks", "list", "--config", &file]);
    assert_eq!(listed, format!("here  {origin}: 0 delivered"));
    let types: Vec<Value> = receiver
        .got()
        .iter()
        .map(|(_, body)| serde_json::from_str::<Value>(body).unwrap()["type"].clone())
        .collect();
    assert_eq!(types, ["test", "test"]);
    let shown = run(&folder, &["--print-config", "--config", &file]);
    assert!(shown.contains("[[webhooks]]") && !shown.contains("/hook"), "{shown}");
    server.stop();
}
