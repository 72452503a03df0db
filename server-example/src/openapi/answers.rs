//! Answers that several endpoints give, each described once.

use serde_json::json;
use utoipa::openapi::schema::{ComponentsBuilder, Object, ObjectBuilder, Schema, Type};
use utoipa::openapi::{
    Content, ContentBuilder, Header, HeaderBuilder, Ref, RefOr, Response, ResponseBuilder,
};

use utoipa::{PartialSchema, ToSchema};

use super::shapes::{Problem, Rejected};

/// An answer that several endpoints give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Common {
    NotModified,
    BadRequest,
    /// Answers of an endpoint that needs no credential.
    RejectedToken,
    /// Answers of an endpoint that needs a credential.
    CredentialNeeded,
    Forbidden,
    NotFound,
    SlowBody,
    AddressTooLong,
    UnsupportedEncoding,
    RangeNotSatisfiable,
    TooManyRequests,
    HeadTooLarge,
    InternalError,
    NoTexts,
    Unavailable,
    InsufficientStorage,
}

impl Common {
    const ALL: [Self; 16] = [
        Self::NotModified,
        Self::BadRequest,
        Self::RejectedToken,
        Self::CredentialNeeded,
        Self::Forbidden,
        Self::NotFound,
        Self::SlowBody,
        Self::AddressTooLong,
        Self::UnsupportedEncoding,
        Self::RangeNotSatisfiable,
        Self::TooManyRequests,
        Self::HeadTooLarge,
        Self::InternalError,
        Self::NoTexts,
        Self::Unavailable,
        Self::InsufficientStorage,
    ];

    /// Its status.
    pub const fn status(self) -> &'static str {
        match self {
            Self::NotModified => "304",
            Self::BadRequest => "400",
            Self::RejectedToken | Self::CredentialNeeded => "401",
            Self::Forbidden => "403",
            Self::NotFound => "404",
            Self::SlowBody => "408",
            Self::AddressTooLong => "414",
            Self::UnsupportedEncoding => "415",
            Self::RangeNotSatisfiable => "416",
            Self::TooManyRequests => "429",
            Self::HeadTooLarge => "431",
            Self::InternalError => "500",
            Self::NoTexts => "501",
            Self::Unavailable => "503",
            Self::InsufficientStorage => "507",
        }
    }

    /// A reference to its description.
    pub fn reference(self) -> Ref {
        Ref::from_response_name(format!("{self:?}"))
    }

    fn response(self) -> Response {
        let builder = match self {
            Self::NotModified => described("The caller has the answer already; no body."),
            Self::BadRequest => text(
                "The request is wrong; the body says what was got and what is allowed.",
                "start must be before end; got start 2024-08-03T21:00:00Z and end 2024-08-03T20:00:00Z",
            ),
            Self::RejectedToken => {
                described("The account token is rejected. Only `expired` merits a refresh.")
                    .content("application/json", rejected())
                    .header_ref("WWW-Authenticate", Ref::new("#/components/headers/Challenge"))
            }
            Self::CredentialNeeded => described(
                "A credential is needed and none was sent: no body. Or the account token is \
                 rejected: a JSON object with its `reason`, as `Rejected`.",
            )
            .header_ref("WWW-Authenticate", Ref::new("#/components/headers/Challenge")),
            Self::Forbidden => described(
                "The credential is valid, but its plan, standing or organization lacks access. No \
                 body.",
            ),
            Self::NotFound => text(
                "There is no such thing; the body says which.",
                "no station has the id \"00000000-0000-0000-0000-000000000000\"",
            ),
            Self::SlowBody => text(
                "The body of the request came too slowly; the connection is closed.",
                "the body arrived too slowly: 1 bytes in 20 s; it must arrive at 4096 bytes a second and \
                 be complete within 45 s",
            ),
            Self::AddressTooLong => {
                described("The address has more than 65,534 bytes (HTTP/1.1). No body.")
            }
            Self::UnsupportedEncoding => text(
                "The body of the request is encoded in a way that is not taken.",
                "content-encoding must be identity, or left out; got br",
            ),
            Self::RangeNotSatisfiable => described("The file has none of these bytes."),
            Self::TooManyRequests => described(
                "More requests of one address than the rate allows. No body, no Retry-After.",
            ),
            Self::HeadTooLarge => described(
                "The head of the request is larger than the server takes, which is at least 64 KiB. No body.",
            ),
            Self::InternalError => {
                let example = json!({
                    "type": "about:blank", "title": "Internal Server Error", "status": 500,
                    "instance": "urn:mesonet:request:3b2c6ece559fea22",
                });
                let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem")));
                described("A fault of the server; its log has the id (RFC 7807).")
                    .content("application/problem+json", content.example(Some(example)).build())
                    .header_ref("X-Request-Id", Ref::new("#/components/headers/RequestId"))
            }
            Self::NoTexts => text(
                "The record of the server keeps no texts of reports, as one in ClickHouse.",
                "the record of this server keeps no texts of reports",
            ),
            Self::Unavailable => text(
                "The data cannot be read at present, the body says why; or the answer took too \
                 long, then there is no body.",
                "the data cannot be used right now; try again later",
            )
            .header_ref("X-Request-Id", Ref::new("#/components/headers/RequestId")),
            Self::InsufficientStorage => text(
                "No room is left on the server.",
                "no room is left for readings; send it again later",
            )
            .header_ref("X-Request-Id", Ref::new("#/components/headers/RequestId")),
        };
        builder.build()
    }
}

/// Adds the answers, and the headers that they share, to the components.
pub fn add(mut components: ComponentsBuilder) -> ComponentsBuilder {
    for answer in Common::ALL {
        components = components.response(format!("{answer:?}"), answer.response());
    }
    let mut schemas = vec![
        (Rejected::name().into_owned(), Rejected::schema()),
        (Problem::name().into_owned(), Problem::schema()),
    ];
    Rejected::schemas(&mut schemas);
    components
        .schemas_from_iter(schemas)
        .schema("ErrorText", error_text())
        .header("Replay", text_header("The server replays a record: its time, RFC 3339."))
        .header("RequestId", text_header("The id under which the log has the request."))
        .header("Challenge", text_header("`Bearer error=\"invalid_token\"` for a rejected token."))
}

fn error_text() -> RefOr<Schema> {
    let about = "Most errors are a bare JSON string: what was got and what is allowed.";
    ObjectBuilder::new().schema_type(Type::String).description(Some(about)).into()
}

fn described(description: &str) -> ResponseBuilder {
    ResponseBuilder::new().description(description)
}

fn text(description: &str, example: &str) -> ResponseBuilder {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("ErrorText")));
    let content = content.example(Some(example.into())).build();
    described(description).content("application/json", content)
}

fn rejected() -> Content {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Rejected")));
    content.example(Some(json!({ "reason": "expired" }))).build()
}

/// A header of an answer that holds a text.
pub fn text_header(description: &str) -> Header {
    let text = Object::with_type(Type::String);
    HeaderBuilder::new().schema(Some(text)).description(Some(description)).build()
}
