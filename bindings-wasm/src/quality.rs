//! The names of quality codes, and two messages of the core: the build of the package writes them into its
//! source, where codes are ranked without WebAssembly.

use mesonet::{BaseQuality, ReasonQuality};
use wasm_bindgen::prelude::*;

/// Names of the base qualities in the order of their codes.
#[wasm_bindgen]
pub fn base_quality_names() -> Vec<String> {
    BaseQuality::ALL.map(|code| code.name().to_owned()).into()
}

/// Names of the reasons in the order of their codes.
#[wasm_bindgen]
pub fn reason_quality_names() -> Vec<String> {
    ReasonQuality::ALL.map(|code| code.name().to_owned()).into()
}

/// The core's message for a number that is not a code.
#[wasm_bindgen]
pub fn not_a_base_quality_code(got: &str) -> String {
    BaseQuality::refused(got).to_string()
}

/// The core's message for a text that is not the name of a code.
#[wasm_bindgen]
pub fn not_a_base_quality_name(got: &str) -> String {
    got.parse::<BaseQuality>().err().map(|error| error.to_string()).unwrap_or_default()
}
