//! Access rules: who may use a source of model output, and for what.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::access::{Plan, ProductAccess, Standing};

/// A caller of the model service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCaller {
    /// The plan; [`Plan::None`] for a caller without an account.
    pub plan: Plan,
    /// The organisations that the account belongs to.
    pub organisations: Vec<String>,
}

/// The requirements on a caller.
///
/// ```
/// use mesonet::access;
/// use mesonet::access::{ModelCaller, Plan};
/// let rule = access::Rule { plan: Plan::Pro, organisations: Vec::new() };
/// let caller = |plan| ModelCaller { plan, organisations: Vec::new() };
/// assert_eq!(rule.check(&caller(Plan::None)), Err(access::Refusal::Anonymous));
/// assert_eq!(rule.check(&caller(Plan::Free)), Err(access::Refusal::Lacking));
/// assert_eq!(rule.check(&caller(Plan::Commercial)), Ok(()));
/// assert!(!rule.is_open() && access::Rule::OPEN.is_open());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The lowest plan; [`Plan::None`] admits everyone, [`Plan::Free`] every account.
    pub plan: Plan,
    /// The caller must belong to one of these organisations; if the list is empty, there is no such
    /// condition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub organisations: Vec<String>,
}

/// A use of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelUse {
    /// The runs, products and grid.
    Listing,
    /// The values of one cell at one hour.
    Point,
    /// The values of one cell over the hours.
    Series,
    /// Map tiles.
    Tiles,
}

/// Why a caller is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The caller has no account; an account might help.
    #[error("an account is needed")]
    Anonymous,
    /// The account's plan is too low, or it belongs to none of the organisations.
    #[error("the account's plan or organisation lacks access")]
    Lacking,
}

/// What a caller may do, in the form of the interface. A product that is not named is not offered.
///
/// ```
/// use mesonet::access::{ModelCaller, ModelCapabilities, Plan};
/// use mesonet::model;
/// let anyone = ModelCaller { plan: Plan::None, organisations: Vec::new() };
/// let limits = [("maxValues", Some(1_000_000))].into();
/// let view: ModelCapabilities = model::Catalogue::default().capabilities(&anyone, limits);
/// assert!(view.products["models.nam211"].allowed);
/// // Tiles and series of this product need an account.
/// assert!(!view.products["models.nam211.lifted_index"].allowed);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Capabilities))]
pub struct ModelCapabilities {
    /// The access by product id; of models, `models.MODEL` for a source, `models.MODEL.PRODUCT` for
    /// tiles and series of a product that has its own rule.
    pub products: BTreeMap<String, ProductAccess>,
    /// The limits by name; null means unlimited. Unknown names are to be ignored.
    #[cfg_attr(feature = "openapi", schema(value_type = BTreeMap<String, Option<i64>>))]
    pub limits: BTreeMap<&'static str, Option<u64>>,
}

impl Rule {
    /// The rule that admits everyone.
    pub const OPEN: Self = Self { plan: Plan::None, organisations: Vec::new() };

    /// Returns whether everyone is admitted.
    pub fn is_open(&self) -> bool {
        *self == Self::OPEN
    }

    /// Checks whether a caller is admitted.
    ///
    /// # Errors
    /// If the caller is not admitted.
    pub fn check(&self, caller: &ModelCaller) -> Result<(), Refusal> {
        let is_member = self.organisations.is_empty()
            || self.organisations.iter().any(|one| caller.organisations.contains(one));
        if caller.plan >= self.plan && is_member {
            Ok(())
        } else if caller.plan == Plan::None {
            Err(Refusal::Anonymous)
        } else {
            Err(Refusal::Lacking)
        }
    }

    /// Returns the rule as it appears in the capabilities of a caller.
    pub(crate) fn shown(&self, allowed: bool) -> ProductAccess {
        let is_open = self.organisations.is_empty();
        let requires_standing = if is_open { Standing::None } else { Standing::Organization };
        ProductAccess { allowed, requires: self.plan, requires_standing }
    }
}

impl Default for Rule {
    /// Admits every account: the rule of a source that states none.
    fn default() -> Self {
        Self { plan: Plan::Free, organisations: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_of_one_of_the_organisations_may_and_others_may_not_whatever_their_plan() {
        let rule = Rule { plan: Plan::Free, organisations: vec!["a".to_owned(), "b".to_owned()] };
        let caller = |plan, organisation: &str| ModelCaller {
            plan,
            organisations: vec![organisation.to_owned()],
        };
        assert_eq!(rule.check(&caller(Plan::Free, "b")), Ok(()));
        assert_eq!(rule.check(&caller(Plan::Commercial, "c")), Err(Refusal::Lacking));
        // A caller without an account is not a member of an organisation.
        assert_eq!(rule.check(&caller(Plan::None, "a")), Err(Refusal::Anonymous));
    }
}
