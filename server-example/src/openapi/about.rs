//! What an endpoint is for and what it answers. The description is written beside the handler.

use std::borrow::Cow;

use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::path::{
    Operation, OperationBuilder, Parameter as Described, ParameterBuilder, ParameterIn,
};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::{KnownFormat, Object, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Content, ContentBuilder, Ref, RefOr, Required, Response, ResponsesBuilder};

use super::answers::{Common, text_header};
use super::endpoint::Endpoint;
use super::examples::example;
use super::written::{Writer, written};
use crate::http::parameter::Parameter;

/// The part of the service that an endpoint belongs to: a tag of its description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// Stations, readings and series.
    Observations,
    /// Alerts and their zones.
    Alerts,
    /// Raster products.
    Products,
    /// Forecast models.
    Models,
    /// Events as they happen.
    Live,
    /// What the caller may do, and API keys.
    Access,
    /// The server itself, for its operators.
    Server,
}

impl Tag {
    /// Every tag with its description, in the order of the description.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Observations, "Stations, their readings and series"),
        (Self::Alerts, "Official alerts and the zones they are issued for"),
        (Self::Products, "Raster products as Cloud Optimized GeoTIFF files"),
        (Self::Models, "Output of forecast models, exact values from their native grids"),
        (Self::Live, "What changes, as it changes"),
        (Self::Access, "What a caller may do; API keys"),
        (Self::Server, "The server itself"),
    ];

    /// Its name.
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

/// Which credentials have an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// No credential is looked at: the endpoint is for monitoring and load balancers.
    Unread,
    /// No credential is needed; account tokens and API keys raise limits.
    Any,
    /// No credential is needed for what is open to everyone; account tokens open more.
    Account,
    /// A commercial plan: an account token or an API key.
    Commercial,
    /// An account of the operator's staff, by the header.
    Operator,
    /// A key for pushing files.
    Pusher,
}

/// Names of the security schemes.
pub const TOKEN: &str = "accountToken";
pub const COOKIE: &str = "accountCookie";
pub const API_KEY: &str = "apiKey";
pub const PUSH_KEY: &str = "pushKey";

impl Credentials {
    fn requirements(self) -> Vec<SecurityRequirement> {
        let schemes: &[&str] = match self {
            Self::Unread => &[],
            Self::Any => &["", TOKEN, COOKIE, API_KEY],
            Self::Account => &["", TOKEN, COOKIE],
            Self::Commercial => &[TOKEN, COOKIE, API_KEY],
            Self::Operator => &[TOKEN],
            Self::Pusher => &[PUSH_KEY],
        };
        let requirement = |scheme: &&str| match *scheme {
            "" => SecurityRequirement::default(),
            scheme => SecurityRequirement::new(scheme, [] as [&str; 0]),
        };
        schemes.iter().map(requirement).collect()
    }

    /// A replaying server says so, except at the health endpoints.
    fn replayed(self, mut response: Response) -> Response {
        if self != Self::Unread {
            let header = Ref::new("#/components/headers/Replay");
            response.headers.insert("X-Mesonet-Replay".to_owned(), RefOr::Ref(header));
        }
        response
    }
}

/// The description of an endpoint, without what its declaration says already.
pub struct About {
    id: &'static str,
    tag: Tag,
    summary: &'static str,
    text: Option<&'static str>,
    credentials: Credentials,
    path: Vec<Parameter>,
    headers: Vec<Described>,
    body: Option<RequestBody>,
    ok: Vec<(&'static str, Response)>,
    common: Vec<Common>,
    schemas: Vec<(String, RefOr<Schema>)>,
}

impl About {
    /// Starts a description: the name of the endpoint in generated clients, and one line on what it
    /// does.
    pub fn new(id: &'static str, tag: Tag, summary: &'static str) -> Self {
        let credentials = match tag {
            Tag::Models => Credentials::Account,
            Tag::Server => Credentials::Unread,
            _ => Credentials::Any,
        };
        let (text, body) = (None, None);
        let (path, headers, ok, common, schemas) = Default::default();
        Self { id, tag, summary, text, credentials, path, headers, body, ok, common, schemas }
    }

    /// Adds what else callers should know.
    pub fn text(self, text: &'static str) -> Self {
        Self { text: Some(text), ..self }
    }

    /// Sets which credentials have an effect, if they differ from those of its tag.
    pub fn credentials(self, credentials: Credentials) -> Self {
        Self { credentials, ..self }
    }

    /// The parameters in its path.
    pub fn path(self, path: &[Parameter]) -> Self {
        Self { path: path.to_vec(), ..self }
    }

    /// Its body in JSON, with an example that the sample has an answer for.
    pub fn json_body<T: ToSchema>(mut self, example: Value) -> Self {
        let content = ContentBuilder::new()
            .schema(Some(self.reference::<T>(Writer::Caller)))
            .example(Some(example))
            .build();
        let body = RequestBodyBuilder::new().required(Some(Required::True));
        self.body = Some(body.content("application/json", content).build());
        self
    }

    /// Its body in bytes.
    pub fn bytes_body(mut self, description: &'static str) -> Self {
        let body =
            RequestBodyBuilder::new().required(Some(Required::True)).description(Some(description));
        self.body = Some(body.content("application/octet-stream", bytes()).build());
        self
    }

    /// Answers in JSON.
    pub fn json<T: ToSchema>(self, description: &'static str) -> Self {
        self.json_with_status::<T>("200", description)
    }

    /// Answers in JSON with another status than 200.
    pub fn json_with_status<T: ToSchema>(
        mut self,
        status: &'static str,
        description: &'static str,
    ) -> Self {
        let content = Content::new(Some(self.reference::<T>(Writer::Server)));
        self.ok(status, description, "application/json", content);
        self
    }

    /// Answers in text.
    pub fn plain(mut self, media_type: &'static str, description: &'static str) -> Self {
        let content = Content::new(Some(Object::with_type(Type::String)));
        self.ok("200", description, media_type, content);
        self
    }

    /// Answers with a stream of events, of which one is shown.
    pub fn events(mut self, example: &'static str) -> Self {
        let content = ContentBuilder::new()
            .schema(Some(Object::with_type(Type::String)))
            .example(Some(Value::from(example)))
            .build();
        self.ok("200", "Server-sent events.", "text/event-stream", content);
        self
    }

    /// Answers in bytes.
    pub fn bytes(mut self, media_type: &'static str, description: &'static str) -> Self {
        self.ok("200", description, media_type, bytes());
        self
    }

    /// Its answers have a header.
    pub fn header(mut self, name: &'static str, description: &'static str) -> Self {
        for (_, response) in &mut self.ok {
            response.headers.insert(name.to_owned(), text_header(description).into());
        }
        self
    }

    /// Its answers have a tag. A caller who already has the answer with that tag gets a 304.
    pub fn tagged(mut self) -> Self {
        self = self.header("ETag", "A strong tag of the content in this encoding.");
        let about = "Tags that the caller has; with the current one, a 304.";
        self.headers.push(request_header("If-None-Match", about).build());
        self.with(Common::NotModified)
    }

    /// A part of its bytes may be requested.
    pub fn ranges(mut self) -> Self {
        self = self
            .header("Accept-Ranges", "`bytes`.")
            .header("Last-Modified", "When the file was written.");
        let about = "A range of bytes, as RFC 9110 has it; others are ignored.";
        let range = request_header("Range", about).example(Some(Value::from("bytes=0-16383")));
        self.headers.push(range.build());
        let mut part = self.ok.first().map(|(_, response)| response.clone()).unwrap_or_default();
        let which = text_header("Which bytes these are.");
        part.headers.insert("Content-Range".to_owned(), which.into());
        self.ok.push(("206", part));
        self.with(Common::RangeNotSatisfiable)
    }

    /// How long caches may keep its answers.
    pub fn cached(self, description: &'static str) -> Self {
        self.header("Cache-Control", description)
    }

    /// An answer that several endpoints give.
    pub fn with(mut self, answer: Common) -> Self {
        self.common.push(answer);
        self
    }

    /// Returns the types of its bodies by name.
    pub fn schemas(&mut self) -> Vec<(String, RefOr<Schema>)> {
        std::mem::take(&mut self.schemas)
    }

    /// Describes the endpoint.
    pub fn operation<S>(self, endpoint: &Endpoint<S>) -> Operation {
        let common = self.common(endpoint);
        let mut responses = ResponsesBuilder::new();
        for (status, mut response) in self.ok {
            let json = response.content.get_mut("application/json");
            if let (Some(RefOr::T(content)), "200" | "201") = (json, status) {
                content.example = example(self.id);
            }
            responses = responses.response(status, self.credentials.replayed(response));
        }
        for answer in common {
            responses = responses.response(answer.status(), answer.reference());
        }
        let in_path = self.path.iter().map(Parameter::in_path);
        let in_query = endpoint.query.iter().map(Parameter::in_query);
        OperationBuilder::new()
            .operation_id(Some(self.id))
            .tag(self.tag.name())
            .summary(Some(self.summary))
            .description(self.text)
            .parameters(Some(in_path.chain(in_query).chain(self.headers)))
            .request_body(self.body)
            .responses(responses.build())
            .securities(Some(self.credentials.requirements()))
            .build()
    }

    /// The answers of the endpoint, and of its layers and extractors, by status.
    fn common<S>(&self, endpoint: &Endpoint<S>) -> Vec<Common> {
        let mut common = self.common.clone();
        if self.credentials != Credentials::Unread {
            common.extend([Common::AddressTooLong, Common::TooManyRequests]);
            common.extend([Common::HeadTooLarge, Common::InternalError]);
            // The query string must be UTF-8 everywhere.
            common.push(Common::BadRequest);
        }
        let own_503 = self.ok.iter().any(|(status, _)| *status == "503");
        if !own_503 && self.credentials != Credentials::Unread {
            common.push(Common::Unavailable);
        }
        match self.credentials {
            Credentials::Unread => {}
            Credentials::Any => common.push(Common::RejectedToken),
            Credentials::Account if !endpoint.path.contains('{') => {
                common.push(Common::RejectedToken);
            }
            _ => common.extend([Common::CredentialNeeded, Common::Forbidden]),
        }
        if endpoint.path.contains('{') {
            common.push(Common::NotFound);
        }
        if self.body.is_some() {
            common.extend([Common::SlowBody, Common::UnsupportedEncoding]);
        }
        common.sort_by_key(|answer| answer.status());
        common.dedup();
        common
    }

    fn ok(&mut self, status: &'static str, description: &str, media_type: &str, content: Content) {
        let at = self.ok.iter().position(|(known, _)| *known == status).unwrap_or_else(|| {
            self.ok.push((status, Response::new(description)));
            self.ok.len() - 1
        });
        self.ok[at].1.content.insert(media_type.to_owned(), content.into());
    }

    fn reference<T: ToSchema>(&mut self, writer: Writer) -> Ref {
        let mut schemas = vec![(T::name().into_owned(), T::schema())];
        T::schemas(&mut schemas);
        self.schemas.extend(written(schemas, writer));
        Ref::from_schema_name(Cow::into_owned(T::name()))
    }
}

fn bytes() -> Content {
    let binary = SchemaFormat::KnownFormat(KnownFormat::Binary);
    let object = ObjectBuilder::new().schema_type(Type::String).format(Some(binary));
    Content::new(Some(object))
}

/// A header of a request that holds a text.
fn request_header(name: &str, description: &str) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some(description))
        .schema(Some(Object::with_type(Type::String)))
}
