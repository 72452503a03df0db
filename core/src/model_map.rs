//! What the model service draws: a product at an hour and level as a tile.

use std::cell::RefCell;

use crate::error::Error;
use crate::grid_store::{GridLevel, GridProduct, GridRun, GridStoreError};
use crate::model_cell::components;
use crate::model_tile::{TILE_SIDE, TileAddress, TilePlan, TileSampling, WindComponent};

/// Most cells of a part of a grid that is copied, 8 MB of them; of a larger one only the cells that
/// pixels need are read, which takes longer for each but there are few.
const MAX_PART: usize = 1 << 22;

/// A question about a tile of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelTileQuery<'a> {
    /// Index into the hours of the run.
    pub hour: usize,
    /// Name of the product.
    pub product: &'a str,
    /// Index into its levels; 0 for a product of a single level.
    pub level: usize,
    /// Which tile.
    pub address: TileAddress,
    /// How its pixels get their values.
    pub sampling: TileSampling,
    /// The wind that the product is a component of: which one, and the names of both, that towards
    /// the east first.
    pub wind: Option<(WindComponent, [&'a str; 2])>,
}

/// The integers of a tile, row by row from the north, in the packing of its product.
///
/// A tile outside the grid is all nodata. A component of a wind is towards true north or east,
/// whatever the axes of the grid; where that takes both components and one is not there, it has no
/// values.
///
/// ```
/// use mesonet::{GridStore, ModelTileQuery, TileAddress, TileSampling, WindComponent, model_tile};
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
/// let run = GridStore::new(folder).newest_run("nam211")?;
/// let query = ModelTileQuery {
///     hour: 0,
///     product: "u",
///     level: 1,
///     address: TileAddress::new(2, 0, 1)?,
///     sampling: TileSampling::Bilinear,
///     wind: Some((WindComponent::U, ["u", "v"])),
/// };
/// let tile = model_tile(&run, &query)?;
/// assert_eq!(tile.len(), 256 * 256);
/// assert!(tile.iter().any(|&raw| raw != i16::MIN));
/// # Ok::<(), mesonet::Error>(())
/// ```
///
/// # Errors
/// A product, hour or level that the run does not have; an hour that is not published; a damaged
/// store.
pub fn model_tile(run: &GridRun, query: &ModelTileQuery<'_>) -> Result<Vec<i16>, Error> {
    let ModelTileQuery { hour, product, level, address, sampling, wind } = *query;
    let product = run.product(product)?;
    let encoding = product.definition().encoding;
    // Also for a tile outside the grid: what is asked for must be there.
    let own = product.level(hour, level)?;
    let plan = TilePlan::new(run.grid(), address, sampling);
    let mut tile = vec![encoding.nodata(); TILE_SIDE * TILE_SIDE];
    let Some((component, names)) = wind.filter(|_| run.definition().grid.grid_relative_winds)
    else {
        if plan.cells() <= MAX_PART {
            plan.sample(&part(&plan, product, hour, level)?, encoding, &mut tile)?;
        } else {
            let cells = OneByOne::default();
            plan.sample_from(|row, column| cells.raw(own, row, column), encoding, &mut tile)?;
            cells.finish()?;
        }
        return Ok(tile);
    };
    let Some([u, v]) = components(run, names) else { return Ok(tile) };
    let packed = [u, v].map(|product| product.definition().encoding);
    if plan.cells() <= MAX_PART {
        let (u, v) = (part(&plan, u, hour, level)?, part(&plan, v, hour, level)?);
        plan.sample_wind((&u, packed[0]), (&v, packed[1]), component, &mut tile)?;
    } else {
        let (both, cells) = ([u.level(hour, level)?, v.level(hour, level)?], OneByOne::default());
        let raw = |row, column| both.map(|level| cells.raw(level, row, column));
        plan.sample_wind_from(raw, packed, component, &mut tile)?;
        cells.finish()?;
    }
    Ok(tile)
}

/// The part of a level that a tile is made from.
fn part(
    plan: &TilePlan,
    product: GridProduct<'_>,
    hour: usize,
    level: usize,
) -> Result<Vec<i16>, GridStoreError> {
    let mut raw = vec![0; plan.cells()];
    product.part_into(hour, level, plan.rows(), plan.columns(), &mut raw)?;
    Ok(raw)
}

/// Reads cells one by one and remembers the first failure.
#[derive(Default)]
struct OneByOne {
    failure: RefCell<Option<GridStoreError>>,
}

impl OneByOne {
    fn raw(&self, level: GridLevel<'_>, row: usize, column: usize) -> i16 {
        level.raw(row, column).unwrap_or_else(|error| {
            self.failure.borrow_mut().get_or_insert(error);
            0
        })
    }

    fn finish(self) -> Result<(), GridStoreError> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
#[path = "model_map_tests.rs"]
mod tests;
