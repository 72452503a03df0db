//! What a run is of: its grid, its hours and its products.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::GridStoreError;
use crate::projection::GridDefinition;
use crate::run_stamp::RunStamp;
use crate::tile::Encoding;

/// Most hours of a run, products of a model and levels of a product.
const MAX_HOURS: usize = 1024;
pub(crate) const MAX_PRODUCTS: usize = 1024;
const MAX_LEVELS: usize = 256;
/// Longest text of a unit in bytes.
const MAX_UNIT_BYTES: usize = 64;

/// What a run is of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunDefinition {
    /// Name of the model: up to 64 letters, digits, `-` and `_`.
    pub model: String,
    /// Its start.
    pub run: RunStamp,
    /// The native grid.
    pub grid: GridDefinition,
    /// The hours of the run, each by the time that it is valid at (milliseconds since 1970),
    /// ascending. What is called an hour elsewhere is an index into them.
    pub valid_ms: Vec<i64>,
    /// The fields.
    pub products: Vec<ProductDefinition>,
}

/// A field of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProductDefinition {
    /// Name, of the same form as a model's.
    pub name: String,
    /// Unit of its values.
    pub unit: String,
    /// Its pressure levels; `None` for a field of a single level.
    pub levels_hpa: Option<Vec<f64>>,
    /// How its integers stand for values.
    pub encoding: Encoding,
}

/// An hour of a run that is published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedHour {
    /// Index into the hours of the run.
    pub hour: usize,
    /// When it was published, milliseconds since 1970 (UTC).
    pub published_ms: i64,
    /// Products that it does not have, as a field over an interval that the first hour lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    /// Those of the absent products that it had until their files were set aside as damaged: reading
    /// them is an error, until they are delivered again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
}

impl ProductDefinition {
    /// Number of levels, 1 for a field of a single level.
    pub fn levels(&self) -> usize {
        self.levels_hpa.as_ref().map_or(1, Vec::len)
    }
}

impl RunDefinition {
    pub(super) fn check(&self) -> Result<(), GridStoreError> {
        check_name("model", &self.model)?;
        let none = |cause: String| Err(GridStoreError::Definition(cause));
        let hours = self.valid_ms.len();
        if !(1..=MAX_HOURS).contains(&hours) {
            return none(format!("it has {hours} hours; allowed are 1 to {MAX_HOURS}"));
        }
        if !self.valid_ms.is_sorted_by(|one, next| one < next) {
            return none("its hours do not ascend".to_owned());
        }
        let products = self.products.len();
        if !(1..=MAX_PRODUCTS).contains(&products) {
            return none(format!("it has {products} products; allowed are 1 to {MAX_PRODUCTS}"));
        }
        let mut names = BTreeSet::new();
        for product in &self.products {
            product.check()?;
            if !names.insert(&product.name) {
                return none(format!("product \"{}\" is there twice", product.name));
            }
        }
        Ok(())
    }
}

impl ProductDefinition {
    /// What every product of a run must be.
    pub(crate) fn check(&self) -> Result<(), GridStoreError> {
        let Self { name, unit, levels_hpa, .. } = self;
        check_name("product", name)?;
        let none = |cause: String| Err(GridStoreError::Definition(cause));
        if name == "valid_time" || name.starts_with("level_hpa") {
            return none(format!("\"{name}\" is the name of a coordinate and of no product"));
        }
        if unit.len() > MAX_UNIT_BYTES {
            let length = unit.len();
            return none(format!("a unit of {length} bytes; allowed are {MAX_UNIT_BYTES}"));
        }
        let Some(levels_hpa) = levels_hpa else { return Ok(()) };
        if !(1..=MAX_LEVELS).contains(&levels_hpa.len()) {
            let levels = levels_hpa.len();
            return none(format!(
                "product \"{name}\" has {levels} levels; allowed are 1 to {MAX_LEVELS}"
            ));
        }
        if !levels_hpa.iter().all(|level| level.is_finite() && *level > 0.0) {
            return none(format!("a level of product \"{name}\" is no pressure"));
        }
        Ok(())
    }
}

/// Names become folders, so they are of a form that no folder above can be reached with.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), GridStoreError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if first && name.len() <= 64 && name.bytes().all(allowed) {
        return Ok(());
    }
    Err(GridStoreError::Name { what, got: name.chars().take(80).collect() })
}
