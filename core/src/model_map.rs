//! What the model service draws: a product at an hour and level as a tile.

use crate::error::Error;
use crate::grid_store::{GridProduct, GridRun};
use crate::model_tile::{TILE_SIDE, TileAddress, TilePlan, TileSampling, WindComponent};

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
    let plan = TilePlan::new(run.grid(), address, sampling);
    // Also for a tile outside the grid: what is asked for must be there.
    let part = |product: GridProduct<'_>| -> Result<Vec<i16>, Error> {
        let mut raw = vec![encoding.nodata(); plan.rows().len() * plan.columns().len()];
        product.part_into(hour, level, plan.rows(), plan.columns(), &mut raw)?;
        Ok(raw)
    };
    let mut tile = vec![encoding.nodata(); TILE_SIDE * TILE_SIDE];
    match wind {
        Some((component, names)) if run.definition().grid.grid_relative_winds => {
            // A run may have been laid out without the other one.
            let [Ok(u), Ok(v)] = names.map(|name| run.product(name)) else {
                part(product)?;
                return Ok(tile);
            };
            let packed = [u, v].map(|product| product.definition().encoding);
            let (u, v) = (part(u)?, part(v)?);
            plan.sample_wind((&u, packed[0]), (&v, packed[1]), component, &mut tile)?;
        }
        _ => plan.sample(&part(product)?, encoding, &mut tile)?,
    }
    Ok(tile)
}

#[cfg(test)]
#[path = "model_map_tests.rs"]
mod tests;
