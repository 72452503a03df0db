//! Readers of published feeds.

pub mod metar;
