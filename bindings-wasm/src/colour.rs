//! Tiles painted with the colours of their values.

use mesonet::grid::{ColourScale, Encoding, TileColours as Table};
use wasm_bindgen::prelude::*;

use crate::tile::TileRoom;

fn colour_scale(values: &[f64], rgba: &[u8]) -> Result<ColourScale, JsError> {
    Ok(ColourScale::new(values, rgba.as_chunks().0)?)
}

/// The colours of values, four bytes for each.
#[wasm_bindgen]
pub fn colours(values: &[f64], stops: &[f64], rgba: &[u8]) -> Result<Vec<u8>, JsError> {
    let scale = colour_scale(stops, rgba)?;
    Ok(values.iter().flat_map(|&value| scale.colour(value)).collect())
}

/// The colours of the integers of an encoding.
#[wasm_bindgen]
pub struct TileColours(Table);

#[wasm_bindgen]
impl TileColours {
    /// The table of an encoding and the stops of a scale.
    #[wasm_bindgen(constructor)]
    pub fn new(
        scale: f64,
        offset: f64,
        nodata: i16,
        stops: &[f64],
        rgba: &[u8],
    ) -> Result<Self, JsError> {
        let encoding = Encoding::new(scale, offset, nodata)?;
        Ok(Self(Table::new(encoding, &colour_scale(stops, rgba)?)))
    }

    /// Paints a number of the values of a room; returns the address of the pixels.
    pub fn paint(&self, room: &mut TileRoom, values: usize) -> Result<usize, JsError> {
        room.rgba.resize(2 * room.bytes.len(), 0);
        self.0.paint_into(&room.bytes[..2 * values], &mut room.rgba[..4 * values])?;
        Ok(room.rgba.as_ptr() as usize)
    }
}
