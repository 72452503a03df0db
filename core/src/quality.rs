//! Quality codes and their ranking.
//!
//! A verdict is a pair: how far a value can be trusted ([`BaseQuality`]) and why it is not Good
//! ([`ReasonQuality`]). Base codes are ordered from worst to best and stored as `u8` with 0 the
//! worst, so the worst of many codes is their minimum.

use std::fmt;
use std::str::FromStr;

/// How far a value can be trusted, worst first.
///
/// The order of the variants is the ranking: `Suppressed < Missing < … < Good < Unknown`.
/// `Unknown` (not checked) ranks above `Good`, so it never sorts as the worst.
///
/// ```
/// use mesonet::BaseQuality;
/// assert!(BaseQuality::Error < BaseQuality::Doubtful);
/// assert_eq!(BaseQuality::Suppressed as u8, 0);
/// assert_eq!("Good".parse(), Ok(BaseQuality::Good));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub enum BaseQuality {
    /// Withheld by the source.
    Suppressed = 0,
    /// No valid value.
    Missing = 1,
    /// Physically impossible, for example outside the range of the instrument.
    Error = 2,
    /// Possible, but unlikely for the time of year.
    Doubtful = 3,
    /// Disagrees with related values.
    Inconsistent = 4,
    /// Looks like a sensor fault: a stuck reading or an implausible jump.
    Instrumentation = 5,
    /// Passed every check that was run.
    Good = 6,
    /// Not checked; not a failure.
    Unknown = 7,
}

/// Why a value has its base quality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub enum ReasonQuality {
    /// No check tripped.
    None = 0,
    /// There is no value.
    Missing = 1,
    /// The value is not of the variable's type, or is a sentinel.
    ValueType = 2,
    /// Outside the limits of the variable.
    Range = 3,
    /// Stuck: the value did not change for too long.
    Inert = 4,
    /// Changed too fast, in either direction.
    Change = 5,
    /// Fell too fast.
    Decrease = 6,
    /// Rose too fast.
    Increase = 7,
    /// Disagrees with neighbouring stations or related values.
    Disagree = 8,
    /// Greater than a related value that bounds it from above.
    GreaterThan = 9,
    /// Less than a related value that bounds it from below.
    LessThan = 10,
    /// Too far from a related value.
    Difference = 11,
    /// An average outside the extremes of its period.
    AverageInconsistent = 12,
    /// The source gave no reason.
    Unknown = 13,
}

/// A `u8` that is no quality code, or a name that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QualityError {
    /// A number outside the codes.
    #[error("{got} is not a quality code; allowed are 0 ({first}) to {max} ({last})")]
    Code {
        /// The number that was given.
        got: u8,
        /// The greatest code.
        max: u8,
        /// Name of code 0.
        first: &'static str,
        /// Name of the greatest code.
        last: &'static str,
    },
    /// A string that names no code.
    #[error("\"{got}\" is not a quality name; allowed are {allowed}")]
    Name {
        /// The string that was given.
        got: String,
        /// The names that are allowed, comma-separated.
        allowed: String,
    },
}

/// The verdict on one value. It is exactly two bytes, so a column of verdicts is a flat array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub struct Quality {
    /// How far the value can be trusted.
    #[cfg_attr(feature = "serde", serde(rename = "baseQuality"))]
    pub base: BaseQuality,
    /// Why.
    #[cfg_attr(feature = "serde", serde(rename = "reasonQuality"))]
    pub reason: ReasonQuality,
}

impl Quality {
    /// Not checked, and no check tripped.
    pub const UNCHECKED: Self = Self { base: BaseQuality::Unknown, reason: ReasonQuality::None };
    /// Passed every check that was run.
    pub const GOOD: Self = Self { base: BaseQuality::Good, reason: ReasonQuality::None };

    /// The worse of two verdicts; `self` where they rank the same.
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        if other.base < self.base { other } else { self }
    }
}

/// A verdict in one byte, as columns hold it: the base in the high four bits, the reason in the low
/// four. The ranking is that of the bases, so the least of many codes is a worst one.
///
/// ```
/// use mesonet::{BaseQuality, Quality, QualityCode, ReasonQuality};
/// let stuck = Quality { base: BaseQuality::Instrumentation, reason: ReasonQuality::Inert };
/// let code = QualityCode::from(stuck);
/// assert_eq!((code.0, code.quality()), (0x54, stuck));
/// assert!(code < QualityCode::from(Quality::GOOD));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct QualityCode(
    /// The byte.
    pub u8,
);

impl QualityCode {
    /// The verdict. A byte that is no code, which no column of a store holds, is taken for a
    /// verdict that tells nothing: Unknown, with the source giving no reason.
    pub const fn quality(self) -> Quality {
        let (base, reason) = ((self.0 >> 4) as usize, (self.0 & 0x0f) as usize);
        if base < BaseQuality::ALL.len() && reason < ReasonQuality::ALL.len() {
            Quality { base: BaseQuality::ALL[base], reason: ReasonQuality::ALL[reason] }
        } else {
            Quality { base: BaseQuality::Unknown, reason: ReasonQuality::Unknown }
        }
    }
}

impl From<Quality> for QualityCode {
    fn from(quality: Quality) -> Self {
        Self((quality.base as u8) << 4 | quality.reason as u8)
    }
}

impl BaseQuality {
    /// Every code, worst first.
    pub const ALL: [Self; 8] = [
        Self::Suppressed,
        Self::Missing,
        Self::Error,
        Self::Doubtful,
        Self::Inconsistent,
        Self::Instrumentation,
        Self::Good,
        Self::Unknown,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Suppressed => "Suppressed",
            Self::Missing => "Missing",
            Self::Error => "Error",
            Self::Doubtful => "Doubtful",
            Self::Inconsistent => "Inconsistent",
            Self::Instrumentation => "Instrumentation",
            Self::Good => "Good",
            Self::Unknown => "Unknown",
        }
    }
}

impl ReasonQuality {
    /// Every reason, in the order of the codes.
    pub const ALL: [Self; 14] = [
        Self::None,
        Self::Missing,
        Self::ValueType,
        Self::Range,
        Self::Inert,
        Self::Change,
        Self::Decrease,
        Self::Increase,
        Self::Disagree,
        Self::GreaterThan,
        Self::LessThan,
        Self::Difference,
        Self::AverageInconsistent,
        Self::Unknown,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Missing => "Missing",
            Self::ValueType => "ValueType",
            Self::Range => "Range",
            Self::Inert => "Inert",
            Self::Change => "Change",
            Self::Decrease => "Decrease",
            Self::Increase => "Increase",
            Self::Disagree => "Disagree",
            Self::GreaterThan => "GreaterThan",
            Self::LessThan => "LessThan",
            Self::Difference => "Difference",
            Self::AverageInconsistent => "AverageInconsistent",
            Self::Unknown => "Unknown",
        }
    }
}

/// `TryFrom<u8>`, `FromStr` and `Display` are the same for both kinds of code.
macro_rules! code_conversions {
    ($code:ty) => {
        impl TryFrom<u8> for $code {
            type Error = QualityError;
            fn try_from(got: u8) -> Result<Self, QualityError> {
                Self::ALL.get(usize::from(got)).copied().ok_or(QualityError::Code {
                    got,
                    max: (Self::ALL.len() - 1) as u8,
                    first: Self::ALL[0].name(),
                    last: Self::ALL[Self::ALL.len() - 1].name(),
                })
            }
        }

        impl FromStr for $code {
            type Err = QualityError;
            fn from_str(got: &str) -> Result<Self, QualityError> {
                Self::ALL.into_iter().find(|code| code.name() == got).ok_or_else(|| {
                    QualityError::Name {
                        got: got.to_owned(),
                        allowed: Self::ALL.map(<$code>::name).join(", "),
                    }
                })
            }
        }

        impl fmt::Display for $code {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}
code_conversions!(BaseQuality);
code_conversions!(ReasonQuality);

/// The worst of many codes; [`BaseQuality::Unknown`], the best, for none.
///
/// ```
/// use mesonet::{worst, BaseQuality::{Doubtful, Good, Unknown}};
/// assert_eq!(worst(&[Good, Doubtful, Unknown]), Doubtful);
/// assert_eq!(worst(&[]), Unknown);
/// ```
pub fn worst(codes: &[BaseQuality]) -> BaseQuality {
    let min = codes.iter().fold(BaseQuality::Unknown as u8, |min, &code| min.min(code as u8));
    BaseQuality::ALL[usize::from(min)]
}

/// The worst of many codes given as numbers, as arrays of other languages hold them.
///
/// # Errors
/// A number that is no code: [`QualityError::Code`] with the greatest such number.
///
/// ```
/// use mesonet::{worst_code, BaseQuality};
/// assert_eq!(worst_code(&[6, 3, 7]), Ok(BaseQuality::Doubtful));
/// assert_eq!(
///     worst_code(&[6, 9]).unwrap_err().to_string(),
///     "9 is not a quality code; allowed are 0 (Suppressed) to 7 (Unknown)",
/// );
/// ```
pub fn worst_code(codes: &[u8]) -> Result<BaseQuality, QualityError> {
    let best = BaseQuality::Unknown as u8;
    let (min, max) =
        codes.iter().fold((best, 0), |(min, max), &code| (code.min(min), code.max(max)));
    if max > best { BaseQuality::try_from(max) } else { BaseQuality::try_from(min) }
}

/// The distinct codes among many, worst first.
///
/// ```
/// use mesonet::{distinct_worst_first, BaseQuality::{Doubtful, Good}};
/// assert_eq!(distinct_worst_first([Good, Doubtful, Good]), [Doubtful, Good]);
/// ```
pub fn distinct_worst_first(codes: impl IntoIterator<Item = BaseQuality>) -> Vec<BaseQuality> {
    let seen = codes.into_iter().fold(0_u8, |seen, code| seen | 1 << code as u8);
    BaseQuality::ALL.into_iter().filter(|&code| seen & 1 << code as u8 != 0).collect()
}

#[cfg(test)]
#[path = "quality_tests.rs"]
mod tests;
