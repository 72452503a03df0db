//! Handles files that may have been deleted.

use std::io;

/// Returns nothing if a file was deleted in the meantime.
///
/// # Errors
/// All but that there is no such file.
pub fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}
