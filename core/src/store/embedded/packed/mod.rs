//! The form of sealed readings since version 7: one row for each station and up to
//! [`MOST_TIMES`] of its times.
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
//! | `series` | the series of the row, ascending by id: `number` is the place in the list `mesonet.series` of the schema's metadata (65535 is present weather), `form` says which times and values it has, `scale` what its whole numbers mean |
//! | `present` | one bit for each time, the lowest first, for series of the form [`Presence::Bits`] |
//! | `base`, `byte`, `short`, `int`, `double` | the values, each series after the one before |
//! | `verdict` | how often which code comes: first the verdicts of all readings, series by series, then the verdicts of the sources, the revisions and the qualifiers |
//!
//! The upper four bits of `form` are the [`Presence`], the lower four the [`Width`].

mod batch;
mod columns;
mod decode;
mod run;
mod scale;

pub(super) use self::batch::{is_packed, packed_batch, packed_schema};
pub(super) use self::columns::PackedColumns;
pub(super) use self::decode::Decoder;
pub(super) use self::run::{PackedRow, PackedRun, read_packed};

/// The most times of a row. Damage costs the series of a row whose bytes it hits.
const MOST_TIMES: usize = 4096;

/// The fewest values that may share a table.
const FEWEST_TABLE: usize = 4;

/// The number of present weather among the series of a file.
pub(super) const WEATHER_NUMBER: u16 = u16::MAX;

/// Which times of its row a series has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    All,
    /// One bit for each time in `present`.
    Bits,
    /// Their number in `base`, their places in `short`.
    Places,
}

/// How the values of a series are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// One whole number in `base`.
    Same,
    /// The smallest whole number in `base`, and what is above it in `byte`.
    Byte,
    /// Whole numbers in `short`.
    Short,
    /// Whole numbers in `int`.
    Int,
    /// The values in `double`.
    Double,
    /// The number of distinct values in `base`, these in `double`, and the place of each value
    /// among them in `byte`.
    Table,
}

const PRESENCES: [Presence; 3] = [Presence::All, Presence::Bits, Presence::Places];
const WIDTHS: [Width; 6] =
    [Width::Same, Width::Byte, Width::Short, Width::Int, Width::Double, Width::Table];

/// Returns the byte of a form.
const fn form(presence: Presence, width: Width) -> u8 {
    (presence as u8) << 4 | width as u8
}

/// Reads the byte of a form.
fn read_form(form: u8) -> Option<(Presence, Width)> {
    let presence = *PRESENCES.get(usize::from(form >> 4))?;
    Some((presence, *WIDTHS.get(usize::from(form & 15))?))
}

#[cfg(test)]
mod packed_tests;
