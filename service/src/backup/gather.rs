//! What is in a data folder, and how each file is copied.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use mesonet::EmbeddedStore;
use mesonet::store::{Fault, FrozenSegment};

use super::BackupError;
use super::manifest::is_inside;
use crate::files::found;
use crate::keys::{KEY_COUNT, KeyFile};

/// How the entries of a data folder are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The databases at one moment, and the sealed segments that they name.
    Frozen,
    /// Small files that are rewritten as a whole. They are copied before the databases, so that
    /// they name nothing that the databases lack.
    First,
    /// The database of API keys at one moment.
    Keys,
    /// A folder of files that appear as a whole and are replaced as a whole.
    Files,
    /// A folder of model runs, each copied at one moment.
    Runs,
    /// Not copied: locks, files that SQLite keeps beside a database, secrets of this machine, and
    /// the count of the keys. The backup makes a count of its own for the copy of the keys.
    Left,
    /// Not part of a record, so not copied.
    Foreign,
}

/// Returns how an entry of a data folder is copied.
pub fn how(name: &str) -> How {
    match name {
        "mesonet.sqlite" | "mesonet.count" | "alerts.sqlite" | "alerts.count" | "segments" => {
            How::Frozen
        }
        "fetch" | "webhooks" | "mqtt" => How::First,
        "keys.sqlite" => How::Keys,
        "products" | "made-models" | "damaged" | "orphaned" => How::Files,
        "models" => How::Runs,
        "lock"
        | "writer"
        | "development-token.key"
        | "keys.count"
        // Who listens to a restored server begins anew there.
        | "live.sqlite"
        // What a restored server could not read is its own.
        | "refused.sqlite"
        | "follower"
        | "follower.next"
        // The new content of one of these, until it is whole.
        | "follower.new"
        | "follower.keys" => How::Left,
        _ => {
            let of_sqlite =
                ["mesonet.sqlite", "alerts.sqlite", "keys.sqlite", "live.sqlite", "refused.sqlite"];
            let beside = of_sqlite.iter().find_map(|database| name.strip_prefix(database));
            let is_left = matches!(beside, Some("-wal" | "-shm" | "-journal"))
                || ["mesonet.count.tmp", "alerts.count.tmp", ".follower.new"].contains(&name)
                || ["live.sqlite.damaged-", "refused.sqlite.damaged-"].iter().any(|of| name.starts_with(of))
                || name.starts_with(".mesonet-");
            if is_left { How::Left } else { How::Foreign }
        }
    }
}

/// Whether an entry of a data folder belongs to the record itself: its readings and alerts, and locks.
pub fn is_record(name: &str) -> bool {
    matches!(how(name), How::Frozen | How::Left) || name == "damaged" || name == "orphaned"
}

/// A file to back up.
#[derive(Debug)]
pub struct BackupSource {
    /// Its path in the data folder, with `/` between the parts.
    pub path: String,
    /// Its length in bytes.
    pub length: u64,
    /// What identifies its content without reading it; empty for copies.
    pub mark: String,
    /// Its content.
    pub content: Content,
}

/// Where the content of a file comes from.
#[derive(Debug)]
pub enum Content {
    /// A sealed segment.
    Segment(FrozenSegment),
    /// A file.
    File(PathBuf),
}

/// What is in a data folder at one moment, without the model runs.
#[derive(Debug, Default)]
pub struct FolderContent {
    pub sources: Vec<BackupSource>,
    /// The folders of the model runs, relative to the data folder.
    pub runs: Vec<String>,
    /// What was acknowledged and is no longer there.
    pub lost: Vec<Fault>,
    /// What is there but is not backed up: it is not part of a record, or a manifest cannot name
    /// it.
    pub foreign: Vec<String>,
}

/// The files below a folder of the data folder, by path.
#[derive(Debug, Default)]
pub struct Files {
    /// Sorted by path.
    pub sources: Vec<BackupSource>,
    /// What is there but is not backed up.
    pub foreign: Vec<String>,
}

/// Finds the files of a data folder. Those that change are copied into another folder.
pub fn gather(data: &Path, scratch: &Path) -> Result<FolderContent, BackupError> {
    let mut gathered = FolderContent::default();
    let names = paths(data, "", &mut gathered.foreign)?;
    for name in names.iter().filter(|name| how(name) == How::First) {
        gathered.copy_first(data, scratch, name)?;
    }
    let frozen = EmbeddedStore::freeze(data, scratch)?;
    for name in frozen.files {
        gathered.add_copy(scratch, name.to_owned())?;
    }
    gathered.lost = frozen.lost;
    for segment in frozen.segments {
        let (path, length, mark) = (segment.name(), segment.length(), segment.mark());
        let content = Content::Segment(segment);
        gathered.sources.push(BackupSource { path, length, mark, content });
    }
    for name in names {
        match how(&name) {
            How::Keys => {
                if KeyFile::copy(data, scratch)? {
                    gathered.add_copy(scratch, name)?;
                    gathered.add_copy(scratch, KEY_COUNT.to_owned())?;
                }
            }
            How::Files => {
                let Files { sources, foreign } = files(data, &name)?;
                gathered.sources.extend(sources);
                gathered.foreign.extend(foreign);
            }
            How::Runs => gathered.runs = runs(data, &name, &mut gathered.foreign)?,
            How::Foreign => gathered.foreign.push(name),
            How::Frozen | How::First | How::Left => {}
        }
    }
    Ok(gathered)
}

impl FolderContent {
    fn copy_first(&mut self, data: &Path, scratch: &Path, name: &str) -> Result<(), BackupError> {
        let Files { sources, foreign } = files(data, name)?;
        self.foreign.extend(foreign);
        for source in sources {
            let to = scratch.join(&source.path);
            let folder = to.parent().unwrap_or(scratch);
            fs::create_dir_all(folder).map_err(BackupError::file(folder))?;
            let copied = found(fs::copy(data.join(&source.path), &to));
            if copied.map_err(BackupError::file(&to))?.is_some() {
                self.add_copy(scratch, source.path)?;
            }
        }
        Ok(())
    }

    fn add_copy(&mut self, scratch: &Path, path: String) -> Result<(), BackupError> {
        let copy = scratch.join(&path);
        let length = fs::metadata(&copy).map_err(BackupError::file(&copy))?.len();
        let (mark, content) = (String::new(), Content::File(copy));
        self.sources.push(BackupSource { path, length, mark, content });
        Ok(())
    }
}

/// Finds the files below a folder of the data folder. Unfinished ones are left out.
pub fn files(data: &Path, folder: &str) -> Result<Files, BackupError> {
    let mut files = Files::default();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in paths(data, &folder, &mut files.foreign)? {
            if name(&path).starts_with(".mesonet-") {
                continue;
            }
            let at = data.join(&path);
            let Some(metadata) = entry(&at)? else { continue };
            if metadata.is_dir() {
                folders.push(path);
                continue;
            }
            // Opening a pipe would wait for a process that writes to it.
            if !metadata.is_file() {
                files.foreign.push(path);
                continue;
            }
            let (length, mark) = (metadata.len(), mark(&metadata));
            files.sources.push(BackupSource { path, length, mark, content: Content::File(at) });
        }
    }
    files.sources.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// Returns the folders of the model runs, relative to the data folder. Unfinished ones and locks
/// are hidden.
fn runs(data: &Path, folder: &str, foreign: &mut Vec<String>) -> Result<Vec<String>, BackupError> {
    let mut runs = Vec::new();
    let mut folders = |folder: &str| -> Result<Vec<String>, BackupError> {
        let mut inside = Vec::new();
        for path in paths(data, folder, foreign)? {
            match entry(&data.join(&path))? {
                _ if name(&path).starts_with('.') => {}
                Some(metadata) if metadata.is_dir() => inside.push(path),
                Some(_) => foreign.push(path),
                None => {}
            }
        }
        Ok(inside)
    };
    for model in folders(folder)? {
        runs.extend(folders(&model)?);
    }
    Ok(runs)
}

/// Returns the paths of the entries of a folder, relative to the data folder and sorted. Returns
/// none if the folder is gone. Entries that a manifest cannot name are added to the foreign ones
/// instead.
fn paths(data: &Path, folder: &str, foreign: &mut Vec<String>) -> Result<Vec<String>, BackupError> {
    let at = data.join(folder);
    let entries = match entry(&at)? {
        Some(_) => found(fs::read_dir(&at)).map_err(BackupError::file(&at))?,
        None => None,
    };
    let inside = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let mut paths = Vec::new();
    for entry in entries.into_iter().flatten() {
        let name = entry.map_err(BackupError::file(&at))?.file_name();
        let path = format!("{inside}{}", name.display());
        let is_plain = name.to_str().is_some() && is_inside(&path);
        if is_plain { paths.push(path) } else { foreign.push(path) }
    }
    paths.sort_unstable();
    Ok(paths)
}

/// What an entry of a folder is; for a link, what it points to. `None` if it was deleted in the
/// meantime.
fn entry(at: &Path) -> Result<Option<Metadata>, BackupError> {
    let metadata = found(fs::metadata(at)).map_err(BackupError::file(at))?;
    if metadata.is_none() && fs::symlink_metadata(at).is_ok_and(|link| link.is_symlink()) {
        // The link may point to a disk that is not mounted. What it has is not gone.
        let cause = "it is a symbolic link to something that is not there";
        return Err(BackupError::file(at)(io::Error::new(io::ErrorKind::NotFound, cause)));
    }
    Ok(metadata)
}

/// The last part of a path.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What shows that a file is the same as before: its length, the time when it was written, and its
/// number on the disk.
pub fn mark(metadata: &Metadata) -> String {
    let modified = metadata.modified().ok();
    let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let Some(modified) = modified else { return String::new() };
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(metadata);
    #[cfg(not(unix))]
    let inode = 0;
    format!("{}-{}-{inode}", metadata.len(), modified.as_nanos())
}

/// Opens a file. Returns it with its length and mark; `None` if it was deleted in the meantime.
pub fn open(path: &Path) -> Result<Option<(File, u64, String)>, BackupError> {
    let Some(file) = found(File::open(path)).map_err(BackupError::file(path))? else {
        return Ok(None);
    };
    let metadata = file.metadata().map_err(BackupError::file(path))?;
    Ok(Some((file, metadata.len(), mark(&metadata))))
}

#[cfg(test)]
mod tests {
    use mesonet::store::EmbeddedOptions;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn what_a_manifest_cannot_name_is_not_backed_up_but_named() {
        use std::os::unix::ffi::OsStrExt;

        let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let data = folder.path();
        drop(EmbeddedStore::open(data, EmbeddedOptions::default()));
        for file in [
            "products/rain/a.tif",
            "products/note: old.txt",
            "products/c:/b.tif",
            "damaged/a\\b",
            "fetch/x:y.json",
            "models/demo/20180917T000000Z/zarr.json",
            "models/demo/2018-09-17T00:00:00Z/zarr.json",
        ] {
            fs::create_dir_all(data.join(file).parent().unwrap()).unwrap();
            fs::write(data.join(file), "of someone").unwrap();
        }
        for folder in ["", "products"] {
            let name = std::ffi::OsStr::from_bytes(b"caf\xe9.txt");
            fs::write(data.join(folder).join(name), "of someone").unwrap();
        }
        let FolderContent { sources, runs, mut foreign, lost: _ } =
            gather(data, scratch.path()).unwrap();
        foreign.sort();
        assert_eq!(
            foreign,
            [
                "caf\u{fffd}.txt",
                "damaged/a\\b",
                "fetch/x:y.json",
                "models/demo/2018-09-17T00:00:00Z",
                "products/c:",
                "products/caf\u{fffd}.txt",
                "products/note: old.txt",
            ]
        );
        assert_eq!(runs, ["models/demo/20180917T000000Z"]);
        let files = sources.iter().filter(|source| source.path.starts_with("products/"));
        assert_eq!(files.map(|file| &*file.path).collect::<Vec<_>>(), ["products/rain/a.tif"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_not_waited_for_and_files_beside_runs_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        for name in ["products/rain/a.tif", "models/notes.txt", "models/demo/notes.txt"] {
            fs::create_dir_all(data.join(name).parent().unwrap()).unwrap();
            fs::write(data.join(name), "of someone").unwrap();
        }
        fs::create_dir(data.join("models/demo/20180917T000000Z")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(data.join("products/pipe")).status();
        assert!(made.unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(data.join("products/socket")).unwrap();
        let mut found = files(data, "products").unwrap();
        found.foreign.sort();
        assert_eq!(found.foreign, ["products/pipe", "products/socket"]);
        let paths = found.sources.iter().map(|source| &*source.path);
        assert_eq!(paths.collect::<Vec<_>>(), ["products/rain/a.tif"]);
        let mut foreign = Vec::new();
        let found = runs(data, "models", &mut foreign).unwrap();
        assert_eq!(found, ["models/demo/20180917T000000Z"]);
        foreign.sort();
        assert_eq!(foreign, ["models/demo/notes.txt", "models/notes.txt"]);
    }

    /// If a disk is not mounted, the backup must not silently leave out what is on it.
    #[cfg(unix)]
    #[test]
    fn a_link_to_what_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        for link in ["products", "models", "made-models/demo.toml"] {
            let at = data.join(link);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink("/nowhere/at/all", &at).unwrap();
            let found = match how(link) {
                How::Runs => runs(data, link, &mut Vec::new()).map(drop),
                _ => files(data, link.split('/').next().unwrap()).map(drop),
            };
            let cause = "it is a symbolic link to something that is not there";
            assert_eq!(found.unwrap_err().to_string(), format!("{}: {cause}", at.display()));
        }
        assert!(files(data, "damaged").unwrap().sources.is_empty());
    }

    /// Every entry that the table of `docs/data.md` names is known here.
    #[test]
    fn every_entry_of_a_data_folder_has_its_way() {
        let table = include_str!("../../../docs/data.md");
        let (_, table) = table.split_once("| Path |").unwrap();
        let (table, _) = table.split_once("\n\n").unwrap();
        let mut count = 0;
        for row in table.lines().skip(2) {
            let cell = row.split('|').nth(1).unwrap();
            let mut database = "";
            for name in cell.split('`').skip(1).step_by(2) {
                let name = name.split('/').next().unwrap();
                // `mesonet.sqlite-wal`, `-shm`
                let whole = if name.starts_with('-') {
                    format!("{database}{name}")
                } else {
                    name.to_owned()
                };
                if !name.starts_with('-') {
                    database = name.strip_suffix("-wal").unwrap_or(name);
                }
                assert_ne!(how(&whole), How::Foreign, "{whole}");
                count += 1;
            }
        }
        assert!(count > 15, "{count}");
        assert_eq!(how("development-token.key"), How::Left);
        assert_eq!(how("keys.sqlite-journal"), How::Left);
        assert_eq!(how("live.sqlite.damaged-1-wal"), How::Left);
        assert_eq!(how("refused.sqlite-shm"), How::Left);
        assert_eq!((how("notes.txt"), how("mesonet.sqlite.bak")), (How::Foreign, How::Foreign));
    }
}
