//! The endpoints: one file per resource, each with its `router()`.

mod capabilities;
mod index;
mod readings;
mod stations;
mod units;

use std::io;
use std::sync::Arc;

use axum::Router;

use crate::state::State;

/// The observation service, to be put below its prefix.
pub fn api() -> io::Result<Router<Arc<State>>> {
    Ok(Router::new()
        .merge(capabilities::router())
        .merge(readings::router())
        .merge(stations::router())
        .merge(units::router()?))
}

pub use index::router as index;
