//! The kinds of fields that a product takes.

use std::fmt;
use std::str::FromStr;

use crate::grib::{FieldKind, FieldKindError, GribLevelError, Level, ProductSection};

/// The kind of fields that a product takes: one kind, or all members of an ensemble.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TakenKind {
    One(FieldKind),
    Members,
}

impl Default for TakenKind {
    fn default() -> Self {
        Self::One(FieldKind::Deterministic)
    }
}

impl FromStr for TakenKind {
    type Err = FieldKindError;
    fn from_str(text: &str) -> Result<Self, FieldKindError> {
        if text == "member" { Ok(Self::Members) } else { text.parse().map(Self::One) }
    }
}

impl fmt::Display for TakenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Members => f.write_str("member"),
            Self::One(kind) => kind.fmt(f),
        }
    }
}

impl TakenKind {
    pub(super) fn takes(self, kind: FieldKind) -> bool {
        match self {
            Self::One(own) => own == kind,
            Self::Members => matches!(kind, FieldKind::Member(_)),
        }
    }
}

/// The level of a product: `100:50000`, `1` for any value of its kind, and `1:none` for none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TakenLevel {
    pub level: Level,
    /// Whether a field may have no value.
    pub has_no_value: bool,
}

impl FromStr for TakenLevel {
    type Err = GribLevelError;
    fn from_str(text: &str) -> Result<Self, GribLevelError> {
        let kind = text.strip_suffix(":none");
        let level = kind.unwrap_or(text).parse()?;
        Ok(Self { level, has_no_value: kind.is_some() })
    }
}

/// The second level of a product: that of a layer, `none` for a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SecondLevel(pub Option<Level>);

impl FromStr for SecondLevel {
    type Err = GribLevelError;
    fn from_str(text: &str) -> Result<Self, GribLevelError> {
        if text == "none" { Ok(Self(None)) } else { text.parse().map(|level| Self(Some(level))) }
    }
}

/// The digest of the rest of the definition of the fields, 16 hexadecimal figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DefinitionDigest(pub u64);

/// The error for a text that is not such a digest.
#[derive(Debug, thiserror::Error)]
#[error("invalid rest \"{0}\": it must be 16 figures of base 16, as written when a model is made")]
pub(super) struct RestError(String);

impl FromStr for DefinitionDigest {
    type Err = RestError;
    fn from_str(text: &str) -> Result<Self, RestError> {
        let is_digest = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let digest = u64::from_str_radix(text, 16).ok().filter(|_| is_digest);
        digest.map(Self).ok_or_else(|| RestError(text.chars().take(40).collect()))
    }
}

impl fmt::Display for DefinitionDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Returns whether the process that made a field (code table 4.3) needs no mention in the
/// catalogue.
///
/// The template of a single forecast may hold something else if its process says so: 3 is a
/// bias-corrected forecast, 4 an ensemble forecast, 6 and 7 are errors, 9 is a climatology, 18 a
/// difference, 20 and 21 are increments. From 192 on, each centre has its own processes.
pub(super) fn is_usual_process(field: &ProductSection) -> bool {
    match (field.kind, field.process) {
        (_, 255) => true,
        (FieldKind::Deterministic, process) => {
            matches!(process, 0..=2 | 8 | 12..=17 | 22)
        }
        (_, process) => process < 192,
    }
}
