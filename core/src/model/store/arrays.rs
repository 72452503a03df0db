//! The documents of the arrays of a run, in the form of Zarr v3.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The file name of the document of a group or an array.
pub(super) const DOCUMENT: &str = "zarr.json";

/// The names of files and their contents.
pub(super) type Files = Vec<(PathBuf, Vec<u8>)>;

/// Adds an array of one dimension in one chunk, named after the dimension.
pub(super) fn coordinate(
    files: &mut Files,
    name: &str,
    (data_type, bytes): (&str, Vec<u8>),
    length: usize,
    attributes: &Value,
) {
    let document = json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": [length],
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [length]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": attributes,
        "dimension_names": [name],
    });
    add_document(files, name, &document);
    files.push((Path::new(name).join("c/0"), bytes));
}

/// Adds the document of an array.
pub(super) fn add_document(files: &mut Files, name: &str, document: &Value) {
    files.push((Path::new(name).join(DOCUMENT), document.to_string().into_bytes()));
}
