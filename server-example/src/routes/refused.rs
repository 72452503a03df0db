//! `/reports/refused`: the reports that could not be read, for an operator who is signed in.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use mesonet::Iso8601;
use serde::Serialize;
use utoipa::ToSchema;

use super::keys::json;
use crate::auth::operator::Operator;
use crate::http::error::ApiError;
use crate::openapi::{About, Credentials, Tag};
use crate::routes::Endpoint;
use crate::state::State;
use crate::state::refused::Refused;
use mesonet_service::clock::system_ms;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint {
    method: "GET",
    path: "/reports/refused",
    query: &[],
    body: &[],
    handler: || get(refused),
    about: || {
        About::new("listRefusedReports", Tag::Access, "The reports that could not be read")
            .text(
                "Of the last day, newest first, at most 1000, since the server started. For an \
                 account of the staff, signed in by the header.",
            )
            .credentials(Credentials::Operator)
            .json::<RefusedList>("The reports.")
            .cached("`no-store`")
    },
}];

/// The reports that could not be read.
#[derive(Serialize, ToSchema)]
#[schema(as = RefusedReports)]
struct RefusedList {
    /// Newest first.
    reports: Vec<Entry>,
}

/// A report that could not be read.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RefusedReport)]
struct Entry {
    /// When it came.
    #[schema(value_type = String, format = DateTime)]
    received_at: Iso8601,
    /// The kind of its file, as `feeds` has it.
    kind: &'static str,
    /// The name of the file.
    file: String,
    /// Where it is in the file, and why it was left out.
    reason: String,
    /// The first 1000 bytes of its text; bytes that are no text are replaced.
    text: String,
}

impl From<Refused> for Entry {
    fn from(Refused { received_ms, kind, file, reason, text }: Refused) -> Self {
        Self { received_at: Iso8601(received_ms), kind, file, reason, text }
    }
}

async fn refused(_: Operator, Shared(state): Shared<Arc<State>>) -> Result<Response, ApiError> {
    let reports = state.services.refused.of_last_day(system_ms());
    let list = RefusedList { reports: reports.into_iter().map(Entry::from).collect() };
    json(StatusCode::OK, &list)
}
