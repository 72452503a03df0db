//! The sources of model output of a deployment: data, not code.

mod field;
mod hours;
mod kind;
mod made;

pub use field::SourceProduct;
pub use made::MadeSource;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::access;
use crate::access::{ModelCaller, ModelCapabilities, ModelUse};
use crate::grid::WindComponent;
use crate::model::RunStamp;
use crate::model::store::check_name;
use crate::settings::{SettingsFault, check_label, read_over};
use hours::{ForecastHours, Hours};

/// Most products of a model.
const MAX_PRODUCTS: usize = 1024;

/// The texts of the catalogue that ships: commented TOML files, one for each centre or family. The
/// first file begins with the keys and their meaning.
///
/// ```
/// use mesonet::model;
/// // A deployment writes its own file from the text that ships.
/// assert!(model::DEFAULT_MODELS_TOML[0].contains("[hrrr]"));
/// let copy = model::Catalogue::from_toml(model::DEFAULT_MODELS_TOML[0])?;
/// assert_eq!(copy, model::Catalogue::default());
/// # Ok::<(), model::ModelCatalogueError>(())
/// ```
pub const DEFAULT_MODELS_TOML: &[&str] = &[
    include_str!("models.toml"),
    include_str!("nam.toml"),
    include_str!("guidance.toml"),
    include_str!("canada.toml"),
    include_str!("europe.toml"),
    include_str!("mrms.toml"),
];

/// The most sources.
const MAX_SOURCES: usize = 1000;

/// How many runs of a source are kept unless the source states another number.
const KEEP_RUNS: usize = 8;

/// Names that are already used in the service's own paths.
const TAKEN: &[&str] = &["coverage"];

/// The sources of model output of a deployment, by name.
///
/// ```
/// use mesonet::model;
/// let catalogue = model::Catalogue::from_toml(r#"
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
/// assert_eq!(product.encoding().map(|encoding| encoding.scale()), Some(0.01));
/// # Ok::<(), mesonet::model::ModelCatalogueError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Catalogue {
    sources: BTreeMap<String, Source>,
}

/// A source of model output: one model on one grid.
///
/// ```
/// use mesonet::access::{ModelCaller, ModelUse, Plan};
/// use mesonet::grid::WindComponent;
/// use mesonet::model;
/// let catalogue = model::Catalogue::default();
/// let gfs: &model::Source = catalogue.get("gfs").expect("it ships");
/// assert_eq!(gfs.attribution(), "NOAA National Centers for Environmental Prediction");
/// assert_eq!((gfs.title(), gfs.keep_runs()), ("GFS, the Global Forecast System", 8));
/// let hours = gfs.valid_ms_of("20180917T000000Z".parse()?).expect("the catalogue states them");
/// assert_eq!(hours.len(), 209); // each hour to 120, then every third to 384
/// assert_eq!(gfs.wind_of("v_wind"), Some((WindComponent::V, ["u_wind", "v_wind"])));
///
/// let nam = catalogue.get("nam211").expect("it ships");
/// let anyone = ModelCaller { plan: Plan::None, organisations: Vec::new() };
/// assert!(nam.allows(&anyone, ModelUse::Point, ["lifted_index"]).is_ok());
/// assert!(nam.allows(&anyone, ModelUse::Tiles, ["lifted_index"]).is_err());
/// # Ok::<(), model::RunStampError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    name: String,
    title: String,
    attribution: String,
    access: access::Rule,
    keep_runs: usize,
    keep_bytes: Option<u64>,
    hours: Option<Hours>,
    members: Option<Vec<u8>>,
    products: Vec<SourceProduct>,
    winds: Vec<[String; 2]>,
}

/// The error for an invalid catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} of the models: {reason}")]
pub struct ModelCatalogueError {
    /// The line, or the name of the source.
    pub place: String,
    /// What was given and what is allowed.
    pub reason: String,
}

impl From<SettingsFault> for ModelCatalogueError {
    fn from(SettingsFault { place, reason }: SettingsFault) -> Self {
        Self { place, reason }
    }
}

#[derive(Deserialize)]
#[serde(expecting = "a table", deny_unknown_fields)]
struct SourceToml {
    title: String,
    #[serde(default)]
    attribution: String,
    #[serde(default)]
    access: access::Rule,
    keep_runs: Option<usize>,
    keep_bytes: Option<u64>,
    hours: Option<Hours>,
    members: Option<ForecastHours>,
    products: Vec<field::ProductToml>,
    #[serde(default)]
    winds: Vec<[String; 2]>,
}

impl Default for Catalogue {
    /// The catalogue that ships.
    fn default() -> Self {
        let none = Self { sources: BTreeMap::new() };
        let with =
            |read: Self, text: &&str| read.with(text).expect("the catalogue that ships is tested");
        DEFAULT_MODELS_TOML.iter().fold(none, with)
    }
}

impl Catalogue {
    /// Reads the catalogue that ships, overridden by the entries of a TOML text: a table replaces
    /// the source of the same name as a whole; `without = ["name"]` removes sources, and
    /// `without = ["*"]` all of them.
    ///
    /// # Errors
    /// If the text is not TOML, a key is unknown, or an entry is invalid: a name that cannot be
    /// part of a path, a scale of 0, no products, or no levels for the products of runs that are to
    /// grow.
    pub fn from_toml(text: &str) -> Result<Self, ModelCatalogueError> {
        Self::default().with(text)
    }

    /// Reads the entries of another TOML text over those of this catalogue, in the same way.
    ///
    /// # Errors
    /// As [`from_toml`](Self::from_toml).
    pub fn with(self, text: &str) -> Result<Self, ModelCatalogueError> {
        let sources = read_over(self.sources, text, "source", MAX_SOURCES, Source::new)?;
        Ok(Self { sources })
    }

    /// Returns a source by name.
    pub fn get(&self, name: &str) -> Option<&Source> {
        self.sources.get(name)
    }

    /// Returns all sources, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.sources.values()
    }

    /// Returns what a caller may do; `limits` are those of the deployment.
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

impl Source {
    fn new(name: String, entry: SourceToml) -> Result<Self, String> {
        let SourceToml { title, attribution, access, keep_runs, keep_bytes, hours, .. } = entry;
        let SourceToml { products, winds, .. } = entry;
        check_name("model", &name).map_err(|error| error.to_string())?;
        if TAKEN.contains(&&*name) {
            return Err("this name is part of a path of the service".to_owned());
        }
        check_label("title", &title)?;
        check_label("attribution", &attribution)?;
        let keep_runs = keep_runs.unwrap_or(KEEP_RUNS);
        if keep_runs == 0 {
            return Err("keep_runs must be 1 or more; got 0".to_owned());
        }
        if !(1..=MAX_PRODUCTS).contains(&products.len()) {
            return Err(format!("{} products; allowed: 1 to {MAX_PRODUCTS}", products.len()));
        }
        let products: Vec<_> =
            products.into_iter().map(SourceProduct::new).collect::<Result<_, _>>()?;
        let number = |number: u32| {
            let too_great = |_| format!("members must be 0 to 255; got {number}");
            u8::try_from(number).map_err(too_great)
        };
        let members = entry.members.map(|members| members.iter().map(number).collect());
        let members: Option<Vec<u8>> = members.transpose()?;
        let mut names = BTreeSet::new();
        for product in &products {
            if hours.is_some() && product.has_members() && members.is_none() {
                return Err(format!(
                    "product {} needs the model's members, for example members = \"0-20\", because \
                     the model has hours: it is known when an hour is whole",
                    product.name()
                ));
            }
            if !names.insert(product.name()) {
                return Err(format!("product {} is listed twice", product.name()));
            }
            if hours.is_some() && product.has_levels() && product.levels_hpa().is_none() {
                return Err(format!(
                    "product {} needs levels_hpa because the model has hours: a run is laid out \
                     before all its files have arrived",
                    product.name()
                ));
            }
        }
        if let Some(unknown) = winds.iter().flatten().find(|name| !names.contains(&***name)) {
            return Err(format!("winds names {unknown}, which is not a product"));
        }
        Ok(Self {
            name,
            title,
            attribution,
            access,
            keep_runs,
            keep_bytes,
            hours,
            members,
            products,
            winds,
        })
    }

    /// Returns the name, which is part of the paths of the service.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the title, for people.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the credit that the data requires; may be empty.
    pub fn attribution(&self) -> &str {
        &self.attribution
    }

    /// Returns what a caller needs to use the source.
    pub fn access(&self) -> &access::Rule {
        &self.access
    }

    /// Returns how many bytes the runs may take together, if there is a limit; the latest run
    /// always stays.
    pub fn keep_bytes(&self) -> Option<u64> {
        self.keep_bytes
    }

    /// Returns how many runs are kept.
    pub fn keep_runs(&self) -> usize {
        self.keep_runs
    }

    /// Returns the valid times that a run should have, ascending, in milliseconds since 1970 (UTC).
    /// `None` if the hours are those of the files that the run is made from.
    pub fn valid_ms_of(&self, run: RunStamp) -> Option<Vec<i64>> {
        self.hours.as_ref()?.of(run)
    }

    /// Returns the members of the ensemble, ascending, if the catalogue states them; 0 is the
    /// control.
    pub fn members(&self) -> Option<&[u8]> {
        self.members.as_deref()
    }

    /// Returns the products, in the order of the catalogue.
    pub fn products(&self) -> &[SourceProduct] {
        &self.products
    }

    /// Returns a product by name.
    pub fn product(&self, name: &str) -> Option<&SourceProduct> {
        self.products.iter().find(|product| product.name() == name)
    }

    /// Returns the products that are wind components, in pairs, eastward first.
    pub fn winds(&self) -> &[[String; 2]] {
        &self.winds
    }

    /// Returns the wind that a product is a component of: the component, and the names of both
    /// components, eastward first.
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

    /// Checks whether a caller may use some products in a given way. All access to models is
    /// decided here.
    ///
    /// # Errors
    /// If the caller may not.
    pub fn allows<'a>(
        &self,
        caller: &ModelCaller,
        use_: ModelUse,
        products: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), access::Refusal> {
        self.access.check(caller)?;
        if matches!(use_, ModelUse::Listing | ModelUse::Point) {
            return Ok(());
        }
        let known = products.into_iter().filter_map(|name| self.product(name));
        known.filter_map(SourceProduct::tiles_and_series).try_for_each(|rule| rule.check(caller))
    }
}

#[cfg(test)]
mod shipped_tests;

#[cfg(test)]
mod tests;
