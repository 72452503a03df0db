//! The products of a deployment, and the source fields of each: data, not code.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::duration::ProductDuration;
use super::keep::{Keep, KeepToml, keep_of};
use super::pyramid::Resampling;
use crate::grib;
use crate::grib::{FieldKind, GribError};
use crate::grid::Encoding;
use crate::settings::{SettingsFault, check_label, from_optional_text, from_text, read_over};

/// The text of the catalogue that ships: a commented TOML file.
///
/// ```
/// use mesonet::raster;
/// // A deployment writes its own file from the text that ships.
/// assert!(raster::DEFAULT_PRODUCTS_TOML.contains("[hailSize]"));
/// let copy = raster::RasterCatalogue::from_toml(raster::DEFAULT_PRODUCTS_TOML)?;
/// assert_eq!(copy, raster::RasterCatalogue::default());
/// # Ok::<(), raster::CatalogueError>(())
/// ```
pub const DEFAULT_PRODUCTS_TOML: &str = include_str!("products.toml");

/// The longest type in bytes.
const MAX_TYPE: usize = 64;

/// The most products, and the most fields of a product.
const MAX_ENTRIES: usize = 1000;

/// The raster products of a deployment, by type.
///
/// ```
/// use mesonet::raster;
/// let catalogue = raster::RasterCatalogue::default();
/// let hail = catalogue.get("hailSize").unwrap();
/// assert_eq!(hail.unit(), "mm");
/// assert!(hail.durations().contains(&Some("24h".parse()?)));
/// # Ok::<(), mesonet::raster::DurationError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RasterCatalogue {
    products: BTreeMap<String, RasterProduct>,
}

/// A product: its description, its packing, its source fields, and how long its files are kept.
///
/// ```
/// use mesonet::raster::{RasterCatalogue, RasterProduct};
/// let rain = r#"
///     [rain]
///     title = "Rain"
///     unit = "mm"
///     scale = 0.1
///     keep = { 1h = "7d" }
///     keep_bytes = 50_000_000_000
///     fields = [
///         { parameter = "161:209.6.2", duration = "1h" },
///         { parameter = "161:209.6.6", duration = "24h" },
///     ]
/// "#;
/// let catalogue = RasterCatalogue::from_toml(rain)?;
/// let rain: &RasterProduct = catalogue.get("rain").expect("it was added");
/// assert_eq!(rain.keep_ms(Some("1h".parse()?)), Some(7 * 86_400_000));
/// assert_eq!(rain.keep_ms(Some("24h".parse()?)), None); // for ever
/// assert_eq!(rain.keep_bytes(), Some(50_000_000_000));
/// # Ok::<(), mesonet::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RasterProduct {
    name: String,
    title: String,
    unit: String,
    encoding: Encoding,
    overviews: Resampling,
    keep: Keep,
    keep_bytes: Option<u64>,
    fields: Vec<FieldRule>,
}

/// A field that a product is read from.
///
/// ```
/// use mesonet::raster::{self, FieldRule};
/// let catalogue = raster::RasterCatalogue::default();
/// let rules: &[FieldRule] = catalogue.get("reflectivity").expect("it ships").fields();
/// assert_eq!(rules[0].parameter.to_string(), "161:209.3.57"); // of MRMS
/// assert_eq!((rules[0].level, rules[0].duration), (None, None));
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldRule {
    /// The parameter of the field.
    #[serde(deserialize_with = "from_text")]
    pub parameter: grib::Parameter,
    /// The level, if it matters.
    #[serde(default, deserialize_with = "from_optional_text")]
    pub level: Option<grib::Level>,
    /// The length of time that it covers; `None` for an instant.
    pub duration: Option<ProductDuration>,
}

/// The error for an invalid catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place} of the products: {reason}")]
pub struct CatalogueError {
    /// The line, or the type of the product.
    pub place: String,
    /// What was given and what is allowed.
    pub reason: String,
}

impl From<SettingsFault> for CatalogueError {
    fn from(SettingsFault { place, reason }: SettingsFault) -> Self {
        Self { place, reason }
    }
}

#[derive(Deserialize)]
#[serde(expecting = "a table", deny_unknown_fields)]
struct RasterToml {
    title: String,
    unit: String,
    scale: f64,
    #[serde(default)]
    offset: f64,
    #[serde(default)]
    overviews: Resampling,
    keep: Option<KeepToml>,
    keep_bytes: Option<u64>,
    fields: Vec<FieldRule>,
}

impl Default for RasterCatalogue {
    /// The catalogue that ships.
    fn default() -> Self {
        let none = Self { products: BTreeMap::new() };
        none.with(DEFAULT_PRODUCTS_TOML).expect("the catalogue that ships is tested")
    }
}

impl RasterCatalogue {
    /// Reads the catalogue that ships, overridden by the entries of a TOML text: a table replaces
    /// the product of the same type as a whole; `without = ["type"]` removes products.
    ///
    /// # Errors
    /// If the text is not TOML, a key is unknown, or an entry is invalid: a type that cannot be
    /// part of a path, a scale of 0, a `keep` that is not a span, or no fields.
    ///
    /// ```
    /// use mesonet::raster::{RasterCatalogue, CatalogueError, Resampling};
    /// let water = r#"
    ///     [precipitableWater]
    ///     title = "Precipitable water"
    ///     unit = "kg/m²"
    ///     scale = 0.01
    ///     overviews = "max"
    ///     fields = [{ parameter = "7:0.1.3", level = "200" }]
    /// "#;
    /// let catalogue = RasterCatalogue::from_toml(water)?;
    /// let product = catalogue.get("precipitableWater").expect("it was added");
    /// assert_eq!(product.overviews(), Resampling::Max);
    /// assert_eq!((product.title(), product.unit()), ("Precipitable water", "kg/m²"));
    /// assert_eq!(product.encoding().decode(1250), 12.5);
    /// assert_eq!(product.durations(), [None]);
    /// assert!(catalogue.iter().any(|product| product.name() == "hailSize"), "those that ship stay");
    /// let refused = RasterCatalogue::from_toml(&water.replace("0.01", "0")).unwrap_err();
    /// assert_eq!(refused.to_string(), "line 2 in [precipitableWater] of the products: scale must be above 0; got 0");
    /// # Ok::<(), CatalogueError>(())
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, CatalogueError> {
        Self::default().with(text)
    }

    fn with(self, text: &str) -> Result<Self, CatalogueError> {
        let products = read_over(self.products, text, "product", MAX_ENTRIES, RasterProduct::new)?;
        Ok(Self { products })
    }

    /// Returns the product of a type.
    pub fn get(&self, name: &str) -> Option<&RasterProduct> {
        self.products.get(name)
    }

    /// Returns all products, by type.
    pub fn iter(&self) -> impl Iterator<Item = &RasterProduct> {
        self.products.values()
    }

    /// Returns the products that a field belongs to, each with the length of time that the field
    /// covers.
    ///
    /// # Errors
    /// If the metadata of the field cannot be read.
    pub fn products_of(
        &self,
        field: &grib::Field<'_>,
    ) -> Result<Vec<(&RasterProduct, Option<ProductDuration>)>, GribError> {
        let parameter = field.parameter()?;
        let named = |product: &&RasterProduct| {
            product.fields.iter().any(|rule| rule.parameter == parameter)
        };
        let mut found = Vec::new();
        for product in self.products.values().filter(named) {
            found.extend(product.durations_of(field)?.into_iter().map(|span| (product, span)));
        }
        Ok(found)
    }
}

impl RasterProduct {
    fn new(name: String, entry: RasterToml) -> Result<Self, String> {
        let RasterToml { title, unit, scale, offset, overviews, keep, keep_bytes, fields } = entry;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        if !(1..=MAX_TYPE).contains(&name.len()) || !name.bytes().all(plain) {
            return Err(format!("a type must be 1 to {MAX_TYPE} letters, digits, - or _"));
        }
        check_label("title", &title)?;
        check_label("unit", &unit)?;
        let encoding = Encoding::of_product(scale, offset)?;
        if !(1..=MAX_ENTRIES).contains(&fields.len()) {
            return Err(format!("{} fields; allowed: 1 to {MAX_ENTRIES}", fields.len()));
        }
        let keep = keep.map(|keep| keep_of(keep, &durations_in(&fields))).transpose()?;
        let keep = keep.unwrap_or_default();
        let product = Self { name, title, unit, encoding, overviews, keep, keep_bytes, fields };
        if product.no_echo().is_some() && overviews == Resampling::Average {
            // The mean of an echo and of no echo is not a meaningful value.
            return Err("overviews must be max or nearest where \"no echo\" is a value".to_owned());
        }
        Ok(product)
    }

    /// Returns the type, which is the last part of the product's path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the title, for people.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the unit of the values.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Returns how the values are packed.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns the method that makes the smaller copies of a file.
    pub fn overviews(&self) -> Resampling {
        self.overviews
    }

    /// Returns the fields that the product is read from.
    pub fn fields(&self) -> &[FieldRule] {
        &self.fields
    }

    /// Returns the value that stands for "no echo" within the coverage of a radar, if its fields
    /// have such a value: [`Parameter::no_echo`](crate::grib::Parameter::no_echo).
    pub fn no_echo(&self) -> Option<f32> {
        self.fields.iter().find_map(|field| field.parameter.no_echo())
    }

    /// Returns the lengths of time that the product exists for, shortest first; `None` is an
    /// instant.
    pub fn durations(&self) -> Vec<Option<ProductDuration>> {
        durations_in(&self.fields)
    }

    /// Returns how long the files of a duration are kept, in milliseconds; `None` is for ever.
    /// `None` as the duration is an instant.
    pub fn keep_ms(&self, duration: Option<ProductDuration>) -> Option<i64> {
        self.keep.get(&duration).copied()
    }

    /// Returns how many bytes the files of all durations may take together, if there is a limit; the
    /// newest file of each duration always stays.
    pub fn keep_bytes(&self) -> Option<u64> {
        self.keep_bytes
    }

    /// Returns the lengths of time for which a field belongs to this product.
    ///
    /// A rule applies to a field of a single forecast or analysis with the rule's parameter and
    /// level. If the field states an interval, its length must be exactly that of the rule. So a
    /// field for an instant may stand for an interval by its parameter alone.
    ///
    /// # Errors
    /// If the metadata of the field cannot be read.
    pub fn durations_of(
        &self,
        field: &grib::Field<'_>,
    ) -> Result<Vec<Option<ProductDuration>>, GribError> {
        let (parameter, product) = (field.parameter()?, field.product()?);
        let holds = |rule: &&FieldRule| {
            let interval_ms = rule.duration.map_or(0, ProductDuration::ms);
            rule.parameter == parameter
                && product.kind == FieldKind::Deterministic
                && product.constituent.is_none()
                && rule.level.is_none_or(|level| level == product.level)
                && (product.statistic.is_none() || product.interval_ms == interval_ms)
        };
        let mut durations: Vec<_> =
            self.fields.iter().filter(holds).map(|rule| rule.duration).collect();
        durations.sort_unstable();
        durations.dedup();
        Ok(durations)
    }
}

/// Returns the durations of fields, shortest first, each once.
fn durations_in(fields: &[FieldRule]) -> Vec<Option<ProductDuration>> {
    let mut durations: Vec<_> = fields.iter().map(|rule| rule.duration).collect();
    durations.sort_unstable();
    durations.dedup();
    durations
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
