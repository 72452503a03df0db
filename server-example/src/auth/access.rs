//! Who the caller is, and what the caller may use.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use mesonet::access::{ModelCaller, ModelUse, Plan, Product};
use mesonet::{access, model};

use crate::auth::Account;
use crate::http::error::ApiError;

/// The caller of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The plan on the observation service; [`Plan::None`] without a credential.
    pub plan: Plan,
    /// Whether the account is of the operator's staff.
    pub is_staff: bool,
    /// The account of the token, if the token names it; `None` without a token.
    pub subject: Option<Arc<str>>,
    /// Whether the caller has a valid account token.
    pub is_signed_in: bool,
    /// The same caller on the model service, where an API key does not count as a credential.
    models: Arc<ModelCaller>,
}

impl Caller {
    /// A caller without a credential who is treated as having a plan.
    pub fn anonymous(plan: Plan) -> Self {
        let models = Arc::new(ModelCaller { plan, organisations: Vec::new() });
        Self { plan, is_staff: false, subject: None, is_signed_in: false, models }
    }

    /// The caller of a valid account token.
    pub fn of_account(account: Account) -> Self {
        let Account { plan, organisations, is_staff, subject } = account;
        let models = Arc::new(ModelCaller { plan, organisations });
        Self { plan, is_staff, subject: subject.map(Arc::from), is_signed_in: true, models }
    }

    /// The same caller with a valid API key, which has no effect on the model service.
    pub fn with_api_key(&self) -> Self {
        Self { plan: Plan::Commercial, ..self.clone() }
    }

    /// The same as a caller of the model service.
    pub fn of_models(&self) -> &ModelCaller {
        &self.models
    }

    /// Refuses a caller who may not use a product: 401 if a credential could help, 403 if the plan
    /// of the credential is too low.
    fn check(&self, product: Product) -> Result<(), ApiError> {
        if product.allows(self.plan, self.is_staff) {
            Ok(())
        } else if self.plan == Plan::None {
            Err(ApiError::Unauthorized)
        } else {
            Err(ApiError::Forbidden)
        }
    }
}

/// Permission to use a model. No run is opened without a permission, and only this module grants
/// one.
#[derive(Clone, Copy, Debug)]
pub struct ModelPermission<'a>(&'a model::Source);

impl<'a> ModelPermission<'a> {
    /// Grants a caller the use of some products of a model in a catalogue.
    ///
    /// # Errors
    /// 404 for an unknown model, 401 or 403 if the caller may not use it.
    pub fn new<'p>(
        catalogue: &'a model::Catalogue,
        caller: &Caller,
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
        source.allows(caller.of_models(), use_, products).map_err(|refusal| match refusal {
            access::Refusal::Anonymous => ApiError::Unauthorized,
            access::Refusal::Lacking => ApiError::Forbidden,
        })?;
        Ok(Self(source))
    }

    /// Grants the server itself the use of a model: it tells what it has only to those who may have
    /// it.
    pub(crate) fn to_server(source: &'a model::Source) -> Self {
        Self(source)
    }

    /// The model.
    pub fn source(self) -> &'a model::Source {
        self.0
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let identified = parts.extensions.get().cloned();
        identified.ok_or_else(|| {
            ApiError::internal("the caller of the request is unknown: identify did not run")
        })
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

impl<G: Gate, S: Sync> FromRequestParts<S> for Allowed<G> {
    type Rejection = ApiError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Caller::from_request_parts(parts, state).await?.check(G::PRODUCT)?;
        Ok(Self(PhantomData))
    }
}
