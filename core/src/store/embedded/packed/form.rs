//! The forms in which a row keeps the times and values of a series.

/// The most times of a row. Damage costs the series of a row whose bytes it hits.
pub(super) const MOST_TIMES: usize = 4096;

/// The fewest values that may share a table.
pub(super) const FEWEST_TABLE: usize = 4;

/// The number of present weather among the series of a file.
pub(in crate::store::embedded) const WEATHER_NUMBER: u16 = u16::MAX;

/// The number of the texts of reports.
pub(in crate::store::embedded) const TEXTS_NUMBER: u16 = u16::MAX - 1;

/// Which times of its row a series has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    All,
    /// One bit for each time in `present`.
    Bits,
    /// Their number in `base`, their places in `short`.
    Places,
}

/// How the values of a series are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
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
pub(super) const fn form(presence: Presence, width: Width) -> u8 {
    (presence as u8) << 4 | width as u8
}

/// Reads the byte of a form.
pub(super) fn read_form(form: u8) -> Option<(Presence, Width)> {
    let presence = *PRESENCES.get(usize::from(form >> 4))?;
    Some((presence, *WIDTHS.get(usize::from(form & 15))?))
}
