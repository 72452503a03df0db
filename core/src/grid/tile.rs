//! Web-Mercator tiles of a model's native grid.

use std::ops::Range;

use super::tile_address::PIXELS;
use super::tile_row::{Corners, encode_all, interpolate, interpolate_raw};
use super::{Encoding, NativeGrid, Rotation, TILE_SIDE, TileAddress, TileError};

/// How a pixel gets its value from the cells of the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Sampling))]
pub enum TileSampling {
    /// The value of the cell that contains its centre: for categories, directions and patchy
    /// fields.
    Nearest,
    /// Interpolated between the four cells around its centre, by rows and columns; no value if a
    /// cell has none.
    #[default]
    Bilinear,
}

/// A wind component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindComponent {
    /// The eastward component.
    U,
    /// The northward component.
    V,
}

/// The positions of the pixels of a tile on a grid, and the part of the grid that they need.
///
/// It depends only on the grid and the tile: one plan serves every product, level and hour.
///
/// ```
/// use mesonet::grid::{Encoding, GridProjection, LatLonGlobe, NativeGrid, TileAddress, TilePlan, TileSampling};
/// use mesonet::grid;
/// let grid = NativeGrid::new(grid::Definition {
///     rows: 3,
///     columns: 4,
///     projection: GridProjection::Globe(LatLonGlobe::LatLon),
///     first_lon: 0.0,
///     first_lat: 60.0,
///     column_step: 90.0,
///     row_step: -60.0,
///     grid_relative_winds: false,
/// })?;
/// let raw: Vec<i16> = (0..12).map(|cell| cell * 10).collect();
/// let encoding = Encoding::new(0.1, 0.0, i16::MIN)?;
/// let plan = TilePlan::new(&grid, TileAddress::new(0, 0, 0)?, TileSampling::Nearest);
/// assert_eq!((plan.rows(), plan.columns()), (0..3, 0..4));
/// let mut tile = vec![0; 256 * 256];
/// plan.sample(&raw, encoding, &mut tile)?;
/// // The columns begin at 0°, the tile at 180° W.
/// assert_eq!([tile[0], tile[64], tile[128], tile[192]], [20, 30, 0, 10]);
/// // The same without the copy of a part.
/// let mut again = vec![0; 256 * 256];
/// plan.sample_from(|row, column| raw[row * 4 + column], encoding, &mut again)?;
/// assert_eq!(again, tile);
/// # Ok::<(), mesonet::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TilePlan {
    grid: NativeGrid,
    sampling: TileSampling,
    /// For each pixel the cell that contains it, or the one before it in both directions if it is
    /// interpolated. [`OUTSIDE`] if it has no value.
    cells: Vec<[u32; 2]>,
    /// For each interpolated pixel, how far it is from that cell: along the row, and down.
    fractions: Vec<[f64; 2]>,
    rows: Range<usize>,
    columns: Range<usize>,
}

/// The cell of a pixel without a value. No grid has as many rows.
const OUTSIDE: [u32; 2] = [u32::MAX; 2];

impl TilePlan {
    /// Plans a tile of a grid.
    pub fn new(grid: &NativeGrid, address: TileAddress, sampling: TileSampling) -> Self {
        let meridians: Vec<_> =
            (0..TILE_SIDE).map(|pixel| grid.meridian(address.lon(pixel))).collect();
        let mut plan = Self {
            grid: grid.clone(),
            sampling,
            cells: Vec::with_capacity(PIXELS),
            fractions: Vec::new(),
            rows: 0..0,
            columns: 0..0,
        };
        if sampling == TileSampling::Bilinear {
            plan.fractions.reserve_exact(PIXELS);
        }
        for pixel in 0..TILE_SIDE {
            let parallel = grid.parallel(address.lat(pixel));
            for &meridian in &meridians {
                plan.push(grid.meet(parallel, meridian));
            }
        }
        plan.hold_part();
        plan
    }

    /// Adds a pixel at a row and column of the grid, with their fractions.
    #[inline]
    fn push(&mut self, (row, column): (f64, f64)) {
        match self.sampling {
            TileSampling::Nearest => {
                let cell = self.grid.cell_of(row, column);
                self.cells.push(cell.map_or(OUTSIDE, |(row, column)| [row as u32, column as u32]));
            }
            TileSampling::Bilinear => {
                let around = between_two(row, self.grid.rows()).zip(self.between_columns(column));
                let (cell, fractions) = around.map_or((OUTSIDE, [0.0; 2]), |(rows, columns)| {
                    ([rows.0, columns.0], [columns.1, rows.1])
                });
                self.cells.push(cell);
                self.fractions.push(fractions);
            }
        }
    }

    /// The grid that the tile is of.
    pub fn grid(&self) -> &NativeGrid {
        &self.grid
    }

    /// The memory that the plan takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.cells) + size_of_val(&*self.fractions) + size_of::<Self>()
    }

    /// Returns the rows of the grid that the tile is made from; none if it lies outside the grid.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }

    /// Returns the columns of the grid that the tile is made from.
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// Returns the number of cells of the part of the grid.
    pub fn cells(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    /// Fills a tile, row by row from the north, from the integers of the part of the grid given by
    /// [`Self::rows`] and [`Self::columns`].
    ///
    /// Pixels outside the grid and those without a value become nodata.
    ///
    /// # Errors
    /// If the number of cells is not that of the part, or the number of pixels is not that of a
    /// tile: nothing is written.
    pub fn sample(
        &self,
        cells: &[i16],
        encoding: Encoding,
        tile: &mut [i16],
    ) -> Result<(), TileError> {
        self.check_cells(cells.len())?;
        self.sample_from(|row, column| cells[self.at(row, column)], encoding, tile)
    }

    /// Like [`Self::sample`], but with a function that returns the integer at a row and column of
    /// the grid: for tiles whose part is too large to be worth copying. The function is called for
    /// each pixel.
    ///
    /// # Errors
    /// If the number of pixels is not that of a tile: nothing is written.
    pub fn sample_from(
        &self,
        cell: impl Fn(usize, usize) -> i16,
        encoding: Encoding,
        tile: &mut [i16],
    ) -> Result<(), TileError> {
        check_room(tile)?;
        let nodata = encoding.nodata();
        if self.sampling == TileSampling::Nearest {
            for (pixel, &[row, column]) in tile.iter_mut().zip(&self.cells) {
                let is_outside = [row, column] == OUTSIDE;
                *pixel = if is_outside { nodata } else { cell(row as usize, column as usize) };
            }
            return Ok(());
        }
        let mut corners = [[nodata; TILE_SIDE]; 4];
        for (number, pixels) in tile.chunks_exact_mut(TILE_SIDE).enumerate() {
            let fractions = self.corners(number, nodata, &cell, &mut corners);
            interpolate_raw(&corners, fractions, encoding, pixels);
        }
        Ok(())
    }

    /// Fills a tile with a wind component, from both components of the part of the grid, which may
    /// be packed differently. The tile has the packing of its component.
    ///
    /// If the winds are along the grid's axes, they are turned towards true north before they are
    /// interpolated.
    ///
    /// # Errors
    /// As [`Self::sample`].
    ///
    /// ```
    /// use mesonet::grid::{Encoding, TileAddress, TilePlan, TileSampling, WindComponent};
    /// # use mesonet::grid::{self, GridProjection, LatLonGlobe, NativeGrid};
    /// # let grid = NativeGrid::new(grid::Definition {
    /// #     rows: 3,
    /// #     columns: 4,
    /// #     projection: GridProjection::Globe(LatLonGlobe::RotatedLatLon {
    /// #         south_pole_lat: -36.08852,
    /// #         south_pole_lon: 245.305142,
    /// #     }),
    /// #     first_lon: 345.0,
    /// #     first_lat: -12.0,
    /// #     column_step: 10.0,
    /// #     row_step: 10.0,
    /// #     grid_relative_winds: true,
    /// # })?;
    /// // A wind of 10 m/s along the x axis of the grid, which leans where the globe was turned.
    /// let encoding = Encoding::new(0.01, 0.0, i16::MIN)?;
    /// let plan = TilePlan::new(&grid, TileAddress::new(2, 0, 1)?, TileSampling::Nearest);
    /// let (u, v) = (vec![1000; plan.cells()], vec![0; plan.cells()]);
    /// let (mut east, mut north) = (vec![0; 256 * 256], vec![0; 256 * 256]);
    /// plan.sample_wind((&u, encoding), (&v, encoding), WindComponent::U, &mut east)?;
    /// plan.sample_wind_from(|_, _| [1000, 0], [encoding; 2], WindComponent::V, &mut north)?;
    /// let pixel = east.iter().position(|&raw| raw != i16::MIN).ok_or("the grid is elsewhere")?;
    /// let speed_ms = encoding.decode(east[pixel]).hypot(encoding.decode(north[pixel]));
    /// assert!((speed_ms - 10.0).abs() < 0.01);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sample_wind(
        &self,
        (u, u_encoding): (&[i16], Encoding),
        (v, v_encoding): (&[i16], Encoding),
        component: WindComponent,
        tile: &mut [i16],
    ) -> Result<(), TileError> {
        self.check_cells(u.len())?;
        self.check_cells(v.len())?;
        self.sample_wind_from(
            |row, column| {
                let at = self.at(row, column);
                [u[at], v[at]]
            },
            [u_encoding, v_encoding],
            component,
            tile,
        )
    }

    /// Like [`Self::sample_wind`], with functions that return the integers of both components, as
    /// in [`Self::sample_from`].
    ///
    /// # Errors
    /// As [`Self::sample_from`].
    pub fn sample_wind_from(
        &self,
        cell: impl Fn(usize, usize) -> [i16; 2],
        [u_encoding, v_encoding]: [Encoding; 2],
        component: WindComponent,
        tile: &mut [i16],
    ) -> Result<(), TileError> {
        check_room(tile)?;
        let (own, encoding) = match component {
            WindComponent::U => (0, u_encoding),
            WindComponent::V => (1, v_encoding),
        };
        if !self.grid.definition().grid_relative_winds {
            return self.sample_from(|row, column| cell(row, column)[own], encoding, tile);
        }
        let encodings = [u_encoding, v_encoding];
        let turns = self.grid.wind_turns(self.rows(), self.columns());
        // If neighbouring pixels share cells, each cell is turned once.
        let cells = self.cells();
        let turns_of_pixels = match self.sampling {
            TileSampling::Nearest => PIXELS,
            TileSampling::Bilinear => 4 * PIXELS,
        };
        if cells < turns_of_pixels {
            let width = self.columns.len();
            let (mut part, mut rotations) =
                (Vec::with_capacity(cells), vec![Rotation::IDENTITY; width]);
            for row in self.rows() {
                turns.row(row, &mut rotations);
                let along = self.columns().zip(&rotations);
                part.extend(along.map(|(column, rotation)| {
                    turned(cell(row, column), encodings, *rotation, component)
                }));
            }
            self.blend(encoding, tile, |row, column| part[self.at(row, column)]);
        } else {
            self.blend(encoding, tile, |row, column| {
                turned(cell(row, column), encodings, turns.at(row, column), component)
            });
        }
        Ok(())
    }

    /// Fills a tile from the values of cells. A missing value is NaN, and stays NaN through the
    /// arithmetic until it becomes nodata.
    fn blend(&self, encoding: Encoding, tile: &mut [i16], value: impl Fn(usize, usize) -> f64) {
        let mut corners = [[f64::NAN; TILE_SIDE]; 4];
        for (number, pixels) in tile.chunks_exact_mut(TILE_SIDE).enumerate() {
            let fractions = self.corners(number, f64::NAN, &value, &mut corners);
            if fractions.is_empty() {
                encode_all(&corners[0], encoding, pixels);
            } else {
                interpolate(&corners, fractions, encoding, pixels);
            }
        }
    }

    /// Collects what the cells around the pixels of a row hold, and returns the distances of the
    /// pixels from them; none if they are not interpolated.
    fn corners<T: Copy>(
        &self,
        pixel_row: usize,
        outside: T,
        cell: &impl Fn(usize, usize) -> T,
        corners: &mut Corners<T>,
    ) -> &[[f64; 2]] {
        let pixels = pixel_row * TILE_SIDE..(pixel_row + 1) * TILE_SIDE;
        let [top_left, top_right, bottom_left, bottom_right] = corners;
        let cells = &self.cells[pixels.clone()];
        let Some(fractions) = self.fractions.get(pixels) else {
            for (value, &[row, column]) in top_left.iter_mut().zip(cells) {
                let is_outside = [row, column] == OUTSIDE;
                *value = if is_outside { outside } else { cell(row as usize, column as usize) };
            }
            return &[];
        };
        let last_row = self.grid.rows() - 1;
        let columns = self.grid.columns();
        let after_last = if self.grid.goes_round() { 0 } else { columns - 1 };
        for (pixel, &place) in cells.iter().enumerate() {
            if place == OUTSIDE {
                top_left[pixel] = outside;
                top_right[pixel] = outside;
                bottom_left[pixel] = outside;
                bottom_right[pixel] = outside;
                continue;
            }
            let (top, left) = (place[0] as usize, place[1] as usize);
            let bottom = (top + 1).min(last_row);
            let right = if left + 1 < columns { left + 1 } else { after_last };
            top_left[pixel] = cell(top, left);
            top_right[pixel] = cell(top, right);
            bottom_left[pixel] = cell(bottom, left);
            bottom_right[pixel] = cell(bottom, right);
        }
        fractions
    }

    /// Finds the smallest part of the grid that contains all cells needed by pixels.
    fn hold_part(&mut self) {
        let inside = || self.cells.iter().filter(|&&cell| cell != OUTSIDE);
        let range = |axis: usize| {
            let first = inside().map(|cell| cell[axis]).min();
            let last = inside().map(|cell| cell[axis]).max();
            first.zip(last).map_or(0..0, |(first, last)| first as usize..last as usize + 1)
        };
        let (mut rows, mut columns) = (range(0), range(1));
        if self.sampling == TileSampling::Bilinear && !rows.is_empty() {
            rows.end = (rows.end + 1).min(self.grid.rows());
            if columns.end < self.grid.columns() {
                columns.end += 1;
            } else if self.grid.goes_round() {
                // What follows the last column is the first.
                columns.start = 0;
            }
        }
        (self.rows, self.columns) = (rows, columns);
    }

    /// Returns the column before a position, and the distance from it.
    #[inline]
    fn between_columns(&self, column: f64) -> Option<(u32, f64)> {
        let count = self.grid.columns();
        if !self.grid.goes_round() {
            return between_two(column, count);
        }
        // There is one more place, between the last column and the first.
        let column = if column < 0.0 { column + count as f64 } else { column };
        let first = (column as usize).min(count - 1);
        column.is_finite().then_some((first as u32, column - first as f64))
    }

    /// Returns the index into the part of the grid.
    #[inline]
    fn at(&self, row: usize, column: usize) -> usize {
        (row - self.rows.start) * self.columns.len() + (column - self.columns.start)
    }

    fn check_cells(&self, got: usize) -> Result<(), TileError> {
        let needed = self.cells();
        if got == needed { Ok(()) } else { Err(TileError::Cells { needed, got }) }
    }
}

fn check_room(tile: &[i16]) -> Result<(), TileError> {
    if tile.len() == PIXELS { Ok(()) } else { Err(TileError::Room(tile.len())) }
}

/// Returns the first of the two of `count` places around a position, and the distance from it.
#[inline]
fn between_two(place: f64, count: usize) -> Option<(u32, f64)> {
    let last = count - 1;
    if !(place >= 0.0 && place <= last as f64) {
        return None;
    }
    let first = (place as usize).min(last.saturating_sub(1));
    Some((first as u32, place - first as f64))
}

/// A component towards true north or east, from the integers of both.
#[inline]
fn turned(
    [u, v]: [i16; 2],
    [u_encoding, v_encoding]: [Encoding; 2],
    rotation: Rotation,
    component: WindComponent,
) -> f64 {
    let (u, v) = rotation.apply(u_encoding.decode(u), v_encoding.decode(v));
    match component {
        WindComponent::U => u,
        WindComponent::V => v,
    }
}

#[cfg(test)]
#[path = "tile_tests.rs"]
mod tests;
