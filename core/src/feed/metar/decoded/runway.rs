//! Runway visual range: `Rdd(L|C|R)/(M|P)dddd(V(M|P)dddd)(FT)(/)(U|D|N)`.

use serde::Serialize;

use super::super::group::small_number;
use super::text;

/// Runway visual range. `least` and `greatest` differ where it varied in the last ten minutes.
///
/// ```
/// use mesonet::feed::metar::{Decoded, RunwayVisualRange, VisualRangeTendency};
/// let report = Decoded::parse("KBUF 312354Z 1/2SM R05L/M0600V2200FT/U FG")?;
/// let range: &RunwayVisualRange = &report.runway_visual_ranges[0];
/// assert_eq!((&*range.runway, range.least, range.greatest, range.unit), ("05L", Some(600), Some(2200), "ft"));
/// assert!(range.is_below_least && !range.is_above_greatest);
/// assert_eq!(range.tendency, Some(VisualRangeTendency::Up));
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunwayVisualRange {
    /// The runway: `05L`.
    pub runway: String,
    /// The range, or the least one, in `unit`; `None` if it is missing (`////`).
    pub least: Option<u16>,
    /// The range, or the greatest one, in `unit`.
    pub greatest: Option<u16>,
    /// `M`: `least` is the lowest that can be measured, and it is less.
    pub is_below_least: bool,
    /// `P`: `greatest` is the highest that can be measured, and it is more.
    pub is_above_greatest: bool,
    /// `ft` or `m`.
    pub unit: &'static str,
    /// How it changes.
    pub tendency: Option<VisualRangeTendency>,
}

/// How a runway visual range changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VisualRangeTendency {
    /// `U`.
    Up,
    /// `D`.
    Down,
    /// `N`.
    None,
}

/// Reads the group; `None` if it is about something else, such as the state of the runway.
pub(super) fn visual_range(group: &[u8]) -> Option<RunwayVisualRange> {
    let rest = group.strip_prefix(b"R")?;
    let slash = rest.iter().position(|&byte| byte == b'/')?;
    let (runway, range) = (&rest[..slash], &rest[slash + 1..]);
    let is_runway = matches!(
        runway,
        [b'0'..=b'9', b'0'..=b'9']
            | [b'0'..=b'9', b'0'..=b'9', b'L' | b'C' | b'R']
            | [b'0'..=b'9', b'0'..=b'9', b'L', b'L']
            | [b'0'..=b'9', b'0'..=b'9', b'R', b'R']
    );
    if !is_runway {
        return None;
    }
    let (range, tendency) = match range {
        [range @ .., b'U'] => (range, Some(VisualRangeTendency::Up)),
        [range @ .., b'D'] if range.len() >= 4 => (range, Some(VisualRangeTendency::Down)),
        [range @ .., b'N'] => (range, Some(VisualRangeTendency::None)),
        range => (range, None),
    };
    let range = range.strip_suffix(b"/").filter(|range| range.len() >= 4).unwrap_or(range);
    let (range, unit) = range.strip_suffix(b"FT").map_or((range, "m"), |range| (range, "ft"));
    let (from, to) = match range.iter().position(|&byte| byte == b'V') {
        Some(at) => (limit(&range[..at])?, limit(&range[at + 1..])?),
        None => (limit(range)?, limit(range)?),
    };
    Some(RunwayVisualRange {
        runway: text(runway),
        least: from.distance,
        greatest: to.distance,
        is_below_least: from.sign == Some(b'M'),
        is_above_greatest: to.sign == Some(b'P'),
        unit,
        tendency,
    })
}

struct Limit {
    sign: Option<u8>,
    distance: Option<u16>,
}

fn limit(field: &[u8]) -> Option<Limit> {
    if field == b"////" {
        return Some(Limit { sign: None, distance: None });
    }
    let (sign, digits) = match field {
        [sign @ (b'M' | b'P'), digits @ ..] => (Some(*sign), digits),
        digits => (None, digits),
    };
    let distance = small_number(digits).filter(|_| digits.len() == 4)?;
    Some(Limit { sign, distance: Some(distance) })
}
