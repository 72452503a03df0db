//! The byte encoding used in the database: little-endian numbers and texts, followed by a checksum.

use super::report_texts::TextColumn;
use super::run::{NONE, RunColumns, RunRow, SortedRun};
use super::series_table::SeriesList;
use crate::observation::{SeriesId, StationId};

/// The fault in bytes that were read.
pub(super) type Wrong = String;

/// Encodes values into bytes.
#[derive(Debug, Default)]
pub(super) struct ByteWriter(pub Vec<u8>);

impl ByteWriter {
    pub(super) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn i64(&mut self, value: i64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn f64(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub(super) fn id(&mut self, id: StationId) {
        self.0.extend_from_slice(id.as_bytes());
    }

    pub(super) fn text(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Returns the bytes written, with their CRC-32 at the end.
    pub(super) fn close(mut self) -> Vec<u8> {
        let checksum = crc32fast::hash(&self.0);
        self.u32(checksum);
        self.0
    }
}

/// Decodes bytes. Any input yields a value or an error.
#[derive(Debug)]
pub(super) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// Checks the checksum and returns the bytes before it.
    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Wrong> {
        let Some((content, checksum)) = bytes.split_last_chunk() else {
            return Err(format!("{} bytes long; it must be at least 4", bytes.len()));
        };
        if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
            return Err("the checksum does not match".to_owned());
        }
        Ok(Self(content))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the remaining bytes.
    pub(super) fn rest(self) -> &'a [u8] {
        self.0
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Wrong> {
        let (head, rest) = self
            .0
            .split_at_checked(count)
            .ok_or_else(|| format!("{count} bytes are needed, but {} are left", self.0.len()))?;
        self.0 = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Wrong> {
        let (head, rest) = self
            .0
            .split_first_chunk()
            .ok_or_else(|| format!("{N} bytes are needed, but {} are left", self.0.len()))?;
        self.0 = rest;
        Ok(*head)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Wrong> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, Wrong> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn i64(&mut self) -> Result<i64, Wrong> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    pub(super) fn f64(&mut self) -> Result<f64, Wrong> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    pub(super) fn id(&mut self) -> Result<StationId, Wrong> {
        Ok(StationId::from_bytes(self.array()?))
    }

    pub(super) fn text(&mut self) -> Result<String, Wrong> {
        let length = self.u32()? as usize;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| error.to_string())
    }

    /// Reads a count of items that take at least `bytes_each` bytes each, so that the caller never
    /// reserves more memory than the bytes can fill.
    pub(super) fn count(&mut self, bytes_each: usize) -> Result<usize, Wrong> {
        let count = self.u32()? as usize;
        if count.saturating_mul(bytes_each) > self.0.len() {
            let left = self.0.len();
            return Err(format!("invalid count {count}: {left} bytes are left"));
        }
        Ok(count)
    }
}

/// Flags for the optional columns that a row has.
const OWN_SOURCE: u8 = 1;
const OWN_REVISION: u8 = 2;
/// Before version 5 there were no qualifiers.
const OWN_QUALIFIER: u8 = 4;
/// Before version 8 there were no texts.
const OWN_TEXT: u8 = 8;

/// Writes a run that lies in one set of columns, like the runs of the journal.
pub(super) fn put_run(run: &SortedRun, out: &mut ByteWriter) {
    let Some(columns) = run.columns.first().filter(|_| !run.is_empty()) else {
        out.u32(0);
        return;
    };
    out.0.reserve(64 + run.stations.len() * 20 + run.rows.len() * 9 + columns.ts_ms.len() * 19);
    out.u32(run.stations.len() as u32);
    for &(id, first_row) in &run.stations {
        out.id(id);
        out.u32(first_row);
    }
    out.u32(run.rows.len() as u32);
    for row in &run.rows {
        out.u32(row.series.0 as u32);
        out.u32(row.len);
        let source = if row.source == NONE { 0 } else { OWN_SOURCE };
        let revision = if row.revision == NONE { 0 } else { OWN_REVISION };
        let qualifier = if row.qualifier == NONE { 0 } else { OWN_QUALIFIER };
        let text = if row.text == NONE { 0 } else { OWN_TEXT };
        out.u8(source | revision | qualifier | text);
    }
    out.0.extend(columns.ts_ms.iter().flat_map(|ts_ms| ts_ms.to_le_bytes()));
    out.0.extend(columns.value.iter().flat_map(|value| value.to_le_bytes()));
    out.0.extend_from_slice(&columns.quality);
    out.0.extend_from_slice(&columns.source);
    out.0.extend_from_slice(&columns.revision);
    out.0.extend_from_slice(&columns.qualifier);
    for text in columns.text.part(0..columns.text.len()).iter() {
        out.text(text);
    }
}

/// Reads a run and checks that it is valid: in order, with known series.
pub(super) fn take_run(bytes: &mut Bytes<'_>, series: &SeriesList) -> Result<SortedRun, Wrong> {
    let count = bytes.count(20)?;
    if count == 0 {
        return Ok(SortedRun::empty());
    }
    let mut stations: Vec<(StationId, u32)> = Vec::with_capacity(count);
    for _ in 0..count {
        stations.push((bytes.id()?, bytes.u32()?));
    }
    let count = bytes.count(9)?;
    let mut rows = Vec::with_capacity(count);
    let (mut readings, mut sources, mut revisions, mut qualifiers) = (0_u32, 0_u32, 0_u32, 0_u32);
    let mut texts = 0_u32;
    let advance = |total: &mut u32, len: u32| {
        let start = *total;
        *total = total.checked_add(len).ok_or("rows with more than 4 billion readings")?;
        Ok::<u32, Wrong>(start)
    };
    for _ in 0..count {
        let (id, len, own) = (SeriesId(bytes.u32()? as i32), bytes.u32()?, bytes.u8()?);
        let slot = series.slot(id).ok_or_else(|| format!("unknown series {id}"))?;
        let start = advance(&mut readings, len)?;
        let own_start = |flag: u8, total: &mut u32| {
            if own & flag == 0 { Ok(NONE) } else { advance(total, len) }
        };
        let source = own_start(OWN_SOURCE, &mut sources)?;
        let revision = own_start(OWN_REVISION, &mut revisions)?;
        let qualifier = own_start(OWN_QUALIFIER, &mut qualifiers)?;
        let text = own_start(OWN_TEXT, &mut texts)?;
        rows.push(RunRow {
            series: id,
            slot,
            columns: 0,
            start,
            len,
            source,
            revision,
            qualifier,
            text,
        });
    }
    let eights = readings as usize * 8;
    let ts_ms: Vec<i64> = le_eights(bytes.take(eights)?, i64::from_le_bytes);
    let value: Vec<f64> = le_eights(bytes.take(eights)?, f64::from_le_bytes);
    let columns = RunColumns {
        ts_ms: ts_ms.into(),
        value: value.into(),
        quality: bytes.take(readings as usize)?.to_vec().into(),
        source: bytes.take(sources as usize)?.to_vec().into(),
        revision: bytes.take(revisions as usize)?.to_vec().into(),
        qualifier: bytes.take(qualifiers as usize)?.to_vec().into(),
        text: take_texts(bytes, texts)?.into(),
    };
    let span = (
        columns.ts_ms.iter().copied().min().unwrap_or(i64::MAX),
        columns.ts_ms.iter().copied().max().unwrap_or(i64::MIN),
    );
    let run = SortedRun::new(stations, rows, vec![columns], span, None);
    run.check_order()?;
    Ok(run)
}

fn take_texts(bytes: &mut Bytes<'_>, count: u32) -> Result<TextColumn, Wrong> {
    let mut texts = TextColumn::default();
    for _ in 0..count {
        texts.push(&bytes.text()?);
    }
    Ok(texts)
}

fn le_eights<T>(bytes: &[u8], from: fn([u8; 8]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|&eight| from(eight)).collect()
}
