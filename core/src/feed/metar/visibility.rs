//! Visibility groups: statute miles with fractions, metres, and what replaces them.

use super::group::{number, small_number};
use crate::unit::statute_miles_to_km;

/// Unit in which a report gives its visibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the units")]
pub enum DistanceUnit {
    StatuteMile,
    Metre,
}

/// How the true visibility relates to the reported one.
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
///
/// ```
/// use mesonet::feed::metar::{Bound, DistanceUnit, Metar, MetarVisibility};
/// let report = Metar::parse("KBUF 312354Z 21014KT M1/4SM FG")?;
/// let visibility =
///     MetarVisibility { distance: 0.25, unit: DistanceUnit::StatuteMile, bound: Bound::Less };
/// assert_eq!(report.visibility, Some(visibility));
/// # Ok::<(), mesonet::feed::metar::MetarError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MetarVisibility {
    /// Distance, in `unit`. 9999 and CAVOK are 10,000 m (WMO-No. 306, FM 15, 15.6).
    pub distance: f64,
    /// Unit of the distance.
    pub unit: DistanceUnit,
    /// Whether the distance is a bound.
    pub bound: Bound,
}

impl MetarVisibility {
    /// The distance in kilometres.
    ///
    /// ```
    /// use mesonet::feed::metar::Metar;
    /// let visibility = Metar::parse("KBUF 312354Z 1SM")?.visibility;
    /// assert_eq!(visibility.map(|visibility| visibility.km()), Some(1.609344));
    /// # Ok::<(), mesonet::feed::metar::MetarError>(())
    /// ```
    pub fn km(self) -> f64 {
        match self.unit {
            DistanceUnit::StatuteMile => statute_miles_to_km(self.distance),
            DistanceUnit::Metre => self.distance / 1000.0,
        }
    }
}

/// Visibility of 10 km or more, as 9999 and CAVOK indicate.
pub(super) const TEN_KM_OR_MORE: MetarVisibility =
    MetarVisibility { distance: 10_000.0, unit: DistanceUnit::Metre, bound: Bound::More };

/// Reads `(M|P)miles SM`; the whole miles may have been a group of their own.
pub(super) fn miles(group: &[u8], whole_before: Option<u16>) -> Option<MetarVisibility> {
    let (bound, field) = match group.strip_suffix(b"SM")? {
        [b'M', field @ ..] => (Bound::Less, field),
        [b'P', field @ ..] => (Bound::More, field),
        field => (Bound::Exact, field),
    };
    let distance = match (whole_before, field) {
        // 10 SM.
        (Some(whole), b"") => f64::from(whole),
        // 11/2SM is 1 1/2SM without its blank: no fraction of a mile is greater than one.
        (None, [whole @ b'1'..=b'9', rest @ ..]) if matches!(rest, [b'1'..=b'9', b'/', _]) => {
            f64::from(whole - b'0') + fraction(rest)?
        }
        (whole, field) if field.contains(&b'/') => {
            f64::from(whole.unwrap_or_default()) + fraction(field)?
        }
        (None, field) if field.len() < 4 => f64::from(small_number(field)?),
        _ => return None,
    };
    Some(MetarVisibility { distance, unit: DistanceUnit::StatuteMile, bound })
}

/// A proper fraction, or one.
pub(super) fn fraction(field: &[u8]) -> Option<f64> {
    let slash = field.iter().position(|&byte| byte == b'/')?;
    let short = |digits: &[u8]| small_number(digits).filter(|_| digits.len() <= 2);
    let (numerator, denominator) = (short(&field[..slash])?, short(&field[slash + 1..])?);
    (denominator > 0 && numerator <= denominator)
        .then(|| f64::from(numerator) / f64::from(denominator))
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
    let distance = small_number(field).filter(|_| matches!(suffix, b"" | b"NDV"))?;
    let visibility = of_metres(distance);
    let is_open = visibility.bound == Bound::More;
    Some(if is_open { visibility } else { MetarVisibility { bound, ..visibility } })
}

/// The visibility for a number of metres; 9999 is 10 km or more.
pub(super) fn of_metres(metres: u16) -> MetarVisibility {
    if metres == 9999 {
        return TEN_KM_OR_MORE;
    }
    let distance = f64::from(metres);
    MetarVisibility { distance, unit: DistanceUnit::Metre, bound: Bound::Exact }
}

/// Reads the visibility in one direction, `ddddSW`, which differs from the prevailing one: metres,
/// and the direction.
pub(super) fn directional(group: &[u8]) -> Option<(u16, &[u8])> {
    let (digits, direction) = group.split_at_checked(4)?;
    let known = matches!(direction, b"N" | b"NE" | b"E" | b"SE" | b"S" | b"SW" | b"W" | b"NW");
    small_number(digits).filter(|_| known).map(|metres| (metres, direction))
}
