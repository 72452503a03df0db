//! The journal of fresh batches, and the acknowledged batches that are missing.

use std::collections::BTreeMap;
use std::ops::Range;

use rusqlite::{Row, Transaction, params};

use super::super::codec::{ByteWriter, Bytes, Wrong};
use super::super::count::{Count, JOURNAL_COUNT, read_count};
use super::super::fault::Fault;
use super::super::names::DATABASE;
use super::super::run::SortedRun;
use super::{Lost, RecordCatalogue, add_lost, set_meta};
use crate::observation::StationId;
use crate::store::StoreError;

/// Spans of missing acknowledged batches, one per line; kept until the operator accepts the loss.
const MISSING: &str = "store.missing_batches";
/// Whether a file beside the database counts the acknowledged batches.
const COUNTED: &str = "store.counted";

/// One batch of the journal.
#[derive(Debug)]
pub(in super::super) struct JournalEntry {
    pub id: i64,
    pub generation: u64,
    pub places_generation: u64,
    pub batch: Vec<u8>,
    /// The content of its note, if the note is intact.
    pub note: Option<BatchNote>,
    /// What is wrong with the note.
    pub fault: Option<Fault>,
    /// Positions among the readings of the batch, as its note says: readings that were on record
    /// before it and came with a new verdict only.
    pub revised: Vec<Range<u32>>,
}

/// What is known about a batch even if it is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct BatchNote {
    pub generation: u64,
    pub places_generation: u64,
    /// The times and stations of the readings, all ends included; if there are no readings, the
    /// first is after the last.
    first_ms: i64,
    last_ms: i64,
    first: StationId,
    last: StationId,
}

impl BatchNote {
    pub(crate) fn of(generation: u64, places_generation: u64, run: &SortedRun) -> Self {
        let of_station = |end: Option<&(StationId, u32)>| {
            end.map_or(StationId::from_bytes([0; 16]), |&(station, _)| station)
        };
        let (first, last) = (of_station(run.stations.first()), of_station(run.stations.last()));
        let (first_ms, last_ms) = (run.first_ms, run.last_ms);
        Self { generation, places_generation, first_ms, last_ms, first, last }
    }

    /// The note, with the positions of readings that came with a new verdict only. Earlier versions
    /// write none, and read over them.
    fn encode(&self, revised: &[Range<u32>]) -> Vec<u8> {
        let mut out = ByteWriter::default();
        let generations = [self.generation as i64, self.places_generation as i64];
        for number in generations.into_iter().chain([self.first_ms, self.last_ms]) {
            out.i64(number);
        }
        out.id(self.first);
        out.id(self.last);
        for range in revised {
            out.u32(range.start);
            out.u32(range.end);
        }
        out.close()
    }

    fn decode(bytes: &[u8]) -> Result<(Self, Vec<Range<u32>>), Wrong> {
        let mut bytes = Bytes::open(bytes)?;
        let note = Self {
            generation: bytes.i64()? as u64,
            places_generation: bytes.i64()? as u64,
            first_ms: bytes.i64()?,
            last_ms: bytes.i64()?,
            first: bytes.id()?,
            last: bytes.id()?,
        };
        let mut revised = Vec::new();
        while !bytes.is_empty() {
            revised.push(bytes.u32()?..bytes.u32()?);
        }
        Ok((note, revised))
    }
}

impl JournalEntry {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let (id, bytes): (_, Option<Vec<u8>>) = (row.get(0)?, row.get(4)?);
        let columns = (row.get(1)?, row.get(2)?);
        let decoded = bytes.as_deref().and_then(|bytes| BatchNote::decode(bytes).ok());
        let (note, revised) = decoded.unzip();
        let noted = note.map(|note| (note.generation, note.places_generation));
        // There was no note before version 3.
        let is_wrong = bytes.is_some() && noted != Some(columns);
        let fault = || Fault::new(journal_batch(id), "its note is corrupt");
        let (generation, places_generation) = noted.unwrap_or(columns);
        let (batch, fault) = (row.get(3)?, is_wrong.then(fault));
        let revised = revised.unwrap_or_default();
        Ok(Self { id, generation, places_generation, batch, note, fault, revised })
    }

    /// Returns the readings that are lost with the batch.
    pub(crate) fn lost(&self) -> Option<Lost> {
        let any =
            (i64::MIN, i64::MAX, StationId::from_bytes([0; 16]), StationId::from_bytes([0xff; 16]));
        let of_note = |note: BatchNote| (note.first_ms, note.last_ms, note.first, note.last);
        let (first_ms, last_ms, first, last) = self.note.map_or(any, of_note);
        let (segment, blocks, content) = (-self.id, 0..1, None);
        let lost = Lost { segment, blocks, first_ms, last_ms, first, last, content };
        (first_ms <= last_ms).then_some(lost)
    }
}

impl RecordCatalogue {
    /// Returns the batches that are not known to be damaged.
    pub(crate) fn journal(&self) -> Result<Vec<JournalEntry>, StoreError> {
        self.journal_after(0)
    }

    /// Returns the batches after a given one that are not known to be damaged.
    pub(crate) fn journal_after(&self, after: i64) -> Result<Vec<JournalEntry>, StoreError> {
        self.rows(&self.select_journal(after, "ASC"), JournalEntry::read)
    }

    /// Returns the first batches after one and up to another that are not known to be damaged: at
    /// least one if there is any, and no more once they have so many bytes.
    pub(crate) fn journal_between(
        &self,
        after: i64,
        up_to: i64,
        most_bytes: usize,
    ) -> Result<Vec<JournalEntry>, StoreError> {
        let read = || {
            let mut statement = self.connection.prepare(&self.select_journal(after, "ASC"))?;
            let (mut rows, mut entries, mut bytes) = (statement.query([])?, Vec::new(), 0);
            while bytes < most_bytes
                && let Some(row) = rows.next()?
            {
                let entry = JournalEntry::read(row)?;
                if entry.id > up_to {
                    break;
                }
                bytes += entry.batch.len();
                entries.push(entry);
            }
            rusqlite::Result::Ok(entries)
        };
        read().map_err(|error| self.failed(&error))
    }

    fn select_journal(&self, after: i64, order: &str) -> String {
        let note = if self.version < 3 { "NULL" } else { "note" };
        format!(
            "SELECT id, generation, places_generation, batch, {note} FROM journal \
             WHERE damaged IS NULL AND id > {after} ORDER BY id {order}"
        )
    }

    /// Returns the id of the last batch that the journal ever had.
    pub(crate) fn last_batch(&self) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce(max(seq), 0) FROM \
                   (SELECT seq FROM sqlite_sequence WHERE name = 'journal' \
                    UNION ALL SELECT max(id) FROM journal)";
        let last = self.connection.query_row(sql, [], |row| row.get(0));
        last.map_err(|error| self.failed(&error))
    }

    /// Returns the last batch before the first unsealed one.
    pub(crate) fn sealed_to(&self) -> Result<i64, StoreError> {
        let sql = "SELECT min(id) - 1 FROM journal WHERE damaged IS NULL";
        let before = self.connection.query_row(sql, [], |row| row.get(0));
        match before.map_err(|error| self.failed(&error))? {
            Some(before) => Ok(before),
            None => Ok(self.last_batch()? as i64),
        }
    }

    /// Returns the readable batches of a damaged database: those before the damage and those after
    /// it.
    pub(crate) fn readable_journal(&self) -> Vec<JournalEntry> {
        let mut found = BTreeMap::new();
        for order in ["ASC", "DESC"] {
            let mut read = || {
                let mut statement = self.connection.prepare(&self.select_journal(0, order))?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    let entry = JournalEntry::read(row)?;
                    found.insert(entry.id, entry);
                }
                rusqlite::Result::Ok(())
            };
            // Reading ends where the damage begins.
            let _: rusqlite::Result<()> = read();
        }
        found.into_values().collect()
    }

    /// Returns the missing acknowledged batches: the ones recorded earlier, and the ones that the
    /// count beside the database reveals. Nothing is written.
    pub(crate) fn missing_batches(&self) -> Result<Vec<Fault>, StoreError> {
        let mut faults: Vec<Fault> = self
            .meta(MISSING)?
            .iter()
            .flat_map(|text| text.lines())
            .map(|line| Fault::new(JOURNAL, line))
            .collect();
        match self.counted() {
            Ok(Some(count)) => faults.extend(missing(self.last_batch()?, count)),
            Ok(None) if self.meta(COUNTED)?.is_some() => {
                let cause = "it is missing, so it is unknown whether acknowledged batches are \
                             missing";
                faults.push(Fault::new(JOURNAL_COUNT, cause));
            }
            Ok(None) => {}
            Err(cause) => faults.push(Fault::new(JOURNAL_COUNT, cause)),
        }
        Ok(faults)
    }

    fn counted(&self) -> Result<Option<u64>, Wrong> {
        read_count(&self.path.with_file_name(JOURNAL_COUNT))
    }

    /// Records which acknowledged batches are missing, continues the ids after them, and starts
    /// counting.
    pub(crate) fn count_batches(&mut self) -> Result<(), StoreError> {
        let last = self.last_batch()?;
        let count = self.counted().ok().flatten().unwrap_or(0);
        let noted = self.meta(MISSING)?;
        if let Some(fault) = missing(last, count) {
            let text = noted.map_or_else(String::new, |noted| noted + "\n") + &fault.cause;
            self.transaction(|transaction| {
                set_meta(transaction, MISSING, &text)?;
                end_journal(transaction, count as i64)
            })?;
        }
        // The file comes first: recording it before it exists would be a fault.
        let path = self.path.with_file_name(JOURNAL_COUNT);
        self.count = Some(Count::open(&path, last.max(count))?);
        if self.meta(COUNTED)?.is_none() {
            self.transaction(|transaction| set_meta(transaction, COUNTED, "yes"))?;
        }
        Ok(())
    }

    /// Accepts that acknowledged batches are missing, so that they are no longer a fault.
    pub(crate) fn forget_missing_batches(&mut self) -> Result<(), StoreError> {
        self.count_batches()?;
        self.transaction(|transaction| {
            transaction.execute("DELETE FROM meta WHERE name = ?", [MISSING])
        })?;
        Ok(())
    }

    /// Records that a batch is on disk.
    pub(crate) fn acknowledge(&mut self, batch: i64) {
        if let Some(count) = &mut self.count {
            count.note(batch as u64);
        }
    }
}

/// The name of the journal in a fault.
const JOURNAL: &str = "mesonet.sqlite, journal";

/// The fault for batches that were acknowledged after the last one present.
fn missing(last: u64, count: u64) -> Option<Fault> {
    let cause = |count: u64| {
        format!(
            "{} acknowledged batches, {} to {count}, are missing: its write-ahead log was lost or \
             truncated, or the file was replaced by an older one",
            count - last,
            last + 1
        )
    };
    (count > last).then(|| Fault::new(JOURNAL, cause(count)))
}

/// The name of a journal batch in a fault.
pub(in super::super) fn journal_batch(id: i64) -> String {
    format!("{DATABASE}, batch {id} of the journal")
}

/// Adds a batch to the journal and returns its id: the next id, or the id that the batch had.
/// `revised` are the positions of readings that come with a new verdict only.
pub(in super::super) fn add_batch(
    transaction: &Transaction<'_>,
    id: Option<i64>,
    note: &BatchNote,
    revised: &[Range<u32>],
    batch: &[u8],
) -> rusqlite::Result<i64> {
    let sql = "INSERT INTO journal (id, generation, places_generation, batch, note) \
               VALUES (?, ?, ?, ?, ?)";
    let row = params![id, note.generation, note.places_generation, batch, note.encode(revised)];
    transaction.prepare_cached(sql)?.insert(row)
}

/// Replaces the note of a batch.
pub(in super::super) fn set_note(
    transaction: &Transaction<'_>,
    id: i64,
    note: &BatchNote,
) -> rusqlite::Result<()> {
    let sql = "UPDATE journal SET generation = ?, places_generation = ?, note = ? WHERE id = ?";
    let row = params![note.generation, note.places_generation, note.encode(&[]), id];
    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
}

/// Makes the journal continue after a batch id.
pub(in super::super) fn end_journal(
    transaction: &Transaction<'_>,
    last: i64,
) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM sqlite_sequence WHERE name = 'journal'", [])?;
    let sql = "INSERT INTO sqlite_sequence (name, seq) VALUES ('journal', ?)";
    transaction.execute(sql, [last]).map(|_| ())
}

/// Takes a damaged batch out of service; it stays where it is.
pub(in super::super) fn mark_batch(
    transaction: &Transaction<'_>,
    entry: &JournalEntry,
    cause: &str,
) -> rusqlite::Result<()> {
    let sql = "UPDATE journal SET damaged = ? WHERE id = ?";
    transaction.prepare_cached(sql)?.execute(params![cause, entry.id])?;
    entry.lost().map_or(Ok(()), |lost| add_lost(transaction, &lost, cause))
}
