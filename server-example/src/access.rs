//! Who calls, and what the caller may use.
//!
//! Credentials are not read yet: a caller counts as the plan that the settings assume.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use mesonet::{Plan, Product};

use crate::error::ApiError;
use crate::state::State;

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The plan; [`Plan::None`] without a credential.
    pub plan: Plan,
}

impl Caller {
    /// Refuses a caller who may not use a product: 401 where a credential could help, 403 where
    /// there is one whose plan is too low.
    fn check(self, product: Product) -> Result<(), ApiError> {
        if product.allows(self.plan, false) {
            Ok(())
        } else if self.plan == Plan::None {
            Err(ApiError::Unauthorized)
        } else {
            Err(ApiError::Forbidden)
        }
    }
}

impl FromRequestParts<Arc<State>> for Caller {
    type Rejection = Infallible;
    async fn from_request_parts(_: &mut Parts, state: &Arc<State>) -> Result<Self, Infallible> {
        Ok(Self { plan: state.config().assume_plan })
    }
}

/// A product that stands before an endpoint.
pub trait Gate {
    /// The product.
    const PRODUCT: Product;
}

/// A caller who may use the product of a gate. As the first thing that a handler extracts, it
/// refuses others before anything of their request is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Allowed<G>(PhantomData<G>);

impl<G: Gate> FromRequestParts<Arc<State>> for Allowed<G> {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &Arc<State>) -> Result<Self, ApiError> {
        let Ok(caller) = Caller::from_request_parts(parts, state).await;
        caller.check(G::PRODUCT)?;
        Ok(Self(PhantomData))
    }
}
