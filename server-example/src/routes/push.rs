//! `POST /ingest`: pushes a feed file, for callers with a key.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State as Shared};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use mesonet::feed;
use mesonet::store::StoreError;

use mesonet_service::clock::system_ms;
use mesonet_service::files::{FileLimits, shown_name};
use mesonet_service::ingest::{
    ByteSource, IngestSummary, Label, ModelFiles, NoModel, Options, Outcome, PushKey, Scope,
    model_named,
};

use crate::http::error::{ApiError, no_disk};
use crate::http::extract::Query;
use crate::http::parameter::{Form, Parameter};
use crate::http::work::hand_over;
use crate::openapi::{About, Common, Credentials, Tag};
use crate::routes::Endpoint;
use crate::state::State;

const MAX_NAME_LETTERS: usize = 255;

pub const ENDPOINTS: &[Endpoint] = &[Endpoint::post("/ingest", || post(push))
    .query(&[
        Parameter::new(
            "feed",
            Form::Text(64),
            "Kind of the file, if it is not to be found from it.",
        ),
        Parameter::new("name", Form::Matching("^[^/\\\\\\x00]{1,255}$"), "Name of the file."),
        Parameter::new("model", Form::Text(64), "The model whose output it is."),
        Parameter::new("received", Form::Instant, "When it was received, if not now."),
    ])
    .about(|| {
        About::new("pushFile", Tag::Server, "Pushes a feed file")
            .credentials(Credentials::Pusher)
            .bytes_body("A file or an archive, packed or not.")
            .json::<Outcome<'_>>("What was taken of it.")
            .with(Common::InsufficientStorage)
    })];

/// Permission to push. When a handler extracts it first, other callers are refused before the rest
/// of their request is read.
struct PushPermission(Scope);

impl FromRequestParts<Arc<State>> for PushPermission {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &Arc<State>) -> Result<Self, ApiError> {
        let scope = authorize(state, &parts.headers)?;
        if let Some(follower) = state.services.follower() {
            let text = follower.takes_nothing().to_owned();
            return Err(ApiError::Refused(StatusCode::SERVICE_UNAVAILABLE, text));
        }
        Ok(Self(scope))
    }
}

/// Answers a push, and logs the outcome.
async fn push(
    PushPermission(scope): PushPermission,
    Shared(state): Shared<Arc<State>>,
    query: Query,
    request: Request,
) -> Result<Response, ApiError> {
    let name = shown_name(query.one("name")?.unwrap_or("-"));
    let pushed = take(&state, scope, &query, request).await;
    match &pushed {
        Ok(summary) => tracing::info!("push of {name}: {}", summary.line()),
        Err(ApiError::BadRequest(text) | ApiError::Refused(_, text)) => {
            tracing::info!("push of {name} refused: {text}");
        }
        Err(_) => tracing::info!("push of {name} failed"),
    }
    let body = pushed?.json().map_err(ApiError::internal)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// Takes a file in. On return, everything that could be read of it is durable.
async fn take(
    state: &Arc<State>,
    scope: Scope,
    query: &Query,
    request: Request,
) -> Result<IngestSummary, ApiError> {
    let feed: Option<feed::Kind> = query
        .one("feed")?
        .map(|text| text.parse().map_err(|error| ApiError::BadRequest(format!("feed: {error}"))))
        .transpose()?;
    let name = query.one("name")?.unwrap_or("-");
    let letters = name.chars().count();
    if !(1..=MAX_NAME_LETTERS).contains(&letters) || name.contains(['/', '\\', '\0']) {
        return Err(ApiError::BadRequest(format!(
            "name must be a file name without folders, 1 to {MAX_NAME_LETTERS} letters long; got \
             \"{name}\""
        )));
    }
    let model = query.one("model")?.map(str::to_owned);
    if model.is_some() && feed.is_some() {
        let text = "model cannot be given with feed: the files of models are GRIB2".to_owned();
        return Err(ApiError::BadRequest(text));
    }
    let options = Options {
        feed,
        received_ms: query.instant("received")?,
        now_ms: system_ms(),
        bounds: FileLimits::pushed(state.config().max_ingest_bytes),
    };
    encoding(request.headers())?;
    let label = Label { shown: shown_name(name), name: name.to_owned(), modified_ms: None };
    let no_model = |error: NoModel| ApiError::BadRequest(format!("model: {error}"));
    if let Some(model) = &model {
        let denied = |text| ApiError::Refused(StatusCode::FORBIDDEN, text);
        scope.check_models().map_err(denied)?;
        model_named(&state.services.models.catalogue(), model).map_err(no_model)?;
    }
    let mut received = state
        .services
        .reception
        .receive(request.into_body(), state.config().max_ingest_bytes)
        .await?;
    let turn = match &model {
        Some(model) => state.services.lanes.pushed_model(model).await?,
        None => state.services.lanes.pushed(received.is_small()).await?,
    };

    let services = Arc::clone(&state.services);
    let (fault, summary) = hand_over(move || {
        // Held to the end, whether or not the caller waits for the answer.
        let _turn = turn;
        if let Some(model) = model {
            let read = |files: &mut ModelFiles<'_>| {
                files.input(&label, ByteSource::File(&mut received));
            };
            let (faults, summary) =
                services.ingest_model(&model, options, read).map_err(no_model)?;
            return Ok((faults.into_iter().next(), summary));
        }
        services
            .ingest(options, |ingest| {
                ingest.limit_to(&scope);
                ingest.input(&label, ByteSource::File(&mut received))
            })
            .map_err(|error| not_stored(&error))
    })
    .await??;
    if let Some(failure) = summary.models.as_ref().and_then(|models| models.failure.as_ref()) {
        tracing::error!("not all files of a model were stored: {failure}");
        let text = "no room is left or the run is being written; send it again later".to_owned();
        return Err(ApiError::Refused(StatusCode::SERVICE_UNAVAILABLE, text));
    }
    if let Some(failure) = &summary.products.failure {
        tracing::error!("a push was refused: {failure}");
        return Err(no_disk(failure.kind, "raster products"));
    }
    if let Some(denied) = summary.denied.as_ref().filter(|_| !summary.has_result()) {
        return Err(ApiError::Refused(StatusCode::FORBIDDEN, denied.clone()));
    }
    match (&summary.store_error, fault) {
        (Some(error), _) => Err(not_stored(error)),
        (None, Some(fault)) if !summary.has_result() => {
            Err(ApiError::BadRequest(format!("{}: {}", fault.file, fault.error)))
        }
        (None, _) => Ok(summary),
    }
}

/// The error when the store has not taken a file, or not all of it.
fn not_stored(error: &StoreError) -> ApiError {
    let (status, text) = match error {
        StoreError::Full { .. } => {
            tracing::error!("a push was refused: the store is full");
            let text = "no room is left for readings; send it again later";
            (StatusCode::INSUFFICIENT_STORAGE, text)
        }
        StoreError::Unavailable { .. } => {
            tracing::error!("a push was refused: {error}");
            let text = "the store cannot be reached now; send it again later";
            (StatusCode::SERVICE_UNAVAILABLE, text)
        }
        StoreError::Locked { .. } => {
            tracing::error!("a push was refused: {error}");
            let text = "another server writes the record now, and this one takes nothing in; send it \
                        to that one";
            (StatusCode::SERVICE_UNAVAILABLE, text)
        }
        error => return ApiError::internal(error),
    };
    ApiError::Refused(status, text.to_owned())
}

/// Whether a request is a push with a valid key. Such requests do not count against the rate.
pub(crate) fn is_permitted(state: &State, request: &Request) -> bool {
    let path = request.uri().path();
    let is_push = request.method() == Method::POST
        && path.strip_prefix(&*state.config().api_prefix) == Some(ENDPOINTS[0].path);
    is_push && authorize(state, request.headers()).is_ok()
}

/// Finds the scope of the key of a request, if the hash of the key is in the settings.
fn authorize(state: &State, headers: &HeaderMap) -> Result<Scope, ApiError> {
    let config = state.config();
    let hashes = &config.ingest_key_hashes;
    if hashes.is_empty() {
        return Err(ApiError::Forbidden);
    }
    let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let key = header.and_then(|header| {
        let (scheme, key) = header.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
    });
    key.and_then(|key| PushKey::scope_of(key, hashes)).ok_or(ApiError::Unauthorized)
}

/// A gzip body needs no extra work: the packing of a file is detected from its bytes.
fn encoding(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(value) = headers.get(header::CONTENT_ENCODING) else { return Ok(()) };
    match value.as_bytes().to_ascii_lowercase().as_slice() {
        b"identity" | b"gzip" | b"x-gzip" => Ok(()),
        other => Err(ApiError::Refused(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!(
                "content-encoding must be gzip or identity; got {}",
                String::from_utf8_lossy(other)
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_one_that_fails() {
        let status = |kind| match no_disk(kind, "the body") {
            ApiError::Refused(status, _) => status.as_u16(),
            other => panic!("{other:?}"),
        };
        assert_eq!(status(std::io::ErrorKind::StorageFull), 507);
        assert_eq!(status(std::io::ErrorKind::PermissionDenied), 503);
    }
}
