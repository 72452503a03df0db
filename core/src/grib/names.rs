//! The short names of parameters.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::product::Parameter;

/// One parameter per line: centre (0 for parameters that all centres share), code, wgrib2's name,
/// ecCodes' short name (- if there is none, or if it depends on more than the parameter), unit.
///
/// Sources: the tables of wgrib2 (`gribtables` of ncep, mrms and dwd) and of ecCodes 2.50.0.
const TABLE: &str = include_str!("parameters.tsv");

/// From this code on, codes are a centre's own.
const OWN: u8 = 192;

/// The names of a parameter.
///
/// ```
/// use mesonet::grib;
/// let temperature: grib::Parameter = "7:0.0.0".parse()?;
/// let name: grib::ParameterName = temperature.name().expect("it is in the tables");
/// assert_eq!((name.wgrib2, name.eccodes, name.unit), ("TMP", Some("t"), "K"));
/// assert!("7:0.0.254".parse::<grib::Parameter>()?.name().is_none());
/// # Ok::<(), grib::GribParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterName {
    /// The name in the inventories of wgrib2, such as `TMP`.
    pub wgrib2: &'static str,
    /// The short name in ecCodes, such as `t`, if there is one for all levels and statistics.
    pub eccodes: Option<&'static str>,
    /// The unit of the values.
    pub unit: &'static str,
}

impl Parameter {
    /// Returns the names of the parameter, if the tables have it.
    pub fn name(self) -> Option<ParameterName> {
        static NAMES: OnceLock<HashMap<Parameter, ParameterName>> = OnceLock::new();
        let names = NAMES.get_or_init(|| TABLE.lines().filter_map(entry).collect());
        let Self { centre, discipline, category, number } = self;
        let is_own = discipline >= OWN || category >= OWN || number >= OWN;
        // The weather service (8) uses the tables of its centre for forecasts (7).
        let centre = match centre {
            _ if !is_own => 0,
            8 => 7,
            centre => centre,
        };
        names.get(&Self { centre, discipline, category, number }).copied()
    }
}

fn entry(line: &'static str) -> Option<(Parameter, ParameterName)> {
    let mut parts = line.split('\t');
    let parameter = parts.next()?.parse().ok()?;
    let (wgrib2, eccodes, unit) = (parts.next()?, parts.next()?, parts.next()?);
    let eccodes = (eccodes != "-").then_some(eccodes);
    Some((parameter, ParameterName { wgrib2, eccodes, unit }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_read_and_its_names_can_be_printed() {
        let lines: Vec<_> = TABLE.lines().collect();
        let entries: HashMap<_, _> = TABLE.lines().filter_map(entry).collect();
        assert_eq!(entries.len(), lines.len());
        assert!(entries.values().all(|name| !name.wgrib2.contains(' ') && !name.unit.is_empty()));
    }

    #[test]
    fn a_centre_has_names_of_its_own() {
        let name = |text: &str| text.parse::<Parameter>().unwrap().name().map(|name| name.wgrib2);
        assert_eq!(name("54:0.0.0"), Some("TMP"));
        assert_eq!(name("7:0.16.196"), Some("REFC"));
        assert_eq!(name("8:0.1.198"), Some("MINRH"));
        assert_eq!(name("54:0.16.196"), None);
        assert_eq!(name("161:209.3.57"), Some("ReflectivityAtLowestAltitude"));
    }
}
