//! Places and folders that a backup or a restore refuses, and disks that are full.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::backup::{METAR, refused, run};
use crate::child::Process;
use crate::process::{PATIENCE, binary, command, data};
use crate::verify::files;

/// A small disk in memory, unmounted at the end.
struct Disk(PathBuf);

impl Disk {
    /// `None` if this user may not mount one.
    fn mounted(at: &Path) -> Option<Self> {
        fs::create_dir(at).unwrap();
        let mut mount = Command::new("mount");
        let mounted = mount.args(["-t", "tmpfs", "-o", "size=200k", "tmpfs"]).arg(at).output();
        let is_mounted = mounted.is_ok_and(|done| done.status.success());
        if !is_mounted {
            eprintln!("skipped: this user may not mount a file system");
        }
        is_mounted.then(|| Self(at.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// A record with the reports of one METAR file.
fn record() -> TempDir {
    let folder = TempDir::new().unwrap();
    run(folder.path(), &["ingest", &data(METAR)]);
    folder
}

fn names(folder: &Path) -> BTreeSet<String> {
    files(folder).into_iter().collect()
}

/// Backups inside the record would grow with each backup, and be lost with the record.
#[test]
fn a_place_in_the_folder_of_the_record_is_refused() {
    let folder = record();
    let path = folder.path();
    let before = names(path);
    for place in ["mesonet-data", "mesonet-data/products/inside", "./mesonet-data/../mesonet-data"]
    {
        let inside = format!(
            "error: {place} is in mesonet-data, the folder of the record; the backups must be in another one\n"
        );
        assert_eq!(refused(path, &["backup", "--to", place]), inside);
        assert_eq!(
            refused(path, &["serve", "--follow", place]),
            format!("error: follow is \"{place}\"; it must be outside the folder of the record\n")
        );
    }
    assert_eq!(names(path), before);
}

/// No folder with the name `file:` is made.
#[test]
fn an_address_with_a_slash_too_few_is_refused() {
    let folder = record();
    let path = folder.path();
    let before = names(path);
    for place in ["", "file:/mnt/x", "s3:/weather/mesonet"] {
        let error = refused(path, &["backup", "--to", place]);
        let expected =
            format!("error: \"{place}\" is not a place for backups or archives; it must be ");
        assert!(error.starts_with(&expected), "{error}");
        let error = refused(path, &["serve", &format!("--follow={place}")]);
        let expected = format!("error: follow is \"{place}\"; it must be a folder");
        assert!(error.starts_with(&expected), "{error}");
    }
    assert_eq!(names(path), before);
}

/// The refusal comes before anything is fetched: the place has only the manifest.
#[test]
fn a_restore_into_what_it_cannot_replace_is_refused_before_it_begins() {
    let folder = record();
    let path = folder.path();
    run(path, &["backup", "--to", "backups"]);
    fs::remove_dir_all(path.join("backups/objects")).unwrap();
    fs::create_dir(path.join("empty")).unwrap();
    symlink("empty", path.join("link")).unwrap();
    symlink("nowhere", path.join("dangling")).unwrap();
    fs::write(path.join("file"), "of someone").unwrap();
    let disk = Disk::mounted(&path.join("disk"));
    let before = names(path);
    let at = path.canonicalize().unwrap();
    let refused = |to: &str, named: &str, cause: &str| {
        let error = refused(path, &["restore", "--from", "backups", "--to", to]);
        let named = at.join(named);
        let advice = "restore into a new folder, and use that";
        assert_eq!(error, format!("error: {} {cause}; {advice}\n", named.display()));
    };
    for to in ["link", "link/", "dangling"] {
        refused(to, to.trim_end_matches('/'), "is a symbolic link");
    }
    refused("file", "file", "is not a folder");
    refused("mesonet-data/..", "mesonet-data/..", "does not end in the name of a folder");
    if disk.is_some() {
        let mounted = "is a mounted disk, which cannot be replaced by the folder that was restored";
        refused("disk", "disk", mounted);
    }
    assert_eq!(names(path), before);
    assert!(path.join("link").is_symlink() && path.join("empty").is_dir());
}

/// The disk of the temporary copy is full, not that of the record.
#[test]
fn a_backup_without_room_for_the_copy_names_its_disk() {
    let folder = record();
    let path = folder.path();
    let Some(disk) = Disk::mounted(&path.join("small")) else { return };
    let mut backup = command(path, &["backup", "--to", "backups"]);
    let (status, said) = Process::start(backup.env("TMPDIR", &disk.0), PATIENCE).wait();
    assert!(!status.success());
    let named = format!("{}/mesonet-backup-", disk.0.display());
    assert!(said.err.contains(&named) && said.err.contains("no space is left"), "{}", said.err);
    assert_eq!(fs::read_dir(&disk.0).unwrap().count(), 0);
}

/// The first key needs a file: one without its table would keep the server from starting.
#[test]
fn a_key_that_cannot_be_issued_leaves_no_file() {
    let folder = record();
    let path = folder.path();
    let before = names(path);
    // The length of files is limited in blocks. The signal is ignored, so that a write fails, as on
    // a full disk.
    let issue =
        format!("trap '' XFSZ; ulimit -f 4; exec {} keys issue --label a", binary().display());
    let mut shell = Command::new("sh");
    let out = shell.args(["-c", &issue]).env_clear().current_dir(path).output().unwrap();
    let error = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(1), "{error}");
    assert!(error.contains("mesonet-data/keys.sqlite: "), "{error}");
    assert_eq!(names(path), before);
    // Like a file that was left earlier.
    fs::write(path.join("mesonet-data/keys.sqlite"), "").unwrap();
    assert_eq!(run(path, &["keys", "list"]), "");
    run(path, &["backup", "--to", "backups"]);
    run(path, &["verify"]);
    run(path, &["keys", "issue", "--label", "someone"]);
    assert!(run(path, &["keys", "list"]).contains("someone"));
}
