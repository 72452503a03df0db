//! The judged record of the sample, made ahead: what a server makes of the bundled reports in a new
//! folder.
//!
//! Judging 31,000 reports of 3,178 stations takes seconds. `tests/http/sample.rs` checks that the
//! file has the result, and rewrites the file with `MESONET_REFRESH=1`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use mesonet::durable::sync_folder;
use mesonet_service::record::lock_folder;

/// The database of the record, compressed by zstd.
const RECORD: &[u8] = include_bytes!("../../sample/record.sqlite.zst");

/// The newest report in it, milliseconds since 1970: 2024-08-03T21:17:00Z.
pub const NEWEST_MS: i64 = 1_722_719_820_000;

/// How many changes it has acknowledged.
const COUNT: &[u8] = include_bytes!("../../sample/record.count");

/// The names that they have in a data folder, in the order in which they are put there.
const FILES: [&str; 2] = ["mesonet.count", "mesonet.sqlite"];

/// How files begin that are not whole yet.
const UNFINISHED: &str = ".mesonet-sample-";

/// Puts the record of the sample into a data folder, which is created if missing. Does nothing if
/// anything else is in the folder, or if another process has it open.
///
/// # Errors
/// The folder cannot be written. It then has no part of a record.
pub fn put_sample_record(folder: &Path) -> io::Result<()> {
    // Held until the files are there: no other process begins a record meanwhile.
    let Ok((_lock, _)) = lock_folder(folder) else { return Ok(()) };
    let is_cut_off = |name: &str| {
        // The database comes last: this is what a process leaves that was killed in between.
        name == FILES[0] && fs::read(folder.join(name)).is_ok_and(|bytes| bytes == COUNT)
    };
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        let is_mine = name == "lock" || name.starts_with(UNFINISHED) || is_cut_off(&name);
        // Products or model runs alone are somebody's data too: such a record is not the sample.
        if !is_mine {
            return Ok(());
        }
    }
    let database = zstd::decode_all(RECORD)?;
    for (name, bytes) in FILES.into_iter().zip([COUNT, &database]) {
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(folder.join(name)).map_err(|error| error.error)?;
        sync_folder(folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_report_is_that_of_the_sample() {
        let reports = crate::sample::sample().unwrap().batch.reports;
        assert_eq!(reports.iter().map(|report| report.ts_ms).max(), Some(NEWEST_MS));
    }

    /// Such a folder got the sample, and with it the clock of a replay.
    #[test]
    fn a_folder_with_products_or_model_runs_alone_does_not_become_the_sample() {
        for theirs in ["products/rain/a.tif", "models/demo/20180917T000000Z/zarr.json"] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join(theirs);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "of someone").unwrap();
            put_sample_record(folder.path()).unwrap();
            assert!(!folder.path().join(FILES[1]).exists(), "{theirs}");
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILES[0]), COUNT).unwrap();
        put_sample_record(folder.path()).unwrap();
        assert!(folder.path().join(FILES[1]).exists(), "one that was cut off is finished");
    }
}
