//! Who sends a request.

use std::sync::Arc;

use axum::extract::{Request, State as Shared};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use mesonet_service::clock::system_ms;

use crate::auth::access::Caller;
use crate::auth::{OfPlan, credential};
use crate::http::error::ApiError;
use crate::state::State;

/// Finds out who sends a request, before anything else looks at the request. An invalid token is
/// refused on every endpoint, even where no token is needed.
pub async fn identify(
    Shared(state): Shared<Arc<State>>,
    mut request: Request,
    next: Next,
) -> Response {
    let anonymous = Caller::anonymous(state.config().assume_plan);
    if let Some(keys) = &state.credentials.keys
        && let Ok(Some(sent)) = credential(request.headers())
        && keys.may_be(sent)
        && !keys.knows(sent, system_ms())
    {
        let text = "the record of API keys cannot be read now; send the request again later, or without a key";
        return ApiError::Refused(StatusCode::SERVICE_UNAVAILABLE, text.to_owned()).into_response();
    }
    match state.credentials.caller(request.headers(), &anonymous).await {
        Ok(caller) => {
            let plan = OfPlan(caller.plan);
            request.extensions_mut().insert(caller);
            let mut response = next.run(request).await;
            response.extensions_mut().insert(plan);
            response
        }
        Err(rejection) => rejection.into_response(),
    }
}
