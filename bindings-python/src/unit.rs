//! Units: resolving texts, and the ufunc behind `convert`.

use std::convert::Infallible;

use mesonet::observation::Canonical;
use mesonet::unit::{Conversion, Resolution, Sample, Vocabulary};
use mesonet::{Unit, Variable};
use pyo3::prelude::*;

use crate::error::refused;
use crate::ufunc::{
    ArrayElement, Operand, Output, by_chunks, forget_float_errors, inner_loop,
    register as register_ufunc, slices,
};

/// Two units, and whether 1 kg/m² is 1 mm, as `convert_numbered` takes them.
type Numbers = (u8, u8, u8);

/// Both units as numbers for `convert_numbered`. The conversion cannot fail for them.
#[pyfunction]
#[pyo3(signature = (from_unit, to_unit, liquid_water, /))]
fn conversion(from_unit: &str, to_unit: &str, liquid_water: bool) -> PyResult<Numbers> {
    let (from, to) = (from_unit.parse().map_err(refused)?, to_unit.parse().map_err(refused)?);
    Conversion::new(from, to, liquid_water).map_err(refused)?;
    Ok((from as u8, to as u8, u8::from(liquid_water)))
}

/// The conversion that `conversion` checked. For other numbers, which no user passes, it is the
/// identity.
fn numbered(from: u8, to: u8, liquid_water: u8) -> Conversion {
    let unit = |number: u8| Unit::ALL.get(usize::from(number)).copied().unwrap_or(Unit::One);
    let identity = Conversion::between(Unit::One, Unit::One);
    let conversion = Conversion::new(unit(from), unit(to), liquid_water != 0);
    conversion.or(identity).expect("a unit converts into itself")
}

/// Values as stored in memory: `f32` is converted in `f64` and rounded once.
fn convert<T: ArrayElement + Sample + Default>(
    value: Operand<'_, T>,
    from: Operand<'_, u8>,
    to: Operand<'_, u8>,
    liquid_water: Operand<'_, u8>,
    mut converted: Output<'_, T>,
) -> Result<(), String> {
    let shared = match (from.constant(), to.constant(), liquid_water.constant()) {
        (Some(from), Some(to), Some(liquid)) => Some(numbered(from, to, liquid)),
        _ => None,
    };
    if let Some(conversion) = shared
        && let Some((values, converted)) = slices(&value, &mut converted)
    {
        let done = conversion.apply_into(values, converted);
        forget_float_errors();
        return done.map_err(|error| error.to_string());
    }
    if let Some(conversion) = shared {
        // Through memory of its own, so that values may be converted in place.
        by_chunks([value], converted, |[values], converted| {
            conversion.apply_into(values, converted)
        })
        .map_err(|error| error.to_string())?;
    } else {
        for (((value, from), to), liquid) in value.zip(from).zip(to).zip(liquid_water) {
            let mut one = [value];
            numbered(from, to, liquid).apply_in_place(&mut one);
            converted.push(one[0]);
        }
    }
    forget_float_errors();
    Ok(())
}

/// Integers of any width become float64.
#[expect(clippy::unnecessary_wraps, reason = "the shape of every inner loop")]
fn convert_integers(
    value: Operand<'_, i64>,
    from: Operand<'_, u8>,
    to: Operand<'_, u8>,
    liquid_water: Operand<'_, u8>,
    mut converted: Output<'_, f64>,
) -> Result<(), Infallible> {
    for (((value, from), to), liquid) in value.zip(from).zip(to).zip(liquid_water) {
        converted.push(numbered(from, to, liquid).apply(value as f64));
    }
    Ok(())
}

fn vocabulary(name: Option<&str>) -> PyResult<Option<Vocabulary>> {
    name.map(|name| name.parse().map_err(refused)).transpose()
}

/// See `mesonet.resolve_unit`.
#[pyfunction]
#[pyo3(signature = (text, vocabulary, /))]
#[pyo3(name = "resolve_unit")]
fn resolve(text: &str, vocabulary: Option<&str>) -> PyResult<(&'static str, Vec<&'static str>)> {
    let resolution = Unit::resolve(text, self::vocabulary(vocabulary)?);
    let state = match resolution {
        Resolution::Exact(_) => "exact",
        Resolution::Ambiguous(_) => "ambiguous",
        Resolution::Unknown => "unknown",
    };
    Ok((state, resolution.units().iter().map(|unit| unit.symbol()).collect()))
}

/// Returns the unit in which a variable's values are stored, and the arguments of
/// `convert_numbered`; `None` for values that are kept as reported.
#[pyfunction]
#[pyo3(signature = (variable, reported_unit, vocabulary, /))]
fn canonical(
    variable: &str,
    reported_unit: &str,
    vocabulary: Option<&str>,
) -> PyResult<(String, Option<Numbers>)> {
    let variable: Variable = variable.parse().map_err(refused)?;
    let vocabulary = self::vocabulary(vocabulary)?;
    let canonical = Canonical::of(variable, reported_unit, vocabulary);
    let numbers = match (canonical.conversion(), Unit::resolve(reported_unit, vocabulary)) {
        (Some(conversion), Resolution::Exact(from)) => {
            let to = variable.unit();
            let plain = Conversion::between(from, to) == Ok(conversion);
            Some((from as u8, to as u8, u8::from(!plain)))
        }
        _ => None,
    };
    Ok((canonical.unit().to_owned(), numbers))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(conversion, module)?)?;
    module.add_function(wrap_pyfunction!(resolve, module)?)?;
    module.add_function(wrap_pyfunction!(canonical, module)?)?;
    register_ufunc(
        module,
        c"convert_numbered",
        c"See mesonet.convert.",
        [
            inner_loop!(
                convert_integers: (value: i64, from: u8, to: u8, liquid: u8) -> (converted: f64)
            ),
            inner_loop!(convert: (value: f32, from: u8, to: u8, liquid: u8) -> (converted: f32)),
            inner_loop!(convert: (value: f64, from: u8, to: u8, liquid: u8) -> (converted: f64)),
        ],
    )
}
