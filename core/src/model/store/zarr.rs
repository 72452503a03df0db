//! The Zarr v3 documents, and the arrays of coordinates.
//!
//! Sources: the Zarr core specification, version 3.0, with its codecs `bytes`, `crc32c` and
//! `sharding_indexed`; for the attributes, CF conventions 1.12, section 8.1.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{Read, Write};
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::arrays::{DOCUMENT, Files, add_document, coordinate};
use super::cf::{
    CONVENTIONS, MEMBERS, SINCE_1970, add_location, add_reference_time, axis_names,
    product_attributes,
};
use super::definition::{ProductDefinition, PublishedHour, RunDefinition};
use super::error::{damaged, storage};
use super::shard::{ChunkForm, chunk_side};
use crate::durable::{create_folder, sync_folder};
use crate::grid::blocks::CODEC;
use crate::model::RunStoreError;

/// The name of the group's document until it is complete.
pub(super) const FRESH_DOCUMENT: &str = "zarr.json.new";

/// The version of the layout of a run and of the contents of its files. In [`PLAIN_FORMAT`] the
/// chunks were not encoded; runs of that version are read, and written again when they grow.
const FORMAT: u8 = 4;
const PLAIN_FORMAT: u8 = 3;

/// The text before and after the checksum in a group's document.
const CHECKSUM: [&str; 2] = ["\"mesonet_crc32c\": \"", "\""];

/// The placeholder while the checksum is computed.
const NO_CHECKSUM: &str = "00000000";

/// The longest document that is read: definitions at their limits stay far below it.
const MAX_DOCUMENT_BYTES: u64 = 16 << 20;

/// The document of a run's group.
#[derive(Serialize, Deserialize)]
struct Group {
    zarr_format: u8,
    node_type: String,
    attributes: Attributes,
}

#[derive(Serialize, Deserialize)]
struct Attributes {
    #[serde(rename = "Conventions", default)]
    conventions: String,
    mesonet: RunManifest,
    /// The CRC-32C of the whole text, computed with eight zeros in its own place.
    #[serde(default)]
    mesonet_crc32c: Option<String>,
}

/// The definition of a run, and its published hours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct RunManifest {
    /// The version of the layout.
    format: u8,
    pub definition: RunDefinition,
    pub published: Vec<PublishedHour>,
    /// The place of each hour in the arrays, if the hours did not arrive in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    places: Vec<usize>,
    /// Whether arrays and shards are still to be written according to the new definition.
    #[serde(default, skip_serializing_if = "is_false")]
    pub growing: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Identifies a state of a document; the next state is a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DocumentState {
    bytes: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    inode: u64,
}

impl DocumentState {
    fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            #[cfg(unix)]
            inode: std::os::unix::fs::MetadataExt::ino(metadata),
        }
    }

    /// Returns the current state of the document in a folder; `None` if there is none.
    pub(super) fn now(folder: &Path) -> Result<Option<Self>, RunStoreError> {
        let path = folder.join(DOCUMENT);
        match fs::metadata(&path) {
            Ok(metadata) => Ok(Some(Self::of(&metadata))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(storage(&path, &error)),
        }
    }
}

impl RunManifest {
    pub(super) fn new(definition: RunDefinition) -> Self {
        let (published, places) = (Vec::new(), Vec::new());
        Self { format: FORMAT, definition, published, places, growing: false }
    }

    /// Reads the group in a folder; `None` if there is none.
    pub(super) fn read(folder: &Path) -> Result<Option<Self>, RunStoreError> {
        Ok(Self::read_state(folder)?.map(|(manifest, _)| manifest))
    }

    /// The same, together with the state of the document.
    pub(super) fn read_state(
        folder: &Path,
    ) -> Result<Option<(Self, DocumentState)>, RunStoreError> {
        let path = folder.join(DOCUMENT);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(storage(&path, &error)),
        };
        let state = file.metadata().map_err(|error| storage(&path, &error))?;
        let state = DocumentState::of(&state);
        let mut text = Vec::new();
        let read = file.take(MAX_DOCUMENT_BYTES + 1).read_to_end(&mut text);
        read.map_err(|error| storage(&path, &error))?;
        if text.len() as u64 > MAX_DOCUMENT_BYTES {
            return Err(damaged(&path, &format!("it is longer than {MAX_DOCUMENT_BYTES} bytes")));
        }
        let group: Group = serde_json::from_slice(&text).map_err(|error| damaged(&path, &error))?;
        let Attributes { mesonet: manifest, mesonet_crc32c, .. } = group.attributes;
        if ![PLAIN_FORMAT, FORMAT].contains(&manifest.format) {
            let got = manifest.format;
            let cause =
                format!("its layout has version {got}; supported are {PLAIN_FORMAT} and {FORMAT}");
            return Err(damaged(&path, &cause));
        }
        if mesonet_crc32c.is_none() || mesonet_crc32c != checksum(&text) {
            return Err(damaged(&path, &"it is not as it was written"));
        }
        manifest.definition.check().map_err(|error| damaged(&path, &error))?;
        let hours = manifest.definition.valid_ms.len();
        let published: Vec<usize> = manifest.published.iter().map(|hour| hour.hour).collect();
        if !published.is_sorted_by(|one, next| one < next)
            || published.last().is_some_and(|&last| last >= hours)
        {
            return Err(damaged(&path, &"its published hours are not in order"));
        }
        let mut slots = manifest.slots();
        slots.sort_unstable();
        if !slots.into_iter().eq(0..hours) {
            return Err(damaged(&path, &"two of its hours have the same place"));
        }
        Ok(Some((manifest, state)))
    }

    /// Returns the form of the chunks that the documents of the arrays state. A shard may still have
    /// the other one while the run is written again.
    pub(super) fn form(&self) -> ChunkForm {
        if self.format == PLAIN_FORMAT { ChunkForm::Plain } else { ChunkForm::Blocks }
    }

    /// Returns whether the run has an older layout, or is being written again.
    pub(super) fn is_older(&self) -> bool {
        self.format != FORMAT || self.growing
    }

    /// Gives the run the present layout, in which its arrays and shards are still to be written;
    /// returns whether it had an older one.
    pub(super) fn upgrade(&mut self) -> bool {
        let is_older = self.format != FORMAT;
        if is_older {
            (self.format, self.growing) = (FORMAT, true);
        }
        is_older
    }

    /// Returns the place of each hour in the arrays.
    pub(super) fn slots(&self) -> Vec<usize> {
        match &*self.places {
            [] => (0..self.definition.valid_ms.len()).collect(),
            places => places.to_vec(),
        }
    }

    /// Gives the run another definition that contains everything in the present one, with further
    /// hours, products and levels, or another packing. Its arrays are still to be written. `None`
    /// if the new definition lacks something.
    pub(super) fn grown(&self, to: RunDefinition) -> Option<Self> {
        let own = &self.definition;
        if (&own.model, own.run, own.grid) != (&to.model, to.run, to.grid) {
            return None;
        }
        let mut free = own.valid_ms.len()..to.valid_ms.len();
        let (slots, mut places, mut moved) = (self.slots(), Vec::new(), Vec::new());
        for valid_ms in &to.valid_ms {
            match own.valid_ms.binary_search(valid_ms) {
                Ok(hour) => {
                    moved.push((hour, places.len()));
                    places.push(slots[hour]);
                }
                Err(_) => places.push(free.next()?),
            }
        }
        let mut published = self.published.clone();
        for hour in &mut published {
            hour.hour = moved.iter().find(|(before, _)| *before == hour.hour)?.1;
            for product in &to.products {
                let Some(before) = own.products.iter().find(|one| one.name == product.name) else {
                    hour.absent.push(product.name.clone());
                    continue;
                };
                let missing = hour.partial.remove(&product.name).unwrap_or_default();
                let (before, planes) = (before.planes(), product.planes());
                let is_missing = |plane: &usize| {
                    let before = before.iter().position(|one| *one == planes[*plane]);
                    before.is_none_or(|before| missing.contains(&before))
                };
                let missing: Vec<usize> = (0..planes.len()).filter(is_missing).collect();
                if !missing.is_empty() && !hour.absent.contains(&product.name) {
                    hour.partial.insert(product.name.clone(), missing);
                }
            }
            let place =
                |name: &String| to.products.iter().position(|product| product.name == *name);
            hour.absent.sort_by_key(place);
        }
        let stays = |before: &ProductDefinition| {
            let is_there = |product: &ProductDefinition| {
                let planes = product.planes();
                (&product.name, &product.unit) == (&before.name, &before.unit)
                    && product.levels_hpa.is_some() == before.levels_hpa.is_some()
                    && before.planes().iter().all(|plane| planes.contains(plane))
            };
            to.products.iter().any(is_there)
        };
        let is_whole = moved.len() == own.valid_ms.len() && own.products.iter().all(stays);
        if places.is_sorted() {
            places.clear();
        }
        is_whole.then_some(Self {
            format: FORMAT,
            definition: to,
            published,
            places,
            growing: true,
        })
    }

    /// Notes that a product of an hour is no longer available.
    pub(super) fn lose(&mut self, product: &str, hour: usize) {
        let hours = self.published.iter_mut();
        for published in hours.filter(|published| published.hour == hour) {
            published.partial.remove(product);
            for names in [&mut published.absent, &mut published.lost] {
                if !names.iter().any(|name| name == product) {
                    names.push(product.to_owned());
                }
            }
        }
    }

    /// Writes the group with a single rename and syncs it to disk.
    pub(super) fn write(&self, folder: &Path) -> Result<(), RunStoreError> {
        let group = Group {
            zarr_format: 3,
            node_type: "group".to_owned(),
            attributes: Attributes {
                conventions: CONVENTIONS.to_owned(),
                mesonet: self.clone(),
                mesonet_crc32c: Some(NO_CHECKSUM.to_owned()),
            },
        };
        let path = folder.join(DOCUMENT);
        let text = serde_json::to_vec_pretty(&group).map_err(|error| damaged(&path, &error))?;
        let text = with_checksum(text);
        let fresh = folder.join(FRESH_DOCUMENT);
        write_file(&fresh, &text)?;
        fs::rename(&fresh, &path).map_err(|error| storage(&path, &error))?;
        sync_folder(folder).map_err(|error| storage(folder, &error))
    }
}

/// Returns the position of the checksum in the text of a group.
fn checksum_range(text: &[u8]) -> Option<std::ops::Range<usize>> {
    let [before, behind] = CHECKSUM.map(str::as_bytes);
    let start = text.windows(before.len()).position(|part| part == before)? + before.len();
    let end = start + NO_CHECKSUM.len();
    text.get(end..)?.starts_with(behind).then_some(start..end)
}

/// Computes the checksum of the text of a group.
fn checksum(text: &[u8]) -> Option<String> {
    let mut text = text.to_vec();
    let range = checksum_range(&text)?;
    text[range].copy_from_slice(NO_CHECKSUM.as_bytes());
    Some(format!("{:08x}", crc32c::crc32c(&text)))
}

pub(super) fn with_checksum(mut text: Vec<u8>) -> Vec<u8> {
    if let (Some(range), Some(checksum)) = (checksum_range(&text), checksum(&text)) {
        text[range].copy_from_slice(checksum.as_bytes());
    }
    text
}

/// Writes the arrays of a run, without shards yet, and their coordinates.
pub(super) fn write_arrays(folder: &Path, run: &RunDefinition) -> Result<(), RunStoreError> {
    let slots: Vec<usize> = (0..run.valid_ms.len()).collect();
    array_files(run, &slots, ChunkForm::Blocks)?
        .iter()
        .try_for_each(|(name, bytes)| write_named(folder, name, bytes))
}

/// Writes a file below the folder of a run, creating the folders in between.
pub(super) fn write_named(folder: &Path, name: &Path, bytes: &[u8]) -> Result<(), RunStoreError> {
    let path = folder.join(name);
    create(path.parent().unwrap_or(folder))?;
    write_file(&path, bytes)
}

/// The same for a file that others may be reading.
pub(super) fn replace_named(folder: &Path, name: &Path, bytes: &[u8]) -> Result<(), RunStoreError> {
    let (path, fresh) = (folder.join(name), folder.join(name).with_extension("new"));
    let above = path.parent().unwrap_or(folder);
    create_folder(above).map_err(|error| storage(above, &error))?;
    write_file(&fresh, bytes)?;
    fs::rename(&fresh, &path).map_err(|error| storage(&path, &error))?;
    sync_folder(above).map_err(|error| storage(above, &error))
}

/// Returns the files of a run other than its group and its shards, relative to its folder. They
/// follow from the definition alone and are compared with the files on disk, so their contents may
/// only change together with [`FORMAT`]. The hours have their places in the arrays.
pub(super) fn array_files(
    run: &RunDefinition,
    slots: &[usize],
    form: ChunkForm,
) -> Result<Files, RunStoreError> {
    let mut files = Files::new();
    let mut valid_ms = run.valid_ms.clone();
    for (&slot, &ms) in slots.iter().zip(&run.valid_ms) {
        valid_ms[slot] = ms;
    }
    let valid = valid_ms.iter().flat_map(|ms| ms.to_le_bytes()).collect::<Vec<u8>>();
    let attributes = json!({
        "standard_name": "time",
        "units": SINCE_1970,
        "calendar": "standard",
    });
    coordinate(&mut files, "valid_time", ("int64", valid), run.valid_ms.len(), &attributes);
    add_reference_time(&mut files, run);
    let level_axes = distinct(run.products.iter().filter_map(|one| one.levels_hpa.as_deref()));
    for (number, levels_hpa) in level_axes.iter().enumerate() {
        let bytes = levels_hpa.iter().flat_map(|hpa| hpa.to_le_bytes()).collect::<Vec<u8>>();
        let attributes = json!({
            "standard_name": "air_pressure",
            "units": "hPa",
            "positive": "down",
            "axis": "Z",
        });
        let name = numbered("level_hpa", number);
        coordinate(&mut files, &name, ("float64", bytes), levels_hpa.len(), &attributes);
    }
    // One axis for all ensembles: along it, each member has the place of its number.
    let numbers = run.products.iter().filter_map(|product| product.member.as_ref());
    let members = numbers.map(|member| usize::from(member.number) + 1).max().unwrap_or(0);
    if members > 0 {
        let attributes = json!({"standard_name": "realization", "units": "1", "axis": "E"});
        let bytes: Vec<u8> = (0..members).map(|number| number as u8).collect();
        coordinate(&mut files, MEMBERS, ("uint8", bytes), members, &attributes);
    }
    let mut written = BTreeSet::new();
    for product in &run.products {
        if !written.insert(product.shared_name()) {
            continue;
        }
        let levels_hpa = product.levels_hpa.as_deref();
        let level = levels_hpa.and_then(|own| level_axes.iter().position(|axis| *axis == own));
        let level = level.map(|at| numbered("level_hpa", at));
        let members = product.member.as_ref().map(|_| members);
        let document = product_array(run, product, members, level.as_deref(), form);
        add_document(&mut files, product.shared_name(), &document);
    }
    add_location(&mut files, &run.grid)?;
    Ok(files)
}

/// Returns the distinct lists among some: each becomes a dimension.
fn distinct<'a, T: PartialEq>(lists: impl Iterator<Item = &'a [T]>) -> Vec<&'a [T]> {
    let mut axes: Vec<&[T]> = Vec::new();
    for list in lists {
        if !axes.contains(&list) {
            axes.push(list);
        }
    }
    axes
}

/// Returns the name of a dimension, with its number if it is not the first of its kind.
fn numbered(name: &str, number: usize) -> String {
    if number == 0 { name.to_owned() } else { format!("{name}_{}", number + 1) }
}

/// Returns the document of a product's array. Its shards consist of whole chunks, so they may
/// extend beyond it. `members` is the length of its axis of members, `level_axis` the name of its
/// axis of levels, if it has these axes.
fn product_array(
    run: &RunDefinition,
    product: &ProductDefinition,
    members: Option<usize>,
    level_axis: Option<&str>,
    form: ChunkForm,
) -> Value {
    let levels = product.levels();
    let side = chunk_side(form, product.levels_hpa.is_some());
    let whole = |length: usize| length.next_multiple_of(side);
    let axes = |hours: usize, members: Option<usize>, rows: usize, columns: usize| {
        let all = [Some(hours), members, level_axis.map(|_| levels), Some(rows), Some(columns)];
        all.into_iter().flatten().collect::<Vec<usize>>()
    };
    let one_member = members.map(|_| 1);
    let (rows, columns) = (run.grid.rows, run.grid.columns);
    let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let checked = json!([little, {"name": "crc32c"}]);
    let chunks = match form {
        ChunkForm::Plain => checked.clone(),
        ChunkForm::Blocks => json!([{"name": CODEC, "configuration": {}}, {"name": "crc32c"}]),
    };
    let [row_axis, column_axis] = axis_names(&run.grid);
    let member_axis = members.map(|_| MEMBERS);
    let dimensions =
        [Some("valid_time"), member_axis, level_axis, Some(row_axis), Some(column_axis)];
    json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": axes(run.valid_ms.len(), members, rows, columns),
        "data_type": "int16",
        "chunk_grid": {
            "name": "regular",
            "configuration": {"chunk_shape": axes(1, one_member, whole(rows), whole(columns))},
        },
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": product.encoding.nodata(),
        "codecs": [{
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": axes(1, one_member, side, side),
                "codecs": chunks,
                "index_codecs": checked,
                "index_location": "end",
            },
        }],
        "attributes": product_attributes(run, product),
        "dimension_names": dimensions.into_iter().flatten().collect::<Vec<_>>(),
    })
}

pub(super) fn create(folder: &Path) -> Result<(), RunStoreError> {
    fs::create_dir_all(folder).map_err(|error| storage(folder, &error))
}

/// Writes a file and syncs it to disk.
fn write_file(path: &Path, bytes: &[u8]) -> Result<(), RunStoreError> {
    let written = File::create(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|error| storage(path, &error))
}

/// Checks whether a file holds these bytes.
pub(super) fn is_as_written(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err("it is missing".to_owned());
        }
        Err(error) => return Err(error.to_string()),
    };
    let mut found = Vec::with_capacity(bytes.len());
    // Read no more than is needed to tell the difference.
    let read = file.take(bytes.len() as u64 + 1).read_to_end(&mut found);
    read.map_err(|error| error.to_string())?;
    if found == bytes { Ok(()) } else { Err("it is not as it was written".to_owned()) }
}
