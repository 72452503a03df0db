//! The layout of a segment's file: Arrow IPC, one row for each series of each station.
//!
//! Readings are lists within the row, uncompressed and aligned, so that what is mapped is handed
//! out as it lies there. `source` and `revision` are empty lists where all verdicts came in
//! unchecked and all reports were first ones. The other columns say what the series is, for those
//! who open the file elsewhere.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int32Type, TimestampMillisecondType, UInt8Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Int32Array, ListArray,
    PrimitiveArray, RecordBatch, StringArray,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_ipc::MetadataVersion;
use arrow_ipc::convert::fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};

use super::catalogue::{SegmentEntry, segment_file};
use super::fault::{Fault, storage};
use super::mapped::{BLOCK_BYTES, Mapped};
use super::merge::{MergeError, merge};
use super::run::{Columns, NONE, Row, Run, RunBuilder};
use super::series_table::SeriesTable;
use crate::series::{Series, SeriesId};
use crate::station::StationId;

/// Readings of a record batch, so that merging takes no more memory than a few of them.
const BATCH_READINGS: usize = 1 << 20;

/// What the verdicts mean, for those who open the file elsewhere.
const NOTES: [(&str, &str); 2] = [
    (
        "mesonet.quality",
        "quality and source: verdicts of one byte, the base in the high four bits (0 Suppressed, \
         1 Missing, 2 Error, 3 Doubtful, 4 Inconsistent, 5 Instrumentation, 6 Good, 7 Unknown), the \
         reason in the low four (0 None, 1 Missing, 2 ValueType, 3 Range, 4 Inert, 5 Change, \
         6 Decrease, 7 Increase, 8 Disagree, 9 GreaterThan, 10 LessThan, 11 Difference, \
         12 AverageInconsistent, 13 Unknown)",
    ),
    ("mesonet.empty_lists", "source: all as they come unchecked (0x70); revision: all 0"),
];

/// The columns that are read back, by their places.
const READ_BACK: [&str; 7] =
    ["station", "series", "time", "value", "quality", "source", "revision"];

fn schema() -> Schema {
    let text = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let list = |name: &str, of: DataType| Field::new(name, DataType::List(item(of)), false);
    let utc = DataType::Timestamp(TimeUnit::Millisecond, Some("UTC".into()));
    let fields = vec![
        Field::new("station", DataType::FixedSizeBinary(16), false),
        Field::new("series", DataType::Int32, false),
        list("time", utc),
        list("value", DataType::Float64),
        list("quality", DataType::UInt8),
        list("source", DataType::UInt8),
        list("revision", DataType::UInt8),
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

/// Merges runs, oldest first, into the file of a new segment, which is on disk and has its name
/// when this returns. `None` where no reading is left; then there is no file.
pub(super) fn write_segment(
    dir: &Path,
    id: i64,
    sequence: i64,
    runs: &[&Run],
    series: &SeriesTable,
    from_ms: i64,
) -> Result<Option<SegmentEntry>, MergeError> {
    let path = dir.join(segment_file(id));
    let temporary = path.with_extension("tmp");
    let written = write_file(&temporary, id, sequence, runs, series, from_ms).and_then(|entry| {
        if entry.is_some() {
            let renamed = fs::rename(&temporary, &path).and_then(|()| {
                // The name is on disk when the folder is.
                path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
            });
            renamed.map_err(|error| MergeError::Store(storage(&path, &error)))?;
        }
        Ok(entry)
    });
    if !matches!(written, Ok(Some(_))) {
        // What stays behind is put away when the store is opened next.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn write_file(
    path: &Path,
    id: i64,
    sequence: i64,
    runs: &[&Run],
    series: &SeriesTable,
    from_ms: i64,
) -> Result<Option<SegmentEntry>, MergeError> {
    let failed = |error: &io::Error| MergeError::Store(storage(path, error));
    let failed_arrow = |error: ArrowError| match error {
        ArrowError::IoError(_, error) => failed(&error),
        other => failed(&io::Error::other(other)),
    };
    let file = File::create(path).map_err(|error| failed(&error))?;
    let options = IpcWriteOptions::try_new(64, false, MetadataVersion::V5).map_err(failed_arrow)?;
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
    let total: u64 = runs.iter().map(|run| run.readings).sum();
    let room = BATCH_READINGS.min(total as usize);
    let mut builder = RunBuilder::with_capacity(room);
    merge(runs, from_ms, &mut builder, &mut |builder| {
        if builder.len() < BATCH_READINGS {
            return Ok(());
        }
        put(std::mem::replace(builder, RunBuilder::with_capacity(room)))
    })?;
    if builder.len() > 0 {
        put(builder)?;
    }
    if readings == 0 {
        return Ok(None);
    }
    let out = writer.into_inner().map_err(failed_arrow)?;
    let (file, length, checksums) = out.finish();
    let file = file.into_inner().map_err(|error| failed(error.error()))?;
    file.sync_all().map_err(|error| failed(&error))?;
    Ok(Some(SegmentEntry { id, sequence, readings, first_ms, last_ms, length, checksums }))
}

/// What is written, with the checksum of each block of it.
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

    fn finish(mut self) -> (W, u64, Vec<u32>) {
        if !self.length.is_multiple_of(BLOCK_BYTES as u64) {
            self.checksums.push(self.hasher.finalize());
        }
        (self.inner, self.length, self.checksums)
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

/// The texts of all series, each once, and of each series which are its own.
struct SeriesNames {
    columns: [(Arc<StringArray>, Vec<i32>); 4],
}

impl SeriesNames {
    fn new(series: &SeriesTable) -> Self {
        let column = |text: fn(&Series) -> &str| {
            let mut texts: Vec<&str> = series.list.iter().map(|series| text(series)).collect();
            texts.sort_unstable();
            texts.dedup();
            let key = |series: &Arc<Series>| texts.partition_point(|&at| at < text(series)) as i32;
            let keys = series.list.iter().map(key).collect();
            (Arc::new(StringArray::from(texts.clone())), keys)
        };
        Self {
            columns: [
                column(|series| series.key.variable.name()),
                column(|series| series.key.interval_type.name()),
                column(|series| &series.key.reported_unit),
                column(|series| &series.key.bucket),
            ],
        }
    }

    fn array(&self, column: usize, rows: &[Row]) -> Result<ArrayRef, ArrowError> {
        let (texts, keys) = &self.columns[column];
        let keys = rows.iter().map(|row| keys[row.slot as usize]);
        let keys = Int32Array::from_iter_values(keys);
        let texts = Arc::clone(texts) as ArrayRef;
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, texts)?))
    }
}

fn record_batch(
    run: &Run,
    schema: &Arc<Schema>,
    series: &SeriesTable,
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
    let key = |row: &Row| &series.list[row.slot as usize].key;
    let times = PrimitiveArray::<TimestampMillisecondType>::new(columns.ts_ms.clone(), None);
    let whole = |row: &Row| row.len as usize;
    let source = |row: &Row| if row.source == NONE { 0 } else { row.len as usize };
    let revision = |row: &Row| if row.revision == NONE { 0 } else { row.len as usize };
    let bytes = |column: &ScalarBuffer<u8>| PrimitiveArray::<UInt8Type>::new(column.clone(), None);
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(stations.finish()),
        Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.series.0))),
        list(rows, whole, times.with_timezone("UTC"))?,
        list(rows, whole, PrimitiveArray::<Float64Type>::new(columns.value.clone(), None))?,
        list(rows, whole, bytes(&columns.quality))?,
        list(rows, source, bytes(&columns.source))?,
        list(rows, revision, bytes(&columns.revision))?,
        names.array(0, rows)?,
        names.array(1, rows)?,
        Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| key(row).interval_minutes))),
        Arc::new(rows.iter().map(|row| Some(key(row).calculated)).collect::<BooleanArray>()),
        names.array(2, rows)?,
        names.array(3, rows)?,
    ];
    RecordBatch::try_new(Arc::clone(schema), arrays)
}

fn list<T: ArrowPrimitiveType>(
    rows: &[Row],
    len: impl Fn(&Row) -> usize,
    values: PrimitiveArray<T>,
) -> Result<ArrayRef, ArrowError> {
    let offsets = OffsetBuffer::from_lengths(rows.iter().map(len));
    let item = item(values.data_type().clone());
    Ok(Arc::new(ListArray::try_new(item, offsets, Arc::new(values), None)?))
}

/// Reads the rows of a mapped segment, and leaves the readings where they are.
pub(super) fn read_run(
    mapped: Arc<Mapped>,
    file: &str,
    entry: &SegmentEntry,
    series: &SeriesTable,
) -> Result<Run, Fault> {
    let wrong = |cause: &str| Fault::new(file, cause);
    let arrow = |error: ArrowError| Fault::new(file, error);
    let bytes = mapped.bytes().clone();
    let trailer_at = bytes.len().checked_sub(10).ok_or_else(|| wrong("too short"))?;
    mapped.check_range(trailer_at, 10)?;
    let trailer: [u8; 10] = bytes[trailer_at..].try_into().map_err(|_| wrong("has no trailer"))?;
    let footer_length = read_footer_length(trailer).map_err(arrow)?;
    let footer_at = trailer_at.checked_sub(footer_length).ok_or_else(|| wrong("has no footer"))?;
    mapped.check_range(footer_at, footer_length)?;
    let footer = arrow_ipc::root_as_footer(&bytes[footer_at..trailer_at])
        .map_err(|error| Fault::new(file, error))?;
    let found = fb_to_schema(footer.schema().ok_or_else(|| wrong("has no schema"))?);
    let mut projection = Vec::with_capacity(READ_BACK.len());
    for name in READ_BACK {
        projection.push(found.index_of(name).map_err(arrow)?);
    }
    let decoder = FileDecoder::new(Arc::new(found), footer.version())
        .with_projection(projection)
        .with_require_alignment(true);

    let mut rows = Rows::default();
    for block in footer.recordBatches().iter().flatten() {
        let part = |length: i64| usize::try_from(length).map_err(|_| wrong("has no such block"));
        let (at, head) = (part(block.offset())?, part(block.metaDataLength().into())?);
        let body = part(block.bodyLength())?;
        mapped.check_range(at, head)?;
        let length = head
            .checked_add(body)
            .filter(|&length| at.checked_add(length).is_some_and(|end| end <= bytes.len()));
        let length = length.ok_or_else(|| wrong("has a block beyond its end"))?;
        let batch = decoder
            .read_record_batch(block, &bytes.slice_with_length(at, length))
            .map_err(arrow)?
            .ok_or_else(|| wrong("has an empty block"))?;
        rows.add(&batch, &mapped, series).map_err(|cause| match cause {
            Cause::Fault(fault) => fault,
            Cause::Text(cause) => Fault::new(file, cause),
        })?;
    }
    let span = (entry.first_ms, entry.last_ms);
    let run = Run::new(rows.stations, rows.rows, rows.columns, span, Some(mapped));
    if run.readings != entry.readings {
        let (found, written) = (run.readings, entry.readings);
        return Err(Fault::new(file, format!("{found} readings; {written} were written")));
    }
    run.check_order().map_err(|cause| Fault::new(file, cause))?;
    Ok(run)
}

#[derive(Default)]
struct Rows {
    stations: Vec<(StationId, u32)>,
    rows: Vec<Row>,
    columns: Vec<Columns>,
}

enum Cause {
    Fault(Fault),
    Text(String),
}

impl From<String> for Cause {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Rows {
    /// Adds the rows of a record batch. A station may go on in the next one.
    fn add(
        &mut self,
        batch: &RecordBatch,
        mapped: &Mapped,
        table: &SeriesTable,
    ) -> Result<(), Cause> {
        let stations: &FixedSizeBinaryArray = column(batch, "station")?;
        if stations.value_length() != 16 {
            return Err("ids of stations are not 16 bytes".to_owned().into());
        }
        let ids: &Int32Array = column(batch, "series")?;
        mapped.check(stations.value_data()).map_err(Cause::Fault)?;
        mapped.check(ids.values()).map_err(Cause::Fault)?;
        let (time_at, ts_ms) = lists::<TimestampMillisecondType>(batch, "time", mapped)?;
        let (value_at, value) = lists::<Float64Type>(batch, "value", mapped)?;
        let (quality_at, quality) = lists::<UInt8Type>(batch, "quality", mapped)?;
        let (source_at, source) = lists::<UInt8Type>(batch, "source", mapped)?;
        let (revision_at, revision) = lists::<UInt8Type>(batch, "revision", mapped)?;
        if time_at != value_at || time_at != quality_at {
            return Err("its lists are of different lengths".to_owned().into());
        }
        let columns = self.columns.len() as u32;
        self.columns.push(Columns { ts_ms, value, quality, source, revision });
        self.rows.reserve(batch.num_rows());
        for at in 0..batch.num_rows() {
            let id = SeriesId(ids.value(at));
            let slot = table.slot(id).ok_or_else(|| format!("series {id} is not on record"))?;
            let bytes = stations.value(at).try_into().unwrap_or([0; 16]);
            let station = StationId::from_bytes(bytes);
            if self.stations.last().is_none_or(|&(last, _)| last != station) {
                self.stations.push((station, self.rows.len() as u32));
            }
            let len = time_at[at + 1] - time_at[at];
            let own = |offsets: &[u32]| match offsets[at + 1] - offsets[at] {
                0 => Ok(NONE),
                own if own == len => Ok(offsets[at]),
                own => Err(format!("{own} entries for {len} readings")),
            };
            let (source, revision) = (own(&source_at)?, own(&revision_at)?);
            let start = time_at[at];
            self.rows.push(Row { series: id, slot, columns, start, len, source, revision });
        }
        Ok(())
    }
}

fn column<'a, A: 'static>(batch: &'a RecordBatch, name: &str) -> Result<&'a A, String> {
    let column = batch.column_by_name(name).ok_or_else(|| format!("has no column {name}"))?;
    column.as_any().downcast_ref().ok_or_else(|| format!("column {name} is of another type"))
}

/// The offsets of lists, which lie within their values, and the values.
fn lists<T: ArrowPrimitiveType>(
    batch: &RecordBatch,
    name: &str,
    mapped: &Mapped,
) -> Result<(Vec<u32>, ScalarBuffer<T::Native>), Cause> {
    let list: &ListArray = column(batch, name)?;
    let of_another_type = || Cause::Text(format!("column {name} is of another type"));
    let values: &PrimitiveArray<T> =
        list.values().as_any().downcast_ref().ok_or_else(of_another_type)?;
    mapped.check(list.value_offsets()).map_err(Cause::Fault)?;
    let offsets: Vec<u32> =
        list.value_offsets().iter().map(|&offset| offset.try_into().unwrap_or(u32::MAX)).collect();
    let inside = offsets.last().is_none_or(|&last| last as usize <= values.len());
    if !inside || !offsets.is_sorted() || offsets.len() != batch.num_rows() + 1 {
        return Err(Cause::Text(format!("lists of column {name} are out of order")));
    }
    Ok((offsets, values.values().clone()))
}
