//! The alert that callers get: one language, with the state from its chain.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::alert::{
    AlertState, AreaKind, Certainty, Colour, Confidence, Impact, Message, MessageArea, MessageType,
    Part, Severity, Status, Storm, Text, ThreatStatus, Type, Urgency,
};
use crate::geo::{LatLon, MultiPolygon};
use crate::time::Iso8601;
use crate::zone;

/// An alert as the service returns it.
///
/// If a message says different things about different areas, the text and times are those of the
/// first part with an active area, or else of the first part. The areas are those of all parts; the
/// areas of another part carry the content of that part ([`Own`]). These fields are additions to
/// the interface: `nextIds`, `instruction`, `language`, `onset`, `severity`, `urgency`,
/// `certainty`, `eventCodes`, `sameCodes` (those of all parts), `web`, `missingZones`.
///
/// ```
/// use mesonet::alert::Alert;
/// use mesonet::alert;
/// let text = alert::Text { headline: "red warning".into(), ..alert::Text::default() };
/// let part = alert::Part { texts: vec![text], ..alert::Part::default() };
/// let message = alert::Message {
///     id: "1".into(), sender: "a@example.org".into(), parts: vec![part], ..Default::default()
/// };
/// let states = alert::resolve(&[&message], alert::Clock::live(0));
/// let alert = serde_json::to_value(Alert::new(&message, &states[0], "en"))?;
/// assert_eq!(alert["issuer"], "a@example.org");
/// assert_eq!((&alert["alertHeadline"], &alert["status"]), (&"red warning".into(), &"Active".into()));
/// assert_eq!(alert.get("eventEndTime"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Alert<'a> {
    /// Identifier of the message.
    pub id: &'a str,
    /// Who issues the alert.
    pub issuer: &'a str,
    /// The role of the message in its chain.
    pub message_type: MessageType,
    /// When it takes effect: when it was sent, if it does not say (CAP 1.2 §3.2.2).
    pub effective_time: Iso8601,
    /// When the event begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub onset: Option<Iso8601>,
    /// When the message expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry_time: Option<Iso8601>,
    /// Confidence.
    pub alert_confidence: Confidence,
    /// Impact.
    pub alert_impact: Impact,
    /// Colour.
    pub alert_colour: Colour,
    /// Kind of alert.
    pub alert_type: Type,
    /// Severity in CAP's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Urgency in CAP's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urgency: Option<Urgency>,
    /// Certainty in CAP's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certainty: Option<Certainty>,
    /// Headline.
    pub alert_headline: &'a str,
    /// Description.
    pub alert_description: &'a str,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<&'a str>,
    /// Language of the text, such as `en-CA`; absent if the message has no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<&'a str>,
    /// The state of the alert as of the time of the request, over the whole chain of messages.
    pub status: Status,
    /// When it was sent.
    pub sent: Iso8601,
    /// What is expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<&'a str>,
    /// Codes of the event, by the name of their list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_codes: Option<&'a BTreeMap<String, Vec<String>>>,
    /// Address of a page about the alert.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<&'a str>,
    /// Ids of the messages that it refers to.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub previous_ids: &'a [String],
    /// Ids of the messages that follow it.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub next_ids: &'a [String],
    /// When the event itself ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_end_time: Option<Iso8601>,
    /// Rank of the risk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_ranking: Option<i32>,
    /// The region, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<&'a str>,
    /// Code of the issuer's list of areas.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub designation_code: Option<&'a str>,
    /// The storm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub storm: Option<AlertStorm<'a>>,
    /// Codes of its places for Specific Area Message Encoding, sorted.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub same_codes: BTreeSet<&'a str>,
    /// The places that the geometry lacks: codes of zones whose outlines are not known, and names
    /// of areas without a code or an outline.
    ///
    /// Empty until the caller puts [`missing_zones`](crate::alert::missing_zones) here: a message
    /// does not know the zones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_zones: Vec<&'a str>,
    /// The areas.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub areas: Vec<AlertArea<'a>>,
}

/// A storm.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertStorm<'a> {
    /// When it was observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Iso8601>,
    /// How fast it moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_kmh: Option<f64>,
    /// The direction it moves towards, degrees clockwise from north.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction_deg: Option<f64>,
    /// Its form, as the message gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geometry_type: Option<&'a str>,
    /// Where it was.
    pub points: Vec<LatLon>,
    /// How it moves, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub motion: Option<&'a str>,
    /// Where it is, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<&'a str>,
    /// Places near it.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub reference_points: &'a [String],
}

/// An area of an alert.
///
/// `status`, `ugcCode`, `zoneKind` and the fields of [`Own`] are additions to the interface.
///
/// ```
/// use mesonet::alert::{self, Alert, AlertArea, AlertStorm, Status};
/// let text = alert::Text { areas: vec!["Sarnia".into()], ..alert::Text::default() };
/// let area = alert::MessageArea { code: Some("041320".parse()?), ..alert::MessageArea::default() };
/// let storm = alert::Storm { speed_kmh: Some(55.0), direction_deg: Some(90.0), ..alert::Storm::default() };
/// let part = alert::Part {
///     texts: vec![text],
///     outcome: alert::Outcome::Ended,
///     storm: Some(storm),
///     areas: vec![area],
///     ..alert::Part::default()
/// };
/// let message = alert::Message { parts: vec![part], ..alert::Message::default() };
/// let states = alert::resolve(&[&message], alert::Clock::live(0));
/// let alert = Alert::new(&message, &states[0], "en");
/// let area: &AlertArea<'_> = &alert.areas[0];
/// assert_eq!((area.description, area.status), ("Sarnia", Status::Ended));
/// let storm: AlertStorm<'_> = alert.storm.ok_or("it has a storm")?;
/// assert_eq!(storm.speed_kmh, Some(55.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AlertArea<'a> {
    /// Its name.
    pub description: &'a str,
    /// Its kind.
    pub kind: AreaKind,
    /// What the message does to it, if it is a threat area.
    pub threat_status: ThreatStatus,
    /// The state of the alert there.
    pub status: Status,
    /// Code of its zone: CLC in Canada, UGC in the United States.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clc_code: Option<zone::Code>,
    /// The same code, only in the United States.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ugc_code: Option<zone::Code>,
    /// `fire` if the code is that of a fire weather zone, which differs from the forecast zone of
    /// the same code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone_kind: Option<zone::ZoneKind>,
    /// The rings that the message itself draws; holes are rings of their own.
    pub polygons: Vec<Vec<LatLon>>,
    /// What the message says for this area, if it differs from the alert as a whole. Its fields become
    /// fields of the area.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(inline))]
    pub own: Option<Own<'a>>,
}

/// What a message says about some of its areas, with the field names of an [`Alert`].
///
/// ```
/// use mesonet::alert::{self, Alert, Own};
/// let part = |event: &str| alert::Part {
///     texts: vec![alert::Text { event: Some(event.into()), areas: vec!["x".into()], ..Default::default() }],
///     areas: vec![alert::MessageArea::default()],
///     ..alert::Part::default()
/// };
/// let message = alert::Message { parts: vec![part("snow"), part("wind")], ..Default::default() };
/// let states = alert::resolve(&[&message], alert::Clock::live(0));
/// let alert = Alert::new(&message, &states[0], "en");
/// assert_eq!(alert.event, Some("snow"));
/// let own: Vec<Option<&Own<'_>>> = alert.areas.iter().map(|area| area.own.as_ref()).collect();
/// assert_eq!((own[0], own[1].and_then(|own| own.event)), (None, Some("wind")));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Own<'a> {
    /// What is expected. With the fields below: only where it is not what the alert says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<&'a str>,
    /// Kind of alert.
    pub alert_type: Type,
    /// Severity in CAP's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// Urgency in CAP's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub urgency: Option<Urgency>,
    /// Certainty in CAP's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certainty: Option<Certainty>,
    /// Impact.
    pub alert_impact: Impact,
    /// Confidence.
    pub alert_confidence: Confidence,
    /// Colour.
    pub alert_colour: Colour,
    /// When it takes effect.
    pub effective_time: Iso8601,
    /// When the event begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub onset: Option<Iso8601>,
    /// When the message expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiry_time: Option<Iso8601>,
    /// When the event itself ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_end_time: Option<Iso8601>,
    /// Headline.
    pub alert_headline: &'a str,
    /// Description.
    pub alert_description: &'a str,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instruction: Option<&'a str>,
}

impl<'a> Own<'a> {
    fn new(part: &'a Part, sent_ms: i64, language: &str) -> Self {
        let text = part.text(language);
        Self {
            event: text.and_then(|text| text.event.as_deref()),
            alert_type: part.alert_type,
            severity: part.severity,
            urgency: part.urgency,
            certainty: part.certainty,
            alert_impact: part.impact,
            alert_confidence: part.confidence,
            alert_colour: part.colour,
            effective_time: Iso8601(part.effective_ms.unwrap_or(sent_ms)),
            onset: part.onset_ms.map(Iso8601),
            expiry_time: part.expires_ms.map(Iso8601),
            event_end_time: part.event_end_ms.map(Iso8601),
            alert_headline: text.map_or("", |text| &text.headline),
            alert_description: text.map_or("", |text| &text.description),
            instruction: text.and_then(|text| text.instruction.as_deref()),
        }
    }
}

impl<'a> Alert<'a> {
    /// A message in a language, `en` or `fr`, with the state that
    /// [`resolve`](crate::alert::resolve) returns for it. If the message lacks that
    /// language, its first language is used.
    pub fn new(message: &'a Message, state: &'a AlertState, language: &str) -> Self {
        let mut statuses = state.areas.iter().copied();
        let mut areas = Vec::with_capacity(state.areas.len());
        let mut leading: Option<(Status, &Part)> = None;
        for part in &message.parts {
            let text = part.text(language);
            let first = areas.len();
            for (i, area) in part.areas.iter().enumerate() {
                let description = text.and_then(|text| text.areas.get(i)).map_or("", |text| text);
                let status = statuses.next().unwrap_or(state.status);
                areas.push(AlertArea::new(area, description, status));
            }
            let statuses = areas[first..].iter().map(|area: &AlertArea<'_>| area.status);
            let status = statuses.min().unwrap_or(state.status);
            let is_first_active = status == Status::Active
                && leading.is_some_and(|(leading, _)| leading != Status::Active);
            if leading.is_none() || is_first_active {
                leading = Some((status, part));
            }
        }
        let part = leading.map(|(_, part)| part);
        if let Some(part) = part
            && message.parts.len() > 1
        {
            let of_alert = Own::new(part, message.sent_ms, language);
            let mut left = areas.iter_mut();
            for part in &message.parts {
                let own = Own::new(part, message.sent_ms, language);
                let own = Some(own).filter(|own| *own != of_alert);
                left.by_ref().take(part.areas.len()).for_each(|area| area.own.clone_from(&own));
            }
        }
        let text = part.and_then(|part| part.text(language));
        let issuer = text.map_or("", |text| &text.issuer);
        let of = |get: fn(&Part) -> Option<i64>| part.and_then(get).map(Iso8601);
        let word = |get: fn(&Text) -> Option<&String>| Some(get(text?)?.as_str());
        Self {
            id: &message.id,
            issuer: if issuer.is_empty() { &message.sender } else { issuer },
            message_type: message.message_type,
            effective_time: Iso8601(
                part.and_then(|part| part.effective_ms).unwrap_or(message.sent_ms),
            ),
            onset: of(|part| part.onset_ms),
            expiry_time: of(|part| part.expires_ms),
            alert_confidence: part.map(|part| part.confidence).unwrap_or_default(),
            alert_impact: part.map(|part| part.impact).unwrap_or_default(),
            alert_colour: part.map(|part| part.colour).unwrap_or_default(),
            alert_type: part.map(|part| part.alert_type).unwrap_or_default(),
            severity: part.and_then(|part| part.severity),
            urgency: part.and_then(|part| part.urgency),
            certainty: part.and_then(|part| part.certainty),
            alert_headline: text.map_or("", |text| &text.headline),
            alert_description: text.map_or("", |text| &text.description),
            instruction: word(|text| text.instruction.as_ref()),
            language: text.map(|text| text.language.as_str()),
            status: state.status,
            sent: Iso8601(message.sent_ms),
            event: word(|text| text.event.as_ref()),
            event_codes: part.map(|part| &part.event_codes).filter(|codes| !codes.is_empty()),
            web: word(|text| text.web.as_ref()),
            previous_ids: &message.references,
            next_ids: &state.next_ids,
            event_end_time: of(|part| part.event_end_ms),
            risk_ranking: part.and_then(|part| part.risk_ranking),
            coverage: word(|text| text.coverage.as_ref()),
            designation_code: part.and_then(|part| part.designation_code.as_deref()),
            storm: part
                .and_then(|part| part.storm.as_ref())
                .map(|storm| AlertStorm::new(storm, text)),
            same_codes: message
                .parts
                .iter()
                .flat_map(|part| part.same_codes.iter().map(String::as_str))
                .collect(),
            missing_zones: Vec::new(),
            areas,
        }
    }
}

impl<'a> AlertStorm<'a> {
    fn new(storm: &'a Storm, text: Option<&'a Text>) -> Self {
        Self {
            time: storm.time_ms.map(Iso8601),
            speed_kmh: storm.speed_kmh,
            direction_deg: storm.direction_deg,
            geometry_type: storm.geometry_type.as_deref(),
            points: storm.points.iter().copied().map(LatLon::from).collect(),
            motion: text.and_then(|text| text.storm_motion.as_deref()),
            position: text.and_then(|text| text.storm_position.as_deref()),
            reference_points: text.map_or(&[], |text| &text.storm_places),
        }
    }
}

impl<'a> AlertArea<'a> {
    fn new(area: &'a MessageArea, description: &'a str, status: Status) -> Self {
        let polygons = area.geometry.iter().flat_map(MultiPolygon::polygons);
        let rings = polygons.flat_map(|polygon| {
            let exterior = polygon.exterior().map(LatLon::from).collect();
            let holes = polygon.holes().map(|hole| hole.map(LatLon::from).collect());
            std::iter::once(exterior).chain(holes)
        });
        Self {
            description,
            kind: area.kind,
            threat_status: area.threat_status,
            status,
            clc_code: area.code,
            ugc_code: area.code.filter(|code| !code.is_clc()),
            zone_kind: area.is_fire_zone.then_some(zone::ZoneKind::Fire),
            polygons: rings.collect(),
            own: None,
        }
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
