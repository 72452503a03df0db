//! A run that gets further hours, products or levels, a wider packing, or the present layout.
//!
//! First its document is replaced. From then on readers have the new definition, and read old
//! shards by the content that these state. Then the documents of the arrays and the shards are
//! replaced, one by one, so that other programs can read them too. If a process is killed before
//! the end, the next process that writes the run does the rest.

use std::fs;
use std::path::{Path, PathBuf};

use super::content::Content;
use super::definition::ProductDefinition;
use super::error::storage;
use super::packing;
use super::reader::{layout, shard_path};
use super::shard::Shard;
use super::zarr::{RunManifest, array_files, is_as_written, replace_named};
use crate::durable::sync_folder;
use crate::grid::blocks::EncodedPlane;
use crate::model::RunStoreError;

/// Writes the arrays and the shards of a run that has grown, according to its new definition.
pub(super) fn finish(folder: &Path, manifest: &mut RunManifest) -> Result<(), RunStoreError> {
    for (name, bytes) in array_files(&manifest.definition, &manifest.slots(), manifest.form())? {
        if is_as_written(&folder.join(&name), &bytes).is_err() {
            replace_named(folder, &name, &bytes)?;
        }
    }
    for hour in &manifest.published {
        for product in &manifest.definition.products {
            if hour.absent.contains(&product.name) {
                continue;
            }
            match open_shard(folder, manifest, hour.hour, product) {
                Ok(shard) if shard.is_as_defined() => {}
                Ok(shard) => write_again(folder, manifest, hour.hour, product, &shard)?,
                // The damaged shard stays: reading it is an error, and `verify` names it.
                Err(RunStoreError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }
    manifest.growing = false;
    manifest.write(folder)
}

/// Opens the shard of a published hour with all of its planes, including planes that are not
/// published.
fn open_shard(
    folder: &Path,
    manifest: &RunManifest,
    hour: usize,
    product: &ProductDefinition,
) -> Result<Shard, RunStoreError> {
    let slot = manifest.slots()[hour];
    let layout = layout(&manifest.definition, product, slot);
    Shard::open(&shard_path(folder, product, slot), &layout, product, &[])
}

/// Reads planes of the shard of a published hour.
pub(super) fn read_planes(
    folder: &Path,
    manifest: &RunManifest,
    hour: usize,
    product: &ProductDefinition,
    planes: &[usize],
) -> Result<Vec<EncodedPlane>, RunStoreError> {
    let shard = open_shard(folder, manifest, hour, product)?;
    let mut raw = vec![0; manifest.definition.grid.rows * manifest.definition.grid.columns];
    let mut read = |&plane: &usize| read_plane(manifest, product, &shard, plane, &mut raw);
    planes.iter().map(&mut read).collect()
}

/// Reads a plane, by way of the integers `raw`.
fn read_plane(
    manifest: &RunManifest,
    product: &ProductDefinition,
    shard: &Shard,
    plane: usize,
    raw: &mut [i16],
) -> Result<EncodedPlane, RunStoreError> {
    let grid = &manifest.definition.grid;
    shard.part(plane, 0..grid.rows, 0..grid.columns, raw)?;
    Ok(EncodedPlane::new(raw, grid.columns, product.encoding.nodata()))
}

fn write_again(
    folder: &Path,
    manifest: &RunManifest,
    hour: usize,
    product: &ProductDefinition,
    shard: &Shard,
) -> Result<(), RunStoreError> {
    let slot = manifest.slots()[hour];
    let grid = &manifest.definition.grid;
    let mut raw = vec![0; grid.rows * grid.columns];
    let mut planes = Vec::new();
    for plane in 0..product.levels() {
        match read_plane(manifest, product, shard, plane, &mut raw) {
            Ok(plane) => planes.push(plane),
            // Damaged planes must not be written again as if they were intact.
            Err(RunStoreError::Damaged { .. }) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    let levels: Vec<&EncodedPlane> = planes.iter().collect();
    let layout = layout(&manifest.definition, product, slot);
    let (fresh, path) = (ready_path(folder, product, slot), shard_path(folder, product, slot));
    packing::write(&fresh, &layout, &levels, &Content::of(product))?;
    fs::rename(&fresh, &path).map_err(|error| storage(&path, &error))?;
    let above = path.parent().unwrap_or(folder);
    sync_folder(above).map_err(|error| storage(above, &error))
}

/// Returns the path of an hour's shard before it is published.
pub(super) fn ready_path(run: &Path, product: &ProductDefinition, slot: usize) -> PathBuf {
    shard_path(run, product, slot).with_extension("new")
}
