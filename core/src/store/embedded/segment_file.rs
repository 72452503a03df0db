//! The layout of a segment's file: Arrow IPC, one row for each series of each station.
//!
//! Readings are lists within the row, uncompressed and aligned, so that mapped bytes are handed out
//! unchanged. `source`, `revision` and `qualifier` are empty lists if, respectively, all verdicts
//! came in unchecked, all reports were first reports, and no value has a qualifier. The other
//! columns describe the series, for programs that open the file elsewhere.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int32Type, TimestampMillisecondType, UInt8Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Int32Array, ListArray, PrimitiveArray,
    RecordBatch, StringArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_ipc::MetadataVersion;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};

use super::catalogue::{SegmentEntry, segment_file};
use super::fault::storage;
use super::mapped::BLOCK_BYTES;
use super::merge::merge;
use super::run::{LostPart, NONE, RunRow, SortedRun};
use super::run_builder::RunBuilder;
use super::segment_note::{StoreState, footer_texts};
use super::series_table::SeriesList;
use super::weather_table::WEATHER_NAME;
use crate::observation::{IntervalType, Series, StationId};
use crate::store::StoreError;

/// Number of readings in a record batch. All of them are lost if the columns that identify them are
/// damaged.
const BATCH_READINGS: usize = 1 << 16;

/// Alignment of messages and of every buffer in them.
pub(super) const ALIGNMENT: usize = 64;

/// The meaning of the verdicts, for programs that open the file elsewhere.
const NOTES: [(&str, &str); 4] = [
    (
        "mesonet.quality",
        "quality and source: verdicts of one byte, the base in the high four bits (0 Suppressed, \
         1 Missing, 2 Error, 3 Doubtful, 4 Inconsistent, 5 Instrumentation, 6 Good, 7 Unknown), the \
         reason in the low four (0 None, 1 Missing, 2 ValueType, 3 Range, 4 Inert, 5 Change, \
         6 Decrease, 7 Increase, 8 Disagree, 9 GreaterThan, 10 LessThan, 11 Difference, \
         12 AverageInconsistent, 13 Unknown)",
    ),
    (
        "mesonet.qualifier",
        "qualifier: what the report says beside the number (0 nothing, 1 trace, 2 at least, 3 less \
         than)",
    ),
    (
        "mesonet.present_weather",
        "rows of the series -1: each value stands for a list of words in mesonet.weather, of which it \
         is the first 52 bits of a UUID v5",
    ),
    (
        "mesonet.empty_lists",
        "source: all as they come unchecked (0x70); revision and qualifier: all 0",
    ),
];

/// The columns that identify the readings come first, so opening a file reads little of it.
fn schema() -> Schema {
    let text = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let list = |name: &str, of: DataType| Field::new(name, DataType::List(item(of)), false);
    let utc = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    let fields = vec![
        Field::new("station", DataType::FixedSizeBinary(16), false),
        Field::new("series", DataType::Int32, false),
        list("source", DataType::UInt8),
        list("revision", DataType::UInt8),
        list("qualifier", DataType::UInt8),
        list("time", utc),
        list("value", DataType::Float64),
        list("quality", DataType::UInt8),
        Field::new("name", text(), false),
        Field::new("interval_type", text(), false),
        Field::new("interval_minutes", DataType::Int32, false),
        Field::new("calculated", DataType::Boolean, false),
        Field::new("reported_unit", text(), false),
        Field::new("bucket", text(), false),
    ];
    let notes = NOTES.map(|(name, note)| (name.to_owned(), note.to_owned()));
    Schema::new_with_metadata(fields, HashMap::from(notes))
}

fn item(of: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", of, false))
}

/// The result of writing a segment.
pub(super) struct WrittenSegment {
    /// `None` if no reading is left; then there is no file.
    pub entry: Option<SegmentEntry>,
    /// The readings in damaged blocks, by the index of the run and the block.
    pub lost: BTreeMap<(usize, u32), LostSpan>,
}

/// The times and stations of lost readings, all ends included.
#[derive(Clone, Copy, Debug)]
pub(super) struct LostSpan {
    pub first_ms: i64,
    pub last_ms: i64,
    pub first: StationId,
    pub last: StationId,
}

impl LostSpan {
    fn join(&mut self, other: Self) {
        self.first_ms = self.first_ms.min(other.first_ms);
        self.last_ms = self.last_ms.max(other.last_ms);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

/// Merges runs, oldest first, into the file of a new segment. The file is on disk under its final
/// name when this returns.
pub(super) fn write_segment(
    dir: &Path,
    id: i64,
    sequence: i64,
    runs: &[&SortedRun],
    series: &SeriesList,
    about: &StoreState,
) -> Result<WrittenSegment, StoreError> {
    let path = dir.join(segment_file(id));
    let temporary = path.with_extension("tmp");
    let written = write_file(&temporary, id, sequence, runs, series, about).and_then(|written| {
        if written.entry.is_some() {
            let renamed = fs::rename(&temporary, &path).and_then(|()| {
                // The name is on disk once the folder is.
                path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
            });
            renamed.map_err(|error| storage(&path, &error))?;
        }
        Ok(written)
    });
    if !written.as_ref().is_ok_and(|written| written.entry.is_some()) {
        // A file left behind is cleaned up when the store is next opened.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_file(
    path: &Path,
    id: i64,
    sequence: i64,
    runs: &[&SortedRun],
    series: &SeriesList,
    about: &StoreState,
) -> Result<WrittenSegment, StoreError> {
    let failed = |error: &io::Error| storage(path, error);
    let failed_arrow = |error: ArrowError| match error {
        ArrowError::IoError(_, error) => failed(&error),
        other => failed(&io::Error::other(other)),
    };
    let file = File::create(path).map_err(|error| failed(&error))?;
    let version = MetadataVersion::V5;
    let options = IpcWriteOptions::try_new(ALIGNMENT, false, version).map_err(failed_arrow)?;
    let schema = Arc::new(schema());
    let out = Checksummed::new(BufWriter::with_capacity(1 << 20, file));
    let mut writer =
        FileWriter::try_new_with_options(out, &schema, options).map_err(failed_arrow)?;
    let names = SeriesNames::new(series);
    let (mut readings, mut first_ms, mut last_ms) = (0, i64::MAX, i64::MIN);
    let mut put = |builder: RunBuilder| {
        let run = builder.finish();
        readings += run.readings;
        (first_ms, last_ms) = (first_ms.min(run.first_ms), last_ms.max(run.last_ms));
        let batch = record_batch(&run, &schema, series, &names).map_err(failed_arrow)?;
        writer.write(&batch).map_err(failed_arrow)
    };
    let mut lost: BTreeMap<(usize, u32), LostSpan> = BTreeMap::new();
    let mut lose = |run: usize, block: u32, span: LostSpan| {
        lost.entry((run, block)).or_insert(span).join(span);
    };
    for (at, run) in runs.iter().enumerate() {
        for rows in &run.lost {
            let span = LostSpan {
                first_ms: run.first_ms,
                last_ms: run.last_ms,
                first: rows.first,
                last: rows.last,
            };
            rows.blocks.iter().for_each(|&block| lose(at, block, span));
        }
    }
    let total: u64 = runs.iter().map(|run| run.readings).sum();
    let room = BATCH_READINGS.min(total as usize);
    let mut builder = RunBuilder::with_capacity(room);
    merge(
        runs,
        about.retain_from_ms,
        &mut builder,
        &mut |builder| {
            if builder.len() < BATCH_READINGS {
                return Ok(());
            }
            put(std::mem::replace(builder, RunBuilder::with_capacity(room)))
        },
        &mut |run, station, LostPart { block, first_ms, last_ms }| {
            lose(run, block, LostSpan { first_ms, last_ms, first: station, last: station });
        },
    )?;
    if builder.len() > 0 {
        put(builder)?;
    }
    if readings == 0 {
        return Ok(WrittenSegment { entry: None, lost });
    }
    let (length, checksums) = writer.get_ref().so_far();
    let mut entry = SegmentEntry { id, sequence, readings, first_ms, last_ms, length, checksums };
    let texts = footer_texts(&entry, about, series);
    for (name, text) in texts.map_err(|error| failed(&error.into()))? {
        writer.write_metadata(name, text);
    }
    let out = writer.into_inner().map_err(failed_arrow)?;
    (entry.length, entry.checksums) = out.so_far();
    let file = out.inner.into_inner().map_err(|error| failed(error.error()))?;
    file.sync_all().map_err(|error| failed(&error))?;
    Ok(WrittenSegment { entry: Some(entry), lost })
}

/// A writer that computes the checksum of each block.
struct Checksummed<W> {
    inner: W,
    hasher: crc32fast::Hasher,
    length: u64,
    checksums: Vec<u32>,
}

impl<W: Write> Checksummed<W> {
    fn new(inner: W) -> Self {
        Self { inner, hasher: crc32fast::Hasher::new(), length: 0, checksums: Vec::new() }
    }

    /// Returns how much is written, and the checksums of the blocks; the last block may be partial.
    fn so_far(&self) -> (u64, Vec<u32>) {
        let mut checksums = self.checksums.clone();
        if !self.length.is_multiple_of(BLOCK_BYTES as u64) {
            checksums.push(self.hasher.clone().finalize());
        }
        (self.length, checksums)
    }
}

impl<W: Write> Write for Checksummed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let in_block = (self.length % BLOCK_BYTES as u64) as usize;
        let count = self.inner.write(&bytes[..bytes.len().min(BLOCK_BYTES - in_block)])?;
        self.hasher.update(&bytes[..count]);
        self.length += count as u64;
        if in_block + count == BLOCK_BYTES {
            self.checksums.push(std::mem::take(&mut self.hasher).finalize());
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// The texts that describe each series.
struct SeriesNames {
    columns: [Names; 4],
}

/// The distinct texts of all series, and which of them belong to each series and to present
/// weather.
struct Names {
    texts: Arc<StringArray>,
    keys: Vec<i32>,
    weather: i32,
}

impl SeriesNames {
    fn new(series: &SeriesList) -> Self {
        let column = |of_weather, text: fn(&Series) -> &str| {
            let mut texts: Vec<&str> = series.list.iter().map(|series| text(series)).collect();
            texts.push(of_weather);
            texts.sort_unstable();
            texts.dedup();
            let key = |of: &str| texts.partition_point(|&at| at < of) as i32;
            let keys = series.list.iter().map(|series| key(text(series))).collect();
            let weather = key(of_weather);
            Names { texts: Arc::new(StringArray::from(texts)), keys, weather }
        };
        let instantaneous = IntervalType::Instantaneous.name();
        Self {
            columns: [
                column(WEATHER_NAME, |series| series.key.variable.name()),
                column(instantaneous, |series| series.key.interval_type.name()),
                column("", |series| &series.key.reported_unit),
                column("", |series| &series.key.bucket),
            ],
        }
    }

    fn array(&self, column: usize, rows: &[RunRow]) -> Result<ArrayRef, ArrowError> {
        let Names { texts, keys, weather } = &self.columns[column];
        let keys = rows.iter().map(|row| *keys.get(row.slot as usize).unwrap_or(weather));
        let keys = Int32Array::from_iter_values(keys);
        let texts = Arc::clone(texts) as ArrayRef;
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, texts)?))
    }
}

fn record_batch(
    run: &SortedRun,
    schema: &Arc<Schema>,
    series: &SeriesList,
    names: &SeriesNames,
) -> Result<RecordBatch, ArrowError> {
    let rows = &run.rows;
    let columns = &run.columns[0];
    let mut stations = FixedSizeBinaryBuilder::with_capacity(rows.len(), 16);
    for place in 0..run.stations.len() {
        for _ in run.rows_at(place) {
            stations.append_value(run.stations[place].0.as_bytes())?;
        }
    }
    // Present weather has no text.
    let key = |row: &RunRow| series.list.get(row.slot as usize).map(|series| &series.key);
    let minutes = |row: &RunRow| key(row).map_or(0, |key| key.interval_minutes);
    let calculated = |row: &RunRow| key(row).is_some_and(|key| key.calculated);
    let times = PrimitiveArray::<TimestampMillisecondType>::new(columns.ts_ms.clone(), None);
    let whole = |row: &RunRow| row.len as usize;
    let source = |row: &RunRow| if row.source == NONE { 0 } else { row.len as usize };
    let revision = |row: &RunRow| if row.revision == NONE { 0 } else { row.len as usize };
    let qualifier = |row: &RunRow| if row.qualifier == NONE { 0 } else { row.len as usize };
    let bytes = |column: &ScalarBuffer<u8>| PrimitiveArray::<UInt8Type>::new(column.clone(), None);
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(stations.finish()),
        Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.series.0))),
        list(rows, source, bytes(&columns.source))?,
        list(rows, revision, bytes(&columns.revision))?,
        list(rows, qualifier, bytes(&columns.qualifier))?,
        list(rows, whole, times.with_timezone("UTC"))?,
        list(rows, whole, PrimitiveArray::<Float64Type>::new(columns.value.clone(), None))?,
        list(rows, whole, bytes(&columns.quality))?,
        names.array(0, rows)?,
        names.array(1, rows)?,
        Arc::new(Int32Array::from_iter_values(rows.iter().map(minutes))),
        Arc::new(rows.iter().map(|row| Some(calculated(row))).collect::<BooleanArray>()),
        names.array(2, rows)?,
        names.array(3, rows)?,
    ];
    RecordBatch::try_new(Arc::clone(schema), arrays)
}

fn list<T: ArrowPrimitiveType>(
    rows: &[RunRow],
    len: impl Fn(&RunRow) -> usize,
    values: PrimitiveArray<T>,
) -> Result<ArrayRef, ArrowError> {
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(len));
    let item = item(values.data_type().clone());
    Ok(Arc::new(ListArray::try_new(item, offsets, Arc::new(values), None)?))
}
