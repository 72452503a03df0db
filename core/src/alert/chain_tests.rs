use proptest::prelude::*;

use super::*;
use Status::{Active, Cancelled, Ended, Superseded, Unknown};

/// A message sent a number of minutes after the start and in force for an hour.
fn message(id: &str, minute: i64, references: &[&str]) -> Message {
    Message {
        id: id.to_owned(),
        sent_ms: minute,
        message_type: MessageType::Update,
        references: references.iter().map(|&id| id.to_owned()).collect(),
        parts: vec![part(minute + 60, &[])],
        ..Message::default()
    }
}

fn part(expires_ms: i64, codes: &[&str]) -> Part {
    let area = |code: &&str| MessageArea {
        kind: AreaKind::Coverage,
        code: Some(code.parse().unwrap()),
        ..MessageArea::default()
    };
    Part {
        expires_ms: Some(expires_ms),
        areas: codes.iter().map(area).collect(),
        ..Part::default()
    }
}

/// A message about an event of the weather service.
fn step(id: &str, minute: i64, action: &str, codes: &[&str]) -> Message {
    let vtec = format!("/O.{action}.KCLE.SV.W.0063.260414T0016Z-260414T0115Z/");
    let vtec: Vtec = vtec.parse().unwrap();
    let part = Part { outcome: vtec.outcome(), vtec: vec![vtec], ..part(minute + 60, codes) };
    Message { parts: vec![part], ..message(id, minute, &[]) }
}

fn states(messages: &[Message], now_ms: i64) -> Vec<AlertState> {
    let messages: Vec<&Message> = messages.iter().collect();
    resolve(&messages, Clock::replay(now_ms))
}

fn statuses(messages: &[Message], now_ms: i64) -> Vec<Status> {
    states(messages, now_ms).into_iter().map(|state| state.status).collect()
}

#[test]
fn a_message_that_is_named_by_a_later_one_is_superseded_until_its_time_is_over() {
    let chain = [message("a", 0, &[]), message("b", 10, &["a"]), message("c", 20, &["a", "b"])];
    assert_eq!(statuses(&chain, 5), [Active, Unknown, Unknown]);
    assert_eq!(statuses(&chain, 10), [Superseded, Active, Unknown]);
    assert_eq!(statuses(&chain, 59), [Superseded, Superseded, Active]);
    assert_eq!(statuses(&chain, 60), [Ended, Superseded, Active]);
    assert_eq!(statuses(&chain, 80), [Ended; 3]);
    assert_eq!(states(&chain, 30)[0].next_ids, ["b", "c"]);
    // On a live clock all messages on record count, whatever the clock of the sender says.
    let all: Vec<&Message> = chain.iter().collect();
    let live = resolve(&all, Clock::live(5));
    assert_eq!(
        live.iter().map(|state| state.status).collect::<Vec<_>>(),
        [Superseded, Superseded, Active]
    );
}

#[test]
fn a_chain_with_a_gap_is_still_one_chain() {
    let chain = [message("a", 0, &[]), message("c", 20, &["a", "b"])];
    assert_eq!(statuses(&chain, 30), [Superseded, Active]);
    assert_eq!(statuses(&chain[1..], 30), [Active]);
}

#[test]
fn a_cancelled_message_and_its_cancellation_are_both_cancelled() {
    let cancel =
        Message { message_type: MessageType::Cancel, parts: vec![], ..message("b", 10, &["a"]) };
    let chain = [message("a", 0, &[]), cancel];
    assert_eq!(statuses(&chain, 5), [Active, Unknown]);
    assert_eq!(statuses(&chain, 15), [Cancelled, Cancelled]);
}

#[test]
fn a_message_follows_none_that_was_sent_after_it() {
    let circle = [message("a", 0, &["b"]), message("b", 10, &["a"])];
    assert_eq!(statuses(&circle, 15), [Superseded, Active]);
}

#[test]
fn a_circle_at_one_moment_leaves_one_message_in_force() {
    for n in 1..6_usize {
        let ids: Vec<String> = (0..n).map(|i| i.to_string()).collect();
        let circle: Vec<Message> =
            (0..n).map(|i| message(&ids[i], 0, &[ids[(i + 1) % n].as_str()])).collect();
        let statuses = statuses(&circle, 5);
        assert_eq!(statuses[n - 1], Active, "{statuses:?}");
        assert!(n == 1 || statuses[0] == Superseded, "{statuses:?}");
    }
    // Without a circle the order of the ids does not matter.
    let same = [message("b", 0, &[]), message("a", 0, &["b"])];
    assert_eq!(statuses(&same, 5), [Superseded, Active]);
}

#[test]
fn an_event_continues_zone_by_zone_without_references() {
    let chain = [
        step("new", 0, "NEW", &["TNC005", "TNC017", "TNC079"]),
        step("can", 20, "CAN", &["TNC017", "TNC079"]),
        step("con", 20, "CON", &["TNC005"]),
        step("end", 29, "CAN", &["TNC005"]),
    ];
    let at_20 = states(&chain[..3], 25);
    assert_eq!(at_20[0].areas, [Superseded, Cancelled, Cancelled]);
    assert_eq!(at_20[0].status, Superseded);
    assert_eq!(at_20[0].next_ids, ["can", "con"]);
    assert_eq!((at_20[1].status, at_20[2].status), (Cancelled, Active));
    let at_29 = states(&chain, 30);
    assert_eq!((at_29[2].status, at_29[3].status), (Cancelled, Cancelled));
    assert_eq!(at_29[2].next_ids, ["end"]);
}

#[test]
fn a_message_for_one_zone_does_not_affect_the_others() {
    let chain = [step("new", 0, "NEW", &["MAZ005", "MAZ006"]), step("up", 10, "UPG", &["MAZ005"])];
    let states = states(&chain, 15);
    assert_eq!(states[0].areas, [Superseded, Active]);
    assert_eq!((states[0].status, states[1].status), (Active, Superseded));
}

#[test]
fn a_number_that_is_used_again_is_another_event() {
    let mut again = step("b", 10, "NEW", &["MAZ005"]);
    again.parts[0].vtec[0].begin_ms = Some(7);
    let chain = [step("a", 0, "NEW", &["MAZ005"]), again];
    assert_eq!(statuses(&chain, 15), [Active, Active]);
    // The same event repeated replaces the earlier message.
    let chain = [step("a", 0, "NEW", &["MAZ005"]), step("b", 10, "NEW", &["MAZ005"])];
    assert_eq!(statuses(&chain, 15), [Superseded, Active]);
    let late = step("b", MAX_SILENCE_MS + 1, "CON", &["MAZ005"]);
    let mut early = step("a", 0, "NEW", &["MAZ005"]);
    early.parts[0].expires_ms = None;
    assert_eq!(states(&[early, late], MAX_SILENCE_MS + 2)[0].next_ids, [""; 0]);
}

#[test]
fn a_correction_does_what_the_message_before_it_did() {
    let chain = [
        step("new", 0, "NEW", &["NEZ041", "NEZ063"]),
        step("can", 10, "CAN", &["NEZ063"]),
        step("cor", 12, "COR", &["NEZ063"]),
    ];
    assert_eq!(statuses(&chain, 15), [Active, Cancelled, Cancelled]);
    // Without the message that it corrects, nothing says that the event is over.
    assert_eq!(statuses(&[chain[0].clone(), chain[2].clone()], 15), [Active, Active]);
}

#[test]
fn an_ended_area_leaves_the_others_in_force() {
    let mut both = message("a", 0, &[]);
    both.parts =
        vec![part(60, &["041320"]), Part { outcome: Outcome::Ended, ..part(60, &["041310"]) }];
    let states = states(&[both], 5);
    assert_eq!((states[0].status, &*states[0].areas), (Active, &[Active, Ended][..]));
}

#[test]
fn an_outline_follows_its_zones_and_a_threat_area_its_own_status() {
    let mut first = step("new", 0, "NEW", &["TNC005", "TNC017"]);
    first.parts[0]
        .areas
        .insert(0, MessageArea { kind: AreaKind::Coverage, ..MessageArea::default() });
    let threat = |threat_status| MessageArea {
        kind: AreaKind::ThreatArea,
        threat_status,
        ..MessageArea::default()
    };
    first.parts[0].areas.push(threat(ThreatStatus::Ended));
    first.parts[0].areas.push(threat(ThreatStatus::Cancelled));
    first.parts[0].areas.push(threat(ThreatStatus::Continued));
    let can = step("can", 10, "CAN", &["TNC005"]);
    let states_of = states(&[first.clone(), can], 15);
    assert_eq!(states_of[0].areas, [Active, Cancelled, Active, Ended, Cancelled, Active]);
    let can = step("can", 10, "CAN", &["TNC005", "TNC017"]);
    assert_eq!(states(&[first, can], 15)[0].areas[..3], [Cancelled; 3]);
}

#[test]
fn the_next_change_is_an_end_or_a_future_message() {
    let chain = [message("a", 0, &[]), message("b", 10, &["a"])];
    let all: Vec<&Message> = chain.iter().collect();
    let next = |clock| next_change_ms(&all, clock);
    assert_eq!(next(Clock::replay(5)), Some(10));
    assert_eq!(next(Clock::live(5)), Some(60));
    assert_eq!(next(Clock::replay(60)), Some(70));
    assert_eq!(next(Clock::replay(70)), None);
}

proptest! {
    /// Messages of two events and of chains of references, including gaps and circles.
    #[test]
    fn every_order_of_arrival_gives_the_same_state(
        parts in prop::collection::vec((0_i64..6, 0..6_usize, 0..4_usize, 0..16_u8), 1..9),
        shuffle in prop::collection::vec(any::<prop::sample::Index>(), 9),
        now_ms in 0..100_i64,
    ) {
        let actions = ["NEW", "CON", "EXT", "UPG", "CAN", "COR"];
        let messages: Vec<Message> = parts.iter().enumerate().map(|(i, &(minute, action, zone, named))| {
            let zones = ["MAZ005", "MAZ006", "MAZ007", "MAZ014"];
            let mut message = step(&i.to_string(), minute * 10, actions[action], &zones[..=zone]);
            message.references = (0..8).filter(|bit| named >> bit & 1 == 1).map(|bit: u8| bit.to_string()).collect();
            message
        }).collect();
        let mut shuffled = messages.clone();
        for (i, index) in shuffle.iter().enumerate().take(shuffled.len()) {
            let other = index.index(shuffled.len());
            shuffled.swap(i, other);
        }
        let by_id = |messages: &[Message]| {
            let states = states(messages, now_ms);
            let ids = messages.iter().map(|message| message.id.clone());
            ids.zip(states).collect::<std::collections::BTreeMap<_, _>>()
        };
        prop_assert_eq!(by_id(&messages), by_id(&shuffled));
    }
}

/// Numbers are reused: two new events without a begin are not known to be the same.
#[test]
fn a_new_event_without_a_begin_supersedes_no_other() {
    let begun = |id: &str, minute| {
        let mut message = step(id, minute, "NEW", &["MAZ005"]);
        message.parts[0].vtec[0].begin_ms = None;
        message
    };
    let chain = [begun("a", 0), begun("b", 10)];
    assert_eq!(statuses(&chain, 15), [Active, Active]);
    assert_eq!(states(&chain, 15)[0].next_ids, [""; 0]);
    // A continuation has no begin either, and follows.
    let mut on = begun("c", 20);
    on.parts[0].vtec[0].action = VtecAction::Continued;
    let chain = [begun("a", 0), on];
    assert_eq!(statuses(&chain, 25), [Superseded, Active]);
}

/// A new event with a begin is not the same as an older one without, nor the reverse.
#[test]
fn events_are_not_the_same_if_only_one_has_a_begin() {
    let mut without = step("a", 0, "NEW", &["MAZ005"]);
    without.parts[0].vtec[0].begin_ms = None;
    let with = step("b", 10, "NEW", &["MAZ005"]);
    assert_eq!(statuses(&[without.clone(), with.clone()], 15), [Active, Active]);
    let (mut early, mut late) = (with, without);
    (early.sent_ms, late.sent_ms) = (0, 10);
    assert_eq!(statuses(&[early, late], 15), [Active, Active]);
}

#[test]
fn half_a_year_of_silence_is_still_the_same_event() {
    let mut early = step("a", 0, "NEW", &["MAZ005"]);
    early.parts[0].expires_ms = None;
    let late = |minute| step("b", minute, "CON", &["MAZ005"]);
    let next = |minute| states(&[early.clone(), late(minute)], minute + 1)[0].next_ids.clone();
    assert_eq!(next(MAX_SILENCE_MS), ["b"]);
    assert_eq!(next(MAX_SILENCE_MS + 1), [""; 0]);
}

/// In a circle of any length at one moment, the last message stays in force. So does a message that
/// is named in a chain too long to search.
#[test]
fn circles_and_chains_of_any_length_at_one_moment_leave_something_in_force() {
    let ids: Vec<String> = (0..200).map(|i| format!("{i:03}")).collect();
    let all = |n: usize, closed: bool| -> Vec<Message> {
        let named = |i: usize| match i + 1 {
            next if next < n => vec![ids[next].as_str()],
            _ if closed => vec![ids[0].as_str()],
            _ => vec![],
        };
        (0..n).map(|i| message(&ids[i], 0, &named(i))).collect()
    };
    for n in [2, MAX_CIRCLE, MAX_CIRCLE + 1, MAX_CIRCLE + 2, 200] {
        let found = statuses(&all(n, true), 5);
        assert_eq!((found[0], found[n - 1]), (Superseded, Active), "{n}");
    }
    let found = statuses(&all(200, false), 5);
    // Nobody names the first; from the second on the end is too far away, except for the last ones.
    assert_eq!((found[0], found[1]), (Active, Active));
    assert_eq!((found[198], found[199]), (Superseded, Superseded));
    // A message that names itself, and one that names another twice.
    assert_eq!(statuses(&[message("a", 0, &["a"])], 5), [Active]);
    let twice = [message("a", 0, &[]), message("b", 1, &["a", "a"])];
    assert_eq!(states(&twice, 5)[0].next_ids, ["b"]);
}

/// If none of its zones is mentioned, a following message cancels an alert only if all of its parts
/// cancel.
#[test]
fn a_message_without_the_zone_cancels_only_if_all_of_it_does() {
    let taken_back = |outcomes: &[Outcome]| {
        let parts = outcomes.iter().map(|&outcome| Part { outcome, ..part(70, &[]) });
        let next = Message { parts: parts.collect(), ..message("b", 10, &["a"]) };
        statuses(&[message("a", 0, &[]), next], 15)[0]
    };
    assert_eq!(taken_back(&[Outcome::Cancelled; 2]), Cancelled);
    assert_eq!(taken_back(&[Outcome::Cancelled, Outcome::InForce]), Superseded);
    assert_eq!(taken_back(&[]), Superseded);
}

const SIX: [&str; 6] = ["WAZ305", "WAZ306", "WAZ307", "WAZ308", "WAZ309", "WAZ325"];

/// A message that refers to others changes only the zones that it names and, with a code of an
/// event, only the event that it names: whatever it does, the other zones stay.
#[test]
fn references_change_only_the_zones_that_are_named() {
    let refer = |message: Message| Message { references: vec!["new".to_owned()], ..message };
    for action in ["NEW", "CON", "EXT", "EXA", "EXB", "UPG", "CAN", "EXP", "COR", "ROU"] {
        for message_type in [MessageType::Alert, MessageType::Update, MessageType::Cancel] {
            let next = |codes: &[&str]| {
                let next = Message { message_type, ..refer(step("next", 10, action, codes)) };
                [step("new", 0, "NEW", &SIX), next]
            };
            // A seventh zone.
            let states_of = states(&next(&["WAZ327"]), 15);
            assert_eq!(states_of[0].areas, [Active; 6], "{action}");
            assert_eq!(states_of[0].next_ids, ["next"]);
            // The first of the six, and a seventh.
            let states_of = states(&next(&["WAZ305", "WAZ327"]), 15);
            assert_eq!(states_of[0].areas[1..], [Active; 5], "{action}");
            let is_cancelled = action == "CAN"
                || message_type == MessageType::Cancel && !["UPG", "EXP"].contains(&action);
            let first = if is_cancelled { Cancelled } else { Superseded };
            assert_eq!(states_of[0].areas[0], first, "{action} {message_type:?}");
        }
    }
    // Without codes of events, by references alone.
    let plain = |id: &str, minute, codes: &[&str]| Message {
        parts: vec![part(minute + 60, codes)],
        ..message(id, minute, &[])
    };
    let chain = [plain("new", 0, &SIX), refer(plain("next", 10, &["WAZ305"]))];
    let states_of = states(&chain, 15);
    assert_eq!(states_of[0].areas, [Superseded, Active, Active, Active, Active, Active]);
    assert_eq!((states_of[0].status, states_of[1].status), (Active, Active));
}

/// Another event of the same zone is another matter, though it is referred to.
#[test]
fn references_change_only_the_events_that_are_named() {
    let mut warning = step("warning", 10, "CAN", &["WAZ305"]);
    warning.references = vec!["watch".to_owned()];
    warning.parts[0].vtec[0].event.number = 64;
    let watch = step("watch", 0, "NEW", &["WAZ305"]);
    assert_eq!(statuses(&[watch.clone(), warning.clone()], 15), [Active, Cancelled]);
    // Of the two events of one alert, the other stays.
    let mut both = watch;
    both.parts[0].vtec.push(warning.parts[0].vtec[0]);
    both.parts[0].vtec[1].action = VtecAction::New;
    assert_eq!(statuses(&[both.clone(), warning.clone()], 15), [Active, Cancelled]);
    let chain = [both, warning, step("other", 20, "CAN", &["WAZ305"])];
    assert_eq!(statuses(&chain, 25)[0], Cancelled);
}

/// A Cancel withdraws the message that it refers to, even if another message has replaced that one
/// before. A Cancel without zones withdraws the whole message.
#[test]
fn a_message_that_a_cancel_names_is_cancelled_not_superseded() {
    let chain = |cancelled: Vec<Part>| {
        let cancel = Message {
            message_type: MessageType::Cancel,
            parts: cancelled,
            ..message("c", 20, &["a", "b"])
        };
        let of = |id, minute, references: &[&str]| Message {
            parts: vec![part(minute + 60, &["WAZ305", "WAZ306"])],
            ..message(id, minute, references)
        };
        [of("a", 0, &[]), of("b", 10, &["a"]), cancel]
    };
    let areas = |parts| {
        let states = states(&chain(parts), 25);
        [states[0].areas.clone(), states[1].areas.clone()]
    };
    assert_eq!(areas(vec![]), [vec![Cancelled; 2], vec![Cancelled; 2]]);
    assert_eq!(areas(vec![part(80, &[])]), [vec![Cancelled; 2], vec![Cancelled; 2]]);
    let one = areas(vec![part(80, &["WAZ306"])]);
    assert_eq!(one, [vec![Superseded, Cancelled], vec![Active, Cancelled]]);
}

/// In Canada a message lists all areas of the alert: an area that is left out is no longer part of
/// it.
#[test]
fn a_message_of_canada_replaces_the_whole_of_those_that_it_refers_to() {
    let of = |id, minute, references: &[&str], codes: &[&str]| Message {
        parts: vec![part(minute + 60, codes)],
        ..message(id, minute, references)
    };
    let chain = [of("a", 0, &[], &["041310", "041320"]), of("b", 10, &["a"], &["041320"])];
    assert_eq!(states(&chain, 15)[0].areas, [Superseded, Superseded]);
}

/// EXP comes up to half an hour before the end; the event is over at the end and not before.
#[test]
fn an_event_that_expires_is_in_force_until_its_end() {
    let end_ms = step("new", 0, "NEW", &["TNC005"]).parts[0].vtec[0].end_ms.unwrap();
    let at = end_ms - 600_000;
    for message_type in [MessageType::Update, MessageType::Cancel] {
        let mut exp = Message { message_type, ..step("exp", at, "EXP", &["TNC005"]) };
        exp.references = vec!["new".to_owned()];
        let chain = [step("new", 0, "NEW", &["TNC005"]), exp.clone()];
        assert_eq!(statuses(&chain, end_ms - 1), [Superseded, Active]);
        assert_eq!(statuses(&chain, end_ms), [Ended, Ended]);
        assert_eq!(statuses(&chain[1..], end_ms - 1), [Active]);
        // An EXP without an end is over at once.
        exp.parts[0].vtec[0].end_ms = None;
        assert_eq!(statuses(&[exp], at), [Ended]);
    }
}

/// The rule for an alert that does not say when it ends: a day after it was sent, takes effect and
/// begins.
#[test]
fn an_alert_without_an_end_is_over_after_a_day() {
    let mut open = message("a", 1_000, &[]);
    open.parts[0].expires_ms = None;
    let last = |open: &Message, ms: i64| {
        let next = next_change_ms(&[open], Clock::live(0));
        assert_eq!(next, Some(ms));
        assert_eq!(statuses(std::slice::from_ref(open), ms - 1), [Active]);
        assert_eq!(statuses(std::slice::from_ref(open), ms), [Ended]);
    };
    last(&open, 1_000 + DAY_MS);
    open.parts[0].onset_ms = Some(7_000);
    last(&open, 7_000 + DAY_MS);
    open.parts[0].effective_ms = Some(9_000);
    last(&open, 9_000 + DAY_MS);
    open.parts[0].event_end_ms = Some(9_500);
    last(&open, 9_500);
}

/// An event of a part that ends before the part is over changes its state by itself.
#[test]
fn the_next_change_is_the_end_of_an_event_too() {
    let mut both = step("a", 0, "NEW", &["TNC005"]);
    let mut second = both.parts[0].vtec[0];
    second.event.number = 64;
    second.end_ms = second.end_ms.map(|end_ms| end_ms - 600_000);
    both.parts[0].vtec.push(second);
    let ends = both.parts[0].vtec.iter().map(|vtec| vtec.end_ms.unwrap());
    let ends: Vec<i64> = ends.collect();
    assert_eq!(next_change_ms(&[&both], Clock::live(0)), Some(ends[1]));
    assert_eq!(next_change_ms(&[&both], Clock::live(ends[1])), Some(ends[0]));
    assert_eq!(statuses(&[both], ends[1]), [Active]);
}
