//! What a field is of: section 4.

use std::fmt;
use std::str::FromStr;

use super::GribError;
use super::field::instant;
use super::octets::Octets;
use crate::time::{DAY_MS, HOUR_MS, MINUTE_MS};

/// What a field is of. The numbers of a parameter depend on its discipline, those from 192 on on the
/// centre too.
///
/// ```
/// use mesonet::GribParameter;
/// let parameter: GribParameter = "161:209.3.57".parse().unwrap();
/// assert_eq!((parameter.centre, parameter.number), (161, 57));
/// assert_eq!(parameter.to_string(), "161:209.3.57");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GribParameter {
    /// The centre that made it (common code table C-11).
    pub centre: u16,
    /// The discipline (code table 0.0).
    pub discipline: u8,
    /// The category (code table 4.1).
    pub category: u8,
    /// The number (code table 4.2).
    pub number: u8,
}

/// A text that is no parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{0}\" is no parameter; allowed is centre:discipline.category.number, for example \
     161:209.3.57"
)]
pub struct GribParameterError(pub String);

/// Level, times and statistic of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GribProduct {
    /// Number of its template (code table 4.0).
    pub template: u16,
    /// The level, or the first of the two that a layer lies between.
    pub level: GribLevel,
    /// The second of a layer's.
    pub second_level: Option<GribLevel>,
    /// The time that it is valid at; of a statistic, the end of its interval. Milliseconds since
    /// 1970 (UTC).
    pub valid_ms: i64,
    /// What was computed over an interval (code table 4.10): 0 an average, 1 an accumulation, 2 a
    /// maximum, 3 a minimum. `None` for an instant.
    pub statistic: Option<u8>,
    /// The length of that interval, milliseconds; 0 for an instant.
    pub interval_ms: i64,
}

/// A level (code table 4.5), in the unit of its kind: Pa for 100, m for 102 and 103. Written as
/// `kind:value`, or as `kind` alone where it has no value.
///
/// ```
/// use mesonet::GribLevel;
/// assert_eq!("103:2".parse(), Ok(GribLevel { kind: 103, value: Some(2.0) }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GribLevel {
    /// The kind of level.
    pub kind: u8,
    /// Its value, where the kind has one.
    pub value: Option<f64>,
}

impl fmt::Display for GribParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { centre, discipline, category, number } = self;
        write!(f, "{centre}:{discipline}.{category}.{number}")
    }
}

impl FromStr for GribParameter {
    type Err = GribParameterError;
    fn from_str(text: &str) -> Result<Self, GribParameterError> {
        let parse = || {
            let (centre, numbers) = text.split_once(':')?;
            let mut numbers = numbers.split('.').map(|number| number.parse().ok());
            let parameter = Self {
                centre: centre.parse().ok()?,
                discipline: numbers.next()??,
                category: numbers.next()??,
                number: numbers.next()??,
            };
            // Signs and leading zeros would give one parameter several names.
            (numbers.next().is_none() && parameter.to_string() == text).then_some(parameter)
        };
        parse().ok_or_else(|| GribParameterError(text.to_owned()))
    }
}

/// A text that is no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no level; allowed is kind:value, for example 103:2, or kind")]
pub struct GribLevelError(pub String);

impl FromStr for GribLevel {
    type Err = GribLevelError;
    fn from_str(text: &str) -> Result<Self, GribLevelError> {
        let parse = || {
            let (kind, value) = match text.split_once(':') {
                Some((kind, value)) => (kind, Some(value.parse::<f64>().ok()?)),
                None => (text, None),
            };
            let finite = value.is_none_or(f64::is_finite);
            finite.then_some(Self { kind: kind.parse().ok()?, value })
        };
        parse().ok_or_else(|| GribLevelError(text.to_owned()))
    }
}

impl GribLevel {
    fn read(section: Octets<'_>, octet: usize) -> Result<Option<Self>, GribError> {
        let kind = section.u8(octet)?;
        let value = section.scaled(octet + 1)?;
        Ok((kind != u8::MAX).then_some(Self { kind, value }))
    }
}

impl GribProduct {
    pub(super) fn read(section: Octets<'_>, reference_ms: i64) -> Result<Self, GribError> {
        let template = section.u16(8)?;
        // Where the end of the interval stands, in templates of a statistic over one.
        let end_octet = match template {
            0 | 1 | 2 | 5 | 6 | 7 | 15 => None,
            8 => Some(35),
            9 => Some(48),
            10 => Some(36),
            11 => Some(38),
            12 => Some(37),
            _ => {
                return Err(GribError::Unsupported {
                    what: "product template 4.",
                    got: template.into(),
                    allowed: "0 to 2 and 5 to 12, 15",
                });
            }
        };
        let level = GribLevel::read(section, 23)?;
        let mut product = Self {
            template,
            level: level.unwrap_or(GribLevel { kind: u8::MAX, value: None }),
            second_level: GribLevel::read(section, 29)?,
            valid_ms: later(reference_ms, section.u8(18)?, section.i32(19)?.into())?,
            statistic: None,
            interval_ms: 0,
        };
        let Some(octet) = end_octet else { return Ok(product) };
        let start_ms = product.valid_ms;
        product.valid_ms = instant(section, octet, "the end of the interval")?;
        product.statistic = Some(section.u8(octet + 12)?);
        product.interval_ms = match section.u8(octet + 7)? {
            1 => {
                // Canada's precipitation analysis, whose interval lies before the reference time,
                // writes it as a negative number in two's complement.
                let count = (section.u32(octet + 15)? as i32).unsigned_abs();
                later(0, section.u8(octet + 14)?, count.into())?
            }
            // Intervals within intervals: together they begin at the time of the forecast.
            _ => product.valid_ms - start_ms,
        };
        if product.interval_ms < 0 {
            return Err(GribError::Time("the length of the interval"));
        }
        Ok(product)
    }
}

/// An instant so many units of code table 4.4 after another one.
fn later(instant_ms: i64, unit: u8, count: i64) -> Result<i64, GribError> {
    let unit_ms = match unit {
        0 => MINUTE_MS,
        1 => HOUR_MS,
        2 => DAY_MS,
        10 => 3 * HOUR_MS,
        11 => 6 * HOUR_MS,
        12 => 12 * HOUR_MS,
        13 => 1000,
        got => {
            return Err(GribError::Unsupported {
                what: "unit of time",
                got: got.into(),
                allowed: "0 to 2 (minute, hour, day) and 10 to 13 (3, 6, 12 hours, second)",
            });
        }
    };
    Ok(instant_ms + count * unit_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_has_one_name() {
        for text in ["161:209.3.57", "0:0.0.0", "65535:255.255.255"] {
            assert_eq!(text.parse::<GribParameter>().unwrap().to_string(), text);
        }
        for text in ["", "209.3.57", "161:209.3", "161:209.3.57.1", "161:+2.3.57", "161:02.3.4"] {
            assert!(text.parse::<GribParameter>().is_err(), "{text}");
        }
        assert_eq!(
            "1:2.3.256".parse::<GribParameter>().unwrap_err().to_string(),
            "\"1:2.3.256\" is no parameter; allowed is centre:discipline.category.number, for \
             example 161:209.3.57"
        );
    }

    #[test]
    fn a_level_has_a_kind_and_may_have_a_value() {
        assert_eq!("200".parse(), Ok(GribLevel { kind: 200, value: None }));
        assert_eq!("100:50000".parse(), Ok(GribLevel { kind: 100, value: Some(50_000.0) }));
        for text in ["", "256", "1:", ":1", "1:x", "1:inf", "1:2:3"] {
            assert_eq!(text.parse::<GribLevel>(), Err(GribLevelError(text.to_owned())));
        }
    }

    #[test]
    fn units_of_time() {
        assert_eq!(later(5, 0, -2), Ok(5 - 2 * MINUTE_MS));
        assert_eq!(later(0, 11, 4), Ok(DAY_MS));
        assert_eq!(later(0, 13, 39), Ok(39_000));
        assert!(later(0, 3, 1).unwrap_err().to_string().starts_with("unit of time 3 is not"));
    }
}
