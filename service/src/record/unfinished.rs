//! A copy of a record that is not finished.

use std::path::Path;

use mesonet::store::copy::{NOTE, unfinished};
use mesonet::store::{EmbeddedReader, StoreError};

use super::RecordPlace;

/// Refuses to use the record of a folder if it is a copy that is not finished.
///
/// # Errors
/// The folder has such a copy, or cannot be read.
pub fn refuse_unfinished_folder(folder: &Path) -> Result<(), StoreError> {
    let place = RecordPlace::Embedded(folder.to_owned()).to_string();
    refuse_unfinished(EmbeddedReader::meta_of(folder, NOTE)?.as_deref(), &place)
}

/// Refuses to use a copy that is not finished.
///
/// # Errors
/// The note is that of such a copy.
pub fn refuse_unfinished(note: Option<&str>, place: &str) -> Result<(), StoreError> {
    let Some(of) = note.and_then(unfinished) else { return Ok(()) };
    let cause = format!(
        "it is an unfinished copy of {of}, and must not be used; finish it with: mesonet-server copy \
         --from {of} --to {place}"
    );
    Err(StoreError::Storage { path: place.to_owned(), cause })
}
