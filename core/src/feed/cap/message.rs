//! Converts the texts of a CAP document to an alert.

use super::super::summary::{RefusalReason, Summary, excerpt};
use super::area::{Budget, areas, is_same_code};
use super::document::{CapAlert, CapInfo, Once};
use super::{eccc, event, nws, scale};
use crate::alert;
use crate::alert::{MessageArea, Outcome, Type};
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
    let infos = alert.infos.iter().map(|info| parts_of(info, &mut budget, summary));
    for mut part in infos.collect::<Result<Vec<_>, _>>()?.into_iter().flatten() {
        // The same content in another language, for the same areas.
        let other = parts.iter_mut().find(|other| {
            let is_new = |text: &alert::Text| text.language != part.texts[0].language;
            other.texts.iter().all(is_new) && is_same(other, &part)
        });
        match other {
            Some(other) => {
                // Only the English name of an event tells its kind.
                if other.alert_type == Type::Unknown {
                    other.alert_type = part.alert_type;
                }
                other.texts.append(&mut part.texts);
            }
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

/// The content of a block: one part for the areas that it draws, and one for the zones that it only
/// names, because within a part the drawn outline replaces the zones.
fn parts_of(
    info: &CapInfo,
    budget: &mut Budget,
    summary: &mut Summary,
) -> Result<Vec<alert::Part>, RefusalReason> {
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
        web: scale::web(info.web.get(), summary),
        ..alert::Text::default()
    };
    eccc::words(info, &mut text);
    let is_fire = nws::is_fire(&vtec);
    let (mut drawn, mut named): (Vec<(MessageArea, String)>, Vec<_>) = <_>::default();
    for area in &info.areas {
        let mut areas = areas(area, budget, summary)?;
        for (area, _) in &mut areas {
            area.is_fire_zone = is_fire && area.code.is_some_and(|code| !code.is_county());
        }
        let is_drawn = areas.iter().any(|(area, _)| area.geometry.is_some());
        if is_drawn { &mut drawn } else { &mut named }.append(&mut areas);
    }
    let mut part = alert::Part {
        effective_ms: instant("effective", info.effective.get(), summary),
        onset_ms: instant("onset", info.onset.get(), summary),
        expires_ms: instant("expires", info.expires.get(), summary),
        event_end_ms,
        alert_type: event::alert_type(
            &vtec,
            info.event.get().unwrap_or_default(),
            info.headline.get().unwrap_or_default(),
        ),
        storm: info.parameter("eventMotionDescription").and_then(nws::storm),
        texts: vec![text],
        vtec,
        ..alert::Part::default()
    };
    let scales = [info.severity.get(), info.urgency.get(), info.certainty.get()];
    scale::scales(&mut part, scales, summary);
    for code in &info.event_codes {
        scale::add_event_code(&mut part, &code.name, &code.value);
    }
    for geocode in info.areas.iter().flat_map(|area| &area.geocodes) {
        if is_same_code(&geocode.name) && !geocode.value.is_empty() {
            scale::add_same_code(&mut part, &geocode.value, summary);
        }
    }
    part.outcome = outcome(info, &part);
    eccc::facts(info, &mut part, summary);
    let with = |areas: Vec<(MessageArea, String)>| {
        let mut part = part.clone();
        (part.areas, part.texts[0].areas) = areas.into_iter().unzip();
        part
    };
    let is_drawn = !drawn.is_empty();
    let parts = [
        Some(drawn).filter(|_| is_drawn),
        Some(named).filter(|named| !is_drawn || !named.is_empty()),
    ];
    Ok(parts.into_iter().flatten().map(with).collect())
}

/// What the message itself says about the state of the alert.
fn outcome(info: &CapInfo, part: &alert::Part) -> Outcome {
    let own = eccc::outcome(info).or_else(|| nws::outcome(&part.vtec));
    own.unwrap_or_else(|| {
        let response = match info.response_types.as_slice() {
            [response] => Some(response.as_str()),
            _ => None,
        };
        if scale::is_over(part.urgency, response) { Outcome::Ended } else { Outcome::InForce }
    })
}

/// Whether two parts say the same about the same areas, except for their text.
fn is_same(a: &alert::Part, b: &alert::Part) -> bool {
    let facts = |part: &alert::Part| {
        let times = (part.effective_ms, part.onset_ms, part.expires_ms, part.event_end_ms);
        let scales = (part.colour, part.impact, part.confidence, part.risk_ranking);
        (times, scales, part.severity, part.urgency, part.certainty, part.outcome)
    };
    let is_one_kind =
        a.alert_type == b.alert_type || [a.alert_type, b.alert_type].contains(&Type::Unknown);
    facts(a) == facts(b)
        && is_one_kind
        && (&a.event_codes, &a.same_codes) == (&b.event_codes, &b.same_codes)
        && (&a.designation_code, &a.vtec, &a.storm) == (&b.designation_code, &b.vtec, &b.storm)
        && a.areas == b.areas
}
