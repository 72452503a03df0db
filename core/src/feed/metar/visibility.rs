//! Visibility groups: statute miles with fractions, metres, and what replaces them.

use super::group::{number, small_number};

/// Unit in which a report gives its visibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the units")]
pub enum DistanceUnit {
    StatuteMile,
    Metre,
}

/// How the true visibility lies to the reported one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The value as reported.
    Exact,
    /// `M`: less than the value.
    Less,
    /// `P`, 9999 and CAVOK: the value or more.
    More,
}

/// Prevailing visibility.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetarVisibility {
    /// Distance, in `unit`. 9999 and CAVOK are 10,000 m (WMO-No. 306, FM 15, 15.6.2).
    pub distance: f64,
    /// Unit of the distance.
    pub unit: DistanceUnit,
    /// Whether the distance is a bound.
    pub bound: Bound,
}

/// Visibility of 10 km or more, as 9999 and CAVOK say it.
pub(super) const TEN_KM_OR_MORE: MetarVisibility =
    MetarVisibility { distance: 10_000.0, unit: DistanceUnit::Metre, bound: Bound::More };

/// Reads `(M|P)miles SM`, where the whole miles may have been a group of their own.
pub(super) fn miles(group: &[u8], whole_before: Option<u16>) -> Option<MetarVisibility> {
    let field = group.strip_suffix(b"SM")?;
    let (bound, field) = match field {
        [b'M', field @ ..] => (Bound::Less, field),
        [b'P', field @ ..] => (Bound::More, field),
        field => (Bound::Exact, field),
    };
    let distance = match field.iter().position(|&byte| byte == b'/') {
        None if whole_before.is_none() => {
            f64::from(small_number(field).filter(|_| field.len() < 4)?)
        }
        None => return None,
        Some(slash) => {
            let (numerator, denominator) = (&field[..slash], &field[slash + 1..]);
            // Without its blank, 1 1/2SM is 11/2SM: no fraction of a mile is greater than one.
            let (whole, numerator) = match (whole_before, numerator) {
                (Some(whole), numerator) => (whole, numerator),
                (None, &[whole @ b'1'..=b'9', numerator @ b'1'..=b'9'])
                    if denominator.len() == 1 =>
                {
                    return fraction(u16::from(whole - b'0'), &[numerator], denominator, bound);
                }
                (None, numerator) => (0, numerator),
            };
            return fraction(whole, numerator, denominator, bound);
        }
    };
    Some(MetarVisibility { distance, unit: DistanceUnit::StatuteMile, bound })
}

fn fraction(
    whole: u16,
    numerator: &[u8],
    denominator: &[u8],
    bound: Bound,
) -> Option<MetarVisibility> {
    let short = |field: &[u8]| small_number(field).filter(|_| field.len() <= 2).map(f64::from);
    let (numerator, denominator) = (short(numerator)?, short(denominator)?);
    let distance = f64::from(whole) + numerator / denominator;
    (denominator > 0.0 && numerator <= denominator).then_some(MetarVisibility {
        distance,
        unit: DistanceUnit::StatuteMile,
        bound,
    })
}

/// Reads metres, `(M|P)dddd` or `ddddNDV`, or kilometres, `ddKM`.
pub(super) fn metres(group: &[u8]) -> Option<MetarVisibility> {
    if let Some(field) = group.strip_suffix(b"KM") {
        let km = number(field).filter(|_| field.len() <= 2)?;
        let distance = f64::from(km) * 1000.0;
        return Some(MetarVisibility { distance, unit: DistanceUnit::Metre, bound: Bound::Exact });
    }
    let (bound, group) = match group {
        [b'M', group @ ..] => (Bound::Less, group),
        [b'P', group @ ..] => (Bound::More, group),
        group => (Bound::Exact, group),
    };
    let (field, suffix) = group.split_at_checked(4)?;
    let distance = number(field).filter(|_| matches!(suffix, b"" | b"NDV"))?;
    Some(if distance == 9999 {
        TEN_KM_OR_MORE
    } else {
        let distance = f64::from(distance);
        MetarVisibility { distance, unit: DistanceUnit::Metre, bound }
    })
}

/// Whether a group is the visibility in one direction, `ddddSW`, where it differs from the
/// prevailing one.
pub(super) fn is_directional(group: &[u8]) -> bool {
    group.split_at_checked(4).is_some_and(|(digits, direction)| {
        number(digits).is_some()
            && matches!(direction, b"N" | b"NE" | b"E" | b"SE" | b"S" | b"SW" | b"W" | b"NW")
    })
}
