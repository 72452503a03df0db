use mesonet::time::parse_instant;

use super::replay_server::{Page, ReplayServer, recorded_bytes};
use super::*;

const AGENT: &str = "(mesonet tests, weather@example.org)";
const YPX: &str = "swob/cioos/2023-03-01-0341-CYPX-AUTO-swob.xml.gz";
const WTS: &str = "swob/cioos/2023-03-01-0354-CWTS-AUTO-minute-swob.xml.gz";
const VTF: &str = "swob/cioos/2023-03-01-0455-CVTF-AUTO-minute-swob.xml.gz";

/// Keeps what it takes, or takes nothing.
#[derive(Default)]
struct RecordingSink {
    files: Mutex<Vec<(String, usize)>>,
    is_full: AtomicBool,
}

impl Sink for RecordingSink {
    fn take(&self, delivery: &Delivery<'_>) -> Result<DeliveryResult, Unavailable> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(Unavailable("the disk is full".to_owned()));
        }
        let mut faults = Vec::new();
        for file in delivery.files {
            if file.bytes.starts_with(b"not a feed") {
                faults.push(format!("{}: of no kind", file.address));
            } else {
                lock(&self.files).push((file.name.to_owned(), file.bytes.len()));
            }
        }
        Ok(DeliveryResult { faults, ..DeliveryResult::default() })
    }
}

struct Setup {
    server: ReplayServer,
    sink: Arc<RecordingSink>,
    config: FetchConfig,
    memory: tempfile::TempDir,
    poller: Poller,
}

impl Setup {
    fn new(source: FetchSource, path: &str, change: impl FnOnce(&mut FetchConfig)) -> Self {
        let server = ReplayServer::start();
        let mut config = FetchConfig::new(source, AGENT);
        config.url = Some(server.url(path));
        change(&mut config);
        let sink = Arc::new(RecordingSink::default());
        let memory = tempfile::tempdir().unwrap();
        let poller = poller(&config, &memory, &sink);
        Self { server, sink, config, memory, poller }
    }

    fn folder(path: &str) -> Self {
        Self::new(FetchSource::DatamartSwob, path, |_| ())
    }

    /// Another process with the same settings.
    fn restart(&mut self) {
        self.poller = poller(&self.config, &self.memory, &self.sink);
    }

    /// Polls at a time. Returns the requests with their status, and the names of what was taken.
    fn poll(&mut self, now: &str) -> (Round, Vec<String>, Vec<String>) {
        let now_ms = parse_instant(now).unwrap();
        self.server.set_now(now_ms);
        let round = self.poller.poll(now_ms, &AtomicBool::new(false));
        let mut taken: Vec<String> = std::mem::take(&mut *lock(&self.sink.files))
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        taken.sort();
        (round, self.server.asked(), taken)
    }

    /// Returns the seconds from a time to the next poll.
    fn pause_s(&self, now: &str) -> f64 {
        (self.poller.next_ms() - parse_instant(now).unwrap()) as f64 / 1000.0
    }
}

fn poller(config: &FetchConfig, memory: &tempfile::TempDir, sink: &Arc<RecordingSink>) -> Poller {
    let sink: Arc<dyn Sink> = Arc::clone(sink) as _;
    Poller::new(config.clone(), Some(memory.path().join("memory.json")), sink).unwrap()
}

#[test]
fn a_file_that_has_not_changed_comes_once_and_the_restarted_server_knows_it_too() {
    let mut setup = Setup::new(FetchSource::Url, "/latest_obs.txt", |_| ());
    setup.server.put_file("/latest_obs.txt", "metar/bulletins/sa.txt", "2023-03-01T04:00:00Z");
    let (round, asked, taken) = setup.poll("2023-03-01T05:00:00Z");
    assert_eq!(asked, ["200 /latest_obs.txt"]);
    assert_eq!(taken, ["latest_obs.txt"]);
    assert_eq!((round.taken, round.unchanged, round.stopped), (1, 0, None));

    let (round, asked, taken) = setup.poll("2023-03-01T05:05:00Z");
    assert_eq!(asked, ["304 /latest_obs.txt"]);
    assert!(taken.is_empty());
    assert_eq!((round.taken, round.unchanged), (0, 1));

    setup.restart();
    assert_eq!(setup.poll("2023-03-01T05:10:00Z").1, ["304 /latest_obs.txt"]);
    setup.server.put_file("/latest_obs.txt", "metar/bulletins/first.txt", "2023-03-01T05:12:00Z");
    assert_eq!(setup.poll("2023-03-01T05:15:00Z").2, ["latest_obs.txt"]);
}

#[test]
fn an_answer_that_says_how_long_it_is_fresh_is_not_asked_for_again_before() {
    let mut setup = Setup::new(FetchSource::Url, "/latest_obs.txt", |_| ());
    setup.server.put_file("/latest_obs.txt", "metar/bulletins/sa.txt", "2023-03-01T04:00:00Z");
    setup.server.set_header("cache-control", "public, max-age=600");
    assert_eq!(setup.poll("2023-03-01T05:00:00Z").1.len(), 1);
    assert_eq!(setup.poll("2023-03-01T05:09:59Z").1.len(), 0);
    assert_eq!(setup.poll("2023-03-01T05:10:00Z").1, ["304 /latest_obs.txt"]);
}

#[test]
fn observations_are_asked_for_station_by_station_and_one_that_fails_is_tried_later() {
    let path = "/stations/{station}/observations?limit=10";
    let mut setup = Setup::new(FetchSource::NwsObservations, path, |config| {
        config.stations = ["KALB", "KXXX", "KTAN"].map(str::to_owned).into();
    });
    for id in ["KALB", "KTAN"] {
        let recorded = format!("nws_observation/{id}_observations_limit1.json");
        let path = format!("/stations/{id}/observations?limit=10");
        setup.server.put_file(&path, &recorded, "2026-07-15T19:50:00Z");
    }
    let problem = r#"{"title":"Unexpected Problem","status":500,"detail":"An unexpected problem"}"#;
    let headers = vec![("content-type", "application/problem+json".to_owned())];
    let path = "/stations/KXXX/observations?limit=10";
    setup.server.put(path, Page::Status(500, headers, problem.to_owned()));
    let (round, asked, taken) = setup.poll("2026-07-15T20:00:00Z");
    assert_eq!(asked.len(), 3);
    assert_eq!(taken, ["KALB-observations", "KTAN-observations"]);
    assert_eq!((round.taken, round.failed, round.stopped), (2, 1, None));

    // No request is made during the pause; then the file is tried again.
    let (_, asked, _) = setup.poll("2026-07-15T20:00:20Z");
    assert_eq!(asked.len(), 2);
    setup.server.put_file(
        path,
        "nws_observation/KSFZ_observations_limit1.json",
        "2026-07-15T20:01:00Z",
    );
    assert_eq!(setup.poll("2026-07-15T20:05:00Z").2, ["KXXX-observations"]);
}

#[test]
fn of_a_folder_only_the_new_files_are_fetched() {
    let mut setup = Setup::folder("/latest/");
    setup.server.put_file("/latest/CYPX-AUTO-swob.xml", YPX, "2023-03-01T03:45:00Z");
    setup.server.put_file("/latest/CWTS-AUTO-minute-swob.xml", WTS, "2023-03-01T03:55:00Z");
    setup.server.put("/latest/README.txt", Page::File(b"Dear reader".to_vec(), 0));
    let (round, _, taken) = setup.poll("2023-03-01T04:00:00Z");
    assert_eq!(taken, ["CWTS-AUTO-minute-swob.xml", "CYPX-AUTO-swob.xml"]);
    assert_eq!((round.listed, round.asked, round.taken), (1, 2, 2));

    assert_eq!(setup.poll("2023-03-01T04:05:00Z").1, ["200 /latest/"]);
    setup.restart();
    assert_eq!(setup.poll("2023-03-01T04:10:00Z").1, ["200 /latest/"]);

    setup.server.put_file("/latest/CVTF-AUTO-minute-swob.xml", VTF, "2023-03-01T04:12:00Z");
    let (_, asked, taken) = setup.poll("2023-03-01T04:15:00Z");
    assert_eq!(asked, ["200 /latest/", "200 /latest/CVTF-AUTO-minute-swob.xml"]);
    assert_eq!(taken, ["CVTF-AUTO-minute-swob.xml"]);

    // The same name with another time is another report.
    setup.server.put_file("/latest/CVTF-AUTO-minute-swob.xml", WTS, "2023-03-01T04:16:00Z");
    assert_eq!(setup.poll("2023-03-01T04:20:00Z").2, ["CVTF-AUTO-minute-swob.xml"]);
}

#[test]
fn a_file_that_changes_within_the_minute_of_the_listing_is_not_missed() {
    let mut setup = Setup::folder("/latest/");
    let path = "/latest/CWTS-AUTO-minute-swob.xml";
    setup.server.put_file(path, WTS, "2023-03-01T04:00:10Z");
    assert_eq!(setup.poll("2023-03-01T04:00:20Z").2.len(), 1);
    // Same minute and, in the listing, same size.
    setup.server.put_file(path, VTF, "2023-03-01T04:00:40Z");
    let (_, asked, taken) = setup.poll("2023-03-01T04:01:20Z");
    assert_eq!((asked.len(), taken.len()), (2, 1));
    assert_eq!(setup.poll("2023-03-01T04:02:20Z").1, ["200 /latest/"]);

    // If nothing changed, a conditional request settles it.
    setup.server.put_file(path, VTF, "2023-03-01T04:03:10Z");
    assert_eq!(setup.poll("2023-03-01T04:03:20Z").2.len(), 1);
    assert_eq!(
        setup.poll("2023-03-01T04:04:20Z").1,
        ["200 /latest/", "304 /latest/CWTS-AUTO-minute-swob.xml"]
    );
    assert_eq!(setup.poll("2023-03-01T04:05:20Z").1, ["200 /latest/"]);
}

#[test]
fn a_tree_is_read_and_a_station_whose_folder_has_not_changed_is_not_asked_for() {
    let mut setup = Setup::folder("/{date}/swob-ml/");
    let at = |rest: &str| format!("/20230301/swob-ml/{rest}");
    setup.server.put_file(
        &at("20230301/CYPX/2023-03-01-0341-CYPX-AUTO-swob.xml"),
        YPX,
        "2023-03-01T03:45:00Z",
    );
    setup.server.put_file(
        &at("20230301/CWTS/2023-03-01-0354-CWTS-AUTO-minute-swob.xml"),
        WTS,
        "2023-03-01T03:55:00Z",
    );
    setup.server.put_file(
        &at("partners/bc-crd/20230301/fw006/2023-03-01-0300-bc-crd-fw006-AUTO-swob.xml"),
        VTF,
        "2023-03-01T03:55:00Z",
    );
    let (round, _, taken) = setup.poll("2023-03-01T04:00:00Z");
    assert_eq!(taken.len(), 3);
    // The day, its two folders, two stations, and the network, day and station of the partner.
    assert_eq!((round.listed, round.stopped), (8, None));

    let (_, asked, _) = setup.poll("2023-03-01T04:05:00Z");
    let folders = ["", "20230301/", "partners/", "partners/bc-crd/", "partners/bc-crd/20230301/"];
    assert_eq!(asked, folders.map(|folder| format!("200 {}", at(folder))));

    setup.server.put_file(
        &at("20230301/CWTS/2023-03-01-0355-CWTS-AUTO-minute-swob.xml"),
        WTS,
        "2023-03-01T04:06:00Z",
    );
    let (round, asked, taken) = setup.poll("2023-03-01T04:10:00Z");
    assert_eq!(taken, ["2023-03-01-0355-CWTS-AUTO-minute-swob.xml"]);
    assert_eq!((round.listed, asked.len()), (6, 7));
}

#[test]
fn over_midnight_the_day_before_is_looked_at_until_all_has_come() {
    let mut setup = Setup::folder("/{date}/swob-ml/");
    let put = |setup: &Setup, day: &str, time: &str, changed: &str| {
        let path = format!("/{day}/swob-ml/CWTS/2023-03-01-{time}-CWTS-AUTO-minute-swob.xml");
        setup.server.put_file(&path, WTS, changed);
    };
    put(&setup, "20230301", "2350", "2023-03-01T23:50:00Z");
    assert_eq!(setup.poll("2023-03-01T23:55:00Z").2.len(), 1);
    // One more comes before midnight, and one after into the folder of the new day.
    put(&setup, "20230301", "2355", "2023-03-01T23:57:00Z");
    put(&setup, "20230302", "2356", "2023-03-02T00:01:00Z");
    let (_, _, taken) = setup.poll("2023-03-02T00:05:00Z");
    assert_eq!(taken.len(), 2);
    put(&setup, "20230301", "2359", "2023-03-02T00:06:00Z");
    assert_eq!(setup.poll("2023-03-02T01:30:00Z").2.len(), 1);
    // The grace period is over: yesterday is no longer requested.
    setup.poll("2023-03-02T03:31:00Z");
    let (_, asked, _) = setup.poll("2023-03-02T03:36:00Z");
    assert!(asked.iter().all(|path| path.starts_with("200 /20230302/")), "{asked:?}");
}

#[test]
fn a_fetcher_that_was_off_over_midnight_looks_at_the_day_that_it_missed() {
    let mut setup = Setup::folder("/{date}/swob-ml/");
    let path =
        |day: &str, time: &str| format!("/{day}/swob-ml/CWTS/{time}-CWTS-AUTO-minute-swob.xml");
    setup.server.put_file(&path("20230301", "2023-03-01-1200"), WTS, "2023-03-01T12:01:00Z");
    assert_eq!(setup.poll("2023-03-01T12:10:00Z").2.len(), 1);
    setup.server.put_file(&path("20230301", "2023-03-01-2000"), WTS, "2023-03-01T20:01:00Z");
    setup.server.put_file(&path("20230302", "2023-03-02-0800"), WTS, "2023-03-02T08:01:00Z");
    setup.restart();
    assert_eq!(setup.poll("2023-03-02T09:00:00Z").2.len(), 2);
}

#[test]
fn a_server_that_asks_for_patience_gets_it() {
    let mut setup = Setup::new(FetchSource::Url, "/obs.txt", |_| ());
    for (status, retry_after) in [(429, "1800"), (503, "Wed, 01 Mar 2023 05:30:00 GMT")] {
        let headers = vec![("retry-after", retry_after.to_owned())];
        setup.server.put("/obs.txt", Page::Status(status, headers, String::new()));
        let (round, _, _) = setup.poll("2023-03-01T05:00:00Z");
        assert_eq!(round.stopped, Some(format!("the server asks to wait (status {status})")));
        assert_eq!(setup.pause_s("2023-03-01T05:00:00Z"), 1800.0);
    }
    setup.server.put_file("/obs.txt", "metar/bulletins/sa.txt", "2023-03-01T05:00:00Z");
    let (round, _, taken) = setup.poll("2023-03-01T05:30:00Z");
    assert_eq!((round.stopped, taken.len()), (None, 1));
    let pause_s = setup.pause_s("2023-03-01T05:30:00Z");
    assert!((300.0..=330.0).contains(&pause_s), "{pause_s}");
}

#[test]
fn the_pause_grows_while_a_server_cannot_be_reached() {
    let mut setup = Setup::new(FetchSource::Url, "/obs.txt", |config| {
        // Nothing listens on the port that was just given back.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        config.url = Some(format!("http://127.0.0.1:{port}/obs.txt"));
    });
    for whole in [300.0, 600.0, 1200.0, 2400.0, 3600.0, 3600.0] {
        let (round, ..) = setup.poll("2023-03-01T05:00:00Z");
        assert!(round.stopped.unwrap().starts_with("the host cannot be reached"));
        let pause_s = setup.pause_s("2023-03-01T05:00:00Z");
        assert!((whole / 2.0..=whole).contains(&pause_s), "{pause_s} of {whole}");
    }
}

#[test]
fn files_that_do_not_come_whole_keep_no_other_from_coming() {
    let mut setup = Setup::new(FetchSource::DatamartSwob, "/latest/", |config| {
        (config.timeout_s, config.max_file_bytes) = (1, 100_000);
    });
    let at = |name: &str| format!("/latest/{name}-AUTO-swob.xml");
    setup.server.put(&at("cut"), Page::CutOff(recorded_bytes(WTS)));
    setup.server.put(&at("endless"), Page::Endless);
    setup.server.put(&at("stalled"), Page::Stalled);
    setup.server.put(&at("error"), Page::Status(500, vec![], "x".repeat(10_000)));
    let around = vec![("location", at("around"))];
    setup.server.put(&at("around"), Page::Status(302, around, String::new()));
    let elsewhere = vec![("location", "http://192.0.2.1/".to_owned())];
    setup.server.put(&at("elsewhere"), Page::Status(302, elsewhere, String::new()));
    setup.server.put(&at("other"), Page::File(b"not a feed".to_vec(), 0));
    setup.server.put_file(&at("moved"), WTS, "2023-03-01T03:55:00Z");
    setup.server.put_file("/old.xml", YPX, "2023-03-01T03:55:00Z");
    let location = vec![("location", "/old.xml".to_owned())];
    setup.server.put(&at("redirected"), Page::Status(302, location, String::new()));
    let (round, asked, taken) = setup.poll("2023-03-01T04:00:00Z");
    assert_eq!(taken, ["moved-AUTO-swob.xml", "redirected-AUTO-swob.xml"]);
    assert_eq!((round.asked, round.taken, round.unreadable, round.failed), (9, 2, 1, 6));
    assert_eq!(round.stopped, None);
    assert_eq!(asked.iter().filter(|path| path.contains("around")).count(), 4);

    // A file that could not be read is not requested again until it changes. A file that did not
    // arrive is.
    let (round, ..) = setup.poll("2023-03-01T04:05:00Z");
    assert_eq!((round.asked, round.failed), (6, 6));
    setup.server.put_file(&at("cut"), WTS, "2023-03-01T04:06:00Z");
    assert_eq!(setup.poll("2023-03-01T04:10:00Z").2, ["cut-AUTO-swob.xml"]);
}

#[test]
fn a_file_that_fails_for_an_hour_is_given_up() {
    let mut setup = Setup::folder("/latest/");
    setup.server.put("/latest/a-AUTO-swob.xml", Page::Status(404, vec![], String::new()));
    let mut given_up = 0;
    for minute in 0..60 {
        given_up += setup.poll(&format!("2023-03-01T04:{minute:02}:00Z")).0.given_up;
    }
    assert_eq!(given_up, 1);
    assert_eq!(setup.poll("2023-03-01T06:00:00Z").1, ["200 /latest/"]);
}

#[test]
fn a_host_where_everything_fails_is_left_alone() {
    let mut setup = Setup::folder("/latest/");
    for i in 0..50 {
        setup.server.put(&format!("/latest/{i}.xml"), Page::Status(502, vec![], String::new()));
    }
    let (round, ..) = setup.poll("2023-03-01T04:00:00Z");
    assert!((8..=10).contains(&round.failed), "{round:?}");
    assert!(round.stopped.unwrap().starts_with("8 failures in a row"));
}

#[test]
fn what_a_full_store_did_not_take_comes_again() {
    let mut setup = Setup::folder("/latest/");
    setup.server.put_file("/latest/CYPX-AUTO-swob.xml", YPX, "2023-03-01T03:45:00Z");
    setup.sink.is_full.store(true, Ordering::Relaxed);
    let (round, _, taken) = setup.poll("2023-03-01T04:00:00Z");
    assert_eq!((round.taken, round.stopped.as_deref()), (0, Some("the disk is full")));
    assert!(taken.is_empty());
    setup.restart();
    setup.sink.is_full.store(false, Ordering::Relaxed);
    assert_eq!(setup.poll("2023-03-01T04:05:00Z").2.len(), 1);
}

#[test]
fn of_a_folder_only_the_stations_that_are_named_are_fetched() {
    let mut setup = Setup::new(FetchSource::DatamartSwob, "/latest/", |config| {
        config.stations = ["CYPX", "bc-crd-fw006"].map(str::to_owned).into();
    });
    for name in [
        "CYPX-AUTO-swob.xml",
        "latest_CYPX_MAN_swob.xml",
        "CWTS-AUTO-minute-swob.xml",
        "2023-02-01-0100-bc-crd-fw006-fw006-AUTO-swob.xml",
        "CYPXX-AUTO-swob.xml",
    ] {
        setup.server.put_file(&format!("/latest/{name}"), YPX, "2023-03-01T03:45:00Z");
    }
    let (.., taken) = setup.poll("2023-03-01T04:00:00Z");
    assert_eq!(
        taken,
        [
            "2023-02-01-0100-bc-crd-fw006-fw006-AUTO-swob.xml",
            "CYPX-AUTO-swob.xml",
            "latest_CYPX_MAN_swob.xml"
        ]
    );
}

#[test]
fn a_server_without_validators_or_times_is_asked_for_the_file_each_time() {
    let mut setup = Setup::new(FetchSource::Url, "/obs.txt", |_| ());
    setup.server.put_file("/obs.txt", "metar/bulletins/sa.txt", "2023-03-01T05:00:00Z");
    setup.server.without_validators();
    for now in ["2023-03-01T05:00:00Z", "2023-03-01T05:05:00Z"] {
        assert_eq!(setup.poll(now).1, ["200 /obs.txt"]);
    }
}

#[test]
fn what_comes_compressed_is_bounded_by_what_comes_out() {
    use std::io::Write;
    let packed = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let mut setup =
        Setup::new(FetchSource::Url, "/obs.txt", |config| config.max_file_bytes = 100_000);
    setup.server.set_header("content-encoding", "gzip");
    setup.server.put("/obs.txt", Page::File(packed(&vec![b'x'; 10_000_000]), 0));
    let (round, ..) = setup.poll("2023-03-01T05:00:00Z");
    assert_eq!((round.failed, round.taken), (1, 0));
    setup.server.put("/obs.txt", Page::File(packed(&vec![b'x'; 100_000]), 0));
    setup.poller.poll(parse_instant("2023-03-01T06:00:00Z").unwrap(), &AtomicBool::new(false));
    assert_eq!(*lock(&setup.sink.files), [("obs.txt".to_owned(), 100_000)]);
}

#[test]
fn a_fetcher_that_is_told_to_stop_does() {
    let server = ReplayServer::start();
    server.put_file("/obs.txt", "metar/bulletins/sa.txt", "2023-03-01T05:00:00Z");
    let mut config = FetchConfig::new(FetchSource::Url, AGENT);
    config.url = Some(server.url("/obs.txt"));
    let sink = Arc::new(RecordingSink::default());
    let memory = tempfile::tempdir().unwrap();
    let as_sink: Arc<dyn Sink> = Arc::clone(&sink) as _;
    let folder = memory.path().join("fetch");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let fetchers = spawn(&[config], Some(&folder), &as_sink, runtime.handle()).unwrap();
    while lock(&sink.files).is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    // It sleeps for minutes now; the stop signal wakes it.
    runtime.block_on(fetchers.stop());
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
}
