//! The addresses of the services: one declaration each, for the router, for the list at `/`, and for
//! the names that a request may have.

use std::sync::Arc;

use axum::routing::MethodRouter;
use axum::{Extension, Router};

use super::member::{Member, Requested};
use crate::state::State;

/// An address with a method, its parameters, and who answers it.
pub struct Endpoint {
    /// `GET`, which also answers HEAD, or `POST`.
    pub method: &'static str,
    /// Below the prefix of its service.
    pub path: &'static str,
    /// The names of its query parameters.
    pub query: &'static [&'static str],
    /// The members of its JSON body and of the objects in it.
    pub body: &'static [Member],
    /// The handler, for its method.
    pub handler: fn() -> MethodRouter<Arc<State>>,
}

/// Returns the router of endpoints.
pub fn router(endpoints: impl Iterator<Item = &'static Endpoint>) -> Router<Arc<State>> {
    endpoints.fold(Router::new(), |router, endpoint| {
        let requested = Requested { query: endpoint.query, body: endpoint.body };
        router.route(endpoint.path, (endpoint.handler)().route_layer(Extension(requested)))
    })
}
