//! The addresses of the services. Each has one declaration, for the router, for the list at `/`,
//! for the names that a request may have, and for the description at `/openapi/v1.json`.

use axum::routing::MethodRouter;

use super::About;
use crate::http::member::Member;
use crate::http::parameter::Parameter;

/// An address with a method, its parameters, its handler and its description.
pub struct Endpoint<S: 'static, A = fn() -> About> {
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
    /// What it is for and what it answers; `()` until that is stated.
    pub about: A,
}

impl<S> Endpoint<S> {
    /// Declares an endpoint for GET, without parameters. Its description must follow.
    pub const fn get(path: &'static str, handler: fn() -> MethodRouter<S>) -> Endpoint<S, ()> {
        Endpoint { method: "GET", path, query: &[], body: &[], handler, about: () }
    }

    /// The same for POST.
    pub const fn post(path: &'static str, handler: fn() -> MethodRouter<S>) -> Endpoint<S, ()> {
        Endpoint { method: "POST", ..Self::get(path, handler) }
    }
}

impl<S> Endpoint<S, ()> {
    /// Its query parameters.
    pub const fn query(self, query: &'static [Parameter]) -> Self {
        Self { query, ..self }
    }

    /// The members of its JSON body and of the objects in it.
    pub const fn body(self, body: &'static [Member]) -> Self {
        Self { body, ..self }
    }

    /// What it is for and what it answers.
    pub const fn about(self, about: fn() -> About) -> Endpoint<S> {
        let Self { method, path, query, body, handler, about: () } = self;
        Endpoint { method, path, query, body, handler, about }
    }
}
