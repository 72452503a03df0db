//! A record as version 6 left it, whose segments maintenance writes anew: `tests/data/version_6`.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// Number of its segments.
pub const SEGMENTS: usize = 8;

/// Unpacks the record into a new folder, which is on disk as a whole when this returns.
pub fn unpack(to: &Path) {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/version_6/record");
    let beside = to.with_extension("unpacking");
    if beside.exists() {
        fs::remove_dir_all(&beside).unwrap();
    }
    let mut folders = vec![PathBuf::new()];
    let mut files = Vec::new();
    let mut next = 0;
    while let Some(folder) = folders.get(next).cloned() {
        next += 1;
        for entry in fs::read_dir(packed.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    for folder in &folders {
        fs::create_dir(beside.join(folder)).unwrap();
    }
    files.sort();
    for path in files {
        let mut bytes = Vec::new();
        GzDecoder::new(File::open(packed.join(&path)).unwrap()).read_to_end(&mut bytes).unwrap();
        let mut file = File::create(beside.join(path.with_extension(""))).unwrap();
        file.write_all(&bytes).unwrap();
        file.sync_all().unwrap();
    }
    for folder in &folders {
        sync(&beside.join(folder));
    }
    fs::rename(&beside, to).unwrap();
    sync(to.parent().unwrap());
}

fn sync(folder: &Path) {
    File::open(folder).unwrap().sync_all().unwrap();
}
