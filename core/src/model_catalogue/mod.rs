//! The sources of model output that a deployment has: data, not code.

mod field;
mod hours;

pub use field::SourceProduct;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::grid_store::{MAX_PRODUCTS, check_name};
use crate::model_access::{AccessRefusal, AccessRule, ModelCaller, ModelCapabilities, ModelUse};
use crate::model_tile::WindComponent;
use crate::run_stamp::RunStamp;
use crate::toml_text::{Fault, TomlFault, put_over, read_toml};
use hours::Hours;

/// The text of the catalogue that ships: a commented TOML file.
pub const DEFAULT_MODELS_TOML: &str = include_str!("models.toml");

/// Most sources, and longest text of a title in bytes.
const MAX_SOURCES: usize = 1000;
const MAX_TEXT_BYTES: usize = 200;

/// Runs of a source that are kept unless it says otherwise.
const KEEP_RUNS: usize = 8;

/// Names that are parts of the service's own paths.
const TAKEN: &[&str] = &["coverage"];

/// The sources of model output of a deployment, by name.
///
/// ```
/// use mesonet::ModelCatalogue;
/// let catalogue = ModelCatalogue::from_toml(r#"
///     [mymodel]
///     title = "A model of my own"
///     access = { plan = "pro", organisations = ["acme"] }
///     hours = "0-48"
///     keep_runs = 4
///     products = [
///         { name = "t2m", unit = "K", scale = 0.01, offset = 273.15, parameter = "7:0.0.0", level = "103:2" },
///     ]
/// "#)?;
/// let product = catalogue.get("mymodel").unwrap().product("t2m").unwrap();
/// assert_eq!(product.encoding().scale(), 0.01);
/// # Ok::<(), mesonet::ModelCatalogueError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCatalogue {
    sources: BTreeMap<String, ModelSource>,
}

/// A source of model output: a model on one grid.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSource {
    name: String,
    title: String,
    attribution: String,
    access: AccessRule,
    keep_runs: usize,
    hours: Option<Hours>,
    products: Vec<SourceProduct>,
    winds: Vec<[String; 2]>,
}

/// A catalogue that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} of the models: {reason}")]
pub struct ModelCatalogueError {
    /// The line, or the name of the source.
    pub place: String,
    /// What was got and what is allowed.
    pub reason: String,
}

#[derive(Deserialize)]
struct Text {
    #[serde(default)]
    without: Vec<String>,
    #[serde(flatten)]
    sources: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    title: String,
    #[serde(default)]
    attribution: String,
    #[serde(default)]
    access: AccessRule,
    keep_runs: Option<usize>,
    hours: Option<Hours>,
    products: Vec<field::Entry>,
    #[serde(default)]
    winds: Vec<[String; 2]>,
}

impl Default for ModelCatalogue {
    /// The catalogue that ships.
    fn default() -> Self {
        let none = Self { sources: BTreeMap::new() };
        none.with(DEFAULT_MODELS_TOML).expect("the catalogue that ships is tested")
    }
}

impl ModelCatalogue {
    /// The catalogue that ships, with the entries of a TOML text in their place: a table replaces
    /// the source of the same name whole; `without = ["name"]` removes sources.
    ///
    /// # Errors
    /// What is no TOML, unknown keys, and entries that make no sense: a name that is no part of a
    /// path, a scale of 0, no product, products of a run that is to grow without their levels.
    pub fn from_toml(text: &str) -> Result<Self, ModelCatalogueError> {
        Self::default().with(text)
    }

    fn with(mut self, text: &str) -> Result<Self, ModelCatalogueError> {
        let Text { without, sources } = read_toml(text).map_err(|TomlFault { line, reason }| {
            ModelCatalogueError { place: format!("line {line}"), reason }
        })?;
        put_over(&mut self.sources, "source", without, sources, MAX_SOURCES, ModelSource::new)
            .map_err(|Fault { place, reason }| ModelCatalogueError { place, reason })?;
        Ok(self)
    }

    /// The source of a name.
    pub fn get(&self, name: &str) -> Option<&ModelSource> {
        self.sources.get(name)
    }

    /// Every source, by name.
    pub fn iter(&self) -> impl Iterator<Item = &ModelSource> {
        self.sources.values()
    }

    /// What a caller may do; `limits` are those of the deployment.
    pub fn capabilities(
        &self,
        caller: &ModelCaller,
        limits: BTreeMap<&'static str, Option<u64>>,
    ) -> ModelCapabilities {
        let mut products = BTreeMap::new();
        for source in self.sources.values() {
            let allowed = source.access.check(caller).is_ok();
            let id = format!("models.{}", source.name);
            for product in &source.products {
                let Some(rule) = product.tiles_and_series() else { continue };
                let allowed = allowed && rule.check(caller).is_ok();
                products.insert(format!("{id}.{}", product.name()), rule.shown(allowed));
            }
            products.insert(id, source.access.shown(allowed));
        }
        ModelCapabilities { products, limits }
    }
}

impl ModelSource {
    fn new(name: String, entry: Entry) -> Result<Self, String> {
        let Entry { title, attribution, access, keep_runs, hours, products, winds } = entry;
        check_name("model", &name).map_err(|error| error.to_string())?;
        if TAKEN.contains(&&*name) {
            return Err("this name is part of a path of the service".to_owned());
        }
        for (key, text) in [("title", &title), ("attribution", &attribution)] {
            if text.len() > MAX_TEXT_BYTES || text.chars().any(char::is_control) {
                return Err(format!(
                    "{key} must be up to {MAX_TEXT_BYTES} bytes without control characters"
                ));
            }
        }
        let keep_runs = keep_runs.unwrap_or(KEEP_RUNS);
        if keep_runs == 0 {
            return Err("keep_runs must be 1 or more; got 0".to_owned());
        }
        if !(1..=MAX_PRODUCTS).contains(&products.len()) {
            return Err(format!("{} products; allowed are 1 to {MAX_PRODUCTS}", products.len()));
        }
        let products: Vec<_> =
            products.into_iter().map(SourceProduct::new).collect::<Result<_, _>>()?;
        let mut names = BTreeSet::new();
        for product in &products {
            if !names.insert(product.name()) {
                return Err(format!("product {} is there twice", product.name()));
            }
            if hours.is_some() && product.has_levels() && product.levels_hpa().is_none() {
                return Err(format!(
                    "product {} needs levels_hpa, as the model has hours: a run is laid out before \
                     all of its files are there",
                    product.name()
                ));
            }
        }
        if let Some(unknown) = winds.iter().flatten().find(|name| !names.contains(&***name)) {
            return Err(format!("winds names {unknown}, which is no product"));
        }
        Ok(Self { name, title, attribution, access, keep_runs, hours, products, winds })
    }

    /// Its name: part of the paths of the service.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is, for people.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Whom its data is owed to; may be empty.
    pub fn attribution(&self) -> &str {
        &self.attribution
    }

    /// What a caller must have to use it.
    pub fn access(&self) -> &AccessRule {
        &self.access
    }

    /// How many of its runs are kept.
    pub fn keep_runs(&self) -> usize {
        self.keep_runs
    }

    /// The valid times that a run is to have, ascending: milliseconds since 1970 (UTC). `None`
    /// where they are those of the files that the run is made from.
    pub fn valid_ms_of(&self, run: RunStamp) -> Option<Vec<i64>> {
        self.hours.as_ref()?.of(run)
    }

    /// Its products, in the order of the catalogue.
    pub fn products(&self) -> &[SourceProduct] {
        &self.products
    }

    /// A product by its name.
    pub fn product(&self, name: &str) -> Option<&SourceProduct> {
        self.products.iter().find(|product| product.name() == name)
    }

    /// The products that are the components of a wind, that towards the east first.
    pub fn winds(&self) -> &[[String; 2]] {
        &self.winds
    }

    /// The wind that a product is a component of: the component, and the names of both, that
    /// towards the east first.
    pub fn wind_of(&self, product: &str) -> Option<(WindComponent, [&str; 2])> {
        self.winds.iter().find_map(|[u, v]| {
            let component = match product {
                _ if product == u => WindComponent::U,
                _ if product == v => WindComponent::V,
                _ => return None,
            };
            Some((component, [&**u, &**v]))
        })
    }

    /// Whether a caller may use some of its products in a way. All access to models is decided
    /// here.
    ///
    /// # Errors
    /// The caller may not.
    pub fn allows<'a>(
        &self,
        caller: &ModelCaller,
        use_: ModelUse,
        products: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), AccessRefusal> {
        self.access.check(caller)?;
        if matches!(use_, ModelUse::Listing | ModelUse::Point) {
            return Ok(());
        }
        let known = products.into_iter().filter_map(|name| self.product(name));
        known.filter_map(SourceProduct::tiles_and_series).try_for_each(|rule| rule.check(caller))
    }
}

#[cfg(test)]
mod tests;
