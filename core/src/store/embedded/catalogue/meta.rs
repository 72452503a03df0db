//! Small named texts: numbers of the store itself, and texts that callers keep.

use rusqlite::{OptionalExtension, Row, Transaction, params};

use super::super::codec::Wrong;
use super::super::fault::{Fault, damaged_catalogue};
use super::super::names::DATABASE;
use super::RecordCatalogue;
use crate::store::StoreError;

/// Names of the store's own texts.
pub(in super::super) const GENERATION: &str = "store.generation";
pub(in super::super) const PLACES_GENERATION: &str = "store.places_generation";
pub(in super::super) const RETAIN_FROM: &str = "store.retain_from_ms";
/// The segments and, negated, the batches whose loss the operator has accepted, divided by commas.
pub(in super::super) const GIVEN_UP: &str = "store.given_up";
/// The instant before which retention has deleted segments.
pub(in super::super) const DROPPED_TO: &str = "store.dropped_to_ms";

impl RecordCatalogue {
    /// Returns the text with a name.
    ///
    /// # Errors
    /// The text is corrupt, or the database cannot be read.
    pub(crate) fn meta(&self, name: &str) -> Result<Option<String>, StoreError> {
        let sql = format!("{} WHERE name = ?", self.select_meta());
        let text = self.connection.query_row(&sql, [name], text).optional();
        let text = text.map_err(|error| self.failed(&error))?;
        text.transpose().map_err(|cause| self.wrong(&cause))
    }

    /// Returns one of the store's own numbers.
    ///
    /// # Errors
    /// The same as for [`meta`](Self::meta).
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let Some(text) = self.meta(name)? else { return Ok(None) };
        let number = text.parse();
        Ok(Some(
            number.map_err(|_| self.wrong(&format!("{name} must be a number; got \"{text}\"")))?,
        ))
    }

    /// Returns the texts that callers keep, with their names, except damaged ones.
    pub(crate) fn user_texts(&self) -> Result<Vec<(String, String)>, StoreError> {
        let sql = format!("{} WHERE name LIKE 'user.%'", self.select_meta());
        let texts = self.rows(&sql, |row| Ok((row.get(0)?, text(row)?)))?;
        Ok(texts.into_iter().filter_map(|(name, text)| Some((name, text.ok()?))).collect())
    }

    /// Returns the corrupt texts.
    pub(crate) fn damaged_texts(&self) -> Result<Vec<Fault>, StoreError> {
        let texts = self.rows(&self.select_meta(), text)?;
        let damaged = texts.into_iter().filter_map(Result::err);
        Ok(damaged.map(|cause| Fault::new(DATABASE, cause)).collect())
    }

    fn select_meta(&self) -> String {
        // Before version 3 there were no checksums.
        let checksum = if self.version < 3 { "NULL" } else { "checksum" };
        format!("SELECT name, text, {checksum} FROM meta")
    }

    fn wrong(&self, cause: &str) -> StoreError {
        damaged_catalogue(&self.path, cause)
    }
}

/// Returns the text of a row, if it is intact.
fn text(row: &Row<'_>) -> rusqlite::Result<Result<String, Wrong>> {
    let (name, text): (String, String) = (row.get(0)?, row.get(1)?);
    let checksum: Option<u32> = row.get(2)?;
    if checksum.is_some_and(|checksum| checksum != checksum_of(&name, &text)) {
        return Ok(Err(format!("{name} is \"{text}\", which does not match its checksum")));
    }
    Ok(Ok(text))
}

fn checksum_of(name: &str, text: &str) -> u32 {
    // No name holds a zero byte.
    crc32fast::hash(format!("{name}\0{text}").as_bytes())
}

pub(in super::super) fn set_meta(
    transaction: &Transaction<'_>,
    name: &str,
    text: &str,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO meta (name, text, checksum) VALUES (?, ?, ?)";
    let row = params![name, text, checksum_of(name, text)];
    transaction.prepare_cached(sql)?.execute(row).map(|_| ())
}

/// Adds a checksum to every text of a database that had none.
pub(super) fn seal_all(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare("SELECT name, text FROM meta")?;
    let texts = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (name, text) in texts.collect::<rusqlite::Result<Vec<(String, String)>>>()? {
        set_meta(transaction, &name, &text)?;
    }
    Ok(())
}
