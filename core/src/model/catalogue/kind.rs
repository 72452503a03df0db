//! The kinds of fields that a product takes.

use std::fmt;
use std::str::FromStr;

use crate::grib::{FieldKind, FieldKindError, Product};

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

/// Returns whether the process that made a field (code table 4.3) is one that needs no mention in
/// the catalogue.
///
/// A template of a single forecast may hold something else if its process says so: 3 a forecast
/// after a correction of its bias, 4 one of an ensemble, 6 and 7 errors, 9 a climatology, 18 a
/// difference, 20 and 21 increments. From 192 on, each centre has its own.
pub(super) fn is_usual_process(field: &Product) -> bool {
    match (field.kind, field.process) {
        (_, 255) => true,
        (FieldKind::Deterministic, process) => {
            matches!(process, 0..=2 | 8 | 12..=17 | 22)
        }
        (_, process) => process < 192,
    }
}
