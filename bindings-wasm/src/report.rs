//! The groups of one METAR or SPECI report, without the line of English and the date that `metar`
//! adds: those two are a third of the code.

use mesonet::feed::metar::Decoded;
use wasm_bindgen::prelude::*;

use crate::flat::Flat;

/// Reads reports.
#[wasm_bindgen]
#[derive(Default)]
pub struct MetarReader(Flat);

#[wasm_bindgen]
impl MetarReader {
    /// A reader for any number of reports.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// The address of the groups of a report: see `flat.rs`.
    pub fn read(&mut self, text: &str) -> Result<usize, JsError> {
        self.0.set(&Decoded::parse(text)?)?;
        Ok(self.0.address())
    }
}
