//! Who the caller is and what they may use.

use std::convert::Infallible;
use std::marker::PhantomData;

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use mesonet::access::{ModelCaller, ModelUse, Plan, Product};
use mesonet::{access, model};

use crate::error::ApiError;

/// The caller of a request.
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

    /// Refuses a caller who may not use a product: 401 if a credential could help, 403 if there is
    /// one but its plan is too low.
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

/// Permission to use a source of model output. No run is opened without one, and only this module
/// grants it.
#[derive(Clone, Copy, Debug)]
pub struct Granted<'a>(&'a model::Source);

impl<'a> Granted<'a> {
    /// Grants a caller the use of some products of a source in a catalogue.
    ///
    /// # Errors
    /// 404 for an unknown source, 401 or 403 if the caller may not use it.
    pub fn new<'p>(
        catalogue: &'a model::Catalogue,
        caller: Caller,
        model: &str,
        use_: ModelUse,
        products: impl IntoIterator<Item = &'p str>,
    ) -> Result<Self, ApiError> {
        let source = catalogue.get(model).ok_or_else(|| {
            let models: Vec<&str> = catalogue.iter().map(model::Source::name).collect();
            ApiError::NotFound(format!(
                "unknown model \"{model}\"; known are {}",
                models.join(", ")
            ))
        })?;
        source.allows(&caller.of_models(), use_, products).map_err(|refusal| match refusal {
            access::Refusal::Anonymous => ApiError::Unauthorized,
            access::Refusal::Lacking => ApiError::Forbidden,
        })?;
        Ok(Self(source))
    }

    /// The source.
    pub fn source(self) -> &'a model::Source {
        self.0
    }
}

impl<S: Sync> FromRequestParts<S> for Caller
where
    Self: FromRef<S>,
{
    type Rejection = Infallible;
    async fn from_request_parts(_: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(Self::from_ref(state))
    }
}

/// A product that guards an endpoint.
pub trait Gate {
    /// The product.
    const PRODUCT: Product;
}

/// A caller who may use the product of a gate. When a handler extracts it first, other callers are
/// refused before the rest of their request is read.
#[derive(Clone, Copy, Debug)]
pub struct Allowed<G>(PhantomData<G>);

impl<G: Gate, S: Sync> FromRequestParts<S> for Allowed<G>
where
    Caller: FromRef<S>,
{
    type Rejection = ApiError;
    async fn from_request_parts(_: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Caller::from_ref(state).check(G::PRODUCT)?;
        Ok(Self(PhantomData))
    }
}
