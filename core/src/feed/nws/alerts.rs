//! Alerts of the United States from api.weather.gov: GeoJSON.

use std::io::BufRead;

use serde_json::{Map, Value};

use crate::alert::{AreaKind, MessageArea, Outcome};
use crate::feed::cap::{MAX_REFERENCES, event, nws, same_zones, scale};
use crate::feed::sign::holds;
use crate::feed::summary::{FeedError, RefusalReason, Summary, excerpt};
use crate::feed::text::features::read_features;
use crate::geo::mended_geojson;
use crate::time::parse_instant;
use crate::{alert, zone};

/// Maximum size of one alert; real alerts have up to 30 KB.
const MAX_FEATURE_BYTES: usize = 4 << 20;
/// Maximum number of zones of an alert; real alerts have up to 80.
const MAX_ZONES: usize = 2_000;

/// Reads the alerts of a `FeatureCollection`, or a single `Feature`, and visits each.
///
/// One alert is in memory at a time. As in [`read_cap`](crate::feed::read_cap), only alerts with `status`
/// Actual, `scope` Public and `messageType` Alert, Update or Cancel are read, and the
/// parameters are interpreted in the same way.
///
/// | Property | Alert |
/// | --- | --- |
/// | `id`, `sender`, `sent`, `effective`, `onset`, `expires`, `event`, `severity`, `urgency`, `certainty`, `headline`, `description`, `instruction`, `eventCode` | as named |
/// | `web`, if it is an address with http or https | web link |
/// | the severity | impact |
/// | `senderName`, else `sender` | issuer |
/// | `ends`, else `eventEndingTime` | end of the event |
/// | `references`, `expiredReferences` | ids of the messages before it |
/// | significance of `VTEC`, else the name of the event | alert type |
/// | action of `VTEC` | whether it has ended |
/// | `eventMotionDescription` | storm |
/// | `geocode.SAME`, `geocode.FIPS6` | SAME codes |
/// | `geocode.UGC`, else `geocode.SAME`; `areaDesc` | an area for each zone |
/// | the geometry | an area with the whole description |
///
/// Colour, confidence, risk and coverage are Unknown or absent: the weather service does not give
/// them.
///
/// # Errors
/// If the source fails; if the text is not JSON, or an alert has more than 4 MiB; if the document
/// holds no features. An alert that cannot be read is counted and listed in the summary.
///
/// ```
/// use mesonet::alert;
/// use mesonet::feed::read_nws_alerts;
/// let document = r#"{"type": "FeatureCollection", "features": [{
///     "type": "Feature", "geometry": null,
///     "properties": {
///         "id": "urn:oid:2.49.0.1.840.0.1", "sender": "w-nws.webmaster@noaa.gov",
///         "sent": "2026-05-14T16:29:01Z", "status": "Actual", "scope": "Public",
///         "messageType": "Alert", "event": "Small Craft Advisory",
///         "areaDesc": "Grays Harbor Bar", "geocode": {"UGC": ["PZZ110"]}
///     }
/// }]}"#;
/// let summary = read_nws_alerts(document.as_bytes(), |alert| {
///     let part = &alert.parts[0];
///     assert_eq!(part.alert_type, alert::Type::Advisory);
///     assert_eq!(part.areas[0].code, Some("PZZ110".parse().unwrap()));
/// })?;
/// assert_eq!(summary.read, 1);
/// # Ok::<(), mesonet::feed::FeedError>(())
/// ```
pub fn read_nws_alerts(
    input: impl BufRead,
    visit: impl FnMut(alert::Message),
) -> Result<Summary, FeedError> {
    read_features(input, MAX_FEATURE_BYTES, message, visit)
}

/// The properties of an alert.
#[derive(Clone, Copy)]
struct Properties<'a>(&'a Map<String, Value>);

impl<'a> Properties<'a> {
    fn text(self, name: &str) -> Option<&'a str> {
        self.0.get(name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
    }

    fn needed(self, what: &'static str) -> Result<&'a str, RefusalReason> {
        self.text(what).ok_or(RefusalReason::Without { what })
    }

    /// The position of a property's value among those allowed for official alerts to the public.
    fn official(
        self,
        what: &'static str,
        values: &[&str],
        allowed: &'static str,
    ) -> Result<usize, RefusalReason> {
        let got = self.needed(what)?;
        let found = values.iter().position(|value| *value == got);
        found.ok_or_else(|| RefusalReason::Unofficial { what, got: excerpt(got), allowed })
    }

    /// An instant; an invalid one is counted.
    fn instant(self, name: &str, summary: &mut Summary) -> Option<i64> {
        let instant = parse_instant(&excerpt(self.text(name)?));
        if instant.is_err() {
            summary.unread_values.add(name);
        }
        instant.ok()
    }

    /// The texts of an array within an object.
    fn list(self, object: &str, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let list = self.0.get(object).and_then(|object| object.get(name)?.as_array());
        list.into_iter().flatten().filter_map(Value::as_str)
    }

    fn parameter(self, name: &str) -> Option<&'a str> {
        self.list("parameters", name).next()
    }
}

fn message(
    feature: &Map<String, Value>,
    summary: &mut Summary,
) -> Result<alert::Message, RefusalReason> {
    let properties = feature.get("properties").and_then(Value::as_object);
    let of = Properties(properties.ok_or(RefusalReason::Without { what: "properties" })?);
    of.official("status", &["Actual"], "Actual")?;
    // Documents from before 2020 have no scope.
    if of.text("scope").is_some() {
        of.official("scope", &["Public"], "Public")?;
    }
    let types = [alert::MessageType::Alert, alert::MessageType::Update, alert::MessageType::Cancel];
    let names = types.map(alert::MessageType::name);
    let at = of.official("messageType", &names, "Alert, Update and Cancel")?;
    let sender = of.needed("sender")?;
    let mut message = alert::Message {
        id: of.needed("id")?.to_owned(),
        sender: sender.to_owned(),
        sent_ms: parse_instant(&excerpt(of.needed("sent")?))?,
        message_type: types[at],
        references: references(of, summary)?,
        parts: Vec::new(),
    };

    let vtec = nws::vtec(of.list("parameters", "VTEC"), summary)?;
    let ends = of.instant("ends", summary).or_else(|| {
        of.parameter("eventEndingTime").and_then(|text| parse_instant(&excerpt(text)).ok())
    });
    let (areas, descriptions) = areas(feature, of, nws::is_fire(&vtec), summary)?;
    let text = alert::Text {
        language: of.text("language").unwrap_or("en-US").to_owned(),
        issuer: of.text("senderName").unwrap_or_default().to_owned(),
        event: of.text("event").map(str::to_owned),
        headline: of.text("headline").unwrap_or_default().to_owned(),
        description: of.text("description").unwrap_or_default().to_owned(),
        instruction: of.text("instruction").map(str::to_owned),
        web: scale::web(of.text("web"), summary),
        areas: descriptions,
        ..alert::Text::default()
    };
    let mut part = alert::Part {
        effective_ms: of.instant("effective", summary),
        onset_ms: of.instant("onset", summary),
        expires_ms: of.instant("expires", summary),
        event_end_ms: ends,
        alert_type: event::alert_type(
            &vtec,
            of.text("event").unwrap_or_default(),
            of.text("headline").unwrap_or_default(),
        ),
        storm: of.parameter("eventMotionDescription").and_then(nws::storm),
        texts: vec![text],
        vtec,
        areas,
        ..alert::Part::default()
    };
    let scales = ["severity", "urgency", "certainty"].map(|name| of.text(name));
    scale::scales(&mut part, scales, summary);
    let lists = of.0.get("eventCode").and_then(Value::as_object).into_iter().flatten();
    for (list, codes) in lists {
        for code in codes.as_array().into_iter().flatten().filter_map(Value::as_str) {
            scale::add_event_code(&mut part, list, code);
        }
    }
    for code in of.list("geocode", "SAME").chain(of.list("geocode", "FIPS6")) {
        scale::add_same_code(&mut part, code, summary);
    }
    part.outcome = nws::outcome(&part.vtec).unwrap_or_else(|| {
        let is_over = scale::is_over(part.urgency, of.text("response"));
        if is_over { Outcome::Ended } else { Outcome::InForce }
    });
    message.parts.push(part);
    Ok(message)
}

/// Ids of the preceding messages: first the messages still in force, then the others.
fn references(of: Properties<'_>, summary: &mut Summary) -> Result<Vec<String>, RefusalReason> {
    let named = of.0.get("references").and_then(Value::as_array).into_iter().flatten();
    let mut ids = Vec::new();
    for reference in named {
        match reference.get("identifier").and_then(Value::as_str) {
            Some(id) => ids.push(id.to_owned()),
            None => summary.unread_values.add("references"),
        }
    }
    for list in of.list("parameters", "expiredReferences") {
        for reference in list.split_ascii_whitespace() {
            match reference.split(',').nth(1) {
                Some(id) if !ids.iter().any(|known| known == id) => ids.push(id.to_owned()),
                Some(_) => {}
                None => summary.unread_values.add("expiredReferences"),
            }
            if ids.len() > MAX_REFERENCES {
                break;
            }
        }
    }
    if ids.len() > MAX_REFERENCES {
        return Err(RefusalReason::TooMany { what: "references", limit: MAX_REFERENCES });
    }
    Ok(ids)
}

/// The drawn outline as one area, and an area for each zone, with their descriptions.
fn areas(
    feature: &Map<String, Value>,
    of: Properties<'_>,
    is_fire: bool,
    summary: &mut Summary,
) -> Result<(Vec<MessageArea>, Vec<String>), RefusalReason> {
    let description = of.text("areaDesc").unwrap_or_default();
    let mut codes: Vec<zone::Code> = Vec::new();
    for text in of.list("geocode", "UGC") {
        match text.parse() {
            Ok(code) if codes.contains(&code) => {}
            Ok(code) => codes.push(code),
            Err(_) => summary.unread_values.add("UGC"),
        }
        if codes.len() > MAX_ZONES {
            return Err(RefusalReason::TooMany { what: "zones", limit: MAX_ZONES });
        }
    }
    if codes.is_empty() {
        let same = of.list("geocode", "SAME").chain(of.list("geocode", "FIPS6"));
        codes = same_zones(same.take(MAX_ZONES), summary);
    }
    let geometry = feature.get("geometry").filter(|geometry| !geometry.is_null());
    let (geometry, is_whole) =
        geometry.map_or((None, true), |geometry| mended_geojson(geometry).unwrap_or_default());
    if !is_whole {
        summary.unread_values.add("geometry");
    }

    let (mut areas, mut descriptions) = (Vec::new(), Vec::new());
    if geometry.is_some() || codes.is_empty() && !description.is_empty() {
        let is_drawn = geometry.is_some();
        let kind = if is_drawn { AreaKind::Coverage } else { AreaKind::Unknown };
        areas.push(MessageArea { kind, geometry, ..MessageArea::default() });
        descriptions.push(description.to_owned());
    }
    let zones: Vec<&str> =
        of.0.get("affectedZones")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .filter_map(|address| address.rsplit_once("/zones/fire/").map(|(_, code)| code))
            .collect();
    // Names and zones are listed in the same order.
    let names: Vec<&str> = description.split(';').map(str::trim).collect();
    for (i, &code) in codes.iter().enumerate() {
        let is_fire_zone = !code.is_county() && (is_fire || zones.contains(&code.as_str()));
        let kind = AreaKind::Coverage;
        areas.push(MessageArea { kind, code: Some(code), is_fire_zone, ..MessageArea::default() });
        let name = if names.len() == codes.len() { names[i] } else { description };
        descriptions.push(name.to_owned());
    }
    Ok((areas, descriptions))
}

/// Whether a file looks like one of this kind.
pub(in crate::feed) fn is_sign(_name: &str, start: &[u8]) -> bool {
    start.trim_ascii_start().starts_with(b"{")
        && (holds(start, "api.weather.gov/alerts/") || holds(start, "wx:Alert"))
}

/// Reads a file of this kind.
pub(in crate::feed) fn read(
    input: &mut dyn BufRead,
    visit: &mut dyn FnMut(alert::Message),
) -> Result<Summary, FeedError> {
    read_nws_alerts(input, visit)
}
