//! The definition of a run: its grid, its hours and its products.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::grid;
use crate::grid::Encoding;
use crate::model::{RunStamp, RunStoreError};

/// The limits on the hours of a run, the products of a model and the levels of a product.
const MAX_HOURS: usize = 1024;
pub(crate) const MAX_PRODUCTS: usize = 1024;
const MAX_LEVELS: usize = 256;
/// The longest unit, in bytes.
const MAX_UNIT_BYTES: usize = 64;

/// The definition of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunDefinition {
    /// The name of the model: up to 64 letters, digits, `-` and `_`.
    pub model: String,
    /// The start of the run.
    pub run: RunStamp,
    /// The native grid.
    pub grid: grid::Definition,
    /// The hours of the run as valid times (milliseconds since 1970), ascending. Elsewhere, an hour
    /// is an index into them.
    pub valid_ms: Vec<i64>,
    /// The products.
    pub products: Vec<ProductDefinition>,
}

/// A field of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProductDefinition {
    /// The name, in the same form as a model's.
    pub name: String,
    /// The unit of the values.
    pub unit: String,
    /// The pressure levels; `None` for a single-level field.
    pub levels_hpa: Option<Vec<f64>>,
    /// How the packed integers represent values.
    pub encoding: Encoding,
}

/// A published hour of a run.
///
/// ```
/// # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/model_grids/store");
/// use mesonet::model::{PublishedHour, RunStore};
/// let run = RunStore::new(folder).newest_run("nam211")?;
/// let hour: &PublishedHour = &run.published()[0];
/// assert_eq!(mesonet::Iso8601(hour.published_ms).to_string(), "2018-09-17T02:00:00Z");
/// assert!(hour.is_whole(), "it has all products with all their levels");
/// # Ok::<(), mesonet::model::RunStoreError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedHour {
    /// The index into the hours of the run.
    pub hour: usize,
    /// When it was published, in milliseconds since 1970 (UTC).
    pub published_ms: i64,
    /// Products that the hour does not have, such as a field over an interval that the first hour
    /// lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    /// Those absent products that the hour had until their files were set aside as damaged: reading
    /// them is an error until they are delivered again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// Products of which some levels did not arrive yet, with the indices of these levels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub partial: BTreeMap<String, Vec<usize>>,
    /// Files with fields of the hour that broke off or are damaged: until they arrive whole, nobody
    /// knows what else the hour should have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub broken: BTreeSet<String>,
}

impl PublishedHour {
    /// Returns whether nothing is missing: it has all products of the run with all their levels,
    /// and no file of it was broken.
    pub fn is_whole(&self) -> bool {
        self.absent.is_empty() && self.partial.is_empty() && self.broken.is_empty()
    }
}

impl ProductDefinition {
    /// Returns the number of levels, 1 for a single-level field.
    pub fn levels(&self) -> usize {
        self.levels_hpa.as_ref().map_or(1, Vec::len)
    }
}

impl RunDefinition {
    pub(super) fn check(&self) -> Result<(), RunStoreError> {
        check_name("model", &self.model)?;
        let none = |cause: String| Err(RunStoreError::Definition(cause));
        let hours = self.valid_ms.len();
        if !(1..=MAX_HOURS).contains(&hours) {
            return none(format!("it has {hours} hours; allowed: 1 to {MAX_HOURS}"));
        }
        if !self.valid_ms.is_sorted_by(|one, next| one < next) {
            return none("its hours must ascend".to_owned());
        }
        let products = self.products.len();
        if !(1..=MAX_PRODUCTS).contains(&products) {
            return none(format!("it has {products} products; allowed: 1 to {MAX_PRODUCTS}"));
        }
        let mut names = BTreeSet::new();
        for product in &self.products {
            product.check()?;
            if !names.insert(&product.name) {
                return none(format!("product \"{}\" is listed twice", product.name));
            }
        }
        Ok(())
    }
}

impl ProductDefinition {
    /// Checks what must hold for every product of a run.
    pub(crate) fn check(&self) -> Result<(), RunStoreError> {
        let Self { name, unit, levels_hpa, .. } = self;
        check_name("product", name)?;
        let none = |cause: String| Err(RunStoreError::Definition(cause));
        if name == "valid_time" || name.starts_with("level_hpa") {
            return none(format!("\"{name}\" is the name of a coordinate: no product may have it"));
        }
        if unit.len() > MAX_UNIT_BYTES {
            let length = unit.len();
            return none(format!("a unit has {length} bytes; the limit is {MAX_UNIT_BYTES}"));
        }
        let Some(levels_hpa) = levels_hpa else { return Ok(()) };
        if !(1..=MAX_LEVELS).contains(&levels_hpa.len()) {
            let levels = levels_hpa.len();
            return none(format!(
                "product \"{name}\" has {levels} levels; allowed: 1 to {MAX_LEVELS}"
            ));
        }
        if !levels_hpa.iter().all(|level| level.is_finite() && *level > 0.0) {
            return none(format!("the levels of product \"{name}\" must be pressures"));
        }
        Ok(())
    }
}

/// Checks a name. Names become folders, so no name may reach a parent folder.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), RunStoreError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let first = name.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if first && name.len() <= 64 && name.bytes().all(allowed) {
        return Ok(());
    }
    Err(RunStoreError::Name { what, got: name.chars().take(80).collect() })
}
