//! The codec of model runs, to read them.

use mesonet::grid::blocks::{self, ChunkShape};
use wasm_bindgen::prelude::*;

/// The values of a chunk, plane by plane and row by row.
#[wasm_bindgen]
pub fn decode_blocks(
    bytes: &[u8],
    planes: usize,
    rows: usize,
    columns: usize,
) -> Result<Vec<i16>, JsError> {
    let shape = ChunkShape { planes, rows, columns };
    shape.check()?;
    let mut values = vec![0; shape.values()];
    blocks::decode(bytes, shape, &mut values)?;
    Ok(values)
}

/// The name of the codec in Zarr.
#[wasm_bindgen]
pub fn blocks_codec() -> String {
    blocks::CODEC.to_owned()
}
