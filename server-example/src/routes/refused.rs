//! `/reports/refused`: the reports that could not be read, for an operator who is signed in.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::operator::Operator;
use crate::http::error::ApiError;
use crate::http::snapshot::json_not_stored;
use crate::openapi::{About, Credentials, Tag};
use crate::routes::Endpoint;
use crate::state::State;
use mesonet_service::clock::system_ms;
use mesonet_service::ingest::refused::Refused;

pub const ENDPOINTS: &[Endpoint] =
    &[Endpoint::get("/reports/refused", || get(refused)).about(|| {
        About::new("listRefusedReports", Tag::Access, "The reports that could not be read")
            .text(
                "Of the last day, newest first, at most 1000. For an \
                 account of the staff, signed in by the header.",
            )
            .credentials(Credentials::Operator)
            .json::<RefusedList>("The reports.")
            .cached("`no-store`")
    })];

/// The reports that could not be read.
#[derive(Serialize, ToSchema)]
#[schema(as = RefusedReports)]
struct RefusedList {
    /// Newest first.
    reports: Vec<Refused>,
}

async fn refused(_: Operator, Shared(state): Shared<Arc<State>>) -> Result<Response, ApiError> {
    let listed = |state: &State| state.services.refused.of_last_day(system_ms());
    let reports = state.look_up(listed).await?.map_err(ApiError::internal)?;
    json_not_stored(StatusCode::OK, &RefusedList { reports })
}
