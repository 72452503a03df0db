//! Selects alerts by time, box, place and zone.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::alert::{
    AlertState, AreaKind, Clock, Message, MessageArea, Part, Severity, Status, resolve,
};
use crate::geo::{BBox, LonLat, MultiPolygon};
use crate::zone;
use crate::zone::{Zone, Zones};

/// Conditions on alerts. An alert must meet every condition that is set; an empty query selects
/// all.
///
/// ```
/// use mesonet::alert;
/// use mesonet::zone::Zones;
/// let part = alert::Part { expires_ms: Some(20), ..alert::Part::default() };
/// let alert = alert::Message { sent_ms: 10, parts: vec![part], ..alert::Message::default() };
/// let is_met = |start_ms: Option<i64>, end_ms: Option<i64>| {
///     let query = alert::Query::default().start_ms(start_ms).end_ms(end_ms);
///     query.is_met(&alert, &alert::AlertState::default(), &Zones::default())
/// };
/// assert!(is_met(None, None) && is_met(Some(20), None) && is_met(Some(0), Some(10)));
/// assert!(!is_met(Some(21), None) && !is_met(None, Some(9)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Query {
    /// The alert's interval ends at this time or later, milliseconds since 1970.
    pub start_ms: Option<i64>,
    /// The alert's interval starts at this time or earlier, milliseconds since 1970.
    pub end_ms: Option<i64>,
    /// One of its areas shares a point with the box.
    pub bbox: Option<BBox>,
    /// One of its areas contains the place.
    pub at: Option<LonLat>,
    /// One of its areas shares a point with this one.
    pub area: Option<Arc<MultiPolygon>>,
    /// One of its areas is one of these zones, or [covers](zone::Code::covers) one of them, or is
    /// covered by one; empty means any.
    pub codes: Vec<zone::Code>,
    /// It has a part of one of these severities, where none said is `Unknown`; empty means any.
    pub severities: Vec<Severity>,
    /// It is in force; the other conditions then consider only the areas where it is in force.
    pub is_active: bool,
}

impl Query {
    /// Sets the time that the interval of an alert must end at or after.
    #[must_use]
    pub fn start_ms(self, start_ms: impl Into<Option<i64>>) -> Self {
        Self { start_ms: start_ms.into(), ..self }
    }

    /// Sets the time that the interval of an alert must start at or before.
    #[must_use]
    pub fn end_ms(self, end_ms: impl Into<Option<i64>>) -> Self {
        Self { end_ms: end_ms.into(), ..self }
    }

    /// Sets the box that an area must share a point with.
    ///
    /// ```
    /// use mesonet::{BBox, alert, zone::Zones};
    /// let square = r#"{"type":"Polygon","coordinates":[[[-98,35],[-97,35],[-97,36],[-98,36],[-98,35]]]}"#;
    /// let geometry = Some(serde_json::from_str(square)?);
    /// let code = Some("OKZ025".parse()?);
    /// let area = alert::MessageArea { geometry, code, ..alert::MessageArea::default() };
    /// let part = alert::Part { areas: vec![area], ..alert::Part::default() };
    /// let messages = [alert::Message { parts: vec![part], ..alert::Message::default() }];
    /// let found = |query: alert::Query| {
    ///     query.select(&messages, alert::Clock::live(0), &Zones::default()).len()
    /// };
    /// let query = alert::Query::default();
    /// assert_eq!(found(query.clone().bbox(BBox::new(-99.0, 34.0, -97.5, 37.0)?)), 1);
    /// assert_eq!(found(query.clone().bbox(BBox::new(-96.0, 34.0, -95.0, 37.0)?)), 0);
    /// assert_eq!(found(query.codes(vec!["OKZ025".parse()?])), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bbox(self, bbox: impl Into<Option<BBox>>) -> Self {
        Self { bbox: bbox.into(), ..self }
    }

    /// Sets the place that an area must contain.
    #[must_use]
    pub fn at(self, at: impl Into<Option<LonLat>>) -> Self {
        Self { at: at.into(), ..self }
    }

    /// Sets the area that one of its areas must share a point with.
    #[must_use]
    pub fn area(self, area: impl Into<Option<Arc<MultiPolygon>>>) -> Self {
        Self { area: area.into(), ..self }
    }

    /// Sets the severities of which it must have one; empty means any.
    ///
    /// ```
    /// use mesonet::alert::{AlertState, Message, Part, Query, Severity};
    /// use mesonet::zone::Zones;
    /// let part = Part { severity: Some(Severity::Severe), ..Part::default() };
    /// let alert = Message { parts: vec![part], ..Message::default() };
    /// let is_met = |severities: Vec<Severity>| {
    ///     let query = Query::default().severities(severities);
    ///     query.is_met(&alert, &AlertState::default(), &Zones::default())
    /// };
    /// assert!(is_met(vec![]) && is_met(vec![Severity::Extreme, Severity::Severe]));
    /// assert!(!is_met(vec![Severity::Unknown]));
    /// ```
    #[must_use]
    pub fn severities(self, severities: Vec<Severity>) -> Self {
        Self { severities, ..self }
    }

    /// Sets the zones that an area must be one of; empty means any.
    #[must_use]
    pub fn codes(self, codes: Vec<zone::Code>) -> Self {
        Self { codes, ..self }
    }

    /// Sets whether the alert must be in force.
    #[must_use]
    pub fn is_active(self, is_active: bool) -> Self {
        Self { is_active, ..self }
    }

    /// Returns the alerts that meet the query, in the order of the messages, with their states.
    ///
    /// `messages` must be all messages on record: the messages that follow an alert determine its
    /// state.
    ///
    /// ```
    /// use mesonet::alert;
    /// use mesonet::zone::Zones;
    /// let message = |id: &str, expires_ms| {
    ///     let areas = vec![alert::MessageArea::default()];
    ///     let part = alert::Part { expires_ms: Some(expires_ms), areas, ..alert::Part::default() };
    ///     alert::Message { id: id.into(), parts: vec![part], ..alert::Message::default() }
    /// };
    /// let messages = [message("past", 10), message("in force", 30)];
    /// let query = alert::Query::default().is_active(true);
    /// let active = query.select(&messages, alert::Clock::live(20), &Zones::default());
    /// assert_eq!((active.len(), &*active[0].0.id), (1, "in force"));
    /// ```
    pub fn select<'a, M: Borrow<Message>>(
        &self,
        messages: &'a [M],
        clock: Clock,
        zones: &Zones,
    ) -> Vec<(&'a Message, AlertState)> {
        let messages: Vec<&Message> = messages.iter().map(Borrow::borrow).collect();
        let states = resolve(&messages, clock);
        let with_states = messages.into_iter().zip(states);
        with_states.filter(|(message, state)| self.is_met(message, state, zones)).collect()
    }

    /// Whether an alert in a state meets the query.
    ///
    /// The area of an alert is the outline that its message draws, or else its zones, as far as
    /// their polygons are known. An alert without a known area is at no place and in no box.
    pub fn is_met(&self, message: &Message, state: &AlertState, zones: &Zones) -> bool {
        let (from_ms, until_ms) = message.interval_ms();
        let is_in_time = self.start_ms.is_none_or(|start| until_ms.is_none_or(|end| end >= start))
            && self.end_ms.is_none_or(|end_ms| from_ms <= end_ms);
        if !is_in_time || self.is_active && state.status != Status::Active {
            return false;
        }
        let is_severe =
            |part: &Part| self.severities.contains(&part.severity.unwrap_or(Severity::Unknown));
        if !self.severities.is_empty() && !message.parts.iter().any(is_severe) {
            return false;
        }
        let counts = |status: Status| !self.is_active || status == Status::Active;
        let is_in_a_zone = self.codes.is_empty()
            || message.areas().zip(&state.areas).any(|((_, area), &status)| {
                let is_asked = |code: zone::Code| {
                    self.codes.iter().any(|asked| asked.covers(code) || code.covers(*asked))
                };
                counts(status) && area.code.is_some_and(is_asked)
            });
        is_in_a_zone
            && self.bbox.is_none_or(|bbox| {
                outlines_where(message, state, zones, counts)
                    .any(|outline| outline.intersects(bbox))
            })
            && self.area.as_ref().is_none_or(|area| {
                outlines_where(message, state, zones, counts).any(|outline| outline.meets(area))
            })
            && self.at.is_none_or(|at| {
                outlines_where(message, state, zones, counts).any(|outline| outline.contains(at))
            })
    }
}

/// The outlines of the areas with the same status as the whole alert: the areas where it is in
/// force, if it is in force anywhere. If a message draws both its zones and a threat area in them,
/// only the outlines of the zones are returned.
pub fn outlines<'a>(
    message: &'a Message,
    state: &'a AlertState,
    zones: &'a Zones,
) -> Vec<&'a MultiPolygon> {
    let of = |kind: fn(AreaKind) -> bool| {
        let areas = areas(message, state, |status| status == state.status);
        let areas = areas.filter(move |(_, area)| kind(area.kind));
        areas.flat_map(|(part, area)| outlines_of(part, area, zones)).collect::<Vec<_>>()
    };
    let coverage = of(|kind| kind != AreaKind::ThreatArea);
    if coverage.is_empty() { of(|kind| kind == AreaKind::ThreatArea) } else { coverage }
}

/// The union of the [`outlines`], as valid polygons: outlines that touch become one. `None` if no
/// outline is known.
pub fn geometry(message: &Message, state: &AlertState, zones: &Zones) -> Option<MultiPolygon> {
    MultiPolygon::dissolved(outlines(message, state, zones))
}

/// The places of a message that its outlines lack, each once, in the order of the message. In parts
/// that draw nothing, these are the codes of zones whose outlines are not known; also the
/// descriptions of areas that have neither a code nor an outline.
///
/// ```
/// use mesonet::alert::{self, missing_zones};
/// use mesonet::zone::Zones;
/// let mut part = alert::Part::default();
/// for code in ["OKC143", "OKC037", "OKC143"] {
///     let code = Some(code.parse()?);
///     part.areas.push(alert::MessageArea { code, ..alert::MessageArea::default() });
/// }
/// let areas = vec![alert::MessageArea::default()];
/// let texts = vec![alert::Text { areas: vec!["the lake".into()], ..alert::Text::default() }];
/// let other = alert::Part { areas, texts, ..alert::Part::default() };
/// let message = alert::Message { parts: vec![part, other], ..alert::Message::default() };
/// let missing = missing_zones(&message, &Zones::default());
/// assert_eq!(missing, ["OKC143", "OKC037", "the lake"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn missing_zones<'a>(message: &'a Message, zones: &Zones) -> Vec<&'a str> {
    let mut missing = Vec::new();
    for part in &message.parts {
        let is_drawn = part.areas.iter().any(|area| area.geometry.is_some());
        for (i, area) in part.areas.iter().enumerate() {
            match &area.code {
                Some(code) if !is_drawn && outlines_of(part, area, zones).next().is_none() => {
                    missing.push(code.as_str());
                }
                None if area.geometry.is_none() => {
                    let texts = part.texts.iter().filter_map(|text| text.areas.get(i));
                    let name = texts.map(String::as_str).find(|name| !name.is_empty());
                    missing.push(name.unwrap_or(UNNAMED));
                }
                _ => {}
            }
        }
        if part.areas.is_empty() {
            missing.push(UNNAMED);
        }
    }
    let mut seen = HashSet::new();
    missing.retain(|&place| seen.insert(place));
    missing
}

/// The text for an area that a message neither names nor draws.
const UNNAMED: &str = "an area without a name";

fn areas<'a>(
    message: &'a Message,
    state: &'a AlertState,
    counts: impl Fn(Status) -> bool,
) -> impl Iterator<Item = (&'a Part, &'a MessageArea)> {
    let areas = message.areas().zip(&state.areas);
    areas.filter(move |&(_, &status)| counts(status)).map(|(area, _)| area)
}

fn outlines_where<'a>(
    message: &'a Message,
    state: &'a AlertState,
    zones: &'a Zones,
    counts: impl Fn(Status) -> bool,
) -> impl Iterator<Item = &'a MultiPolygon> {
    areas(message, state, counts).flat_map(|(part, area)| outlines_of(part, area, zones))
}

/// The outline drawn for an area, or the outlines of its zones if the part draws nothing: an
/// outline drawn for several zones replaces the zones.
fn outlines_of<'a>(
    part: &Part,
    area: &'a MessageArea,
    zones: &'a Zones,
) -> impl Iterator<Item = &'a MultiPolygon> {
    let is_drawn = part.areas.iter().any(|area| area.geometry.is_some());
    let zones =
        area.code.filter(|_| !is_drawn).map(|code| zones_of(code, area.is_fire_zone, zones));
    let outlines = zones.into_iter().flatten().filter_map(|zone| zone.geometry.as_ref());
    area.geometry.iter().chain(outlines)
}

/// The zones of a code. A fire weather zone is not the forecast zone of the same code.
fn zones_of(code: zone::Code, is_fire: bool, zones: &Zones) -> impl Iterator<Item = &Zone> {
    let kinds: &[zone::ZoneKind] = if is_fire {
        &[zone::ZoneKind::Fire]
    } else {
        &[
            zone::ZoneKind::Base,
            zone::ZoneKind::Public,
            zone::ZoneKind::Marine,
            zone::ZoneKind::County,
        ]
    };
    let mut of_kinds = kinds.iter().map(move |kind| zones.covered(code, *kind).peekable());
    of_kinds.find_map(|mut zones| zones.peek().is_some().then_some(zones)).into_iter().flatten()
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
