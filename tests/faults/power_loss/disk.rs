//! What a disk may hold after a loss of power: everything that was made durable, and any part of
//! the rest.
//!
//! The bytes and the length of a file are safe once the file was synced. A name (created, renamed,
//! removed) is safe once its folder was synced. Each unsafe change may or may not be there,
//! regardless of earlier and later ones. A write may be there in part, or only as the length that
//! it gave the file.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::recorder::{Record, chance};

/// A file or a folder, independent of its name.
type Node = usize;

/// The watched folder; its own name is safe.
const ROOT: Node = 0;

/// A change that is not yet safe.
#[derive(Clone, Debug)]
enum Change {
    /// Names in folders and what they refer to, `None` if the name is removed. Either all of them
    /// are there or none. They are safe once the last of the folders is.
    Names(Vec<(Node, String, Option<Node>)>),
    Write {
        file: Node,
        offset: usize,
        bytes: Arc<[u8]>,
    },
    Length {
        file: Node,
        length: usize,
    },
}

/// The bytes of a file, and a number that identifies them.
#[derive(Clone, Debug, Default)]
struct Content {
    bytes: Arc<Vec<u8>>,
    digest: u64,
}

/// The files and folders at one moment.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    files: HashMap<Node, Content>,
    folders: HashMap<Node, BTreeMap<String, Node>>,
}

/// Which of the unsafe changes survive.
#[derive(Clone, Copy, Debug)]
pub enum Survivors {
    Nothing,
    Everything,
    /// Every name, and nothing of the files.
    Names,
    /// Every name and the length of every file, with zeros in them.
    NamesAndLengths,
    /// The bytes, and no names.
    Bytes,
    /// A random part of everything, from this seed.
    Some(u64),
}

/// The folder while the record is replayed.
pub struct Replay {
    root: PathBuf,
    safe: Disk,
    all: Disk,
    /// The unsafe changes, oldest first.
    pending: Vec<Change>,
    /// The nodes by the numbers under which the system knows files.
    of_inode: HashMap<u64, Node>,
    is_folder: Vec<bool>,
}

impl Replay {
    pub fn new(root: &Path) -> Self {
        let mut disk = Disk::default();
        disk.folders.insert(ROOT, BTreeMap::new());
        Self {
            root: root.to_owned(),
            safe: disk.clone(),
            all: disk,
            pending: Vec::new(),
            of_inode: HashMap::new(),
            is_folder: vec![true],
        }
    }

    /// Replays one record.
    pub fn step(&mut self, record: &Record) {
        match record {
            Record::Made { inode, path } => {
                let file = self.node(false);
                self.of_inode.insert(*inode, file);
                let (folder, name) = self.place(path);
                self.change(Change::Names(vec![(folder, name, Some(file))]));
            }
            Record::FolderMade { path } => {
                let made = self.node(true);
                let (folder, name) = self.place(path);
                self.change(Change::Names(vec![(folder, name, Some(made))]));
            }
            Record::Removed { path } => {
                let (folder, name) = self.place(path);
                self.change(Change::Names(vec![(folder, name, None)]));
            }
            Record::Renamed { from, to } => {
                let node = self.find(from);
                let ((from, old), (to, new)) = (self.place(from), self.place(to));
                self.change(Change::Names(vec![(from, old, None), (to, new, Some(node))]));
            }
            Record::Linked { from, to } => {
                let node = self.find(from);
                let (folder, name) = self.place(to);
                self.change(Change::Names(vec![(folder, name, Some(node))]));
            }
            Record::Written { inode, offset, bytes } => {
                let (file, offset) = (self.of_inode[inode], *offset);
                self.change(Change::Write { file, offset, bytes: Arc::clone(bytes) });
            }
            Record::Length { inode, length } => {
                let file = self.of_inode[inode];
                self.change(Change::Length { file, length: *length });
            }
            Record::Synced { inode } => {
                let synced = self.of_inode[inode];
                self.make_safe(|change| match change {
                    Change::Names(_) => false,
                    Change::Write { file, .. } | Change::Length { file, .. } => *file == synced,
                });
            }
            Record::FolderSynced { path } => {
                let synced = self.find(path);
                self.make_safe(|change| match change {
                    Change::Names(names) => names.last().is_some_and(|name| name.0 == synced),
                    _ => false,
                });
            }
            Record::Mark(_) => {}
        }
    }

    /// Returns what the disk holds if power is lost now.
    pub fn lose_power(&self, survivors: Survivors) -> Disk {
        let mut disk = self.safe.clone();
        if let Survivors::Everything = survivors {
            return self.all.clone();
        }
        for (number, change) in self.pending.iter().enumerate() {
            let is_name = matches!(change, Change::Names(_));
            match survivors {
                Survivors::Nothing | Survivors::Everything => {}
                Survivors::Names if !is_name => {}
                Survivors::Bytes if is_name => {}
                Survivors::Names | Survivors::Bytes => disk.apply(change),
                Survivors::NamesAndLengths if is_name => disk.apply(change),
                Survivors::NamesAndLengths => disk.reach(change),
                Survivors::Some(seed) => disk.apply_in_part(change, chance(seed ^ number as u64)),
            }
        }
        disk
    }

    fn node(&mut self, is_folder: bool) -> Node {
        self.is_folder.push(is_folder);
        let node = self.is_folder.len() - 1;
        for disk in [&mut self.safe, &mut self.all] {
            // Whether a name refers to it is checked elsewhere.
            if is_folder {
                disk.folders.insert(node, BTreeMap::new());
            } else {
                disk.files.insert(node, Content::default());
            }
        }
        node
    }

    fn change(&mut self, change: Change) {
        self.all.apply(&change);
        self.pending.push(change);
    }

    fn make_safe(&mut self, is_safe: impl Fn(&Change) -> bool) {
        let safe = &mut self.safe;
        self.pending.retain(|change| {
            let now_safe = is_safe(change);
            if now_safe {
                safe.apply(change);
            }
            !now_safe
        });
    }

    /// Returns the current folder and name of a path.
    fn place(&self, path: &Path) -> (Node, String) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (self.find(path.parent().unwrap()), name)
    }

    fn find(&self, path: &Path) -> Node {
        let inside = path.strip_prefix(&self.root).unwrap();
        inside.iter().fold(ROOT, |folder, name| {
            let names = &self.all.folders[&folder];
            let found = names.get(name.to_str().unwrap());
            *found.unwrap_or_else(|| panic!("{} was never made", path.display()))
        })
    }
}

impl Disk {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Names(names) => {
                for (folder, name, node) in names {
                    let folder = self.folders.get_mut(folder).unwrap();
                    match node {
                        Some(node) => folder.insert(name.clone(), *node),
                        None => folder.remove(name),
                    };
                }
            }
            Change::Write { file, offset, bytes } => self.write(*file, *offset, bytes),
            Change::Length { file, length } => {
                let content = self.files.get_mut(file).unwrap();
                Arc::make_mut(&mut content.bytes).resize(*length, 0);
                content.note((length, "length"));
            }
        }
    }

    /// Applies only the effect of a write on the length.
    fn reach(&mut self, change: &Change) {
        if let Change::Write { file, offset, bytes } = change {
            let content = self.files.get_mut(file).unwrap();
            let length = content.bytes.len().max(offset + bytes.len());
            Arc::make_mut(&mut content.bytes).resize(length, 0);
            content.note((length, "length"));
        } else {
            self.apply(change);
        }
    }

    fn write(&mut self, file: Node, offset: usize, bytes: &[u8]) {
        let content = self.files.get_mut(&file).unwrap();
        let all = Arc::make_mut(&mut content.bytes);
        let end = offset + bytes.len();
        if all.len() < end {
            all.resize(end, 0);
        }
        all[offset..end].copy_from_slice(bytes);
        content.note((offset, bytes));
    }

    /// Applies a change, a part of it, or nothing.
    fn apply_in_part(&mut self, change: &Change, chance_of_it: u64) {
        let Change::Write { file, offset, bytes } = change else {
            if chance_of_it.is_multiple_of(2) {
                self.apply(change);
            }
            return;
        };
        match chance_of_it % 6 {
            0 | 1 => {}
            2 | 3 => self.apply(change),
            4 => self.reach(change),
            // Torn: each sector or page of it is there or not.
            _ => {
                let unit = if chance_of_it & 64 == 0 { 512 } else { 4096 };
                let mut at = *offset;
                let end = offset + bytes.len();
                while at < end {
                    let next = ((at / unit + 1) * unit).min(end);
                    if chance(chance_of_it ^ at as u64).is_multiple_of(2) {
                        self.write(*file, at, &bytes[at - offset..next - offset]);
                    }
                    at = next;
                }
            }
        }
    }

    /// Returns every file with a name, and every folder, by path. SQLite's log index is shared
    /// memory; its name need not survive.
    pub fn paths(&self) -> BTreeMap<PathBuf, Option<&[u8]>> {
        let mut paths = BTreeMap::new();
        let mut folders = vec![(PathBuf::new(), ROOT)];
        while let Some((path, folder)) = folders.pop() {
            for (name, node) in &self.folders[&folder] {
                let path = path.join(name);
                if let Some(content) = self.files.get(node) {
                    if !name.ends_with("-shm") {
                        paths.insert(path, Some(content.bytes.as_slice()));
                    }
                } else {
                    paths.insert(path.clone(), None);
                    folders.push((path, *node));
                }
            }
        }
        paths
    }

    /// Returns a number that distinguishes it from other states.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let mut folders = vec![ROOT];
        while let Some(folder) = folders.pop() {
            for (name, node) in &self.folders[&folder] {
                let content = self.files.get(node);
                if content.is_none() {
                    folders.push(*node);
                }
                if !name.ends_with("-shm") {
                    (name, content.map(|content| content.digest)).hash(&mut hasher);
                }
            }
        }
        hasher.finish()
    }

    /// Writes it into an empty folder.
    pub fn write_to(&self, to: &Path) {
        for (path, bytes) in self.paths() {
            match bytes {
                Some(bytes) => fs::write(to.join(path), bytes).unwrap(),
                None => fs::create_dir(to.join(path)).unwrap(),
            }
        }
    }
}

impl Content {
    fn note(&mut self, what: impl Hash) {
        let mut hasher = DefaultHasher::new();
        (self.digest, what).hash(&mut hasher);
        self.digest = hasher.finish();
    }
}
