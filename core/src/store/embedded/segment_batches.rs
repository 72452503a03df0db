//! Finds the record batches of a segment file.
//!
//! The messages of the file are walked from the front, using their lengths, so the footer, which is
//! for other programs, may be damaged. If the head of a message is damaged, the next message is
//! searched for. Unreadable data costs the rows of its record batch.

use std::collections::HashMap;
use std::ops::Range;

use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use arrow_ipc::{MessageHeader, root_as_message};

use super::fault::Fault;
use super::mapped::{BLOCK_BYTES, MappedFile};
use super::run::LostRows;
use crate::observation::StationId;

/// Alignment of messages and of every buffer in them.
pub(super) const ALIGNMENT: usize = 64;

const FIRST: StationId = StationId::from_bytes([0; 16]);
const LAST: StationId = StationId::from_bytes([0xff; 16]);

/// Why something cannot be read; `None` if it is damaged, which is recorded already.
pub(super) type Cause = Option<String>;

/// A message of the file.
enum IpcMessage {
    /// A record batch: lengths of head and body.
    Batch(usize, usize),
    /// Any other message.
    Other(usize, usize),
    End,
}

/// Takes the record batches of a file.
pub(super) trait BatchReader {
    /// Adds the rows of a batch, all or none. Returns the station of its first row.
    fn add(&mut self, batch: &Batch<'_>) -> Result<Option<StationId>, Cause>;

    /// The station of the last row so far.
    fn last_station(&self) -> Option<StationId>;
}

/// Reads the batches of a file. Returns the rows that cannot be read.
pub(super) fn walk(mapped: &MappedFile, reader: &mut impl BatchReader) -> Vec<LostRows> {
    let mut walk = Walk { mapped, reader, lost: Vec::new(), closed: 0 };
    walk.all();
    walk.lost
}

/// What the schema of a file says: the names of its columns, and texts about them.
///
/// It is not made a schema of Arrow, which panics if it is none.
pub(super) struct FileSchema {
    pub columns: Vec<String>,
    pub texts: HashMap<String, String>,
}

impl FileSchema {
    pub(super) fn read(schema: arrow_ipc::Schema<'_>) -> Option<Self> {
        let columns = schema.fields()?.iter().map(|field| Some(field.name()?.to_owned()));
        let texts = schema.custom_metadata().into_iter().flatten();
        let texts = texts.map(|pair| Some((pair.key()?.to_owned(), pair.value()?.to_owned())));
        Some(Self {
            columns: columns.collect::<Option<_>>()?,
            texts: texts.collect::<Option<_>>()?,
        })
    }

    /// Returns the place of a column.
    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }
}

/// Reads the schema of a file from its front, if that is intact.
pub(super) fn schema_of(mapped: &MappedFile) -> Option<FileSchema> {
    let IpcMessage::Other(head, _) = message_at(mapped, ALIGNMENT)? else { return None };
    let bytes = &mapped.bytes().as_slice()[ALIGNMENT + 8..ALIGNMENT + head];
    FileSchema::read(root_as_message(bytes).ok()?.header_as_schema()?)
}

/// The fault of a file of which nothing can be read.
pub(super) fn without_readings(mapped: &MappedFile, file: &str) -> Fault {
    mapped.first_fault().unwrap_or_else(|| Fault::new(file, "it holds no readings"))
}

impl LostRows {
    /// Returns the rows that are lost if a file has another number of readings than were written.
    pub(super) fn of_count(
        found: u64,
        written: u64,
        mut lost: Vec<Self>,
        mapped: &MappedFile,
    ) -> Vec<Self> {
        // Damage after the last row costs nothing.
        if found == written {
            return Vec::new();
        }
        if lost.is_empty() || found > written {
            mapped.note(format!("{found} readings; it must have {written}"));
            lost.push(Self { blocks: vec![0], first: FIRST, last: LAST });
        }
        lost
    }
}

struct Walk<'a, R> {
    mapped: &'a MappedFile,
    reader: &'a mut R,
    lost: Vec<LostRows>,
    /// The number of lost rows before the last batch that was read.
    closed: usize,
}

impl<R: BatchReader> Walk<'_, R> {
    fn all(&mut self) {
        let mapped = self.mapped;
        let mut at = ALIGNMENT;
        while at < mapped.bytes().len() {
            match message_at(mapped, at) {
                Some(IpcMessage::End) => return,
                Some(IpcMessage::Other(head, body)) => at += head + body,
                Some(IpcMessage::Batch(head, body)) => {
                    if let Err(cause) = self.add(at, (head, body)) {
                        if let Some(cause) = cause {
                            mapped.note(format!("record batch at {at}: {cause}"));
                        }
                        self.lose(at, at + head + body);
                    }
                    at += head + body;
                }
                None => {
                    let from = at;
                    // Look for the next record batch; here, an apparent end may be anything.
                    at += ALIGNMENT;
                    while at < mapped.bytes().len()
                        && !matches!(message_at(mapped, at), Some(IpcMessage::Batch(..)))
                    {
                        at += ALIGNMENT;
                    }
                    self.lose(from, at);
                }
            }
        }
        if mapped.bytes().len() < mapped.length() {
            self.lose(mapped.bytes().len(), mapped.length());
        }
    }

    fn add(&mut self, at: usize, (head, body): (usize, usize)) -> Result<(), Cause> {
        if at + head + body > self.mapped.bytes().len() {
            return Err(None);
        }
        let batch = Batch::new(self.mapped, at, head)
            .ok_or_else(|| Some("it has no buffers".to_owned()))?;
        if let Some(first) = self.reader.add(&batch)? {
            self.lost[self.closed..].iter_mut().for_each(|lost| lost.last = first);
            self.closed = self.lost.len();
        }
        Ok(())
    }

    /// Records that a range of the file cannot be read.
    fn lose(&mut self, from: usize, to: usize) {
        let mut blocks: Vec<u32> = self.mapped.damaged_blocks(from..to).collect();
        if blocks.is_empty() {
            blocks.push((from / BLOCK_BYTES).min(self.mapped.blocks() as usize - 1) as u32);
        }
        let first = self.reader.last_station().unwrap_or(FIRST);
        self.lost.push(LostRows { blocks, first, last: LAST });
    }
}

/// A record batch in the file.
///
/// A column of numbers has two buffers, the nulls and the numbers; a list has four: its nulls, its
/// offsets, the nulls of its items, and the items. Nothing is null.
pub(super) struct Batch<'a> {
    pub mapped: &'a MappedFile,
    pub rows: usize,
    /// The range of each buffer in the file.
    pub buffers: Vec<Range<usize>>,
}

impl<'a> Batch<'a> {
    fn new(mapped: &'a MappedFile, at: usize, head: usize) -> Option<Self> {
        let message = root_as_message(&mapped.bytes().as_slice()[at + 8..at + head]).ok()?;
        let batch = message.header_as_record_batch()?;
        let mut buffers = Vec::new();
        for buffer in batch.buffers()? {
            let start = (at + head).checked_add(usize::try_from(buffer.offset()).ok()?)?;
            let end = start.checked_add(usize::try_from(buffer.length()).ok()?)?;
            buffers.push(start..end);
        }
        Some(Self { mapped, rows: usize::try_from(batch.length()).ok()?, buffers })
    }

    /// Returns which bytes of the file its columns are.
    pub(super) fn bytes(&self) -> Range<usize> {
        let starts = self.buffers.iter().map(|buffer| buffer.start);
        let ends = self.buffers.iter().map(|buffer| buffer.end);
        starts.min().unwrap_or(0)..ends.max().unwrap_or(0)
    }

    /// Returns the numbers of a buffer, intact or not.
    pub(super) fn column<T: ArrowNativeType>(
        &self,
        buffer: usize,
    ) -> Result<ScalarBuffer<T>, String> {
        let bytes = self.mapped.bytes();
        let range = self.buffers.get(buffer).filter(|range| range.end <= bytes.len());
        let range = range.ok_or_else(|| format!("it has no buffer {buffer}"))?;
        let slice = bytes.slice_with_length(range.start, range.len());
        if !slice.as_ptr().cast::<T>().is_aligned() || range.len() % size_of::<T>() != 0 {
            return Err(format!("buffer {buffer} is misaligned"));
        }
        Ok(slice.into())
    }

    /// Returns where the rows of a list begin, from the buffer of its offsets, checked to ascend and
    /// to stay within `entries`; `None` if that is damaged.
    pub(super) fn checked_offsets(
        &self,
        buffer: usize,
        entries: usize,
    ) -> Result<Option<ScalarBuffer<i32>>, String> {
        let offsets = self.column::<i32>(buffer)?;
        if !self.mapped.is_whole(&offsets) {
            return Ok(None);
        }
        let begins = offsets.first().is_some_and(|&first| first >= 0);
        let inside = offsets.last().is_some_and(|&last| last as usize <= entries);
        if !begins || !inside || !offsets.is_sorted() || offsets.len() != self.rows + 1 {
            return Err(format!("the list at buffer {buffer} is out of order"));
        }
        Ok(Some(offsets))
    }
}

/// Returns the message that begins at a position, if its head is intact.
fn message_at(mapped: &MappedFile, at: usize) -> Option<IpcMessage> {
    let word = |at: usize| {
        let bytes = mapped.bytes().as_slice().get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    };
    if word(at)? != u32::MAX || !mapped.range_is_whole(at..at + 8) {
        return None;
    }
    let head = 8_usize.checked_add(word(at + 4)? as usize)?;
    if head == 8 {
        return Some(IpcMessage::End);
    }
    let end = at.checked_add(head)?;
    if !mapped.range_is_whole(at..end) {
        return None;
    }
    let message = root_as_message(&mapped.bytes().as_slice()[at + 8..end]).ok()?;
    let body = usize::try_from(message.bodyLength()).ok()?;
    // A message that is longer than the rest of the file is the last one.
    (end.checked_add(body)? <= mapped.length()).then_some(match message.header_type() {
        MessageHeader::RecordBatch => IpcMessage::Batch(head, body),
        _ => IpcMessage::Other(head, body),
    })
}
