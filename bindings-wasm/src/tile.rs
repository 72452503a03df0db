//! Packed tiles. JavaScript writes and reads their arrays in place, by addresses: large tiles pass
//! through a room in parts, which stay in the caches of the processor.

use mesonet::grid::Encoding;
use wasm_bindgen::prelude::*;

/// Integers nearest to values; nodata for NaN.
#[wasm_bindgen]
pub fn encode(values: &[f64], scale: f64, offset: f64, nodata: i16) -> Result<Vec<i16>, JsError> {
    let encoding = Encoding::new(scale, offset, nodata)?;
    let mut raw = vec![0; values.len()];
    encoding.encode_into(values, &mut raw)?;
    Ok(raw)
}

/// Room in this module's memory for the bytes of a tile, 16-bit little-endian integers, and for what
/// is made of them.
#[wasm_bindgen]
pub struct TileRoom {
    pub(crate) bytes: Vec<u8>,
    values: Vec<f64>,
    values_f32: Vec<f32>,
    pub(crate) rgba: Vec<u8>,
}

#[wasm_bindgen]
impl TileRoom {
    /// Room for a number of values.
    #[wasm_bindgen(constructor)]
    pub fn new(values: usize) -> Result<Self, JsError> {
        let mut bytes = Vec::new();
        let length = values.checked_mul(2).ok_or_else(|| no_room(values))?;
        bytes.try_reserve_exact(length).map_err(|_| no_room(values))?;
        bytes.resize(length, 0);
        Ok(Self { bytes, values: Vec::new(), values_f32: Vec::new(), rgba: Vec::new() })
    }

    /// The address of the bytes.
    pub fn bytes_at(&self) -> usize {
        self.bytes.as_ptr() as usize
    }

    /// Decodes a number of the values, NaN for nodata; returns their address.
    pub fn decode(
        &mut self,
        values: usize,
        scale: f64,
        offset: f64,
        nodata: i16,
    ) -> Result<usize, JsError> {
        let encoding = Encoding::new(scale, offset, nodata)?;
        self.values.resize(self.bytes.len() / 2, 0.0);
        encoding.decode_bytes_into(&self.bytes[..2 * values], &mut self.values[..values])?;
        Ok(self.values.as_ptr() as usize)
    }

    /// The same in single precision.
    pub fn decode_f32(
        &mut self,
        values: usize,
        scale: f64,
        offset: f64,
        nodata: i16,
    ) -> Result<usize, JsError> {
        let encoding = Encoding::new(scale, offset, nodata)?;
        self.values_f32.resize(self.bytes.len() / 2, 0.0);
        encoding
            .decode_bytes_into_f32(&self.bytes[..2 * values], &mut self.values_f32[..values])?;
        Ok(self.values_f32.as_ptr() as usize)
    }
}

fn no_room(values: usize) -> JsError {
    JsError::new(&format!("no memory is left for a tile of {values} values"))
}
