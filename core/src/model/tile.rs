//! The map tiles of the model service: a product at an hour and level as a tile.

use std::cell::RefCell;

use crate::grid::{TILE_SIDE, TileAddress, TileError, TilePlan, TileSampling, WindComponent};
use crate::model::cell::components;
use crate::model::{Run, RunLevel, RunProduct, RunStoreError};

/// The most cells of a part of a grid that is copied, 8 MB. In a larger part, only the cells that
/// pixels need are read; this is slower per cell, but they are few.
const MAX_PART: usize = 1 << 22;

/// A query for a tile of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TileQuery<'a> {
    /// The index into the hours of the run.
    pub hour: usize,
    /// The name of the product.
    pub product: &'a str,
    /// The index into its levels; 0 for a single-level product.
    pub level: usize,
    /// The ensemble member; `None` for the first, which is the control if the run has it.
    pub member: Option<u8>,
    /// The tile.
    pub address: TileAddress,
    /// How its pixels get their values.
    pub sampling: TileSampling,
    /// The wind that the product is a component of: the component, and the names of both
    /// components, eastward first.
    pub wind: Option<(WindComponent, [&'a str; 2])>,
}

impl<'a> TileQuery<'a> {
    /// A query for a tile of a product at an hour: its first level, with the default sampling.
    pub fn new(hour: usize, product: &'a str, address: TileAddress) -> Self {
        let sampling = TileSampling::default();
        Self { hour, product, level: 0, member: None, address, sampling, wind: None }
    }

    /// Sets the index into the levels of the product.
    #[must_use]
    pub fn level(self, level: usize) -> Self {
        Self { level, ..self }
    }

    /// Sets the member of an ensemble.
    #[must_use]
    pub fn member(self, member: impl Into<Option<u8>>) -> Self {
        Self { member: member.into(), ..self }
    }

    /// Sets how pixels get their values.
    #[must_use]
    pub fn sampling(self, sampling: TileSampling) -> Self {
        Self { sampling, ..self }
    }

    /// Sets the wind that the product is a component of.
    #[must_use]
    pub fn wind(self, wind: impl Into<Option<(WindComponent, [&'a str; 2])>>) -> Self {
        Self { wind: wind.into(), ..self }
    }
}

/// Returns the integers of a tile, row by row from the north, in the packing of its product.
///
/// A tile outside the grid is all nodata. Wind components are given towards true north or east,
/// whatever the axes of the grid; if that takes both components and one is missing, there are no
/// values.
///
/// ```
/// use mesonet::model;
/// use mesonet::grid::{TileAddress, TileSampling, WindComponent};
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
/// let run = model::RunStore::new(folder).newest_run("nam211")?;
/// let query = model::TileQuery::new(0, "u", TileAddress::new(2, 0, 1)?)
///     .level(1)
///     .sampling(TileSampling::Bilinear)
///     .wind((WindComponent::U, ["u", "v"]));
/// let tile = model::tile(&run, &query)?;
/// assert_eq!(tile.len(), 256 * 256);
/// assert!(tile.iter().any(|&raw| raw != i16::MIN));
/// # Ok::<(), mesonet::Error>(())
/// ```
///
/// # Errors
/// If the run does not have the product, hour or level, the hour is not published, or the store is
/// damaged.
pub fn tile(run: &Run, query: &TileQuery<'_>) -> Result<Vec<i16>, RunStoreError> {
    planned_tile(run, query, &TilePlan::new(run.grid(), query.address, query.sampling))
}

/// Like [`tile`], with a plan that was kept: making it takes longer than the rest. The address and
/// the sampling are those of the plan.
///
/// ```
/// use mesonet::grid::{TileAddress, TilePlan};
/// use mesonet::model;
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
/// let run = model::RunStore::new(folder).newest_run("nam211")?;
/// let query = model::TileQuery::new(0, "u", TileAddress::new(2, 0, 1)?).level(1);
/// let plan = TilePlan::new(run.grid(), query.address, query.sampling);
/// assert_eq!(model::planned_tile(&run, &query, &plan)?, model::tile(&run, &query)?);
/// # Ok::<(), mesonet::Error>(())
/// ```
///
/// # Errors
/// As [`tile`]; also if the plan is of another grid than that of the run.
pub fn planned_tile(
    run: &Run,
    query: &TileQuery<'_>,
    plan: &TilePlan,
) -> Result<Vec<i16>, RunStoreError> {
    let TileQuery { hour, product, level, member, wind, .. } = *query;
    if plan.grid() != run.grid() {
        return Err(TileError::OtherGrid.into());
    }
    let product = run.product_of(product, member)?;
    let encoding = product.definition().encoding;
    // This is checked even for a tile outside the grid: the product, hour and level must exist.
    let own = product.level(hour, level)?;
    let mut tile = vec![encoding.nodata(); TILE_SIDE * TILE_SIDE];
    let Some((component, names)) = wind.filter(|_| run.definition().grid.grid_relative_winds)
    else {
        if plan.cells() <= MAX_PART {
            plan.sample(&part(plan, product, hour, level)?, encoding, &mut tile)?;
        } else {
            let cells = OneByOne::default();
            plan.sample_from(|row, column| cells.raw(own, row, column), encoding, &mut tile)?;
            cells.finish()?;
        }
        return Ok(tile);
    };
    let Some([u, v]) = components(run, names, member) else { return Ok(tile) };
    let packed = [u, v].map(|product| product.definition().encoding);
    if plan.cells() <= MAX_PART {
        let (u, v) = (part(plan, u, hour, level)?, part(plan, v, hour, level)?);
        plan.sample_wind((&u, packed[0]), (&v, packed[1]), component, &mut tile)?;
    } else {
        let (both, cells) = ([u.level(hour, level)?, v.level(hour, level)?], OneByOne::default());
        let raw = |row, column| both.map(|level| cells.raw(level, row, column));
        plan.sample_wind_from(raw, packed, component, &mut tile)?;
        cells.finish()?;
    }
    Ok(tile)
}

/// Reads the part of a level for a tile.
fn part(
    plan: &TilePlan,
    product: RunProduct<'_>,
    hour: usize,
    level: usize,
) -> Result<Vec<i16>, RunStoreError> {
    let mut raw = vec![0; plan.cells()];
    product.part_into(hour, level, plan.rows(), plan.columns(), &mut raw)?;
    Ok(raw)
}

/// Reads cells one by one and remembers the first failure.
#[derive(Default)]
struct OneByOne {
    failure: RefCell<Option<RunStoreError>>,
}

impl OneByOne {
    fn raw(&self, level: RunLevel<'_>, row: usize, column: usize) -> i16 {
        level.raw(row, column).unwrap_or_else(|error| {
            self.failure.borrow_mut().get_or_insert(error);
            0
        })
    }

    fn finish(self) -> Result<(), RunStoreError> {
        self.failure.into_inner().map_or(Ok(()), Err)
    }
}

#[cfg(test)]
#[path = "tile_tests.rs"]
mod tests;
