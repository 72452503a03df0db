//! A run of `archive` that has no room for the temporary file of a month. `tests/faults/disk.py`
//! tests a full place.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::archive::{ALL, CSV, archive, months, page, record, served, tampa};
use crate::process::binary;

/// Runs the command with a limit on the length of files, in blocks of 512 or 1024 bytes, depending
/// on the shell. The signal is ignored, so that a write fails, as on a full disk. Returns the
/// reason.
fn without_room(folder: &Path, blocks: u32) -> String {
    let binary = binary();
    let limited =
        format!("trap '' XFSZ; ulimit -f {blocks}; exec {} archive --to archive", binary.display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).env_clear().env("TMPDIR", folder).current_dir(folder);
    let out = shell.output().unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(1), "{said}");
    said
}

#[test]
fn a_run_without_room_says_where_and_the_next_one_goes_on() {
    let folder = record();
    let path = folder.path();
    // The months of the newest manifest.
    let archived = || {
        let found = fs::read_dir(path.join("archive/manifests")).unwrap();
        let newest = found.map(|entry| entry.unwrap().path()).max().unwrap();
        let manifest: Value = serde_json::from_slice(&fs::read(newest).unwrap()).unwrap();
        manifest["archive"]["months"].as_array().unwrap().len()
    };
    for blocks in [4, 400] {
        let said = without_room(path, blocks);
        let place = format!("error: {}, where a file is until it is sent: ", path.display());
        assert!(said.starts_with(&place) && said.contains("TMPDIR may name another"), "{said}");
        // The months that fitted are archived.
        assert_eq!(archived() > 0, blocks == 400, "{blocks}");
        let in_folder = fs::read_dir(path).unwrap().count();
        assert_eq!(in_folder, 2, "nothing but the record and the archive is left");
    }
    let so_far = archived();
    let done = archive(path, &[]);
    assert_eq!(
        (months(&done, "unchanged").len(), months(&done, "added").len()),
        (so_far, 49 - so_far)
    );
    let text =
        |archive, kept_from| page(&served(path, archive, kept_from), tampa(), ALL, "", CSV).text();
    let whole = text(None, None);
    assert!(text(Some("archive"), Some("2022-01-01T00:00:00Z")) == whole);
}
