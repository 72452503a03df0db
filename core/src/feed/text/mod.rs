//! The formats that feeds are written in: lines, CSV, XML and GeoJSON, read piece by piece.

pub(super) mod csv_row;
mod decoding;
pub(super) mod encoding;
pub(super) mod features;
pub(super) mod lines;
pub(super) mod xml;
