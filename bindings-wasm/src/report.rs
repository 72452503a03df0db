//! The groups of one METAR or SPECI report, without the line of English and the date that `metar`
//! adds: those two are a third of the code.

use mesonet::feed::metar::Decoded;
use wasm_bindgen::prelude::*;

/// The report as JSON.
#[wasm_bindgen]
pub fn metar_groups(text: &str) -> Result<String, JsError> {
    Ok(serde_json::to_string(&Decoded::parse(text)?)?)
}
