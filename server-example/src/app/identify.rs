//! Who sends a request.

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use mesonet::access::Plan;
use mesonet_service::clock::system_ms;

use crate::auth::access::Caller;
use crate::auth::credential;
use crate::http::error::ApiError;
use crate::state::State;

/// Finds out who sends a request, before anything else looks at the request. An invalid token is
/// refused on every endpoint, even where no token is needed. Returns the caller's plan, or the
/// refusal.
pub async fn identify(state: &State, request: &mut Request) -> Result<Plan, Box<Response>> {
    let anonymous = Caller::anonymous(state.config().assume_plan);
    if let Some(keys) = &state.credentials.keys
        && let Ok(Some(sent)) = credential(request.headers())
        && keys.may_be(sent)
        && !keys.knows(sent, system_ms())
    {
        let text = "the record of API keys cannot be read now; send the request again later, or without a key";
        let refused = ApiError::Refused(StatusCode::SERVICE_UNAVAILABLE, text.to_owned());
        return Err(Box::new(refused.into_response()));
    }
    let caller = state.credentials.caller(request.headers(), &anonymous).await;
    let caller = caller.map_err(|rejection| Box::new(rejection.into_response()))?;
    let plan = caller.plan;
    request.extensions_mut().insert(caller);
    Ok(plan)
}
