//! Files of an archive: readings of many stations as Parquet, for engines that ask them in SQL and
//! for readers of one station that fetch only parts of a file.
//!
//! | What | Where |
//! | --- | --- |
//! | Writing a file | `write.rs` |
//! | Reading the readings of a station | `read.rs` |
//!
//! Rows are sorted by station id. The rows of a station come in parts of up to 16,384, one after the
//! other in time, each sorted by variable and series, then by time: so columns mostly repeat, and compress
//! well. Rows have the columns of the export, and those below. A row group ends after some 65,536 rows. Its readings
//! can be read once the end of the file, its *tail*, is known: for each row group, the tail has the
//! least and the greatest station and time, the position, and the CRC-32.

mod read;
mod write;

use std::fmt;
use std::ops::Range;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
pub use read::ArchiveTail;
pub use write::{ArchiveSummary, ArchiveWriter};

use super::columns;

/// Rows after which a row group ends.
const GROUP_ROWS: usize = 65_536;

/// The name under which a file lists its groups.
const GROUPS: &str = "mesonet.groups";

/// Id of the station, as the service gives it.
const STATION_ID: &str = "station_id";
const TIMESTAMP: &str = "timestamp";
const NETWORK: &str = "network";
/// Id of the station in its network.
const STATION: &str = "station";
const UNIT: &str = "unit";
const CALCULATED: &str = "calculated";
const SERIES_ID: &str = "series_id";
/// The verdict that the reading came in with.
const SOURCE_BASE: &str = "source_base";
const SOURCE_REASON: &str = "source_reason";
const REVISION: &str = "revision";

/// A file of an archive that is not as it was written, and the difference.
///
/// ```
/// use mesonet::export::archive::ArchiveTail;
/// let damage = ArchiveTail::parse(b"PAR1", 4).unwrap_err();
/// assert_eq!(damage.to_string(), "its end is cut short");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ArchiveDamage(pub(crate) String);

fn damaged(cause: impl fmt::Display) -> ArchiveDamage {
    ArchiveDamage(cause.to_string())
}

/// The position of a row group in its file, and the CRC-32 of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RowGroup {
    bytes: Range<u64>,
    crc: u32,
}

/// Texts are dictionaries here; readers that do not know this schema find plain texts.
/// An archive holds the columns of an export with qualifiers.
fn with_qualifiers() -> super::AddedColumns {
    super::AddedColumns { qualifiers: true, ..super::AddedColumns::default() }
}

fn schema() -> SchemaRef {
    let text = |key| DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8));
    let station = [STATION_ID, NETWORK, STATION].map(|name| (name, text(DataType::Int32)));
    let rest = [
        (UNIT, text(DataType::Int32)),
        (CALCULATED, DataType::Boolean),
        (SERIES_ID, DataType::Int32),
        (SOURCE_BASE, text(DataType::Int8)),
        (SOURCE_REASON, text(DataType::Int8)),
        (REVISION, DataType::UInt8),
    ];
    let field = |(name, kind): (&str, DataType)| Field::new(name, kind, false);
    let of_export = columns::schema(&with_qualifiers());
    let of_export = of_export.fields().iter().map(|field| field.as_ref().clone());
    let fields = station.into_iter().map(field).chain(of_export).chain(rest.into_iter().map(field));
    std::sync::Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
