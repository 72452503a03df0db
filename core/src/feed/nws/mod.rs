//! Feeds of the United States' National Weather Service, api.weather.gov.

pub(super) mod alerts;
pub(super) mod observation;
mod pressure;
