//! What a caller may ask for: plans, how far back each plan may look, and products.

mod plan;
mod product;
#[cfg(all(feature = "grib", feature = "model"))]
mod rule;

pub use self::plan::{
    GRACE_MS, Limits, LookbackError, Plan, PlanError, check_lookback, check_moment,
};
pub use self::product::{Capabilities, Product, ProductAccess, Standing};
#[cfg(all(feature = "grib", feature = "model"))]
pub use self::rule::{ModelCaller, ModelCapabilities, ModelUse, Refusal, Rule};
