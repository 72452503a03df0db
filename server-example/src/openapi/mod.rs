//! The description of the service at `/openapi/v1.json`: OpenAPI 3.1, made from the declarations of
//! the endpoints.
//!
//! | What | Where |
//! | --- | --- |
//! | An address with a method, its parameters and its handler | [`Endpoint`] |
//! | What an endpoint is for and what it answers | `about.rs`, beside the handlers in `routes/` |
//! | Answers that several endpoints give | `answers.rs` |
//! | Examples of answers | `examples.rs`, `examples.json` |
//! | The forms of bodies | at the types that are served, narrowed in `written.rs`; without a type, `shapes.rs` |
//! | The page at `/swagger` | `routes/explorer.rs` |

mod about;
mod answers;
mod endpoint;
mod examples;
mod shapes;
mod written;

pub use about::{About, Credentials, Tag};
pub use answers::Common;
pub use endpoint::Endpoint;
pub use shapes::*;

use utoipa::openapi::schema::ComponentsBuilder;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    HttpMethod, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Paths, Server,
};

/// The version of the interface. It differs from the version of the program.
const VERSION: &str = "1.0.0";

const ABOUT: &str = "Surface weather observations of Canada and the United States, official alerts, \
     and the output of forecast models. Times are UTC, RFC 3339. A GET is answered for HEAD too. \
     Answers are compressed as the caller accepts. Parameters that an endpoint does not know are \
     ignored, except those that are almost one that it has.";

/// Describes endpoints, each under its prefix.
pub fn description<'a, S: 'static>(
    endpoints: impl Iterator<Item = (&'a str, &'static Endpoint<S>)>,
) -> OpenApi {
    let mut paths = Paths::new();
    let mut components = answers::add(ComponentsBuilder::new());
    for (prefix, endpoint) in endpoints {
        let mut about = (endpoint.about)();
        for (name, schema) in about.schemas() {
            components = components.schema(name, schema);
        }
        let method = if endpoint.method == "POST" { HttpMethod::Post } else { HttpMethod::Get };
        let path = format!("{prefix}{}", endpoint.path);
        paths.add_path_operation(path, vec![method], about.operation(endpoint));
    }
    for (name, scheme) in schemes() {
        components = components.security_scheme(name, scheme);
    }
    let license = "MIT OR Apache-2.0";
    let license = LicenseBuilder::new().name(license).identifier(Some(license)).build();
    let info = InfoBuilder::new().title("mesonet").version(VERSION).description(Some(ABOUT));
    let tag = |(tag, text): (Tag, &str)| {
        TagBuilder::new().name(tag.name()).description(Some(text)).build()
    };
    OpenApiBuilder::new()
        .info(info.license(Some(license)))
        .paths(paths)
        .components(Some(components.build()))
        .tags(Some(Tag::ALL.map(tag)))
        .servers(Some([Server::new("/")]))
        .build()
}

fn schemes() -> [(&'static str, SecurityScheme); 4] {
    let bearer =
        |text: &str| HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(text));
    let token = "An account token: a signed JSON Web Token that carries the plan. An invalid or \
                 expired one is refused everywhere, also where none is needed.";
    let cookie = "The same token as browsers on the operator's own sites send it.";
    let key = "An API key, which counts as the commercial plan on the observation service and as no \
               credential on the model service. One that is not known counts as no credential.";
    let push = "A key for pushing files; the server knows its hash.";
    let cookie = ApiKey::Cookie(ApiKeyValue::with_description("acct_at", cookie));
    [
        (about::TOKEN, SecurityScheme::Http(bearer(token).bearer_format("JWT").build())),
        (about::COOKIE, SecurityScheme::ApiKey(cookie)),
        (about::API_KEY, SecurityScheme::Http(bearer(key).bearer_format("mesonet_key_…").build())),
        (
            about::PUSH_KEY,
            SecurityScheme::Http(bearer(push).bearer_format("mesonet_push_…").build()),
        ),
    ]
}
