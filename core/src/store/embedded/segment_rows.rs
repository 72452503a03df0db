//! Reads the rows of a segment file before version 7, one row for each series of each station; the
//! readings stay where they are.

use std::sync::Arc;

use arrow_buffer::ScalarBuffer;

use super::catalogue::SegmentEntry;
use super::fault::Fault;
use super::mapped::MappedFile;
use super::report_texts::SharedTexts;
use super::run::{LostRows, NONE, RunColumns, RunRow, SortedRun};
use super::segment_batches::{Batch, BatchReader, Cause, schema_of, walk, without_readings};
use super::series_table::SeriesList;
use crate::observation::{SeriesId, StationId};

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
    fn of(mapped: &MappedFile) -> Option<Self> {
        let schema = schema_of(mapped)?;
        let place = |name: &str| schema.place(name).filter(|at| (2..8).contains(at));
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
    mapped: &Arc<MappedFile>,
    file: &str,
    entry: &SegmentEntry,
    series: &SeriesList,
) -> Result<SortedRun, Fault> {
    let layout = ListLayout::of(mapped);
    let mut reader = SegmentRows {
        table: series,
        layout,
        stations: Vec::new(),
        rows: Vec::new(),
        columns: Vec::new(),
    };
    let lost = walk(mapped, &mut reader);
    let SegmentRows { stations, rows, columns, .. } = reader;
    let span = (entry.first_ms, entry.last_ms);
    let mut run = SortedRun::new(stations, rows, columns, span, Some(Arc::clone(mapped)));
    if run.readings == 0 {
        return Err(without_readings(mapped, file));
    }
    run.check_order().map_err(|cause| Fault::new(file, cause))?;
    run.lost = LostRows::of_count(run.readings, entry.readings, lost, mapped);
    Ok(run)
}

struct SegmentRows<'a> {
    table: &'a SeriesList,
    layout: Option<ListLayout>,
    stations: Vec<(StationId, u32)>,
    rows: Vec<RunRow>,
    columns: Vec<RunColumns>,
}

/// Returns the first buffer of a list, by the index of its column. A list has four: its nulls, its
/// offsets, the nulls of its items, and the items.
const fn list(column: usize) -> usize {
    4 + 4 * (column - 2)
}

impl BatchReader for SegmentRows<'_> {
    /// A station may continue in the next batch.
    fn add(&mut self, batch: &Batch<'_>) -> Result<Option<StationId>, Cause> {
        let (mapped, table) = (batch.mapped, self.table);
        let written = if batch.buffers.len() > BUFFERS_4 { LAYOUT } else { LAYOUT_4 };
        let layout = self.layout.unwrap_or(written);
        let (stations, ids) = (batch.column::<u8>(1)?, batch.column::<i32>(3)?);
        if !mapped.is_whole(&stations) || !mapped.is_whole(&ids) {
            return Err(None);
        }
        if ids.len() < batch.rows || stations.len() < batch.rows * 16 {
            return Err(Some("its columns are too short".to_owned()));
        }
        let own_columns = RunColumns {
            ts_ms: batch.column(list(layout.time) + 3)?,
            value: batch.column(list(layout.value) + 3)?,
            quality: batch.column(list(layout.quality) + 3)?,
            source: batch.column(list(layout.source) + 3)?,
            revision: batch.column(list(layout.revision) + 3)?,
            qualifier: match layout.qualifier {
                Some(column) => batch.column(list(column) + 3)?,
                None => ScalarBuffer::from(Vec::new()),
            },
            text: SharedTexts::default(),
        };
        let RunColumns { ts_ms, value, quality, source, revision, qualifier, .. } = &own_columns;
        // Times, values and verdicts have the same offsets: any intact one will do.
        let lengths = [ts_ms.len(), value.len(), quality.len()].into_iter().min().unwrap_or(0);
        let same = [layout.time, layout.value, layout.quality];
        let offsets = |column: usize, entries| batch.checked_offsets(list(column) + 1, entries);
        let starts = same.into_iter().find_map(|column| offsets(column, lengths).transpose());
        let starts = starts.ok_or(None)??;
        let of_source = offsets(layout.source, source.len())?.ok_or(None)?;
        let of_revision = offsets(layout.revision, revision.len())?.ok_or(None)?;
        let of_qualifier = match layout.qualifier {
            Some(column) => offsets(column, qualifier.len())?.ok_or(None)?,
            None => vec![0; batch.rows + 1].into(),
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
            let (start, len) = (starts[at] as u32, (starts[at + 1] - starts[at]) as u32);
            let own = |offsets: &[i32]| match (offsets[at + 1] - offsets[at]) as u32 {
                0 => Ok(NONE),
                own if own == len => Ok(offsets[at] as u32),
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
                text: NONE,
            });
        }
        let first = (batch.rows > 0).then(|| station(0));
        self.columns.push(own_columns);
        self.rows.append(&mut rows);
        self.stations.append(&mut begun);
        Ok(first)
    }

    fn last_station(&self) -> Option<StationId> {
        self.stations.last().map(|&(last, _)| last)
    }
}
