//! The addresses of the services. Each has one declaration, for the router, for the list at `/`,
//! for the names that a request may have, and for the description at `/openapi/v1.json`.

use axum::routing::MethodRouter;

use super::About;
use crate::http::member::Member;
use crate::http::parameter::Parameter;

/// An address with a method, its parameters, and its handler.
pub struct Endpoint<S: 'static> {
    /// `GET`, which also answers HEAD, or `POST`.
    pub method: &'static str,
    /// The path below the prefix of its service.
    pub path: &'static str,
    /// Its query parameters.
    pub query: &'static [Parameter],
    /// The members of its JSON body and of the objects in it.
    pub body: &'static [Member],
    /// The handler, for its method.
    pub handler: fn() -> MethodRouter<S>,
    /// What it is for and what it answers.
    pub about: fn() -> About,
}
