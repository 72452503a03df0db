//! Quality codes as bytes, and their names.

use mesonet::observation::{distinct_codes_worst_first, worst_code};
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

/// The code of a base quality's name.
#[wasm_bindgen]
pub fn base_quality_code(name: &str) -> Result<u8, JsError> {
    Ok(name.parse::<BaseQuality>()? as u8)
}

/// The core's message for a number that does not fit a byte.
#[wasm_bindgen]
pub fn not_a_base_quality_code(got: &str) -> String {
    BaseQuality::refused(got).to_string()
}

/// The worst of many codes.
#[wasm_bindgen]
pub fn worst(codes: &[u8]) -> Result<u8, JsError> {
    Ok(worst_code(codes)? as u8)
}

/// The distinct codes among many, worst first.
#[wasm_bindgen]
pub fn distinct_worst_first(codes: &[u8]) -> Result<Vec<u8>, JsError> {
    Ok(distinct_codes_worst_first(codes)?.into_iter().map(|code| code as u8).collect())
}
