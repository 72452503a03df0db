//! The values of CAP's own fields, the same in XML and in api.weather.gov's JSON.

use serde::de::DeserializeOwned;
use serde::de::value::{Error, StrDeserializer};

use super::super::summary::Summary;
use crate::alert;
use crate::alert::{Certainty, Impact, Severity, Urgency};

/// The longest address of a page that is kept; real addresses have up to 90 bytes.
const MAX_WEB_BYTES: usize = 2_000;

/// Puts severity, urgency, certainty and the impact that follows from the severity into a part. A
/// word that CAP does not define is counted.
pub(in super::super) fn scales(
    part: &mut alert::Part,
    [severity, urgency, certainty]: [Option<&str>; 3],
    summary: &mut Summary,
) {
    part.severity = word("severity", severity, summary);
    part.urgency = word("urgency", urgency, summary);
    // CAP 1.0 had "Very Likely"; 1.1 and 1.2 say to read it as "Likely".
    let certainty = certainty.map(|text| if text == "Very Likely" { "Likely" } else { text });
    part.certainty = word::<Certainty>("certainty", certainty, summary);
    part.impact = part.severity.map_or(Impact::Unknown, impact);
}

fn word<T: DeserializeOwned>(name: &str, text: Option<&str>, summary: &mut Summary) -> Option<T> {
    let word = T::deserialize(StrDeserializer::<Error>::new(text?));
    if word.is_err() {
        summary.unread_values.add(name);
    }
    word.ok()
}

/// The impact of a severity: both scales have four steps.
fn impact(severity: Severity) -> Impact {
    match severity {
        Severity::Extreme => Impact::Extreme,
        Severity::Severe => Impact::High,
        Severity::Moderate => Impact::Moderate,
        Severity::Minor => Impact::Low,
        Severity::Unknown => Impact::Unknown,
    }
}

/// The address of a page. Only `http` and `https` are kept, because people follow the address; any
/// other scheme is counted.
pub(in super::super) fn web(text: Option<&str>, summary: &mut Summary) -> Option<String> {
    let text = text?;
    let start = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    let is_page = (start.starts_with("http://") || start == "https://")
        && text.len() <= MAX_WEB_BYTES
        && !text.contains(|letter: char| letter.is_whitespace() || letter.is_control());
    if !is_page {
        summary.unread_values.add("web");
    }
    is_page.then(|| text.to_owned())
}

/// Adds a code of an event to those of its list, each once.
pub(in super::super) fn add_event_code(part: &mut alert::Part, list: &str, code: &str) {
    if !list.is_empty() && !code.is_empty() {
        let codes = part.event_codes.entry(list.to_owned()).or_default();
        if !codes.iter().any(|known| known == code) {
            codes.push(code.to_owned());
        }
    }
}

/// Adds a code of a place: six digits. Anything else is counted.
pub(in super::super) fn add_same_code(part: &mut alert::Part, code: &str, summary: &mut Summary) {
    if code.len() == 6 && code.bytes().all(|digit| digit.is_ascii_digit()) {
        part.same_codes.insert(code.to_owned());
    } else {
        summary.unread_values.add("SAME");
    }
}

/// Whether an event is over according to the message, if no better source says so.
pub(in super::super) fn is_over(urgency: Option<Urgency>, response: Option<&str>) -> bool {
    urgency == Some(Urgency::Past) || response == Some("AllClear")
}

#[cfg(test)]
#[path = "scale_tests.rs"]
mod tests;
