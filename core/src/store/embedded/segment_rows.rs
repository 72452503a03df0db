//! Reads the rows of a segment file; the readings stay where they are.
//!
//! The messages of the file are walked from the front, using their lengths, so the footer, which is
//! for other programs, may be damaged. If the head of a message is damaged, the next message is
//! searched for. Unreadable data costs the rows of its record batch.

use std::ops::Range;
use std::sync::Arc;

use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::{MessageHeader, root_as_message};

use super::catalogue::SegmentEntry;
use super::fault::Fault;
use super::mapped::{BLOCK_BYTES, Mapped};
use super::run::{LostRows, NONE, RunColumns, RunRow, SortedRun};
use super::segment_file::ALIGNMENT;
use super::series_table::SeriesList;
use crate::observation::{SeriesId, StationId};

const FIRST: StationId = StationId::from_bytes([0; 16]);
const LAST: StationId = StationId::from_bytes([0xff; 16]);

/// A message of the file.
enum IpcMessage {
    /// A record batch: lengths of head and body.
    Batch(usize, usize),
    /// Any other message.
    Other(usize, usize),
    End,
}

/// The columns of the lists.
#[derive(Clone, Copy)]
struct ListLayout {
    source: usize,
    revision: usize,
    /// Absent before version 5.
    qualifier: Option<usize>,
    time: usize,
    value: usize,
    quality: usize,
}

/// The layout of files as written, assumed if the schema cannot be read. If the assumption is
/// wrong, the columns do not fit together.
const LAYOUT: ListLayout =
    ListLayout { source: 2, revision: 3, qualifier: Some(4), time: 5, value: 6, quality: 7 };

/// The layout before version 5, and its number of buffers per batch, which is lower than since
/// then.
const LAYOUT_4: ListLayout =
    ListLayout { source: 2, revision: 3, qualifier: None, time: 4, value: 5, quality: 6 };
const BUFFERS_4: usize = 36;

impl ListLayout {
    /// Reads the layout of a file from the names of its columns.
    fn of(mapped: &Mapped) -> Option<Self> {
        let IpcMessage::Other(head, _) = message_at(mapped, ALIGNMENT)? else { return None };
        let bytes = &mapped.bytes().as_slice()[ALIGNMENT + 8..ALIGNMENT + head];
        let schema = fb_to_schema(root_as_message(bytes).ok()?.header_as_schema()?);
        let place = |name: &str| schema.index_of(name).ok().filter(|at| (2..8).contains(at));
        Some(Self {
            source: place("source")?,
            revision: place("revision")?,
            qualifier: place("qualifier"),
            time: place("time")?,
            value: place("value")?,
            quality: place("quality")?,
        })
    }
}

/// Reads the rows of a mapped segment.
///
/// # Errors
/// No part of the segment can be read.
pub(super) fn read_run(
    mapped: &Arc<Mapped>,
    file: &str,
    entry: &SegmentEntry,
    series: &SeriesList,
) -> Result<SortedRun, Fault> {
    let mut rows = SegmentRows::default();
    rows.walk(mapped, series);
    let SegmentRows { stations, rows, columns, lost, closed: _ } = rows;
    let span = (entry.first_ms, entry.last_ms);
    let mut run = SortedRun::new(stations, rows, columns, span, Some(Arc::clone(mapped)));
    if run.readings == 0 {
        return Err(mapped
            .first_fault()
            .unwrap_or_else(|| Fault::new(file, "it holds no readings")));
    }
    run.check_order().map_err(|cause| Fault::new(file, cause))?;
    let (found, written) = (run.readings, entry.readings);
    // Damage after the last row costs nothing.
    if found != written {
        run.lost = lost;
        if run.lost.is_empty() || found > written {
            mapped.note(format!("{found} readings; it must have {written}"));
            run.lost.push(LostRows { blocks: vec![0], first: FIRST, last: LAST });
        }
    }
    Ok(run)
}

#[derive(Default)]
struct SegmentRows {
    stations: Vec<(StationId, u32)>,
    rows: Vec<RunRow>,
    columns: Vec<RunColumns>,
    lost: Vec<LostRows>,
    /// The number of lost rows before the last batch that was read.
    closed: usize,
}

impl SegmentRows {
    fn walk(&mut self, mapped: &Mapped, series: &SeriesList) {
        let layout = ListLayout::of(mapped);
        let mut at = ALIGNMENT;
        while at < mapped.bytes().len() {
            match message_at(mapped, at) {
                Some(IpcMessage::End) => return,
                Some(IpcMessage::Other(head, body)) => at += head + body,
                Some(IpcMessage::Batch(head, body)) => {
                    if let Err(cause) = self.add(mapped, layout, series, at, (head, body)) {
                        // Without a cause, the damage is already recorded.
                        if let Some(cause) = cause {
                            mapped.note(format!("record batch at {at}: {cause}"));
                        }
                        self.lose(mapped, at, at + head + body);
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
                    self.lose(mapped, from, at);
                }
            }
        }
        if mapped.bytes().len() < mapped.length() {
            self.lose(mapped, mapped.bytes().len(), mapped.length());
        }
    }

    /// Records that a range of the file cannot be read.
    fn lose(&mut self, mapped: &Mapped, from: usize, to: usize) {
        let mut blocks: Vec<u32> = mapped.damaged_blocks(from..to).collect();
        if blocks.is_empty() {
            blocks.push((from / BLOCK_BYTES).min(mapped.blocks() as usize - 1) as u32);
        }
        let first = self.stations.last().map_or(FIRST, |&(last, _)| last);
        self.lost.push(LostRows { blocks, first, last: LAST });
    }

    /// Adds the rows of a record batch, all or none. A station may continue in the next batch.
    fn add(
        &mut self,
        mapped: &Mapped,
        layout: Option<ListLayout>,
        table: &SeriesList,
        at: usize,
        (head, body): (usize, usize),
    ) -> Result<(), Option<String>> {
        if at + head + body > mapped.bytes().len() {
            return Err(None);
        }
        let batch =
            Batch::new(mapped, at, head).ok_or_else(|| Some("it has no buffers".to_owned()))?;
        let written = if batch.buffers.len() > BUFFERS_4 { LAYOUT } else { LAYOUT_4 };
        let layout = layout.unwrap_or(written);
        let (stations, ids) = (batch.column::<u8>(1)?, batch.column::<i32>(3)?);
        if !mapped.is_whole(&stations) || !mapped.is_whole(&ids) {
            return Err(None);
        }
        if ids.len() < batch.rows || stations.len() < batch.rows * 16 {
            return Err(Some("its columns are too short".to_owned()));
        }
        let own_columns = RunColumns {
            ts_ms: batch.column(Batch::list(layout.time) + 3)?,
            value: batch.column(Batch::list(layout.value) + 3)?,
            quality: batch.column(Batch::list(layout.quality) + 3)?,
            source: batch.column(Batch::list(layout.source) + 3)?,
            revision: batch.column(Batch::list(layout.revision) + 3)?,
            qualifier: match layout.qualifier {
                Some(list) => batch.column(Batch::list(list) + 3)?,
                None => ScalarBuffer::from(Vec::new()),
            },
        };
        let RunColumns { ts_ms, value, quality, source, revision, qualifier } = &own_columns;
        // Times, values and verdicts have the same offsets: any intact one will do.
        let lengths = [ts_ms.len(), value.len(), quality.len()].into_iter().min().unwrap_or(0);
        let same = [layout.time, layout.value, layout.quality];
        let starts = same.into_iter().find_map(|list| batch.offsets(list, lengths).transpose());
        let starts = starts.ok_or(None)??;
        let of_source = batch.offsets(layout.source, source.len())?.ok_or(None)?;
        let of_revision = batch.offsets(layout.revision, revision.len())?.ok_or(None)?;
        let of_qualifier = match layout.qualifier {
            Some(list) => batch.offsets(list, qualifier.len())?.ok_or(None)?,
            None => vec![0; batch.rows + 1],
        };

        let columns = self.columns.len() as u32;
        let mut rows = Vec::with_capacity(batch.rows);
        let mut begun: Vec<(StationId, u32)> = Vec::new();
        let station = |at: usize| {
            StationId::from_bytes(stations[at * 16..][..16].try_into().unwrap_or([0; 16]))
        };
        for at in 0..batch.rows {
            let id = SeriesId(ids[at]);
            let slot = table.slot(id).ok_or_else(|| format!("unknown series {id}"))?;
            let last = begun.last().or(self.stations.last());
            if last.is_none_or(|&(last, _)| last != station(at)) {
                begun.push((station(at), (self.rows.len() + rows.len()) as u32));
            }
            let (start, len) = (starts[at], starts[at + 1] - starts[at]);
            let own = |offsets: &[u32]| match offsets[at + 1] - offsets[at] {
                0 => Ok(NONE),
                own if own == len => Ok(offsets[at]),
                own => Err(format!("it has {own} entries for {len} readings")),
            };
            let (source, revision) = (own(&of_source)?, own(&of_revision)?);
            let qualifier = own(&of_qualifier)?;
            rows.push(RunRow {
                series: id,
                slot,
                columns,
                start,
                len,
                source,
                revision,
                qualifier,
            });
        }
        if !rows.is_empty() {
            self.lost[self.closed..].iter_mut().for_each(|lost| lost.last = station(0));
            self.closed = self.lost.len();
        }
        self.columns.push(own_columns);
        self.rows.append(&mut rows);
        self.stations.append(&mut begun);
        Ok(())
    }
}

/// A record batch in the file.
///
/// A column of numbers has two buffers, the nulls and the numbers; a list has four: its nulls, its
/// offsets, the nulls of its items, and the items. Nothing is null.
struct Batch<'a> {
    mapped: &'a Mapped,
    rows: usize,
    /// The range of each buffer in the file.
    buffers: Vec<Range<usize>>,
}

impl<'a> Batch<'a> {
    fn new(mapped: &'a Mapped, at: usize, head: usize) -> Option<Self> {
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

    /// Returns the first buffer of a list, by the index of its column.
    const fn list(column: usize) -> usize {
        4 + 4 * (column - 2)
    }

    /// Returns the numbers of a buffer, intact or not.
    fn column<T: ArrowNativeType>(&self, buffer: usize) -> Result<ScalarBuffer<T>, String> {
        let bytes = self.mapped.bytes();
        let range = self.buffers.get(buffer).filter(|range| range.end <= bytes.len());
        let range = range.ok_or_else(|| format!("it has no buffer {buffer}"))?;
        let slice = bytes.slice_with_length(range.start, range.len());
        if !slice.as_ptr().cast::<T>().is_aligned() || range.len() % size_of::<T>() != 0 {
            return Err(format!("buffer {buffer} is misaligned"));
        }
        Ok(slice.into())
    }

    /// Returns where the rows of a list begin, checked to ascend and stay within `entries`; `None`
    /// if that is damaged.
    fn offsets(&self, list: usize, entries: usize) -> Result<Option<Vec<u32>>, String> {
        let offsets = self.column::<i32>(Self::list(list) + 1)?;
        if !self.mapped.is_whole(&offsets) {
            return Ok(None);
        }
        let offsets: Vec<u32> =
            offsets.iter().map(|&offset| u32::try_from(offset).unwrap_or(u32::MAX)).collect();
        let inside = offsets.last().is_some_and(|&last| last as usize <= entries);
        if !inside || !offsets.is_sorted() || offsets.len() != self.rows + 1 {
            return Err(format!("list {list} is out of order"));
        }
        Ok(Some(offsets))
    }
}

/// Returns the message that begins at a position, if its head is intact.
fn message_at(mapped: &Mapped, at: usize) -> Option<IpcMessage> {
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
