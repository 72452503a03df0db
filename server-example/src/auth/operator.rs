//! Who may run the service.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;

use super::access::Caller;
use crate::http::error::ApiError;

/// An operator who is signed in by the header. A cookie does not count: a browser sends it on its
/// own, even from pages of other sites.
pub struct Operator(pub Option<Arc<str>>);

impl<S: Sync> FromRequestParts<S> for Operator {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, state).await?;
        if !parts.headers.contains_key(header::AUTHORIZATION) || !caller.is_signed_in {
            return Err(ApiError::Unauthorized);
        }
        if !caller.is_staff {
            return Err(ApiError::Forbidden);
        }
        Ok(Self(caller.subject))
    }
}
