//! `/swagger`: the description as a page to read and to try. The page comes from the binary, and
//! sends requests only to this server.

use std::io::{Cursor, Read};
use std::sync::{Arc, OnceLock};

use axum::extract::{Path, State as Shared};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;

use crate::http::encoding::Effort;
use crate::http::error::ApiError;
use crate::http::parameter::{Form, Parameter};
use crate::http::snapshot::Snapshot;
use crate::openapi::{About, Credentials, Tag};
use crate::routes::Endpoint;
use crate::state::State;
use mesonet_service::sync::get_or_try_init;

/// The page may load and call only what is of this origin. Small pictures are in the style sheet.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

const CACHE_CONTROL: &str = "public, max-age=86400";

/// Addresses are relative, so that the page works under the prefix of a proxy too.
const PAGE: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>mesonet</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="swagger/swagger-ui.css">
<div id="explorer"></div>
<script src="swagger/swagger-ui-bundle.js"></script>
<script src="swagger/start.js"></script>
</html>
"#;

/// No validator is configured: it would be another server.
const START: &str = r##"SwaggerUIBundle({
  url: "openapi/v1.json",
  dom_id: "#explorer",
  deepLinking: true,
  validatorUrl: null,
});
"##;

const BUNDLE: &str = "swagger-ui-bundle.js";
const STYLES: &str = "swagger-ui.css";
const FILES: &[&str] = &["start.js", BUNDLE, STYLES];

pub const ENDPOINTS: &[Endpoint] = &[
    Endpoint::get("/swagger", || get(page)).about(|| {
        About::new("getExplorer", Tag::Server, "This description as a page")
            .credentials(Credentials::Any)
            .plain("text/html", "The page.")
            .header("Content-Security-Policy", "Only what is of this origin.")
            .cached(CACHE_CONTROL)
    }),
    Endpoint::get("/swagger/{file}", || get(file)).about(|| {
        let name = Parameter::new("file", Form::OneOf(FILES), "Name of the file.");
        About::new("getExplorerFile", Tag::Server, "A file of the page")
            .credentials(Credentials::Any)
            .path(&[name.example(STYLES)])
            .plain("text/css", "The file.")
            .plain("text/javascript", "The file.")
            .cached(CACHE_CONTROL)
            .tagged()
    }),
];

async fn page() -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::CACHE_CONTROL, HeaderValue::from_static(CACHE_CONTROL)),
    ];
    (headers, PAGE).into_response()
}

async fn file(
    Shared(state): Shared<Arc<State>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let media_type = if name == STYLES { "text/css" } else { "text/javascript" };
    let answer = move |_: &State| {
        let place = FILES.iter().position(|known| *known == name).ok_or_else(|| {
            let names = FILES.join(", ");
            ApiError::NotFound(format!("unknown file \"{name}\"; there are {names}"))
        })?;
        let mut response = files()?[place].answer(&headers);
        let headers = response.headers_mut();
        if headers.contains_key(header::CONTENT_TYPE) {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
        }
        Ok(response)
    };
    state.look_up(answer).await?
}

/// Returns the files in the order of their names. They are unpacked when first requested.
fn files() -> Result<&'static [Snapshot], ApiError> {
    static UNPACKED: OnceLock<Vec<Snapshot>> = OnceLock::new();
    let snapshot = |name: &&str| -> Result<Snapshot, ApiError> {
        let body = if *name == "start.js" { START.into() } else { unpacked(name)? };
        Snapshot::new(body, CACHE_CONTROL, Effort::Fastest, None).map_err(ApiError::internal)
    };
    get_or_try_init(&UNPACKED, || FILES.iter().map(snapshot).collect()).map(Vec::as_slice)
}

/// Returns a file of the distribution of Swagger UI.
fn unpacked(name: &str) -> Result<Vec<u8>, ApiError> {
    let archive = zip::ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED));
    let mut archive = archive.map_err(ApiError::internal)?;
    let end = format!("/dist/{name}");
    // The variant for React has the same file.
    let place = archive.file_names().position(|path| path.is_ok_and(|path| path.ends_with(&*end)));
    let place = place.ok_or_else(|| ApiError::internal(format!("there is no {name}")))?;
    let mut file = archive.by_index(place).map_err(ApiError::internal)?;
    let mut body = Vec::new();
    file.read_to_end(&mut body).map_err(ApiError::internal)?;
    Ok(body)
}
