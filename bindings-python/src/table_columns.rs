//! Columns of Arrow tables as arrays of NumPy and lists of Python.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float64Type, Int32Type, Int64Type, UInt8Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use numpy::{Element, PyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

/// NumPy's NaT.
const NAT: i64 = i64::MIN;

/// A column: numbers and truth values as an array, times as an array of integers with the type that
/// NumPy must take them as, texts as a list. A null is NaN, False, NaT or None.
pub fn column<'py>(
    py: Python<'py>,
    name: &str,
    column: &ArrayRef,
) -> PyResult<(Bound<'py, PyAny>, Option<&'static str>)> {
    let values = match column.data_type() {
        DataType::Float64 => numbers::<Float64Type>(py, column, |value| value),
        DataType::Int32 => numbers::<Int32Type>(py, column, f64::from),
        DataType::Int64 => numbers::<Int64Type>(py, column, |value| value as f64),
        DataType::UInt8 => numbers::<UInt8Type>(py, column, f64::from),
        DataType::UInt64 => numbers::<UInt64Type>(py, column, |value| value as f64),
        DataType::Boolean => {
            let values = column.as_boolean().iter().map(Option::unwrap_or_default);
            PyArray1::from_iter(py, values).into_any()
        }
        DataType::Timestamp(unit, _) => {
            let data = column.to_data();
            let ticks = &data.buffer::<i64>(0)[..column.len()];
            let of = |(row, &tick): (usize, &i64)| if column.is_null(row) { NAT } else { tick };
            let ticks = PyArray1::from_iter(py, ticks.iter().enumerate().map(of));
            let dtype = match unit {
                TimeUnit::Second => "M8[s]",
                TimeUnit::Millisecond => "M8[ms]",
                TimeUnit::Microsecond => "M8[us]",
                TimeUnit::Nanosecond => "M8[ns]",
            };
            return Ok((ticks.into_any(), Some(dtype)));
        }
        DataType::Utf8 => {
            PyList::new(py, column.as_string::<i32>().iter().collect::<Vec<_>>())?.into_any()
        }
        DataType::Dictionary(_, values) if **values == DataType::Utf8 => {
            categories(py, column)?.into_any()
        }
        other => {
            let text = format!("column {name} has values of the type {other}; to_arrow() has them");
            return Err(PyTypeError::new_err(text));
        }
    };
    Ok((values, None))
}

/// Numbers; if any is null, as float64 with NaN.
fn numbers<'py, T: ArrowPrimitiveType<Native: Element>>(
    py: Python<'py>,
    column: &ArrayRef,
    to_f64: impl Fn(T::Native) -> f64,
) -> Bound<'py, PyAny> {
    let column = column.as_primitive::<T>();
    if column.null_count() == 0 {
        return PyArray1::from_slice(py, column.values()).into_any();
    }
    let values = column.iter().map(|value| value.map_or(f64::NAN, &to_f64));
    PyArray1::from_iter(py, values).into_any()
}

/// Texts of a dictionary. Each is made once, however many rows have it.
fn categories<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    let dictionary = column.as_any_dictionary();
    let texts = dictionary.values().as_string::<i32>().iter();
    let texts: Vec<Option<Bound<'_, PyString>>> =
        texts.map(|text| text.map(|text| PyString::new(py, text))).collect();
    // Keys of nulls may be any, and without texts there are only nulls.
    let keys = if texts.is_empty() { vec![0; column.len()] } else { dictionary.normalized_keys() };
    let of = |(row, key): (usize, usize)| {
        if column.is_null(row) { None } else { texts.get(key).cloned().flatten() }
    };
    PyList::new(py, keys.into_iter().enumerate().map(of).collect::<Vec<_>>())
}
