//! The definition of a run: its grid, its hours and its products.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::grid;
use crate::grid::Encoding;
use crate::model::{RunStamp, RunStoreError};
use crate::time::HOUR_MS;

/// The limits on the hours of a run, on its products (each ensemble member counts separately), and
/// on the levels of a product.
const MAX_HOURS: usize = 1024;
const MAX_WITH_MEMBERS: usize = 16_384;
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
    /// The name, in the same form as the name of a model; for an ensemble member, `name/member`.
    pub name: String,
    /// The unit of the values.
    pub unit: String,
    /// The pressure levels; `None` for a single-level field.
    pub levels_hpa: Option<Vec<f64>>,
    /// The ensemble member, if the product is one. The members of an ensemble have the same unit,
    /// packing and levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<EnsembleMember>,
    /// The CF attributes of its array in the Zarr store, such as `standard_name` and
    /// `cell_methods`. Nothing here depends on them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// How the packed integers represent values.
    pub encoding: Encoding,
}

/// A member of an ensemble. Each member is a product of its own in a run; together they are one
/// array in the Zarr store.
///
/// ```
/// use mesonet::model::EnsembleMember;
/// let third = EnsembleMember { product: "temperature".to_owned(), number: 3 };
/// assert_eq!(third.name(), "temperature/3");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnsembleMember {
    /// The name of the product that all members share.
    pub product: String,
    /// The number of the member; 0 is the control.
    pub number: u8,
}

impl EnsembleMember {
    /// Returns the name of the member's own product.
    pub fn name(&self) -> String {
        format!("{}/{}", self.product, self.number)
    }
}

/// The interval of a field that is a statistic. It ends at the valid time.
///
/// ```
/// use mesonet::model::FieldInterval;
/// let rain = FieldInterval { length_ms: 6 * 3_600_000, statistic: 1 };
/// assert_eq!(rain.to_string(), "accumulation over 6 h");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FieldInterval {
    /// Its length in milliseconds.
    pub length_ms: i64,
    /// How the values were combined (code table 4.10 of GRIB2): 0 an average, 1 an accumulation, 2
    /// a maximum, 3 a minimum.
    pub statistic: u8,
}

impl FieldInterval {
    /// Returns the name of the statistic, or its number if the statistic has no name here.
    pub fn statistic_name(self) -> String {
        let names = ["average", "accumulation", "maximum", "minimum"];
        let name = names.get(usize::from(self.statistic));
        name.map_or_else(|| self.statistic.to_string(), |name| (*name).to_owned())
    }
}

impl fmt::Display for FieldInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hours = self.length_ms as f64 / HOUR_MS as f64;
        write!(f, "{} over {hours} h", self.statistic_name())
    }
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
    /// Products that the hour lacks, such as a field over an interval that does not exist at the
    /// first hour.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<String>,
    /// The absent products that the hour had until their files were set aside as damaged. Reading
    /// them is an error until they are delivered again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// The intervals of the products that are statistics, by product.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<String, FieldInterval>,
    /// Products with levels that have not arrived yet, with the indices of these levels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub partial: BTreeMap<String, Vec<usize>>,
    /// Files with fields of the hour that broke off or are damaged. Until they arrive whole, it is
    /// unknown what else the hour should have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub broken: BTreeSet<String>,
}

impl PublishedHour {
    /// Returns whether nothing is missing: the hour has all products of the run with all their
    /// levels, and none of its files was broken.
    pub fn is_whole(&self) -> bool {
        self.absent.is_empty() && self.partial.is_empty() && self.broken.is_empty()
    }
}

impl ProductDefinition {
    /// Returns the number of levels, 1 for a single-level field.
    pub fn levels(&self) -> usize {
        self.levels_hpa.as_ref().map_or(1, Vec::len)
    }

    /// Returns the name that requests use: the name of the product, which the members of an
    /// ensemble share.
    pub fn shared_name(&self) -> &str {
        self.member.as_ref().map_or(&self.name, |member| &member.product)
    }
}

impl RunDefinition {
    /// Returns the numbers of the members of an ensemble product, ascending; none if the product
    /// does not exist or has no members.
    pub fn members(&self, product: &str) -> Vec<u8> {
        let members = self.products.iter().filter_map(|product| product.member.as_ref());
        let own = members.filter(|member| member.product == product);
        let numbers: BTreeSet<u8> = own.map(|member| member.number).collect();
        numbers.into_iter().collect()
    }

    /// Returns the names that requests use for products, in order, each once.
    pub fn shared_names(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let names = self.products.iter().map(ProductDefinition::shared_name);
        names.filter(|name| seen.insert(*name)).collect()
    }

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
        if !(1..=MAX_WITH_MEMBERS).contains(&products) {
            return none(format!("it has {products} products; allowed: 1 to {MAX_WITH_MEMBERS}"));
        }
        let mut names = BTreeSet::new();
        for product in &self.products {
            product.check()?;
            if !names.insert(&product.name) {
                return none(format!("product \"{}\" is listed twice", product.name));
            }
        }
        let mut shared: BTreeMap<&str, &ProductDefinition> = BTreeMap::new();
        for product in &self.products {
            let first = *shared.entry(product.shared_name()).or_insert(product);
            let what = |product: &ProductDefinition| {
                let is_member = product.member.is_some();
                (is_member, product.unit.clone(), product.levels_hpa.clone(), product.encoding)
            };
            if what(first) != what(product) {
                return none(format!("\"{}\" differs from \"{}\"", product.name, first.name));
            }
        }
        Ok(())
    }
}

impl ProductDefinition {
    /// Checks the conditions on every product of a run.
    pub(crate) fn check(&self) -> Result<(), RunStoreError> {
        let Self { name, unit, levels_hpa, member, .. } = self;
        check_name("product", self.shared_name())?;
        let none = |cause: String| Err(RunStoreError::Definition(cause));
        if let Some(member) = member.as_ref().filter(|member| member.name() != *name) {
            let expected = member.name();
            return none(format!("a member is named \"{name}\"; it must be \"{expected}\""));
        }
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
