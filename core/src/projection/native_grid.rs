//! The native grid of a model: rows and columns, where their cells lie, and how their winds are
//! turned.

use super::grid_definition::{GridDefinition, GridDefinitionError, GridProjection};
use super::map::{Map, Meridian, Parallel};
use crate::geo::{GeoError, LonLat};
use crate::wind::Rotation;

/// The native grid of a model, with the constants of its projection worked out.
///
/// ```
/// use mesonet::{GridDefinition, GridProjection, LonLat, NativeGrid, Projection};
/// // The grid of NOAA's High-Resolution Rapid Refresh.
/// let grid = NativeGrid::new(GridDefinition {
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
/// # Ok::<(), mesonet::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NativeGrid {
    definition: GridDefinition,
    map: Map,
    first_x: f64,
    first_y: f64,
    /// Columns around the globe, where they go round.
    turn_columns: Option<f64>,
}

/// A cell or a position that the grid does not have, or arrays that do not fit it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NativeGridError {
    /// Indices beyond the grid.
    #[error(
        "row {row}, column {column} is not on the grid; allowed are rows 0 to {last_row} and \
         columns 0 to {last_column}"
    )]
    Cell {
        /// The row that was asked for.
        row: usize,
        /// The column that was asked for.
        column: usize,
        /// The last row.
        last_row: usize,
        /// The last column.
        last_column: usize,
    },
    /// A position more than half a cell beyond the outermost cells.
    #[error(
        "latitude {lat}, longitude {lon} is not on the grid: it would be row {row:.2}, column \
         {column:.2}; allowed are rows 0 to {last_row} and columns 0 to {last_column}"
    )]
    Position {
        /// Its latitude.
        lat: f64,
        /// Its longitude.
        lon: f64,
        /// Where it would lie.
        row: f64,
        /// Where it would lie.
        column: f64,
        /// The last row.
        last_row: usize,
        /// The last column.
        last_column: usize,
    },
    /// A cell whose position is none, for its definition runs over a pole.
    #[error("row {row}, column {column} is not on the globe: {cause}")]
    OffGlobe {
        /// The row that was asked for.
        row: usize,
        /// The column that was asked for.
        column: usize,
        /// What is wrong with its position.
        cause: GeoError,
    },
    /// Arrays of another length than the grid has cells.
    #[error("arrays of {cells} values are needed, one for each cell; got {first} and {second}")]
    Length {
        /// Cells of the grid.
        cells: usize,
        /// Length of the first array.
        first: usize,
        /// Length of the second array.
        second: usize,
    },
    /// Arrays of different lengths: latitudes, longitudes, rows, columns.
    #[error(
        "arrays of one length are needed; got {} for lat, {} for lon, {} for row, {} for column",
        .0[0], .0[1], .0[2], .0[3]
    )]
    Lengths([usize; 4]),
    /// A latitude or longitude out of range.
    #[error(transparent)]
    Geo(#[from] GeoError),
}

impl NativeGrid {
    /// The grid of a definition.
    ///
    /// # Errors
    /// A size of none or of more than [`MAX_GRID_CELLS`](super::MAX_GRID_CELLS) cells, numbers that
    /// are not finite or out of range, a first cell that the projection cannot show.
    pub fn new(definition: GridDefinition) -> Result<Self, GridDefinitionError> {
        definition.check()?;
        let GridDefinition { first_lon, first_lat, column_step, .. } = definition;
        let map = Map::from(definition.projection);
        let (first_x, first_y) = match definition.projection {
            GridProjection::Map(_) => map.forward(first_lon, first_lat),
            GridProjection::Globe(_) => (first_lon, first_lat),
        };
        if !(first_x.is_finite() && first_y.is_finite()) {
            return Err(GridDefinitionError::FirstCell { lat: first_lat, lon: first_lon });
        }
        let turn_columns = map.turn().map(|turn| turn / column_step.abs());
        Ok(Self { definition, map, first_x, first_y, turn_columns })
    }

    /// What the grid was made from.
    pub fn definition(&self) -> &GridDefinition {
        &self.definition
    }

    /// Number of rows, ny.
    pub fn rows(&self) -> usize {
        self.definition.rows
    }

    /// Number of columns, nx.
    pub fn columns(&self) -> usize {
        self.definition.columns
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.rows() * self.columns()
    }

    /// Whether the column behind the last one is the first again, as on a grid around the globe.
    pub fn goes_round(&self) -> bool {
        self.turn_columns.is_some_and(|turn| (turn - self.columns() as f64).abs() < 1e-3)
    }

    /// Where the centre of a cell lies; the longitude is from −180 to just below 180.
    ///
    /// # Errors
    /// A row or column that the grid does not have.
    pub fn position(&self, row: usize, column: usize) -> Result<LonLat, NativeGridError> {
        self.check_cell(row, column)?;
        let (lon, lat) = self.lon_lat(row, column);
        LonLat::new(lon, lat).map_err(|cause| NativeGridError::OffGlobe { row, column, cause })
    }

    /// The row and column of a position, with their fractions: a cell's centre has none.
    ///
    /// They may lie beyond the grid, and are infinite where the projection has no place for the
    /// position. On axes that go round the globe the column is the nearest one to the grid's
    /// middle.
    pub fn locate(&self, at: LonLat) -> (f64, f64) {
        self.meet(self.parallel(at.lat()), self.meridian(at.lon()))
    }

    /// Rows and columns of many positions, with their fractions, as [`Self::locate`] has them; NaN
    /// for a position beyond the grid, that is more than half a cell beyond the outermost centres,
    /// and where the latitude or the longitude is NaN.
    ///
    /// # Errors
    /// Arrays of different lengths, and a latitude or longitude out of range: what was written until
    /// then stays.
    ///
    /// ```
    /// use mesonet::{GridDefinition, GridProjection, LatLonGlobe, NativeGrid};
    /// let grid = NativeGrid::new(GridDefinition {
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
    /// grid.locate_into(&[45.0, f64::NAN], &[-75.0, 0.0], &mut row, &mut column)?;
    /// assert_eq!((row[0], column[0]), (18.0, 114.0));
    /// assert!(row[1].is_nan() && column[1].is_nan());
    /// # Ok::<(), mesonet::Error>(())
    /// ```
    pub fn locate_into(
        &self,
        lat: &[f64],
        lon: &[f64],
        row: &mut [f64],
        column: &mut [f64],
    ) -> Result<(), NativeGridError> {
        let lengths = [lat.len(), lon.len(), row.len(), column.len()];
        if lengths.iter().any(|&length| length != lengths[0]) {
            return Err(NativeGridError::Lengths(lengths));
        }
        for (((&lat, &lon), row), column) in lat.iter().zip(lon).zip(row).zip(column) {
            (*row, *column) = (f64::NAN, f64::NAN);
            if lat.is_nan() || lon.is_nan() {
                continue;
            }
            let located = self.locate(LonLat::new(lon, lat)?);
            if self.cell_of(located.0, located.1).is_some() {
                (*row, *column) = located;
            }
        }
        Ok(())
    }

    /// The row and column of the cell that a position lies in: that whose centre is nearest along
    /// the axes.
    ///
    /// # Errors
    /// A position more than half a cell beyond the outermost centres.
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

    /// The factors that turn a cell's winds towards true north. They are 1 and 0 on a grid whose
    /// winds are earth-relative already.
    ///
    /// # Errors
    /// A row or column that the grid does not have.
    pub fn wind_rotation(&self, row: usize, column: usize) -> Result<Rotation, NativeGridError> {
        self.check_cell(row, column)?;
        if !self.definition.grid_relative_winds {
            return Ok(Rotation::IDENTITY);
        }
        Ok(self.map.rotation_at(self.map.angle(self.x(column)), self.map.angle(self.y(row))))
    }

    /// The factors of all cells, row by row, as [`rotate_field`](crate::rotate_field) takes them.
    ///
    /// # Errors
    /// Arrays of another length than the grid has cells: nothing is written.
    pub fn wind_rotations_into(
        &self,
        cos: &mut [f64],
        sin: &mut [f64],
    ) -> Result<(), NativeGridError> {
        self.check_lengths(cos.len(), sin.len())?;
        let turns = WindTurns::new(self, 0..self.rows(), 0..self.columns());
        let columns = self.columns();
        for (row, (cos, sin)) in cos.chunks_mut(columns).zip(sin.chunks_mut(columns)).enumerate() {
            for (column, (cos, sin)) in cos.iter_mut().zip(sin).enumerate() {
                let rotation = turns.at(row, column);
                (*cos, *sin) = (rotation.cos, rotation.sin);
            }
        }
        Ok(())
    }

    /// Longitudes (−180 to just below 180) and latitudes of all cells, row by row.
    ///
    /// # Errors
    /// Arrays of another length than the grid has cells: nothing is written.
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

    /// Row and column where a parallel and a meridian of the grid's map meet.
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

    /// The cell that has a fractional row and column, half a cell beyond the outermost centres
    /// included.
    #[inline]
    pub(crate) fn cell_of(&self, row: f64, column: f64) -> Option<(usize, usize)> {
        let (row, column) = (row + 0.5, column + 0.5);
        let (rows, columns) = (self.rows() as f64, self.columns() as f64);
        // The far edge of the last column of a grid around the globe is that of the first.
        let column = if column >= columns && self.goes_round() { column - columns } else { column };
        let within = row >= 0.0 && row < rows && column >= 0.0 && column < columns;
        within.then_some((row as usize, column as usize))
    }

    pub(super) fn x(&self, column: usize) -> f64 {
        self.first_x + column as f64 * self.definition.column_step
    }

    pub(super) fn y(&self, row: usize) -> f64 {
        self.first_y + row as f64 * self.definition.row_step
    }

    fn lon_lat(&self, row: usize, column: usize) -> (f64, f64) {
        let (lon, lat) = self.map.inverse(self.x(column), self.y(row));
        // Steps that are rounded may lead over the pole by as much.
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

/// The rotations of a part of a grid, with what depends on a row or a column alone worked out.
pub(crate) struct WindTurns<'a> {
    grid: &'a NativeGrid,
    first_row: usize,
    first_column: usize,
    by_row: Vec<(f64, f64)>,
    by_column: Vec<(f64, f64)>,
}

impl<'a> WindTurns<'a> {
    pub fn new(
        grid: &'a NativeGrid,
        rows: std::ops::Range<usize>,
        columns: std::ops::Range<usize>,
    ) -> Self {
        let (first_row, first_column) = (rows.start, columns.start);
        let by_row = rows.map(|row| grid.map.angle(grid.y(row))).collect();
        let by_column = columns.map(|column| grid.map.angle(grid.x(column))).collect();
        Self { grid, first_row, first_column, by_row, by_column }
    }

    /// The rotation of a cell of the part.
    #[inline]
    pub fn at(&self, row: usize, column: usize) -> Rotation {
        if !self.grid.definition.grid_relative_winds {
            return Rotation::IDENTITY;
        }
        let (y, x) =
            (self.by_row[row - self.first_row], self.by_column[column - self.first_column]);
        self.grid.map.rotation_at(x, y)
    }
}

#[cfg(test)]
#[path = "native_grid_tests.rs"]
mod tests;
