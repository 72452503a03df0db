//! Real chains of alerts, message by message, to what a person reads in them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use mesonet::alert::{AreaKind, Hvtec, MessageArea, Vtec};
use mesonet::feed::{read_cap, read_nws_alerts};
use mesonet::time::{MINUTE_MS, parse_instant};
use mesonet::{Iso8601, alert, zone};
use proptest::prelude::*;

fn unpacked(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = Vec::new();
    GzDecoder::new(&*bytes).read_to_end(&mut text).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

fn tornado() -> Vec<alert::Message> {
    let files = [
        "1_T_ONCN00_C_LAND_202608122307_2696623964.en.cap",
        "2_T_ONCN00_C_LAND_202608122313_1455756091.en.cap",
        "3_T_ONCN00_C_LAND_202608122325_4220810049.en.cap",
    ];
    let mut chain = Vec::new();
    for file in files {
        let text = unpacked(&format!("tests/data/capcp/{file}.gz"));
        read_cap(text.as_bytes(), |alert| chain.push(alert)).unwrap();
    }
    chain
}

/// Returns the state of each message and of its areas, at a time in the evening.
fn evening(chain: &[alert::Message], time: &str) -> Vec<String> {
    let now_ms = parse_instant(&format!("2026-08-{time}Z")).unwrap();
    let messages: Vec<&alert::Message> = chain.iter().collect();
    let states = alert::resolve(&messages, alert::Clock::replay(now_ms));
    states
        .iter()
        .map(|state| {
            let areas: Vec<&str> = state.areas.iter().map(|area| area.name()).collect();
            format!("{}: {}", state.status.name(), areas.join(" "))
        })
        .collect()
}

/// A tornado warning near Sarnia, Ontario: in force at 7:07 p.m., continued at 7:13 p.m. with the
/// threat area moved, ended at 7:25 p.m. The first area of each message is the zone 041320; the
/// others are the threat areas.
#[test]
fn the_tornado_of_2026_08_12() {
    let chain = tornado();
    // Nothing has been sent yet.
    assert_eq!(
        evening(&chain, "12T23:07:40"),
        [
            "Unknown: Unknown Unknown",
            "Unknown: Unknown Unknown Unknown",
            "Unknown: Unknown Unknown"
        ]
    );
    // "red warning - tornado - in effect": the zone, and one threat area that was issued.
    assert_eq!(
        evening(&chain, "12T23:07:41"),
        ["Active: Active Active", "Unknown: Unknown Unknown Unknown", "Unknown: Unknown Unknown"]
    );
    // "in effect" still: the zone, a new part of the threat area, and the rest, which is continued.
    // The message names the first one, which it replaces.
    assert_eq!(
        evening(&chain, "12T23:13:58"),
        [
            "Superseded: Superseded Superseded",
            "Active: Active Active Active",
            "Unknown: Unknown Unknown"
        ]
    );
    // "ended": the zone and the threat area. It names both messages before it.
    assert_eq!(
        evening(&chain, "12T23:25:16"),
        [
            "Superseded: Superseded Superseded",
            "Superseded: Superseded Superseded Superseded",
            "Ended: Ended Ended"
        ]
    );
    // The first message would have expired at 00:05:41, the second at 00:26:58.
    assert_eq!(
        evening(&chain, "13T00:05:41"),
        [
            "Ended: Ended Ended",
            "Superseded: Superseded Superseded Superseded",
            "Ended: Ended Ended"
        ]
    );
    assert_eq!(
        evening(&chain, "13T00:26:58"),
        ["Ended: Ended Ended", "Ended: Ended Ended Ended", "Ended: Ended Ended"]
    );
}

#[test]
fn the_tornado_of_2026_08_12_with_messages_that_did_not_come() {
    let [first, second, third]: [alert::Message; 3] = tornado().try_into().unwrap();
    // The end replaces the first message even though the one between them is missing.
    let chain = [first.clone(), third];
    let expected = ["Superseded: Superseded Superseded", "Ended: Ended Ended"];
    assert_eq!(evening(&chain, "12T23:30:00"), expected);
    // Without the end, the second is in force until its interval is over: it expires at 00:26:58.
    let chain = [second, first];
    assert_eq!(
        evening(&chain, "13T00:00:00"),
        ["Active: Active Active Active", "Superseded: Superseded Superseded"]
    );
    let states = alert::resolve(&[&chain[0], &chain[1]], alert::Clock::live(0));
    assert_eq!(states[1].next_ids, ["urn:oid:2.49.0.1.124.1455756091.2026"]);
    assert_eq!(chain[0].references, ["urn:oid:2.49.0.1.124.2696623964.2026"]);
}

/// Returns the texts of a chain of products as messages: one for each code of each segment, the way
/// the weather service makes its CAP from them. There are no references.
fn products(chain: &str) -> Vec<(String, Vec<alert::Message>)> {
    let text = unpacked(&format!("tests/data/nws_text_vtec/{chain}.txt.gz"));
    let mut all = Vec::new();
    for product in text.split("=== ").skip(1) {
        let (name, text) = product.split_once('\n').unwrap();
        let sent_ms = sent_ms(text);
        let mut messages = Vec::new();
        for (i, segment) in text.split("$$").enumerate() {
            let Some((codes, purge)) = ugc(segment) else { continue };
            for (j, vtec) in segment.lines().filter_map(|line| line.parse().ok()).enumerate() {
                let id = format!("{name} {i}.{j}");
                messages.push(message(id, sent_ms, vtec, &codes, &purge));
            }
        }
        all.push((name.to_owned(), messages));
    }
    all
}

fn message(
    id: String,
    sent_ms: i64,
    vtec: Vtec,
    codes: &[zone::Code],
    purge: &str,
) -> alert::Message {
    let area = |code: &zone::Code| MessageArea {
        kind: AreaKind::Coverage,
        code: Some(*code),
        ..MessageArea::default()
    };
    let part = alert::Part {
        expires_ms: Some(after(sent_ms, purge)),
        event_end_ms: vtec.end_ms,
        outcome: vtec.outcome(),
        vtec: vec![vtec],
        areas: codes.iter().map(area).collect(),
        ..alert::Part::default()
    };
    alert::Message { id, sent_ms, parts: vec![part], ..alert::Message::default() }
}

/// Returns when a product was sent: day and time are in its heading, month and year in its text.
fn sent_ms(text: &str) -> i64 {
    let heading = text
        .lines()
        .find(|line| line.len() >= 18 && line[4..6].bytes().all(|b| b.is_ascii_digit()));
    let heading = heading.unwrap().split(' ').nth(2).unwrap();
    let date = text.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().take(7).collect();
        let [_, "AM" | "PM", _, _, month, day, year] = *words else { return None };
        let months = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
        let month = months.find(&month.to_ascii_uppercase())? / 3 + 1;
        Some(format!("{year}-{month:02}-{:02}T00:00:00Z", day.parse::<u32>().ok()?))
    });
    after(parse_instant(&date.unwrap()).unwrap(), heading)
}

/// Returns the first time of a day of the month, `ddhhmm`, at or after an instant.
fn after(from_ms: i64, time: &str) -> i64 {
    let day = mesonet::time::DAY_MS;
    (0..40)
        .map(|days| Iso8601(from_ms + days * day).to_string())
        .filter(|instant| instant[8..10] == time[..2])
        .find_map(|instant| {
            let at = format!("{}T{}:{}:00Z", &instant[..10], &time[2..4], &time[4..6]);
            parse_instant(&at).ok().filter(|&at| at >= from_ms)
        })
        .unwrap()
}

/// Returns the zones of a segment, `MAZ005>007-014>016-222200-`, and when it is purged.
fn ugc(segment: &str) -> Option<(Vec<zone::Code>, String)> {
    let lines: Vec<&str> = segment.lines().map(str::trim).collect();
    let first = lines.iter().position(|line| {
        line.len() > 6
            && line[..6].parse::<zone::Code>().is_ok()
            && line[6..].starts_with(['-', '>'])
    })?;
    let mut text = String::new();
    for line in &lines[first..] {
        text.push_str(line);
        let purge = text.trim_end_matches('-').rsplit('-').next()?;
        if purge.len() == 6 && purge.bytes().all(|byte| byte.is_ascii_digit()) {
            let purge = purge.to_owned();
            return Some((zones(&text[..text.len() - 7]), purge));
        }
    }
    None
}

fn zones(text: &str) -> Vec<zone::Code> {
    let (mut codes, mut state) = (Vec::new(), String::new());
    for part in text.split('-').filter(|part| !part.is_empty()) {
        let (range, number) = match part.len() {
            3 | 7 if !part.starts_with(|letter: char| letter.is_ascii_uppercase()) => (part, part),
            _ => {
                part[..3].clone_into(&mut state);
                (&part[3..], &part[3..])
            }
        };
        let (from, to) = range.split_once('>').unwrap_or((number, number));
        for number in from.parse::<u32>().unwrap()..=to.parse().unwrap() {
            codes.push(format!("{state}{number:03}").parse().unwrap());
        }
    }
    codes
}

/// Returns the events in force, each with its zones: `WI.Y.0014: MAZ005 MAZ006`.
fn in_force(messages: &[&alert::Message], now_ms: i64) -> Vec<String> {
    let states = alert::resolve(messages, alert::Clock::replay(now_ms));
    let mut events: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (message, state) in messages.iter().zip(&states) {
        for ((part, area), status) in message.areas().zip(&state.areas) {
            if *status == alert::Status::Active {
                let event = part.vtec[0].event.to_string()[5..].to_owned();
                events.entry(event).or_default().insert(area.code.unwrap().to_string());
            }
        }
    }
    let shown = events.into_iter().map(|(event, zones)| {
        format!("{event}: {}", zones.into_iter().collect::<Vec<_>>().join(" "))
    });
    shown.collect()
}

/// Asserts that these events are in force after each product of a chain and a minute before the
/// next, and that none is at a time after the last.
fn follows(chain: &str, expected: &[&[&str]]) {
    let products = products(chain);
    assert_eq!(products.len(), expected.len());
    let mut heard: Vec<&alert::Message> = Vec::new();
    for ((name, messages), expected) in products.iter().zip(expected) {
        heard.extend(messages);
        let now_ms = messages[0].sent_ms;
        assert_eq!(in_force(&heard, now_ms), *expected, "{name} at {}", Iso8601(now_ms));
        // Later products do not affect the time before them.
        let all: Vec<&alert::Message> =
            products.iter().flat_map(|(_, messages)| messages).collect();
        assert_eq!(in_force(&all, now_ms), *expected, "{name}");
    }
    let last = heard.iter().filter_map(|message| message.interval_ms().1).max().unwrap();
    assert_eq!(in_force(&heard, last), [""; 0]);
}

/// The real chains, with messages that expire a day after what they say of the event ends.
///
/// An event that VTEC ends is over at that moment, whatever the messages' expiry: none of the
/// chains may have anything in force at the end that its last code states, and everything that is
/// in force a moment before has that end.
#[test]
fn an_event_is_over_when_its_code_says_so_not_when_its_message_expires() {
    let chains =
        ["NPWBOX", "NPWGID", "SVRMEG", "FFWOKX", "FLWMTR", "FLSLBF", "FLWLBF", "FLWCHS", "RFWVEF"];
    let mut checked = 0;
    for chain in chains {
        let mut all: Vec<alert::Message> =
            products(chain).into_iter().flat_map(|(_, messages)| messages).collect();
        for part in all.iter_mut().flat_map(|message| &mut message.parts) {
            part.expires_ms =
                part.expires_ms.max(part.vtec[0].end_ms).map(|ms| ms + mesonet::time::DAY_MS);
        }
        let heard: Vec<&alert::Message> = all.iter().collect();
        let ends: BTreeSet<i64> =
            all.iter().filter_map(|message| message.parts[0].vtec[0].end_ms).collect();
        for &end_ms in &ends {
            for now_ms in [end_ms - 1, end_ms] {
                let states = alert::resolve(&heard, alert::Clock::replay(now_ms));
                for (message, state) in heard.iter().zip(&states) {
                    let vtec = message.parts[0].vtec[0];
                    if let (alert::Status::Active, Some(end_ms)) = (state.status, vtec.end_ms) {
                        assert!(end_ms > now_ms, "{chain} {} at {}", message.id, Iso8601(now_ms));
                        checked += 1;
                    }
                    if vtec.end_ms == Some(now_ms) && message.sent_ms <= now_ms {
                        assert_eq!(state.status, alert::Status::Ended, "{chain} {}", message.id);
                    }
                }
                // The state may change by itself then: whoever keeps it has to ask again.
                if now_ms < end_ms {
                    let next = alert::next_change_ms(&heard, alert::Clock::live(now_ms));
                    assert_eq!(next, Some(end_ms), "{chain}");
                }
            }
        }
    }
    assert_eq!(checked, 43);
}

/// An extension in time that brings the end forward, and one that puts it off.
#[test]
fn the_end_is_that_of_the_latest_code() {
    let flood = products("FFWOKX");
    let all: Vec<&alert::Message> = flood.iter().flat_map(|(_, messages)| messages).collect();
    let at = |time: &str, heard: usize| {
        let now_ms = parse_instant(&format!("2023-07-{time}:00Z")).unwrap();
        let states = alert::resolve(&all[..heard], alert::Clock::live(now_ms));
        states.iter().map(|state| state.status.name()).collect::<Vec<_>>().join(" ")
    };
    // NEW until 19:15.
    assert_eq!(at("09T19:14", 1), "Active");
    assert_eq!(at("09T19:15", 1), "Ended");
    // EXT until 20:15.
    assert_eq!(at("09T19:14", 2), "Superseded Active");
    assert_eq!(at("09T19:15", 2), "Ended Active");
    assert_eq!(at("09T20:15", 2), "Ended Ended");
    // EXP is sent five minutes before the end, and the flood lasts until then.
    assert_eq!(at("10T01:09", 5), "Ended Ended Ended Ended Active");
    assert_eq!(at("10T01:10", 6), "Ended Ended Ended Ended Superseded Active");
    assert_eq!(at("10T01:14", 6), "Ended Ended Ended Ended Superseded Active");
    assert_eq!(at("10T01:15", 6), "Ended Ended Ended Ended Ended Ended");
    // The same, as if the first extension had been a shortening: to 18:30.
    let mut shorter = all[1].clone();
    shorter.parts[0].vtec[0].end_ms = Some(parse_instant("2023-07-09T18:30:00Z").unwrap());
    let chain = [all[0], &shorter];
    let status = |time: &str| {
        let now_ms = parse_instant(&format!("2023-07-09T{time}:00Z")).unwrap();
        alert::resolve(&chain, alert::Clock::live(now_ms)).into_iter().map(|state| state.status)
    };
    assert!(status("18:29").eq([alert::Status::Superseded, alert::Status::Active]));
    assert!(status("18:30").eq([alert::Status::Superseded, alert::Status::Ended]));
}

#[test]
fn wind_over_massachusetts() {
    let first = "WI.Y.0014: MAZ005 MAZ006 MAZ007 MAZ014 MAZ015 MAZ016";
    let extended = "WI.Y.0014: MAZ005 MAZ006 MAZ007 MAZ014 MAZ015 MAZ016 MAZ019";
    let high = "HW.W.0003: MAZ007 MAZ014 MAZ015 MAZ016 MAZ019";
    let south = "CTZ004 MAZ005 MAZ006 MAZ012 MAZ013 MAZ017 MAZ018 MAZ020 MAZ021 NHZ012 RIZ001 \
                 RIZ002 RIZ003 RIZ004 RIZ005 RIZ006 RIZ007";
    let south = &format!("WI.Y.0014: {south}");
    let wider = "WI.Y.0014: CTZ004 MAZ005 MAZ006 MAZ012 MAZ013 MAZ014 MAZ015 MAZ016 MAZ017 MAZ018 \
                 MAZ019 MAZ020 MAZ021 NHZ012 RIZ001 RIZ002 RIZ003 RIZ004 RIZ005 RIZ006 RIZ007";
    let all = "WI.Y.0014: CTZ004 MAZ005 MAZ006 MAZ007 MAZ012 MAZ013 MAZ014 MAZ015 MAZ016 MAZ017 \
               MAZ018 MAZ019 MAZ020 MAZ021 NHZ012 RIZ001 RIZ002 RIZ003 RIZ004 RIZ005 RIZ006 RIZ007";
    follows(
        "NPWBOX",
        &[
            // A wind advisory on the coast.
            &[first],
            // Extended to Plymouth.
            &[extended],
            // Upgraded to a high wind warning in five of its zones.
            &[high, "WI.Y.0014: MAZ005 MAZ006"],
            // The advisory is extended to the south.
            &[high, south],
            // The warning is cancelled in four zones, which come under the advisory again, and
            // extended in time in the fifth.
            &["HW.W.0003: MAZ007", wider],
            // It is cancelled there too: an advisory for all.
            &[all],
            &[all],
        ],
    );
}

#[test]
fn fog_over_nebraska_with_a_cancellation_that_was_corrected() {
    let all = "FG.Y.0002: NEZ041 NEZ048 NEZ049 NEZ063 NEZ064 NEZ076 NEZ077 NEZ087";
    let west = "FG.Y.0002: NEZ041 NEZ048 NEZ049 NEZ064";
    follows("NPWGID", &[&[all], &[west], &[west], &[]]);
}

#[test]
fn a_thunderstorm_leaves_county_after_county() {
    let all = "SV.W.0053: TNC005 TNC017 TNC079";
    follows("SVRMEG", &[&[all], &["SV.W.0053: TNC005"], &[]]);
}

#[test]
fn a_flash_flood_is_extended_four_times_and_expires() {
    let all: &[&str] = &["FF.W.0009: NJC003 NJC031 NYC087"];
    // The last product says that it expires, five minutes before it does.
    follows("FFWOKX", &[all; 6]);
}

/// One flood keeps the number 4 over the turn of the year, and another gets it immediately.
#[test]
fn two_floods_have_one_number() {
    let alameda: &[&str] = &["FA.W.0004: CAC001"];
    let both: &[&str] = &["FA.W.0004: CAC001 CAC081 CAC085"];
    // The seventh says three minutes before that the flood of two counties expires.
    follows("FLWMTR", &[alameda, alameda, alameda, alameda, both, both, both, both, alameda]);
}

#[test]
fn an_ice_jam_lasts_into_the_next_year() {
    let all: &[&str] = &["FA.Y.0029: NEC111"];
    follows("FLSLBF", &[all; 7]);
}

#[test]
fn a_river_rises_before_its_time() {
    let all: &[&str] = &["FL.W.0002: NEC049 NEC101"];
    follows("FLWLBF", &[all; 5]);
}

/// The last two products belong to another river, whose warning has the number of the first.
#[test]
fn a_river_stays_high_for_months() {
    let jamestown = "FL.W.0016: SCC015 SCC043 SCC089";
    let both = "FL.W.0016: GAC109 SCC015 SCC043 SCC089";
    let one: &[&str] = &[jamestown];
    follows("FLWCHS", &[one, one, one, one, one, one, one, &[both], &[both]]);
}

/// A watch becomes a warning, and that product is corrected: though repeated, it is not in force
/// twice.
#[test]
fn fire_weather_is_watched_and_then_warned_of() {
    let zones = "AZZ101 NVZ461 NVZ462 NVZ463 NVZ464 NVZ465 NVZ466";
    let (watch, warning) = (&*format!("FW.A.0003: {zones}"), &*format!("FW.W.0007: {zones}"));
    follows("RFWVEF", &[&[watch], &[watch], &[warning], &[warning]]);
    let products = products("RFWVEF");
    let all: Vec<&alert::Message> = products.iter().flat_map(|(_, messages)| messages).collect();
    let now_ms = all.last().unwrap().sent_ms;
    let states = alert::resolve(&all, alert::Clock::live(now_ms));
    let active = states.iter().filter(|state| state.status == alert::Status::Active);
    assert_eq!(active.count(), 1);
}

#[test]
fn every_code_of_the_chains_is_read() {
    let chains =
        ["FFWOKX", "FLSLBF", "FLWCHS", "FLWLBF", "FLWMTR", "NPWBOX", "NPWGID", "RFWVEF", "SVRMEG"];
    let (mut events, mut floods, mut products) = (0, 0, 0);
    for chain in chains {
        let text = unpacked(&format!("tests/data/nws_text_vtec/{chain}.txt.gz"));
        products += text.matches("=== ").count();
        for line in text.lines().map(str::trim).filter(|line| line.starts_with('/')) {
            match line.parse::<Vtec>() {
                Ok(vtec) => {
                    assert_eq!(vtec.to_string(), line);
                    events += 1;
                }
                Err(_) => floods += usize::from(line.parse::<Hvtec>().is_ok()),
            }
        }
    }
    assert_eq!((products, events, floods), (54, 69, 36));
}

/// In the snapshot of July, zones are moved from one event into another without a reference.
#[test]
fn the_snapshot_of_july_resolves() {
    let text = unpacked("server-example/sample/alerts_active_2026-07-15T200045Z.geojson.gz");
    let mut all: BTreeMap<String, alert::Message> = BTreeMap::new();
    read_nws_alerts(text.as_bytes(), |alert| {
        all.insert(alert.id.clone(), alert);
    })
    .unwrap();
    let messages: Vec<&alert::Message> = all.values().collect();
    let now_ms = parse_instant("2026-07-15T20:00:45Z").unwrap();
    let states = alert::resolve(&messages, alert::Clock::replay(now_ms));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for state in &states {
        *counts.entry(state.status.name()).or_default() += 1;
    }
    assert_eq!(counts, BTreeMap::from([("Active", 391), ("Cancelled", 2)]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    /// Whatever part of a chain has arrived, in any order, it is resolved the same way.
    #[test]
    fn every_order_of_arrival_gives_the_same_state(
        chain in prop::sample::select(vec!["NPWBOX", "NPWGID", "FLWMTR", "SVRMEG", "RFWVEF"]),
        order in prop::collection::vec(any::<u32>(), 20),
        minutes in 0_i64..3_000,
    ) {
        let products = products(chain);
        let mut messages: Vec<alert::Message> = products.into_iter().flat_map(|(_, messages)| messages).collect();
        let now_ms = messages[0].sent_ms + minutes * MINUTE_MS;
        // Some do not arrive.
        let mut kept = order.iter().map(|number| number % 5 > 0).chain(std::iter::repeat(true));
        messages.retain(|_| kept.next() == Some(true));
        let by_id = |messages: &[alert::Message]| {
            let messages: Vec<&alert::Message> = messages.iter().collect();
            let states = alert::resolve(&messages, alert::Clock::replay(now_ms));
            messages.iter().map(|message| message.id.clone()).zip(states).collect::<BTreeMap<_, _>>()
        };
        let expected = by_id(&messages);
        let mut numbers = order.into_iter().cycle();
        messages.sort_by_cached_key(|_| numbers.next());
        prop_assert_eq!(by_id(&messages), expected);
    }
}
