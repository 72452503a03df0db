//! Segments as version 6 wrote them: one row for each series of each station, its readings in lists.

use std::fs;
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

use super::catalogue::{RecordCatalogue, SegmentEntry, add_segment};
use super::mapped::BLOCK_BYTES;
use super::merge::merge;
use super::run::{NONE, RunRow, SortedRun};
use super::run_builder::RunBuilder;
use super::segment::Segment;
use super::segment_batches::ALIGNMENT;
use super::segment_note::{footer_texts, series_text};
use super::series_table::SeriesList;
use super::store_state::StoreState;
use super::testing::Temporary;
use super::walk::RunRef;
use super::*;
use crate::observation::{IntervalType, Series};

const BATCH_READINGS: u64 = 1 << 16;

/// Writes all segments of a store as version 6 did, and opens it again.
pub(super) fn make_version_6(store: &mut Temporary) {
    store.store = None;
    write_all(store.dir.path());
    store.reopen();
}

/// Writes all segments of the record in `MESONET_VERSION_6` as version 6 did.
#[test]
#[ignore = "makes tests/data/version_6"]
fn write_a_record_as_version_6() {
    write_all(Path::new(&std::env::var("MESONET_VERSION_6").unwrap()));
}

fn write_all(dir: &Path) {
    let mut catalogue = RecordCatalogue::open(dir, false).unwrap();
    let (series, entries) = (catalogue.series().unwrap().0, catalogue.segments().unwrap().0);
    for mut entry in entries {
        let segment = Segment::new(dir, entry.clone(), &Arc::new(Faults::default()));
        let about = catalogue.about(Vec::new(), &series).unwrap();
        let bytes = write(segment.run(&series).unwrap(), &series, &entry, &about);
        set_file(&mut catalogue, segment.path(), &mut entry, &bytes);
    }
    catalogue.connection.pragma_update(None, "user_version", 6).unwrap();
}

/// Replaces the file of a segment.
pub(super) fn set_file(
    catalogue: &mut RecordCatalogue,
    path: &Path,
    entry: &mut SegmentEntry,
    bytes: &[u8],
) {
    fs::write(path, bytes).unwrap();
    entry.length = bytes.len() as u64;
    entry.checksums = bytes.chunks(BLOCK_BYTES).map(crc32fast::hash).collect();
    catalogue
        .transaction(|transaction| {
            transaction.execute("DELETE FROM segment WHERE id = ?", [entry.id])?;
            add_segment(transaction, entry)
        })
        .unwrap();
}

fn write(
    run: RunRef<'_>,
    series: &SeriesList,
    entry: &SegmentEntry,
    about: &StoreState,
) -> Vec<u8> {
    let schema = Arc::new(schema());
    let options = IpcWriteOptions::try_new(ALIGNMENT, false, MetadataVersion::V5).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
    let names = SeriesNames::new(series);
    let mut put = |run: SortedRun| {
        writer.write(&record_batch(&run, &schema, series, &names).unwrap()).unwrap();
    };
    let mut builder = RunBuilder::default();
    let mut held = 0;
    // A batch ends with a station; then it ended with any series.
    merge(
        &[run],
        None,
        i64::MIN,
        u64::MAX,
        &mut builder,
        &mut |builder| {
            held += 1;
            if held * entry.readings / run.stations().len() as u64 >= BATCH_READINGS {
                put(std::mem::take(builder).finish());
                held = 0;
            }
            Ok(())
        },
        &mut |_, _, _| {},
    )
    .unwrap();
    if held > 0 {
        put(builder.finish());
    }
    let length = writer.get_ref().len();
    let checksums = writer.get_ref().chunks(BLOCK_BYTES).map(crc32fast::hash).collect();
    let entry = SegmentEntry { length: length as u64, checksums, ..entry.clone() };
    writer.write_metadata("mesonet.series", series_text(series).unwrap());
    for (name, text) in footer_texts(&entry, about, series).unwrap() {
        writer.write_metadata(name, text);
    }
    writer.into_inner().unwrap()
}

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
    Schema::new(fields)
}

fn item(of: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", of, false))
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
                column("presentWeather", |series| series.key.variable.name()),
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
