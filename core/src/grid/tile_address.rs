//! The addresses of Web-Mercator tiles.

use std::f64::consts::PI;

/// The pixels along a side of a tile.
pub const TILE_SIDE: usize = 256;

/// The pixels of a tile.
pub(super) const PIXELS: usize = TILE_SIDE * TILE_SIDE;

/// The deepest zoom, at which a pixel is 4 cm wide at the equator.
pub const MAX_TILE_ZOOM: u32 = 22;

/// One of the 4^z tiles of a zoom: x counts from 180° W to the east, y from 85.05° N to the south.
///
/// ```
/// use mesonet::grid::{MAX_TILE_ZOOM, TILE_SIDE, TileAddress, TileError};
/// let whole_map = TileAddress::new(0, 0, 0)?;
/// assert_eq!(whole_map.lon(TILE_SIDE / 2), 360.0 / 256.0 / 2.0);
/// assert!((whole_map.lat(0) - 84.99).abs() < 0.01);
/// let too_deep = TileAddress::new(MAX_TILE_ZOOM + 1, 0, 0);
/// assert_eq!(too_deep, Err(TileError::Address { z: 23, x: 0, y: 0 }));
/// assert_eq!(
///     TileAddress::new(1, 2, 0).unwrap_err().to_string(),
///     "invalid tile 1/2/0: z must be 0 to 22, x and y 0 to 2^z - 1",
/// );
/// # Ok::<(), TileError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileAddress {
    z: u32,
    x: u32,
    y: u32,
}

/// The error for an invalid tile, or for buffers of the wrong length.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TileError {
    /// The tile does not exist.
    #[error(
        "invalid tile {z}/{x}/{y}: z must be 0 to {MAX_TILE_ZOOM}, x and y 0 to \
         2^z - 1"
    )]
    Address {
        /// The zoom.
        z: u32,
        /// The column.
        x: u32,
        /// The row.
        y: u32,
    },
    /// The number of cells differs from that of the part that the tile is made from.
    #[error("the part of the grid has {needed} cells; got {got}")]
    Cells {
        /// The number of cells of the part.
        needed: usize,
        /// The number of cells given.
        got: usize,
    },
    /// The buffer does not have the length of a tile.
    #[error("a tile has {PIXELS} pixels; got room for {0}")]
    Room(usize),
    /// The plan of a tile is of another grid.
    #[error("the plan of the tile is of another grid than that of the run")]
    OtherGrid,
}

impl TileAddress {
    /// Returns a tile by its zoom, column and row.
    ///
    /// # Errors
    /// If the zoom is beyond [`MAX_TILE_ZOOM`], or the column or row beyond those of the zoom.
    pub fn new(z: u32, x: u32, y: u32) -> Result<Self, TileError> {
        if z > MAX_TILE_ZOOM || x >= 1 << z || y >= 1 << z {
            return Err(TileError::Address { z, x, y });
        }
        Ok(Self { z, x, y })
    }

    /// Returns the longitude of the centres of a column of pixels.
    pub fn lon(self, pixel_column: usize) -> f64 {
        self.turns(self.x, pixel_column) * 360.0 - 180.0
    }

    /// Returns the latitude of the centres of a row of pixels: Web Mercator uses that of the sphere
    /// (EPSG 3857; Snyder's equation 7-4).
    pub fn lat(self, pixel_row: usize) -> f64 {
        libm::atan(libm::sinh(PI * (1.0 - 2.0 * self.turns(self.y, pixel_row)))).to_degrees()
    }

    /// Returns the fraction of the whole map that lies before the centre of a pixel.
    fn turns(self, tile: u32, pixel: usize) -> f64 {
        let side = TILE_SIDE as f64;
        (f64::from(tile) * side + pixel as f64 + 0.5) / (side * f64::from(1_u32 << self.z))
    }
}
