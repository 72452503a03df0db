//! Errors of requests, and their answers.

use std::fmt::Display;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mesonet::ErrorKind;

/// Length of the longest text of an error answer, in bytes. A text repeats the input, which may be
/// long.
const MAX_TEXT: usize = 2_000;

/// When a caller may try again, seconds.
const RETRY_AFTER_S: HeaderValue = HeaderValue::from_static("5");

/// A request that is not answered with 200.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiError {
    /// 400: the text is the body, a bare JSON string.
    BadRequest(String),
    /// 401: a credential is needed and none was sent; the body is empty.
    Unauthorized,
    /// 403: the caller's plan is too low; the body is empty.
    Forbidden,
    /// 404: the text is the body, a bare JSON string.
    NotFound(String),
    /// Another status of a request that cannot be served: the text is the body, a bare JSON string.
    Refused(StatusCode, String),
    /// 503 for some seconds: the text is the body, a bare JSON string.
    Later(String),
    /// 500: the body is empty, the text goes to the log only.
    Internal(String),
}

impl ApiError {
    /// An error that is not the caller's fault.
    pub fn internal(error: impl Display) -> Self {
        Self::Internal(error.to_string())
    }
}

impl<E: Into<mesonet::Error>> From<E> for ApiError {
    /// Answers each kind of error with its status. The details of damage go to the log only.
    fn from(error: E) -> Self {
        let error = error.into();
        match error.kind() {
            ErrorKind::Invalid | ErrorKind::Unsupported | ErrorKind::Refused => {
                Self::BadRequest(error.to_string())
            }
            ErrorKind::NotFound => Self::NotFound(error.to_string()),
            ErrorKind::Damaged => {
                tracing::error!("{error}; run verify --set-aside");
                let text = "the requested data is damaged and cannot be read".to_owned();
                Self::Refused(StatusCode::SERVICE_UNAVAILABLE, text)
            }
            ErrorKind::Unavailable => {
                tracing::error!("{error}");
                let text = "the data cannot be used right now; try again later".to_owned();
                Self::Refused(StatusCode::SERVICE_UNAVAILABLE, text)
            }
            // An error of an unknown kind tells the caller nothing.
            _ => Self::Internal(error.to_string()),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        match self {
            Self::BadRequest(text) => json_string(StatusCode::BAD_REQUEST, text),
            Self::Unauthorized => StatusCode::UNAUTHORIZED.into_response(),
            Self::Forbidden => StatusCode::FORBIDDEN.into_response(),
            Self::NotFound(text) => json_string(StatusCode::NOT_FOUND, text),
            Self::Refused(StatusCode::REQUEST_TIMEOUT, text) => {
                // It is unknown when the rest of the body will arrive.
                let mut response = json_string(StatusCode::REQUEST_TIMEOUT, text);
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(header::CONNECTION, close);
                response
            }
            Self::Refused(status, text) => json_string(status, text),
            Self::Later(text) => {
                let mut response = json_string(StatusCode::SERVICE_UNAVAILABLE, text);
                response.headers_mut().insert(header::RETRY_AFTER, RETRY_AFTER_S);
                response
            }
            Self::Internal(text) => {
                tracing::error!("{text}");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

/// The error when something cannot be written to disk.
pub fn no_disk(kind: std::io::ErrorKind, what: &str) -> ApiError {
    let status = match kind {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            StatusCode::INSUFFICIENT_STORAGE
        }
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    let text = format!("{what} cannot be written now; send it again later");
    ApiError::Refused(status, text)
}

fn json_string(status: StatusCode, text: String) -> Response {
    let body = serde_json::Value::from(cut(text)).to_string();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        // A character has at most four bytes.
        let end = (MAX_TEXT - 3..=MAX_TEXT).rev().find(|&end| text.is_char_boundary(end));
        text.truncate(end.unwrap_or(0));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use mesonet::store::StoreError;
    use mesonet::time::{MINUTE_MS, TimeError};

    use super::*;

    #[test]
    fn the_caller_is_told_what_is_wrong_with_the_request_and_not_with_the_server() {
        let error = TimeError::Order { start_ms: MINUTE_MS, end_ms: 0 };
        assert_eq!(
            ApiError::from(error),
            ApiError::BadRequest(
                "start must be before end; got start 1970-01-01T00:01:00Z and end \
                 1970-01-01T00:00:00Z"
                    .to_owned()
            )
        );
        let full = StoreError::Full { path: "a".to_owned(), cause: "b".to_owned() };
        assert!(matches!(full.into(), ApiError::Refused(StatusCode::SERVICE_UNAVAILABLE, _)));
        let failed = StoreError::Storage { path: "a".to_owned(), cause: "b".to_owned() };
        assert!(matches!(failed.into(), ApiError::Internal(_)));
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = cut("é".repeat(2_000));
        assert_eq!(text, format!("{}…", "é".repeat(1_000)));
        assert_eq!(cut("short".to_owned()), "short");
    }
}
