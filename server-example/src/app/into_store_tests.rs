use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use mesonet::store::{AlertStore, Selection};
use mesonet::time::parse_instant;
use mesonet::{ClosedWindow, Intake, MemoryStore, Reader, StationId, Variable};

use super::*;
use crate::app::replay_server::{Page, ReplayServer};
use mesonet_service::fetch::{FetchConfig, FetchSource, Poller, Round, Sink};
use mesonet_service::ingest::{Target, ingest};

#[derive(Default)]
struct Record {
    store: MemoryStore,
    alerts: AlertStore,
    intake: Intake,
}

impl Sink for Record {
    fn take(&self, delivery: &Delivery<'_>) -> Result<DeliveryResult, Unavailable> {
        let target = Target {
            intake: &self.intake,
            store: &self.store,
            alerts: &self.alerts,
            products: None,
            maintain: None,
        };
        let (faults, summary) =
            ingest(target, options(delivery), &AtomicU64::new(0), |ingest| read(delivery, ingest))
                .unwrap();
        taken(&summary, faults)
    }
}

impl Record {
    /// The values of a variable at a station.
    fn values(&self, network: &str, native_id: &str, variable: Variable) -> Vec<(i64, f64)> {
        let mut values = Vec::new();
        let selection = Selection {
            stations: &[StationId::new(network, native_id)],
            variables: &[variable],
            window: ClosedWindow::new(i64::MIN, i64::MAX).unwrap(),
        };
        let scanned = self.store.scan(&selection, &mut |_, slices| {
            for slice in slices.iter().filter(|slice| !slice.series.key.calculated) {
                values.extend(slice.ts_ms.iter().copied().zip(slice.value.iter().copied()));
            }
        });
        scanned.unwrap();
        values
    }
}

fn poll(server: &ReplayServer, config: FetchConfig, record: &Arc<Record>, now: &str) -> Round {
    let now_ms = parse_instant(now).unwrap();
    server.set_now(now_ms);
    let mut poller = Poller::new(config, None, Arc::clone(record) as _).unwrap();
    poller.poll(now_ms, &AtomicBool::new(false))
}

fn config(source: FetchSource, url: String) -> FetchConfig {
    let user_agent = "(tests, weather@example.org)";
    let given = serde_json::json!({ "source": source, "user_agent": user_agent });
    FetchConfig { url: Some(url), ..serde_json::from_value(given).unwrap() }
}

#[test]
fn a_folder_of_the_datamart_ends_up_as_stations_and_readings() {
    let server = ReplayServer::start();
    let at = |rest: &str| format!("/20230301/WXO-DD/observations/swob-ml/{rest}");
    for (folder, name) in [
        ("20230301/CYPX", "2023-03-01-0341-CYPX-AUTO-swob.xml"),
        ("20230301/CWTS", "2023-03-01-0354-CWTS-AUTO-minute-swob.xml"),
        ("partners/on-grca/20230301/15095", "2023-03-01-1900-on-grca-15095-AUTO-swob.xml"),
    ] {
        let recorded = format!("swob/cioos/{name}.gz");
        server.put_file(&at(&format!("{folder}/{name}")), &recorded, "2023-03-01T19:05:00Z");
    }
    let record = Arc::new(Record::default());
    let url = server.url("/{date}/WXO-DD/observations/swob-ml/");
    let round =
        poll(&server, config(FetchSource::DatamartSwob, url), &record, "2023-03-01T19:10:00Z");
    assert_eq!((round.taken, round.reports, round.unreadable, round.failed), (3, 3, 0, 0));
    let directory = record.store.directory().unwrap();
    assert_eq!(directory.stations.len(), 3);
    let updated: Vec<_> =
        directory.stations.iter().filter_map(|station| station.update_time_ms).collect();
    for time in ["2023-03-01T03:41:00Z", "2023-03-01T03:54:00Z", "2023-03-01T19:00:00Z"] {
        assert!(updated.contains(&parse_instant(time).unwrap()), "{time}");
    }
}

#[test]
fn observations_of_the_weather_service_end_up_as_readings() {
    let server = ReplayServer::start();
    let name = "KALB_observations_limit1.json";
    let path = "/stations/KALB/observations?limit=10";
    server.put_file(path, &format!("nws_observation/{name}"), "2026-07-15T19:50:00Z");
    let record = Arc::new(Record::default());
    let url = server.url("/stations/{station}/observations?limit=10");
    let mut config = config(FetchSource::NwsObservations, url);
    config.stations = vec!["KALB".to_owned()];
    let round = poll(&server, config, &record, "2026-07-15T20:00:00Z");
    assert_eq!((round.taken, round.reports, round.unreadable), (1, 1, 0));
    let directory = record.store.directory().unwrap();
    let albany = &directory.stations[0];
    assert_eq!(directory.stations.len(), 1, "{directory:?}");
    assert_eq!(albany.station.name, "Albany International Airport");
    let station = &albany.station;
    let values = record.values(&station.network, &station.native_id, Variable::AirTemperature);
    assert_eq!(values, [(parse_instant("2026-07-15T19:50:00Z").unwrap(), 25.0)]);
}

#[test]
fn a_compressed_table_at_one_address_is_unpacked_and_what_is_no_feed_is_named() {
    let server = ReplayServer::start();
    let recorded = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/data/metar/liveairdata_metars_20240803T1732Z.csv.gz");
    let page = Page::File(std::fs::read(recorded).unwrap(), 0);
    server.put("/data/cache/metars.cache.csv.gz", page);
    let record = Arc::new(Record::default());
    let url = server.url("/data/cache/metars.cache.csv.gz");
    let round = poll(&server, config(FetchSource::Url, url), &record, "2024-08-03T17:40:00Z");
    assert_eq!((round.taken, round.unreadable), (1, 0));
    assert!(round.reports > 1_000, "{round:?}");

    server.put("/obs", Page::File(b"Dear reader".to_vec(), 0));
    let url = server.url("/obs");
    let round = poll(&server, config(FetchSource::Url, url), &record, "2024-08-03T17:40:00Z");
    assert_eq!((round.taken, round.unreadable, round.stopped), (0, 1, None));
}

#[test]
fn alerts_of_the_datamart_end_up_as_a_chain_and_each_is_fetched_once() {
    let server = ReplayServer::start();
    let at = |rest: &str| format!("/20260812/WXO-DD/alerts/cap/20260812/LAND/23/{rest}");
    let files = [
        "1_T_ONCN00_C_LAND_202608122307_2696623964.en.cap",
        "2_T_ONCN00_C_LAND_202608122313_1455756091.en.cap",
        "3_T_ONCN00_C_LAND_202608122325_4220810049.en.cap",
    ];
    for (name, changed) in files.into_iter().zip(["23:08", "23:14", "23:26"]) {
        let changed = format!("2026-08-12T{changed}:00Z");
        server.put_file(&at(name), &format!("capcp/{name}.gz"), &changed);
    }
    let record = Arc::new(Record::default());
    let url = server.url("/{date}/WXO-DD/alerts/cap/");
    let mut poller =
        Poller::new(config(FetchSource::DatamartCap, url), None, Arc::clone(&record) as _).unwrap();
    let mut round = |now: &str| {
        let now_ms = parse_instant(now).unwrap();
        server.set_now(now_ms);
        poller.poll(now_ms, &AtomicBool::new(false))
    };
    let first = round("2026-08-12T23:30:00Z");
    assert_eq!((first.taken, first.reports, first.unreadable, first.failed), (3, 3, 0, 0));
    let ids = |record: &Record| {
        let alerts = record.alerts.record();
        alerts.messages.iter().map(|alert| alert.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        ids(&record),
        [
            "urn:oid:2.49.0.1.124.2696623964.2026",
            "urn:oid:2.49.0.1.124.1455756091.2026",
            "urn:oid:2.49.0.1.124.4220810049.2026"
        ]
    );
    server.asked();
    let second = round("2026-08-12T23:40:00Z");
    assert_eq!((second.asked, second.taken), (0, 0), "{:?}", server.asked());
}

#[test]
fn alerts_of_the_weather_service_are_asked_for_conditionally() {
    let server = ReplayServer::start();
    let recorded = "nws_alerts/alerts_active_2026-05-14T163524Z.geojson.gz";
    server.put_file("/alerts/active", recorded, "2026-05-14T16:35:00Z");
    let record = Arc::new(Record::default());
    let config = config(FetchSource::NwsAlerts, server.url("/alerts/active"));
    let mut poller = Poller::new(config, None, Arc::clone(&record) as _).unwrap();
    let mut round = |now: &str| {
        let now_ms = parse_instant(now).unwrap();
        server.set_now(now_ms);
        poller.poll(now_ms, &AtomicBool::new(false))
    };
    let first = round("2026-05-14T16:36:00Z");
    assert_eq!((first.taken, first.reports, first.unreadable), (1, 246, 0));
    let second = round("2026-05-14T16:38:00Z");
    assert_eq!((second.taken, second.unchanged), (0, 1));
    assert_eq!(server.asked(), ["200 /alerts/active", "304 /alerts/active"]);
    server.put("/alerts/active", Page::Status(503, vec![], "busy".to_owned()));
    let third = round("2026-05-14T16:40:00Z");
    assert!(third.stopped.is_some());
    assert_eq!(record.alerts.record().messages.len(), 246);
}
