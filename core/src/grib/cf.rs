//! The standard names of the CF conventions, and how the values of a field were derived from
//! others.
//!
//! Source: CF standard name table, version 90; WMO-No. 306, volume I.2, code table 4.2.

use std::collections::BTreeMap;

use super::{Field, FieldKind, GribError, Level, Parameter};

/// From this number on, parameters are a centre's own.
const LOCAL: u8 = 192;

/// The kinds of levels that some names depend on: the ground, and the mean sea level.
const SURFACE: u8 = 1;

/// Returns the standard name of a parameter at a kind of level, if there is one with the
/// parameter's own unit.
fn standard_name(parameter: Parameter, level: Level) -> Option<&'static str> {
    let Parameter { discipline, category, number, .. } = parameter;
    if number >= LOCAL || category >= LOCAL {
        return None;
    }
    let at_surface = level.kind == SURFACE;
    Some(match (discipline, category, number) {
        (0, 0, 0) if at_surface => "surface_temperature",
        (0, 0, 0 | 4 | 5) => "air_temperature",
        (0, 0, 2) => "air_potential_temperature",
        (0, 0, 6) => "dew_point_temperature",
        (0, 0, 17) => "surface_temperature",
        (0, 1, 0) => "specific_humidity",
        (0, 1, 1) => "relative_humidity",
        (0, 1, 2) => "humidity_mixing_ratio",
        (0, 1, 3) => "atmosphere_mass_content_of_water_vapor",
        (0, 1, 7 | 52) => "precipitation_flux",
        (0, 1, 8) => "precipitation_amount",
        (0, 1, 11) => "surface_snow_thickness",
        (0, 1, 13 | 60) => "surface_snow_amount",
        (0, 2, 0) => "wind_from_direction",
        (0, 2, 1) => "wind_speed",
        (0, 2, 2) => "eastward_wind",
        (0, 2, 3) => "northward_wind",
        (0, 2, 8) => "lagrangian_tendency_of_air_pressure",
        (0, 2, 9) => "upward_air_velocity",
        (0, 2, 10) => "atmosphere_upward_absolute_vorticity",
        (0, 2, 22) => "wind_speed_of_gust",
        (0, 3, 0) if at_surface => "surface_air_pressure",
        (0, 3, 0) => "air_pressure",
        (0, 3, 1) => "air_pressure_at_mean_sea_level",
        (0, 3, 4) => "geopotential",
        (0, 3, 5) if at_surface => "surface_altitude",
        (0, 3, 5) => "geopotential_height",
        (0, 3, 18) => "atmosphere_boundary_layer_thickness",
        (0, 4, 7) if at_surface => "surface_downwelling_shortwave_flux_in_air",
        (0, 5, 3) if at_surface => "surface_downwelling_longwave_flux_in_air",
        (0, 6, 1) => "cloud_area_fraction",
        (0, 7, 6) => "atmosphere_convective_available_potential_energy",
        (0, 7, 7) => "atmosphere_convective_inhibition",
        (0, 19, 0) => "visibility_in_air",
        _ => return None,
    })
}

/// Returns the CF attributes of a field's values: `standard_name`, `cell_methods` and `comment`, if
/// they apply.
pub(crate) fn attributes(
    parameter: Parameter,
    level: Level,
    kind: FieldKind,
    statistic: Option<u8>,
) -> BTreeMap<&'static str, String> {
    let mut attributes = BTreeMap::new();
    let of_members = match kind {
        FieldKind::Deterministic | FieldKind::Member(_) => Some(None),
        FieldKind::Derived(code) => match code {
            0 | 1 => Some(Some("mean")),
            // Deviations have the unit of the values, but are not such values themselves.
            2 | 4 => Some(Some("standard_deviation")),
            8 => Some(Some("minimum")),
            9 => Some(Some("maximum")),
            _ => None,
        },
        _ => None,
    };
    let over_time = match statistic {
        Some(0) => Some("mean"),
        Some(1) => Some("sum"),
        Some(2) => Some("maximum"),
        Some(3) => Some("minimum"),
        _ => None,
    };
    if let Some(of_members) = of_members {
        if let Some(name) = standard_name(parameter, level) {
            attributes.insert("standard_name", name.to_owned());
        }
        let over_time = over_time.map(|method| format!("valid_time: {method}"));
        let of_members = of_members.map(|method| format!("realization: {method}"));
        let methods: Vec<String> = [over_time, of_members].into_iter().flatten().collect();
        if !methods.is_empty() {
            attributes.insert("cell_methods", methods.join(" "));
        }
    }
    if let Some(no_echo) = parameter.no_echo() {
        let comment =
            format!("{no_echo} is no echo where a radar sees; a place that none sees has no value");
        attributes.insert("comment", comment);
    }
    attributes
}

impl Field<'_> {
    /// Returns the CF attributes of the values: `units`, `standard_name`, `cell_methods` and
    /// `comment`, as far as they apply. Winds along the axes of the grid are `x_wind` and `y_wind`.
    ///
    /// # Errors
    /// If the product or the grid is not supported.
    ///
    /// ```
    /// # let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/../server-example/sample/nam211_20180917T00Z_f000_181msg.grib2");
    /// use mesonet::grib;
    /// let bytes = std::fs::read(sample)?;
    /// let wind = grib::fields(&bytes).flatten().find(|field| {
    ///     field.parameter().is_ok_and(|parameter| parameter.to_string() == "7:0.2.2")
    /// });
    /// let attributes = wind.ok_or("no wind")?.cf_attributes()?;
    /// assert_eq!(attributes["standard_name"], "x_wind");
    /// assert_eq!(attributes["units"], "m/s");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cf_attributes(&self) -> Result<BTreeMap<&'static str, String>, GribError> {
        let (parameter, product) = (self.parameter()?, self.product()?);
        let mut attributes = attributes(parameter, product.level, product.kind, product.statistic);
        if self.grid()?.grid_relative_winds() {
            for name in attributes.values_mut() {
                let along_axes = match name.as_str() {
                    "eastward_wind" => "x_wind",
                    "northward_wind" => "y_wind",
                    _ => continue,
                };
                along_axes.clone_into(name);
            }
        }
        // A probability is not in the unit of its parameter.
        let has_unit = !matches!(product.kind, FieldKind::Probability(_));
        if let Some(name) = parameter.name().filter(|_| has_unit) {
            attributes.insert("units", name.unit.to_owned());
        }
        Ok(attributes)
    }
}
