//! A source made from files, for a model that is in no catalogue.

use std::fmt::Write as _;

use super::field::{Statistic, length_text};
use super::kind::DefinitionDigest;
use crate::grib::{
    Field, FieldKind, GribError, Level, Parameter, ProbabilityEvent, ProductSection,
};
use crate::grid::NativeGrid;

/// Collects the fields of files and writes the table of a catalogue for them.
///
/// ```
/// # let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/safrica_ps_20100308T12Z_25hours.grib2");
/// use mesonet::{grib, model};
/// let bytes = std::fs::read(sample)?;
/// let mut made = model::MadeSource::default();
/// for field in grib::fields(&bytes) {
///     made.add(&field?)?;
/// }
/// let catalogue = model::Catalogue::from_toml(&made.toml("mine").expect("it has fields"))?;
/// let water = catalogue.get("mine").unwrap().product("pwat_atmosphere").unwrap();
/// assert_eq!(water.unit(), "kg/m²");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MadeSource {
    products: Vec<MadeProduct>,
    grid: Option<NativeGrid>,
    /// Fields on a different grid from the first.
    elsewhere: usize,
}

/// What the fields of a product have in common.
#[derive(Clone, Debug, PartialEq)]
struct MadeProduct {
    parameter: Parameter,
    /// For a pressure level, without its value.
    level: Level,
    has_levels: bool,
    second_level: Option<Level>,
    interval: Option<(u8, String)>,
    kind: FieldKind,
    process: u8,
    constituent: Option<u16>,
    rest: u64,
}

impl MadeSource {
    /// Adds a field. Its values are not unpacked.
    ///
    /// # Errors
    /// If the field cannot be read; it is then left out.
    pub fn add(&mut self, field: &Field<'_>) -> Result<(), GribError> {
        let (parameter, product) = (field.parameter()?, field.product()?);
        let grid = NativeGrid::try_from(&field.grid()?)?;
        match &self.grid {
            None => self.grid = Some(grid),
            Some(first) if grid.turns_to(first).is_some() => {}
            Some(_) => {
                self.elsewhere += 1;
                return Ok(());
            }
        }
        let made = MadeProduct::new(parameter, &product, field.reference_ms()?);
        if !self.products.contains(&made) {
            self.products.push(made);
        }
        Ok(())
    }

    /// Returns the number of fields that were left out because their grid differs from that of the
    /// first field: a source has one grid.
    pub fn elsewhere(&self) -> usize {
        self.elsewhere
    }

    /// Writes the table; `None` if no field was added. Everyone may use the source, and its runs
    /// have the hours, products and levels of the first files that they are made from.
    pub fn toml(&self, name: &str) -> Option<String> {
        if self.products.is_empty() {
            return None;
        }
        let mut names: Vec<String> = Vec::new();
        for product in &self.products {
            let base = product.name();
            let taken = |name: &String| names.contains(name);
            let more = (2..).map(|number| format!("{base}_{number}"));
            let unique = std::iter::once(base.clone()).chain(more).find(|name| !taken(name));
            names.push(unique.unwrap_or(base));
        }
        let winds: Vec<String> = names.iter().filter_map(|u| wind(u, &names)).collect();
        let mut text = format!("[{name}]\ntitle = \"{name}\"\naccess = {{ plan = \"free\" }}\n");
        if !winds.is_empty() {
            let _ = writeln!(text, "winds = [{}]", winds.join(", "));
        }
        text.push_str("products = [\n");
        for (product, name) in self.products.iter().zip(&names) {
            let _ = writeln!(text, "    {{ {} }},", product.toml(name));
        }
        text.push_str("]\n");
        Some(text)
    }
}

/// Returns the pair of winds that starts with an eastward component.
fn wind(u: &str, names: &[String]) -> Option<String> {
    let v = format!("vgrd{}", u.strip_prefix("ugrd")?);
    names.contains(&v).then(|| format!("[\"{u}\", \"{v}\"]"))
}

impl MadeProduct {
    fn new(parameter: Parameter, product: &ProductSection, reference_ms: i64) -> Self {
        let ProductSection { level, second_level, statistic, interval_ms, valid_ms, .. } = *product;
        let has_levels = level.kind == 100 && level.value.is_some() && second_level.is_none();
        let interval = statistic.map(|statistic| {
            let is_since_start = interval_ms > 0 && valid_ms - interval_ms == reference_ms;
            let text = if is_since_start { "run".to_owned() } else { length_text(interval_ms) };
            (statistic, text)
        });
        Self {
            parameter,
            level: Level { kind: level.kind, value: level.value.filter(|_| !has_levels) },
            has_levels,
            second_level,
            interval,
            kind: match product.kind {
                FieldKind::Member(_) => FieldKind::Member(0),
                kind => kind,
            },
            process: product.process,
            constituent: product.constituent,
            rest: product.rest,
        }
    }

    /// Returns a name in lower case: the name in wgrib2 or the code, the level, the statistic and
    /// the kind of forecast.
    fn name(&self) -> String {
        let Parameter { discipline, category, number, .. } = self.parameter;
        let mut name = match self.parameter.name() {
            Some(name) => name.wgrib2.to_lowercase(),
            None => format!("p{discipline}_{category}_{number}"),
        };
        let value = |level: Level| level.value.map(|value| value.to_string()).unwrap_or_default();
        let is_at_a_height = self.level.value.is_some_and(|value| value != 0.0);
        let level = match self.level.kind {
            100 if self.has_levels => String::new(),
            1 if !is_at_a_height => "_surface".to_owned(),
            101 if !is_at_a_height => "_msl".to_owned(),
            10 | 200 if !is_at_a_height => "_atmosphere".to_owned(),
            103 => format!("_{}m", value(self.level)),
            kind => format!("_level{kind}_{}", value(self.level)),
        };
        name.push_str(level.trim_end_matches('_'));
        if let Some(second) = self.second_level {
            let _ = write!(name, "_to_{}", value(second));
        }
        if let Some((statistic, interval)) = &self.interval {
            let statistic = match statistic {
                0 => "mean".to_owned(),
                1 => "sum".to_owned(),
                2 => "max".to_owned(),
                3 => "min".to_owned(),
                code => format!("statistic{code}"),
            };
            let _ = write!(name, "_{statistic}_{interval}");
        }
        match self.kind {
            FieldKind::Deterministic | FieldKind::Member(_) => {}
            FieldKind::Probability(ProbabilityEvent::Above(limit)) => {
                let _ = write!(name, "_above_{limit}");
            }
            kind => {
                let _ = write!(name, "_{kind}");
            }
        }
        let plain = |letter: char| match letter {
            '.' => 'p',
            letter if letter.is_ascii_alphanumeric() => letter,
            _ => '_',
        };
        name.chars().map(plain).take(60).collect()
    }

    fn toml(&self, name: &str) -> String {
        let unit = self.parameter.name().map_or("1", |name| name.unit);
        let mut text = format!("name = \"{name}\", unit = \"{unit}\", packing = \"auto\"");
        let mut key = |key: &str, value: &str| {
            let _ = write!(text, ", {key} = {value}");
        };
        key("parameter", &format!("\"{}\"", self.parameter));
        let none = if self.level.value.is_none() && !self.has_levels { ":none" } else { "" };
        key("level", &format!("\"{}{none}\"", self.level));
        let second = self.second_level.map_or("none".to_owned(), |second| second.to_string());
        key("second_level", &format!("\"{second}\""));
        if let Some((statistic, interval)) = &self.interval {
            key("interval", &format!("\"{interval}\""));
            key("statistic", &format!("\"{}\"", Statistic(*statistic)));
        }
        match self.kind {
            FieldKind::Member(_) => key("field", "\"member\""),
            kind => key("field", &format!("\"{kind}\"")),
        }
        key("process", &self.process.to_string());
        if let Some(constituent) = self.constituent {
            key("constituent", &constituent.to_string());
        }
        key("rest", &format!("\"{}\"", DefinitionDigest(self.rest)));
        text
    }
}

#[cfg(test)]
#[path = "made_tests.rs"]
mod tests;
