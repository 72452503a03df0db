//! `/keys`: API keys, for an operator who is signed in.

use std::sync::Arc;

use axum::extract::{Path, State as Shared};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::auth::operator::Operator;
use crate::http::error::ApiError;
use crate::http::extract::JsonBody;
use crate::http::member::{Member, MemberKind};
use crate::http::parameter::{Form, Parameter};
use crate::http::snapshot::json_not_stored;
use crate::openapi::{About, Credentials, Tag};
use crate::routes::Endpoint;
use crate::state::State;
use mesonet_service::clock::system_ms;
use mesonet_service::keys::{KeyEntry, KeyRecord, KeysError, Validity};

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/keys", || get(list)).about(|| {
        About::new("listKeys", Tag::Access, "The API keys")
            .text("For an account of the staff, signed in by the header.")
            .credentials(Credentials::Operator)
            .json::<KeyList>("The keys, without their texts.")
            .cached("`no-store`")
    }),
    Endpoint::post("/keys", || post(issue))
        .body(&[
            Member::required("label", MemberKind::Text),
            Member::new("expires", MemberKind::Text),
        ])
        .about(|| {
            About::new("issueKey", Tag::Access, "Issues an API key")
                .text("For an account of the staff, signed in by the header.")
                .credentials(Credentials::Operator)
                .json_body::<Wanted>(serde_json::json!({
                    "label": "City of Toronto",
                    "expires": "year",
                }))
                .json_with_status::<Issued>("201", "The key, which is shown only here.")
                .cached("`no-store`")
        }),
    Endpoint::post("/keys/{id}/revoke", || post(revoke)).about(|| {
        About::new("revokeKey", Tag::Access, "Revokes an API key")
            .text("For an account of the staff, signed in by the header.")
            .credentials(Credentials::Operator)
            .path(&[Parameter::new("id", Form::Text(40), "Id of the key.")])
            .json::<KeyEntry>("The key, now revoked.")
            .cached("`no-store`")
    }),
];

/// A new key. It is shown only here.
#[derive(Serialize, ToSchema)]
#[schema(as = IssuedKey)]
struct Issued {
    key: String,
    #[serde(flatten)]
    entry: KeyEntry,
}

/// A key that is wanted.
#[derive(Deserialize, ToSchema)]
#[schema(as = KeyRequest)]
struct Wanted {
    /// Whose it is, for people; not blank, without control characters and marks of direction.
    #[schema(min_length = 1, max_length = 200)]
    label: String,
    /// By default a year.
    #[schema(value_type = Option<Validity>)]
    expires: Option<String>,
}

/// The keys that were issued.
#[derive(Serialize, ToSchema)]
#[schema(as = KeyList)]
struct KeyList {
    keys: Vec<KeyEntry>,
}

async fn list(_: Operator, Shared(state): Shared<Arc<State>>) -> Result<Response, ApiError> {
    let keys = look_up(&state, |record| record.list()).await?;
    json_not_stored(StatusCode::OK, &KeyList { keys })
}

async fn issue(
    Operator(subject): Operator,
    Shared(state): Shared<Arc<State>>,
    JsonBody(wanted): JsonBody<Wanted>,
) -> Result<Response, ApiError> {
    let validity = match wanted.expires.as_deref() {
        None | Some("year") => Validity::Year,
        Some("never") => Validity::Never,
        Some(got) => {
            let got: String = got.chars().take(80).collect();
            let text = format!("expires must be \"year\" or \"never\"; got \"{got}\"");
            return Err(ApiError::BadRequest(text));
        }
    };
    refuse_to_follow(&state)?;
    let (key, entry) =
        look_up(&state, move |record| record.issue(&wanted.label, validity, system_ms())).await?;
    tracing::info!("API key {} issued by {}", entry.id, subject.as_deref().unwrap_or("staff"));
    json_not_stored(StatusCode::CREATED, &Issued { key, entry })
}

async fn revoke(
    Operator(subject): Operator,
    Shared(state): Shared<Arc<State>>,
    Path(id): Path<String>,
) -> Result<Response, ApiError> {
    refuse_to_follow(&state)?;
    let entry = look_up(&state, move |record| record.revoke(&id, system_ms())).await?;
    tracing::info!("API key {} revoked by {}", entry.id, subject.as_deref().unwrap_or("staff"));
    json_not_stored(StatusCode::OK, &entry)
}

/// A server that only reads has the keys of the writing server.
fn refuse_to_follow(state: &State) -> Result<(), ApiError> {
    let Some(follower) = state.services.follower() else { return Ok(()) };
    let text = follower.takes_nothing().to_owned();
    Err(ApiError::Refused(StatusCode::SERVICE_UNAVAILABLE, text))
}

/// Does work with the record of keys. Afterwards this server knows what changed.
async fn look_up<T: Send + 'static>(
    state: &Arc<State>,
    use_: impl FnOnce(&dyn KeyRecord) -> Result<T, KeysError> + Send + 'static,
) -> Result<T, ApiError> {
    let done = state.look_up(move |state| {
        let Some(known) = &state.credentials.keys else {
            let text = "this server has no record on disk, so it has no keys".to_owned();
            return Err(ApiError::Refused(StatusCode::SERVICE_UNAVAILABLE, text));
        };
        let done = use_(known.record()).map_err(|error| match error {
            KeysError::Store(error) => error.into(),
            KeysError::Unknown(_) => ApiError::NotFound(error.to_string()),
            KeysError::Label(_) | KeysError::Full => ApiError::BadRequest(error.to_string()),
            _ => ApiError::internal(error),
        })?;
        if let Err(error) = known.renew() {
            tracing::error!("{error}");
        }
        Ok(done)
    });
    done.await?
}
