//! Which alerts a caller means: by time, box, place and zone.

use crate::alert::{AlertMessage, AlertPart, AlertStatus, AreaKind, MessageArea};
use crate::alert_chain::AlertState;
use crate::geo::{BBox, LonLat};
use crate::geometry::MultiPolygon;
use crate::zone::{Zone, ZoneCode, ZoneKind, Zones};

/// What alerts must be. Each condition that is given must be met; none are met by every alert.
///
/// ```
/// use mesonet::{AlertMessage, AlertPart, AlertQuery, AlertState, Zones};
/// let part = AlertPart { expires_ms: Some(20), ..AlertPart::default() };
/// let alert = AlertMessage { sent_ms: 10, parts: vec![part], ..AlertMessage::default() };
/// let is_met = |start_ms, end_ms| {
///     let query = AlertQuery { start_ms, end_ms, ..AlertQuery::default() };
///     query.is_met(&alert, &AlertState::default(), &Zones::default())
/// };
/// assert!(is_met(None, None) && is_met(Some(20), None) && is_met(Some(0), Some(10)));
/// assert!(!is_met(Some(21), None) && !is_met(None, Some(9)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlertQuery {
    /// The alert's interval ends here or later, milliseconds since 1970.
    pub start_ms: Option<i64>,
    /// It starts here or before, milliseconds since 1970.
    pub end_ms: Option<i64>,
    /// One of its areas has a point in common with the box.
    pub bbox: Option<BBox>,
    /// One of its areas holds the place.
    pub at: Option<LonLat>,
    /// One of its areas is one of these zones; empty is no condition.
    pub codes: Vec<ZoneCode>,
    /// It is in force, and only the areas where it is in force count for the others.
    pub is_active: bool,
}

impl AlertQuery {
    /// Whether an alert in a state is meant.
    ///
    /// The area of an alert is what its message draws, else that of its zones as far as their
    /// polygons are known. An alert of which no area is known is at no place and in no box.
    pub fn is_met(&self, message: &AlertMessage, state: &AlertState, zones: &Zones) -> bool {
        let (from_ms, until_ms) = message.interval_ms();
        let is_in_time = self.start_ms.is_none_or(|start| until_ms.is_none_or(|end| end >= start))
            && self.end_ms.is_none_or(|end_ms| from_ms <= end_ms);
        if !is_in_time || self.is_active && state.status != AlertStatus::Active {
            return false;
        }
        let counts = |status: AlertStatus| !self.is_active || status == AlertStatus::Active;
        let is_in_a_zone = self.codes.is_empty()
            || message.areas().zip(&state.areas).any(|((_, area), &status)| {
                counts(status) && area.code.is_some_and(|code| self.codes.contains(&code))
            });
        is_in_a_zone
            && self.bbox.is_none_or(|bbox| {
                outlines(message, state, zones, counts).any(|outline| outline.intersects(bbox))
            })
            && self.at.is_none_or(|at| {
                outlines(message, state, zones, counts).any(|outline| outline.contains(at))
            })
    }
}

/// The outlines of an alert where it is as it is as a whole: where it is in force, if it is in
/// force anywhere. Of a message that draws both its zones and a threat area in them, those of the
/// zones.
pub fn alert_outlines<'a>(
    message: &'a AlertMessage,
    state: &'a AlertState,
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

fn areas<'a>(
    message: &'a AlertMessage,
    state: &'a AlertState,
    counts: impl Fn(AlertStatus) -> bool,
) -> impl Iterator<Item = (&'a AlertPart, &'a MessageArea)> {
    let areas = message.areas().zip(&state.areas);
    areas.filter(move |&(_, &status)| counts(status)).map(|(area, _)| area)
}

fn outlines<'a>(
    message: &'a AlertMessage,
    state: &'a AlertState,
    zones: &'a Zones,
    counts: impl Fn(AlertStatus) -> bool,
) -> impl Iterator<Item = &'a MultiPolygon> {
    areas(message, state, counts).filter_map(|(part, area)| outline(part, area, zones))
}

/// What is drawn of an area, else its zone where the part draws nothing: what is drawn for several
/// zones is what is meant, not all of the zones.
fn outline<'a>(
    part: &AlertPart,
    area: &'a MessageArea,
    zones: &'a Zones,
) -> Option<&'a MultiPolygon> {
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
        return zones.of_kind(code, ZoneKind::Fire);
    }
    let kinds = [ZoneKind::Base, ZoneKind::Public, ZoneKind::Marine, ZoneKind::County];
    kinds.into_iter().find_map(|kind| zones.of_kind(code, kind))
}

#[cfg(test)]
#[path = "alert_query_tests.rs"]
mod tests;
