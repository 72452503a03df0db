//! Mends groups of the body that lost a blank, have one too many, or have a wrong letter, if only
//! one reading is possible.

use super::group::{number, small_number};
use super::list::ShortList;
use super::weather::Weather;
use super::wind::{self, WindGroup};
use super::{sky, visibility};

/// Longest group that is cut; real groups that are glued together are shorter.
const MAX_BYTES: usize = 32;
/// Most groups that are glued together.
pub(super) const MAX_PARTS: usize = 4;

/// The groups that are glued together in one.
pub(super) type Parts<'a> = ShortList<&'a [u8], MAX_PARTS>;

/// What a group certainly is, by a shape that fixes every character.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Wind,
    Visibility,
    Weather,
    Sky,
    Temperatures,
    Altimeter,
    /// `RMK` or `NOSIG`, which starts something else.
    End,
}

fn shape(group: &[u8]) -> Option<Shape> {
    let shape = match group {
        b"RMK" | b"NOSIG" => Shape::End,
        [b'A', value @ ..] if value.len() == 4 => {
            return small_number(value)
                .filter(|hundredths| (2500..=3200).contains(hundredths))
                .map(|_| Shape::Altimeter);
        }
        [b'Q', value @ ..] if value.len() == 4 => {
            return small_number(value)
                .filter(|hpa| (850..=1100).contains(hpa))
                .map(|_| Shape::Altimeter);
        }
        b"CAVOK" => Shape::Visibility,
        [.., b'S', b'M'] => {
            return visibility::miles(group, None).map(|_| Shape::Visibility);
        }
        [.., b'K', b'T'] | [.., b'M', b'P', b'S'] | [.., b'K', b'M', b'H'] => {
            let is_whole =
                |read: &WindGroup| matches!(read, WindGroup::Wind(wind) if wind.speed.is_some());
            return wind::wind(group).filter(is_whole).map(|_| Shape::Wind);
        }
        [_, _, _, _] if number(group).is_some_and(is_metres) => Shape::Visibility,
        _ if is_temperatures(group) => Shape::Temperatures,
        _ if sky::layer(group).is_some_and(|layer| layer.base_ft.is_some() || group.len() == 3) => {
            Shape::Sky
        }
        _ => {
            let is_whole = |weather: &Weather| {
                weather.codes().any(|code| !matches!(code, "BL" | "DR" | "MI" | "BC" | "PR" | "FZ"))
            };
            return Weather::read(group).filter(is_whole).map(|_| Shape::Weather);
        }
    };
    Some(shape)
}

/// A visibility in metres, as reported: in steps of 50, or 9999 (WMO-No. 306, FM 15, 15.6.3).
fn is_metres(metres: u32) -> bool {
    metres.is_multiple_of(50) || metres == 9999
}

/// `TT/TdTd`, each with `M` for minus, the dew point not above the air temperature.
fn is_temperatures(group: &[u8]) -> bool {
    let degrees = |field: &[u8]| {
        let (digits, sign) = field.strip_prefix(b"M").map_or((field, 1), |digits| (digits, -1));
        number(digits).filter(|_| digits.len() == 2).map(|degrees| degrees as i32 * sign)
    };
    let slash = group.iter().position(|&byte| byte == b'/');
    let both = slash.and_then(|at| Some((degrees(&group[..at])?, degrees(&group[at + 1..])?)));
    both.is_some_and(|(air, dew_point)| dew_point <= air)
}

/// The groups that are glued together in one, as in `BKN10027/21` or `A2992RMK`, if there is only
/// one way to cut it into groups that are certain.
pub(super) fn cut(group: &[u8]) -> Option<Parts<'_>> {
    let mut found = Cuts { parts: ShortList::new(b""), ways: 0 };
    if (4..=MAX_BYTES).contains(&group.len()) {
        found.search(group, None, ShortList::new(b""));
    }
    (found.ways == 1).then_some(found.parts)
}

struct Cuts<'a> {
    parts: Parts<'a>,
    ways: u8,
}

impl<'a> Cuts<'a> {
    fn search(&mut self, rest: &'a [u8], before: Option<Shape>, parts: Parts<'a>) {
        for at in 2..=rest.len() {
            let (part, behind) = rest.split_at(at);
            let Some(shape) = shape(part) else { continue };
            // Weather behind weather is one group.
            let is_one = before == Some(Shape::Weather) && shape == Shape::Weather;
            let mut parts = parts;
            if is_one || before == Some(Shape::End) || !parts.push(part) {
                continue;
            }
            if behind.is_empty() {
                self.ways = self.ways.saturating_add(1);
                self.parts = parts;
            } else if self.ways < 2 {
                self.search(behind, Some(shape), parts);
            }
        }
    }
}

/// A group with a wrong blank or letter, in its corrected form.
pub(super) struct CorrectedGroup {
    bytes: [u8; MAX_BYTES],
    length: usize,
    /// Whether it includes the group behind it.
    pub is_joined: bool,
}

impl CorrectedGroup {
    fn new(parts: [&[u8]; 2], is_joined: bool) -> Option<Self> {
        let length = parts[0].len() + parts[1].len();
        let mut bytes = [0; MAX_BYTES];
        bytes.get_mut(..parts[0].len())?.copy_from_slice(parts[0]);
        bytes.get_mut(parts[0].len()..length)?.copy_from_slice(parts[1]);
        Some(Self { bytes, length, is_joined })
    }

    pub(super) fn group(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Mends a group, with the one behind it if that is its second half: `A 2992`, `BKN 100`, `27/ 21`,
/// `240 12KT`, `RE SHRA`, `200/07KT`, `25005KY`.
pub(super) fn mended(group: &[u8], next: Option<&[u8]>) -> Option<CorrectedGroup> {
    if let Some(next) = next {
        let is_half = match group {
            b"RE" => true,
            b"A" | b"Q" => next.len() == 4,
            b"FEW" | b"SCT" | b"BKN" | b"OVC" => next.len() == 3 && number(next).is_some(),
            [.., b'/'] => matches!(next.len(), 2 | 3),
            [_, _, _] => number(group).is_some() && !next.contains(&b'V'),
            _ => false,
        };
        let joined = CorrectedGroup::new([group, next], true).filter(|_| is_half);
        if let Some(joined) = joined.filter(|joined| shape(joined.group()).is_some()) {
            return Some(joined);
        }
    }
    wind_with_a_slash(group).or_else(|| wind_with_a_wrong_unit(group))
}

/// `200/07KT`: a wind as spoken or as written in tables.
fn wind_with_a_slash(group: &[u8]) -> Option<CorrectedGroup> {
    let (direction, rest) = group.split_at_checked(3)?;
    let mended = CorrectedGroup::new([direction, rest.strip_prefix(b"/")?], false)?;
    (shape(mended.group()) == Some(Shape::Wind)).then_some(mended)
}

/// `25005KY`: a direction in whole tens, a speed, and letters that differ in one character from
/// exactly one unit.
fn wind_with_a_wrong_unit(group: &[u8]) -> Option<CorrectedGroup> {
    // Miles per hour are a unit of their own.
    const UNITS: [(&[u8], &[u8]); 4] =
        [(b"KT", b"KT"), (b"KTS", b"KT"), (b"MPS", b"MPS"), (b"KMH", b"KMH")];
    let end = group.iter().rposition(u8::is_ascii_digit)? + 1;
    let (fields, unit) = group.split_at(end);
    let is_lost_gust = unit.starts_with(b"G");
    if unit.is_empty() || unit == b"MPH" || is_lost_gust || fields.get(2) != Some(&b'0') {
        return None;
    }
    let mut near = UNITS.iter().filter(|(known, _)| is_one_off(unit, known)).map(|&(_, unit)| unit);
    let unit = near.next()?;
    let mended =
        CorrectedGroup::new([fields, unit], false).filter(|_| near.all(|other| other == unit))?;
    (shape(mended.group()) == Some(Shape::Wind)).then_some(mended)
}

/// Whether two texts differ in one character: a different one, one more, one less, or two
/// neighbours swapped.
pub(super) fn is_one_off(text: &[u8], other: &[u8]) -> bool {
    let (short, long) = if text.len() <= other.len() { (text, other) } else { (other, text) };
    let same = short.iter().zip(long).take_while(|(one, other)| one == other).count();
    match long.len() - short.len() {
        0 if same == short.len() => false,
        0 => {
            let (one, other) = (&short[same..], &long[same..]);
            one[1..] == other[1..]
                || one.len() >= 2
                    && one[0] == other[1]
                    && one[1] == other[0]
                    && one[2..] == other[2..]
        }
        1 => short[same..] == long[same + 1..],
        _ => false,
    }
}

/// Whether a group is a change indicator of a trend forecast, or was meant to be one: `TEMP0`,
/// `BCMG`, `NOISG`.
pub(super) fn is_change_indicator(group: &[u8]) -> bool {
    matches!(group, b"FCST" | b"INTER" | b"TREND")
        || group.starts_with(b"PROB")
        || [&b"TEMPO"[..], b"BECMG", b"NOSIG"]
            .iter()
            .any(|known| group == *known || is_one_off(group, known))
}

#[cfg(test)]
#[path = "mend_tests.rs"]
mod tests;
