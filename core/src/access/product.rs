//! What a caller may do: products and limits by plan.

use std::collections::BTreeMap;

use crate::access::{Limits, Plan};

/// A product of the service, which a plan may unlock.
///
/// ```
/// use mesonet::access::{Plan, Product};
/// assert!(Product::STATIONS_MAP.allows(Plan::None, false));
/// assert!(Product::STATIONS_READINGS.allows(Plan::None, false));
/// assert!(!Product::HISTORICAL_BULK.allows(Plan::Pro, false));
/// assert!(!Product::HISTORICAL_BULK.allows(Plan::Free, true), "staff is no plan");
/// let open = [Product::ALERTS, Product::ALERTS_ZONES, Product::PRODUCTS];
/// assert!(open.iter().all(|product| product.allows(Plan::None, false)));
/// // By id.
/// let ids = Product::OF_OBSERVATIONS.map(|product| product.id);
/// assert_eq!(ids[3..5], [Product::OBSERVATIONS_EXPLAIN.id, Product::OBSERVATIONS_SERIES.id]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// Id on the wire: the path of its endpoints, with dots.
    pub id: &'static str,
    /// The lowest plan that may use it.
    pub requires: Plan,
    /// Whether it is reserved for the operator's staff, so that no plan grants it.
    pub staff_only: bool,
}

impl Product {
    /// Station markers, map details and single stations.
    pub const STATIONS_MAP: Self = Self::open("stations.map");
    /// Snapshots and grids of readings.
    pub const STATIONS_READINGS: Self = Self::open("stations.readings");
    /// The readings of one variable at one station.
    pub const OBSERVATIONS_SERIES: Self = Self::open("observations.series");
    /// Why a reading has its verdict.
    pub const OBSERVATIONS_EXPLAIN: Self = Self::open("observations.explain");
    /// The present weather of each report of a station.
    pub const OBSERVATIONS_WEATHER: Self = Self::open("observations.weather");
    /// Alerts with their current state.
    pub const ALERTS: Self = Self::open("alerts");
    /// The zones that alerts are issued for.
    pub const ALERTS_ZONES: Self = Self::open("alerts.zones");
    /// Raster products.
    pub const PRODUCTS: Self = Self::open("products");
    /// Bulk export.
    pub const HISTORICAL_BULK: Self =
        Self { id: "historical.bulk", requires: Plan::Commercial, staff_only: false };

    /// All products of the observation service, by id.
    pub const OF_OBSERVATIONS: [Self; 9] = [
        Self::ALERTS,
        Self::ALERTS_ZONES,
        Self::HISTORICAL_BULK,
        Self::OBSERVATIONS_EXPLAIN,
        Self::OBSERVATIONS_SERIES,
        Self::OBSERVATIONS_WEATHER,
        Self::PRODUCTS,
        Self::STATIONS_MAP,
        Self::STATIONS_READINGS,
    ];

    const fn open(id: &'static str) -> Self {
        Self { id, requires: Plan::None, staff_only: false }
    }

    /// Whether a caller may use the product: staff may use products reserved for staff, and a plan
    /// the products that it covers.
    pub fn allows(self, plan: Plan, staff: bool) -> bool {
        if self.staff_only { staff } else { plan >= self.requires }
    }
}

/// What one caller may do, in the shape of the interface.
///
/// ```
/// use mesonet::access::{Capabilities, Plan, Product};
/// let view = Capabilities::new(&[Product::HISTORICAL_BULK], Plan::None, false);
/// assert!(!view.products["historical.bulk"].allowed);
/// assert_eq!(view.limits.max_window_ms, Some(604_800_000));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Capabilities {
    /// The products offered by the deployment, by id.
    pub products: BTreeMap<&'static str, ProductAccess>,
    /// The limits of the caller's plan; null on the wire means unlimited.
    pub limits: Limits,
}

/// A caller's access to one product.
///
/// ```
/// use mesonet::access::{Capabilities, Plan, Product, ProductAccess, Standing};
/// let view = Capabilities::new(&[Product::HISTORICAL_BULK], Plan::Pro, false);
/// let access =
///     ProductAccess { allowed: false, requires: Plan::Commercial, requires_standing: Standing::None };
/// assert_eq!(view.products["historical.bulk"], access);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProductAccess {
    /// Whether the caller may use it.
    pub allowed: bool,
    /// The lowest plan that may use it.
    pub requires: Plan,
    /// What it requires besides a plan.
    pub requires_standing: Standing,
}

/// What a product requires besides a plan. No plan grants it.
///
/// ```
/// use mesonet::access::Standing;
/// assert_eq!(Standing::Organization.name(), "organization");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Standing {
    /// Nothing.
    None,
    /// It is reserved for the operator's staff.
    Staff,
    /// It is reserved for members of some organisations.
    Organization,
}

impl Standing {
    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Staff => "staff",
            Self::Organization => "organization",
        }
    }
}

impl Capabilities {
    /// The access of a caller on a plan to the products offered by a deployment.
    pub fn new(offered: &[Product], plan: Plan, staff: bool) -> Self {
        let access = |product: &Product| ProductAccess {
            allowed: product.allows(plan, staff),
            requires: product.requires,
            requires_standing: if product.staff_only { Standing::Staff } else { Standing::None },
        };
        Self {
            products: offered.iter().map(|product| (product.id, access(product))).collect(),
            limits: Limits::of(plan),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_higher_plan_satisfies_a_lower_requirement() {
        for plan in Plan::ALL {
            assert!(Product::STATIONS_READINGS.allows(plan, false));
            assert_eq!(Product::HISTORICAL_BULK.allows(plan, false), plan == Plan::Commercial);
        }
    }

    #[test]
    fn no_plan_grants_staff_products() {
        let staff_only = Product { id: "x", requires: Plan::None, staff_only: true };
        assert!(!staff_only.allows(Plan::Commercial, false));
        assert!(staff_only.allows(Plan::None, true));
    }

    #[test]
    fn staff_opens_what_is_reserved_for_it_and_nothing_else() {
        for plan in Plan::ALL {
            for product in Product::OF_OBSERVATIONS {
                assert_eq!(product.allows(plan, true), product.allows(plan, false), "{product:?}");
            }
        }
    }

    #[test]
    fn the_wire_shape_is_that_of_the_interface() {
        let offered = [Product::HISTORICAL_BULK, Product::STATIONS_MAP];
        let wire = |plan| serde_json::to_string(&Capabilities::new(&offered, plan, false)).unwrap();
        assert_eq!(
            wire(Plan::None),
            r#"{"products":{"historical.bulk":{"allowed":false,"requires":"commercial","requiresStanding":"none"},"stations.map":{"allowed":true,"requires":"none","requiresStanding":"none"}},"limits":{"maxWindowMs":604800000,"maxReachMs":604800000}}"#
        );
        assert!(
            wire(Plan::Commercial).ends_with(r#""limits":{"maxWindowMs":null,"maxReachMs":null}}"#)
        );
    }
}
