//! The name by which places of backups and archives know a record.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use mesonet::durable::sync_folder;
use mesonet::store::StoreError;

use crate::files::found;

/// The file of a data folder with the name by which places know the record. Backups leave it out, so
/// a restored record is another one.
pub const WRITER: &str = "writer";

/// Digits of the name.
const DIGITS: usize = 16;

/// Returns the name by which places know the record of a folder. It is made at the first use.
///
/// # Errors
/// The file cannot be read or written, or is not ours.
pub fn writer_of_folder(data: &Path) -> Result<String, StoreError> {
    let path = data.join(WRITER);
    let failed = |cause| StoreError::Storage { path: path.display().to_string(), cause };
    let read = || -> io::Result<String> {
        // Whoever did not make it may only be allowed to read it.
        if let Some(text) = found(fs::read_to_string(&path))? {
            return Ok(text);
        }
        // It appears with its content: one that is empty was emptied.
        let text = format!("{:0DIGITS$x}\n", getrandom::u64().map_err(io::Error::from)?);
        let mut file = tempfile::Builder::new().prefix(".mesonet-writer-").tempfile_in(data)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        match file.persist_noclobber(&path) {
            Ok(_) => sync_folder(data).map(|()| text),
            // Another command was faster.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                fs::read_to_string(&path)
            }
            Err(error) => Err(error.error),
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

/// The name of a record, if a text is one.
fn name_in(text: &str) -> Option<String> {
    let name = text.trim_end();
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (name.len() == DIGITS && name.bytes().all(is_digit)).then(|| name.to_owned())
}
