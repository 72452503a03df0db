//! The state of each alert and of each of its areas, from all messages on record.
//!
//! The state is a function of the set of messages and the time: it does not depend on the order in
//! which they arrived, and a missing message does not change what the others say. Chains are not
//! walked, so circular references cannot cause an endless loop.

use std::collections::{HashMap, HashSet};

use crate::alert::{
    AreaKind, Message, MessageArea, MessageType, Outcome, Part, Status, ThreatStatus, Vtec,
    VtecAction, VtecEvent,
};
use crate::time::DAY_MS;
use crate::zone;

/// Longest pause between two messages of one event: its number is used again the following year,
/// and no event on record has been silent for that long.
const MAX_SILENCE_MS: i64 = 180 * DAY_MS;

/// At most this many messages sent at one moment are searched for a circle.
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
    /// Real time: everything on record counts, even if the clock of its sender is ahead.
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
pub struct State {
    /// The state of the alert as a whole: Active if any of its areas is, else the first of
    /// Superseded, Cancelled and Ended that applies to an area.
    pub status: Status,
    /// The state of each area, in the order of [`Message::areas`].
    pub areas: Vec<Status>,
    /// Ids of the messages that follow it, in the order they were sent.
    pub next_ids: Vec<String>,
}

/// Returns the state of each message, in the order of the messages.
///
/// For each area these are tested in turn:
/// 1. *Ended*: the message itself says so (ECCC's status of the alert or of the threat area, the
///    response AllClear, VTEC EXP), or its part is [over](Part::over_ms).
/// 2. *Superseded*: a later message names it in its references, or continues its VTEC event in
///    the zone of the area; or the message itself says that another event replaces it (VTEC
///    UPG). *Cancelled* instead, if the first such message that mentions the area withdraws it.
/// 3. *Cancelled*: the message itself withdraws it (msgType Cancel, VTEC CAN).
/// 4. *Active*.
///
/// A message never follows one that was sent after it. VTEC COR does to the event what the message
/// that it corrects did. Messages with the same id must be the same message.
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
pub fn resolve(messages: &[&Message], clock: Clock) -> Vec<State> {
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
    let ends = messages.iter().flat_map(|message| message.parts.iter().filter_map(Part::over_ms));
    let sent = messages.iter().map(|message| message.sent_ms);
    let unheard = sent.filter(|&sent_ms| sent_ms > clock.heard_until_ms);
    ends.filter(|&end_ms| end_ms > clock.now_ms).chain(unheard).min()
}

/// The messages that count, with their links.
struct Chains<'a> {
    messages: &'a [&'a Message],
    heard_until_ms: i64,
    /// For each message, those that name it and are not before it, in the order they were sent.
    named_by: Vec<Vec<usize>>,
    /// The messages of each event in each zone, in the order they were sent.
    events: HashMap<(VtecEvent, zone::Code), Vec<Step<'a>>>,
}

/// A message about an event in a zone.
#[derive(Clone, Copy)]
struct Step<'a> {
    message: usize,
    part: &'a Part,
    vtec: Vtec,
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
            for (part, area) in messages[at].areas() {
                for vtec in &part.vtec {
                    if let Some(code) = area.code {
                        let steps = chains.events.entry((vtec.event, code)).or_default();
                        steps.push(Step { message: at, part, vtec: *vtec });
                    }
                }
            }
        }
        chains
    }

    /// Whether a message that names another comes after it. If messages sent at the same moment
    /// name each other in a circle, the order of their ids decides: the last one stays.
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
    /// If there are too many of these to tell, the answer is yes, so that the named one stays in
    /// force.
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

    fn state(&self, at: usize, clock: Clock) -> State {
        let message = self.messages[at];
        if message.sent_ms > self.heard_until_ms {
            let areas = vec![Status::Unknown; message.areas().count()];
            return State { areas, ..State::default() };
        }
        let mut areas = Vec::new();
        let mut whole = Vec::new();
        for part in &message.parts {
            let first = areas.len();
            areas.extend(part.areas.iter().map(|area| self.status(at, part, Some(area), clock)));
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
                whole.push(self.status(at, part, None, clock));
            }
        }
        if message.parts.is_empty() {
            whole.push(self.status(at, &Part::default(), None, clock));
        }
        let status = areas.iter().chain(&whole).copied().min().unwrap_or_default();
        State { status, areas, next_ids: self.next_ids(at) }
    }

    fn status(&self, at: usize, part: &Part, area: Option<&MessageArea>, clock: Clock) -> Status {
        let own = self.outcome(at, part, area);
        if own == Outcome::Ended || part.over_ms().is_some_and(|over_ms| over_ms <= clock.now_ms) {
            return Status::Ended;
        }
        match (self.successor(at, part, area), own) {
            (Some(Outcome::Cancelled), _) | (None, Outcome::Cancelled) => Status::Cancelled,
            (Some(_), _) | (None, Outcome::Replaced) => Status::Superseded,
            (None, _) => Status::Active,
        }
    }

    /// What a message itself says about the state of an area.
    fn outcome(&self, at: usize, part: &Part, area: Option<&MessageArea>) -> Outcome {
        if self.messages[at].message_type == MessageType::Cancel {
            return Outcome::Cancelled;
        }
        match area.map(|area| area.threat_status) {
            Some(ThreatStatus::Ended) => return Outcome::Ended,
            Some(ThreatStatus::Cancelled) => return Outcome::Cancelled,
            _ => {}
        }
        if let Some(code) = area.and_then(|area| area.code)
            && let Some(corrected) =
                part.vtec.iter().find(|vtec| vtec.action == VtecAction::Corrected)
        {
            return self.corrected(at, corrected.event, code).unwrap_or(part.outcome);
        }
        part.outcome
    }

    /// What was done to an event by the message that another one corrects.
    fn corrected(&self, at: usize, event: VtecEvent, code: zone::Code) -> Option<Outcome> {
        let steps = self.events.get(&(event, code))?;
        let here = steps.iter().position(|step| step.message == at)?;
        let before =
            steps[..here].iter().rev().find(|step| step.vtec.action != VtecAction::Corrected)?;
        self.is_in_reach(before.message, at).then_some(before.part.outcome)
    }

    fn is_in_reach(&self, earlier: usize, later: usize) -> bool {
        let [earlier, later] = [earlier, later].map(|at| self.messages[at].sent_ms);
        later.saturating_sub(earlier) <= MAX_SILENCE_MS
    }

    /// What the first message that follows says about an area: the first one that mentions its
    /// zone, or else the first of all.
    fn successor(&self, at: usize, part: &Part, area: Option<&MessageArea>) -> Option<Outcome> {
        let code = area.and_then(|area| area.code);
        let speaks = |next: usize| -> Option<Outcome> {
            let code = code?;
            let mut of_zone =
                self.messages[next].areas().filter(|(_, area)| area.code == Some(code));
            of_zone.next().map(|(part, area)| self.outcome(next, part, Some(area)))
        };
        let event = code.and_then(|code| self.next_step(at, part, code));
        let named = self.named_by[at].iter().copied().find_map(|next| Some((next, speaks(next)?)));
        let of_zone = event.into_iter().chain(named).min_by_key(|&(next, _)| self.order(next));
        if let Some((_, outcome)) = of_zone {
            return Some(outcome);
        }
        let &next = self.named_by[at].first()?;
        let next_message = self.messages[next];
        let is_taken_back = next_message.message_type == MessageType::Cancel
            || !next_message.parts.is_empty()
                && next_message.parts.iter().all(|part| part.outcome == Outcome::Cancelled);
        Some(if is_taken_back { Outcome::Cancelled } else { Outcome::InForce })
    }

    /// The next message about the event of a part in a zone, and what it does there.
    fn next_step(&self, at: usize, part: &Part, code: zone::Code) -> Option<(usize, Outcome)> {
        let steps = part.vtec.iter().filter_map(|vtec| {
            let steps = self.events.get(&(vtec.event, code))?;
            let sent_ms = self.messages[at].sent_ms;
            let until =
                steps.partition_point(|step| self.messages[step.message].sent_ms <= sent_ms);
            let next = steps.get(until)?;
            // A new event may reuse the number of an old one; if it begins at the same time too, it
            // is the old one, repeated.
            let is_repeated = vtec.begin_ms.is_some() && next.vtec.begin_ms == vtec.begin_ms;
            let follows = (next.vtec.action != VtecAction::New || is_repeated)
                && self.is_in_reach(at, next.message);
            let area = next.part.areas.iter().find(|area| area.code == Some(code));
            follows.then(|| (next.message, self.outcome(next.message, next.part, area)))
        });
        steps.min_by_key(|&(next, _)| self.order(next))
    }

    fn order(&self, at: usize) -> (i64, &str) {
        (self.messages[at].sent_ms, &self.messages[at].id)
    }

    fn next_ids(&self, at: usize) -> Vec<String> {
        let message = self.messages[at];
        let steps = message
            .areas()
            .filter_map(|(part, area)| self.next_step(at, part, area.code?).map(|(next, _)| next));
        let mut next: Vec<usize> = self.named_by[at].iter().copied().chain(steps).collect();
        next.sort_by_key(|&next| self.order(next));
        next.dedup();
        next.into_iter().map(|next| self.messages[next].id.clone()).collect()
    }
}

#[cfg(test)]
#[path = "chain_tests.rs"]
mod tests;
