//! Making a backup.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use indicatif::ProgressBar;
use mesonet::time::DAY_MS;
use serde::Serialize;

use super::BackupError;
use super::gather::{BackupSource, Content, Files, files, gather, open};
use super::list::{FOLDER, manifests, read};
use super::manifest::{BackupManifest, ManifestEntry, shown};
use super::marker::Marker;
use super::name::Name;
use super::writer::check_turn;
use crate::clock::system_ms;
use crate::place::{ObjectPlace, SendError, ZSTD, checksum, compressed_length, is_inside, object};
use crate::progress::bar_of_bytes;
use crate::record::{refuse_unfinished_folder, writer_of_folder};

/// How often a model run is read again if it is written during the reading, and after which pause.
const ATTEMPTS: usize = 5;
const PAUSE: Duration = Duration::from_secs(2);

/// How long a backup may take. It relies on younger files in the place, which an interrupted backup
/// may have sent. Older files that no backup names may be deleted at any time.
pub const LONGEST_MS: i64 = 3 * DAY_MS;

/// What a lost file begins with in the list of what a backup leaves out.
pub const LOST: &str = "lost: ";

/// What was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupSummary {
    pub name: String,
    /// Everything that was acknowledged before this time is in the backup.
    pub time: String,
    pub files: usize,
    pub bytes: u64,
    pub sent_files: usize,
    /// How many bytes their objects have, which are compressed.
    pub sent_bytes: u64,
    /// What the backup does not have as it is now, and why.
    pub left_out: Vec<String>,
    /// What is in the folder but is not backed up: it is not part of a record, or a manifest cannot
    /// name it.
    pub foreign: Vec<String>,
}

/// How a backup is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct BackupOptions {
    /// Take over the place from the other record that is backed up there.
    pub takes_over: bool,
    /// Even if the record has lost readings that the operator has not given up.
    pub without_lost: bool,
}

/// Makes one backup of a data folder, which a server may have open.
///
/// # Errors
/// There is no record, the record is damaged, or the place has another record or cannot be written.
pub fn make(data: &Path, to: &str, options: BackupOptions) -> Result<BackupSummary, BackupError> {
    refuse_unusable(data, to)?;
    let place = &ObjectPlace::create(to)?;
    let writer = writer_of_folder(data)?;
    let newest = || {
        if options.takes_over { Ok(manifests(place)?.pop()) } else { check_turn(place, &writer) }
    };
    // First, so that a backup that begins later, and knows more, has a higher number or time.
    let before = newest()?;
    // Before anything is read, so that everything acknowledged before this time is found.
    let time = system_ms();
    // With this prefix, because a killed backup leaves the folder behind.
    let scratch = tempfile::Builder::new().prefix("mesonet-backup-").tempdir();
    let scratch = scratch.map_err(BackupError::file(&std::env::temp_dir()))?;
    let gathered = gather(data, scratch.path())?;
    if let Some(lost) = gathered.lost.first().filter(|_| !options.without_lost) {
        return Err(BackupError::Lost { first: lost.clone(), more: gathered.lost.len() - 1 });
    }
    let mut shipment = Shipment::new(place, data)?;
    shipment.left_out.extend(gathered.lost.iter().map(|lost| format!("{LOST}{lost}")));
    shipment.bar.set_length(gathered.sources.iter().map(|source| source.length).sum());
    for source in gathered.sources {
        shipment.ship(source)?;
    }
    for run in &gathered.runs {
        shipment.ship_run(run)?;
    }
    let Shipment { entries, left_out, mut foreign, sent_files, sent_bytes, bar, .. } = shipment;
    foreign.extend(gathered.foreign);
    foreign.sort();
    let files = entries.into_values().collect();
    let folder = std::path::absolute(data).unwrap_or_else(|_| data.to_owned());
    let manifest = BackupManifest {
        time,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        folder: folder.display().to_string(),
        writer: writer.clone(),
        files,
        left_out,
    };
    if system_ms() - time > LONGEST_MS {
        return Err(BackupError::TooLong);
    }
    let random = getrandom::u32().map_err(io::Error::from)?;
    // The other record may have been backed up in the meantime. The backup that replaces it must
    // come after that one.
    let now = newest()?;
    let last = if options.takes_over { now.as_ref() } else { before.as_ref() };
    let name = Name { number: Name::next_number(last), time_ms: time, random };
    check_is_there(place, &manifest, now < before)?;
    // Last: the backup is there from here on.
    put_manifest(place, &name, &manifest)?;
    bar.finish_and_clear();
    Ok(BackupSummary {
        name: name.to_string(),
        time: shown(time),
        files: manifest.files.len(),
        bytes: manifest.bytes(),
        sent_files,
        sent_bytes,
        left_out: manifest.left_out,
        foreign,
    })
}

/// Refuses a backup that would be useless, before it claims the place.
fn refuse_unusable(data: &Path, to: &str) -> Result<(), BackupError> {
    if Marker::of(data)?.is_some() {
        return Err(BackupError::OfFollower(data.to_owned()));
    }
    refuse_unfinished_folder(data)?;
    if is_inside(to, data) {
        return Err(BackupError::Inside { place: to.to_owned(), data: data.to_owned() });
    }
    Ok(())
}

/// Checks that the sent files are still in the place: it may have been unmounted, or replaced with
/// an empty one.
fn check_is_there(
    place: &ObjectPlace,
    manifest: &BackupManifest,
    is_older: bool,
) -> Result<(), BackupError> {
    let first = manifest.files.first().map(|file| object(&file.object_name()));
    let is_gone = match first {
        Some(first) => place.length(&first)?.is_none(),
        None => false,
    };
    if is_gone || is_older {
        let cause = "what was there a moment ago is gone: the place was emptied or replaced; nothing was backed up";
        return Err(place.fault(&cause).into());
    }
    Ok(())
}

/// Puts the manifest of a backup, unless it could not be read back.
fn put_manifest(
    place: &ObjectPlace,
    name: &Name,
    manifest: &BackupManifest,
) -> Result<(), BackupError> {
    let text = manifest.encode();
    BackupManifest::decode(&text).map_err(BackupError::Unreadable)?;
    if !place.put_new(&format!("{FOLDER}/{name}"), text)? {
        return Err(place.fault(&format!("there is a backup {name}")).into());
    }
    Ok(())
}

/// A backup in flight.
struct Shipment<'a> {
    place: &'a ObjectPlace,
    data: &'a Path,
    /// The lengths of the objects that are in the place and stay there, by name.
    there: HashMap<String, u64>,
    /// The files of the backup before this one.
    before: BTreeMap<String, ManifestEntry>,
    entries: BTreeMap<String, ManifestEntry>,
    left_out: Vec<String>,
    /// Entries of the model runs that are not backed up.
    foreign: Vec<String>,
    sent_files: usize,
    sent_bytes: u64,
    bar: ProgressBar,
}

impl<'a> Shipment<'a> {
    fn new(place: &'a ObjectPlace, data: &'a Path) -> Result<Self, BackupError> {
        let mut there = place.objects()?;
        let before = match manifests(place)?.pop().map(|name| read(place, &name)) {
            Some(Ok(manifest)) => manifest.files,
            Some(Err(error @ BackupError::Manifest { .. })) => {
                eprintln!("{error}; all files are read again");
                Vec::new()
            }
            Some(Err(error)) => return Err(error),
            None => Vec::new(),
        };
        let named: HashSet<String> = before.iter().map(ManifestEntry::object_name).collect();
        let fresh_ms = system_ms() - LONGEST_MS;
        there.retain(|object| object.written_ms > fresh_ms || named.contains(&object.name));
        let there = there.into_iter().map(|object| (object.name, object.length)).collect();
        let before = before.into_iter().map(|entry| (entry.path.clone(), entry)).collect();
        Ok(Self {
            place,
            data,
            there,
            before,
            entries: BTreeMap::new(),
            left_out: Vec::new(),
            foreign: Vec::new(),
            sent_files: 0,
            sent_bytes: 0,
            bar: bar_of_bytes(0),
        })
    }

    fn is_there(&self, entry: &ManifestEntry) -> bool {
        self.there.get(&entry.object_name()) == Some(&entry.object_bytes())
    }

    /// The entry of the file in the backup before, if its object is in the place.
    fn known(&self, path: &str, mark: &str) -> Option<&ManifestEntry> {
        let entry = self.before.get(path).filter(|_| !mark.is_empty())?;
        (entry.mark == mark && self.is_there(entry)).then_some(entry)
    }

    /// Adds a file to the backup, unless it was deleted in the meantime.
    fn ship(&mut self, source: BackupSource) -> Result<(), BackupError> {
        let BackupSource { path, length, mark, content } = source;
        if let Some(known) = self.known(&path, &mark) {
            let known = known.clone();
            self.bar.inc(length);
            self.entries.insert(path, known);
            return Ok(());
        }
        match content {
            Content::Segment(segment) => {
                segment.check().map_err(BackupError::Damaged)?;
                self.send(path, segment.file(), length, mark)
            }
            Content::File(at) => {
                // It may have been replaced since it was listed.
                let Some((file, length, now)) = open(&at)? else { return Ok(()) };
                let mark = if mark.is_empty() { mark } else { now };
                self.send(path, &file, length, mark)
            }
        }
    }

    fn send(
        &mut self,
        path: String,
        file: &File,
        length: u64,
        mark: String,
    ) -> Result<(), BackupError> {
        let (sha256, read) = checksum(file).map_err(BackupError::file(&self.data.join(&path)))?;
        if read != length {
            return Err(BackupError::Changed(path));
        }
        // As a backup before the second version of the manifest sent it.
        let is_plain = self.there.get(&sha256) == Some(&length);
        let known = if is_plain { None } else { self.compressed(&path, &sha256, file)? };
        let zstd_bytes = if is_plain || known.is_some() {
            self.bar.inc(length);
            known
        } else {
            Some(self.put(&path, &sha256, file)?)
        };
        let modified_ns = if mark.is_empty() { None } else { modified_ns(file) };
        let entry = ManifestEntry { path, length, sha256, zstd_bytes, mark, modified_ns };
        self.entries.insert(entry.path.clone(), entry);
        Ok(())
    }

    /// The length of the compressed object of a content, if the place has it whole.
    fn compressed(
        &self,
        path: &str,
        sha256: &str,
        file: &File,
    ) -> Result<Option<u64>, BackupError> {
        let Some(&there) = self.there.get(&format!("{sha256}{ZSTD}")) else { return Ok(None) };
        let before = self.before.get(path).filter(|entry| entry.sha256 == sha256);
        let whole = match before.and_then(|entry| entry.zstd_bytes) {
            Some(bytes) => bytes,
            // An interrupted backup may have sent it.
            None => compressed_length(file).map_err(BackupError::file(&self.data.join(path)))?,
        };
        Ok((there == whole).then_some(there))
    }

    /// Sends a content, and returns the length of its object.
    fn put(&mut self, path: &str, sha256: &str, file: &File) -> Result<u64, BackupError> {
        let (bar, name) = (&self.bar, format!("{sha256}{ZSTD}"));
        let put = self.place.put_compressed(&object(&name), sha256, file, |bytes| bar.inc(bytes));
        let bytes = put.map_err(|error| match error {
            SendError::Place(error) => error.into(),
            SendError::Changed => BackupError::Changed(path.to_owned()),
            SendError::Read(error) => BackupError::File { path: self.data.join(path), error },
        })?;
        self.there.insert(name, bytes);
        self.sent_files += 1;
        self.sent_bytes += bytes;
        Ok(bytes)
    }

    /// Adds a model run as of one moment: its files are the same before and after they are read. If
    /// the run keeps being written, it is taken from the backup before.
    fn ship_run(&mut self, run: &str) -> Result<(), BackupError> {
        for attempt in 0..ATTEMPTS {
            if attempt > 0 {
                thread::sleep(PAUSE);
            }
            let Files { sources: before, foreign } = files(self.data, run)?;
            let marks = |files: &[BackupSource]| -> Vec<(String, String)> {
                files.iter().map(|file| (file.path.clone(), file.mark.clone())).collect()
            };
            let of_before = marks(&before);
            self.forget(run);
            self.bar.inc_length(before.iter().map(|source| source.length).sum());
            for source in before {
                self.ship(source)?;
            }
            if marks(&files(self.data, run)?.sources) == of_before {
                self.foreign.extend(foreign);
                return Ok(());
            }
        }
        self.forget(run);
        let inside = format!("{run}/");
        let of_run = |(path, _): &(&String, &ManifestEntry)| path.starts_with(&inside);
        let old: Vec<ManifestEntry> =
            self.before.iter().filter(of_run).map(|(_, entry)| entry.clone()).collect();
        let is_whole = old.iter().all(|entry| self.is_there(entry));
        let instead = if old.is_empty() || !is_whole {
            "it is not in the backup"
        } else {
            self.entries.extend(old.into_iter().map(|entry| (entry.path.clone(), entry)));
            "it is as in the backup before"
        };
        self.left_out.push(format!("{run}: it was written all the while; {instead}"));
        Ok(())
    }

    fn forget(&mut self, run: &str) {
        let inside = format!("{run}/");
        self.entries.retain(|path, _| !path.starts_with(&inside));
    }
}

/// When a file was written, nanoseconds since 1970.
fn modified_ns(file: &File) -> Option<u64> {
    let modified = file.metadata().and_then(|metadata| metadata.modified()).ok()?;
    modified.duration_since(UNIX_EPOCH).ok()?.as_nanos().try_into().ok()
}

impl BackupSummary {
    /// Writes it as text.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "backup {} of {}", self.name, self.time)?;
        writeln!(out, "{} files in {} bytes", self.files, self.bytes)?;
        let Self { sent_files, sent_bytes, .. } = self;
        writeln!(out, "{sent_files} files in {sent_bytes} bytes were sent; the others were there")?;
        for left_out in &self.left_out {
            writeln!(out, "left out: {left_out}")?;
        }
        for name in &self.foreign {
            writeln!(out, "not backed up: {name}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "ship_tests.rs"]
mod tests;
