//! Who calls, and what the caller may use.
//!
//! Credentials are not read yet: a caller counts as the plan that the settings assume.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use mesonet::{AccessRefusal, ModelCaller, ModelSource, ModelUse, Plan, Product};

use crate::error::ApiError;
use crate::state::State;

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The plan; [`Plan::None`] without a credential.
    pub plan: Plan,
}

impl Caller {
    /// The same as a caller of the model service.
    pub fn of_models(self) -> ModelCaller {
        ModelCaller { plan: self.plan, organisations: Vec::new() }
    }

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

/// Leave to use a source of model output. Without one no run is opened, and here is the only place
/// that gives it.
#[derive(Clone, Copy, Debug)]
pub struct Granted<'a>(&'a ModelSource);

impl<'a> Granted<'a> {
    /// Leave for a caller to use some products of a source in a way.
    ///
    /// # Errors
    /// 404 for a source that there is not, 401 or 403 where the caller may not use it.
    pub fn new<'p>(
        state: &'a State,
        caller: Caller,
        model: &str,
        use_: ModelUse,
        products: impl IntoIterator<Item = &'p str>,
    ) -> Result<Self, ApiError> {
        let catalogue = state.models().catalogue();
        let source = catalogue.get(model).ok_or_else(|| {
            let models: Vec<&str> = catalogue.iter().map(ModelSource::name).collect();
            ApiError::NotFound(format!("\"{model}\" is no model; there are {}", models.join(", ")))
        })?;
        source.allows(&caller.of_models(), use_, products).map_err(|refusal| match refusal {
            AccessRefusal::Anonymous => ApiError::Unauthorized,
            AccessRefusal::Lacking => ApiError::Forbidden,
        })?;
        Ok(Self(source))
    }

    /// The source.
    pub fn source(self) -> &'a ModelSource {
        self.0
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
