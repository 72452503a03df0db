//! The box of latitudes and longitudes that contains a grid.

use super::{NativeGrid, turned};
use crate::geo::{BBox, LonLat};

impl NativeGrid {
    /// Returns the smallest box that contains the centres of all cells.
    ///
    /// A grid around a pole has all longitudes and extends to that pole; a box across the
    /// antimeridian has a western side greater than its eastern one.
    ///
    /// ```
    /// use mesonet::grid;
    /// use mesonet::grid::{GridProjection, LatLonGlobe, NativeGrid};
    /// let grid = NativeGrid::new(grid::Definition {
    ///     rows: 3,
    ///     columns: 5,
    ///     projection: GridProjection::Globe(LatLonGlobe::LatLon),
    ///     first_lon: 178.0,
    ///     first_lat: 50.0,
    ///     column_step: 1.0,
    ///     row_step: -1.0,
    ///     grid_relative_winds: false,
    /// })?;
    /// let bounds = grid.bounds();
    /// assert_eq!((bounds.min_lon(), bounds.max_lon()), (178.0, -178.0));
    /// assert_eq!((bounds.min_lat(), bounds.max_lat()), (48.0, 50.0));
    /// # Ok::<(), mesonet::grid::GridDefinitionError>(())
    /// ```
    pub fn bounds(&self) -> BBox {
        let (mut south, mut north) = (90.0_f64, -90.0_f64);
        // Longitudes as they continue along the edge, not wrapped.
        let (mut lon, mut west, mut east) = (None::<f64>, 0.0_f64, 0.0_f64);
        for (row, column) in self.edge() {
            // A cell off the globe does not count.
            let Ok(at) = self.position(row, column) else { continue };
            (south, north) = (south.min(at.lat()), north.max(at.lat()));
            let next = lon.map_or(at.lon(), |lon| lon + turned(at.lon() - lon));
            (west, east) =
                if lon.is_none() { (next, next) } else { (west.min(next), east.max(next)) };
            lon = Some(next);
        }
        for pole in [-90.0, 90.0] {
            let at = LonLat::new(0.0, pole);
            if at.is_ok_and(|at| self.nearest(at).is_ok()) {
                (south, north) = (south.min(pole), north.max(pole));
                (west, east) = (-180.0, 180.0);
            }
        }
        // Cell positions are on the globe, so this is a valid box.
        let whole_turn = self.goes_round() || east - west >= 360.0;
        let (west, east) = if whole_turn { (-180.0, 180.0) } else { (turned(west), turned(east)) };
        BBox::new(west, south.min(north), east, north).unwrap_or(BBox::GLOBE)
    }

    /// Returns the cells of the edge, going around the grid.
    fn edge(&self) -> impl Iterator<Item = (usize, usize)> {
        let (bottom, right) = (self.rows() - 1, self.columns() - 1);
        let top = (0..right).map(|column| (0, column));
        let down = (0..bottom).map(move |row| (row, right));
        let back = (1..=right).rev().map(move |column| (bottom, column));
        let up = (0..=bottom).rev().map(|row| (row, 0));
        top.chain(down).chain(back).chain(up)
    }
}

#[cfg(test)]
#[path = "bounds_tests.rs"]
mod tests;
