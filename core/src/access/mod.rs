//! What a caller may ask for: plans, how far back each plan may look, and products.

mod plan;
mod product;
#[cfg(feature = "model-delivery")]
mod rule;

pub use self::plan::{
    GRACE_MS, Limits, LookbackError, Plan, PlanError, check_lookback, check_moment,
};
pub use self::product::{Capabilities, Product, ProductAccess};
#[cfg(feature = "model-delivery")]
pub use self::rule::{ModelCaller, ModelCapabilities, ModelUse, Refusal, Rule};
