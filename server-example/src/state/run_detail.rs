//! What is told of a model run, in lists and in events.

use mesonet::model::RunStamp;
use mesonet::time::HOUR_MS;
use mesonet::{Iso8601, model};
use serde::Serialize;
use utoipa::ToSchema;

/// The details of a model run.
#[derive(Serialize, ToSchema)]
pub struct RunDetail {
    #[schema(value_type = String)]
    pub run: RunStamp,
    /// When its newest part was published.
    #[serde(rename = "availableAt")]
    #[schema(required = true)]
    available_at: Option<Iso8601>,
    forecast_hours: usize,
    /// The hours of the run, counted from its start.
    forecast_hour_axis: Vec<f64>,
    /// The published hours, as indices into the axis.
    published_hours: Vec<usize>,
    /// Those of them that lack a product or a level, or with a file that broke off.
    partial_hours: Vec<usize>,
    #[schema(required = true)]
    valid_from: Option<Iso8601>,
    #[schema(required = true)]
    valid_to: Option<Iso8601>,
}

impl RunDetail {
    /// The details of a run.
    pub fn new(run: &model::Run) -> Self {
        let definition = run.definition();
        let partial = run.published().iter().filter(|hour| !hour.is_whole());
        let available_ms = run.published().iter().map(|hour| hour.published_ms).max();
        Self {
            run: definition.run,
            available_at: available_ms.map(Iso8601),
            forecast_hours: definition.valid_ms.len(),
            forecast_hour_axis: forecast_hour_axis(run),
            published_hours: run.published().iter().map(|hour| hour.hour).collect(),
            partial_hours: partial.map(|hour| hour.hour).collect(),
            valid_from: definition.valid_ms.first().copied().map(Iso8601),
            valid_to: definition.valid_ms.last().copied().map(Iso8601),
        }
    }
}

/// The hours of a run, counted from its start.
pub fn forecast_hour_axis(run: &model::Run) -> Vec<f64> {
    let start_ms = run.definition().run.start_ms();
    let hours = run.definition().valid_ms.iter();
    hours.map(|valid_ms| (valid_ms - start_ms) as f64 / HOUR_MS as f64).collect()
}
