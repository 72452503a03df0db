//! Winds between a grid's axes and true north.

use mesonet::grid::{Rotation, rotate_field as core_rotate_field};
use wasm_bindgen::prelude::*;

/// Rotates winds at one cell in place.
#[wasm_bindgen]
pub fn rotate(cos: f64, sin: f64, u: &mut [f64], v: &mut [f64]) -> Result<(), JsError> {
    Ok(Rotation { cos, sin }.apply_slices(u, v)?)
}

/// Rotates winds in place, each by its own factors.
#[wasm_bindgen]
pub fn rotate_field(cos: &[f64], sin: &[f64], u: &mut [f64], v: &mut [f64]) -> Result<(), JsError> {
    Ok(core_rotate_field(cos, sin, u, v)?)
}
