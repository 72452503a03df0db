//! The native grid of a model.

use mesonet::{GridDefinition, GridMember, LonLat, NativeGrid as Grid};
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
    fn member(&self, name: &str) -> GridMember {
        let value = self.get(name);
        if value.is_undefined() {
            return GridMember::Missing;
        }
        if let Some(number) = value.as_f64() {
            return GridMember::Number(number);
        }
        if let Some(flag) = value.as_bool() {
            return GridMember::Flag(flag);
        }
        if let Some(text) = value.as_string() {
            return GridMember::Text(text);
        }
        if value.is_array() {
            let list: &Self = value.unchecked_ref();
            let number = |name| list.get(name).as_f64();
            if let (Some(2.0), Some(one), Some(other)) =
                (number("length"), number("0"), number("1"))
            {
                return GridMember::Pair([one, other]);
            }
        }
        GridMember::Other
    }
}

/// A native grid. What comes in pairs goes in as two arrays of one length and comes out as one, all
/// of the first and then all of the second.
#[wasm_bindgen]
pub struct NativeGrid(Grid);

#[wasm_bindgen]
impl NativeGrid {
    /// The grid of a definition.
    #[wasm_bindgen(constructor)]
    pub fn new(definition: &Members) -> Result<Self, JsError> {
        let definition = GridDefinition::from_members(|name| definition.member(name))?;
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

    /// The projection in the words of PROJ.
    pub fn proj_string(&self) -> String {
        self.0.definition().proj_string()
    }

    /// x and y of the first cell.
    pub fn first_xy(&self) -> Vec<f64> {
        let (x, y) = self.0.first_xy();
        vec![x, y]
    }

    /// Rows and columns with their fractions.
    pub fn locate(&self, lat: &[f64], lon: &[f64]) -> Result<Vec<f64>, JsError> {
        let mut both = vec![0.0; 2 * lat.len()];
        let (row, column) = both.split_at_mut(lat.len());
        self.0.locate_into(lat, lon, row, column)?;
        Ok(both)
    }

    /// Rows and columns of cells.
    pub fn nearest(&self, lat: &[f64], lon: &[f64]) -> Result<Vec<u32>, JsError> {
        pairs(lat, lon, |lat, lon| {
            let (row, column) = self.0.nearest(LonLat::new(lon, lat)?)?;
            Ok((row as u32, column as u32))
        })
    }

    /// Latitudes and longitudes of cells.
    pub fn position(&self, row: &[u32], column: &[u32]) -> Result<Vec<f64>, JsError> {
        pairs(row, column, |row, column| {
            let at = self.0.position(row as usize, column as usize)?;
            Ok((at.lat(), at.lon()))
        })
    }

    /// Cosines and sines of cells.
    pub fn wind_rotation(&self, row: &[u32], column: &[u32]) -> Result<Vec<f64>, JsError> {
        pairs(row, column, |row, column| {
            let rotation = self.0.wind_rotation(row as usize, column as usize)?;
            Ok((rotation.cos, rotation.sin))
        })
    }

    /// Latitudes and longitudes of all cells.
    pub fn positions(&self) -> Result<Vec<f64>, JsError> {
        let mut both = vec![0.0; 2 * self.0.cells()];
        let (lat, lon) = both.split_at_mut(self.0.cells());
        self.0.positions_into(lon, lat)?;
        Ok(both)
    }

    /// Cosines and sines of all cells.
    pub fn wind_rotations(&self) -> Result<Vec<f64>, JsError> {
        let mut both = vec![0.0; 2 * self.0.cells()];
        let (cos, sin) = both.split_at_mut(self.0.cells());
        self.0.wind_rotations_into(cos, sin)?;
        Ok(both)
    }
}

fn pairs<I: Copy, O: Copy + Default>(
    first: &[I],
    second: &[I],
    of: impl Fn(I, I) -> Result<(O, O), JsError>,
) -> Result<Vec<O>, JsError> {
    let mut both = vec![O::default(); 2 * first.len()];
    let (one, other) = both.split_at_mut(first.len());
    for (((&first, &second), one), other) in first.iter().zip(second).zip(one).zip(other) {
        (*one, *other) = of(first, second)?;
    }
    Ok(both)
}
