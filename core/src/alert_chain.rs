//! What has become of each alert and of each of its areas, from all messages of the record.
//!
//! The state is a function of the set of messages and the time: in which order they came in, and
//! which of them are missing, changes nothing of what the others say. No chain is walked, so a
//! circle of references has no end to run out of.

use std::collections::{HashMap, HashSet};

use crate::alert::{
    AlertMessage, AlertMessageType, AlertPart, AlertStatus, AreaKind, MessageArea, Outcome,
    ThreatStatus,
};
use crate::time::DAY_MS;
use crate::vtec::{Vtec, VtecAction, VtecEvent};
use crate::zone::ZoneCode;

/// Longest pause between two messages of one event: its number is used again the year after, and
/// no event of the record has gone on for that long without a word.
const MAX_SILENCE_MS: i64 = 180 * DAY_MS;

/// Messages of one moment that are looked through for a circle.
const MAX_CIRCLE: usize = 64;

/// The time for which the state of alerts is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlertClock {
    /// What time it is, milliseconds since 1970.
    pub now_ms: i64,
    /// Messages that were sent later are not there yet, milliseconds since 1970.
    pub heard_until_ms: i64,
}

impl AlertClock {
    /// Real time: what is on record has been heard, even where the clock of its sender is ahead.
    pub fn live(now_ms: i64) -> Self {
        Self { now_ms, heard_until_ms: i64::MAX }
    }

    /// A clock that goes through the past: what was sent after its time has not been heard.
    pub fn replay(now_ms: i64) -> Self {
        Self { now_ms, heard_until_ms: now_ms }
    }
}

/// What has become of an alert.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertState {
    /// Of the alert as a whole: Active where any of its areas is, else Superseded, Cancelled or
    /// Ended, whichever of these comes first for an area.
    pub status: AlertStatus,
    /// Of each area, in the order of [`AlertMessage::areas`].
    pub areas: Vec<AlertStatus>,
    /// Ids of the messages that follow it, by the time they were sent.
    pub next_ids: Vec<String>,
}

/// The state of each message, in their order.
///
/// For each area these are tested in turn:
/// 1. *Ended*: the message itself says so (ECCC's status of the alert or of the threat area, the
///    response AllClear, VTEC EXP), or the interval of its part is over.
/// 2. *Superseded*: a later message names it in its references, or carries on its VTEC event in
///    the zone of the area; or the message itself says that another event takes its place (VTEC
///    UPG). *Cancelled* instead, where the first such message that speaks of the area takes it
///    back.
/// 3. *Cancelled*: the message takes it back itself (msgType Cancel, VTEC CAN).
/// 4. *Active*.
///
/// A message with references follows only messages that were not sent after it. VTEC COR does to
/// the event what the message before it did. Messages of one id must be one message.
///
/// ```
/// use mesonet::{AlertClock, AlertMessage, AlertPart, AlertStatus, resolve_alerts};
/// let part = AlertPart { expires_ms: Some(100), ..AlertPart::default() };
/// let first = AlertMessage { id: "1".into(), sent_ms: 10, parts: vec![part], ..Default::default() };
/// let second = AlertMessage {
///     id: "2".into(), sent_ms: 20, references: vec!["1".into()], ..first.clone()
/// };
/// let status = |now_ms| {
///     let states = resolve_alerts(&[&first, &second], AlertClock::replay(now_ms));
///     [states[0].status, states[1].status]
/// };
/// assert_eq!(status(15), [AlertStatus::Active, AlertStatus::Unknown]);
/// assert_eq!(status(25), [AlertStatus::Superseded, AlertStatus::Active]);
/// assert_eq!(status(100), [AlertStatus::Ended; 2]);
/// ```
pub fn resolve_alerts(messages: &[&AlertMessage], clock: AlertClock) -> Vec<AlertState> {
    let chains = Chains::new(messages, clock.heard_until_ms);
    (0..messages.len()).map(|at| chains.state(at, clock)).collect()
}

/// The next instant after a time at which the state of any alert may change by itself,
/// milliseconds since 1970: an interval ends, or on the clock of a replay a message is sent.
pub fn next_alert_change_ms(messages: &[&AlertMessage], clock: AlertClock) -> Option<i64> {
    let ends =
        messages.iter().flat_map(|message| message.parts.iter().filter_map(AlertPart::end_ms));
    let sent = messages.iter().map(|message| message.sent_ms);
    let unheard = sent.filter(|&sent_ms| sent_ms > clock.heard_until_ms);
    ends.filter(|&end_ms| end_ms > clock.now_ms).chain(unheard).min()
}

/// The messages that were heard, with their links.
struct Chains<'a> {
    messages: &'a [&'a AlertMessage],
    heard_until_ms: i64,
    /// Of each message those that name it and are not before it, by the time they were sent.
    named_by: Vec<Vec<usize>>,
    /// The messages of each event in each zone, by the time they were sent.
    events: HashMap<(VtecEvent, ZoneCode), Vec<Step<'a>>>,
}

/// A message of an event in a zone.
#[derive(Clone, Copy)]
struct Step<'a> {
    message: usize,
    part: &'a AlertPart,
    vtec: Vtec,
}

impl<'a> Chains<'a> {
    fn new(messages: &'a [&'a AlertMessage], heard_until_ms: i64) -> Self {
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

    /// Whether a message that names another comes after it. Among those sent at one moment that
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

    /// Whether references lead from a message to an id, over messages sent at the same moment; where
    /// there are too many of these to tell, they are taken to, so that what is named stays in force.
    fn leads_to(&self, from: &AlertMessage, id: &str, by_id: &HashMap<&str, usize>) -> bool {
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

    fn state(&self, at: usize, clock: AlertClock) -> AlertState {
        let message = self.messages[at];
        if message.sent_ms > self.heard_until_ms {
            let areas = vec![AlertStatus::Unknown; message.areas().count()];
            return AlertState { areas, ..AlertState::default() };
        }
        let mut areas = Vec::new();
        let mut whole = Vec::new();
        for part in &message.parts {
            let first = areas.len();
            areas.extend(part.areas.iter().map(|area| self.status(at, part, Some(area), clock)));
            // What is drawn for several zones is as they are.
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
            whole.push(self.status(at, &AlertPart::default(), None, clock));
        }
        let status = areas.iter().chain(&whole).copied().min().unwrap_or_default();
        AlertState { status, areas, next_ids: self.next_ids(at) }
    }

    fn status(
        &self,
        at: usize,
        part: &AlertPart,
        area: Option<&MessageArea>,
        clock: AlertClock,
    ) -> AlertStatus {
        let own = self.outcome(at, part, area);
        if own == Outcome::Ended || part.end_ms().is_some_and(|end_ms| end_ms <= clock.now_ms) {
            return AlertStatus::Ended;
        }
        match (self.successor(at, part, area), own) {
            (Some(Outcome::Cancelled), _) | (None, Outcome::Cancelled) => AlertStatus::Cancelled,
            (Some(_), _) | (None, Outcome::Replaced) => AlertStatus::Superseded,
            (None, _) => AlertStatus::Active,
        }
    }

    /// What a message itself says has become of an area.
    fn outcome(&self, at: usize, part: &AlertPart, area: Option<&MessageArea>) -> Outcome {
        if self.messages[at].message_type == AlertMessageType::Cancel {
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

    /// What the message did to an event that another one corrects.
    fn corrected(&self, at: usize, event: VtecEvent, code: ZoneCode) -> Option<Outcome> {
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

    /// What the first message that follows says of an area: the first of those that speak of its
    /// zone, else the first of all.
    fn successor(
        &self,
        at: usize,
        part: &AlertPart,
        area: Option<&MessageArea>,
    ) -> Option<Outcome> {
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
        let is_taken_back = next_message.message_type == AlertMessageType::Cancel
            || !next_message.parts.is_empty()
                && next_message.parts.iter().all(|part| part.outcome == Outcome::Cancelled);
        Some(if is_taken_back { Outcome::Cancelled } else { Outcome::InForce })
    }

    /// The next message of the event of a part in a zone, and what it does there.
    fn next_step(&self, at: usize, part: &AlertPart, code: ZoneCode) -> Option<(usize, Outcome)> {
        let steps = part.vtec.iter().filter_map(|vtec| {
            let steps = self.events.get(&(vtec.event, code))?;
            let sent_ms = self.messages[at].sent_ms;
            let until =
                steps.partition_point(|step| self.messages[step.message].sent_ms <= sent_ms);
            let next = steps.get(until)?;
            // A new event may have the number of an old one; with its time too it is the old one,
            // told again.
            let is_told_again = vtec.begin_ms.is_some() && next.vtec.begin_ms == vtec.begin_ms;
            let follows = (next.vtec.action != VtecAction::New || is_told_again)
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
#[path = "alert_chain_tests.rs"]
mod tests;
