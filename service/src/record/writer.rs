//! The name of a record in its places of backups and archives.

use std::fs;
use std::io;
use std::path::Path;

use mesonet::store::StoreError;

use crate::files::{create, found};
use crate::hex::is_hex;

/// The file of a data folder with the name of the record in its places. Backups leave this file
/// out, so a restored record is another record.
pub const WRITER: &str = "writer";

/// Digits of the name.
const DIGITS: usize = 16;

/// Returns the name, in its places, of the record of a folder. The name is made at the first use.
///
/// # Errors
/// The file cannot be read or written, or was not written by this program.
pub fn writer_of_folder(data: &Path) -> Result<String, StoreError> {
    let path = data.join(WRITER);
    let failed = |cause| StoreError::Storage { path: path.display().to_string(), cause };
    let read = || -> io::Result<String> {
        // A user who did not create the file may only be allowed to read it.
        if let Some(text) = found(fs::read_to_string(&path))? {
            return Ok(text);
        }
        // The file appears with its content, so an empty file was emptied.
        let text = format!("{:0DIGITS$x}\n", getrandom::u64().map_err(io::Error::from)?);
        match create(&path, text.as_bytes()) {
            // Another command has created it in the meantime.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::read_to_string(&path),
            created => created.map(|()| text),
        }
    };
    let text = read().map_err(|error| failed(error.to_string()))?;
    name_in(&text).ok_or_else(|| failed(DAMAGED.to_owned()))
}

const DAMAGED: &str = "it is damaged; delete it, and the next backup needs --take-over";

/// Checks the file, if there is one.
///
/// # Errors
/// What is wrong with it.
pub fn check_writer(data: &Path) -> Result<(), String> {
    match found(fs::read_to_string(data.join(WRITER))).map_err(|error| error.to_string())? {
        Some(text) if name_in(&text).is_none() => Err(DAMAGED.to_owned()),
        _ => Ok(()),
    }
}

/// The name of a record in a text; `None` if the text is not one.
fn name_in(text: &str) -> Option<String> {
    let name = text.trim_end();
    is_hex(name, DIGITS).then(|| name.to_owned())
}
