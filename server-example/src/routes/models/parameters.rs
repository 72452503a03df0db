//! Parameters that several endpoints of models have. Examples are of the sample.

use crate::http::parameter::{Form, Parameter};

const INDEX: Form = Form::Whole(0, i32::MAX as i64);

pub const MODEL: Parameter =
    Parameter::new("model", Form::Text(64), "Name of the model.").example("nam211");

pub const RUN: Parameter = Parameter::new(
    "run",
    Form::Matching("^(latest|[0-9]{8}T[0-9]{6}Z)$"),
    "A run of /runs, or `latest`.",
)
.example("20180917T000000Z");

pub const VALID: Parameter = Parameter::new(
    "valid",
    Form::Instant,
    "A valid time in place of `hour`; without `run`, of the newest run that has it.",
);

pub const HOUR: Parameter =
    Parameter::new("hour", INDEX, "Index into the hours of the run.").example("0");

pub const ROW: Parameter =
    Parameter::new("row", INDEX, "Row of the native grid, from 0.").example("40");

pub const COL: Parameter =
    Parameter::new("col", INDEX, "Column of the native grid, from 0.").example("20");

pub const LAT: Parameter =
    Parameter::new("lat", Form::Number(-90.0, 90.0), "With `lon`, in place of `row` and `col`.");

pub const LON: Parameter =
    Parameter::new("lon", Form::Number(-180.0, 360.0), "With `lat`, in place of `row` and `col`.");

pub const FIELDS: Parameter = Parameter::new(
    "fields",
    Form::List("^[^,]+$", 1, None),
    "Names of products, comma-separated, at most 1,024 different ones.",
)
.required()
.example("pressure_msl,temperature");

pub const LEVEL: Parameter =
    Parameter::new("level", INDEX, "Index into levels_hpa of a product that has levels.");

pub const LEVEL_HPA: Parameter = Parameter::new(
    "level_hpa",
    Form::Number(0.0, 2000.0),
    "The pressure of a level, in place of `level`.",
);

pub const MEMBER: Parameter =
    Parameter::new("member", Form::Whole(0, 255), "Member of an ensemble; 0 is the control.");

pub const WINDS: Parameter = Parameter::new(
    "winds",
    Form::OneOf(&["grid", "earth"]),
    "Directions of the components of winds: those of the grid, or east and north.",
)
.default("grid");

/// How long answers of a run may be kept.
pub const LASTING: &str = "A year for what cannot change, else `no-cache`; `private` where not \
     everyone may have it.";
