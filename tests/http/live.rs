//! `/live` over real sockets: events as they come, across restarts, kills and slow readers.
//!
//! `MESONET_KILLS` is the number of kills, 10 by default.

use std::io::Read;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use mesonet::Iso8601;
use mesonet_service::clock::system_ms;
use mesonet_service::ingest::KeyHash;
use serde_json::Value;
use socket2::{Domain, Socket, Type};
use tempfile::TempDir;

use crate::follower::{KEY, run};
use crate::listener::{Event, Listener, numbers, push, push_report, report, start};
use crate::process::{PATIENCE, Server, data};

/// What is refused, and the text that says why.
const REFUSED: [(&str, &str); 11] = [
    (
        "topics=weather",
        "topics must be some of readings, verdicts, alerts, runs, products, feeds, comma-separated; got \
         \"weather\"",
    ),
    (
        "topics=",
        "topics must be some of readings, verdicts, alerts, runs, products, feeds, comma-separated; got none",
    ),
    (
        "severity=extreme",
        "severity must be some of Extreme, Severe, Moderate, Minor, Unknown, comma-separated; got \
         \"extreme\"",
    ),
    ("stationIds=", "stationIds holds no id; it must hold 1 to 5000"),
    (
        "bbox=-80,43,-79,44&stationIds=700f7e18-e84e-51b2-90bd-f054766d1ec5",
        "stations are given twice; give either stationIds or bbox",
    ),
    ("province=ON&stationIds=CYYZ", "stations are given twice; give either stationIds or province"),
    ("radiusKm=10", "radiusKm needs lat and lon"),
    ("minLat=1", "a box needs all of minLat, minLon, maxLat, maxLon; got only minLat"),
    ("lat=4", "a place needs both lat and lon, or neither"),
    ("lang=de", "lang must be en or fr; got \"de\""),
    ("topic=readings", "unknown parameter \"topic\"; the name is topics"),
];

pub const TEMPERATURE: &str = "?topics=readings&names=airTemperature";

#[test]
fn what_is_pushed_comes_at_once_and_the_stream_ends_with_the_server() {
    let folder = TempDir::new().unwrap();
    let server = start(&folder, &[]);
    let mut listener = Listener::of(server.address(), TEMPERATURE, None).unwrap();
    for line in [
        "HTTP/1.0 200 OK",
        "content-type: text/event-stream",
        "cache-control: no-store",
        "x-accel-buffering: no",
    ] {
        assert!(listener.head.contains(&format!("{line}\r\n")), "{}", listener.head);
    }
    let first = listener.next().unwrap();
    assert_eq!((&*first.name, &first.data["topics"][0]), ("position", &"readings".into()));
    push_report(server.address(), 0).unwrap();
    let event = listener.next().unwrap();
    assert_eq!((&*event.name, numbers(&event)), ("readings", vec![0]));
    // The data is what the endpoint of readings answers.
    let (_, body) = server.get(
        "/api/v1/stations/readings?names=airTemperature&start=2024-08-03T00:00:00Z\
         &end=2024-08-03T01:00:00Z",
    );
    assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), event.data);
    // The same report again changes nothing.
    push_report(server.address(), 0).unwrap();
    push_report(server.address(), 1).unwrap();
    assert_eq!(numbers(&listener.next().unwrap()), [1]);
    for (query, expected) in REFUSED {
        let (head, body) = server.get(&format!("/api/v1/live?{query}"));
        assert!(head.starts_with("HTTP/1.1 400 "), "{query}: {head}");
        assert_eq!(serde_json::from_str::<String>(&body).unwrap(), expected);
    }
    let started = Instant::now();
    let (status, log) = server.stop();
    assert_eq!((status, listener.next()), (Some(0), None));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(log.contains("path=\"/api/v1/live\" status=200") && !log.contains("cut off"), "{log}");
}

#[test]
fn a_thousand_events_and_many_kills_lose_and_double_none() {
    let kills: u32 = std::env::var("MESONET_KILLS").map_or(10, |text| text.parse().unwrap());
    kill_often(&TempDir::new().unwrap(), &[], 1_000, kills);
}

/// Waits until something is done. Returns false if there is no progress for a long time: how long all of
/// it takes depends on what else the machine does.
fn waited_until<P: PartialEq>(is_done: impl Fn() -> bool, progress: impl Fn() -> P) -> bool {
    let (mut last, mut since) = (progress(), Instant::now());
    while !is_done() {
        let now = progress();
        if now != last {
            (last, since) = (now, Instant::now());
        }
        if since.elapsed() > PATIENCE {
            return false;
        }
        sleep(Duration::from_millis(1));
    }
    true
}

/// The server is killed at any moment while reports are pushed; a listener who comes back with the last
/// id misses none and gets none twice.
pub fn kill_often(folder: &TempDir, args: &[&str], reports: u32, kills: u32) {
    let to: Mutex<Option<SocketAddr>> = Mutex::default();
    let (acknowledged, is_done) = (AtomicU32::new(0), AtomicBool::new(false));
    let got: Mutex<Vec<u32>> = Mutex::default();
    let address = || *to.lock().unwrap();
    scope(|threads| {
        threads.spawn(|| {
            while !is_done.load(Ordering::SeqCst) {
                let number = acknowledged.load(Ordering::SeqCst);
                if address().is_some_and(|to| push_report(to, number).is_some()) {
                    acknowledged.store(number + 1, Ordering::SeqCst);
                } else {
                    sleep(Duration::from_millis(10));
                }
            }
        });
        threads.spawn(|| {
            let mut id: Option<String> = None;
            while !is_done.load(Ordering::SeqCst) {
                let listener =
                    address().and_then(|to| Listener::of(to, TEMPERATURE, id.as_deref()).ok());
                let Some(mut listener) = listener else {
                    sleep(Duration::from_millis(5));
                    continue;
                };
                while let Some(event) = listener.next() {
                    match &*event.name {
                        "position" => {}
                        "readings" => got.lock().unwrap().extend(numbers(&event)),
                        _ => panic!("{event:?}"),
                    }
                    id = Some(event.id);
                }
            }
        });
        let mut random = 1_u64;
        let mut chance = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        for _ in 0..kills {
            let server = start(folder, args);
            *to.lock().unwrap() = Some(server.address());
            let before = acknowledged.load(Ordering::SeqCst);
            let after = before + 1 + u32::try_from(chance(40)).unwrap();
            let now = || acknowledged.load(Ordering::SeqCst);
            assert!(waited_until(|| now() >= after, now), "nothing is acknowledged");
            sleep(Duration::from_micros(chance(20_000)));
            server.kill();
        }
        let server = start(folder, args);
        *to.lock().unwrap() = Some(server.address());
        let is_whole = || {
            let acknowledged = acknowledged.load(Ordering::SeqCst);
            acknowledged >= reports && got.lock().unwrap().len() >= acknowledged as usize
        };
        let progress = || (acknowledged.load(Ordering::SeqCst), got.lock().unwrap().len());
        waited_until(is_whole, progress);
        is_done.store(true, Ordering::SeqCst);
        server.stop();
    });
    let (acknowledged, got) = (acknowledged.into_inner(), got.into_inner().unwrap());
    assert!(acknowledged >= reports, "{acknowledged}");
    let all: Vec<u32> = (0..u32::try_from(got.len()).unwrap()).collect();
    assert_eq!(got, all);
    // One may have been on its way at the end.
    assert!(got.len().abs_diff(acknowledged as usize) <= 1, "{} of {acknowledged}", got.len());
}

#[test]
fn a_slow_reader_is_told_to_begin_anew_and_others_do_not_wait() {
    // A reader who takes nothing for 20 s is disconnected, also on a busy machine. So they are no more than it
    // takes to fill the socket and the memory.
    const BATCHES: u32 = 14;
    const REPORTS: u32 = 60;
    let folder = TempDir::new().unwrap();
    let server = start(&folder, &["--live-memory-bytes", "65536"]);
    let query = "?topics=readings";
    let mut fast = Listener::of(server.address(), query, None).unwrap();
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    socket.connect(&server.address().into()).unwrap();
    let mut slow = Listener::over(socket.into(), query, None).unwrap();
    assert_eq!(fast.next().unwrap().name, "position");
    for batch in 0..BATCHES {
        let texts = (0..REPORTS).map(|at| report(batch * REPORTS + at).1);
        let (name, _) = report(batch * REPORTS);
        let texts: String = texts.collect();
        push(server.address(), &name, texts.as_bytes()).unwrap();
        let event = fast.next().unwrap();
        assert_eq!(event.name, "readings", "{batch}");
    }
    let names = |slow: &mut Listener| -> Vec<String> {
        let mut names = Vec::new();
        while names.last().is_none_or(|name| name != "resync") {
            names.push(slow.next().unwrap().name);
        }
        names
    };
    let got = names(&mut slow);
    assert!(got.len() < BATCHES as usize, "{got:?}");
    push_report(server.address(), BATCHES * REPORTS).unwrap();
    assert_eq!(slow.next(), fast.next());
}

fn unpacked(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(std::fs::File::open(data(name)).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn alerts_come_by_place_zone_and_severity_and_again_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let hash = KeyHash::of(KEY);
    let args = ["--now", "2026-05-14T16:40:00Z", "--ingest-key-hashes", hash.as_str()];
    let server = Server::start(&folder, &args);
    let all = Listener::of(server.address(), "?topics=alerts", None);
    let severe = Listener::of(server.address(), "?topics=alerts&severity=Extreme,Severe", None);
    let nowhere = Listener::of(server.address(), "?topics=alerts&lat=0&lon=0", None);
    let (mut all, mut severe, mut nowhere) = (all.unwrap(), severe.unwrap(), nowhere.unwrap());
    let begin = [&mut all, &mut severe, &mut nowhere].map(|listener| listener.next().unwrap());
    let file = unpacked("nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz");
    push(server.address(), "alerts.geojson", &file).unwrap();
    let (_, body) = server.get("/api/v1/alerts");
    let body: Value = serde_json::from_str(&body).unwrap();
    let known = body["features"].as_array().unwrap();
    assert!(known.len() > 100);
    let feature = |event: &Event| {
        assert_eq!(event.name, "alerts");
        assert_eq!(event.data["features"].as_array().unwrap().len(), 1);
        event.data["features"][0].clone()
    };
    let mut got: Vec<Value> = known.iter().map(|_| feature(&all.next().unwrap())).collect();
    let by_id = |features: &mut Vec<Value>| {
        features.sort_by(|a, b| a["id"].as_str().cmp(&b["id"].as_str()));
    };
    let mut known = known.clone();
    by_id(&mut got);
    by_id(&mut known);
    assert_eq!(got, known);
    let is_severe = |feature: &&Value| {
        ["Extreme", "Severe"].iter().any(|word| feature["properties"]["severity"] == *word)
    };
    let count = known.iter().filter(is_severe).count();
    assert!(count > 10 && count < known.len());
    let mut of_severe: Vec<Value> = (0..count).map(|_| feature(&severe.next().unwrap())).collect();
    by_id(&mut of_severe);
    assert_eq!(of_severe, known.iter().filter(is_severe).cloned().collect::<Vec<_>>());
    server.kill();
    assert_eq!(nowhere.next(), None);
    let server = Server::start(&folder, &args);
    // Who has nothing of it gets each once.
    let mut again = Listener::of(server.address(), "?topics=alerts", Some(&begin[0].id)).unwrap();
    assert_eq!(again.next().unwrap().name, "position");
    let mut got: Vec<Value> = known.iter().map(|_| feature(&again.next().unwrap())).collect();
    by_id(&mut got);
    assert_eq!(got, known);
    push_report(server.address(), 0).unwrap();
}

#[test]
fn runs_and_products_come_and_each_address_has_so_many_listeners() {
    let folder = TempDir::new().unwrap();
    let args = ["--live-address-listeners", "1", "--live-listeners", "5"];
    let server = Server::start(&folder, &args);
    let mut listener = Listener::of(server.address(), "?topics=runs,products", None).unwrap();
    let second = Listener::of(server.address(), "", None).unwrap();
    assert!(second.head.starts_with("HTTP/1.0 429 "), "{}", second.head);
    let expected =
        "\"1 callers of this address listen already; the limit live_address_listeners is 1\"";
    assert_eq!(second.body(), expected);
    let begin = listener.next().unwrap();
    // The sample makes its product once somebody asks for it.
    let (_, list) = server.get("/api/v1/products");
    let list: Value = serde_json::from_str(&list).unwrap();
    let (mut runs, mut products) = (Vec::new(), Vec::new());
    while runs.len() < 2 || products.is_empty() {
        let event = listener.next().unwrap();
        match &*event.name {
            "runs" => runs.push(event.data),
            "products" => products.push(event.data),
            _ => panic!("{event:?}"),
        }
    }
    let timestamp = &list["products"]["reflectivity"]["durations"][0]["timestamps"][0];
    assert_eq!(products[0], serde_json::json!({ "type": "reflectivity", "timestamp": timestamp }));
    for run in runs {
        let (_, known) = server.get(&format!("/models/{}/runs", run["model"].as_str().unwrap()));
        let known: Value = serde_json::from_str(&known).unwrap();
        let mut detail = run.clone();
        detail.as_object_mut().unwrap().remove("model");
        assert_eq!(known["details"][0], detail);
    }
    drop(listener);
    let again = |id: &str| {
        let started = Instant::now();
        loop {
            let listener = Listener::of(server.address(), "?topics=products", Some(id)).unwrap();
            // The place of the other one is free once the server knows that it is gone.
            if listener.head.contains(" 200 ") || started.elapsed() > PATIENCE {
                return listener;
            }
            sleep(Duration::from_millis(50));
        }
    };
    let mut listener = again(&begin.id);
    assert_eq!(listener.next().unwrap().name, "position");
    assert_eq!(listener.next().unwrap().data, products[0]);
}

#[test]
fn a_feed_that_is_late_is_told_and_so_is_that_it_reports_again() {
    let folder = TempDir::new().unwrap();
    let server = start(&folder, &["--late-after", "never,METAR=90m"]);
    let mut listener = Listener::of(server.address(), "?topics=feeds", None).unwrap();
    assert_eq!(listener.next().unwrap().name, "position");
    // A report of a year ago.
    push_report(server.address(), 0).unwrap();
    let old = serde_json::json!({
        "network": "METAR", "stations": 1, "newest": "2024-08-03T00:00:00Z", "lateAfterMinutes": 90,
        "late": true,
    });
    let late = listener.next().unwrap();
    assert_eq!((&*late.name, &late.data), ("feeds", &old));
    let feeds = || serde_json::from_str::<Value>(&server.get("/api/v1/feeds").1).unwrap();
    assert_eq!(feeds(), serde_json::json!({ "feeds": [old] }));

    let now = Iso8601(system_ms()).to_string();
    let part = |range: std::ops::Range<usize>| &now[range];
    let name = format!("sa_{}{}{}.txt", part(0..4), part(5..7), part(8..10));
    let time = format!("{}{}{}", part(8..10), part(11..13), part(14..16));
    let text = format!("METAR CYYZ {time}Z 24012KT 15SM 20/M01 A2991=\n");
    push(server.address(), &name, text.as_bytes()).unwrap();
    let back = listener.next().unwrap();
    assert_eq!((&*back.name, &back.data["late"]), ("feeds", &false.into()));
    assert_eq!(feeds()["feeds"][0], back.data);
    // Who comes back after the first event gets the second.
    drop(server);
    let server = start(&folder, &["--late-after", "never,METAR=90m"]);
    let mut again = Listener::of(server.address(), "?topics=feeds", Some(&late.id)).unwrap();
    assert_eq!(again.next().unwrap().name, "position");
    assert_eq!(again.next().unwrap().data, back.data);
}

/// A follower tells what each backup brings, with the ids of its own.
#[test]
fn a_follower_tells_what_comes_with_a_backup() {
    let folder = TempDir::new().unwrap();
    let server = start(&folder, &["--data", "own"]);
    push_report(server.address(), 0).unwrap();
    let back = || run(folder.path(), &["backup", "--data", "own", "--to", "backups"]);
    back();
    let args = ["--data", "follower", "--follow", "backups", "--follow-every-s", "1"];
    let follower = start(&folder, &args);
    let mut listener = Listener::of(follower.address(), TEMPERATURE, None).unwrap();
    assert_eq!(listener.next().unwrap().name, "position");
    push_report(server.address(), 1).unwrap();
    push_report(server.address(), 2).unwrap();
    back();
    let got = [listener.next().unwrap(), listener.next().unwrap()];
    assert_eq!(got.each_ref().map(numbers), [[1], [2]]);
    follower.kill();
    push_report(server.address(), 3).unwrap();
    back();
    let follower = start(&folder, &args);
    let mut listener = Listener::of(follower.address(), TEMPERATURE, Some(&got[0].id)).unwrap();
    assert_eq!(listener.next().unwrap().name, "position");
    assert_eq!(numbers(&listener.next().unwrap()), [2]);
    assert_eq!(numbers(&listener.next().unwrap()), [3]);
}
