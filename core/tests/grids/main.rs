//! GRIB2 files, grids of models, and their store.

mod grib_files;
mod grid_store_files;
mod grid_store_upkeep;
mod model_deliveries;
mod model_tiles;
mod native_grids;
