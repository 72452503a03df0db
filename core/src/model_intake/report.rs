//! What became of a delivery.

use std::fmt;

use serde::{Serialize, Serializer};

use super::ModelIntakeError;
use crate::run_stamp::RunStamp;

/// Refusals that are kept with their text; further ones are counted.
const MAX_REFUSALS: usize = 100;

/// What became of a delivery.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelReport {
    /// Name of the model.
    pub model: String,
    /// Files of which at least one field became part of a run, or was one already.
    pub files: u64,
    /// Fields that were found.
    pub fields: u64,
    /// Fields that became part of a run.
    pub used: u64,
    /// Fields that are of no product of the model.
    pub other_fields: u64,
    /// Fields after which another of the same product, level and time came, which is the one that
    /// counts.
    pub replaced: u64,
    /// Fields of products and hours that were published before: these do not change.
    pub there_already: u64,
    /// Fields that could not be read or have no place in their run.
    pub refused: u64,
    /// The first hundred of them.
    pub refusals: Vec<ModelRefusal>,
    /// The runs that were written, the earliest first.
    pub runs: Vec<WrittenRun>,
    /// Runs that were removed, as there are newer ones.
    pub removed: Vec<RunStamp>,
    /// Why the disk took no more, or the first run that someone else was writing: what was refused
    /// for that may be delivered again.
    #[serde(serialize_with = "optional_text", skip_serializing_if = "Option::is_none")]
    pub failure: Option<ModelIntakeError>,
    /// Why runs that are too many could not be removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_error: Option<String>,
    /// Files of which nothing became part of a run, and why.
    #[serde(skip)]
    pub unused_files: Vec<(String, String)>,
}

/// A field, or all of a run, that did not become part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModelRefusal {
    /// The file.
    pub file: String,
    /// The field: its number in the file, from 1, and its parameter where that can be read; or all
    /// of a run.
    pub field: String,
    /// What is wrong with it.
    #[serde(serialize_with = "text")]
    pub error: ModelIntakeError,
}

/// A run of which something was written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrittenRun {
    /// The run.
    pub run: RunStamp,
    /// Its hours that were published, or got products that they lacked.
    pub hours: Vec<usize>,
    /// How many hours the run is to have.
    #[serde(rename = "ofHours")]
    pub of_hours: usize,
    /// The products that were written.
    pub products: Vec<WrittenModelProduct>,
}

/// A product of which something was written.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WrittenModelProduct {
    /// Its name.
    pub name: String,
    /// The unit of its values.
    pub unit: String,
    /// Hours of it that were written.
    pub hours: usize,
    /// Fields that these are made of.
    pub fields: u64,
    /// Levels of these hours that did not come: they have no values, and will not get any.
    pub missing_levels: u64,
    /// The most that the packing may move a value by: half a step of its integers.
    pub half_step: f64,
    /// The most that it moved one by.
    pub packing_error: f64,
    /// Values beyond the integers, which were moved to their end.
    pub clamped: usize,
}

impl ModelReport {
    pub(super) fn refuse(&mut self, count: u64, refusal: ModelRefusal) {
        self.refused += count;
        if refusal.error.is_temporary() && self.failure.is_none() {
            self.failure = Some(refusal.error.clone());
        }
        if self.refusals.len() < MAX_REFUSALS {
            self.refusals.push(refusal);
        }
    }

    /// Whether every file was used and the disk took all that had a place.
    pub fn is_whole(&self) -> bool {
        self.unused_files.is_empty() && self.failure.is_none() && self.retention_error.is_none()
    }
}

impl fmt::Display for ModelRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.error)
    }
}

fn text<S: Serializer>(error: &ModelIntakeError, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(error)
}

#[allow(clippy::ref_option, reason = "the signature is serde's")]
fn optional_text<S: Serializer>(
    error: &Option<ModelIntakeError>,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.serialize_some(&error.as_ref().map(ToString::to_string))
}
