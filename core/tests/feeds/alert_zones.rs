//! Events of the United States, zone by zone: chains of made-up messages in both feeds, against
//! what a person would note on a board of zones.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use mesonet::alert::{Clock, Message, MessageType, Status, VtecAction, VtecEvent, resolve};
use mesonet::feed::{read_cap, read_nws_alerts};
use mesonet::time::{HOUR_MS, MINUTE_MS, parse_instant};
use mesonet::{Iso8601, zone};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const START: &str = "2025-12-15T12:00:00Z";

/// What a product says about some zones.
#[derive(Clone, Debug)]
struct Segment {
    id: String,
    sent_ms: i64,
    /// The action on each event, and when the event ends.
    codes: Vec<(VtecAction, usize, i64)>,
    zones: BTreeSet<usize>,
    message_type: MessageType,
    /// Whether it lists what it refers to, and whether as CAP or as GeoJSON.
    references: Vec<String>,
    is_cap: bool,
}

const EVENTS: [&str; 3] = ["KSEW.HW.A.9021", "KSEW.HW.W.0004", "KSEW.WI.Y.0017"];
const ZONES: [&str; 7] = ["WAZ305", "WAZ306", "WAZ307", "WAZ308", "WAZ309", "WAZ325", "WAC033"];

impl Segment {
    fn vtec(&self) -> Vec<String> {
        let time = |ms: i64| {
            let text = Iso8601(ms).to_string();
            format!(
                "{}{}{}T{}{}Z",
                &text[2..4],
                &text[5..7],
                &text[8..10],
                &text[11..13],
                &text[14..16]
            )
        };
        let code = |(action, event, end_ms): &(VtecAction, usize, i64)| {
            let action = word(*action);
            let begin =
                if *action == *"NEW" { time(self.sent_ms) } else { "000000T0000Z".to_owned() };
            format!("/O.{action}.{}.{begin}-{}/", EVENTS[*event], time(*end_ms))
        };
        self.codes.iter().map(code).collect()
    }

    fn last_end_ms(&self) -> i64 {
        self.codes.iter().map(|code| code.2).max().unwrap()
    }

    fn json(&self) -> String {
        let zones: Vec<_> = self.zones.iter().map(|&zone| ZONES[zone]).collect();
        let reference = |id: &String| serde_json::json!({"identifier": id});
        let references: Vec<_> = self.references.iter().map(reference).collect();
        let ends = Iso8601(self.last_end_ms()).to_string();
        serde_json::json!({"type": "Feature", "geometry": null, "properties": {
            "id": self.id, "sender": "w-nws.webmaster@noaa.gov", "status": "Actual", "scope": "Public",
            "sent": Iso8601(self.sent_ms).to_string(), "messageType": self.message_type.name(),
            "expires": ends, "ends": ends, "event": "High Wind Watch", "areaDesc": "d",
            "geocode": {"UGC": zones, "SAME": []}, "references": references,
            "parameters": {"VTEC": self.vtec()},
        }})
        .to_string()
    }

    fn cap(&self) -> String {
        let mut text = format!(
            "<alert xmlns=\"urn:oasis:names:tc:emergency:cap:1.2\"><identifier>{}</identifier>\
             <sender>w-nws.webmaster@noaa.gov</sender><sent>{}</sent><status>Actual</status>\
             <msgType>{}</msgType><scope>Public</scope><references>",
            self.id,
            Iso8601(self.sent_ms),
            self.message_type.name()
        );
        for id in &self.references {
            write!(text, "w-nws.webmaster@noaa.gov,{id},2025-12-15T12:00:00-00:00 ").unwrap();
        }
        let expires = Iso8601(self.last_end_ms());
        write!(
            text,
            "</references><info><event>High Wind Watch</event><expires>{expires}</expires>"
        )
        .unwrap();
        for vtec in self.vtec() {
            write!(text, "<parameter><valueName>VTEC</valueName><value>{vtec}</value></parameter>")
                .unwrap();
        }
        text.push_str("<area><areaDesc>d</areaDesc>");
        for &zone in &self.zones {
            let code = ZONES[zone];
            write!(text, "<geocode><valueName>UGC</valueName><value>{code}</value></geocode>")
                .unwrap();
        }
        text + "</area></info></alert>"
    }

    fn read(&self) -> Message {
        let mut read = Vec::new();
        let summary = if self.is_cap {
            read_cap(self.cap().as_bytes(), |message| read.push(message)).unwrap()
        } else {
            read_nws_alerts(self.json().as_bytes(), |message| read.push(message)).unwrap()
        };
        assert_eq!((summary.read, summary.refused, summary.unread_values.total()), (1, 0, 0));
        read.remove(0)
    }
}

const WORDS: [(&str, VtecAction); 10] = [
    ("NEW", VtecAction::New),
    ("CON", VtecAction::Continued),
    ("EXT", VtecAction::ExtendedInTime),
    ("EXA", VtecAction::ExtendedInArea),
    ("EXB", VtecAction::ExtendedInBoth),
    ("UPG", VtecAction::Upgraded),
    ("CAN", VtecAction::Cancelled),
    ("EXP", VtecAction::Expired),
    ("ROU", VtecAction::Routine),
    ("COR", VtecAction::Corrected),
];

fn word(action: VtecAction) -> &'static str {
    WORDS.iter().find(|(_, known)| *known == action).unwrap().0
}

/// The board: until when each event is in force in each zone, after each product in its turn.
///
/// It knows nothing of references: whatever is not named keeps what stood there. A correction
/// repeats what was done before, so it does not bring back what is over.
fn board(segments: &[Segment], now_ms: i64) -> BTreeSet<(usize, usize)> {
    let mut board: BTreeMap<(usize, usize), Option<i64>> = BTreeMap::new();
    for segment in segments.iter().filter(|segment| segment.sent_ms <= now_ms) {
        for &(action, event, end_ms) in &segment.codes {
            for &zone in &segment.zones {
                let before = board.get(&(event, zone));
                let until = match action {
                    VtecAction::Cancelled | VtecAction::Upgraded => None,
                    VtecAction::Corrected if before == Some(&None) => None,
                    _ => Some(end_ms),
                };
                board.insert((event, zone), until);
            }
        }
    }
    let is_in_force = |until: &Option<i64>| until.is_some_and(|end_ms| end_ms > now_ms);
    board.into_iter().filter(|(_, until)| is_in_force(until)).map(|(place, _)| place).collect()
}

/// What the library says: the zones where a message is active, with the events that it can be
/// active for.
fn resolved(messages: &[&Message], now_ms: i64) -> BTreeMap<zone::Code, Vec<BTreeSet<VtecEvent>>> {
    let mut active: BTreeMap<_, Vec<BTreeSet<VtecEvent>>> = BTreeMap::new();
    for (message, state) in messages.iter().zip(resolve(messages, Clock::replay(now_ms))) {
        let mut is_active = false;
        for ((part, area), status) in message.areas().zip(&state.areas) {
            if *status == Status::Active {
                is_active = true;
                let events = part.vtec.iter().map(|vtec| vtec.event).collect();
                active.entry(area.code.unwrap()).or_default().push(events);
            }
        }
        assert_eq!(is_active, state.status == Status::Active, "{}", message.id);
    }
    active
}

/// Chains of segments: the first is new, and each of the others does something to some zones.
fn chains() -> impl Strategy<Value = Vec<Segment>> {
    let segment = (
        0..10_usize,
        0..3_usize,
        prop::option::weighted(0.2, (0..10_usize, 0..3_usize)),
        prop::collection::btree_set(0..7_usize, 1..6),
        (0_i64..40, 1_i64..12),
        any::<(bool, bool, u8)>(),
    );
    prop::collection::vec(segment, 2..10).prop_map(|raw| {
        let mut segments: Vec<Segment> = Vec::new();
        let mut sent_ms = parse_instant(START).unwrap();
        let mut known = BTreeSet::new();
        for (action, event, second, zones, (minutes, hours), (flag, is_cap, named)) in raw {
            sent_ms += (1 + minutes) * MINUTE_MS;
            let end_ms = sent_ms + hours * HOUR_MS;
            let mut codes = Vec::new();
            for (action, event) in [(action, event)].into_iter().chain(second) {
                // An event begins with NEW, and only once.
                let action = match (WORDS[action].1, known.insert(event)) {
                    (VtecAction::New, false) => VtecAction::Continued,
                    (_, true) => VtecAction::New,
                    (action, false) => action,
                };
                if codes.iter().all(|&(_, other, _)| other != event) {
                    codes.push((action, event, end_ms));
                }
            }
            // What ends an event may be sent as Cancel, if nothing else is in the segment.
            let ends = |&(action, ..): &(VtecAction, usize, i64)| {
                use VtecAction::{Cancelled, Expired, Upgraded};
                matches!(action, Cancelled | Expired | Upgraded)
            };
            let message_type = match (codes.iter().all(ends), flag) {
                (true, true) => MessageType::Cancel,
                (_, _) if segments.is_empty() => MessageType::Alert,
                _ => MessageType::Update,
            };
            let references = segments.iter().enumerate().filter(|(i, _)| named >> (i % 8) & 1 == 1);
            let references = references.map(|(_, segment)| segment.id.clone()).collect();
            let id = format!("urn:oid:2.49.0.1.840.0.{}", segments.len());
            segments.push(Segment { id, sent_ms, codes, zones, message_type, references, is_cap });
        }
        segments
    })
}

/// 200 chains, each in 40 orders of arrival, at the times around each message and each end.
#[test]
fn no_message_changes_a_zone_that_it_does_not_name() {
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let orders = prop::collection::vec(prop::collection::vec(any::<Index>(), 10), 40);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let property = |(segments, orders): (Vec<Segment>, Vec<Vec<Index>>)| {
        let messages: Vec<Message> = segments.iter().map(Segment::read).collect();
        let ends = segments.iter().flat_map(|segment| segment.codes.iter().map(|code| code.2));
        let sent = segments.iter().map(|segment| segment.sent_ms);
        let times: BTreeSet<i64> = ends.chain(sent).flat_map(|at| [at - 1, at]).collect();
        for (i, order) in orders.iter().enumerate() {
            let mut arrived: Vec<&Message> = messages.iter().collect();
            for (at, index) in order.iter().enumerate().take(arrived.len()) {
                let other = index.index(arrived.len());
                arrived.swap(at, other);
            }
            // Each order at some of the times: together, each time several times over.
            for &now_ms in times.iter().skip(i % 5).step_by(5) {
                let expected = board(&segments, now_ms);
                let active = resolved(&arrived, now_ms);
                let zones: BTreeSet<zone::Code> =
                    expected.iter().map(|&(_, zone)| ZONES[zone].parse().unwrap()).collect();
                prop_assert_eq!(active.keys().copied().collect::<BTreeSet<_>>(), zones);
                for (event, zone) in expected {
                    let event: VtecEvent = segments
                        .iter()
                        .flat_map(Segment::vtec)
                        .find(|vtec| vtec.contains(EVENTS[event]))
                        .map(|vtec| vtec.parse::<mesonet::alert::Vtec>().unwrap().event)
                        .unwrap();
                    let shown = &active[&ZONES[zone].parse::<zone::Code>().unwrap()];
                    let times = shown.iter().filter(|events| events.contains(&event)).count();
                    prop_assert!(times >= 1, "{} in {} at {}", event, ZONES[zone], Iso8601(now_ms));
                }
            }
        }
        Ok(())
    };
    runner.run(&(chains(), orders), property).unwrap();
}

fn status_of(messages: &[Message], now: &str) -> Vec<(Status, Vec<Status>)> {
    let messages: Vec<&Message> = messages.iter().collect();
    let states = resolve(&messages, Clock::replay(parse_instant(now).unwrap()));
    states.into_iter().map(|state| (state.status, state.areas)).collect()
}

/// An alert for six zones, and one that refers to it and names a seventh.
#[test]
fn a_partial_update_hides_no_other_zone() {
    let text =
        include_str!("../../../tests/data/reported/alerts/partial_update_hides_other_zones.json");
    let now = "2025-12-15T16:00:00Z";
    for action in WORDS.map(|(word, _)| word).into_iter().chain([""]) {
        for kind in ["Alert", "Update", "Cancel"] {
            let with = if action.is_empty() {
                // References alone.
                text.replace("\"VTEC\": [", "\"none\": [")
            } else {
                text.replace(".UPG.", &format!(".{action}."))
            };
            let with = with.replace("\"Update\"", &format!("\"{kind}\""));
            let mut messages = Vec::new();
            read_nws_alerts(with.as_bytes(), |message| messages.push(message)).unwrap();
            assert_eq!(messages[1].references, [messages[0].id.clone()]);
            let whole = (Status::Active, vec![Status::Active; 6]);
            assert_eq!(status_of(&messages, now)[0], whole, "{action} {kind}");
            messages.swap(0, 1);
            assert_eq!(status_of(&messages, now)[1], whole, "{action} {kind}");
        }
    }
}
