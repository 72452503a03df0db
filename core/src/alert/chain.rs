//! The state of each alert and of each of its areas, from all messages on record.
//!
//! The state is a function of the set of messages and the time. It does not depend on the order of
//! arrival, and a missing message does not change what the others say. Chains are not walked, so
//! circular references cannot cause an endless loop.
//!
//! Events of the United States are followed zone by zone (Directive 10-1703): a segment says what
//! happens to its events in the zones that it lists, and says nothing about any other zone. So a
//! message that refers to an earlier one changes only the events and zones that both name. In
//! Canada each message of a chain lists all areas of the alert (CAP-CP), so a message that refers
//! to an earlier one replaces all of it.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::alert::{
    AreaKind, Message, MessageArea, MessageType, Outcome, Part, Status, ThreatStatus, Vtec,
    VtecAction, VtecEvent,
};
use crate::time::DAY_MS;
use crate::zone;

/// Longest pause between two messages of one event: its number is used again the following year,
/// and no event on record has been silent for that long.
const MAX_SILENCE_MS: i64 = 180 * DAY_MS;

/// The most messages sent at one moment that are searched for a circle.
const MAX_CIRCLE: usize = 64;

/// The time at which the state of alerts is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The current time, milliseconds since 1970.
    pub now_ms: i64,
    /// Messages sent after this time do not exist yet, milliseconds since 1970.
    pub heard_until_ms: i64,
}

impl Clock {
    /// Real time: all messages on record count, even if the clock of the sender is ahead.
    pub fn live(now_ms: i64) -> Self {
        Self { now_ms, heard_until_ms: i64::MAX }
    }

    /// A clock that replays the past: messages sent after its time do not count.
    pub fn replay(now_ms: i64) -> Self {
        Self { now_ms, heard_until_ms: now_ms }
    }
}

/// The state of an alert.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertState {
    /// The state of the alert as a whole: Active if any of its areas is, else the first of
    /// Superseded, Cancelled and Ended that applies to an area.
    pub status: Status,
    /// The state of each area, in the order of [`Message::areas`].
    pub areas: Vec<Status>,
    /// Ids of the messages that follow, in the order they were sent.
    pub next_ids: Vec<String>,
}

/// Returns the state of each message, in the order of the messages.
///
/// For each area these states are tested in turn:
/// 1. *Ended*: the message itself says so (ECCC's status of the alert or of the threat area, the
///    response AllClear), or its part is [over](Message::over_ms).
/// 2. *Cancelled*: a Cancel message refers to the message; or the first message that follows
///    withdraws it.
/// 3. *Superseded*: another message follows; or the message itself says that another event replaces
///    it (VTEC UPG).
/// 4. *Cancelled*: the message itself withdraws it (msgType Cancel, VTEC CAN).
/// 5. *Active*.
///
/// A message *follows* another in an area if it refers to it or continues its VTEC event, and names
/// the zone of the area. If both have VTEC codes, it must name the event too. If there are several
/// events, each is followed separately: the area is active while one of them is. A message does not
/// change a zone of the United States that it does not name, whatever it refers to; the exception
/// is a Cancel that names no zone at all. For a zone of Canada, and for an area without a code,
/// every message that refers to the message follows; messages that name the zone come before the
/// others.
///
/// A message never follows a message that was sent after it. VTEC COR does to the event the same as
/// the message that it corrects. VTEC EXP leaves the event in force until its end. Messages with
/// the same id must be the same message.
///
/// ```
/// use mesonet::alert;
/// let part = alert::Part { expires_ms: Some(100), ..alert::Part::default() };
/// let first = alert::Message { id: "1".into(), sent_ms: 10, parts: vec![part], ..Default::default() };
/// let second = alert::Message {
///     id: "2".into(), sent_ms: 20, references: vec!["1".into()], ..first.clone()
/// };
/// let status = |now_ms| {
///     let states = alert::resolve(&[&first, &second], alert::Clock::replay(now_ms));
///     [states[0].status, states[1].status]
/// };
/// assert_eq!(status(15), [alert::Status::Active, alert::Status::Unknown]);
/// assert_eq!(status(25), [alert::Status::Superseded, alert::Status::Active]);
/// assert_eq!(status(100), [alert::Status::Ended; 2]);
/// ```
pub fn resolve(messages: &[&Message], clock: Clock) -> Vec<AlertState> {
    let chains = Chains::new(messages, clock.heard_until_ms);
    (0..messages.len()).map(|at| chains.state(at, clock)).collect()
}

/// The next instant after the clock's time at which the state of any alert may change by itself,
/// milliseconds since 1970: an interval ends or, in a replay, a message is sent.
///
/// ```
/// use mesonet::alert;
/// let part = alert::Part { expires_ms: Some(100), ..alert::Part::default() };
/// let message = alert::Message { sent_ms: 10, parts: vec![part], ..alert::Message::default() };
/// let next = |clock| alert::next_change_ms(&[&message], clock);
/// assert_eq!(next(alert::Clock::replay(0)), Some(10));
/// assert_eq!(next(alert::Clock::live(0)), Some(100));
/// assert_eq!(next(alert::Clock::live(100)), None);
/// ```
pub fn next_change_ms(messages: &[&Message], clock: Clock) -> Option<i64> {
    let ends = messages.iter().flat_map(|message| {
        message.parts.iter().flat_map(|part| {
            let events = part.vtec.iter().map(|vtec| message.event_over_ms(part, *vtec));
            events.chain(std::iter::once(message.over_ms(part)))
        })
    });
    let sent = messages.iter().map(|message| message.sent_ms);
    let unheard = sent.filter(|&sent_ms| sent_ms > clock.heard_until_ms);
    let comes = |end_ms: &i64| *end_ms > clock.now_ms && *end_ms < i64::MAX;
    ends.filter(comes).chain(unheard).min()
}

/// The messages that count, with their links.
struct Chains<'a> {
    messages: &'a [&'a Message],
    heard_until_ms: i64,
    /// For each message, the messages that refer to it and are not before it, in the order they
    /// were sent.
    named_by: Vec<Vec<usize>>,
    /// The messages of each event in each zone, in the order they were sent; messages of a part
    /// without a zone are under no zone.
    events: HashMap<(VtecEvent, Option<zone::Code>), Vec<ZoneStep<'a>>>,
    /// What each message with references says about a zone.
    zones: HashMap<(usize, zone::Code), Vec<(&'a Part, &'a MessageArea)>>,
}

/// A message about an event in a zone.
#[derive(Clone, Copy)]
struct ZoneStep<'a> {
    message: usize,
    part: &'a Part,
    vtec: Vtec,
}

/// An area of a message, or a message without areas, whose state is asked for.
#[derive(Clone, Copy)]
struct AreaOfMessage<'a> {
    message: usize,
    part: &'a Part,
    area: Option<&'a MessageArea>,
    /// The code of the area.
    code: Option<zone::Code>,
}

impl<'a> Chains<'a> {
    fn new(messages: &'a [&'a Message], heard_until_ms: i64) -> Self {
        let heard = |at: &usize| messages[*at].sent_ms <= heard_until_ms;
        let mut in_time: Vec<usize> = (0..messages.len()).filter(heard).collect();
        in_time.sort_by_key(|&at| (messages[at].sent_ms, &messages[at].id));
        let by_id: HashMap<&str, usize> =
            in_time.iter().map(|&at| (messages[at].id.as_str(), at)).collect();
        let mut chains = Self {
            messages,
            heard_until_ms,
            named_by: vec![Vec::new(); messages.len()],
            events: HashMap::new(),
            zones: HashMap::new(),
        };
        for &at in &in_time {
            let mut seen = HashSet::new();
            for id in &messages[at].references {
                if let Some(&named) = by_id.get(id.as_str())
                    && seen.insert(named)
                    && chains.follows(at, named, &by_id)
                {
                    chains.named_by[named].push(at);
                }
            }
            for part in &messages[at].parts {
                let codes: BTreeSet<zone::Code> =
                    part.areas.iter().filter_map(|area| area.code).collect();
                let whole = codes.is_empty().then_some(None);
                for vtec in &part.vtec {
                    for code in codes.iter().copied().map(Some).chain(whole) {
                        let steps = chains.events.entry((vtec.event, code)).or_default();
                        steps.push(ZoneStep { message: at, part, vtec: *vtec });
                    }
                }
                if !messages[at].references.is_empty() {
                    for area in &part.areas {
                        if let Some(code) = area.code {
                            chains.zones.entry((at, code)).or_default().push((part, area));
                        }
                    }
                }
            }
        }
        chains
    }

    /// Whether a message that names another comes after it. If messages sent at the same moment
    /// name each other in a circle, the order of their ids decides: the last message stays.
    fn follows(&self, later: usize, named: usize, by_id: &HashMap<&str, usize>) -> bool {
        let [later, named] = [later, named].map(|at| self.messages[at]);
        match later.sent_ms.cmp(&named.sent_ms) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => {
                later.id > named.id || !self.leads_to(named, &later.id, by_id)
            }
        }
    }

    /// Whether references lead from a message to an id, through messages sent at the same moment.
    /// If there are too many such messages to tell, the answer is yes, so that the named message
    /// stays in force.
    fn leads_to(&self, from: &Message, id: &str, by_id: &HashMap<&str, usize>) -> bool {
        let mut open = vec![from];
        let mut seen = HashSet::new();
        while let Some(message) = open.pop() {
            if seen.len() > MAX_CIRCLE {
                return true;
            }
            for reference in &message.references {
                if reference == id {
                    return true;
                }
                if let Some(&at) = by_id.get(reference.as_str())
                    && self.messages[at].sent_ms == from.sent_ms
                    && seen.insert(at)
                {
                    open.push(self.messages[at]);
                }
            }
        }
        false
    }

    fn state(&self, at: usize, clock: Clock) -> AlertState {
        let message = self.messages[at];
        if message.sent_ms > self.heard_until_ms {
            let areas = vec![Status::Unknown; message.areas().count()];
            return AlertState { areas, ..AlertState::default() };
        }
        let status = |part: &Part, area: Option<&MessageArea>| {
            let place =
                AreaOfMessage { message: at, part, area, code: area.and_then(|area| area.code) };
            self.status(place, clock.now_ms)
        };
        let mut areas = Vec::new();
        let mut whole = Vec::new();
        for part in &message.parts {
            let first = areas.len();
            areas.extend(part.areas.iter().map(|area| status(part, Some(area))));
            // An outline drawn for several zones has their combined status.
            let zones =
                part.areas.iter().zip(&areas[first..]).filter(|(area, _)| area.code.is_some());
            if let Some(of_zones) = zones.map(|(_, &status)| status).min() {
                for (area, status) in part.areas.iter().zip(&mut areas[first..]) {
                    if area.code.is_none() && area.kind != AreaKind::ThreatArea {
                        *status = of_zones;
                    }
                }
            }
            if part.areas.is_empty() {
                whole.push(status(part, None));
            }
        }
        if message.parts.is_empty() {
            whole.push(status(&Part::default(), None));
        }
        let status = areas.iter().chain(&whole).copied().min().unwrap_or_default();
        AlertState { status, areas, next_ids: self.next_ids(at) }
    }

    fn status(&self, of: AreaOfMessage<'_>, now_ms: i64) -> Status {
        let message = self.messages[of.message];
        if message.over_ms(of.part) <= now_ms {
            return Status::Ended;
        }
        let events = of.part.vtec.iter().map(|vtec| {
            if message.event_over_ms(of.part, *vtec) <= now_ms {
                return Status::Ended;
            }
            status(self.outcome(of, Some(*vtec)), self.successor(of, Some(*vtec)))
        });
        let of_events = events.min();
        of_events.unwrap_or_else(|| status(self.outcome(of, None), self.successor(of, None)))
    }

    /// What a message itself says about the state of an area, or of one of its events there.
    fn outcome(&self, of: AreaOfMessage<'_>, vtec: Option<Vtec>) -> Outcome {
        match of.area.map(|area| area.threat_status) {
            Some(ThreatStatus::Ended) => return Outcome::Ended,
            Some(ThreatStatus::Cancelled) => return Outcome::Cancelled,
            _ => {}
        }
        let is_cancel = self.messages[of.message].message_type == MessageType::Cancel;
        let own = vtec.map_or(of.part.outcome, |vtec| {
            let corrected = (vtec.action == VtecAction::Corrected)
                .then(|| self.corrected(of.message, vtec.event, of.code))
                .flatten();
            corrected.unwrap_or(vtec).outcome()
        });
        // The weather service also sends a message that upgrades an event, or says that it expires,
        // as Cancel.
        let says_how = vtec
            .is_some_and(|vtec| matches!(vtec.action, VtecAction::Upgraded | VtecAction::Expired));
        if is_cancel && !says_how { Outcome::Cancelled } else { own }
    }

    /// What the corrected message did to an event.
    fn corrected(&self, at: usize, event: VtecEvent, code: Option<zone::Code>) -> Option<Vtec> {
        let steps = self.events.get(&(event, code))?;
        let here = steps.iter().position(|step| step.message == at)?;
        let before =
            steps[..here].iter().rev().find(|step| step.vtec.action != VtecAction::Corrected)?;
        self.is_in_reach(before.message, at).then_some(before.vtec)
    }

    fn is_in_reach(&self, earlier: usize, later: usize) -> bool {
        let [earlier, later] = [earlier, later].map(|at| self.messages[at].sent_ms);
        later.saturating_sub(earlier) <= MAX_SILENCE_MS
    }

    /// What the following messages do to an area, or to one of its events there; `None` if none
    /// follows.
    fn successor(&self, of: AreaOfMessage<'_>, vtec: Option<Vtec>) -> Option<Outcome> {
        let named = &self.named_by[of.message];
        let is_cancel = |next: &usize| self.messages[*next].message_type == MessageType::Cancel;
        let is_withdrawn = named.iter().copied().filter(is_cancel).any(|next| {
            let stated = self.stated_outcome(next, of, vtec);
            stated.map_or(self.is_for_all(next, of, vtec), |stated| stated == Outcome::Cancelled)
        });
        if is_withdrawn {
            return Some(Outcome::Cancelled);
        }
        let event = vtec.and_then(|vtec| self.next_step(of, vtec));
        let stated =
            named.iter().find_map(|&next| Some((next, self.stated_outcome(next, of, vtec)?)));
        let first = event.into_iter().chain(stated).min_by_key(|&(next, _)| self.order(next));
        if let Some((_, outcome)) = first {
            return Some(outcome);
        }
        let &next = named.iter().find(|&&next| self.is_for_all(next, of, vtec))?;
        let next = self.messages[next];
        let is_taken_back = !next.parts.is_empty()
            && next.parts.iter().all(|part| part.outcome == Outcome::Cancelled);
        Some(if is_taken_back { Outcome::Cancelled } else { Outcome::InForce })
    }

    /// What a message says about the zone of an area, or about one of its events there; `None` if
    /// the message does not name both.
    fn stated_outcome(
        &self,
        next: usize,
        of: AreaOfMessage<'_>,
        vtec: Option<Vtec>,
    ) -> Option<Outcome> {
        let code = of.code?;
        let stated = self.zones.get(&(next, code))?.iter().flat_map(|&(part, area)| {
            let place = AreaOfMessage { message: next, part, area: Some(area), code: Some(code) };
            let events = part.vtec.iter().filter(move |one| is_about(**one, vtec));
            let whole = part.vtec.is_empty().then_some(None);
            events.map(|vtec| Some(*vtec)).chain(whole).map(move |vtec| self.outcome(place, vtec))
        });
        stated.min()
    }

    /// Whether a message with a reference applies to an area that it does not name.
    fn is_for_all(&self, next: usize, of: AreaOfMessage<'_>, vtec: Option<Vtec>) -> bool {
        let next = self.messages[next];
        let mut codes = next.parts.iter().flat_map(|part| &part.vtec).peekable();
        if codes.peek().is_some() && !codes.any(|one| is_about(*one, vtec)) {
            return false;
        }
        of.code.is_none_or(zone::Code::is_clc)
            || next.message_type == MessageType::Cancel
                && next.areas().all(|(_, area)| area.code.is_none())
    }

    /// The next message about an event in an area, and what it does there.
    fn next_step(&self, of: AreaOfMessage<'_>, vtec: Vtec) -> Option<(usize, Outcome)> {
        let key = (vtec.event, of.code);
        let steps = self.events.get(&key)?;
        let sent_ms = self.messages[of.message].sent_ms;
        let until = steps.partition_point(|step| self.messages[step.message].sent_ms <= sent_ms);
        let next = steps.get(until)?;
        // A new event may reuse the number of an old event. If it also begins at the same time, it
        // is the old event, repeated.
        let is_repeated = vtec.begin_ms.is_some() && next.vtec.begin_ms == vtec.begin_ms;
        if next.vtec.action == VtecAction::New && !is_repeated
            || !self.is_in_reach(of.message, next.message)
        {
            return None;
        }
        let of_message = steps[until..].iter().take_while(|step| step.message == next.message);
        let outcomes = of_message.map(|step| {
            let ZoneStep { message, part, .. } = *step;
            let place = AreaOfMessage { message, part, area: None, code: of.code };
            self.outcome(place, Some(step.vtec))
        });
        Some((next.message, outcomes.min()?))
    }

    fn order(&self, at: usize) -> (i64, &str) {
        (self.messages[at].sent_ms, &self.messages[at].id)
    }

    fn next_ids(&self, at: usize) -> Vec<String> {
        let message = self.messages[at];
        let steps = message.parts.iter().flat_map(|part| {
            let codes = part.areas.iter().map(|area| (area.code, Some(area)));
            let whole = part.areas.is_empty().then_some((None, None));
            codes.chain(whole).flat_map(move |(code, area)| {
                let place = AreaOfMessage { message: at, part, area, code };
                part.vtec.iter().filter_map(move |vtec| Some(self.next_step(place, *vtec)?.0))
            })
        });
        let mut next: Vec<usize> = self.named_by[at].iter().copied().chain(steps).collect();
        next.sort_by_key(|&next| self.order(next));
        next.dedup();
        next.into_iter().map(|next| self.messages[next].id.clone()).collect()
    }
}

/// The state of an event, or of a message without one, that is not over.
fn status(own: Outcome, successor: Option<Outcome>) -> Status {
    match (own, successor) {
        (Outcome::Ended, _) => Status::Ended,
        (_, Some(Outcome::Cancelled)) | (Outcome::Cancelled, None) => Status::Cancelled,
        (_, Some(_)) | (Outcome::Replaced, None) => Status::Superseded,
        (Outcome::InForce, None) => Status::Active,
    }
}

/// Whether a code concerns an event, or there is no event.
fn is_about(code: Vtec, event: Option<Vtec>) -> bool {
    event.is_none_or(|event| event.event == code.event)
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
