//! Reads the readings of a station from a file of an archive, one row group at a time.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int8Type, Int32Type, TimestampMillisecondType, UInt8Type};
use arrow_array::{Array, RecordBatch};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{FooterTail, ParquetMetaDataReader, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::statistics::Statistics;

use super::{
    ArchiveDamage, GROUPS, REVISION, RowGroup, SERIES_ID, SOURCE_BASE, SOURCE_REASON, STATION_ID,
    TIMESTAMP, damaged, schema,
};
use crate::export::csv::QUALIFIER;
use crate::observation::{
    BaseQuality, Qualifier, Quality, QualityCode, ReasonQuality, Series, SeriesId, StationId,
};
use crate::store::{StationReadings, StationRecord};

const VALUE: &str = "value";
const BASE: &str = "quality_base";
const REASON: &str = "quality_reason";

/// The columns that a store has.
const COLUMNS: [&str; 10] = [
    STATION_ID,
    SERIES_ID,
    TIMESTAMP,
    VALUE,
    BASE,
    REASON,
    QUALIFIER,
    SOURCE_BASE,
    SOURCE_REASON,
    REVISION,
];

/// Length of the footer's own end: its length and the magic number.
const FOOTER_END: usize = 8;

/// The end of a file of an archive, which says where everything else is. So a reader of one station
/// fetches only the tail and the row groups that may have the station, not the whole file.
///
/// ```
/// # use mesonet::{Intake, MemoryStore, Reader, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// # let mut writer = mesonet::export::archive::ArchiveWriter::new(Vec::new())?;
/// # for record in &store.directory()?.stations {
/// #     writer.station(&store, record, 0..i64::MAX)?;
/// # }
/// # let (file, summary) = writer.finish()?;
/// use mesonet::StationId;
/// use mesonet::export::archive::ArchiveTail;
///
/// let from = (summary.bytes - summary.tail) as usize;
/// let tail = ArchiveTail::parse(&file[from..], summary.bytes)?;
/// let directory = store.directory()?;
/// let toronto = directory.get(StationId::new("METAR", "CYYZ")).expect("it has reported");
/// // Milliseconds since 1970: the third of August 2024.
/// let day_ms = 1_722_643_200_000..1_722_729_600_000;
/// for group in tail.groups_of(toronto.station.id, &day_ms) {
///     let bytes = tail.bytes_of(group);
///     let bytes = file[bytes.start as usize..bytes.end as usize].to_vec();
///     let readings = tail.read(group, bytes, toronto)?;
///     assert!(readings.slices(&day_ms).any(|slice| slice.value == [29.0]));
/// }
/// // A byte that is not as it was written is found.
/// let mut bytes = file[..tail.bytes_of(0).end as usize].to_vec();
/// bytes[20] ^= 1;
/// let damage = tail.read(0, bytes, toronto).unwrap_err();
/// assert_eq!(damage.to_string(), "row group 0 does not match its checksum");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ArchiveTail {
    about: ArrowReaderMetadata,
    pub(super) groups: Vec<RowGroup>,
    bytes: u64,
}

impl ArchiveTail {
    /// Reads the tail of a file of `file_bytes` bytes, which [`ArchiveSummary::tail`] told when the
    /// file was written. The caller must make sure that it is the same tail, by a checksum of it.
    ///
    /// [`ArchiveSummary::tail`]: super::ArchiveSummary::tail
    ///
    /// # Errors
    /// The bytes are not the tail of an archive file of that length: the tail is cut short, comes
    /// from another program, or has row groups where the file has none.
    pub fn parse(tail: &[u8], file_bytes: u64) -> Result<Self, ArchiveDamage> {
        let cut = || damaged("its end is cut short");
        let end = tail.len().checked_sub(FOOTER_END).ok_or_else(cut)?;
        let footer = FooterTail::try_from(&tail[end..]).map_err(damaged)?;
        let start = end.checked_sub(footer.metadata_length()).ok_or_else(cut)?;
        let metadata =
            ParquetMetaDataReader::decode_metadata(&tail[start..end]).map_err(damaged)?;
        let noted = metadata.file_metadata().key_value_metadata();
        let noted = noted.and_then(|noted| noted.iter().find(|noted| noted.key == GROUPS));
        let groups = noted.and_then(|noted| groups(noted.value.as_deref()?));
        let groups = groups.ok_or_else(|| damaged("it does not say where its row groups are"))?;
        let tail_from = file_bytes.checked_sub(tail.len() as u64).ok_or_else(cut)?;
        let is_inside = groups.iter().all(|group| group.bytes.end <= tail_from);
        if groups.len() != metadata.num_row_groups() || !is_inside {
            return Err(damaged("its row groups are not where it says"));
        }
        let options = ArrowReaderOptions::new().with_schema(schema());
        let about = ArrowReaderMetadata::try_new(Arc::new(metadata), options).map_err(damaged)?;
        Ok(Self { about, groups, bytes: file_bytes })
    }

    /// Returns the numbers of the row groups that may have readings of a station in a span of time
    /// (milliseconds since 1970, its end excluded), ascending. These groups may also have none; no
    /// other group has any.
    pub fn groups_of(&self, station: StationId, span_ms: &Range<i64>) -> Vec<usize> {
        let station = station.to_string();
        let may_have = |at: &usize| {
            let group = self.about.metadata().row_group(*at);
            let of_station = match statistics(group, STATION_ID) {
                Some(Statistics::ByteArray(of)) => {
                    let is_before = |least: &[u8]| least <= station.as_bytes();
                    let is_after = |greatest: &[u8]| greatest >= station.as_bytes();
                    of.min_bytes_opt().is_none_or(is_before)
                        && of.max_bytes_opt().is_none_or(is_after)
                }
                _ => true,
            };
            let of_span = match statistics(group, TIMESTAMP) {
                Some(Statistics::Int64(of)) => {
                    of.min_opt().is_none_or(|&least_ms| least_ms < span_ms.end)
                        && of.max_opt().is_none_or(|&greatest_ms| greatest_ms >= span_ms.start)
                }
                _ => true,
            };
            of_station && of_span
        };
        (0..self.groups.len()).filter(may_have).collect()
    }

    /// The position of a row group in the file, in bytes from its start.
    ///
    /// # Panics
    /// If there is no such group; [`groups_of`](Self::groups_of) returns existing groups.
    pub fn bytes_of(&self, group: usize) -> Range<u64> {
        self.groups[group].bytes.clone()
    }

    /// Reads the readings of a station from the bytes of a row group. The record of the station
    /// describes its series; a file has only their numbers.
    ///
    /// # Errors
    /// The bytes are not those of the row group, the station lacks one of the series in them, a
    /// quality or qualifier is unknown, or rows are out of order.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn read(
        &self,
        group: usize,
        bytes: Vec<u8>,
        station: &StationRecord,
    ) -> Result<StationReadings, ArchiveDamage> {
        let RowGroup { bytes: at, crc } = &self.groups[group];
        if crc32fast::hash(&bytes) != *crc || bytes.len() as u64 != at.end - at.start {
            return Err(damaged(format!("row group {group} does not match its checksum")));
        }
        let part = RowGroupBytes { start: at.start, bytes: bytes.into(), file_bytes: self.bytes };
        let parquet_schema = self.about.metadata().file_metadata().schema_descr();
        let wanted = ProjectionMask::columns(parquet_schema, COLUMNS);
        let rows = ParquetRecordBatchReaderBuilder::new_with_metadata(part, self.about.clone())
            .with_row_groups(vec![group])
            .with_projection(wanted)
            .build()
            .map_err(damaged)?;
        let mut past = StationReadings::default();
        for batch in rows {
            take(&mut past, &batch.map_err(damaged)?, station)?;
        }
        Ok(past)
    }
}

/// The positions of row groups, as a file lists them.
fn groups(text: &str) -> Option<Vec<RowGroup>> {
    let group = |text: &str| {
        let (bytes, crc) = text.split_once(':')?;
        let (start, end) = bytes.split_once('-')?;
        let bytes = start.parse().ok()?..end.parse().ok()?;
        let crc = u32::from_str_radix(crc, 16).ok()?;
        (bytes.start <= bytes.end).then_some(RowGroup { bytes, crc })
    };
    text.split_whitespace().map(group).collect()
}

fn statistics<'a>(group: &'a RowGroupMetaData, column: &str) -> Option<&'a Statistics> {
    let of = group.columns().iter().find(|of| of.column_path().string() == column)?;
    of.statistics()
}

/// A row group at its position in a file; nothing else of the file is there.
struct RowGroupBytes {
    start: u64,
    bytes: Bytes,
    file_bytes: u64,
}

impl Length for RowGroupBytes {
    fn len(&self) -> u64 {
        self.file_bytes
    }
}

impl ChunkReader for RowGroupBytes {
    type T = bytes::buf::Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        let length = (self.start + self.bytes.len() as u64).saturating_sub(start);
        Ok(bytes::Buf::reader(self.get_bytes(start, length as usize)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let from = start.checked_sub(self.start).map(|from| from as usize);
        let range = from.and_then(|from| Some(from..from.checked_add(length)?));
        let range = range.filter(|range| range.end <= self.bytes.len());
        let outside = || ParquetError::EOF(format!("{length} bytes at {start} are elsewhere"));
        Ok(self.bytes.slice(range.ok_or_else(outside)?))
    }
}

/// Adds the readings of a station in a batch of rows.
fn take(
    past: &mut StationReadings,
    batch: &RecordBatch,
    station: &StationRecord,
) -> Result<(), ArchiveDamage> {
    let column = |name: &str| {
        batch.column_by_name(name).ok_or_else(|| damaged(format!("it has no column {name}")))
    };
    let ids = column(STATION_ID)?.as_dictionary::<Int32Type>();
    let name = station.station.id.to_string();
    let known = ids.values().as_string::<i32>();
    let keys: Vec<i32> =
        (0..known.len()).filter(|&at| known.value(at) == name).map(|at| at as i32).collect();
    let series = column(SERIES_ID)?.as_primitive::<Int32Type>().values();
    let ts_ms = column(TIMESTAMP)?.as_primitive::<TimestampMillisecondType>().values();
    let value = column(VALUE)?.as_primitive::<Float64Type>().values();
    let quality = verdicts(column(BASE)?, column(REASON)?)?;
    let source = verdicts(column(SOURCE_BASE)?, column(SOURCE_REASON)?)?;
    let qualifier = column(QUALIFIER)?;
    let qualifier = words(qualifier, |word| {
        let of = Qualifier::ALL.into_iter().find(|of| of.name() == word);
        of.map(|of| Qualifier::code(Some(of)))
    })?;
    let revision = column(REVISION)?.as_primitive::<UInt8Type>().values();
    for at in 0..batch.num_rows() {
        if !keys.contains(&ids.keys().value(at)) {
            continue;
        }
        let id = SeriesId(series[at]);
        let of = past.of(id, || series_of(station, id).cloned())?;
        if of.ts_ms.last().is_some_and(|&last_ms| last_ms >= ts_ms[at]) {
            return Err(damaged("its rows are out of order"));
        }
        of.ts_ms.push(ts_ms[at]);
        of.value.push(value[at]);
        of.quality.push(quality(at));
        of.source.push(source(at));
        of.revision.push(revision[at]);
        of.qualifier.push(qualifier(at).unwrap_or(0));
    }
    Ok(())
}

/// A series of a station.
fn series_of(station: &StationRecord, id: SeriesId) -> Result<&Arc<Series>, ArchiveDamage> {
    let known = station.series.binary_search_by_key(&id, |known| known.series.id);
    let unknown = |_| {
        let station = station.station.id;
        damaged(format!("the record does not know series {id} of station {station}"))
    };
    Ok(&station.series[known.map_err(unknown)?].series)
}

/// The verdict of each row.
fn verdicts(
    bases: &dyn Array,
    reasons: &dyn Array,
) -> Result<impl Fn(usize) -> QualityCode, ArchiveDamage> {
    let base = words(bases, |word| BaseQuality::ALL.into_iter().find(|base| base.name() == word))?;
    let reason =
        words(reasons, |word| ReasonQuality::ALL.into_iter().find(|reason| reason.name() == word))?;
    Ok(move |at| {
        let base = base(at).unwrap_or(BaseQuality::Unknown);
        let reason = reason(at).unwrap_or(ReasonQuality::Unknown);
        QualityCode::from(Quality { base, reason })
    })
}

/// The meaning of the word in each row; `None` where there is no word.
fn words<T: Copy>(
    column: &dyn Array,
    meaning: impl Fn(&str) -> Option<T>,
) -> Result<impl Fn(usize) -> Option<T>, ArchiveDamage> {
    let column = column.as_dictionary::<Int8Type>();
    let known = column.values().as_string::<i32>();
    let meanings = (0..known.len()).map(|at| {
        let word = known.value(at);
        meaning(word).ok_or_else(|| damaged(format!("unknown quality or qualifier \"{word}\"")))
    });
    let meanings: Vec<T> = meanings.collect::<Result<_, _>>()?;
    let keys = column.keys().clone();
    Ok(move |at: usize| keys.is_valid(at).then(|| meanings[keys.value(at) as usize]))
}
