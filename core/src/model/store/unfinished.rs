//! The remains of interrupted writes.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::clear;
use super::definition::RunDefinition;
use super::error::storage;
use super::growth::ready_path;
use super::writer::lock;
use super::zarr::{FRESH_DOCUMENT, RunManifest, array_files};
use crate::model::{RunStamp, RunStoreError};

/// Removes the remains of an interrupted write: a path in the folder of a model, or remains within
/// a run, if nobody is writing the run. Returns how many there were.
pub(super) fn remove_unfinished(path: &Path) -> Result<usize, RunStoreError> {
    let (Some(model), Some(name)) = (path.parent(), path.file_name().and_then(OsStr::to_str))
    else {
        return Ok(0);
    };
    let hidden = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix(".new").or_else(|| name.strip_suffix(".removed")));
    let Ok(run) = hidden.unwrap_or(name).parse::<RunStamp>() else { return Ok(0) };
    if !path.is_dir() {
        return Ok(0);
    }
    let left = match hidden {
        Some(_) => vec![path.to_owned()],
        None => unfinished_of(path)?,
    };
    if left.is_empty() {
        return Ok(0);
    }
    let _lock = match lock(model, run) {
        Err(RunStoreError::Busy(_)) => return Ok(0),
        lock => lock?,
    };
    for one in &left {
        if hidden.is_some() {
            clear(one)?;
            continue;
        }
        match fs::remove_file(one) {
            // It was published or removed in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            removed => removed.map_err(|error| storage(one, &error))?,
        }
    }
    Ok(left.len())
}

/// Returns the files of a run that are not published.
fn unfinished_of(run: &Path) -> Result<Vec<PathBuf>, RunStoreError> {
    let manifest = match RunManifest::read(run) {
        Ok(Some(manifest)) => manifest,
        // A damaged run is reported when it is opened.
        Ok(None) | Err(RunStoreError::Damaged { .. }) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let RunDefinition { products, valid_ms, .. } = &manifest.definition;
    let mut left: Vec<PathBuf> = vec![run.join(FRESH_DOCUMENT)];
    for product in products {
        left.extend((0..valid_ms.len()).map(|hour| ready_path(run, product, hour)));
    }
    for (name, _) in array_files(&manifest.definition, &manifest.slots(), manifest.form())? {
        left.push(run.join(name).with_extension("new"));
    }
    left.retain(|path| path.is_file());
    Ok(left)
}
