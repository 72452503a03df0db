//! Tiles painted with the colours of their values.

use mesonet::grid::{ColourScale, Encoding, TileColours as Table};
use wasm_bindgen::prelude::*;

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

    /// The pixels of a tile's bytes.
    pub fn paint(&self, bytes: &[u8]) -> Result<Vec<u8>, JsError> {
        let mut rgba = vec![0; 2 * bytes.len()];
        self.0.paint_into(bytes, &mut rgba)?;
        Ok(rgba)
    }

    /// The same, from and into a room.
    pub fn paint_room(&self, room: &mut TileRoom) -> Result<(), JsError> {
        room.rgba.resize(2 * room.bytes.len(), 0);
        Ok(self.0.paint_into(&room.bytes, &mut room.rgba)?)
    }
}

/// Room in this module's memory for the bytes of a tile and its values and pixels. JavaScript reads
/// and writes the room in place, by the addresses.
#[wasm_bindgen]
pub struct TileRoom {
    bytes: Vec<u8>,
    values: Vec<f64>,
    rgba: Vec<u8>,
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
        Ok(Self { bytes, values: Vec::new(), rgba: Vec::new() })
    }

    /// The address of the bytes.
    pub fn bytes_at(&self) -> usize {
        self.bytes.as_ptr() as usize
    }

    /// Decodes the bytes; NaN for nodata.
    pub fn decode(&mut self, scale: f64, offset: f64, nodata: i16) -> Result<(), JsError> {
        let encoding = Encoding::new(scale, offset, nodata)?;
        self.values.resize(self.bytes.len() / 2, 0.0);
        Ok(encoding.decode_bytes_into(&self.bytes, &mut self.values)?)
    }

    /// The address of the values.
    pub fn values_at(&self) -> usize {
        self.values.as_ptr() as usize
    }

    /// The address of the pixels.
    pub fn rgba_at(&self) -> usize {
        self.rgba.as_ptr() as usize
    }
}

fn no_room(values: usize) -> JsError {
    JsError::new(&format!("no memory is left for a tile of {values} values"))
}
