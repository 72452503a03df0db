//! Packed tiles.

use mesonet::grid::Encoding;
use wasm_bindgen::prelude::*;

/// Values of a tile's bytes, 16-bit little-endian integers; NaN for nodata.
#[wasm_bindgen]
pub fn decode_bytes(
    bytes: &[u8],
    scale: f64,
    offset: f64,
    nodata: i16,
) -> Result<Vec<f64>, JsError> {
    let encoding = Encoding::new(scale, offset, nodata)?;
    let mut values = vec![0.0; bytes.len() / 2];
    encoding.decode_bytes_into(bytes, &mut values)?;
    Ok(values)
}

/// Values of integers; NaN for nodata.
#[wasm_bindgen]
pub fn decode(raw: &[i16], scale: f64, offset: f64, nodata: i16) -> Result<Vec<f64>, JsError> {
    let encoding = Encoding::new(scale, offset, nodata)?;
    let mut values = vec![0.0; raw.len()];
    encoding.decode_into(raw, &mut values)?;
    Ok(values)
}

/// Integers nearest to values; nodata for NaN.
#[wasm_bindgen]
pub fn encode(values: &[f64], scale: f64, offset: f64, nodata: i16) -> Result<Vec<i16>, JsError> {
    let encoding = Encoding::new(scale, offset, nodata)?;
    let mut raw = vec![0; values.len()];
    encoding.encode_into(values, &mut raw)?;
    Ok(raw)
}
