//! A source made from files, for a model that no catalogue has.

use std::fmt::Write as _;

use super::kind::is_usual_process;
use crate::grib::{Field, FieldKind, GribError, Level, Parameter, ProbabilityEvent};
use crate::grib::{Grid, Product};
use crate::time::HOUR_MS;

/// Kinds of levels of which there is one, whatever their value says: the ground, the mean sea level,
/// the atmosphere.
const ONLY_ONE: [u8; 4] = [1, 10, 101, 200];

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
    grid: Option<Grid>,
    /// Fields on other grids than the first one.
    elsewhere: usize,
}

/// What the fields of a product have in common.
#[derive(Clone, Debug, PartialEq)]
struct MadeProduct {
    parameter: Parameter,
    /// Of a pressure level, without its value.
    level: Level,
    second_level: Option<Level>,
    interval: Option<(u8, String)>,
    kind: FieldKind,
    process: Option<u8>,
    constituent: Option<u16>,
}

impl MadeSource {
    /// Adds a field. Its values are not unpacked.
    ///
    /// # Errors
    /// If it cannot be read; it is then left out.
    pub fn add(&mut self, field: &Field<'_>) -> Result<(), GribError> {
        let (parameter, product, grid) = (field.parameter()?, field.product()?, field.grid()?);
        if *self.grid.get_or_insert(grid) != grid {
            self.elsewhere += 1;
            return Ok(());
        }
        let made = MadeProduct::new(parameter, &product, field.reference_ms()?);
        if !self.products.contains(&made) {
            self.products.push(made);
        }
        Ok(())
    }

    /// Returns the number of fields that were left out because they are on another grid than the
    /// first one: a source has one grid.
    pub fn elsewhere(&self) -> usize {
        self.elsewhere
    }

    /// Writes the table, which everyone may use and whose runs have the hours, products and levels
    /// of the files that they are first made from; `None` if no field was added.
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

/// Returns the pair of winds that an eastward component is the first of.
fn wind(u: &str, names: &[String]) -> Option<String> {
    let v = format!("vgrd{}", u.strip_prefix("ugrd")?);
    names.contains(&v).then(|| format!("[\"{u}\", \"{v}\"]"))
}

impl MadeProduct {
    fn new(parameter: Parameter, product: &Product, reference_ms: i64) -> Self {
        let Product { level, second_level, statistic, interval_ms, valid_ms, .. } = *product;
        let is_pressure = level.kind == 100 && level.value.is_some() && second_level.is_none();
        let any_value = is_pressure || ONLY_ONE.contains(&level.kind);
        let interval = statistic.map(|statistic| {
            let text = match interval_ms {
                ms if ms > 0 && valid_ms - ms == reference_ms => "run".to_owned(),
                ms if ms > 0 && ms % HOUR_MS == 0 => format!("{}h", ms / HOUR_MS),
                _ => "any".to_owned(),
            };
            (statistic, text)
        });
        Self {
            parameter,
            level: Level { kind: level.kind, value: level.value.filter(|_| !any_value) },
            second_level: second_level.filter(|_| !any_value),
            interval,
            kind: match product.kind {
                FieldKind::Member(_) => FieldKind::Member(0),
                kind => kind,
            },
            process: (!is_usual_process(product)).then_some(product.process),
            constituent: product.constituent,
        }
    }

    /// Returns a name in small letters: that of wgrib2 or the code, the level, the statistic and what
    /// it is of.
    fn name(&self) -> String {
        let Parameter { discipline, category, number, .. } = self.parameter;
        let mut name = match self.parameter.name() {
            Some(name) => name.wgrib2.to_lowercase(),
            None => format!("p{discipline}_{category}_{number}"),
        };
        let value = |level: Level| level.value.map(|value| value.to_string()).unwrap_or_default();
        let level = match self.level.kind {
            100 if self.level.value.is_none() => String::new(),
            1 => "_surface".to_owned(),
            101 => "_msl".to_owned(),
            10 | 200 => "_atmosphere".to_owned(),
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
        key("level", &format!("\"{}\"", self.level));
        if let Some(second) = self.second_level {
            key("second_level", &format!("\"{second}\""));
        }
        if let Some((statistic, interval)) = &self.interval {
            key("interval", &format!("\"{interval}\""));
            let statistic =
                ["average", "accumulation", "maximum", "minimum"].get(usize::from(*statistic));
            if let Some(statistic) = statistic {
                key("statistic", &format!("\"{statistic}\""));
            }
        }
        match self.kind {
            FieldKind::Deterministic => {}
            FieldKind::Member(_) => key("field", "\"member\""),
            kind => key("field", &format!("\"{kind}\"")),
        }
        if let Some(process) = self.process {
            key("process", &process.to_string());
        }
        if let Some(constituent) = self.constituent {
            key("constituent", &constituent.to_string());
        }
        text
    }
}

#[cfg(test)]
#[path = "made_tests.rs"]
mod tests;
