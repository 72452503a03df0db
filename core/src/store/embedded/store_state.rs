//! What segments say of their store.

use super::stations::StationState;

/// The state of a store when a segment is written.
#[derive(Clone, Debug, Default)]
pub(super) struct StoreState {
    /// The segments that it was merged from.
    pub made_from: Vec<i64>,
    /// The last journal batch that is in a segment.
    pub sealed_to: i64,
    pub generation: u64,
    pub places_generation: u64,
    pub retain_from_ms: i64,
    pub stations: Vec<StationState>,
}
