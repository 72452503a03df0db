//! Units: what a text stands for, and conversion.

use mesonet::{Canonical, Conversion, Resolution, Unit, UnitError, Variable, Vocabulary};
use wasm_bindgen::prelude::*;

fn conversion(from: &str, to: &str, liquid_water: bool) -> Result<Conversion, UnitError> {
    let between = if liquid_water { Conversion::of_liquid_water } else { Conversion::between };
    between(from.parse()?, to.parse()?)
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
    Ok(match Unit::resolve(text, self::vocabulary(vocabulary)?) {
        Resolution::Exact(unit) => vec![unit.symbol().to_owned()],
        Resolution::Ambiguous(units) => units.iter().map(|unit| unit.symbol().to_owned()).collect(),
        Resolution::Unknown => Vec::new(),
    })
}

/// Values of a variable as they are stored: changed in place. Gives their unit.
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
