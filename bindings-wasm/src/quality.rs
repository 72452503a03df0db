//! Quality codes as bytes, and their names.

use mesonet::{BaseQuality, QualityError, ReasonQuality, worst_code};
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

/// The core's message for a number that does not even fit a byte.
#[wasm_bindgen]
pub fn not_a_base_quality_code(got: &str) -> String {
    let message = worst_code(&[u8::MAX]).err().map(|error| error.to_string()).unwrap_or_default();
    message.replacen(&u8::MAX.to_string(), got, 1)
}

/// The worst of many codes.
#[wasm_bindgen]
pub fn worst(codes: &[u8]) -> Result<u8, JsError> {
    Ok(worst_code(codes)? as u8)
}

/// The distinct codes among many, worst first.
#[wasm_bindgen]
pub fn distinct_worst_first(codes: &[u8]) -> Result<Vec<u8>, JsError> {
    worst_code(codes)?; // So that of several wrong numbers the same one is named as there.
    let codes = codes.iter().map(|&code| BaseQuality::try_from(code));
    let codes = codes.collect::<Result<Vec<_>, QualityError>>()?;
    Ok(mesonet::distinct_worst_first(codes).into_iter().map(|code| code as u8).collect())
}
