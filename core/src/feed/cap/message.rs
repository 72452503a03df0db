//! Converts the texts of a CAP document to an alert.

use super::super::summary::{RefusalReason, Summary, excerpt};
use super::area::{Budget, areas};
use super::document::{CapAlert, CapInfo, Once};
use super::{eccc, nws};
use crate::alert;
use crate::alert::{MessageArea, Outcome, Vtec};
use crate::time::parse_instant;

/// Maximum number of references of a message; real ones have up to 78.
pub(crate) const MAX_REFERENCES: usize = 2_000;

/// Reads a message.
pub(super) fn message(
    alert: &CapAlert,
    summary: &mut Summary,
) -> Result<alert::Message, RefusalReason> {
    official("status", &alert.status, &["Actual"], "Actual")?;
    official("scope", &alert.scope, &["Public"], "Public")?;
    let types = [alert::MessageType::Alert, alert::MessageType::Update, alert::MessageType::Cancel];
    let names = types.map(alert::MessageType::name);
    let at = official("msgType", &alert.msg_type, &names, "Alert, Update and Cancel")?;
    let id = needed("identifier", &alert.identifier)?;
    let sender = needed("sender", &alert.sender)?;
    let sent_ms = parse_instant(&excerpt(&needed("sent", &alert.sent)?))?;
    let references = references(alert.references.get().unwrap_or_default(), summary)?;

    let mut parts: Vec<alert::Part> = Vec::new();
    let mut budget = Budget::new();
    for info in &alert.infos {
        let mut part = part(info, &mut budget, summary)?;
        // The same content in another language, for the same areas.
        let other = parts.iter_mut().find(|other| {
            let is_new = |text: &alert::Text| text.language != part.texts[0].language;
            other.texts.iter().all(is_new) && is_same(other, &part)
        });
        match other {
            Some(other) => other.texts.append(&mut part.texts),
            None => parts.push(part),
        }
    }
    Ok(alert::Message { id, sender, sent_ms, message_type: types[at], references, parts })
}

fn needed(what: &'static str, field: &Once) -> Result<String, RefusalReason> {
    field.get().map(str::to_owned).ok_or(RefusalReason::Without { what })
}

/// The position of a field's value among those allowed for official alerts to the public.
fn official(
    what: &'static str,
    field: &Once,
    values: &[&str],
    allowed: &'static str,
) -> Result<usize, RefusalReason> {
    let got = field.get().ok_or(RefusalReason::Without { what })?;
    let found = values.iter().position(|value| *value == got);
    found.ok_or_else(|| RefusalReason::Unofficial { what, got: excerpt(got), allowed })
}

/// `sender,identifier,sent`, separated by blanks.
fn references(text: &str, summary: &mut Summary) -> Result<Vec<String>, RefusalReason> {
    let mut ids = Vec::new();
    for reference in text.split_ascii_whitespace() {
        if ids.len() == MAX_REFERENCES {
            return Err(RefusalReason::TooMany { what: "references", limit: MAX_REFERENCES });
        }
        let mut fields = reference.split(',');
        match (fields.next(), fields.next(), fields.next(), fields.next()) {
            (Some(_), Some(id), Some(_), None) if !id.is_empty() => ids.push(id.to_owned()),
            _ => summary.unread_values.add("references"),
        }
    }
    Ok(ids)
}

fn part(
    info: &CapInfo,
    budget: &mut Budget,
    summary: &mut Summary,
) -> Result<alert::Part, RefusalReason> {
    let instant = |name: &str, text: Option<&str>, summary: &mut Summary| {
        let instant = text.map(|text| parse_instant(&excerpt(text)));
        if matches!(instant, Some(Err(_))) {
            summary.unread_values.add(name);
        }
        instant?.ok()
    };
    let vtec = nws::vtec(info.parameters("VTEC").chain(info.parameters("NWSVTEC")), summary)?;
    let event_end = eccc::parameter(info, "Event_End_Time").or(info.parameter("eventEndingTime"));
    let event_end_ms = instant("event end", event_end, summary)
        .or_else(|| vtec.iter().filter_map(|vtec| vtec.end_ms).max());
    let event = eccc::parameter(info, "Alert_Name").or(info.event.get());

    let mut text = alert::Text {
        // The default of CAP itself.
        language: info.language.get().unwrap_or("en-US").to_owned(),
        issuer: info.sender_name.get().unwrap_or_default().to_owned(),
        event: event.map(str::to_owned),
        headline: info.headline.get().unwrap_or_default().to_owned(),
        description: info.description.get().unwrap_or_default().to_owned(),
        instruction: info.instruction.get().map(str::to_owned),
        ..alert::Text::default()
    };
    eccc::words(info, &mut text);
    let is_fire = nws::is_fire(&vtec);
    let mut all: Vec<MessageArea> = Vec::new();
    for area in &info.areas {
        for (mut area, description) in areas(area, budget, summary)? {
            area.is_fire_zone = is_fire && area.code.is_some_and(|code| !code.is_county());
            all.push(area);
            text.areas.push(description);
        }
    }
    let mut part = alert::Part {
        effective_ms: instant("effective", info.effective.get(), summary),
        expires_ms: instant("expires", info.expires.get(), summary),
        event_end_ms,
        alert_type: nws::alert_type(&vtec, info.event.get().unwrap_or_default()),
        outcome: outcome(info, &vtec),
        storm: info.parameter("eventMotionDescription").and_then(nws::storm),
        texts: vec![text],
        vtec,
        areas: all,
        ..alert::Part::default()
    };
    eccc::facts(info, &mut part, summary);
    Ok(part)
}

/// What the message itself says about the state of the alert.
fn outcome(info: &CapInfo, vtec: &[Vtec]) -> Outcome {
    let own = eccc::outcome(info).or_else(|| nws::outcome(vtec));
    own.unwrap_or_else(|| {
        let response = match info.response_types.as_slice() {
            [response] => Some(response.as_str()),
            _ => None,
        };
        nws::outcome_of_words(info.urgency.get(), response)
    })
}

/// Whether two parts say the same about the same areas, except for their text.
fn is_same(a: &alert::Part, b: &alert::Part) -> bool {
    let facts = |part: &alert::Part| {
        let times = (part.effective_ms, part.expires_ms, part.event_end_ms);
        let scales = (part.alert_type, part.colour, part.impact, part.confidence);
        (times, scales, part.risk_ranking, part.outcome)
    };
    facts(a) == facts(b)
        && (&a.designation_code, &a.vtec, &a.storm) == (&b.designation_code, &b.vtec, &b.storm)
        && a.areas == b.areas
}
