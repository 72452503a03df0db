//! A row of a packed file, and a series in it.

use super::form::{Presence, Width};
use crate::observation::SeriesId;

/// A row of the file: the readings of a station at some of its times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub batch: u32,
    pub row: u32,
    pub readings: u32,
    pub first_ms: i64,
    pub last_ms: i64,
}

/// The readings of a series in a row of the file.
#[derive(Clone, Copy, Debug)]
pub(in crate::store::embedded) struct PackedRow {
    pub series: SeriesId,
    /// Index of the series in the store's table.
    pub slot: u32,
    pub(super) chunk: u32,
    pub(super) presence: Presence,
    pub(super) width: Width,
    pub(super) scale: u8,
    pub(super) len: u32,
    /// Where its presence is, in `present` or `short`.
    pub(super) present_at: u32,
    /// The number in `base`.
    pub(super) base: i16,
    /// Where its values are, in the list of its width.
    pub(super) value_at: u32,
    /// Where its table is, in `double`.
    pub(super) table_at: u32,
    /// The readings of the row of the file before those of this series.
    pub(super) before: u32,
}
