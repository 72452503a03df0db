//! Answers as JSON, written piece by piece without building a tree.
//!
//! The bytes equal those of `serde_json::to_vec` on the same answer, in a fifth of the time: text
//! that is the same in every reading of a series, and in every verdict, is formatted once. The
//! caller decides the length of a piece, so a long answer takes little memory.

mod features;
mod readings;
mod readings_form;
mod series;
mod verdict;

pub use self::features::FeaturesWriter;
pub use self::readings::ReadingsWriter;
pub use self::series::SeriesWriter;
