//! The native grid of a model.

use mesonet::grid::{self, NativeGrid as Grid};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// The definition of a grid as the service sends it; its members are checked here.
    #[wasm_bindgen(typescript_type = "object")]
    pub type Members;
    #[wasm_bindgen(structural, method, indexing_getter)]
    fn get(this: &Members, name: &str) -> JsValue;
}

impl Members {
    fn member(&self, name: &str) -> grid::MemberValue {
        let value = self.get(name);
        if value.is_undefined() {
            return grid::MemberValue::Missing;
        }
        if let Some(number) = value.as_f64() {
            return grid::MemberValue::Number(number);
        }
        if let Some(flag) = value.as_bool() {
            return grid::MemberValue::Flag(flag);
        }
        if let Some(text) = value.as_string() {
            return grid::MemberValue::Text(text);
        }
        if value.is_array() {
            let list: &Self = value.unchecked_ref();
            let number = |name| list.get(name).as_f64();
            if let (Some(2.0), Some(one), Some(other)) =
                (number("length"), number("0"), number("1"))
            {
                return grid::MemberValue::Pair([one, other]);
            }
        }
        grid::MemberValue::Other
    }
}

/// A native grid. Pairs are passed as two arrays of the same length and returned as one array, all
/// of the first and then all of the second.
#[wasm_bindgen]
pub struct NativeGrid(Grid);

#[wasm_bindgen]
impl NativeGrid {
    /// The grid of a definition.
    #[wasm_bindgen(constructor)]
    pub fn new(definition: &Members) -> Result<Self, JsError> {
        let definition = grid::Definition::from_members(|name| definition.member(name))?;
        Ok(Self(Grid::new(definition)?))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.0.rows()
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.0.columns()
    }

    /// The projection as a PROJ string.
    pub fn proj_string(&self) -> String {
        self.0.definition().proj_string()
    }

    /// x and y of the first cell.
    pub fn first_xy(&self) -> Vec<f64> {
        let (x, y) = self.0.first_xy();
        vec![x, y]
    }

    /// Fractional rows and columns.
    pub fn locate(&self, lon: &[f64], lat: &[f64]) -> Result<Vec<f64>, JsError> {
        both(lon.len(), |row, column| self.0.locate_into(lon, lat, row, column))
    }

    /// Rows and columns of cells.
    pub fn nearest(&self, lon: &[f64], lat: &[f64]) -> Result<Vec<usize>, JsError> {
        both(lon.len(), |row, column| self.0.nearest_into(lon, lat, row, column))
    }

    /// Longitudes and latitudes of cells.
    pub fn position(&self, row: &[usize], column: &[usize]) -> Result<Vec<f64>, JsError> {
        both(row.len(), |lon, lat| self.0.cell_positions_into(row, column, lon, lat))
    }

    /// Cosines and sines of cells.
    pub fn wind_rotation(&self, row: &[usize], column: &[usize]) -> Result<Vec<f64>, JsError> {
        both(row.len(), |cos, sin| self.0.cell_wind_rotations_into(row, column, cos, sin))
    }

    /// Longitudes and latitudes of all cells.
    pub fn positions(&self) -> Result<Vec<f64>, JsError> {
        both(self.0.cells(), |lon, lat| self.0.positions_into(lon, lat))
    }

    /// Cosines and sines of all cells.
    pub fn wind_rotations(&self) -> Result<Vec<f64>, JsError> {
        both(self.0.cells(), |cos, sin| self.0.wind_rotations_into(cos, sin))
    }
}

/// One array that holds two arrays of a length, which a function fills.
fn both<T: Copy + Default>(
    length: usize,
    fill: impl FnOnce(&mut [T], &mut [T]) -> Result<(), grid::NativeGridError>,
) -> Result<Vec<T>, JsError> {
    let mut both = vec![T::default(); 2 * length];
    let (first, second) = both.split_at_mut(length);
    fill(first, second)?;
    Ok(both)
}
