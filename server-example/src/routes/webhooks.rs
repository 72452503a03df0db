//! `/webhooks`: where alerts are sent, for an operator who is signed in.

use std::sync::Arc;
use std::thread;

use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use mesonet_service::webhooks::{WebhookAttempt, WebhookStatus};
use serde::Serialize;
use tokio::sync::oneshot;
use utoipa::ToSchema;

use crate::auth::operator::Operator;
use crate::http::error::ApiError;
use crate::http::parameter::{Form, Parameter};
use crate::http::snapshot::json_not_stored;
use crate::openapi::{About, Common, Credentials, Tag};
use crate::routes::Endpoint;
use crate::state::State;

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/webhooks", || get(list)).about(|| {
            About::new("listWebhooks", Tag::Access, "Where alerts are sent, and what has arrived")
                .text("For an account of the staff, signed in by the header.")
                .credentials(Credentials::Operator)
                .json::<WebhookList>("The webhooks of the settings.")
                .cached("`no-store`")
        }),
    Endpoint::post("/webhooks/{name}/test", || post(test)).about(|| {
            About::new("testWebhook", Tag::Access, "Sends a test to a webhook")
                .text(
                    "For an account of the staff, signed in by the header. The test has the type `test` \
                     and is signed as alerts are. The answer waits for the receiver.",
                )
                .credentials(Credentials::Operator)
                .path(&[Parameter::new("name", Form::Text(64), "Name of the webhook.")
                    .example("river-desk")])
                .json::<WebhookAttempt>("What became of it.")
                .with(Common::NotFound)
                .cached("`no-store`")
        }),
];

/// The webhooks of the settings.
#[derive(Serialize, ToSchema)]
struct WebhookList {
    webhooks: Vec<WebhookStatus>,
}

async fn list(_: Operator, Shared(state): Shared<Arc<State>>) -> Result<Response, ApiError> {
    let webhooks = state.webhooks.iter().map(|webhook| webhook.status()).collect();
    json_not_stored(StatusCode::OK, &WebhookList { webhooks })
}

async fn test(
    Operator(subject): Operator,
    Shared(state): Shared<Arc<State>>,
    Path(name): Path<String>,
) -> Result<Response, ApiError> {
    let webhook = state.webhooks.iter().find(|webhook| webhook.config().name == name);
    let Some(webhook) = webhook.cloned() else {
        let name: String = name.chars().take(80).collect();
        return Err(ApiError::NotFound(format!("no webhook has the name \"{name}\"")));
    };
    tracing::info!("webhook {name} is tested by {}", subject.as_deref().unwrap_or("staff"));
    // Not on a thread of the requests: the receiver may hang.
    let (send, attempt) = oneshot::channel();
    let run = move || drop(send.send(webhook.test()));
    thread::Builder::new().name("webhook".to_owned()).spawn(run).map_err(ApiError::internal)?;
    json_not_stored(StatusCode::OK, &attempt.await.map_err(ApiError::internal)?)
}
