//! Examples of answers, by operation: what a server on its sample answered to the example request,
//! with lists and maps cut short. `tests/interface` writes `examples.json` (see
//! docs/contributing.md), and checks each example against its schema.

use std::sync::OnceLock;

use serde_json::{Map, Value};

/// The example of the successful answer of an operation in JSON.
pub fn example(operation: &str) -> Option<Value> {
    static EXAMPLES: OnceLock<Map<String, Value>> = OnceLock::new();
    let parsed = || serde_json::from_str(include_str!("examples.json")).unwrap_or_default();
    EXAMPLES.get_or_init(parsed).get(operation).cloned()
}
