//! Quality codes: their names, and their ranking over arrays and sequences.

use std::fmt::Display;
use std::str::FromStr;

use mesonet::observation::{QualityError, distinct_codes_worst_first, worst_code};
use mesonet::{BaseQuality, ReasonQuality};
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString};

use crate::error::refused;
use crate::ufunc::{ArrayElement, Operand, Output, inner_loop, register as register_ufunc};

/// Both kinds of code.
trait QualityNumber {
    fn number(self) -> u8;
    fn refused(got: impl Display) -> QualityError;
}

impl QualityNumber for BaseQuality {
    fn number(self) -> u8 {
        self as u8
    }

    fn refused(got: impl Display) -> QualityError {
        Self::refused(got)
    }
}

impl QualityNumber for ReasonQuality {
    fn number(self) -> u8 {
        self as u8
    }

    fn refused(got: impl Display) -> QualityError {
        Self::refused(got)
    }
}

/// A number that fits in a byte, or the code of a name. The core checks whether the number is a
/// code.
fn byte<C>(value: &Bound<'_, PyAny>) -> PyResult<u8>
where
    C: FromStr<Err = QualityError> + QualityNumber,
{
    if let Ok(name) = value.cast::<PyString>() {
        return name.to_str()?.parse::<C>().map(QualityNumber::number).map_err(refused);
    }
    if value.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err("a quality code is an integer or a name; got bool"));
    }
    value.extract().or_else(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(value.py()) {
            return Err(refused(C::refused(value.str()?)));
        }
        Err(PyTypeError::new_err(format!(
            "a quality code is an integer or a name; got {}",
            value.get_type().name()?
        )))
    })
}

/// Runs `rank` without the GIL over base codes given as a uint8 array (in place if contiguous), as
/// an array of other integers or of names, or as an iterable of codes and names.
fn ranked<R: Send>(
    codes: &Bound<'_, PyAny>,
    rank: impl FnOnce(&[u8]) -> Result<R, QualityError> + Send,
) -> PyResult<R> {
    let py = codes.py();
    // Series and other array-likes are converted to arrays, so that their type counts.
    let array = if codes.hasattr("__array__")? {
        py.import("numpy")?.call_method1("asarray", (codes,))?
    } else {
        codes.clone()
    };
    if let Ok(codes) = array.cast::<PyArrayDyn<u8>>() {
        let codes = codes.try_readonly()?;
        let ranked = if let Ok(codes) = codes.as_slice() {
            py.detach(|| rank(codes))
        } else {
            let codes: Vec<u8> = codes.as_array().iter().copied().collect();
            py.detach(|| rank(&codes))
        };
        return ranked.map_err(refused);
    }
    let codes = if let Ok(array) = array.cast::<PyUntypedArray>() {
        let dtype = array.dtype();
        let kind: String = dtype.getattr("kind")?.extract()?;
        // Integers and names are checked one by one below; nothing else can be a code.
        if !matches!(kind.as_str(), "i" | "u" | "O" | "T" | "U") {
            return Err(PyTypeError::new_err(format!(
                "an array of quality codes holds integers or names; got {}",
                dtype.str()?
            )));
        }
        array.getattr("flat")?
    } else if array.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err("codes are an array or an iterable; got str"));
    } else {
        array
    };
    let codes = codes.try_iter()?.map(|value| byte::<BaseQuality>(&value?));
    let codes = codes.collect::<PyResult<Vec<u8>>>()?;
    py.detach(|| rank(&codes)).map_err(refused)
}

/// The code of a base quality given as a number or a name.
#[pyfunction]
#[pyo3(signature = (value, /))]
fn base_quality_code(value: &Bound<'_, PyAny>) -> PyResult<u8> {
    BaseQuality::try_from(byte::<BaseQuality>(value)?).map(QualityNumber::number).map_err(refused)
}

/// The code of a reason given as a number or a name.
#[pyfunction]
#[pyo3(signature = (value, /))]
fn reason_quality_code(value: &Bound<'_, PyAny>) -> PyResult<u8> {
    ReasonQuality::try_from(byte::<ReasonQuality>(value)?)
        .map(QualityNumber::number)
        .map_err(refused)
}

/// See `mesonet.worst`.
#[pyfunction]
#[pyo3(signature = (codes, /))]
fn worst(codes: &Bound<'_, PyAny>) -> PyResult<u8> {
    ranked(codes, worst_code).map(QualityNumber::number)
}

/// See `mesonet.distinct_worst_first`.
#[pyfunction]
#[pyo3(signature = (codes, /))]
fn distinct_worst_first(codes: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let distinct = ranked(codes, distinct_codes_worst_first)?;
    Ok(distinct.into_iter().map(QualityNumber::number).collect())
}

/// Works element by element; `reduce` runs it with the result as first operand. NumPy passes Python
/// integers as wide integers.
fn worse<N: ArrayElement + Ord + From<u8>>(
    a: Operand<'_, N>,
    b: Operand<'_, N>,
    mut min: Output<'_, u8>,
) -> Result<(), QualityError>
where
    BaseQuality: TryFrom<N, Error = QualityError>,
{
    for (a, b) in a.zip(b) {
        min.push(worst_code(&[a, b])? as u8);
    }
    Ok(())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("BASE_QUALITY_NAMES", BaseQuality::ALL.map(BaseQuality::name).to_vec())?;
    module.add("REASON_QUALITY_NAMES", ReasonQuality::ALL.map(ReasonQuality::name).to_vec())?;
    module.add_function(wrap_pyfunction!(base_quality_code, module)?)?;
    module.add_function(wrap_pyfunction!(reason_quality_code, module)?)?;
    module.add_function(wrap_pyfunction!(worst, module)?)?;
    module.add_function(wrap_pyfunction!(distinct_worst_first, module)?)?;
    register_ufunc(
        module,
        c"worse",
        c"The worse of two base quality codes, element by element: integers in, uint8 out.

``worse.reduce(codes, axis=...)`` gives the worst along an axis of a uint8 array. For an axis that
may be empty pass ``initial=BaseQuality.Unknown``, the best of the ranking. A number that is not a
code raises MesonetError.

Examples
--------
>>> import numpy as np, mesonet
>>> codes = np.array([[6, 3], [7, 6]], np.uint8)
>>> mesonet.worse.reduce(codes, axis=1)
array([3, 6], dtype=uint8)",
        [
            inner_loop!(worse: (a: u8, b: u8) -> (min: u8)),
            inner_loop!(worse: (a: i64, b: i64) -> (min: u8)),
        ],
    )
}
