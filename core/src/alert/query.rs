//! Selects alerts by time, box, place and zone.

use std::borrow::Borrow;
use std::collections::HashSet;

use crate::alert::{AreaKind, Clock, Message, MessageArea, Part, State, Status, resolve};
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
///     query.is_met(&alert, &alert::State::default(), &Zones::default())
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
    /// One of its areas is one of these zones; empty means any.
    pub codes: Vec<zone::Code>,
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
    /// `messages` must be all messages on record: what has become of an alert is told by those that
    /// follow it.
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
    ) -> Vec<(&'a Message, State)> {
        let messages: Vec<&Message> = messages.iter().map(Borrow::borrow).collect();
        let states = resolve(&messages, clock);
        let with_states = messages.into_iter().zip(states);
        with_states.filter(|(message, state)| self.is_met(message, state, zones)).collect()
    }

    /// Whether an alert in a state meets the query.
    ///
    /// The area of an alert is what its message draws, or else its zones, as far as their polygons
    /// are known. An alert without a known area is at no place and in no box.
    pub fn is_met(&self, message: &Message, state: &State, zones: &Zones) -> bool {
        let (from_ms, until_ms) = message.interval_ms();
        let is_in_time = self.start_ms.is_none_or(|start| until_ms.is_none_or(|end| end >= start))
            && self.end_ms.is_none_or(|end_ms| from_ms <= end_ms);
        if !is_in_time || self.is_active && state.status != Status::Active {
            return false;
        }
        let counts = |status: Status| !self.is_active || status == Status::Active;
        let is_in_a_zone = self.codes.is_empty()
            || message.areas().zip(&state.areas).any(|((_, area), &status)| {
                counts(status) && area.code.is_some_and(|code| self.codes.contains(&code))
            });
        is_in_a_zone
            && self.bbox.is_none_or(|bbox| {
                outlines_where(message, state, zones, counts)
                    .any(|outline| outline.intersects(bbox))
            })
            && self.at.is_none_or(|at| {
                outlines_where(message, state, zones, counts).any(|outline| outline.contains(at))
            })
    }
}

/// The outlines of the areas that have the status of the alert as a whole: where it is in force, if
/// it is in force anywhere. If a message draws both its zones and a threat area in them, only the
/// outlines of the zones are returned.
pub fn outlines<'a>(
    message: &'a Message,
    state: &'a State,
    zones: &'a Zones,
) -> Vec<&'a MultiPolygon> {
    let of = |kind: fn(AreaKind) -> bool| {
        let areas = areas(message, state, |status| status == state.status);
        let areas = areas.filter(move |(_, area)| kind(area.kind));
        areas.filter_map(|(part, area)| outline(part, area, zones)).collect::<Vec<_>>()
    };
    let coverage = of(|kind| kind != AreaKind::ThreatArea);
    if coverage.is_empty() { of(|kind| kind == AreaKind::ThreatArea) } else { coverage }
}

/// The zones of a message that draws nothing for them and whose outlines are not known, each once,
/// in the order of the message: its area is larger than its outlines show.
///
/// ```
/// use mesonet::alert::{self, missing_zones};
/// use mesonet::zone::Zones;
/// let mut part = alert::Part::default();
/// for code in ["OKC143", "OKC037", "OKC143"] {
///     let code = Some(code.parse()?);
///     part.areas.push(alert::MessageArea { code, ..alert::MessageArea::default() });
/// }
/// let message = alert::Message { parts: vec![part], ..alert::Message::default() };
/// let missing = missing_zones(&message, &Zones::default());
/// assert_eq!(missing, ["OKC143".parse()?, "OKC037".parse()?]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn missing_zones(message: &Message, zones: &Zones) -> Vec<zone::Code> {
    let mut missing = Vec::new();
    for part in &message.parts {
        if part.areas.iter().all(|area| area.geometry.is_none()) {
            let unknown = part.areas.iter().filter(|area| outline(part, area, zones).is_none());
            missing.extend(unknown.filter_map(|area| area.code));
        }
    }
    let mut seen = HashSet::new();
    missing.retain(|&code| seen.insert(code));
    missing
}

fn areas<'a>(
    message: &'a Message,
    state: &'a State,
    counts: impl Fn(Status) -> bool,
) -> impl Iterator<Item = (&'a Part, &'a MessageArea)> {
    let areas = message.areas().zip(&state.areas);
    areas.filter(move |&(_, &status)| counts(status)).map(|(area, _)| area)
}

fn outlines_where<'a>(
    message: &'a Message,
    state: &'a State,
    zones: &'a Zones,
    counts: impl Fn(Status) -> bool,
) -> impl Iterator<Item = &'a MultiPolygon> {
    areas(message, state, counts).filter_map(|(part, area)| outline(part, area, zones))
}

/// The outline drawn for an area, or its zone if the part draws nothing: an outline drawn for
/// several zones replaces the zones.
fn outline<'a>(part: &Part, area: &'a MessageArea, zones: &'a Zones) -> Option<&'a MultiPolygon> {
    if let Some(drawn) = &area.geometry {
        return Some(drawn);
    }
    if part.areas.iter().any(|area| area.geometry.is_some()) {
        return None;
    }
    zone_of(area, zones)?.geometry.as_ref()
}

/// The zone of an area. A fire weather zone is not the forecast zone of the same code.
fn zone_of<'a>(area: &MessageArea, zones: &'a Zones) -> Option<&'a Zone> {
    let code = area.code?;
    if area.is_fire_zone {
        return zones.of_kind(code, zone::Kind::Fire);
    }
    let kinds = [zone::Kind::Base, zone::Kind::Public, zone::Kind::Marine, zone::Kind::County];
    kinds.into_iter().find_map(|kind| zones.of_kind(code, kind))
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
