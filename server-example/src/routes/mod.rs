//! The endpoints: one file per resource, each with its `ENDPOINTS`.

mod alerts;
mod bulk;
mod capabilities;
mod explain;
mod explorer;
mod feeds;
mod filter;
mod form;
mod health;
mod index;
mod keys;
mod live;
#[cfg(feature = "mqtt")]
pub mod live_filter;
mod models;
mod mqtt;
mod page;
mod parameters;
mod products;
pub mod push;
mod quality;
mod readings;
mod refused;
mod reports;
mod series;
mod stations;
mod summary;
mod units;
mod weather;
mod webhooks;
mod window;
mod zones;

use std::sync::Arc;

pub use quality::check_length as check_quality_window;
pub use summary::standard_offset;

use utoipa::openapi::OpenApi;

use crate::openapi;
use crate::state::State;

/// An endpoint of this server.
pub type Endpoint = openapi::Endpoint<Arc<State>>;

/// The endpoints of the observation service that must begin their answer within a time limit.
pub const OBSERVATIONS: [&[Endpoint]; 20] = [
    alerts::ENDPOINTS,
    zones::ENDPOINTS,
    capabilities::ENDPOINTS,
    keys::ENDPOINTS,
    bulk::ENDPOINTS,
    explain::ENDPOINTS,
    series::ENDPOINTS,
    weather::ENDPOINTS,
    reports::ENDPOINTS,
    refused::ENDPOINTS,
    quality::ENDPOINTS,
    units::ENDPOINTS,
    feeds::ENDPOINTS,
    products::ENDPOINTS,
    stations::ENDPOINTS,
    summary::ENDPOINTS,
    readings::ENDPOINTS,
    live::ENDPOINTS,
    webhooks::ENDPOINTS,
    mqtt::ENDPOINTS,
];

/// The endpoints of the model service.
pub const MODELS: [&[Endpoint]; 8] = models::ENDPOINTS;

/// The endpoints for pushing files, under the prefix of the observation service.
pub const PUSHES: &[Endpoint] = push::ENDPOINTS;

/// The endpoints of the server itself, without a prefix.
pub const SERVER: [&[Endpoint]; 4] =
    [health::ENDPOINTS, explorer::ENDPOINTS, index::ENDPOINTS, page::ENDPOINTS];

/// The health endpoints.
pub const HEALTH: &[Endpoint] = health::ENDPOINTS;

/// Every endpoint of the server with its prefix.
pub fn all<'a>(
    api_prefix: &'a str,
    model_prefix: &'a str,
) -> impl Iterator<Item = (&'a str, &'static Endpoint)> {
    let under = |prefix: &'a str| move |endpoint: &'static Endpoint| (prefix, endpoint);
    let server = SERVER.into_iter().flatten().map(under(""));
    let pushes = PUSHES.iter().map(under(api_prefix));
    let observations = OBSERVATIONS.into_iter().flatten().map(under(api_prefix));
    let models = MODELS.into_iter().flatten().map(under(model_prefix));
    observations.chain(pushes).chain(models).chain(server)
}

/// Describes the service under its prefixes.
pub fn description(api_prefix: &str, model_prefix: &str) -> OpenApi {
    openapi::description(all(api_prefix, model_prefix))
}

#[cfg(test)]
#[path = "description_tests.rs"]
mod tests;
