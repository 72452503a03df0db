//! Detects one file packed in several ways: `a.txt`, `a.txt.gz`, `a.txt.xz`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::packing::{SourceError, decompressed};
use crate::files::{Budget, FileLimits, are_the_same};

/// Maximum number of files remembered; copies of further ones are not detected.
const MAX_FILES: usize = 1_000_000;

/// Maximum number of ways to pack one file that are told apart.
const MAX_WAYS: usize = 8;

const BLOCK_BYTES: usize = 1 << 16;

/// The files that were read to the end, by their unpacked names.
#[derive(Debug, Default)]
pub struct Copies {
    files: HashMap<PathBuf, Vec<PathBuf>>,
}

impl Copies {
    /// Whether a file has the same unpacked content as one of the same folder and name that was
    /// read. The contents are compared byte by byte; a file that cannot be read is not a copy.
    pub fn is_copy(&self, path: &Path, bounds: FileLimits) -> bool {
        let before = self.files.get(&unpacked_name(path));
        let mut before = before.into_iter().flatten();
        before.any(|before| hold_the_same(before, path, bounds).unwrap_or(false))
    }

    /// Remembers a file that was read to the end.
    pub fn remember(&mut self, path: &Path) {
        let is_full = self.files.len() >= MAX_FILES;
        let name = unpacked_name(path);
        if is_full && !self.files.contains_key(&name) {
            return;
        }
        let files = self.files.entry(name).or_default();
        if files.len() < MAX_WAYS {
            files.push(path.to_owned());
        }
    }
}

/// Returns the path without compression extensions.
fn unpacked_name(path: &Path) -> PathBuf {
    let mut name = path.to_owned();
    while name.extension().is_some_and(|ending| ending == "gz" || ending == "xz") {
        name.set_extension("");
    }
    name
}

fn hold_the_same(one: &Path, other: &Path, bounds: FileLimits) -> Result<bool, SourceError> {
    let (mut one, mut other) = (open(one, bounds)?, open(other, bounds)?);
    Ok(are_the_same(&mut one, &mut other)?)
}

fn open(path: &Path, bounds: FileLimits) -> Result<Box<dyn Read>, SourceError> {
    let file = File::open(path)?;
    let budget = Budget::new(bounds, file.metadata()?.len());
    decompressed(Box::new(BufReader::with_capacity(BLOCK_BYTES, file)), &budget)
}
