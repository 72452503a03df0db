//! Who may use a source of model output, and for what.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::capability::ProductAccess;
use crate::lookback::Plan;

/// A caller of the model service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelCaller {
    /// The plan; [`Plan::None`] without an account.
    pub plan: Plan,
    /// The organisations that the account is a member of.
    pub organisations: Vec<String>,
}

/// What a caller must have.
///
/// ```
/// use mesonet::{AccessRefusal, AccessRule, ModelCaller, Plan};
/// let rule = AccessRule { plan: Plan::Pro, organisations: Vec::new() };
/// let caller = |plan| ModelCaller { plan, organisations: Vec::new() };
/// assert_eq!(rule.check(&caller(Plan::None)), Err(AccessRefusal::Anonymous));
/// assert_eq!(rule.check(&caller(Plan::Free)), Err(AccessRefusal::Lacking));
/// assert_eq!(rule.check(&caller(Plan::Commercial)), Ok(()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AccessRule {
    /// The lowest plan; [`Plan::None`] is everyone, [`Plan::Free`] every account.
    pub plan: Plan,
    /// The organisations of which a caller must be a member of one; none is no such condition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub organisations: Vec<String>,
}

/// What a source is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelUse {
    /// Its runs, products and grid.
    Listing,
    /// Values of one cell at one hour.
    Point,
    /// Values of one cell over the hours.
    Series,
    /// Tiles of a map.
    Tiles,
}

/// Why a caller may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccessRefusal {
    /// There is no account; one might help.
    #[error("an account is needed")]
    Anonymous,
    /// The account's plan is too low, or it is of none of the organisations.
    #[error("the account's plan or organisation lacks access")]
    Lacking,
}

/// What one caller may do, in the shape of the interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModelCapabilities {
    /// By product id: `models.MODEL` for a source, `models.MODEL.PRODUCT` for tiles and series of a
    /// product that has a rule of its own.
    pub products: BTreeMap<String, ProductAccess>,
    /// By name; null on the wire is unlimited.
    pub limits: BTreeMap<&'static str, Option<u64>>,
}

impl AccessRule {
    /// Everyone.
    pub const OPEN: Self = Self { plan: Plan::None, organisations: Vec::new() };

    /// Whether everyone may.
    pub fn is_open(&self) -> bool {
        *self == Self::OPEN
    }

    /// Whether a caller may.
    ///
    /// # Errors
    /// The caller may not.
    pub fn check(&self, caller: &ModelCaller) -> Result<(), AccessRefusal> {
        let is_member = self.organisations.is_empty()
            || self.organisations.iter().any(|one| caller.organisations.contains(one));
        if caller.plan >= self.plan && is_member {
            Ok(())
        } else if caller.plan == Plan::None {
            Err(AccessRefusal::Anonymous)
        } else {
            Err(AccessRefusal::Lacking)
        }
    }

    /// The rule as the capabilities of a caller show it.
    pub(crate) fn shown(&self, allowed: bool) -> ProductAccess {
        let requires_standing = if self.organisations.is_empty() { "none" } else { "organization" };
        ProductAccess { allowed, requires: self.plan, requires_standing }
    }
}

impl Default for AccessRule {
    /// Every account: what a source needs that says nothing else.
    fn default() -> Self {
        Self { plan: Plan::Free, organisations: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_of_one_of_the_organisations_may_and_others_may_not_whatever_their_plan() {
        let rule =
            AccessRule { plan: Plan::Free, organisations: vec!["a".to_owned(), "b".to_owned()] };
        let caller = |plan, organisation: &str| ModelCaller {
            plan,
            organisations: vec![organisation.to_owned()],
        };
        assert_eq!(rule.check(&caller(Plan::Free, "b")), Ok(()));
        assert_eq!(rule.check(&caller(Plan::Commercial, "c")), Err(AccessRefusal::Lacking));
        // Without an account there is no membership either.
        assert_eq!(rule.check(&caller(Plan::None, "a")), Err(AccessRefusal::Anonymous));
    }
}
