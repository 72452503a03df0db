//! The header that says that an answer lacks readings or alerts because part of the record is damaged.

use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};

use crate::http::error::ApiError;

/// The number of damaged blocks that hold, or may hold, readings of the answer, or of damaged alerts;
/// absent if nothing is missing.
pub const DAMAGED: HeaderName = HeaderName::from_static("x-mesonet-damaged");

/// Adds the number of damaged blocks or alerts to an answer that lacks their content.
pub fn with_header(answer: Result<Response, ApiError>, blocks: u64) -> Response {
    let mut response = answer.into_response();
    if blocks > 0 {
        response.headers_mut().insert(DAMAGED, HeaderValue::from(blocks));
    }
    response
}
