//! The kind of an alert, from the name of its event.

use crate::alert::{Type, Vtec};

/// Names of events that do not say their kind, with the kind that their issuer's definition gives
/// them; `docs/service.md` has the reasons. Names are those of api.weather.gov and of earlier years,
/// of the Emergency Alert System and of CAP-CP.
const NAMES: [(&str, Type); 19] = [
    ("911 Telephone Outage", Type::Advisory),
    ("911 Telephone Outage Emergency", Type::Advisory),
    ("Administrative Message", Type::Statement),
    ("Air Quality Alert", Type::Advisory),
    ("Blue Alert", Type::Warning),
    ("Child Abduction Emergency", Type::Advisory),
    ("Civil Emergency", Type::Warning),
    ("Civil Emergency Message", Type::Warning),
    ("Evacuation - Immediate", Type::Warning),
    ("Evacuation Immediate", Type::Warning),
    ("Extreme Fire Danger", Type::Advisory),
    ("Hazardous Weather Outlook", Type::Statement),
    ("Hydrologic Outlook", Type::Statement),
    ("Law Enforcement Blue Alert", Type::Warning),
    ("Local Area Emergency", Type::Advisory),
    ("Missing and Endangered Persons", Type::Advisory),
    ("Short Term Forecast", Type::Statement),
    ("Test", Type::Unknown),
    ("Tsunami Cancellation", Type::Statement),
];

/// The longest name, "Arroyo And Small Stream Flood Advisory", has six words; a longer text is a
/// sentence.
const MAX_WORDS: usize = 8;

/// Words that say the kind of an event at the end of its name.
const LAST_WORDS: [(&str, Type); 4] = [
    ("Warning", Type::Warning),
    ("Watch", Type::Watch),
    ("Advisory", Type::Advisory),
    ("Statement", Type::Statement),
];

/// The kind of alert, from the significance of its event in VTEC, else from the name of the event,
/// else from a name at the start of the headline: AirNow puts a sentence where the name should be.
pub(in super::super) fn alert_type(codes: &[Vtec], event: &str, headline: &str) -> Type {
    match codes.first().map(|code| code.event.significance) {
        Some(b'W') => Type::Warning,
        Some(b'A') => Type::Watch,
        Some(b'Y') => Type::Advisory,
        Some(b'S') => Type::Statement,
        _ => {
            Some(of_name(event)).filter(|kind| *kind != Type::Unknown).unwrap_or(of_name(headline))
        }
    }
}

/// The kind from the name: the kind in the table, else what the last word says. Words after "For"
/// say what an event is about, and where: "Small Craft Advisory For Winds" is an advisory.
fn of_name(event: &str) -> Type {
    let words = event.split_whitespace().take_while(|word| !word.eq_ignore_ascii_case("For"));
    let words: Vec<&str> = words.take(MAX_WORDS + 1).collect();
    if words.len() > MAX_WORDS {
        return Type::Unknown;
    }
    let (name, last) = (words.join(" "), words.last().copied().unwrap_or_default());
    let named = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name));
    let by_word = || LAST_WORDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(last));
    named.or_else(by_word).map_or(Type::Unknown, |(_, kind)| *kind)
}
