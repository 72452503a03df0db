//! Groups on runways: the visual range, `Rdd(L|C|R)/(M|P)dddd(V(M|P)dddd)(FT)(/)(U|D|N)`, and the
//! state, `Rdd(L|C|R)/ERCReReRBRBR` (WMO-No. 306, FM 15, 15.7 and 15.13.6).

use serde::Serialize;

use super::group::{number, small_number};

/// The content of a group on a runway.
pub(super) enum RunwayGroup<'a> {
    VisualRange(VisualRange<'a>),
    /// Deposit, extent, depth and braking, or that it is closed by snow or clear again.
    State,
}

/// Runway visual range.
pub(super) struct VisualRange<'a> {
    pub runway: &'a [u8],
    pub least: Option<u16>,
    pub greatest: Option<u16>,
    pub is_below_least: bool,
    pub is_above_greatest: bool,
    pub is_in_feet: bool,
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

/// Reads a group; `None` if it is not about a runway.
pub(super) fn runway(group: &[u8]) -> Option<RunwayGroup<'_>> {
    let rest = group.strip_prefix(b"R")?;
    let slash = rest.iter().position(|&byte| byte == b'/')?;
    let (runway, said) = (&rest[..slash], &rest[slash + 1..]);
    if is_runway(runway)
        && let Some(range) = visual_range(runway, said)
    {
        return Some(RunwayGroup::VisualRange(range));
    }
    let is_of_runway = is_runway(runway) || runway.is_empty();
    (is_of_runway && is_state(said)).then_some(RunwayGroup::State)
}

/// Whether a group is the state of a runway in the old form, 8 characters.
pub(super) fn is_old_state(group: &[u8]) -> bool {
    // `21005MPS` is a wind.
    group.len() == 8
        && number(&group[..4]).is_some()
        && group[4..].iter().all(|&byte| is_figure(byte))
}

/// Whether a text names a runway, such as `06L`.
pub(super) fn is_runway(text: &[u8]) -> bool {
    let (digits, side) = text.split_at_checked(2).unwrap_or((text, b""));
    number(digits).is_some_and(|_| digits.len() == 2)
        && matches!(side, b"" | b"L" | b"C" | b"R" | b"LL" | b"RR")
}

fn is_state(said: &[u8]) -> bool {
    match said {
        b"SNOCLO" | b"D" => true,
        // Dry, with the friction: stations of central Asia and Russia.
        [_, _, b'D'] => said[..2].iter().all(u8::is_ascii_digit),
        [b'C', b'L', b'R', b'D', braking @ ..] => {
            braking.len() == 2 && braking.iter().all(|&byte| is_figure(byte))
        }
        figures => figures.len() == 6 && figures.iter().all(|&byte| is_figure(byte)),
    }
}

fn is_figure(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'/'
}

fn visual_range<'a>(runway: &'a [u8], range: &[u8]) -> Option<VisualRange<'a>> {
    let (range, tendency) = match range {
        [range @ .., b'U'] => (range, Some(VisualRangeTendency::Up)),
        [range @ .., b'D'] if range.len() >= 4 => (range, Some(VisualRangeTendency::Down)),
        [range @ .., b'N'] => (range, Some(VisualRangeTendency::None)),
        range => (range, None),
    };
    let range = range.strip_suffix(b"/").filter(|range| range.len() >= 4).unwrap_or(range);
    let (range, is_in_feet) =
        range.strip_suffix(b"FT").map_or((range, false), |range| (range, true));
    let (from, to) = match range.iter().position(|&byte| byte == b'V') {
        Some(at) => (limit(&range[..at])?, limit(&range[at + 1..])?),
        None => (limit(range)?, limit(range)?),
    };
    Some(VisualRange {
        runway,
        least: from.distance,
        greatest: to.distance,
        is_below_least: from.sign == Some(b'M'),
        is_above_greatest: to.sign == Some(b'P'),
        is_in_feet,
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
