//! Writes a file of an archive, station by station, in constant memory.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{ArrayRef, BooleanArray, Int32Array, RecordBatch, UInt8Array, UInt32Array};
use arrow_schema::ArrowError;
use arrow_select::take::take_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::super::ExportError;
use super::super::columns::{ExportColumns, Texts, dictionary, texts};
use super::super::page_rows::Visit;
use super::super::track::Track;
use super::super::writer::{BATCH_ROWS, encoding};
use super::{GROUP_ROWS, GROUPS, RowGroup, TIMESTAMP, schema, with_qualifiers};
use crate::observation::{BaseQuality, ReasonQuality, StationId};
use crate::query::rows::StationRows;
use crate::store::{Reader, StationRecord};

/// Level of zstd.
const LEVEL: i32 = 9;

/// A file of an archive that is being written: columnar, with the row groups that [`ArchiveTail`]
/// finds. The same readings make the same bytes. Memory does not grow with the file, except by some
/// 30 bytes for each row group.
///
/// [`ArchiveTail`]: super::ArchiveTail
///
/// ```
/// # use mesonet::{Intake, MemoryStore, Reader, intake::FeedFile};
/// # let csv = "raw_text,station_id,observation_time,latitude,longitude\n\
/// #     CYYZ 032000Z 24012G20KT 15SM 29/17 A2991,CYYZ,2024-08-03T20:00:00Z,43.68,-79.63\n";
/// # let store = MemoryStore::default();
/// # Intake::default().read_file(&store, csv.as_bytes(), &FeedFile::new("metars.csv", 0))?;
/// use mesonet::export::archive::ArchiveWriter;
///
/// let mut writer = ArchiveWriter::new(Vec::new())?;
/// // Milliseconds since 1970: the third of August 2024.
/// let day_ms = 1_722_643_200_000..1_722_729_600_000;
/// for record in &store.directory()?.stations {
///     writer.station(&store, record, day_ms.clone())?;
/// }
/// assert!(writer.readings() > 5);
/// let (file, summary) = writer.finish()?;
/// assert_eq!((&file[..4], summary.bytes), (&b"PAR1"[..], file.len() as u64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ArchiveWriter<W: Write + Send> {
    file: ArrowWriter<Summed<W>>,
    groups: Vec<RowGroup>,
    summary: ArchiveSummary,
    first_last: Option<(StationId, StationId)>,
}

/// A summary of a written file.
///
/// ```
/// use mesonet::export::archive::{ArchiveSummary, ArchiveWriter};
/// let (file, summary) = ArchiveWriter::new(Vec::new())?.finish()?;
/// assert_eq!((summary.readings, summary.bytes), (0, file.len() as u64));
/// // Without readings there is nothing before the tail.
/// assert_eq!(summary, ArchiveSummary { tail: summary.bytes, ..summary });
/// # Ok::<(), mesonet::export::ExportError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArchiveSummary {
    /// Number of readings.
    pub readings: u64,
    /// Length of the file in bytes.
    pub bytes: u64,
    /// Length of its tail, its last bytes, which [`ArchiveTail::parse`](super::ArchiveTail::parse) takes.
    pub tail: u64,
}

impl<W: Write + Send> ArchiveWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Its header cannot be encoded.
    pub fn new(out: W) -> Result<Self, ExportError> {
        let properties = properties().map_err(encoding)?;
        // Engines find texts instead of dictionaries: not all engines compare dictionaries with
        // texts.
        let options =
            ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
        let out = Summed { out, bytes: 0, crc: crc32fast::Hasher::new() };
        let file = ArrowWriter::try_new_with_options(out, schema(), options).map_err(encoding)?;
        let (groups, summary) = (Vec::new(), ArchiveSummary::default());
        Ok(Self { file, groups, summary, first_last: None })
    }

    /// Adds the readings of a station in a span of time (milliseconds since 1970, its end
    /// excluded), and returns their number. Stations must come in the order of their ids, each
    /// once.
    ///
    /// # Errors
    /// The store cannot be read, the file cannot be written, or the station is out of order:
    /// "station … comes after …". The file is then unusable.
    pub fn station(
        &mut self,
        store: &dyn Reader,
        record: &StationRecord,
        span_ms: Range<i64>,
    ) -> Result<u64, ExportError> {
        let id = record.station.id;
        let last_ms = span_ms.end.saturating_sub(1);
        let mut rows = StationRows::new(id, &record.series, span_ms.start, last_ms);
        let mut batches = Batches::new(record);
        let before = self.summary.readings;
        loop {
            let done = rows.walk(store, BATCH_ROWS, &mut |row| {
                batches.columns.row(&row);
                batches.series.push(row.series);
                batches.source.push(row.source.quality());
                batches.revision.push(row.revision);
            })?;
            let batch = batches.take().map_err(encoding)?;
            if batch.num_rows() > 0 {
                let first_last = self.first_last.get_or_insert((id, id));
                if self.summary.readings == before
                    && self.summary.readings > 0
                    && id <= first_last.1
                {
                    return Err(encoding(format!("station {id} comes after {}", first_last.1)));
                }
                first_last.1 = id;
                self.summary.readings += batch.num_rows() as u64;
                self.file.write(&batch).map_err(encoding)?;
                if self.file.in_progress_rows() >= GROUP_ROWS {
                    self.end_group()?;
                }
            }
            if done {
                return Ok(self.summary.readings - before);
            }
        }
    }

    /// The number of readings so far, of all stations.
    pub fn readings(&self) -> u64 {
        self.summary.readings
    }

    /// The first and the last station that had readings; `None` without readings.
    pub fn stations(&self) -> Option<(StationId, StationId)> {
        self.first_last
    }

    fn end_group(&mut self) -> Result<(), ExportError> {
        self.file.flush().map_err(encoding)?;
        self.file.sync().map_err(encoding)?;
        let start = self.groups.last().map_or(0, |group| group.bytes.end);
        let out = self.file.inner_mut();
        let crc = std::mem::take(&mut out.crc).finalize();
        self.groups.push(RowGroup { bytes: start..out.bytes, crc });
        Ok(())
    }

    /// Ends the file, and returns the output that it was written to.
    ///
    /// # Errors
    /// Its last row group or its tail cannot be written.
    pub fn finish(mut self) -> Result<(W, ArchiveSummary), ExportError> {
        if self.file.in_progress_rows() > 0 {
            self.end_group()?;
        }
        let group =
            |RowGroup { bytes, crc }: &RowGroup| format!("{}-{}:{crc:08x}", bytes.start, bytes.end);
        let groups: Vec<String> = self.groups.iter().map(group).collect();
        let groups = KeyValue::new(GROUPS.to_owned(), groups.join(" "));
        self.file.append_key_value_metadata(groups);
        let tail_from = self.groups.last().map_or(0, |group| group.bytes.end);
        let mut out = self.file.into_inner().map_err(encoding)?;
        out.flush().map_err(encoding)?;
        let (bytes, tail) = (out.bytes, out.bytes - tail_from);
        Ok((out.out, ArchiveSummary { bytes, tail, ..self.summary }))
    }
}

/// How a file is encoded; `docs/operate/archive-queries.md` has what else was measured.
fn properties() -> Result<WriterProperties, ParquetError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        // The times of one series after the other: most repeat, and compress better than their
        // numbers in a dictionary.
        .set_column_dictionary_enabled(TIMESTAMP.into(), false)
        // A column of a row group is one page, so that all of it is compressed at once.
        .set_data_page_row_count_limit(usize::MAX)
        .set_max_row_group_row_count(None)
        // Readers fetch whole row groups. An index of pages would only make the tail longer.
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        // The version is left out: the same readings must make the same file.
        .set_created_by("mesonet".to_owned());
    Ok(properties.build())
}

/// The rows of a station since the last batch.
struct Batches {
    columns: ExportColumns,
    /// Its ids and its network.
    about: [ArrayRef; 3],
    units: Texts,
    calculated: Vec<bool>,
    ids: Vec<i32>,
    /// The places of the series, by name and id.
    ranks: Vec<usize>,
    bases: ArrayRef,
    reasons: ArrayRef,
    series: Vec<usize>,
    source: Vec<crate::observation::Quality>,
    revision: Vec<u8>,
}

impl Batches {
    fn new(record: &StationRecord) -> Self {
        let station = &record.station;
        let series = record.series.iter().map(|known| &*known.series);
        let id = station.id.to_string();
        // The series of a station are sorted by id, and the sort is stable.
        let names: Vec<&str> = series.clone().map(|series| series.key.variable.name()).collect();
        let mut by_name: Vec<usize> = (0..names.len()).collect();
        by_name.sort_by_key(|&at| names[at]);
        let mut ranks = vec![0; names.len()];
        for (rank, at) in by_name.into_iter().enumerate() {
            ranks[at] = rank;
        }
        Self {
            ranks,
            about: [&*id, &station.network, &station.native_id].map(|text| texts([text])),
            units: Texts::new(series.clone().map(|series| &*series.key.reported_unit)),
            calculated: series.clone().map(|series| series.key.calculated).collect(),
            ids: series.clone().map(|series| series.id.0).collect(),
            columns: {
                let mut columns = ExportColumns::new(series, with_qualifiers());
                columns.station(station.id, &Track::of(station));
                columns
            },
            bases: texts(BaseQuality::ALL.map(BaseQuality::name)),
            reasons: texts(ReasonQuality::ALL.map(ReasonQuality::name)),
            series: Vec::new(),
            source: Vec::new(),
            revision: Vec::new(),
        }
    }

    /// The rows since the last batch, one series after the other.
    fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let (series, source) = (std::mem::take(&mut self.series), std::mem::take(&mut self.source));
        // A stable sort: the rows of each series stay in the order of their times.
        let mut order: Vec<u32> = (0..series.len() as u32).collect();
        order.sort_by_key(|&row| self.ranks[series[row as usize]]);
        let of_export = self.columns.take()?;
        let mut columns: Vec<ArrayRef> = Vec::new();
        for about in &self.about {
            columns.push(dictionary::<Int32Type>(series.iter().map(|_| 0), about)?);
        }
        columns.extend(of_export.columns().iter().cloned());
        let calculated: Vec<bool> = series.iter().map(|&at| self.calculated[at]).collect();
        let ids = Int32Array::from_iter_values(series.iter().map(|&at| self.ids[at]));
        let (bases, reasons) = (&self.bases, &self.reasons);
        columns.extend([
            self.units.column(&series)?,
            Arc::new(BooleanArray::from(calculated)),
            Arc::new(ids),
            dictionary::<Int8Type>(source.iter().map(|verdict| verdict.base as i8), bases)?,
            dictionary::<Int8Type>(source.iter().map(|verdict| verdict.reason as i8), reasons)?,
            Arc::new(UInt8Array::from(std::mem::take(&mut self.revision))),
        ]);
        let by_time = RecordBatch::try_new(schema(), columns)?;
        take_record_batch(&by_time, &UInt32Array::from(order))
    }
}

/// Counts the written bytes and computes their checksum.
struct Summed<W> {
    out: W,
    bytes: u64,
    /// The CRC-32 of what was written since the last row group ended.
    crc: crc32fast::Hasher,
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.out.write(buffer)?;
        self.crc.update(&buffer[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
