//! What is kept of the map tiles of models, so that it is not made for each request.

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::HeaderValue;
use mesonet::grid::{NativeGrid, TileAddress, TilePlan, TileSampling};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// The memory of the plans, each of which takes 1.6 MB at most: the tiles of two screens.
const PLANS_BYTES: u64 = 64 << 20;

/// The memory of the tiles.
const TILES_BYTES: u64 = 32 << 20;

/// The plans of the tiles that were made last, and the tiles that do not change any more. Both are
/// bounded by their memory.
pub struct Tiles {
    plans: Cache<PlanKey, Arc<TilePlan>, PlanBytes>,
    /// Each by its tag, which is that of everything that it is made from.
    bodies: Cache<HeaderValue, Bytes, BodyBytes>,
}

/// A tile of a grid. Another grid with the same first cell and the same number of cells is told
/// apart when the plan is taken.
#[derive(Clone, PartialEq, Eq, Hash)]
struct PlanKey {
    address: TileAddress,
    sampling: TileSampling,
    cells: [usize; 2],
    first: [u64; 2],
}

#[derive(Clone)]
struct PlanBytes;

impl Weighter<PlanKey, Arc<TilePlan>> for PlanBytes {
    fn weight(&self, _: &PlanKey, plan: &Arc<TilePlan>) -> u64 {
        plan.bytes() as u64
    }
}

#[derive(Clone)]
struct BodyBytes;

impl Weighter<HeaderValue, Bytes> for BodyBytes {
    fn weight(&self, etag: &HeaderValue, body: &Bytes) -> u64 {
        (etag.len() + body.len()) as u64
    }
}

impl Default for Tiles {
    fn default() -> Self {
        /// Of a temperature, compressed.
        const BODY_BYTES: u64 = 32 << 10;
        /// Of an interpolated tile.
        const PLAN_BYTES: u64 = 3 << 19;
        let of = |bytes: u64, each: u64| (bytes / each) as usize;
        Self {
            plans: Cache::with_weighter(of(PLANS_BYTES, PLAN_BYTES), PLANS_BYTES, PlanBytes),
            bodies: Cache::with_weighter(of(TILES_BYTES, BODY_BYTES), TILES_BYTES, BodyBytes),
        }
    }
}

impl Tiles {
    /// The plan of a tile of a grid.
    pub fn plan(
        &self,
        grid: &NativeGrid,
        address: TileAddress,
        sampling: TileSampling,
    ) -> Arc<TilePlan> {
        let definition = grid.definition();
        let key = PlanKey {
            address,
            sampling,
            cells: [definition.rows, definition.columns],
            first: [definition.first_lon, definition.first_lat].map(f64::to_bits),
        };
        if let Some(plan) = self.plans.get(&key).filter(|plan| plan.grid() == grid) {
            return plan;
        }
        let plan = Arc::new(TilePlan::new(grid, address, sampling));
        self.plans.insert(key, Arc::clone(&plan));
        plan
    }

    /// The tile with a tag, if it is kept.
    pub fn body(&self, etag: &HeaderValue) -> Option<Bytes> {
        self.bodies.get(etag)
    }

    /// Keeps a tile that does not change any more.
    pub fn keep(&self, etag: &HeaderValue, body: &Bytes) {
        self.bodies.insert(etag.clone(), body.clone());
    }
}

#[cfg(test)]
mod tests {
    use mesonet::grid::{Definition, GridProjection, LatLonGlobe};

    use super::*;

    fn grid(column_step: f64) -> NativeGrid {
        let globe = GridProjection::Globe(LatLonGlobe::LatLon);
        let (first_lon, first_lat) = (-100.0, 60.0);
        NativeGrid::new(Definition {
            rows: 10,
            columns: 20,
            projection: globe,
            first_lon,
            first_lat,
            column_step,
            row_step: -1.0,
            grid_relative_winds: false,
        })
        .unwrap()
    }

    fn address(number: u32) -> TileAddress {
        TileAddress::new(8, number % 256, number / 256).unwrap()
    }

    #[test]
    fn a_plan_is_made_once_and_not_taken_for_another_grid() {
        let (tiles, one, other) = (Tiles::default(), grid(1.0), grid(0.5));
        let plan = |grid| tiles.plan(grid, address(0), TileSampling::Bilinear);
        let first = plan(&one);
        assert!(Arc::ptr_eq(&first, &plan(&one)));
        assert_eq!(plan(&other).grid(), &other);
        assert_eq!(plan(&one).grid(), &one);
    }

    #[test]
    fn plans_and_tiles_take_no_more_memory_than_they_may() {
        let (tiles, grid) = (Tiles::default(), grid(1.0));
        for number in 0..100 {
            tiles.plan(&grid, address(number), TileSampling::Bilinear);
        }
        assert!((1..=PLANS_BYTES).contains(&tiles.plans.weight()));
        assert!(tiles.plans.len() < 100);
        for number in 0..1_000 {
            let etag = HeaderValue::from_str(&format!("\"{number}\"")).unwrap();
            tiles.keep(&etag, &Bytes::from(vec![0; 100_000]));
        }
        assert!((1..=TILES_BYTES).contains(&tiles.bodies.weight()));
        // One that is larger than all of them together is not kept.
        let large = HeaderValue::from_static("\"large\"");
        tiles.keep(&large, &Bytes::from(vec![0; TILES_BYTES as usize + 1]));
        assert!(tiles.body(&large).is_none());
    }
}
