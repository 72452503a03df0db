//! The kind of a field: one forecast, a member of an ensemble, or something derived from members.

use std::fmt;
use std::str::FromStr;

use super::GribError;
use super::octets::Octets;

/// The kind of a field. Two fields of the same parameter, level and time are the same field only if
/// they are of the same kind: the spread of the temperature is not the temperature.
///
/// Written as `deterministic`, `member:3` (0 is the control), `mean`, `spread`, `percentile:90`,
/// `probability:above:1.5`, and so on.
///
/// Source: WMO-No. 306, volume I.2, templates 4.0 to 4.15 and 4.60, code tables 4.6, 4.7 and 4.9.
///
/// ```
/// use mesonet::grib::{FieldKind, ProbabilityEvent};
/// assert_eq!("spread".parse(), Ok(FieldKind::Derived(4)));
/// assert_eq!("percentile:90".parse(), Ok(FieldKind::Percentile(90)));
/// let above = FieldKind::Probability(ProbabilityEvent::Above(1.5));
/// assert_eq!(above.to_string(), "probability:above:1.5");
/// assert!("percentile:101".parse::<FieldKind>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldKind {
    /// A single forecast or analysis.
    Deterministic,
    /// A member of an ensemble by its perturbation number; 0 is the control.
    Member(u8),
    /// Derived from all members (code table 4.7): 0 their mean, 4 their spread.
    Derived(u8),
    /// A percentile of the distribution, 0 to 100.
    Percentile(u8),
    /// The probability of an event.
    Probability(ProbabilityEvent),
    /// The error of an analysis or forecast.
    Error,
    /// A statistic over an area around each point (code table 4.10): 0 an average, 2 a maximum.
    Area(u8),
}

/// The event of a probability (code table 4.9), with its limits in the unit of the parameter.
///
/// ```
/// use mesonet::grib::{FieldKind, ProbabilityEvent};
/// let mild = ProbabilityEvent::Between(273.15, 283.15);
/// assert_eq!("probability:between:273.15:283.15".parse(), Ok(FieldKind::Probability(mild)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ProbabilityEvent {
    /// The value is below a limit.
    Below(f64),
    /// The value is above a limit.
    Above(f64),
    /// The value is at least the first limit and less than the second.
    Between(f64, f64),
    /// The value equals this one.
    Equal(f64),
    /// The value is above the normal.
    AboveNormal,
    /// The value is near the normal.
    NearNormal,
    /// The value is below the normal.
    BelowNormal,
}

/// The error for a text that is not a kind of field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid kind of field \"{0}\": it must be deterministic, member:NUMBER (0 is the control), \
     mean, weighted-mean, standard-deviation, normalized-standard-deviation, spread, \
     large-anomaly-index, cluster-mean, interquartile-range, minimum, maximum, variance, \
     derived:CODE, percentile:0 to 100, probability:below:LIMIT, probability:above:LIMIT, \
     probability:between:LIMIT:LIMIT, probability:equal:VALUE, probability:above-normal, \
     probability:near-normal, probability:below-normal, error or area:CODE"
)]
pub struct FieldKindError(pub String);

/// The names of fields derived from all members, by number in code table 4.7.
const DERIVED: [&str; 11] = [
    "mean",
    "weighted-mean",
    "standard-deviation",
    "normalized-standard-deviation",
    "spread",
    "large-anomaly-index",
    "cluster-mean",
    "interquartile-range",
    "minimum",
    "maximum",
    "variance",
];

/// A negatively perturbed member (code table 4.6); it has the number of a positively perturbed
/// member.
const NEGATIVE: u8 = 2;

impl FieldKind {
    /// Reads the kind of a field. In its template, the part after the levels begins at an octet.
    pub(super) fn read(
        template: u16,
        section: Octets<'_>,
        octet: usize,
    ) -> Result<Self, GribError> {
        Ok(match template {
            1 | 11 | 41 | 43 | 60 | 61 => match (section.u8(octet)?, section.u8(octet + 1)?) {
                // The control, at high or low resolution.
                (0 | 1, _) => Self::Member(0),
                (NEGATIVE, _) => {
                    return Err(GribError::Unsupported {
                        what: "type of ensemble forecast (negatively perturbed)",
                        got: NEGATIVE.into(),
                        allowed: "all others",
                    });
                }
                (_, number) => Self::Member(number),
            },
            2 | 12 => Self::Derived(section.u8(octet)?),
            5 | 9 => Self::Probability(ProbabilityEvent::read(section, octet + 2)?),
            6 | 10 => match section.u8(octet)? {
                percent @ 0..=100 => Self::Percentile(percent),
                got => {
                    let (what, allowed) = ("percentile", "0 to 100");
                    return Err(GribError::Unsupported { what, got: got.into(), allowed });
                }
            },
            7 => Self::Error,
            15 => Self::Area(section.u8(octet)?),
            _ => Self::Deterministic,
        })
    }
}

impl ProbabilityEvent {
    /// Reads the type and the limits. Limits that the type does not use may be missing.
    fn read(section: Octets<'_>, octet: usize) -> Result<Self, GribError> {
        let kind = section.u8(octet)?;
        let (lower, upper) = (section.scaled(octet + 1)?, section.scaled(octet + 6)?);
        let missing = || GribError::Unsupported {
            what: "probability without its limits, of type",
            got: kind.into(),
            allowed: "those with limits",
        };
        Ok(match kind {
            0 => Self::Below(lower.ok_or_else(missing)?),
            1 => Self::Above(upper.ok_or_else(missing)?),
            2 => Self::Between(lower.ok_or_else(missing)?, upper.ok_or_else(missing)?),
            3 => Self::Above(lower.ok_or_else(missing)?),
            4 => Self::Below(upper.ok_or_else(missing)?),
            5 => Self::Equal(lower.ok_or_else(missing)?),
            6 => Self::AboveNormal,
            7 => Self::NearNormal,
            8 => Self::BelowNormal,
            got => {
                let (what, allowed) = ("type of probability", "0 to 8");
                return Err(GribError::Unsupported { what, got: got.into(), allowed });
            }
        })
    }
}

impl fmt::Display for FieldKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deterministic => f.write_str("deterministic"),
            Self::Member(number) => write!(f, "member:{number}"),
            Self::Derived(code) => match DERIVED.get(usize::from(*code)) {
                Some(name) => f.write_str(name),
                None => write!(f, "derived:{code}"),
            },
            Self::Percentile(percent) => write!(f, "percentile:{percent}"),
            Self::Probability(event) => write!(f, "probability:{event}"),
            Self::Error => f.write_str("error"),
            Self::Area(code) => write!(f, "area:{code}"),
        }
    }
}

impl fmt::Display for ProbabilityEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(limit) => write!(f, "below:{limit}"),
            Self::Above(limit) => write!(f, "above:{limit}"),
            Self::Between(lower, upper) => write!(f, "between:{lower}:{upper}"),
            Self::Equal(value) => write!(f, "equal:{value}"),
            Self::AboveNormal => f.write_str("above-normal"),
            Self::NearNormal => f.write_str("near-normal"),
            Self::BelowNormal => f.write_str("below-normal"),
        }
    }
}

impl FromStr for FieldKind {
    type Err = FieldKindError;
    fn from_str(text: &str) -> Result<Self, FieldKindError> {
        let code = |text: &str| text.parse::<u8>().ok();
        let kind = match text.split_once(':') {
            None if text == "deterministic" => Some(Self::Deterministic),
            None if text == "error" => Some(Self::Error),
            None => DERIVED.iter().position(|name| *name == text).map(|at| Self::Derived(at as u8)),
            Some(("member", number)) => code(number).map(Self::Member),
            Some(("derived", number)) => code(number).map(Self::Derived),
            Some(("percentile", percent)) => {
                code(percent).filter(|percent| *percent <= 100).map(Self::Percentile)
            }
            Some(("probability", event)) => event_of(event).map(Self::Probability),
            Some(("area", number)) => code(number).map(Self::Area),
            Some(_) => None,
        };
        kind.ok_or_else(|| FieldKindError(text.to_owned()))
    }
}

fn event_of(text: &str) -> Option<ProbabilityEvent> {
    let mut parts = text.split(':');
    let kind = parts.next()?;
    let limits: Vec<f64> = parts.map(|limit| limit.parse().ok()).collect::<Option<_>>()?;
    if !limits.iter().all(|limit| limit.is_finite()) {
        return None;
    }
    Some(match (kind, &*limits) {
        ("below", &[limit]) => ProbabilityEvent::Below(limit),
        ("above", &[limit]) => ProbabilityEvent::Above(limit),
        ("between", &[lower, upper]) if lower <= upper => ProbabilityEvent::Between(lower, upper),
        ("equal", &[value]) => ProbabilityEvent::Equal(value),
        ("above-normal", []) => ProbabilityEvent::AboveNormal,
        ("near-normal", []) => ProbabilityEvent::NearNormal,
        ("below-normal", []) => ProbabilityEvent::BelowNormal,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_of_field_is_written_as_it_is_read() {
        for text in [
            "deterministic",
            "member:0",
            "member:50",
            "mean",
            "weighted-mean",
            "spread",
            "variance",
            "derived:193",
            "percentile:0",
            "percentile:100",
            "probability:below:273.15",
            "probability:above:1.5",
            "probability:between:-1:0.5",
            "probability:equal:1",
            "probability:near-normal",
            "error",
            "area:2",
        ] {
            assert_eq!(text.parse::<FieldKind>().unwrap().to_string(), text);
        }
        for text in [
            "",
            "Mean",
            "member",
            "member:",
            "member:256",
            "percentile:101",
            "percentile",
            "probability",
            "probability:above",
            "probability:above:x",
            "probability:above:inf",
            "probability:above:1:2",
            "probability:between:2:1",
            "probability:near-normal:1",
            "mean:1",
        ] {
            assert_eq!(text.parse::<FieldKind>(), Err(FieldKindError(text.to_owned())));
        }
    }

    /// Octets like those after the levels in the templates.
    #[test]
    fn the_octets_after_the_levels_say_the_kind() {
        let read = |template, bytes: &[u8]| {
            let kind = FieldKind::read(template, Octets { section: 4, bytes }, 1);
            kind.map(|kind| kind.to_string()).map_err(|error| error.to_string())
        };
        let limits = |kind: u8| [0, 1, kind, 1, 0, 0, 0, 15, 0x82, 0, 0, 0, 3];
        assert_eq!(read(0, &[]).unwrap(), "deterministic");
        assert_eq!(read(1, &[0, 7, 21]).unwrap(), "member:0");
        assert_eq!(read(11, &[3, 7, 21]).unwrap(), "member:7");
        assert_eq!(read(1, &[255, 0, 51]).unwrap(), "member:0");
        assert!(read(1, &[2, 7, 21]).unwrap_err().contains("negatively perturbed"));
        assert_eq!(read(2, &[0, 21]).unwrap(), "mean");
        assert_eq!(read(12, &[4, 21]).unwrap(), "spread");
        assert_eq!(read(10, &[90]).unwrap(), "percentile:90");
        assert!(read(6, &[101]).unwrap_err().contains("percentile 101"));
        assert_eq!(read(5, &limits(0)).unwrap(), "probability:below:1.5");
        assert_eq!(read(5, &limits(1)).unwrap(), "probability:above:300");
        assert_eq!(read(9, &limits(2)).unwrap(), "probability:between:1.5:300");
        assert_eq!(read(9, &limits(3)).unwrap(), "probability:above:1.5");
        assert_eq!(read(9, &limits(4)).unwrap(), "probability:below:300");
        assert_eq!(read(9, &limits(7)).unwrap(), "probability:near-normal");
        assert!(read(9, &limits(9)).unwrap_err().contains("type of probability 9"));
        let mut none = limits(1);
        none[8] = 255;
        assert!(read(5, &none).unwrap_err().contains("without its limits"));
        assert_eq!(read(7, &[]).unwrap(), "error");
        assert_eq!(read(15, &[2, 0, 9]).unwrap(), "area:2");
        assert!(read(2, &[]).is_err() && read(5, &[0, 1, 1]).is_err());
    }
}
