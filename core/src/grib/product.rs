//! The description of a field: section 4.

use chrono::NaiveDate;

use std::fmt;
use std::str::FromStr;

use super::octets::Octets;
use super::{FieldKind, GribError};
use crate::time::{DAY_MS, HOUR_MS, MINUTE_MS};

/// The parameter of a field. Its numbers depend on the discipline, and from 192 on also on the
/// centre.
///
/// ```
/// use mesonet::grib;
/// let parameter: grib::Parameter = "161:209.3.57".parse().unwrap();
/// assert_eq!((parameter.centre, parameter.number), (161, 57));
/// assert_eq!(parameter.to_string(), "161:209.3.57");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Parameter {
    /// The centre that produced it (common code table C-11).
    pub centre: u16,
    /// The discipline (code table 0.0).
    pub discipline: u8,
    /// The category (code table 4.1).
    pub category: u8,
    /// The number (code table 4.2).
    pub number: u8,
}

/// The error for a text that is not a parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid parameter \"{0}\": it must be centre:discipline.category.number, for example \
     161:209.3.57"
)]
pub struct GribParameterError(pub String);

/// The kind of a field, its level, times and statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProductSection {
    /// The number of its template (code table 4.0).
    pub template: u16,
    /// The kind: one forecast, a member of an ensemble, a mean, a probability and so on.
    pub kind: FieldKind,
    /// The type of the process that made it (code table 4.3): 0 an analysis, 2 a forecast.
    pub process: u8,
    /// The chemical constituent (code table 4.230), in templates for constituents.
    pub constituent: Option<u16>,
    /// The level, or the first of the two levels that bound a layer.
    pub level: Level,
    /// The second level of a layer.
    pub second_level: Option<Level>,
    /// The valid time; for a statistic, the end of its interval. Milliseconds since 1970 (UTC).
    pub valid_ms: i64,
    /// How the values of an interval were combined (code table 4.10): 0 an average, 1 an
    /// accumulation, 2 a maximum, 3 a minimum. `None` for an instant.
    pub statistic: Option<u8>,
    /// The length of that interval in milliseconds; 0 for an instant.
    pub interval_ms: i64,
    /// A digest of the rest of its definition: the processes that made it, the number of members,
    /// how its times were chosen. Two fields that differ in any of this are not the same field.
    pub rest: u64,
}

/// A level (code table 4.5), in the unit of its kind: Pa for 100, m for 102 and 103. Written as
/// `kind:value`, or as `kind` alone if it has no value.
///
/// ```
/// use mesonet::grib;
/// let two_metres = grib::Level { kind: 103, value: Some(2.0) };
/// assert_eq!("103:2".parse(), Ok(two_metres));
/// assert_eq!(two_metres.to_string(), "103:2");
/// assert_eq!("2 m".parse::<grib::Level>(), Err(grib::GribLevelError("2 m".to_owned())));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The kind of level.
    pub kind: u8,
    /// Its value, if the kind has one.
    pub value: Option<f64>,
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { centre, discipline, category, number } = self;
        write!(f, "{centre}:{discipline}.{category}.{number}")
    }
}

impl FromStr for Parameter {
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
            // Signs and leading zeros would give one parameter several spellings.
            (numbers.next().is_none() && parameter.to_string() == text).then_some(parameter)
        };
        parse().ok_or_else(|| GribParameterError(text.to_owned()))
    }
}

/// The error for a text that is not a level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid level \"{0}\": it must be kind or kind:value, for example 103:2")]
pub struct GribLevelError(pub String);

impl FromStr for Level {
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

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        self.value.map_or(Ok(()), |value| write!(f, ":{value}"))
    }
}

impl Level {
    fn read(section: Octets<'_>, octet: usize) -> Result<Option<Self>, GribError> {
        let kind = section.u8(octet)?;
        let value = section.scaled(octet + 1)?;
        Ok((kind != u8::MAX).then_some(Self { kind, value }))
    }
}

/// The number of octets by which a constituent shifts the part after the parameter.
const CONSTITUENT: usize = 2;

/// The positions, in a template, of the parts that all templates have.
struct TemplateLayout {
    /// The number of octets between the parameter and the type of the process.
    shift: usize,
    /// The position of the end of the interval, in templates of statistics.
    end_octet: Option<usize>,
}

impl TemplateLayout {
    fn of(template: u16) -> Result<Self, GribError> {
        let (shift, end_octet) = match template {
            0 | 1 | 2 | 5 | 6 | 7 | 15 | 60 => (0, None),
            8 => (0, Some(35)),
            9 => (0, Some(48)),
            10 => (0, Some(36)),
            11 => (0, Some(38)),
            12 => (0, Some(37)),
            61 => (0, Some(45)),
            40 | 41 => (CONSTITUENT, None),
            42 => (CONSTITUENT, Some(37)),
            43 => (CONSTITUENT, Some(40)),
            _ => {
                return Err(GribError::Unsupported {
                    what: name_of(template),
                    got: template.into(),
                    allowed: "0 to 2, 5 to 12, 15, 40 to 43, 60, 61",
                });
            }
        };
        Ok(Self { shift, end_octet })
    }
}

/// The purpose of a template that is not read.
fn name_of(template: u16) -> &'static str {
    match template {
        3 | 4 | 13 | 14 => "product template (a cluster of an ensemble)",
        20 => "product template (radar)",
        30 | 31 => "product template (satellite)",
        32..=34 => "product template (simulated satellite)",
        35 => "product template (satellite, with a quality value)",
        44..=50 | 80..=85 => "product template (aerosol)",
        51 | 91 => "product template (categories)",
        53 | 54 => "product template (partitioned parameter)",
        55 | 56 | 59 | 62 | 63 => "product template (tiles)",
        57 | 58 | 67 | 68 => "product template (particles, or distributed constituents)",
        70..=73 => "product template (post-processed)",
        76..=79 => "product template (constituent with a source or sink)",
        254 => "product template (text)",
        1000..=1101 => "product template (cross-section)",
        _ => "product template",
    }
}

impl ProductSection {
    /// Returns how the values of the interval were combined, in words (code table 4.10); `None` for
    /// an instant, and for a code without a name here.
    ///
    /// ```
    /// # let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/nam211_20180917T00Z_f000_181msg.grib2");
    /// use mesonet::grib;
    /// let bytes = std::fs::read(sample)?;
    /// let products = grib::fields(&bytes).flatten().map(|field| field.product());
    /// let names: Vec<_> = products.flatten().filter_map(|product| product.statistic_name()).collect();
    /// assert!(names.iter().all(|name| ["accumulation", "maximum", "minimum"].contains(name)));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn statistic_name(&self) -> Option<&'static str> {
        let names = [
            "average",
            "accumulation",
            "maximum",
            "minimum",
            "difference",
            "root mean square",
            "standard deviation",
            "covariance",
            "difference from the end",
            "ratio",
            "standardized anomaly",
            "summation",
        ];
        names.get(usize::from(self.statistic?)).copied()
    }

    pub(super) fn read(section: Octets<'_>, reference_ms: i64) -> Result<Self, GribError> {
        let template = section.u16(8)?;
        let TemplateLayout { shift, end_octet } = TemplateLayout::of(template)?;
        let level = Level::read(section, shift + 23)?;
        let count = section.i32(shift + 19)?;
        let mut product = Self {
            template,
            kind: FieldKind::read(template, section, shift + 35)?,
            process: section.u8(shift + 12)?,
            constituent: if shift == CONSTITUENT { Some(section.u16(12)?) } else { None },
            level: level.unwrap_or(Level { kind: u8::MAX, value: None }),
            second_level: Level::read(section, shift + 29)?,
            valid_ms: later(reference_ms, section.u8(shift + 18)?, count.into())?,
            statistic: None,
            interval_ms: 0,
            rest: rest(section, template, shift, end_octet),
        };
        let Some(octet) = end_octet else { return Ok(product) };
        let start_ms = product.valid_ms;
        product.valid_ms = instant(section, octet, "the end of the interval")?;
        product.statistic = Some(section.u8(octet + 12)?);
        product.interval_ms = match section.u8(octet + 7)? {
            1 => {
                // In Canada's precipitation analysis the interval lies before the reference time;
                // it writes the forecast time as a negative number in two's complement.
                let count = (section.u32(octet + 15)? as i32).unsigned_abs();
                later(0, section.u8(octet + 14)?, count.into())?
            }
            // Nested intervals together begin at the forecast time.
            _ => product.valid_ms - start_ms,
        };
        if product.interval_ms < 0 {
            return Err(GribError::Time("the length of the interval"));
        }
        // A field whose forecast time is not the start of its interval differs from one whose
        // forecast time is.
        let ahead_ms = product.valid_ms - product.interval_ms - start_ms;
        product.rest ^= ahead_ms.cast_unsigned();
        Ok(product)
    }
}

/// A digest (FNV-1a) of the octets of a definition that no other member of a [`ProductSection`] states.
fn rest(section: Octets<'_>, template: u16, shift: usize, end_octet: Option<usize>) -> u64 {
    // Number of the octet, and how many octets from it on.
    let mut stated: Vec<(usize, usize)> = vec![(1, 5), (10, shift + 3), (shift + 18, 5)];
    for level in [shift + 23, shift + 29] {
        stated.push((level, 1));
        // A scale without a value, or with the value 0, may be any.
        let has_kind = section.u8(level).is_ok_and(|kind| kind != u8::MAX);
        if has_kind
            && section.scaled(level + 1).is_ok_and(|value| value.is_some_and(|of| of != 0.0))
        {
            stated.push((level + 1, 5));
        }
    }
    let kind = shift + 35;
    match template {
        1 | 11 | 41 | 43 | 60 | 61 => match section.u8(kind) {
            // The control and the other members belong to one ensemble.
            Ok(1) => stated.push((kind, 1)),
            Ok(3) => stated.push((kind, 2)),
            Ok(0) | Err(_) => {}
            Ok(_) => stated.push((kind + 1, 1)),
        },
        2 | 6 | 10 | 12 | 15 => stated.push((kind, 1)),
        _ => {}
    }
    if let Some(end) = end_octet {
        // The end of the interval, the statistic, the unit and the length of the interval.
        stated.extend([(end, 7), (end + 12, 1), (end + 14, 5)]);
    }
    let is_stated =
        |octet: usize| stated.iter().any(|&(first, count)| (first..first + count).contains(&octet));
    let octets = section.bytes.iter().zip(1..).filter(|&(_, octet)| !is_stated(octet));
    octets.fold(0xcbf2_9ce4_8422_2325, |digest, (&byte, _)| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A time in seven octets: year (2), month, day, hour, minute, second.
pub(super) fn instant(
    octets: Octets<'_>,
    octet: usize,
    what: &'static str,
) -> Result<i64, GribError> {
    let year = i32::from(octets.u16(octet)?);
    let mut parts = [0; 5];
    for (index, part) in parts.iter_mut().enumerate() {
        *part = u32::from(octets.u8(octet + 2 + index)?);
    }
    let [month, day, hour, minute, second] = parts;
    NaiveDate::from_ymd_opt(year, month, day)
        .and_then(|date| date.and_hms_opt(hour, minute, second))
        .map(|time| time.and_utc().timestamp_millis())
        .ok_or(GribError::Time(what))
}

/// Returns the instant this many units of code table 4.4 after another one.
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
                allowed: "0 to 2 (minute, hour, day), 10 to 13 (3, 6, 12 hours, second)",
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
            assert_eq!(text.parse::<Parameter>().unwrap().to_string(), text);
        }
        for text in ["", "209.3.57", "161:209.3", "161:209.3.57.1", "161:+2.3.57", "161:02.3.4"] {
            assert!(text.parse::<Parameter>().is_err(), "{text}");
        }
        assert_eq!(
            "1:2.3.256".parse::<Parameter>().unwrap_err().to_string(),
            "invalid parameter \"1:2.3.256\": it must be centre:discipline.category.number, for \
             example 161:209.3.57"
        );
    }

    #[test]
    fn a_level_has_a_kind_and_may_have_a_value() {
        assert_eq!("200".parse(), Ok(Level { kind: 200, value: None }));
        assert_eq!("100:50000".parse(), Ok(Level { kind: 100, value: Some(50_000.0) }));
        for text in ["", "256", "1:", ":1", "1:x", "1:inf", "1:2:3"] {
            assert_eq!(text.parse::<Level>(), Err(GribLevelError(text.to_owned())));
        }
    }

    #[test]
    fn units_of_time() {
        assert_eq!(later(5, 0, -2), Ok(5 - 2 * MINUTE_MS));
        assert_eq!(later(0, 11, 4), Ok(DAY_MS));
        assert_eq!(later(0, 13, 39), Ok(39_000));
        assert!(later(0, 3, 1).unwrap_err().to_string().starts_with("unsupported unit of time 3;"));
    }
}
