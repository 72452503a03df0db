//! Events to a real broker (Debian's mosquitto), by a server that has the feature `mqtt`:
//! `cargo test -p mesonet-tests --test http mqtt_broker -- --include-ignored`. Each test starts a broker
//! of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::net::TcpListener;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use mesonet::Iso8601;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use serde_json::Value;
use tempfile::TempDir;

use crate::credentials::{bearer, run, send};
use crate::follower::KEY;
use crate::mosquitto::{Message, Mosquitto, wait};
use crate::process::{Server, command};
use crate::webhooks::{cap, now_ms, push, start};

const MINUTE_MS: i64 = 60_000;

fn table(address: &str, more: &str) -> String {
    format!("[[mqtt]]\nname = \"wx\"\naddress = \"{address}\"\n{more}\n")
}

fn write(folder: &TempDir, tables: &str) -> String {
    let path = folder.path().join("mesonet.toml");
    fs::write(&path, tables).unwrap();
    path.display().to_string()
}

/// Takes in temperatures: stations, minutes ago, degrees.
fn push_readings(server: &Server, readings: &[(&str, i64, i64)]) {
    let mut csv = "raw_text,station_id,observation_time,latitude,longitude\n".to_owned();
    for (station, minutes, degrees) in readings {
        let at = Iso8601((now_ms() / MINUTE_MS - minutes) * MINUTE_MS).to_string();
        let (day, time) = (&at[8..10], at[11..16].replace(':', ""));
        writeln!(
            csv,
            "{station} {day}{time}Z 24012KT 15SM {degrees:02}/10 A2991,{station},{at},43.68,-79.63"
        )
        .unwrap();
    }
    let line = "POST /api/v1/ingest?name=metars.csv";
    let answer = send(server.address(), line, &bearer(KEY), &csv).json();
    assert_eq!(answer["kinds"]["awc-csv"]["reports"], readings.len(), "{answer}");
}

/// Names of stations, four letters each.
fn stations(count: usize) -> Vec<String> {
    let letter = |number: usize| char::from(b'A' + (number % 26) as u8);
    let name = |of: usize| format!("C{}{}{}", letter(of / 676), letter(of / 26), letter(of));
    (0..count).map(name).collect()
}

const TEMPERATURES: &str = "filter = \"topics=readings&names=airTemperature\"";

/// Every message has its id, and every id its message.
fn check_ids(messages: &[Message]) {
    let mut by_id: BTreeMap<&str, &Message> = BTreeMap::new();
    let mut by_content: BTreeMap<String, &str> = BTreeMap::new();
    for message in messages.iter().filter(|message| message.topic.contains("/readings/")) {
        let first = by_id.entry(&message.id).or_insert(message);
        assert_eq!((&first.topic, &first.payload), (&message.topic, &message.payload));
        let content = format!("{}{}", message.topic, message.payload);
        assert_eq!(*by_content.entry(content).or_insert(&message.id), message.id);
    }
}

#[test]
#[ignore = "needs mosquitto and a server with the feature mqtt: tests/run broker"]
fn the_latest_reading_is_retained_over_tls_also_after_late_ones() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let mut of_ca = CertificateParams::new(Vec::<String>::new()).unwrap();
    of_ca.distinguished_name.push(DnType::CommonName, "Authority of a test");
    of_ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let ca = CertifiedIssuer::self_signed(of_ca, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let own =
        CertificateParams::new(["localhost".to_owned()]).unwrap().signed_by(&key, &ca).unwrap();
    fs::write(path("ca.pem"), ca.pem()).unwrap();
    fs::write(path("cert.pem"), own.pem()).unwrap();
    fs::write(path("key.pem"), key.serialize_pem()).unwrap();
    fs::write(path("password"), "hunter2\n").unwrap();
    let made = Command::new("mosquitto_passwd")
        .args(["-b", "-c", &path("users"), "me", "hunter2"])
        .status();
    assert!(made.unwrap().success());
    let files = (path("ca.pem"), path("password"));
    let broker = Mosquitto::new(
        folder,
        "allow_anonymous false\npassword_file FOLDER/users\ncertfile FOLDER/cert.pem\nkeyfile FOLDER/key.pem",
    );
    let as_user = ["-h", "localhost", "--cafile", &files.0, "-u", "me", "-P", "hunter2"];
    let first = broker.subscribe(&as_user);
    let folder = TempDir::new().unwrap();
    let address = format!("mqtts://localhost:{}", broker.port);
    let access =
        format!("ca_file = \"{}\"\nuser = \"me\"\npassword_file = \"{}\"", files.0, files.1);
    let file = write(&folder, &table(&address, &format!("{access}\n{TEMPERATURES}")));
    let server = start(&folder, &file, "live");
    assert_eq!(first.wait("mesonet/status", 1)[0].payload["status"], "online");
    push_readings(&server, &[("CYYZ", 20, 15)]);
    push_readings(&server, &[("CYYZ", 10, 16)]);
    // Late, and corrected.
    push_readings(&server, &[("CYYZ", 30, 14)]);
    push_readings(&server, &[("CYYZ", 10, 17)]);
    let got = first.wait("mesonet/readings/METAR/CYYZ/airTemperature", 4);
    let values: Vec<_> =
        got.iter().map(|message| message.payload["value"].as_f64().unwrap()).collect();
    assert_eq!(values, [15.0, 16.0, 14.0, 17.0]);
    assert_eq!(got[0].payload["unit"], "°C");
    assert_eq!(got[0].payload["quality"]["baseQuality"], "Good");
    assert_eq!(got[0].payload["network"], "METAR");
    let later = broker.subscribe(&as_user);
    let retained = later.wait("mesonet/readings/", 1);
    assert_eq!((retained.len(), retained[0].payload["value"].as_f64()), (1, Some(17.0)));
    assert!(retained[0].is_retained);
    // A test goes over a connection of its own.
    let tested = run(&folder, &["mqtt", "test", "wx", "--config", &file]);
    assert!(tested.starts_with("wx: acknowledged after "), "{tested}");
    assert_eq!(later.wait("mesonet/test", 1).len(), 1);
    let (code, log) = server.stop();
    assert_eq!(code, Some(0), "{log}");
    assert_eq!(first.wait("mesonet/status", 2)[1].payload["status"], "offline");
    let listed = run(&folder, &["mqtt", "list", "--config", &file]);
    assert!(
        listed.starts_with(&format!("wx  {address}: 6 published, the last one 20")),
        "{listed}"
    );
    // Without the authority, nothing is sent.
    let file = write(&folder, &table(&address, "timeout_s = 5"));
    let mut test = command(folder.path(), &["mqtt", "test", "wx", "--config", &file]);
    let output = test.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success() && text.contains("TLS: invalid peer certificate"), "{text}");
}

#[test]
#[ignore = "needs mosquitto and a server with the feature mqtt: tests/run broker"]
fn a_wrong_password_is_named_and_the_events_arrive_once_it_is_right() {
    let folder = TempDir::new().unwrap();
    let users = folder.path().join("users").display().to_string();
    let made =
        Command::new("mosquitto_passwd").args(["-b", "-c", &users, "me", "hunter2"]).status();
    assert!(made.unwrap().success());
    let broker = Mosquitto::new(folder, "allow_anonymous false\npassword_file FOLDER/users");
    let folder = TempDir::new().unwrap();
    let password = folder.path().join("password");
    fs::write(&password, "wrong").unwrap();
    let access = format!("user = \"me\"\npassword_file = \"{}\"", password.display());
    let file = write(&folder, &table(&broker.address(), &format!("{access}\n{TEMPERATURES}")));
    let server = start(&folder, &file, "live");
    push_readings(&server, &[("CYYZ", 10, 16)]);
    let token = run(&folder, &["token", "--plan", "commercial", "--staff"]);
    assert_eq!(send(server.address(), "GET /api/v1/mqtt", &[], "").status(), 401);
    let mut error = String::new();
    wait("the failure is known", || {
        let listed = send(server.address(), "GET /api/v1/mqtt", &bearer(&token), "").json();
        let one = &listed["brokers"][0];
        assert_eq!((&one["name"], &one["isConnected"]), (&"wx".into(), &false.into()));
        error = one["lastFailure"]["error"].as_str().unwrap_or_default().to_owned();
        !error.is_empty()
    });
    assert_eq!(error, "the broker refuses the user \"me\" or its password (NotAuthorized)");
    // The file is read at each connection.
    fs::write(&password, "hunter2\n").unwrap();
    let subscriber = broker.subscribe(&["-h", "127.0.0.1", "-u", "me", "-P", "hunter2"]);
    assert_eq!(subscriber.wait("mesonet/readings/METAR/CYYZ", 1).len(), 1);
    let (_, log) = server.stop();
    assert!(log.contains(&error) && !log.contains("hunter2"), "{log}");
}

#[test]
#[ignore = "needs mosquitto and a server with the feature mqtt: tests/run broker"]
fn a_broker_that_was_away_gets_everything_in_order() {
    let mut broker = Mosquitto::plain();
    let folder = TempDir::new().unwrap();
    let file = write(&folder, &table(&broker.address(), TEMPERATURES));
    let server = start(&folder, &file, "live");
    let all = stations(300);
    for (at, part) in all.chunks(10).enumerate() {
        if [5, 15].contains(&at) {
            broker.kill();
        }
        if [10, 20].contains(&at) {
            broker.restart();
        }
        let readings: Vec<_> = part.iter().map(|station| (&**station, 5, 10)).collect();
        push_readings(&server, &readings);
    }
    let topic = |station: &String| format!("mesonet/readings/METAR/{station}/airTemperature");
    wait("the last one arrives", || broker.received().contains(&topic(&all[299])));
    let received = broker.received();
    let distinct: BTreeSet<&String> = received.iter().collect();
    assert_eq!(distinct.len(), all.len());
    // First deliveries come in the order of the batches.
    let mut seen = BTreeSet::new();
    let firsts = received.iter().filter(|topic| seen.insert(*topic));
    let batch = |of: &String| all.iter().position(|station| topic(station) == *of).unwrap() / 10;
    assert!(firsts.map(batch).is_sorted());
    server.stop();
}

#[test]
#[ignore = "needs mosquitto and a server with the feature mqtt: tests/run broker"]
fn a_server_that_is_killed_loses_none_of_a_thousand() {
    let broker = Mosquitto::plain();
    let subscriber = broker.subscribe(&[]);
    let folder = TempDir::new().unwrap();
    let file = write(&folder, &table(&broker.address(), TEMPERATURES));
    let mut server = start(&folder, &file, "live");
    let all = stations(1_000);
    let mut kills = 0;
    for (at, part) in all.chunks(20).enumerate() {
        let readings: Vec<_> = part.iter().map(|station| (&**station, 5, 10)).collect();
        push_readings(&server, &readings);
        if at % 6 == 5 {
            // At moments that differ.
            sleep(Duration::from_millis(at as u64 * 7 % 40));
            server.kill();
            kills += 1;
            server = start(&folder, &file, "live");
        }
    }
    let topic = |station: &String| format!("mesonet/readings/METAR/{station}/airTemperature");
    let topics: BTreeSet<String> = all.iter().map(topic).collect();
    let mut got = Vec::new();
    wait("all arrive", || {
        got = subscriber.below("mesonet/readings/");
        got.iter().map(|message| &message.topic).collect::<BTreeSet<_>>().len() == topics.len()
    });
    assert!(kills >= 8);
    assert_eq!(got.iter().map(|message| message.topic.clone()).collect::<BTreeSet<_>>(), topics);
    check_ids(&got);
    assert!(subscriber.below("mesonet/resync").is_empty());
    // The last will of each server that was killed.
    let offline = subscriber.below("mesonet/status");
    assert!(offline.iter().any(|message| message.payload["status"] == "offline"));
    server.stop();
}

#[test]
#[ignore = "needs mosquitto and a server with the feature mqtt: tests/run broker"]
fn what_cannot_be_told_is_said_and_an_older_note_only_repeats() {
    let broker = Mosquitto::plain();
    let subscriber = broker.subscribe(&[]);
    let folder = TempDir::new().unwrap();
    let file = write(&folder, &table(&broker.address(), TEMPERATURES));
    let note = folder.path().join("mesonet-data/mqtt/wx.json");
    let server = start(&folder, &file, "live");
    wait("it begins", || note.exists());
    let begun = fs::read(&note).unwrap();
    push_readings(&server, &[("CYYZ", 10, 16)]);
    subscriber.wait("mesonet/readings/", 1);
    server.stop();
    // Of before the reading.
    let done = fs::read(&note).unwrap();
    assert_ne!(begun, done);
    fs::write(&note, &begun).unwrap();
    let server = start(&folder, &file, "live");
    let got = subscriber.wait("mesonet/readings/", 2);
    assert_eq!(got[0], got[1]);
    server.stop();
    // Cut.
    fs::write(&note, &done[..done.len() / 2]).unwrap();
    let server = start(&folder, &file, "live");
    let resync = subscriber.wait("mesonet/resync", 1);
    assert_eq!(resync[0].payload["reason"], "the note of what was sent is damaged");
    push_readings(&server, &[("CYYZ", 9, 17)]);
    subscriber.wait("mesonet/readings/", 3);
    server.stop();
    assert_eq!(fs::read(note.with_extension("damaged")).unwrap(), done[..done.len() / 2]);
    // Once it is said, it is not said again.
    start(&folder, &file, "live").stop();
    assert_eq!(subscriber.below("mesonet/resync").len(), 1);
    // Of another record.
    fs::remove_file(folder.path().join("mesonet-data/live.sqlite")).unwrap();
    let server = start(&folder, &file, "live");
    let resync = subscriber.wait("mesonet/resync", 2);
    assert_eq!(resync[1].payload["reason"], "the id is of another record, or too old");
    let (_, log) = server.stop();
    assert!(log.contains("mqtt wx: messages are missing: the id is of another record"), "{log}");
    assert_eq!(subscriber.below("mesonet/readings/").len(), 3);
}

#[test]
#[ignore = "needs mosquitto and a server with the feature mqtt: tests/run broker"]
fn names_of_any_characters_are_one_level_and_an_alert_ends() {
    let broker = Mosquitto::plain();
    let subscriber = broker.subscribe(&[]);
    let folder = TempDir::new().unwrap();
    let file =
        write(&folder, &table(&broker.address(), "prefix = \"ca/wx\"\nfilter = \"topics=alerts\""));
    let server = start(&folder, &file, "live");
    let (first, sent) = cap("a/+/#/%é", "Alert", "Severe", None);
    push(&server, &first);
    let topic = "ca/wx/alerts/a%2F%2B%2F%23%2F%25é";
    let got = subscriber.wait("ca/wx/alerts/", 1);
    assert_eq!(
        (&*got[0].topic, &got[0].payload["properties"]["status"]),
        (topic, &"Active".into())
    );
    assert_eq!(broker.subscribe(&[]).wait("ca/wx/alerts/", 1)[0].payload, got[0].payload);
    let (cancel, _) = cap("urn:oid:3", "Cancel", "Severe", Some(("a/+/#/%é", &sent)));
    push(&server, &cancel);
    let got: Vec<_> =
        subscriber.wait(topic, 3).into_iter().filter(|message| message.topic == topic).collect();
    assert_eq!(got[1].payload["properties"]["status"], "Cancelled");
    assert!(got[2].payload.is_null() || got[2].payload == "", "{:?}", got[2]);
    server.stop();
    // The broker has forgotten it.
    let later = broker.subscribe(&[]);
    later.wait("ca/wx/status", 1);
    assert!(later.below(topic).is_empty());
}

#[test]
#[ignore = "needs mosquitto and a server with the feature mqtt: tests/run broker"]
fn a_message_that_is_too_long_for_the_broker_is_left_out_and_named() {
    let broker =
        Mosquitto::new(TempDir::new().unwrap(), "allow_anonymous true\nmax_packet_size 600");
    let subscriber = broker.subscribe(&[]);
    let folder = TempDir::new().unwrap();
    let filter = "filter = \"topics=readings,alerts&names=airTemperature\"";
    let file = write(&folder, &table(&broker.address(), filter));
    let server = start(&folder, &file, "live");
    push(&server, &cap("urn:oid:1", "Alert", "Severe", None).0);
    wait("it is left out", || {
        run(&folder, &["mqtt", "list", "--config", &file]).ends_with(", 1 left out")
    });
    push_readings(&server, &[("CYYZ", 10, 16)]);
    subscriber.wait("mesonet/readings/", 1);
    assert!(subscriber.below("mesonet/alerts/").is_empty());
    let (_, log) = server.stop();
    let text = "a message for the topic \"mesonet/alerts/urn:oid:1\" is left out: it is longer than the broker allows";
    assert!(log.contains(text), "{log}");
}

/// Such a broker refuses a last will that is to be retained.
#[test]
#[ignore = "needs mosquitto and a server with the feature mqtt: tests/run broker"]
fn a_broker_that_retains_nothing_gets_events_that_are_not_retained() {
    let settings = "allow_anonymous true\nretain_available false";
    let broker = Mosquitto::new(TempDir::new().unwrap(), settings);
    let subscriber = broker.subscribe(&[]);
    let folder = TempDir::new().unwrap();
    let filter = "filter = \"topics=readings,alerts&names=airTemperature\"";
    let server = start(&folder, &write(&folder, &table(&broker.address(), filter)), "live");
    wait("it connects", || broker.log().contains("as mesonet-wx"));
    push_readings(&server, &[("CYYZ", 10, 16)]);
    let got = subscriber.wait("mesonet/readings/", 1);
    assert!(!got[0].is_retained);
    let (_, log) = server.stop();
    assert!(log.contains("the broker retains no messages"), "{log}");
}

#[test]
#[ignore = "needs mosquitto and a server with the feature mqtt: tests/run broker"]
fn two_servers_with_one_client_id_say_so() {
    let broker = Mosquitto::plain();
    let folders = [TempDir::new().unwrap(), TempDir::new().unwrap()];
    let servers: Vec<Server> = folders
        .iter()
        .map(|folder| {
            let server =
                start(folder, &write(folder, &table(&broker.address(), TEMPERATURES)), "live");
            wait("it connects", || broker.log().contains("as mesonet-wx"));
            server
        })
        .collect();
    wait("one ends the connection of the other", || broker.log().contains("already connected"));
    sleep(Duration::from_millis(500));
    let said = servers.into_iter().map(|server| server.stop().1);
    let text = "another client with the client id \"mesonet-wx\": each server needs one of its own";
    assert!(said.collect::<String>().contains(text));
}

#[test]
#[ignore = "needs mosquitto and a server with the feature mqtt: tests/run broker"]
fn a_filter_is_checked_and_one_of_a_station_that_comes_later_is_waited_for() {
    let broker = Mosquitto::plain();
    let subscriber = broker.subscribe(&[]);
    let folder = TempDir::new().unwrap();
    let refused = |filter: &str| {
        let file = write(&folder, &table(&broker.address(), &format!("filter = \"{filter}\"")));
        let args = ["serve", "--listen", "127.0.0.1:0", "--now", "live", "--config", &file];
        let output = command(folder.path(), &args).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let text = refused("topics=weather");
    assert!(text.contains("mqtt wx: filter: topics must be some of"), "{text}");
    let text = refused("tropics=readings");
    assert!(
        text.contains("mqtt wx: filter: unknown parameter \\\"tropics\\\"")
            || text.contains("tropics"),
        "{text}"
    );
    let filter = "filter = \"topics=readings&names=airTemperature&stationIds=CYYZ\"";
    let file = write(&folder, &table(&broker.address(), filter));
    let server = start(&folder, &file, "live");
    subscriber.wait("mesonet/status", 1);
    push_readings(&server, &[("CYYZ", 10, 16), ("CYUL", 10, 17)]);
    let got = subscriber.wait("mesonet/readings/", 1);
    assert_eq!(got[0].topic, "mesonet/readings/METAR/CYYZ/airTemperature");
    push_readings(&server, &[("CYUL", 9, 17), ("CYYZ", 9, 17)]);
    let got = subscriber.wait("mesonet/readings/", 2);
    assert!(got.iter().all(|message| message.topic == got[0].topic));
    server.stop();
}

/// The notification is kept in the file that `MESONET_WIS2_NOTIFICATION` names, for `tests/wis2`.
#[test]
#[ignore = "needs mosquitto and a server with the feature mqtt: tests/run broker"]
fn a_report_is_notified_in_the_form_of_wis2() {
    let broker = Mosquitto::plain();
    let subscriber = broker.subscribe(&[]);
    let folder = TempDir::new().unwrap();
    let wis2 =
        "wis2_centre_id = \"ca-example\"\nwis2_metadata_id = \"urn:wmo:md:ca-example:metar\"";
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = free.local_addr().unwrap();
    drop(free);
    let url = format!("public_url = \"http://{listen}/\"");
    let file = write(&folder, &table(&broker.address(), &format!("{wis2}\n{url}")));
    let hash = mesonet_service::ingest::KeyHash::of(KEY);
    let listen = listen.to_string();
    let args = [
        "--listen",
        &listen,
        "--now",
        "live",
        "--config",
        &file,
        "--ingest-key-hashes",
        hash.as_str(),
    ];
    let server = Server::spawn(command(folder.path(), &args));
    push_readings(&server, &[("CYYZ", 10, 16), ("CYUL", 10, 17)]);
    let topic = "origin/a/wis2/ca-example/data/core/weather/surface-based-observations/synop";
    let got = subscriber.wait(topic, 2);
    let message = got.iter().map(|message| &message.payload).find(|message| {
        message["properties"]["data_id"].as_str().unwrap().contains("/METAR_CYYZ_")
    });
    let message = message.unwrap();
    if let Some(path) = std::env::var_os("MESONET_WIS2_NOTIFICATION") {
        fs::write(path, message.to_string()).unwrap();
    }
    let content = message["properties"]["content"]["value"].as_str().unwrap();
    let readings: Vec<Value> = serde_json::from_str(content).unwrap();
    assert!(readings.len() > 1 && readings.iter().all(|reading| reading["nativeId"] == "CYYZ"));
    // The link leads to the same readings.
    let link = message["links"][0]["href"].as_str().unwrap();
    let path = link.strip_prefix(&format!("http://{listen}")).unwrap();
    let (head, body) = server.get(path);
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}{body}");
    let linked: Value = serde_json::from_str(&body).unwrap();
    let station = readings[0]["stationId"].as_str().unwrap();
    let linked = linked["stations"][station]["readings"].as_array().unwrap();
    assert_eq!(linked.len(), readings.len());
    for (one, other) in linked.iter().zip(&readings) {
        assert_eq!((&one["typeId"], &one["value"]), (&other["typeId"], &other["value"]));
    }
    server.stop();
}
