//! `/mqtt`: the brokers that events are sent to, for an operator who is signed in.

use std::sync::Arc;

use axum::extract::State as Shared;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use mesonet_service::mqtt::MqttStatus;
use serde::Serialize;
use utoipa::ToSchema;

use crate::auth::operator::Operator;
use crate::http::error::ApiError;
use crate::http::snapshot::json_not_stored;
use crate::openapi::{About, Credentials, Tag};
use crate::routes::Endpoint;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint::get("/mqtt", || get(list)).about(|| {
    About::new("listMqttBrokers", Tag::Access, "Where events are sent, and what has arrived")
        .text("For an account of the staff, signed in by the header.")
        .credentials(Credentials::Operator)
        .json::<MqttBrokerList>("The brokers of the settings.")
        .cached("`no-store`")
})];

/// The brokers of the settings.
#[derive(Serialize, ToSchema)]
struct MqttBrokerList {
    brokers: Vec<MqttStatus>,
}

async fn list(_: Operator, Shared(state): Shared<Arc<State>>) -> Result<Response, ApiError> {
    let brokers = state.mqtt.iter().map(|broker| broker.status()).collect();
    json_not_stored(StatusCode::OK, &MqttBrokerList { brokers })
}
