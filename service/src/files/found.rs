//! Files that may be gone.

use std::io;

/// Nothing if a file was deleted meanwhile.
///
/// # Errors
/// All but that there is no such file.
pub fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}
