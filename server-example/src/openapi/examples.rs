//! Examples of answers, by operation: what a server on its sample answered to the example of the request,
//! with lists and maps cut short. `examples.json` is written by `tests/interface` (see
//! docs/contributing.md), which also checks each against its schema.

use std::sync::OnceLock;

use serde_json::{Map, Value};

/// The example of the answer in JSON that an operation gives when all is well.
pub fn example(operation: &str) -> Option<Value> {
    static EXAMPLES: OnceLock<Map<String, Value>> = OnceLock::new();
    let parsed = || serde_json::from_str(include_str!("examples.json")).unwrap_or_default();
    EXAMPLES.get_or_init(parsed).get(operation).cloned()
}
