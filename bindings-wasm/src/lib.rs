//! The WebAssembly modules behind the npm package `mesonet`: one with the quality checks, which are
//! twice as large as the rest; one with these and the neighbour checks; one with the native grids
//! of models and the codec of their runs; one with the official alerts; one with METAR reports; one with the groups of a single
//! report; and one with everything else.
//!
//! The interface is deliberately flat: numbers and typed arrays, one file per module of the core.
//! At this boundary JavaScript's numbers are coerced silently (70000 becomes 4464), so users must
//! not call it directly: the TypeScript facade in `js/src` checks every argument first. Names,
//! codes, limits and messages come from the core.

#[cfg(feature = "values")]
mod access;
#[cfg(feature = "alerts")]
mod alert;
#[cfg(feature = "grids")]
mod blocks;
#[cfg(feature = "checks")]
mod check;
#[cfg(feature = "values")]
mod colour;
#[cfg(feature = "values")]
mod crosswalk;
#[cfg(feature = "values")]
mod derived;
#[cfg(any(feature = "metar", feature = "report"))]
mod flat;
#[cfg(feature = "grids")]
mod grid;
#[cfg(feature = "metar")]
mod metar;
#[cfg(feature = "values")]
mod quality;
#[cfg(feature = "report")]
mod report;
#[cfg(feature = "values")]
mod tile;
#[cfg(feature = "values")]
mod time_grid;
#[cfg(feature = "values")]
mod unit;
#[cfg(feature = "values")]
mod wind;

/// This module's memory.
#[cfg(any(feature = "metar", feature = "report", feature = "values"))]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn linear_memory() -> wasm_bindgen::JsValue {
    wasm_bindgen::memory()
}
