//! The native grid of a model: its rows and columns, the positions of its cells, and the rotation
//! of its winds.

use std::ops::Range;

use super::definition::{Definition, GridDefinitionError, GridProjection};
use super::map::{Map, Meridian, Parallel};
use super::native_error::NativeGridError;
use super::turns::Turns;
use super::wind_turns::WindTurns;
use crate::geo::LonLat;
use crate::grid::Rotation;
use crate::lengths::check_lengths;

/// The native grid of a model, with the constants of its projection computed.
///
/// ```
/// use mesonet::{LonLat, grid};
/// use mesonet::grid::{GridProjection, NativeGrid, NativeGridError, Projection};
/// // The grid of NOAA's High-Resolution Rapid Refresh.
/// let grid = NativeGrid::new(grid::Definition {
///     rows: 1059,
///     columns: 1799,
///     projection: GridProjection::Map(Projection::LambertConformal {
///         radius_m: 6_371_229.0,
///         origin_lat: 38.5,
///         central_lon: 262.5,
///         parallels: [38.5, 38.5],
///     }),
///     first_lon: 237.280472,
///     first_lat: 21.138123,
///     column_step: 3000.0,
///     row_step: 3000.0,
///     grid_relative_winds: true,
/// })?;
/// let boulder = LonLat::new(-105.2705, 40.015)?;
/// assert_eq!(grid.nearest(boulder)?, (595, 679));
/// let cell = grid.position(595, 679)?;
/// assert!(cell.distance_km(boulder) < 2.2);
/// // West of the central meridian the columns lean to the west of north.
/// assert!(grid.wind_rotation(595, 679)?.sin < 0.0);
///
/// let paris = grid.nearest(LonLat::new(2.35, 48.85)?).unwrap_err();
/// assert_eq!(
///     paris.to_string(),
///     "latitude 48.85, longitude 2.35 is not on the grid: it would be row 2132.27, column \
///      2918.85; allowed are rows 0 to 1058 and columns 0 to 1798",
/// );
/// assert!(matches!(paris, NativeGridError::Position { last_row: 1058, .. }));
/// # Ok::<(), mesonet::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NativeGrid {
    definition: Definition,
    map: Map,
    first_x: f64,
    first_y: f64,
    /// The number of columns around the globe, if the columns go round it.
    turn_columns: Option<f64>,
}

impl NativeGrid {
    /// Returns how to put its cells in the order of another grid with the same positions; `None` if
    /// the positions differ by more than a fiftieth of a cell. Other facts about a grid in a file,
    /// such as the shape of the Earth under degrees and the direction of scanning, do not move
    /// cells.
    ///
    /// ```
    /// use mesonet::grid;
    /// use mesonet::grid::{GridProjection, LatLonGlobe, NativeGrid, Turns};
    /// let southward = grid::Definition {
    ///     rows: 3, columns: 2, projection: GridProjection::Globe(LatLonGlobe::LatLon), first_lon: 10.0,
    ///     first_lat: 52.0, column_step: 1.0, row_step: -1.0, grid_relative_winds: false,
    /// };
    /// let northward = grid::Definition { first_lat: 50.0, row_step: 1.0, ..southward };
    /// let [southward, northward] = [NativeGrid::new(southward)?, NativeGrid::new(northward)?];
    /// let turns = northward.turns_to(&southward).expect("the same places");
    /// assert_eq!(turns, Turns { rows: true, columns: false });
    /// let mut values = [1, 2, 3, 4, 5, 6];
    /// turns.apply(&mut values, 2);
    /// assert_eq!(values, [5, 6, 3, 4, 1, 2]);
    /// # Ok::<(), grid::GridDefinitionError>(())
    /// ```
    pub fn turns_to(&self, other: &Self) -> Option<Turns> {
        /// As a part of a cell.
        const NEAR: f64 = 0.02;
        let (own, of) = (&self.definition, &other.definition);
        let is_alike = (own.rows, own.columns) == (of.rows, of.columns)
            && own.projection == of.projection
            && own.grid_relative_winds == of.grid_relative_winds;
        if !is_alike {
            return None;
        }
        if own == of {
            return Some(Turns::default());
        }
        let (last_row, last_column) = (own.rows - 1, own.columns - 1);
        let cell = |grid: &Self, row, column| grid.position(row, column).ok();
        let next = [(1.min(last_row), 0), (0, 1.min(last_column))];
        let first = cell(self, 0, 0)?;
        let steps = next.into_iter().filter_map(|(row, column)| {
            let step_km = cell(self, row, column)?.distance_km(first);
            (step_km > 0.0).then_some(step_km)
        });
        let near_km = steps.reduce(f64::min)? * NEAR;
        let corners = [(0, 0), (0, last_column), (last_row, 0), (last_row, last_column)];
        let all = [(false, false), (true, false), (false, true), (true, true)];
        all.into_iter().map(|(rows, columns)| Turns { rows, columns }).find(|turns| {
            corners.iter().all(|&(row, column)| {
                let there = (
                    if turns.rows { last_row - row } else { row },
                    if turns.columns { last_column - column } else { column },
                );
                let places = cell(self, row, column).zip(cell(other, there.0, there.1));
                places.is_some_and(|(own, of)| own.distance_km(of) <= near_km)
            })
        })
    }

    /// Returns the grid of a definition.
    ///
    /// # Errors
    /// If the grid has no cells or more than [`MAX_CELLS`](super::MAX_CELLS), a number is
    /// not finite or out of range, or the projection cannot show the first cell.
    pub fn new(definition: Definition) -> Result<Self, GridDefinitionError> {
        definition.check()?;
        let Definition { first_lon, first_lat, column_step, .. } = definition;
        let map = Map::from(definition.projection);
        let (first_x, first_y) = match (definition.projection, &map) {
            (GridProjection::Map(_) | GridProjection::Ellipsoid(_), _) => {
                map.forward(first_lon, first_lat)
            }
            (GridProjection::Globe(_), Map::Gaussian(parallels)) => {
                (first_lon, definition.first_row(parallels)?)
            }
            (GridProjection::Globe(_), _) => (first_lon, first_lat),
        };
        if !(first_x.is_finite() && first_y.is_finite()) {
            return Err(GridDefinitionError::FirstCell { lat: first_lat, lon: first_lon });
        }
        let turn_columns = map.turn().map(|turn| turn / column_step.abs());
        Ok(Self { definition, map, first_x, first_y, turn_columns })
    }

    /// Returns the definition of the grid.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// Returns the number of rows, ny.
    pub fn rows(&self) -> usize {
        self.definition.rows
    }

    /// Returns the number of columns, nx.
    pub fn columns(&self) -> usize {
        self.definition.columns
    }

    /// Returns the number of cells.
    pub fn cells(&self) -> usize {
        self.rows() * self.columns()
    }

    /// Returns whether the first column follows the last, as on a grid around the globe.
    pub fn goes_round(&self) -> bool {
        self.turn_columns.is_some_and(|turn| (turn - self.columns() as f64).abs() < 1e-3)
    }

    /// Returns the centre of a cell, with a longitude from −180 to just below 180.
    ///
    /// # Errors
    /// If the grid does not have the row or column.
    pub fn position(&self, row: usize, column: usize) -> Result<LonLat, NativeGridError> {
        self.check_cell(row, column)?;
        let (lon, lat) = self.lon_lat(row, column);
        LonLat::new(lon, lat).map_err(|cause| NativeGridError::OffGlobe { row, column, cause })
    }

    /// Returns the fractional row and column of a position; at the centre of a cell they are whole
    /// numbers.
    ///
    /// They may be beyond the grid, and are infinite if the projection cannot show the position. If
    /// the columns go round the globe, the column is the one nearest to the middle of the grid.
    pub fn locate(&self, at: LonLat) -> (f64, f64) {
        self.meet(self.parallel(at.lat()), self.meridian(at.lon()))
    }

    /// Computes the fractional rows and columns of many positions, as [`Self::locate`] does. They
    /// are NaN for a position more than half a cell beyond the outermost centres, and if the
    /// longitude or the latitude is NaN.
    ///
    /// # Errors
    /// If the arrays differ in length, or a longitude or latitude is out of range: values written
    /// until then stay.
    ///
    /// ```
    /// use mesonet::grid::{self, GridProjection, LatLonGlobe, NativeGrid};
    /// let grid = NativeGrid::new(grid::Definition {
    ///     rows: 73,
    ///     columns: 144,
    ///     projection: GridProjection::Globe(LatLonGlobe::LatLon),
    ///     first_lon: 0.0,
    ///     first_lat: 90.0,
    ///     column_step: 2.5,
    ///     row_step: -2.5,
    ///     grid_relative_winds: false,
    /// })?;
    /// let (mut row, mut column) = ([0.0; 2], [0.0; 2]);
    /// grid.locate_into(&[-75.0, 0.0], &[45.0, f64::NAN], &mut row, &mut column)?;
    /// assert_eq!((row[0], column[0]), (18.0, 114.0));
    /// assert!(row[1].is_nan() && column[1].is_nan());
    /// assert_eq!(grid.locate(mesonet::LonLat::new(-75.0, 45.0)?), (18.0, 114.0));
    /// assert!(grid.goes_round());
    /// # Ok::<(), mesonet::Error>(())
    /// ```
    pub fn locate_into(
        &self,
        lon: &[f64],
        lat: &[f64],
        row: &mut [f64],
        column: &mut [f64],
    ) -> Result<(), NativeGridError> {
        let lengths =
            [("lon", lon.len()), ("lat", lat.len()), ("row", row.len()), ("column", column.len())];
        check_lengths(&lengths).map_err(NativeGridError::Lengths)?;
        for (((&lon, &lat), row), column) in lon.iter().zip(lat).zip(row).zip(column) {
            (*row, *column) = (f64::NAN, f64::NAN);
            if lon.is_nan() || lat.is_nan() {
                continue;
            }
            let located = self.locate(LonLat::new(lon, lat)?);
            if self.cell_of(located.0, located.1).is_some() {
                (*row, *column) = located;
            }
        }
        Ok(())
    }

    /// Returns the row and column of the cell that contains a position: the cell whose centre is
    /// nearest along the axes.
    ///
    /// # Errors
    /// If the position is more than half a cell beyond the outermost centres.
    pub fn nearest(&self, at: LonLat) -> Result<(usize, usize), NativeGridError> {
        let (row, column) = self.locate(at);
        self.cell_of(row, column).ok_or(NativeGridError::Position {
            lat: at.lat(),
            lon: at.lon(),
            row,
            column,
            last_row: self.rows() - 1,
            last_column: self.columns() - 1,
        })
    }

    /// Finds the rows and columns of the cells that contain many positions, as [`Self::nearest`]
    /// does.
    ///
    /// # Errors
    /// If the arrays differ in length, a longitude or latitude is out of range, or a position is
    /// beyond the grid: values written until then stay.
    ///
    /// ```
    /// # use mesonet::grid::{self, GridProjection, LatLonGlobe, NativeGrid};
    /// # let grid = NativeGrid::new(grid::Definition {
    /// #     rows: 73,
    /// #     columns: 144,
    /// #     projection: GridProjection::Globe(LatLonGlobe::LatLon),
    /// #     first_lon: 0.0,
    /// #     first_lat: 90.0,
    /// #     column_step: 2.5,
    /// #     row_step: -2.5,
    /// #     grid_relative_winds: false,
    /// # })?;
    /// let (mut row, mut column) = ([0; 2], [0; 2]);
    /// grid.nearest_into(&[-79.4, -0.1], &[43.7, 51.5], &mut row, &mut column)?;
    /// assert_eq!((row, column), ([19, 15], [112, 0]));
    /// let (mut lon, mut lat) = ([0.0; 2], [0.0; 2]);
    /// grid.cell_positions_into(&row, &column, &mut lon, &mut lat)?;
    /// assert_eq!((lon, lat), ([-80.0, 0.0], [42.5, 52.5]));
    /// # Ok::<(), mesonet::Error>(())
    /// ```
    pub fn nearest_into(
        &self,
        lon: &[f64],
        lat: &[f64],
        row: &mut [usize],
        column: &mut [usize],
    ) -> Result<(), NativeGridError> {
        let lengths =
            [("lon", lon.len()), ("lat", lat.len()), ("row", row.len()), ("column", column.len())];
        check_lengths(&lengths).map_err(NativeGridError::Lengths)?;
        for (((&lon, &lat), row), column) in lon.iter().zip(lat).zip(row).zip(column) {
            (*row, *column) = self.nearest(LonLat::new(lon, lat)?)?;
        }
        Ok(())
    }

    /// Writes the longitudes and latitudes of the centres of some cells, as [`Self::position`]
    /// returns them.
    ///
    /// # Errors
    /// If the arrays differ in length, or the grid does not have a cell: values written until then
    /// stay.
    pub fn cell_positions_into(
        &self,
        row: &[usize],
        column: &[usize],
        lon: &mut [f64],
        lat: &mut [f64],
    ) -> Result<(), NativeGridError> {
        let lengths =
            [("row", row.len()), ("column", column.len()), ("lon", lon.len()), ("lat", lat.len())];
        check_lengths(&lengths).map_err(NativeGridError::Lengths)?;
        for (((&row, &column), lon), lat) in row.iter().zip(column).zip(lon).zip(lat) {
            let at = self.position(row, column)?;
            (*lon, *lat) = (at.lon(), at.lat());
        }
        Ok(())
    }

    /// Returns the rotation that turns a cell's winds towards true north. On a grid with
    /// earth-relative winds its factors are 1 and 0.
    ///
    /// # Errors
    /// If the grid does not have the row or column.
    pub fn wind_rotation(&self, row: usize, column: usize) -> Result<Rotation, NativeGridError> {
        self.check_cell(row, column)?;
        if !self.definition.grid_relative_winds {
            return Ok(Rotation::IDENTITY);
        }
        Ok(self.map.rotation_at(self.map.angle(self.x(column)), self.map.angle(self.y(row))))
    }

    /// Writes the factors of some cells, as [`Self::wind_rotation`] returns them.
    ///
    /// # Errors
    /// If the arrays differ in length, or the grid does not have a cell: values written until then
    /// stay.
    pub fn cell_wind_rotations_into(
        &self,
        row: &[usize],
        column: &[usize],
        cos: &mut [f64],
        sin: &mut [f64],
    ) -> Result<(), NativeGridError> {
        let lengths =
            [("row", row.len()), ("column", column.len()), ("cos", cos.len()), ("sin", sin.len())];
        check_lengths(&lengths).map_err(NativeGridError::Lengths)?;
        for (((&row, &column), cos), sin) in row.iter().zip(column).zip(cos).zip(sin) {
            let rotation = self.wind_rotation(row, column)?;
            (*cos, *sin) = (rotation.cos, rotation.sin);
        }
        Ok(())
    }

    /// Writes the factors of all cells, row by row, as [`rotate_field`](crate::grid::rotate_field) takes
    /// them.
    ///
    /// # Errors
    /// If the length of an array is not the number of cells: nothing is written.
    pub fn wind_rotations_into(
        &self,
        cos: &mut [f64],
        sin: &mut [f64],
    ) -> Result<(), NativeGridError> {
        self.check_lengths(cos.len(), sin.len())?;
        let turns = self.wind_turns(0..self.rows(), 0..self.columns());
        let columns = self.columns();
        for (row, (cos, sin)) in cos.chunks_mut(columns).zip(sin.chunks_mut(columns)).enumerate() {
            for (column, (cos, sin)) in cos.iter_mut().zip(sin).enumerate() {
                let rotation = turns.at(row, column);
                (*cos, *sin) = (rotation.cos, rotation.sin);
            }
        }
        Ok(())
    }

    /// Writes the longitudes (−180 to just below 180) and latitudes of all cells, row by row.
    ///
    /// # Errors
    /// If the length of an array is not the number of cells: nothing is written.
    pub fn positions_into(&self, lon: &mut [f64], lat: &mut [f64]) -> Result<(), NativeGridError> {
        self.check_lengths(lon.len(), lat.len())?;
        let columns = self.columns();
        for (row, (lon, lat)) in lon.chunks_mut(columns).zip(lat.chunks_mut(columns)).enumerate() {
            for (column, (lon, lat)) in lon.iter_mut().zip(lat).enumerate() {
                (*lon, *lat) = self.lon_lat(row, column);
            }
        }
        Ok(())
    }

    pub(crate) fn parallel(&self, lat: f64) -> Parallel {
        self.map.parallel(lat)
    }

    pub(crate) fn meridian(&self, lon: f64) -> Meridian {
        self.map.meridian(lon)
    }

    /// Returns the row and column where a parallel and a meridian of the grid's map meet.
    #[inline]
    pub(crate) fn meet(&self, parallel: Parallel, meridian: Meridian) -> (f64, f64) {
        let (x, y) = self.map.meet(parallel, meridian);
        let row = (y - self.first_y) / self.definition.row_step;
        let mut column = (x - self.first_x) / self.definition.column_step;
        if let Some(turn) = self.turn_columns {
            let middle = (self.columns() - 1) as f64 / 2.0;
            column -= turn * libm::floor((column - middle) / turn + 0.5);
        }
        (row, column)
    }

    /// Returns the cell at a fractional row and column, which may be up to half a cell beyond the
    /// outermost centres.
    #[inline]
    pub(crate) fn cell_of(&self, row: f64, column: f64) -> Option<(usize, usize)> {
        let (row, column) = (row + 0.5, column + 0.5);
        let (rows, columns) = (self.rows() as f64, self.columns() as f64);
        // On a grid around the globe, the far edge of the last column belongs to the first.
        let column = if column >= columns && self.goes_round() { column - columns } else { column };
        let within = row >= 0.0 && row < rows && column >= 0.0 && column < columns;
        within.then_some((row as usize, column as usize))
    }

    /// Returns the rotations of a part of the grid.
    pub(crate) fn wind_turns(&self, rows: Range<usize>, columns: Range<usize>) -> WindTurns<'_> {
        let (first_row, first_column) = (rows.start, columns.start);
        let by_row = rows.map(|row| self.map.angle(self.y(row))).collect();
        let by_column = columns.map(|column| self.map.angle(self.x(column))).collect();
        let grid_relative_winds = self.definition.grid_relative_winds;
        let map = &self.map;
        WindTurns { map, grid_relative_winds, first_row, first_column, by_row, by_column }
    }

    pub(super) fn x(&self, column: usize) -> f64 {
        self.first_x + column as f64 * self.definition.column_step
    }

    pub(super) fn y(&self, row: usize) -> f64 {
        self.first_y + row as f64 * self.definition.row_step
    }

    /// Returns the coordinate of a row, as in CF and [`Definition::proj_string`]: metres on a map,
    /// degrees on a globe.
    ///
    /// [`Definition::proj_string`]: super::Definition::proj_string
    pub(crate) fn row_coordinate(&self, row: usize) -> f64 {
        match &self.map {
            Map::Gaussian(parallels) => parallels.lat(self.y(row)),
            _ => self.y(row),
        }
    }

    fn lon_lat(&self, row: usize, column: usize) -> (f64, f64) {
        let (lon, lat) = self.map.inverse(self.x(column), self.y(row));
        // Rounded steps may lead slightly beyond the pole.
        let lat = if (90.0..90.0 + 1e-4).contains(&lat.abs()) { 90.0 * lat.signum() } else { lat };
        (lon, lat)
    }

    fn check_cell(&self, row: usize, column: usize) -> Result<(), NativeGridError> {
        if row < self.rows() && column < self.columns() {
            return Ok(());
        }
        let (last_row, last_column) = (self.rows() - 1, self.columns() - 1);
        Err(NativeGridError::Cell { row, column, last_row, last_column })
    }

    fn check_lengths(&self, first: usize, second: usize) -> Result<(), NativeGridError> {
        let cells = self.cells();
        if first == cells && second == cells {
            return Ok(());
        }
        Err(NativeGridError::Length { cells, first, second })
    }
}

#[cfg(test)]
#[path = "native_tests.rs"]
mod tests;
