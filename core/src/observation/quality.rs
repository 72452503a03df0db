//! Quality codes and their ranking.
//!
//! A verdict is a pair: how far a value can be trusted ([`BaseQuality`]) and why it is not Good
//! ([`ReasonQuality`]). Base codes are ordered from worst to best and stored as `u8`, 0 being the
//! worst, so the worst of many codes is their minimum.

use std::fmt;
use std::str::FromStr;

use crate::lengths::check_lengths;

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
/// assert_eq!(BaseQuality::ALL.map(BaseQuality::name)[..2], ["Suppressed", "Missing"]);
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[repr(u8)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = BaseQualityCode))]
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
///
/// ```
/// use mesonet::ReasonQuality;
/// assert_eq!(ReasonQuality::ALL.map(ReasonQuality::name)[3..5], ["Range", "Inert"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[repr(u8)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReasonQualityCode))]
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

/// The error for an invalid quality code or name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QualityError {
    /// A number that is not a code.
    #[error("{got} is not a quality code; allowed are 0 ({first}) to {max} ({last})")]
    Code {
        /// The number that was given.
        got: String,
        /// The greatest code.
        max: u8,
        /// Name of code 0.
        first: &'static str,
        /// Name of the greatest code.
        last: &'static str,
    },
    /// A string that is not the name of a code.
    #[error("\"{got}\" is not a quality name; allowed are {allowed}")]
    Name {
        /// The string that was given.
        got: String,
        /// The names that are allowed, comma-separated.
        allowed: String,
    },
    /// Columns of codes that differ in length, with the length of each.
    #[error("array lengths must match; got {0}")]
    Lengths(String),
}

/// The verdict on a value.
///
/// It is exactly two bytes, so a column of verdicts is a flat array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Quality {
    /// How far the value can be trusted.
    #[serde(rename = "baseQuality")]
    pub base: BaseQuality,
    /// Why.
    #[serde(rename = "reasonQuality")]
    pub reason: ReasonQuality,
}

impl Quality {
    /// Not checked, and no check tripped.
    pub const UNCHECKED: Self = Self { base: BaseQuality::Unknown, reason: ReasonQuality::None };
    /// Passed every check that was run.
    pub const GOOD: Self = Self { base: BaseQuality::Good, reason: ReasonQuality::None };

    /// Returns the codes of the base and the reason.
    ///
    /// ```
    /// use mesonet::Quality;
    /// assert_eq!(Quality::GOOD.codes(), (6, 0));
    /// assert_eq!(Quality::try_from((6, 0)), Ok(Quality::GOOD));
    /// ```
    pub const fn codes(self) -> (u8, u8) {
        (self.base as u8, self.reason as u8)
    }

    /// Returns the verdicts of two columns of codes, base and reason.
    ///
    /// # Errors
    /// If the columns differ in length, or a number is not a code.
    ///
    /// ```
    /// use mesonet::Quality;
    /// assert_eq!(Quality::from_columns(&[6, 7], &[0, 0])?, [Quality::GOOD, Quality::UNCHECKED]);
    /// assert_eq!(
    ///     Quality::from_columns(&[6, 7], &[0]).unwrap_err().to_string(),
    ///     "array lengths must match; got 2 for base codes, 1 for reason codes",
    /// );
    /// # Ok::<(), mesonet::observation::QualityError>(())
    /// ```
    pub fn from_columns(base: &[u8], reason: &[u8]) -> Result<Vec<Self>, QualityError> {
        check_lengths(&[("base codes", base.len()), ("reason codes", reason.len())])
            .map_err(QualityError::Lengths)?;
        base.iter().zip(reason).map(|(&base, &reason)| Self::try_from((base, reason))).collect()
    }

    /// Returns the worse of two verdicts, or `self` if they rank the same.
    ///
    /// ```
    /// use mesonet::{BaseQuality, Quality, ReasonQuality};
    /// let doubtful = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Disagree };
    /// assert_eq!(Quality::GOOD.worse(doubtful), doubtful);
    /// assert_eq!(doubtful.worse(Quality::GOOD), doubtful);
    /// ```
    #[must_use]
    pub fn worse(self, other: Self) -> Self {
        if other.base < self.base { other } else { self }
    }
}

impl TryFrom<(u8, u8)> for Quality {
    type Error = QualityError;
    fn try_from((base, reason): (u8, u8)) -> Result<Self, QualityError> {
        Ok(Self { base: base.try_into()?, reason: reason.try_into()? })
    }
}

/// A verdict in one byte, as columns hold it: the base in the high four bits, the reason in the low
/// four. The bytes rank by base, so the minimum of many bytes has the worst base.
///
/// ```
/// use mesonet::{BaseQuality, Quality, ReasonQuality};
/// use mesonet::observation::QualityCode;
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
    /// Returns the verdict. An invalid byte, which no column of a store holds, counts as Unknown
    /// with an unknown reason.
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

/// `TryFrom`, `FromStr` and `Display` are the same for both kinds of code.
macro_rules! code_conversions {
    ($code:ty: $($number:ty),+) => {
        impl $code {
            /// Returns the error for a number that is not a code, for types that `TryFrom` does
            /// not cover.
            pub fn refused(got: impl fmt::Display) -> QualityError {
                QualityError::Code {
                    got: got.to_string(),
                    max: (Self::ALL.len() - 1) as u8,
                    first: Self::ALL[0].name(),
                    last: Self::ALL[Self::ALL.len() - 1].name(),
                }
            }
        }

        $(impl TryFrom<$number> for $code {
            type Error = QualityError;
            fn try_from(got: $number) -> Result<Self, QualityError> {
                let code = usize::try_from(got).ok().and_then(|code| Self::ALL.get(code));
                code.copied().ok_or_else(|| Self::refused(got))
            }
        })+

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
// Literals are i32 unless something else decides.
code_conversions!(BaseQuality: u8, i32, i64);
code_conversions!(ReasonQuality: u8, i32, i64);

/// Returns the worst of several codes; for no codes, [`BaseQuality::Unknown`], the best.
///
/// ```
/// use mesonet::observation::worst;
/// use mesonet::BaseQuality::{Doubtful, Good, Unknown};
/// assert_eq!(worst(&[Good, Doubtful, Unknown]), Doubtful);
/// assert_eq!(worst(&[]), Unknown);
/// ```
pub fn worst(codes: &[BaseQuality]) -> BaseQuality {
    let min = codes.iter().fold(BaseQuality::Unknown as u8, |min, &code| min.min(code as u8));
    BaseQuality::ALL[usize::from(min)]
}

/// Returns the worst of many codes given as numbers, as in arrays of other languages.
///
/// # Errors
/// A number is not a code: [`QualityError::Code`] with the greatest such number, or with
/// the least if all such numbers are below 0.
///
/// ```
/// use mesonet::observation::worst_code;
/// use mesonet::BaseQuality;
/// assert_eq!(worst_code(&[6, 3, 7]), Ok(BaseQuality::Doubtful));
/// assert_eq!(
///     worst_code(&[6, 9]).unwrap_err().to_string(),
///     "9 is not a quality code; allowed are 0 (Suppressed) to 7 (Unknown)",
/// );
/// ```
pub fn worst_code<N>(codes: &[N]) -> Result<BaseQuality, QualityError>
where
    N: Copy + Ord + From<u8>,
    BaseQuality: TryFrom<N, Error = QualityError>,
{
    let (worst, best) = (N::from(0), N::from(BaseQuality::Unknown as u8));
    let (min, max) =
        codes.iter().fold((best, worst), |(min, max), &code| (code.min(min), code.max(max)));
    if max > best { BaseQuality::try_from(max) } else { BaseQuality::try_from(min) }
}

/// Returns the distinct codes, worst first.
///
/// ```
/// use mesonet::observation::distinct_worst_first;
/// use mesonet::BaseQuality::{Doubtful, Good};
/// assert_eq!(distinct_worst_first([Good, Doubtful, Good]), [Doubtful, Good]);
/// ```
pub fn distinct_worst_first(codes: impl IntoIterator<Item = BaseQuality>) -> Vec<BaseQuality> {
    let seen = codes.into_iter().fold(0_u8, |seen, code| seen | 1 << code as u8);
    BaseQuality::ALL.into_iter().filter(|&code| seen & 1 << code as u8 != 0).collect()
}

/// Returns the distinct codes among many given as numbers, worst first.
///
/// # Errors
/// A number is not a code; the same one is named as by [`worst_code`].
///
/// ```
/// use mesonet::observation::distinct_codes_worst_first;
/// use mesonet::BaseQuality::{Doubtful, Good};
/// assert_eq!(distinct_codes_worst_first(&[6, 3, 6])?, [Doubtful, Good]);
/// # Ok::<(), mesonet::observation::QualityError>(())
/// ```
pub fn distinct_codes_worst_first(codes: &[u8]) -> Result<Vec<BaseQuality>, QualityError> {
    worst_code(codes)?;
    let codes = codes.iter().map(|&code| BaseQuality::try_from(code));
    codes.collect::<Result<Vec<_>, _>>().map(distinct_worst_first)
}

#[cfg(test)]
#[path = "quality_tests.rs"]
mod tests;
