//! The products of a source, and the fields of messages that they are made from.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use super::kind::{DefinitionDigest, SecondLevel, TakenKind, TakenLevel, is_usual_process};

use crate::grid::{Encoding, TileSampling};
use crate::model::store::check_name;
use crate::model::{FieldInterval, ProductDefinition};
use crate::settings::{check_label, from_optional_text, from_text};
use crate::time::{HOUR_MS, MINUTE_MS};
use crate::{access, grib};

/// The kind of level of isobaric surfaces (code table 4.5).
const ISOBARIC: u8 = 100;

/// A product of a source: its description, its packing, and the fields that it is made from.
///
/// ```
/// # let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2");
/// use mesonet::{grib, model};
/// let catalogue = model::Catalogue::default();
/// let safrica = catalogue.get("safrica").expect("it ships");
/// let water: &model::SourceProduct = safrica.product("precipitable_water").expect("it is listed");
/// assert!(!water.has_levels() && water.tiles_and_series().is_none());
/// assert_eq!((water.title(), water.unit()), ("", "kg/m²"));
/// let bytes = std::fs::read(sample)?;
/// let field = grib::fields(&bytes).next().ok_or("no field")??;
/// assert!(water.is_of(field.parameter()?, &field.product()?, field.reference_ms()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SourceProduct {
    name: String,
    title: String,
    unit: String,
    /// `None` if the range of the fields determines the packing.
    encoding: Option<Encoding>,
    sampling: TileSampling,
    levels_hpa: Option<Vec<f64>>,
    tiles_and_series: Option<access::Rule>,
    parameter: grib::Parameter,
    level: grib::Level,
    /// Whether the level has no value; otherwise a value that is not given may be any.
    has_no_value: bool,
    second_level: Option<SecondLevel>,
    interval: Option<Interval>,
    statistic: Option<Statistic>,
    kind: TakenKind,
    process: Option<u8>,
    constituent: Option<u16>,
    rest: Option<DefinitionDigest>,
}

/// A product as written in the catalogue.
#[derive(Deserialize)]
#[serde(expecting = "a table", deny_unknown_fields)]
pub(super) struct ProductToml {
    name: String,
    #[serde(default)]
    title: String,
    unit: String,
    scale: Option<f64>,
    offset: Option<f64>,
    packing: Option<Packing>,
    #[serde(default)]
    sampling: Sampling,
    #[serde(deserialize_with = "from_text")]
    parameter: grib::Parameter,
    #[serde(deserialize_with = "from_text")]
    level: TakenLevel,
    #[serde(default, deserialize_with = "from_optional_text")]
    second_level: Option<SecondLevel>,
    interval: Option<Interval>,
    statistic: Option<Statistic>,
    #[serde(default, deserialize_with = "from_text")]
    field: TakenKind,
    process: Option<u8>,
    constituent: Option<u16>,
    #[serde(default, deserialize_with = "from_optional_text")]
    rest: Option<DefinitionDigest>,
    levels_hpa: Option<Vec<f64>>,
    tiles_and_series: Option<access::Rule>,
}

/// How to find the packing of a product if the catalogue does not state it.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Packing {
    /// By the range of the fields.
    Auto,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Sampling {
    #[default]
    Bilinear,
    Nearest,
}

/// How the values of an interval were combined: a number of code table 4.10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Statistic(pub u8);

/// The names of the first numbers.
const STATISTICS: [&str; 4] = ["average", "accumulation", "maximum", "minimum"];

impl TryFrom<String> for Statistic {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let named = STATISTICS.iter().position(|name| *name == text).map(|number| number as u8);
        named.or_else(|| text.parse().ok()).map(Self).ok_or_else(|| {
            format!(
                "invalid statistic \"{text}\": it must be {} or a number of code table 4.10 in quotes, \
                 for example \"6\"",
                STATISTICS.join(", ")
            )
        })
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match STATISTICS.get(usize::from(self.0)) {
            Some(name) => f.write_str(name),
            None => self.0.fmt(f),
        }
    }
}

/// The interval that a field covers, up to its valid time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
enum Interval {
    /// An interval of this length.
    Ms(i64),
    /// From the start of the run.
    Run,
    /// Any interval: the fields of one product may have different ones.
    Any,
}

impl TryFrom<String> for Interval {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let units = [('h', HOUR_MS), ('m', MINUTE_MS), ('s', 1000)];
        let length = units.into_iter().find_map(|(unit, unit_ms)| {
            let count: u32 = text.strip_suffix(unit)?.parse().ok()?;
            (count > 0 || unit == 's').then(|| i64::from(count) * unit_ms)
        });
        match (&*text, length) {
            ("run", _) => Ok(Self::Run),
            ("any", _) => Ok(Self::Any),
            (_, Some(ms)) => Ok(Self::Ms(ms)),
            _ => Err(format!(
                "invalid interval \"{text}\": it must be a whole number of hours, minutes or seconds, \
                 for example 1h, 15m or 90s, run (from its start) or any"
            )),
        }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Ms(ms) => f.write_str(&length_text(ms)),
            Self::Run => f.write_str("run"),
            Self::Any => f.write_str("any"),
        }
    }
}

/// The length of an interval as it is written in a catalogue; fractions of a second are cut off.
pub(super) fn length_text(ms: i64) -> String {
    match ms {
        0 => "0s".to_owned(),
        ms if ms % HOUR_MS == 0 => format!("{}h", ms / HOUR_MS),
        ms if ms % MINUTE_MS == 0 => format!("{}m", ms / MINUTE_MS),
        ms => format!("{}s", ms / 1000),
    }
}

impl SourceProduct {
    pub(super) fn new(entry: ProductToml) -> Result<Self, String> {
        let ProductToml { name, title, unit, scale, offset, packing, sampling, .. } = entry;
        let tiles_and_series = entry.tiles_and_series;
        let ProductToml { parameter, second_level, interval, statistic, levels_hpa, .. } = entry;
        let ProductToml { field: kind, process, constituent, rest, .. } = entry;
        let TakenLevel { level, has_no_value } = entry.level;
        check_name("product", &name).map_err(|error| error.to_string())?;
        let in_product = |reason| format!("product {name}: {reason}");
        check_label("title", &title).map_err(in_product)?;
        let encoding = match (packing, scale) {
            (None, Some(scale)) => {
                Some(Encoding::of_product(scale, offset.unwrap_or_default()).map_err(in_product)?)
            }
            (Some(Packing::Auto), None) if offset.is_none() => None,
            _ => {
                let reason = "either scale (and offset) or packing = \"auto\" is required";
                return Err(in_product(reason.to_owned()));
            }
        };
        let has_levels = level.kind == ISOBARIC && level.value.is_none() && !has_no_value;
        if levels_hpa.is_some() && !has_levels {
            return Err(in_product("levels_hpa is only allowed with level = \"100\"".to_owned()));
        }
        if statistic.is_some() && interval.is_none() {
            return Err(in_product("a statistic needs an interval".to_owned()));
        }
        let mut levels_hpa = levels_hpa;
        if let Some(levels) = &mut levels_hpa {
            // From the ground up, as they are served.
            levels.sort_by(|one, other| other.total_cmp(one));
            levels.dedup();
        }
        let definition = ProductDefinition {
            name: name.clone(),
            unit: unit.clone(),
            levels_hpa: levels_hpa.clone(),
            member: None,
            attributes: BTreeMap::new(),
            // Any valid encoding: it serves to check the rest of the product.
            encoding: encoding.map_or_else(|| Encoding::of_product(1.0, 0.0), Ok)?,
        };
        definition.check().map_err(|error| error.to_string())?;
        let sampling = match sampling {
            // There is no value between an echo and no echo.
            Sampling::Bilinear if parameter.no_echo().is_some() => TileSampling::Nearest,
            Sampling::Bilinear => TileSampling::Bilinear,
            Sampling::Nearest => TileSampling::Nearest,
        };
        Ok(Self {
            name,
            title,
            unit,
            encoding,
            sampling,
            levels_hpa,
            tiles_and_series,
            parameter,
            level,
            has_no_value,
            second_level,
            interval,
            statistic,
            kind,
            process,
            constituent,
            rest,
        })
    }

    /// Returns the name, which is part of the path of the product's tiles.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the title, for people; may be empty.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Returns the unit of the values.
    pub fn unit(&self) -> &str {
        &self.unit
    }

    /// Returns the packing of the values, the same in all runs; `None` with `packing = "auto"`:
    /// then each run has a packing that fits its fields.
    pub fn encoding(&self) -> Option<Encoding> {
        self.encoding
    }

    /// Returns how the pixels of its tiles get their values.
    pub fn sampling(&self) -> TileSampling {
        self.sampling
    }

    /// Returns whether it has values at several pressure levels.
    pub fn has_levels(&self) -> bool {
        self.level.kind == ISOBARIC && self.level.value.is_none() && !self.has_no_value
    }

    /// Returns whether the catalogue states everything that distinguishes its fields from others,
    /// as it does for products that were made from files.
    pub(crate) fn is_exact(&self) -> bool {
        self.rest.is_some()
    }

    /// Returns the pressure levels from the ground up, if the catalogue states them.
    pub fn levels_hpa(&self) -> Option<&[f64]> {
        self.levels_hpa.as_deref()
    }

    /// Returns what a caller needs for the product's tiles and series, in addition to what the
    /// source needs.
    pub fn tiles_and_series(&self) -> Option<&access::Rule> {
        self.tiles_and_series.as_ref()
    }

    /// Returns the parameter of its fields.
    pub fn parameter(&self) -> grib::Parameter {
        self.parameter
    }

    /// Returns the kind of its fields as the catalogue writes it: `deterministic`, `member` for all
    /// members of an ensemble, `mean` and so on.
    pub fn field_kind(&self) -> String {
        self.kind.to_string()
    }

    /// Returns the interval of its fields as the catalogue writes it: `1h`, `15m`, `run` or `any`; `None`
    /// for fields of an instant.
    pub fn interval(&self) -> Option<String> {
        Some(self.interval?.to_string())
    }

    /// Returns the statistic over the interval, if the catalogue states it: `average`,
    /// `accumulation`, `maximum`, `minimum` or a number of code table 4.10.
    pub fn statistic(&self) -> Option<String> {
        Some(self.statistic?.to_string())
    }

    /// Returns the CF attributes of its array in the Zarr store.
    pub(crate) fn attributes(&self) -> BTreeMap<String, String> {
        let statistic = self.statistic.map(|statistic| statistic.0);
        let kind = match self.kind {
            TakenKind::One(kind) => kind,
            // Each member is a forecast by itself.
            TakenKind::Members => grib::FieldKind::Member(0),
        };
        let attributes = grib::cf_attributes(self.parameter, self.level, kind, statistic);
        let mut attributes: BTreeMap<String, String> =
            attributes.into_iter().map(|(name, text)| (name.to_owned(), text)).collect();
        if self.kind != TakenKind::default() {
            attributes.insert("field".to_owned(), self.kind.to_string());
        }
        attributes
    }

    /// Returns the interval of a field, if the product is a statistic over one.
    pub(crate) fn interval_of(&self, field: &grib::ProductSection) -> Option<FieldInterval> {
        let statistic = field.statistic.filter(|_| self.interval.is_some())?;
        Some(FieldInterval { length_ms: field.interval_ms, statistic })
    }

    /// Returns whether the product is of all members of an ensemble.
    pub fn has_members(&self) -> bool {
        self.kind == TakenKind::Members
    }

    /// Returns whether a field belongs to the product: for a product with levels, to one of its
    /// levels; for a product with members, to one of its members.
    pub fn is_of(
        &self,
        parameter: grib::Parameter,
        product: &grib::ProductSection,
        reference_ms: i64,
    ) -> bool {
        parameter == self.parameter && self.misfit(product, reference_ms).is_none()
    }

    /// Returns the first reason why a field of the product's parameter does not belong to it.
    pub(crate) fn misfit(
        &self,
        field: &grib::ProductSection,
        reference_ms: i64,
    ) -> Option<Mismatch<'_>> {
        let grib::ProductSection { level, second_level, statistic, interval_ms, valid_ms, .. } =
            *field;
        let what = if !self.kind.takes(field.kind) {
            What::Kind
        } else if self.process.map_or(!is_usual_process(field), |own| own != field.process) {
            What::Process
        } else if self.constituent != field.constituent {
            What::Constituent
        } else if level.kind != self.level.kind
            || ((self.level.value.is_some() || self.has_no_value) && level.value != self.level.value)
            // A single pressure level is an isobaric surface, not a layer between two.
            || (self.has_levels() && (second_level.is_some() || level.value.is_none()))
        {
            What::Level
        } else if self.second_level.is_some_and(|own| own.0 != second_level) {
            What::SecondLevel
        } else if self.interval.is_some() != statistic.is_some()
            || self.statistic.is_some_and(|own| statistic != Some(own.0))
        {
            What::Statistic
        } else {
            let fits = match self.interval {
                None | Some(Interval::Any) => true,
                Some(Interval::Ms(ms)) => interval_ms == ms,
                Some(Interval::Run) => valid_ms - interval_ms == reference_ms,
            };
            if !fits {
                What::Interval
            } else if self.rest.is_some_and(|own| own.0 != field.rest) {
                What::Rest
            } else {
                return None;
            }
        };
        Some(Mismatch { product: self, field: *field, what })
    }
}

/// Why a field of a product's parameter does not belong to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mismatch<'a> {
    product: &'a SourceProduct,
    field: grib::ProductSection,
    pub(crate) what: What,
}

/// The property that does not fit, in the order of the checks: a later one means a closer match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    Kind,
    Process,
    Constituent,
    Level,
    SecondLevel,
    Statistic,
    Interval,
    Rest,
}

impl fmt::Display for Mismatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (product, field) = (self.product, &self.field);
        let name = &product.name;
        match self.what {
            What::Kind => write!(f, "it is {}; {name} takes {}", field.kind, product.kind),
            What::Process => {
                let taken = product.process.map_or("a plain one".to_owned(), |own| own.to_string());
                write!(f, "its process is {}; {name} takes {taken}", field.process)
            }
            What::Constituent => {
                let text = |one: Option<u16>| one.map_or("none".to_owned(), |one| one.to_string());
                let (got, taken) = (text(field.constituent), text(product.constituent));
                write!(f, "its constituent is {got}; {name} takes {taken}")
            }
            What::Level => {
                let second = field.second_level.map(|second| format!(" to {second}"));
                let second = second.unwrap_or_default();
                write!(f, "its level is {}{second}; {name} takes {}", field.level, product.level)
            }
            What::SecondLevel => {
                let text =
                    |one: Option<grib::Level>| one.map_or("none".to_owned(), |one| one.to_string());
                let own = product.second_level.and_then(|own| own.0);
                let (got, taken) = (text(field.second_level), text(own));
                write!(f, "its second level is {got}; {name} takes {taken}")
            }
            What::Statistic => {
                let got = field.statistic.map_or("an instant".to_owned(), |statistic| {
                    format!("statistic {statistic} over an interval")
                });
                let taken = match (product.interval, product.statistic) {
                    (None, _) => "an instant".to_owned(),
                    (_, None) => "an interval".to_owned(),
                    (_, Some(own)) => format!("statistic {}", own.0),
                };
                write!(f, "it is of {got}; {name} takes {taken}")
            }
            What::Rest => {
                let own = product.rest.map_or(String::new(), |own| own.to_string());
                let got = DefinitionDigest(field.rest);
                write!(f, "the rest of its definition has the digest {got}; {name} takes {own}")
            }
            What::Interval => {
                let hours = |ms: i64| ms as f64 / HOUR_MS as f64;
                let got = hours(field.interval_ms);
                match product.interval {
                    Some(Interval::Ms(ms)) => {
                        write!(f, "its interval has {got} h; {name} takes {} h", hours(ms))
                    }
                    _ => write!(
                        f,
                        "its interval of {got} h does not begin with the run; {name} takes those \
                         that do"
                    ),
                }
            }
        }
    }
}
