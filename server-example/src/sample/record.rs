//! The judged record of the sample, made ahead: what a server makes of the bundled reports in a new
//! folder.
//!
//! Judging 31,000 reports of 3,178 stations takes seconds. `tests/http/sample.rs` checks that the
//! file has the result, and rewrites the file with `MESONET_REFRESH=1`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use mesonet::durable::sync_folder;
use mesonet_service::backup::is_record;
use mesonet_service::record::lock_folder;

/// The database of the record, compressed by zstd.
const RECORD: &[u8] = include_bytes!("../../sample/record.sqlite.zst");

/// The name of the database in a data folder.
const DATABASE: &str = "mesonet.sqlite";

/// Puts the record of the sample into a data folder, which is created if missing. Does nothing if
/// the folder has any part of a record, or if another process has it open.
///
/// # Errors
/// The folder cannot be written. It then has no part of a record.
pub fn put_sample_record(folder: &Path) -> io::Result<()> {
    // Held until the file is there, so that no other process begins a record in the meantime.
    let Ok((_lock, _)) = lock_folder(folder) else { return Ok(()) };
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if name != "lock" && is_record(&name) {
            return Ok(());
        }
    }
    let mut file = tempfile::Builder::new().prefix(".mesonet-sample-").tempfile_in(folder)?;
    file.write_all(&zstd::decode_all(RECORD)?)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(folder.join(DATABASE)).map_err(|error| error.error)?;
    sync_folder(folder)
}
