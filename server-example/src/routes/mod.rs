//! The endpoints: one file per resource, each with its `router()`.

mod alerts;
mod bulk;
mod capabilities;
mod explain;
mod index;
mod models;
mod products;
mod quality;
mod readings;
mod series;
mod stations;
mod units;
mod zones;

use std::sync::Arc;

use axum::Router;

pub use bulk::HEADERS as BULK_HEADERS;
pub use index::router as index;
pub use models::router as models;
pub use quality::check_length as check_quality_window;
pub use zones::GEOGRAPHY;

use crate::state::State;

/// The observation service, to be mounted at its prefix.
pub fn api() -> Router<Arc<State>> {
    Router::new()
        .merge(alerts::router())
        .merge(bulk::router())
        .merge(capabilities::router())
        .merge(explain::router())
        .merge(products::router())
        .merge(quality::router())
        .merge(readings::router())
        .merge(series::router())
        .merge(stations::router())
        .merge(units::router())
        .merge(zones::router())
}
