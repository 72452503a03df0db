//! What of an answer is missing because a part of the record is damaged, said on the answer.

use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;

/// How many damaged blocks of the record readings of the answer lie, or may lie, in; not there
/// where nothing is missing.
pub const DAMAGED: HeaderName = HeaderName::from_static("x-mesonet-damaged");

/// An answer that says how many damaged blocks it lacks readings of.
pub fn said(answer: Result<Response, ApiError>, blocks: u64) -> Response {
    let mut response = answer.into_response();
    if blocks > 0 {
        response.headers_mut().insert(DAMAGED, HeaderValue::from(blocks));
    }
    response
}
