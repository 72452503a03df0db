//! The shapes of bodies that the library writes, and of bodies that the server writes by hand.
//! Bodies that the server serializes from a type of its own are described at that type.
//!
//! No code makes values of these types. The test stage `interface` compares them with the answers
//! of a running server, member by member.
#![expect(dead_code, reason = "only the form of these types is used")]
#![expect(unused_qualifications, reason = "the derived code has them")]

mod alerts;
mod checks;
mod grids;
mod ingest;
mod models;
mod readings;
mod stations;
mod words;

pub use alerts::*;
pub use checks::*;
pub use grids::*;
pub use ingest::*;
pub use models::*;
pub use readings::*;
pub use stations::*;
pub use words::*;

use std::collections::BTreeMap;

use utoipa::ToSchema;

/// Why an account token is rejected.
#[derive(ToSchema)]
pub struct Rejected {
    /// In the order in which they are tested.
    reason: Reason,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum Reason {
    Malformed,
    UnknownKid,
    BadSignature,
    Expired,
    BadClaims,
}

/// A fault of the server (RFC 7807).
#[derive(ToSchema)]
pub struct Problem {
    r#type: String,
    title: String,
    status: u16,
    /// `urn:mesonet:request:` and the id of the request in the log.
    instance: String,
}

/// What the caller may do. A product that is not named is not offered.
#[derive(ToSchema)]
pub struct Capabilities {
    /// By product id.
    products: BTreeMap<String, ProductAccess>,
    /// By name; null is unlimited. Unknown names are to be ignored.
    limits: BTreeMap<String, Option<i64>>,
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ProductAccess {
    allowed: bool,
    /// The lowest plan that may use it.
    requires: Plan,
    /// `staff` is granted by no plan.
    requires_standing: Standing,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum Standing {
    None,
    Staff,
    Organization,
}
