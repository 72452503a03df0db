use std::collections::BTreeMap;

use mesonet::access::Plan;
use mesonet::query::{Near, StationFilter};
use mesonet::store::{EmbeddedOptions, Verdicts};
use mesonet::{
    BBox, BaseQuality, Batch, Intake, IntervalType, LonLat, Quality, Reading, ReasonQuality,
    Report, SeriesKey, StationId, Variable, alert,
};
use mesonet_service::record::Record;
use tempfile::TempDir;

use super::*;
use crate::state::State;
use crate::state::alerts::Language;
use crate::state::clock::Clock;
use crate::testing::station;

const NOW_MS: i64 = 1_722_686_400_000;

/// An event as it was sent: id, name, data.
type SentEvent = (String, String, String);

fn state(folder: &TempDir, change: impl FnOnce(&mut Config)) -> Arc<State> {
    let mut config = Config { data: folder.path().to_owned(), ..Config::default() };
    change(&mut config);
    let options = EmbeddedOptions::default();
    let record = Record::on_disk(folder.path(), options).unwrap();
    State::of_record(config, Clock::stopped_at(NOW_MS), record, Intake::default()).unwrap()
}

fn filter() -> ListenerFilter {
    ListenerFilter {
        topics: Events::ALL.into_iter().collect(),
        stations: ListenerStations::Matching(StationFilter::default()),
        names: vec![Variable::AirTemperature],
        plan: Plan::None,
        alerts: alert::Query::default(),
        language: Language::English,
        models: Vec::new(),
    }
}

fn in_box(bbox: BBox) -> ListenerStations {
    ListenerStations::Matching(StationFilter { bbox: Some(bbox), ..StationFilter::default() })
}

fn name(at: usize) -> String {
    format!("K{at:03}")
}

fn key() -> SeriesKey {
    SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0)
}

/// New readings of some stations, and another verdict on what some of them said before.
fn append(
    state: &State,
    minute: i64,
    stations: std::ops::Range<usize>,
    revised: std::ops::Range<usize>,
) {
    let report = |at: usize| Report {
        station: station(&name(at)).id,
        ts_ms: NOW_MS + minute * 60_000,
        revision: 0,
        present_weather: None,
        text: None,
        readings: vec![Reading::unchecked(key(), minute as f64 + at as f64 / 1000.0)],
    };
    let batch = Batch {
        stations: stations.clone().map(|at| station(&name(at))).collect(),
        reports: stations.map(report).collect(),
    };
    let verdicts = revised.map(|at| Verdicts {
        station: station(&name(at)).id,
        series: key().id(),
        ts_ms: vec![NOW_MS + (minute - 1) * 60_000],
        quality: vec![Quality {
            base: BaseQuality::Instrumentation,
            reason: ReasonQuality::Unknown,
        }],
    });
    let verdicts: Vec<Verdicts> = verdicts.collect();
    state.services.store.append(&batch, &mut |_| Ok(verdicts.clone())).unwrap();
}

/// Everything that is there for a listener now.
async fn drain(listener: &mut Listener) -> Vec<SentEvent> {
    let mut text = Vec::new();
    loop {
        tokio::select! {
            biased;
            piece = listener.next() => match piece {
                Some(piece) => text.extend_from_slice(&piece),
                None => break,
            },
            () = tokio::time::sleep(Duration::from_millis(100)) => break,
        }
    }
    events(&String::from_utf8(text).unwrap())
}

fn events(text: &str) -> Vec<SentEvent> {
    let mut events = Vec::new();
    for block in text.split_terminator("\n\n") {
        let mut fields: BTreeMap<&str, &str> = BTreeMap::new();
        for line in block.lines().filter(|line| !line.starts_with(':')) {
            let (name, value) = line.split_once(": ").unwrap();
            assert_eq!(fields.insert(name, value), None, "{block}");
        }
        events.push((fields["id"].into(), fields["event"].into(), fields["data"].into()));
    }
    events
}

fn listen(state: &Arc<State>, id: Option<&str>) -> Listener {
    Listener::new(state, ClientAddr::default(), filter(), id).unwrap()
}

fn without_ids(got: &[SentEvent]) -> Vec<(&str, &str)> {
    got.iter().map(|(_, name, data)| (&**name, &**data)).collect()
}

/// A record with batches of several parts, empty ones and verdicts; and the events that were sent meanwhile.
async fn publish(state: &Arc<State>) -> Vec<SentEvent> {
    let mut listener = listen(state, None);
    let begin = drain(&mut listener).await;
    assert_eq!(begin.len(), 1);
    assert_eq!(begin[0].1, "position");
    let mut got = begin;
    for minute in 0..6 {
        let revised = if minute % 2 == 1 { 60..70 } else { 0..0 };
        append(state, minute, 0..150, revised);
        // Nothing but a station.
        let batch = Batch { stations: vec![station(&format!("N{minute}"))], reports: vec![] };
        state.services.store.append(&batch, &mut mesonet::store::no_verdicts).unwrap();
        if minute > 2 {
            state.publish_batches().unwrap();
            got.extend(drain(&mut listener).await);
        }
    }
    assert!(drain(&mut listener).await.is_empty());
    let names: Vec<&str> = got.iter().map(|(_, name, _)| &**name).collect();
    let even = ["readings"; 3];
    let odd = ["readings", "verdicts", "readings", "verdicts", "readings"];
    assert_eq!(names[1..], [&even[..], &odd, &even, &odd, &even, &odd].concat());
    got
}

/// From each id on, the rest comes again: from the ring, from the record if the ring has gone on, and
/// after a restart from either.
#[tokio::test(flavor = "multi_thread")]
async fn after_each_id_comes_the_rest_and_nothing_twice() {
    let folder = TempDir::new().unwrap();
    let first = state(&folder, |_| {});
    let got = publish(&first).await;
    let check = async |state: &Arc<State>, is_from_ring: bool| {
        for (at, (id, _, _)) in got.iter().enumerate() {
            let rest = drain(&mut listen(state, Some(id))).await;
            assert_eq!(rest[0].1, "position");
            assert_eq!(without_ids(&rest[1..]), without_ids(&got[at + 1..]), "{id}");
            if is_from_ring {
                assert_eq!((&rest[0].0, &rest[1..]), (id, &got[at + 1..]));
            }
        }
    };
    check(&first, true).await;
    first.live.change(|ring| ring.restart(ring.now));
    check(&first, false).await;
    // In the middle of what the ring has.
    append(&first, 6, 0..1, 0..0);
    first.publish_batches().unwrap();
    let last = drain(&mut listen(&first, Some(&got.last().unwrap().0))).await;
    assert_eq!(last.len(), 2);
    drop(first);
    for memory_bytes in [32 << 20, 1] {
        let again = state(&folder, |config| config.live_memory_bytes = memory_bytes);
        for (at, (id, _, _)) in got.iter().enumerate() {
            let rest = drain(&mut listen(&again, Some(id))).await;
            let expected = [without_ids(&got[at + 1..]), without_ids(&last[1..])].concat();
            assert_eq!(without_ids(&rest[1..]), expected, "{id}");
            // An id of the new start is as good.
            let from = rest.len() / 2;
            let again = drain(&mut listen(&again, Some(&rest[from].0))).await;
            assert_eq!(again[1..], rest[from + 1..]);
        }
        drop(again);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_listener_begins_anew_and_nobody_waits_for_it() {
    let folder = TempDir::new().unwrap();
    let state = state(&folder, |config| config.live_memory_bytes = 4 << 10);
    let (mut slow, mut fast) = (listen(&state, None), listen(&state, None));
    assert_eq!(drain(&mut fast).await.len(), 1);
    for minute in 0..20 {
        append(&state, minute, 0..10, 0..0);
        state.publish_batches().unwrap();
        assert_eq!(drain(&mut fast).await.len(), 1, "{minute}");
    }
    let got = drain(&mut slow).await;
    let reason = r#"{"reason":"the events came faster than they were read"}"#;
    assert_eq!(without_ids(&got)[1..], [("resync", reason)]);
    append(&state, 20, 0..10, 0..0);
    state.publish_batches().unwrap();
    // From then on it gets what the others get, with the same ids.
    assert_eq!(drain(&mut slow).await, drain(&mut fast).await);
    assert_eq!(state.live.counts.resyncs.load(Ordering::Relaxed), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_sent_is_said() {
    let folder = TempDir::new().unwrap();
    let first = state(&folder, |_| {});
    let before = first.live.log.id(first.live.now()).to_string();
    append(&first, 0, 0..10, 0..0);
    first.publish_batches().unwrap();
    let id = first.live.log.id(first.live.now()).to_string();
    let future = id.replace("-1-0-", "-2-0-");
    let other = format!("{}{}", if id.starts_with('0') { '1' } else { '0' }, &id[1..]);
    let anew = async |state: &Arc<State>, id: &str| {
        let mut got = drain(&mut listen(state, Some(id))).await;
        // Some is found out only when the record is read.
        got.retain(|(_, name, _)| name != "position");
        assert_eq!(got.len(), 1);
        assert_eq!(
            (&*got[0].0, &*got[0].1),
            (&*state.live.log.id(state.live.now()).to_string(), "resync")
        );
        let data: serde_json::Value = serde_json::from_str(&got[0].2).unwrap();
        data["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(anew(&first, "1").await, "\"1\" is not the id of an event of this stream");
    assert_eq!(anew(&first, &other).await, "the id is of another record, or too old");
    let undone = "the record went back to a state from before the event";
    assert_eq!(anew(&first, &future).await, undone);
    // A copy of the folder is put back, and goes on otherwise.
    drop(first);
    let copy = TempDir::new().unwrap();
    let status = std::process::Command::new("cp")
        .args(["-a", &format!("{}/.", folder.path().display())])
        .arg(copy.path())
        .status();
    assert!(status.unwrap().success());
    let second = state(&folder, |_| {});
    append(&second, 1, 0..10, 0..0);
    second.publish_batches().unwrap();
    let lost = second.live.log.id(second.live.now()).to_string();
    let back = state(&copy, |_| {});
    for minute in 5..8 {
        append(&back, minute, 0..10, 0..0);
        back.publish_batches().unwrap();
    }
    assert_eq!(anew(&back, &lost).await, "the id is of another record, or too old");
    assert_eq!(drain(&mut listen(&back, Some(&id))).await.len(), 4);
    // What is sealed can no longer be sent, once the ring has lost it.
    let seal_all = mesonet::store::Maintenance { seal_all: true, ..<_>::default() };
    drop(back);
    mesonet::EmbeddedStore::open(copy.path(), EmbeddedOptions::default())
        .unwrap()
        .maintain(&seal_all)
        .unwrap();
    let sealed = state(&copy, |_| {});
    assert_eq!(
        anew(&sealed, &before).await,
        "the record no longer tells the events after the id apart"
    );
    // Without the log, no id is known.
    let now = sealed.live.log.id(sealed.live.now()).to_string();
    assert_eq!(drain(&mut listen(&sealed, Some(&now))).await.len(), 1);
    drop(sealed);
    std::fs::remove_file(copy.path().join(mesonet_service::live::LAYOUT.file)).unwrap();
    let without = state(&copy, |_| {});
    assert_eq!(anew(&without, &now).await, "the id is of another record, or too old");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_listener_gets_what_it_wants_and_may_have() {
    let folder = TempDir::new().unwrap();
    let state = state(&folder, |_| {});
    let stations = ListenerStations::Named(vec![station(&name(3)).id]);
    let nowhere = in_box(BBox::new(10.0, 10.0, 11.0, 11.0).unwrap());
    let place = station(&name(3)).coordinates;
    let (lon, lat) = (place.lon(), place.lat());
    let there = in_box(BBox::new(lon - 1.0, lat - 1.0, lon + 1.0, lat + 1.0).unwrap());
    let matching = |filter| ListenerStations::Matching(filter);
    let none = StationFilter::default();
    let around = |place| {
        let near = Some(Near::new(place).within_km(1.0));
        matching(StationFilter { near, ..none.clone() })
    };
    let (near, far) = (around(place), around(LonLat::new(10.0, 10.0).unwrap()));
    let other = matching(StationFilter { networks: vec!["NDBC".to_owned()], ..none.clone() });
    let same = matching(StationFilter { networks: vec!["metar".to_owned()], ..none.clone() });
    let with = |stations| ListenerFilter { stations, ..filter() };
    let wind = ListenerFilter { names: vec![Variable::WindSpeed], ..filter() };
    let verdicts = ListenerFilter { topics: [Events::Verdicts].into_iter().collect(), ..filter() };
    let old = Plan::Commercial;
    let filters = [
        (with(stations), 1),
        (with(nowhere), 0),
        (with(there), 5),
        (with(near), 5),
        (with(far), 0),
        (with(other), 0),
        (with(same), 5),
        (wind, 0),
        (verdicts, 0),
        (ListenerFilter { plan: old, ..filter() }, 5),
    ];
    let mut listeners: Vec<Listener> = filters
        .iter()
        .map(|(filter, _)| {
            Listener::new(&state, ClientAddr::default(), filter.clone(), None).unwrap()
        })
        .collect();
    append(&state, 0, 0..5, 0..0);
    state.publish_batches().unwrap();
    let count = |got: &[SentEvent]| {
        let stations = got.iter().map(|(_, _, data)| data.matches("\"readings\":[").count());
        stations.sum::<usize>()
    };
    for (listener, (filter, stations)) in listeners.iter_mut().zip(&filters) {
        assert_eq!(count(&drain(listener).await), *stations, "{filter:?}");
    }
    // Readings of eight days ago are beyond every plan but one.
    append(&state, -8 * 24 * 60, 0..5, 0..0);
    state.publish_batches().unwrap();
    let got: Vec<usize> = {
        let mut counts = Vec::new();
        for listener in &mut listeners {
            counts.push(count(&drain(listener).await));
        }
        counts
    };
    assert_eq!(got, [0, 0, 0, 0, 0, 0, 0, 0, 0, 5]);
}

#[tokio::test(flavor = "multi_thread")]
async fn listeners_are_limited_in_all_and_of_each_address_and_end_when_the_server_does() {
    let folder = TempDir::new().unwrap();
    let state = state(&folder, |config| {
        (config.live_listeners, config.live_address_listeners) = (3, 2);
    });
    let address = |last: u8| ClientAddr::of([192, 0, 2, last].into());
    let listen = |last| {
        Listener::new(&state, address(last), filter(), None).map_err(|error| error.to_string())
    };
    let (first, mut second) = (listen(1).unwrap(), listen(1).unwrap());
    let of_client =
        "2 callers of this address listen already; the limit live_address_listeners is 2";
    assert_eq!(listen(1).err().unwrap(), of_client);
    let third = listen(2).unwrap();
    let in_all = "3 callers listen already; the limit live_listeners is 3";
    assert_eq!(listen(3).err().unwrap(), in_all);
    drop(first);
    assert!(listen(1).is_ok() && listen(3).is_ok());
    let counts = &state.live.counts;
    assert_eq!(counts.listeners.load(Ordering::Relaxed), 2);
    assert_eq!(counts.refused.load(Ordering::Relaxed), 2);
    drop(third);
    assert_eq!(drain(&mut second).await.len(), 1);
    let ended = tokio::spawn(async move { second.next().await });
    state.live.close();
    assert_eq!(ended.await.unwrap(), None);
    assert!(state.live.listeners.lock().unwrap().is_empty());
}

/// A listener who wants nothing of what comes gets its position.
#[tokio::test(flavor = "multi_thread")]
async fn a_heartbeat_comes_in_time_and_tells_a_new_position() {
    let folder = TempDir::new().unwrap();
    let state = state(&folder, |config| config.live_heartbeat_s = 1);
    let stations = ListenerStations::Named(vec![StationId::new("TEST", "none")]);
    let filter = ListenerFilter { stations, ..filter() };
    let mut listener = Listener::new(&state, ClientAddr::default(), filter, None).unwrap();
    assert_eq!(drain(&mut listener).await.len(), 1);
    assert_eq!(listener.next().await.unwrap(), ":\n");
    append(&state, 0, 0..5, 0..0);
    state.publish_batches().unwrap();
    let id = state.live.log.id(state.live.now());
    let position = listener.next().await.unwrap();
    assert_eq!(position, format!("id: {id}\nevent: position\ndata: {{}}\n\n"));
    assert_eq!(listener.next().await.unwrap(), ":\n");
}

/// A change that has a number does not get one again: it is published though a later step fails.
#[tokio::test(flavor = "multi_thread")]
async fn an_alert_is_told_though_the_feeds_cannot_be_numbered() {
    let folder = TempDir::new().unwrap();
    let config = Config { data: folder.path().to_owned(), ..Config::default() };
    let record = Record::on_disk(folder.path(), EmbeddedOptions::default()).unwrap();
    let state = State::of_record(config, Clock::live(), record, Intake::default()).unwrap();
    append(&state, 0, 0..1, 0..0);
    let log =
        rusqlite::Connection::open(folder.path().join(mesonet_service::live::LAYOUT.file)).unwrap();
    log.execute_batch(
        "CREATE TRIGGER no_feed BEFORE INSERT ON item WHEN NEW.topic = 'feeds' \
         BEGIN SELECT RAISE(FAIL, 'no room'); END",
    )
    .unwrap();
    let mut listener = listen(&state, None);
    assert_eq!(drain(&mut listener).await.len(), 1);
    let area = alert::MessageArea {
        kind: alert::AreaKind::Coverage,
        code: Some("041320".parse().unwrap()),
        ..alert::MessageArea::default()
    };
    let message = alert::Message {
        id: "urn:oid:1".to_owned(),
        parts: vec![alert::Part { areas: vec![area], ..alert::Part::default() }],
        ..alert::Message::default()
    };
    state.services.alerts.append(vec![message]).unwrap();
    let error = state.publish_items().unwrap_err().to_string();
    assert!(error.contains("no room"), "{error}");
    let told = drain(&mut listener).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].1 == "alerts" && told[0].2.contains("urn:oid:1"), "{told:?}");
}
