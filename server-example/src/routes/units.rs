//! `/observations/units`: the canonical unit of each variable.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use axum::Router;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use mesonet::Variable;

use crate::snapshot::Snapshot;
use crate::state::State;

/// The units are constant, so their body is made here and once.
pub fn router() -> io::Result<Router<Arc<State>>> {
    let units: BTreeMap<&str, &str> =
        Variable::ALL.iter().map(|variable| (variable.name(), variable.unit().symbol())).collect();
    let units = Snapshot::new(serde_json::to_vec(&units)?, "public, max-age=3600")?;
    let answer = async move |headers: HeaderMap| -> Response { units.answer(&headers) };
    Ok(Router::new().route("/observations/units", get(answer)))
}
