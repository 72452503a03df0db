//! Parameters that choose the form of an answer: units, local times, the format.

use std::sync::Arc;

use axum::http::HeaderMap;
use mesonet::Variable;
use mesonet::query::{AnswerClock, AnswerForm, AnswerUnits, UnitSystem};
use mesonet::time::LocalClock;

use crate::http::error::ApiError;
use crate::http::extract::{Query, accepted_media_type};
use crate::http::parameter::{Form, Parameter, UNIT_PREFIX};
use crate::state::State;

/// The units of values. These parameters have no examples: the example of a request is of the default.
pub const UNITS: Parameter = Parameter::new(
    "units",
    Form::OneOf(&["metric", "us", "si"]),
    "Units of the values: `metric` is that of the record, `us` °F, mph, inHg, in, mi and ft, `si` K, m/s, \
     Pa and m. The answer then names each unit.",
);

/// The unit of one variable.
pub const UNIT_OF: Parameter = Parameter::new(
    "unit",
    Form::Units,
    "The unit of one variable, over those of `units`: `unit.airTemperature=°F`.",
);

/// The zone of local times.
pub const TZ: Parameter = Parameter::new(
    "tz",
    Form::Matching("^[A-Za-z][A-Za-z0-9_+/-]{0,63}$"),
    "Local times beside UTC, with their offset: of each station with `local`, or of a zone of the tz \
     database.",
);

/// Units and local times.
pub const FORM: [Parameter; 3] = [UNITS, UNIT_OF, TZ];

/// A zone that is that of each station.
const LOCAL: &str = "local";

/// The form that a request asks for.
#[derive(Default)]
pub struct RequestedForm {
    units: Option<AnswerUnits>,
    zone: Option<Zone>,
}

enum Zone {
    Named(Arc<LocalClock>),
    OfStations,
}

impl RequestedForm {
    /// Reads the parameters.
    ///
    /// # Errors
    /// 400: one is invalid, or is repeated.
    pub fn of(state: &State, query: &Query) -> Result<Self, ApiError> {
        let zone = match query.one("tz")? {
            None => None,
            Some(LOCAL) => Some(Zone::OfStations),
            // An unescaped + arrives as a space.
            Some(name) => {
                let clock = state.time_zones.clock(&name.replace(' ', "+")).ok_or_else(|| {
                    ApiError::BadRequest(format!(
                        "\"{name}\" is no zone of the tz database; allowed are {LOCAL}, and names \
                         such as America/Toronto"
                    ))
                })?;
                Some(Zone::Named(clock))
            }
        };
        Ok(Self { units: units(query)?, zone })
    }

    /// Whether the answer is as by default.
    pub fn is_empty(&self) -> bool {
        self.units.is_none() && self.zone.is_none()
    }

    /// The form. The zones of stations may take a moment to find.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn form(self, state: &State) -> Result<AnswerForm, ApiError> {
        let clock = match self.zone {
            None => None,
            Some(Zone::Named(clock)) => Some(AnswerClock::Same(clock)),
            Some(Zone::OfStations) => {
                let directory = state.services.store.directory()?;
                Some(AnswerClock::OfStations(state.time_zones.of_stations(&directory)))
            }
        };
        Ok(AnswerForm { units: self.units, clock })
    }
}

/// Reads the units; `None` if there is no word of them.
///
/// # Errors
/// 400: a name of units, a variable or a unit is unknown, or the unit is not one of the variable.
pub fn units(query: &Query) -> Result<Option<AnswerUnits>, ApiError> {
    if query.all(UNIT_OF.name).next().is_some() {
        return Err(ApiError::BadRequest(
            "unknown parameter \"unit\"; units of all variables are given by units, that of one by \
             its name: unit.airTemperature"
                .to_owned(),
        ));
    }
    let system: Option<UnitSystem> = query.read(UNITS.name, str::parse)?;
    let mut units = system.map(AnswerUnits::of);
    for (name, unit) in query.after(UNIT_PREFIX)? {
        let variable: Variable = name.parse()?;
        let all = units.unwrap_or_else(|| AnswerUnits::of(UnitSystem::Metric));
        units = Some(all.with(variable, unit)?);
    }
    Ok(units)
}

/// A format of an answer: its name and its media type.
pub type Format = (&'static str, &'static str);

/// Returns the index of the format that is asked for: by `format`, else by the header `Accept`, else
/// the first.
///
/// # Errors
/// 400: `format` names none of them, or is repeated.
pub fn format(query: &Query, headers: &HeaderMap, offered: &[Format]) -> Result<usize, ApiError> {
    let Some(asked) = query.one("format")? else {
        let types: Vec<&str> = offered.iter().map(|(_, media_type)| *media_type).collect();
        return Ok(accepted_media_type(headers, &types));
    };
    offered.iter().position(|(name, _)| *name == asked).ok_or_else(|| {
        let names: Vec<&str> = offered.iter().map(|(name, _)| *name).collect();
        let names = names.join(", ");
        ApiError::BadRequest(format!("unknown format \"{asked}\"; allowed are {names}"))
    })
}
