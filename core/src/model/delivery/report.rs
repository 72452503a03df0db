//! The result of a delivery.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::model::{DeliveryError, RunStamp};

/// How many refusals are kept with their text; further ones are only counted.
const MAX_REFUSALS: usize = 100;

/// The result of a delivery.
///
/// ```
/// # let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2");
/// # let folder = tempfile::tempdir()?;
/// use mesonet::model::{self, DeliveryReport, WrittenProduct, WrittenRun};
/// let (catalogue, store) = (model::Catalogue::default(), model::RunStore::new(folder.path()));
/// let source = catalogue.get("safrica").expect("it ships");
/// let mut delivery = model::Delivery::in_memory(source, &store);
/// delivery.add("safrica.grib2", &std::fs::read(sample)?);
/// let report: DeliveryReport = delivery.write(1_268_060_000_000, || ());
/// assert!(report.is_whole());
/// assert_eq!((report.fields, report.used, report.other_fields), (75, 50, 25));
/// let run: &WrittenRun = &report.runs[0];
/// assert_eq!((run.run.to_string().as_str(), run.hours.len()), ("20100308T120000Z", 25));
/// let water: &WrittenProduct = &run.products[0];
/// assert!(water.packing_error <= water.half_step);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PushedModel))]
pub struct DeliveryReport {
    /// The name of the model.
    pub model: String,
    /// The files with at least one field that became, or already was, part of a run.
    pub files: u64,
    /// The fields that were found.
    pub fields: u64,
    /// The fields that became part of a run.
    pub used: u64,
    /// The fields that belong to no product of the model.
    pub other_fields: u64,
    /// The fields that were replaced by a later field of the same product, level and time, or by a
    /// field over a shorter interval.
    pub replaced: u64,
    /// The fields of products and hours that were published before: these do not change.
    pub there_already: u64,
    /// The fields that could not be read or have no place in their run.
    pub refused: u64,
    /// The first hundred of these refusals.
    pub refusals: Vec<FieldRefusal>,
    /// The runs that were written, earliest first.
    pub runs: Vec<WrittenRun>,
    /// The runs that were removed because newer ones exist.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<String>))]
    pub removed: Vec<RunStamp>,
    /// Why the disk took no more, or the first run that someone else was writing. Fields refused
    /// for this reason may be delivered again.
    #[serde(serialize_with = "optional_text", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub failure: Option<DeliveryError>,
    /// Why surplus runs could not be removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_error: Option<String>,
    /// The files that contributed nothing to any run, and why.
    #[serde(skip)]
    pub unused_files: Vec<(String, String)>,
    /// Other files that broke off, are damaged, or have fields that could not be kept, and why. The
    /// hours of their fields are not complete until the files arrive whole.
    #[serde(skip)]
    pub broken_files: Vec<(String, String)>,
}

/// A field, or all fields of a run, that were refused.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = PushedRefusal))]
pub struct FieldRefusal {
    /// The file.
    pub file: String,
    /// The field: its number in the file, from 1, and its parameter if that can be read; or all
    /// fields of a run.
    pub field: String,
    /// The reason.
    #[serde(serialize_with = "text")]
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub error: DeliveryError,
}

/// A run that was written to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WrittenRun {
    /// The run.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub run: RunStamp,
    /// The hours that were published, or got products that they lacked.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<u32>))]
    pub hours: Vec<usize>,
    /// The number of hours that the run should have.
    #[serde(rename = "ofHours")]
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub of_hours: usize,
    /// The products that were written.
    pub products: Vec<WrittenProduct>,
}

/// A product that was written to.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WrittenProduct {
    /// Its name.
    pub name: String,
    /// The unit of its values.
    pub unit: String,
    /// The hours of the product that were written; the hours of each ensemble member count.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub hours: usize,
    /// The fields that these hours were made from.
    pub fields: u64,
    /// The levels of these hours that have not arrived yet: they have no values until then.
    pub missing_levels: u64,
    /// The most by which the packing can change a value: half a step of its integers.
    pub half_step: f64,
    /// The most by which it changed a value.
    pub packing_error: f64,
}

impl DeliveryReport {
    pub(super) fn refuse(&mut self, count: u64, refusal: FieldRefusal) {
        self.refused += count;
        if refusal.error.is_temporary() && self.failure.is_none() {
            self.failure = Some(refusal.error.clone());
        }
        if self.refusals.len() < MAX_REFUSALS {
            self.refusals.push(refusal);
        }
    }

    /// Returns whether every file was used and read to its end, and every field with a place was
    /// stored.
    pub fn is_whole(&self) -> bool {
        self.unused_files.is_empty()
            && self.broken_files.is_empty()
            && self.failure.is_none()
            && self.retention_error.is_none()
    }
}

impl fmt::Display for FieldRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.error)
    }
}

fn text<S: Serializer>(error: &DeliveryError, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(error)
}

#[allow(clippy::ref_option, reason = "the signature is serde's")]
fn optional_text<S: Serializer>(error: &Option<DeliveryError>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_some(&error.as_ref().map(ToString::to_string))
}
