//! Units: resolving texts, and conversion.

use mesonet::observation::Canonical;
use mesonet::unit::{Conversion, UnitError, Vocabulary};
use mesonet::{Unit, Variable};
use wasm_bindgen::prelude::*;

fn conversion(from: &str, to: &str, liquid_water: bool) -> Result<Conversion, UnitError> {
    Conversion::new(from.parse()?, to.parse()?, liquid_water)
}

/// Values in another unit.
#[wasm_bindgen]
pub fn convert(
    values: &[f64],
    from: &str,
    to: &str,
    liquid_water: bool,
) -> Result<Vec<f64>, JsError> {
    let conversion = conversion(from, to, liquid_water)?;
    let mut converted = vec![0.0; values.len()];
    conversion.apply_into(values, &mut converted)?;
    Ok(converted)
}

/// The same in single precision.
#[wasm_bindgen]
pub fn convert_f32(
    values: &[f32],
    from: &str,
    to: &str,
    liquid_water: bool,
) -> Result<Vec<f32>, JsError> {
    let conversion = conversion(from, to, liquid_water)?;
    let mut converted = vec![0.0; values.len()];
    conversion.apply_into(values, &mut converted)?;
    Ok(converted)
}

fn vocabulary(name: Option<String>) -> Result<Option<Vocabulary>, UnitError> {
    name.map(|name| name.parse()).transpose()
}

/// The symbols of the units that a text may stand for: one, several, or none.
#[wasm_bindgen]
pub fn resolve_unit(text: &str, vocabulary: Option<String>) -> Result<Vec<String>, JsError> {
    let resolution = Unit::resolve(text, self::vocabulary(vocabulary)?);
    Ok(resolution.units().iter().map(|unit| unit.symbol().to_owned()).collect())
}

/// Converts values of a variable, in place, to the stored form. Returns their unit.
#[wasm_bindgen]
pub fn to_canonical(
    variable: &str,
    values: &mut [f64],
    reported_unit: &str,
    vocabulary: Option<String>,
) -> Result<String, JsError> {
    let variable: Variable = variable.parse()?;
    let vocabulary = self::vocabulary(vocabulary)?;
    let canonical = Canonical::of(variable, reported_unit, vocabulary);
    if let Some(conversion) = canonical.conversion() {
        conversion.apply_in_place(values);
    }
    Ok(canonical.unit().to_owned())
}

/// Names of the vocabularies.
#[wasm_bindgen]
pub fn vocabulary_names() -> Vec<String> {
    Vocabulary::ALL.map(|vocabulary| vocabulary.name().to_owned()).into()
}

/// Names of the variables.
#[wasm_bindgen]
pub fn variable_names() -> Vec<String> {
    Variable::ALL.iter().map(|variable| variable.name().to_owned()).collect()
}
