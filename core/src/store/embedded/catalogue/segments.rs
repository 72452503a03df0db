//! The catalogue's records of sealed segments: segments in service, being written and retired, and
//! lost parts of segments.

use std::collections::BTreeSet;
use std::ops::Range;

use rusqlite::{Transaction, params};

use super::super::codec::{ByteWriter, Bytes, Wrong};
use super::super::fault::{Fault, RETENTION};
use super::super::folder::Folder;
use super::super::names::{DAMAGED, DATABASE};
use super::super::report_texts::Content;
use super::super::series_table::SeriesList;
use super::super::store_state::StoreState;
use super::journal::journal_batch;
use super::{GENERATION, GIVEN_UP, PLACES_GENERATION, RETAIN_FROM, set_meta};
use super::{Read, RecordCatalogue};
use crate::observation::StationId;
use crate::store::StoreError;

/// The catalogue entry of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct SegmentEntry {
    /// Texts count as readings of it.
    pub content: Content,
    pub id: i64,
    /// Order of the segments: later segments hold newer ingests.
    pub sequence: i64,
    pub readings: u64,
    pub first_ms: i64,
    pub last_ms: i64,
    pub length: u64,
    /// CRC-32 of each block of the file.
    pub checksums: Vec<u32>,
}

impl SegmentEntry {
    /// Name of the file, relative to the store's folder.
    pub(crate) fn file(&self) -> String {
        segment_file(self.id)
    }

    /// The number of blocks in the file.
    pub(crate) fn blocks(&self) -> u32 {
        self.checksums.len() as u32
    }

    /// What the checksums are kept with.
    fn numbers(&self) -> impl Iterator<Item = i64> + use<> {
        let numbers = [self.sequence, self.readings as i64, self.first_ms, self.last_ms];
        // Segments of readings are noted as before there were others.
        let content = (self.content == Content::Texts).then_some(1);
        numbers.into_iter().chain(content)
    }

    fn encode_checksums(&self) -> Vec<u8> {
        let mut out = ByteWriter::default();
        self.numbers().for_each(|number| out.i64(number));
        self.checksums.iter().for_each(|&checksum| out.u32(checksum));
        out.close()
    }

    /// Decodes the checksums of the blocks and checks the rest of the entry.
    fn decode_checksums(&mut self, bytes: &[u8]) -> Result<(), Wrong> {
        let mut bytes = Bytes::open(bytes)?;
        for number in self.numbers() {
            if bytes.i64()? != number {
                return Err("its entry is corrupt".to_owned());
            }
        }
        while !bytes.is_empty() {
            self.checksums.push(bytes.u32()?);
        }
        Ok(())
    }
}

/// Name of the file of a segment, relative to the store's folder.
pub(in super::super) fn segment_file(id: i64) -> String {
    format!("segments/{id:08}.arrow")
}

impl RecordCatalogue {
    /// Returns the segments in order, and the segments whose entries are damaged.
    pub(crate) fn segments(&self) -> Read<Vec<SegmentEntry>, (i64, Fault)> {
        let texts = self.is_of_texts("id");
        let sql = format!(
            "SELECT id, sequence, readings, first_ms, last_ms, length, checksums, {texts} \
             FROM segment WHERE damaged IS NULL ORDER BY sequence"
        );
        let rows = self.rows(&sql, |row| {
            let entry = SegmentEntry {
                content: content(row.get(7)?),
                id: row.get(0)?,
                sequence: row.get(1)?,
                readings: row.get(2)?,
                first_ms: row.get(3)?,
                last_ms: row.get(4)?,
                length: row.get(5)?,
                checksums: Vec::new(),
            };
            Ok((entry, row.get::<_, Vec<u8>>(6)?))
        })?;
        let (mut entries, mut faults) = (Vec::new(), Vec::new());
        for (mut entry, checksums) in rows {
            match entry.decode_checksums(&checksums) {
                Ok(()) => entries.push(entry),
                Err(cause) => {
                    let file = format!("{DATABASE}, entry of {}", entry.file());
                    faults.push((entry.id, Fault::new(file, cause)));
                }
            }
        }
        Ok((entries, faults))
    }

    /// The expression that says whether a segment holds texts.
    fn is_of_texts(&self, column: &str) -> String {
        // Before version 8 none did.
        match self.version {
            ..8 => "0".to_owned(),
            _ => format!("{column} IN (SELECT segment FROM of_texts)"),
        }
    }

    /// Returns an id that no segment of the catalogue has ever had.
    pub(crate) fn next_segment(&self) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(id), 0) + 1 FROM \
                   (SELECT max(id) AS id FROM segment \
                    UNION ALL SELECT max(id) FROM pending UNION ALL SELECT max(id) FROM retired \
                    UNION ALL SELECT seq FROM sqlite_sequence WHERE name = 'segment')";
        let next = self.connection.query_row(sql, [], |row| row.get(0));
        next.map_err(|error| self.failed(&error))
    }

    /// Describes a store that no process has open, for a segment about to be written.
    pub(crate) fn about(
        &self,
        made_from: Vec<i64>,
        series: &SeriesList,
    ) -> Result<StoreState, StoreError> {
        Ok(StoreState {
            made_from,
            sealed_to: self.sealed_to()?,
            generation: self.number(GENERATION)?.unwrap_or(0),
            places_generation: self.number(PLACES_GENERATION)?.unwrap_or(0),
            retain_from_ms: self.number(RETAIN_FROM)?.unwrap_or(i64::MIN),
            stations: self.stations(series)?.0,
        })
    }

    /// Returns the parts that were set aside before.
    pub(crate) fn set_aside(&self) -> Result<Vec<Fault>, StoreError> {
        Ok(self.lost_parts()?.into_iter().map(|(_, fault)| fault).collect())
    }

    /// Returns the parts that were set aside before and not given up, each with its segment or,
    /// negated, its batch.
    pub(crate) fn lost_unasked(&self) -> Result<Vec<(i64, Fault)>, StoreError> {
        let given_up = self.given_up();
        let mut parts = self.lost_parts()?;
        parts.retain(|(part, _)| !given_up.contains(part));
        Ok(parts)
    }

    /// The segments and, negated, the batches whose loss was accepted.
    pub(crate) fn given_up(&self) -> BTreeSet<i64> {
        // A damaged text is a fault of its own; then all parts are named, because none is known to
        // be given up.
        let text = self.meta(GIVEN_UP).ok().flatten().unwrap_or_default();
        text.split(',').filter_map(|part| part.parse().ok()).collect()
    }

    /// Accepts the loss of segments and, negated, of batches.
    pub(crate) fn give_up(
        &mut self,
        parts: impl IntoIterator<Item = i64>,
    ) -> Result<(), StoreError> {
        let mut given_up = self.given_up();
        given_up.extend(parts);
        let parts: Vec<String> = given_up.iter().map(i64::to_string).collect();
        self.transaction(|transaction| set_meta(transaction, GIVEN_UP, &parts.join(",")))
    }

    /// No longer accepts the loss of a part.
    pub(crate) fn take_up(&mut self, part: i64) -> Result<(), StoreError> {
        let mut given_up = self.given_up();
        if given_up.remove(&part) {
            let parts: Vec<String> = given_up.iter().map(i64::to_string).collect();
            self.transaction(|transaction| set_meta(transaction, GIVEN_UP, &parts.join(",")))?;
        }
        Ok(())
    }

    /// The retention cutoff. A damaged catalogue cannot be opened; its cutoff hides nothing.
    fn retain_from_ms(&self) -> i64 {
        self.number(RETAIN_FROM).ok().flatten().unwrap_or(i64::MIN)
    }

    /// Returns the parts that were set aside before, each with its segment or, negated, its batch.
    fn lost_parts(&self) -> Result<Vec<(i64, Fault)>, StoreError> {
        if self.version < 2 {
            return Ok(Vec::new());
        }
        let retain_from_ms = self.retain_from_ms();
        let sql = format!(
            "SELECT DISTINCT segment, cause FROM lost WHERE segment >= 0 \
             AND last_ms >= {retain_from_ms} ORDER BY segment, first_block"
        );
        let mut faults = self.rows(&sql, |row| {
            let segment = row.get(0)?;
            let file = match segment {
                DROPPED => RETENTION.to_owned(),
                segment => segment_file(segment),
            };
            Ok((segment, Fault { file, cause: row.get(1)? }))
        })?;
        faults.extend(self.rows(
            "SELECT id, damaged FROM journal WHERE damaged IS NOT NULL ORDER BY id",
            |row| {
                let batch: i64 = row.get(0)?;
                Ok((-batch, Fault { file: journal_batch(batch), cause: row.get(1)? }))
            },
        )?);
        Ok(faults)
    }

    /// Returns the segments whose files were being written, each with the segments it was merged
    /// from.
    pub(crate) fn pending(&self) -> Result<Vec<(i64, Vec<i64>)>, StoreError> {
        self.rows("SELECT id, made_from FROM pending", |row| {
            let made_from: String = row.get(1)?;
            Ok((row.get(0)?, made_from.split(',').filter_map(|id| id.parse().ok()).collect()))
        })
    }

    /// Returns the segments that were retired.
    pub(crate) fn retired(&self) -> Result<Vec<Retired>, StoreError> {
        self.rows("SELECT id, replaced_by, damaged FROM retired", |row| {
            Ok(Retired { id: row.get(0)?, replaced_by: row.get(1)?, damaged: row.get(2)? })
        })
    }

    /// Returns the sealed readings that are lost, except those from before the retention cutoff.
    pub(crate) fn lost(&self) -> Result<Vec<Lost>, StoreError> {
        let retain_from_ms = self.retain_from_ms();
        let texts = self.is_of_texts("segment");
        let sql = format!(
            "SELECT segment, first_block, end_block, first_ms, last_ms, first_station, \
             last_station, {texts} FROM lost WHERE last_ms >= {retain_from_ms}"
        );
        self.rows(&sql, |row| {
            let segment = row.get(0)?;
            let is_segment = segment > DROPPED;
            Ok(Lost {
                segment,
                blocks: row.get(1)?..row.get(2)?,
                first_ms: row.get(3)?,
                last_ms: row.get(4)?,
                first: StationId::from_bytes(row.get(5)?),
                last: StationId::from_bytes(row.get(6)?),
                content: is_segment.then_some(content(row.get(7)?)),
            })
        })
    }

    /// Moves the file of an unreadable segment out of the way and marks its entry, if there is one.
    pub(in super::super) fn set_segment_aside(
        &mut self,
        folder: &Folder,
        id: i64,
        entry: Option<&SegmentEntry>,
        fault: &Fault,
    ) -> Result<(), StoreError> {
        folder.move_to(DAMAGED, &folder.path.join(segment_file(id)))?;
        self.transaction(|transaction| mark_segment(transaction, id, entry, &fault.cause))
    }

    /// Forgets segments whose files are gone.
    pub(crate) fn forget_swept(&mut self) -> Result<(), StoreError> {
        self.transaction(|transaction| {
            transaction.execute_batch("DELETE FROM pending; DELETE FROM retired")
        })
    }
}

/// Stands for the segments that retention has deleted. No segment has this number.
pub(in super::super) const DROPPED: i64 = 0;

/// Readings that are lost: damaged blocks of a segment, or a damaged batch of the journal.
#[derive(Clone, Debug)]
pub(in super::super) struct Lost {
    /// The segment, the negated id of a batch, or [`DROPPED`].
    pub segment: i64,
    pub blocks: Range<u32>,
    /// The times and stations of the readings, all ends included.
    pub first_ms: i64,
    pub last_ms: i64,
    pub first: StationId,
    pub last: StationId,
    /// What is lost, which the catalogue knows of each segment: `None` for both.
    pub content: Option<Content>,
}

/// What a segment holds, as its row says.
fn content(texts: bool) -> Content {
    if texts { Content::Texts } else { Content::Readings }
}

impl Lost {
    /// A whole segment; only its number is known.
    pub(crate) fn of_segment(segment: i64) -> Self {
        let (first, last) = (StationId::from_bytes([0; 16]), StationId::from_bytes([0xff; 16]));
        let (first_ms, last_ms) = (i64::MIN, i64::MAX);
        Self { segment, blocks: 0..1, first_ms, last_ms, first, last, content: None }
    }
}

/// A retired segment.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Retired {
    pub id: i64,
    /// The segment that now holds its readings; `None` if they were dropped as too old.
    pub replaced_by: Option<i64>,
    /// Whether parts of it could not be read, in which case its file is kept.
    pub damaged: bool,
}

pub(in super::super) fn add_segment(
    transaction: &Transaction<'_>,
    entry: &SegmentEntry,
) -> rusqlite::Result<()> {
    if entry.content == Content::Texts {
        let sql = "INSERT OR IGNORE INTO of_texts (segment) VALUES (?)";
        transaction.prepare_cached(sql)?.execute([entry.id])?;
    }
    let sql = "INSERT INTO segment (id, sequence, readings, first_ms, last_ms, length, checksums) \
               VALUES (?, ?, ?, ?, ?, ?, ?)";
    let row = params![
        entry.id,
        entry.sequence,
        entry.readings,
        entry.first_ms,
        entry.last_ms,
        entry.length,
        entry.encode_checksums(),
    ];
    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
}

/// Records that the file of a segment is about to be written.
pub(in super::super) fn begin_segment(
    transaction: &Transaction<'_>,
    id: i64,
    made_from: &[i64],
) -> rusqlite::Result<()> {
    let made_from: Vec<String> = made_from.iter().map(i64::to_string).collect();
    let sql = "INSERT OR REPLACE INTO pending (id, made_from) VALUES (?, ?)";
    transaction.prepare_cached(sql)?.execute(params![id, made_from.join(",")]).map(|_| ())
}

/// Records that the file of a segment is in the catalogue, or was abandoned.
pub(in super::super) fn end_segment(
    transaction: &Transaction<'_>,
    id: i64,
) -> rusqlite::Result<()> {
    transaction.prepare_cached("DELETE FROM pending WHERE id = ?")?.execute([id]).map(|_| ())
}

/// Retires a segment.
pub(in super::super) fn retire_segment(
    transaction: &Transaction<'_>,
    retired: Retired,
) -> rusqlite::Result<()> {
    let Retired { id, replaced_by, damaged } = retired;
    transaction.prepare_cached("DELETE FROM segment WHERE id = ?")?.execute([id])?;
    let sql = "INSERT OR REPLACE INTO retired (id, replaced_by, damaged) VALUES (?, ?, ?)";
    transaction.prepare_cached(sql)?.execute(params![id, replaced_by, damaged]).map(|_| ())
}

/// Retires a segment that is entirely unreadable.
fn mark_segment(
    transaction: &Transaction<'_>,
    id: i64,
    entry: Option<&SegmentEntry>,
    cause: &str,
) -> rusqlite::Result<()> {
    let sql = "UPDATE segment SET damaged = ? WHERE id = ?";
    transaction.prepare_cached(sql)?.execute(params![cause, id])?;
    // If the entry cannot be trusted, the readings may be of any time.
    let lost = Lost {
        segment: id,
        blocks: 0..entry.map_or(1, SegmentEntry::blocks),
        first_ms: entry.map_or(i64::MIN, |entry| entry.first_ms),
        last_ms: entry.map_or(i64::MAX, |entry| entry.last_ms),
        first: StationId::from_bytes([0; 16]),
        last: StationId::from_bytes([0xff; 16]),
        content: entry.map(|entry| entry.content),
    };
    add_lost(transaction, &lost, cause)
}

pub(in super::super) fn add_lost(
    transaction: &Transaction<'_>,
    lost: &Lost,
    cause: &str,
) -> rusqlite::Result<()> {
    let row = params![
        lost.segment,
        lost.blocks.start,
        lost.blocks.end,
        lost.first_ms,
        lost.last_ms,
        lost.first.as_bytes(),
        lost.last.as_bytes(),
        cause,
    ];
    let sql = "INSERT INTO lost VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
}
