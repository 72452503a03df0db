//! The form of sealed readings since version 7: one row for each station and up to
//! 4096 of its times.
//!
//! The series of a station mostly have the same times, so a row has one list of times; most values
//! are short decimals, so they are whole numbers; and verdicts mostly repeat. The columns are
//! ordinary lists of Arrow, and nothing is compressed, so a reading is found in mapped bytes without
//! reading the others.
//!
//! | Column | Content |
//! | --- | --- |
//! | `station` | the 16 bytes of the id |
//! | `first`, `last` | the times of the first and last reading |
//! | `step_ms`, `time` | the times: `first + step_ms · time` |
//! | `readings` | how many readings the row has |
//! | `series` | the series of the row, ascending by id: `number` is the place in the list `mesonet.series` of the schema's metadata (65535 is present weather, 65534 are texts of reports), `form` says which times and values it has, `scale` what its whole numbers mean |
//! | `present` | one bit for each time, the lowest first, for series of the form `Presence::Bits` |
//! | `base`, `byte`, `short`, `int`, `double` | the values, each series after the one before |
//! | `verdict` | how often which code comes: first the verdicts of all readings, series by series, then the verdicts of the sources, the revisions and the qualifiers |
//!
//! Since version 8 texts of reports are in files of their own. They have one more column, `text`: the
//! texts of the row, divided by newlines, compressed with zstd and a dictionary.
//!
//! The upper four bits of `form` are the `Presence`, the lower four the `Width`.

mod batch;
mod bits;
mod columns;
mod decode;
mod form;
mod row;
mod run;
mod scale;

pub(super) use self::batch::{is_packed, packed_batch, packed_schema};
pub(super) use self::columns::PackedColumns;
pub(super) use self::decode::Decoder;
pub(super) use self::form::{TEXTS_NUMBER, WEATHER_NUMBER};
pub(super) use self::row::PackedRow;
pub(super) use self::run::{PackedRun, read_packed};

#[cfg(test)]
mod packed_tests;
