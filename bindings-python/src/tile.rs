//! Packed tiles: the ufuncs `decode` and `encode`, and bytes as received from the service; and the
//! codec of packed grids on disk.

use mesonet::grid::Encoding;
use mesonet::grid::blocks::{self, ChunkShape};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::refused;
use crate::ufunc::{
    ArrayElement, Operand, Output, forget_float_errors, inner_loop, register as register_ufunc,
    slices,
};

/// A message for Python.
type Outcome = Result<(), String>;

/// An integer that stands for a packed 16-bit integer.
trait Packed: ArrayElement {
    fn packed(self, what: &str) -> Result<i16, String>;
}

impl Packed for i16 {
    fn packed(self, _what: &str) -> Result<i16, String> {
        Ok(self)
    }
}

/// Python integers, which NumPy passes as wide integers: they are checked, and never wrap around.
impl Packed for i64 {
    fn packed(self, what: &str) -> Result<i16, String> {
        i16::try_from(self).map_err(|_| {
            format!("{what} must be an integer from {} to {}; got {self}", i16::MIN, i16::MAX)
        })
    }
}

fn encoding(scale: f64, offset: f64, nodata: impl Packed) -> Result<Encoding, String> {
    Encoding::new(scale, offset, nodata.packed("nodata")?).map_err(|error| error.to_string())
}

/// The encoding of all elements, or of each one.
struct Encodings<'a, N> {
    scale: Operand<'a, f64>,
    offset: Operand<'a, f64>,
    nodata: Operand<'a, N>,
}

impl<N: Packed> Encodings<'_, N> {
    /// The encoding that all elements share, if they do.
    fn shared(&self) -> Result<Option<Encoding>, String> {
        match (self.scale.constant(), self.offset.constant(), self.nodata.constant()) {
            (Some(scale), Some(offset), Some(nodata)) => encoding(scale, offset, nodata).map(Some),
            _ => Ok(None),
        }
    }

    /// An encoding for each element.
    fn each(self) -> impl Iterator<Item = Result<Encoding, String>> {
        let parts = self.scale.zip(self.offset).zip(self.nodata);
        parts.map(|((scale, offset), nodata)| encoding(scale, offset, nodata))
    }
}

fn decode<N: Packed>(
    raw: Operand<'_, i16>,
    scale: Operand<'_, f64>,
    offset: Operand<'_, f64>,
    nodata: Operand<'_, N>,
    mut value: Output<'_, f64>,
) -> Outcome {
    let encodings = Encodings { scale, offset, nodata };
    if let Some(encoding) = encodings.shared()?
        && let Some((raw, values)) = slices(&raw, &mut value)
    {
        return encoding.decode_into(raw, values).map_err(|error| error.to_string());
    }
    decode_each(raw, encodings, value)
}

fn decode_wide(
    raw: Operand<'_, i64>,
    scale: Operand<'_, f64>,
    offset: Operand<'_, f64>,
    nodata: Operand<'_, i64>,
    value: Output<'_, f64>,
) -> Outcome {
    decode_each(raw, Encodings { scale, offset, nodata }, value)
}

fn decode_each<R: Packed, N: Packed>(
    raw: Operand<'_, R>,
    encodings: Encodings<'_, N>,
    mut value: Output<'_, f64>,
) -> Outcome {
    for (raw, encoding) in raw.zip(encodings.each()) {
        value.push(encoding?.decode(raw.packed("raw")?));
    }
    Ok(())
}

fn encode<N: Packed>(
    value: Operand<'_, f64>,
    scale: Operand<'_, f64>,
    offset: Operand<'_, f64>,
    nodata: Operand<'_, N>,
    mut raw: Output<'_, i16>,
) -> Outcome {
    let encodings = Encodings { scale, offset, nodata };
    if let Some(encoding) = encodings.shared()?
        && let Some((values, raw)) = slices(&value, &mut raw)
    {
        let done = encoding.encode_into(values, raw);
        // A missing value is NaN, with which the integer is computed before it is put aside.
        forget_float_errors();
        return done.map_err(|error| error.to_string());
    }
    for (value, encoding) in value.zip(encodings.each()) {
        raw.push(encoding?.encode(value));
    }
    forget_float_errors();
    Ok(())
}

/// See `mesonet.decode_bytes`.
#[pyfunction]
#[pyo3(signature = (data, scale, offset, nodata, /))]
fn decode_bytes<'py>(
    data: &Bound<'py, PyAny>,
    scale: f64,
    offset: f64,
    nodata: i64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let py = data.py();
    let encoding = encoding(scale, offset, nodata).map_err(refused)?;
    // Python bytes never change, so they are read in place. A buffer that may change while the GIL
    // is released is copied first.
    let copy;
    let bytes = if let Ok(bytes) = data.cast::<PyBytes>() {
        bytes.as_bytes()
    } else {
        copy = PyBuffer::<u8>::get(data)
            .map_err(|error| {
                PyTypeError::new_err(format!("a tile must be a buffer of bytes: {error}"))
            })?
            .to_vec(py)?;
        &copy
    };
    let values = PyArray1::<f64>::zeros(py, bytes.len() / 2, false);
    {
        let mut values = values.readwrite();
        let values = values.as_slice_mut()?;
        py.detach(|| encoding.decode_bytes_into(bytes, values)).map_err(refused)?;
    }
    Ok(values)
}

/// The values of a chunk of the codec `mesonet.blocks`, plane by plane.
#[pyfunction]
#[pyo3(signature = (data, planes, rows, columns, /))]
fn decode_blocks<'py>(
    data: &Bound<'py, PyBytes>,
    planes: usize,
    rows: usize,
    columns: usize,
) -> PyResult<Bound<'py, PyArray1<i16>>> {
    let (py, bytes) = (data.py(), data.as_bytes());
    let shape = ChunkShape { planes, rows, columns };
    shape.check().map_err(refused)?;
    let values = PyArray1::<i16>::zeros(py, shape.values(), false);
    {
        let mut values = values.readwrite();
        let values = values.as_slice_mut()?;
        py.detach(|| blocks::decode(bytes, shape, values)).map_err(refused)?;
    }
    Ok(values)
}

/// A chunk of the codec `mesonet.blocks`; no bytes if it has no values.
#[pyfunction]
#[pyo3(signature = (values, planes, rows, columns, nodata, /))]
fn encode_blocks<'py>(
    values: &Bound<'py, PyArrayDyn<i16>>,
    planes: usize,
    rows: usize,
    columns: usize,
    nodata: i16,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = values.py();
    let shape = ChunkShape { planes, rows, columns };
    // In the order of rows, whatever the order in memory; nothing else may change the copy.
    let values: Vec<i16> = values.readonly().as_array().iter().copied().collect();
    let bytes = py.detach(|| blocks::encode(&values, shape, nodata)).map_err(refused)?;
    Ok(PyBytes::new(py, &bytes))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_ufunc(
        module,
        c"decode",
        c"Values of packed 16-bit integers: ``raw * scale + offset``, NaN where raw is nodata.

Arguments in order: raw, scale, offset, nodata. raw is int16 (fast) or other integers, nodata an
integer; each must fit 16 bits. A number that does not, a scale of 0, and a scale or offset that is
not finite raise MesonetError; raw of another type raises TypeError.

Examples
--------
>>> import numpy as np, mesonet
>>> mesonet.decode(np.array([-1000, 0, -32768], np.int16), 0.01, 273.15, -32768)
array([263.15, 273.15,    nan])",
        [
            inner_loop!(
                decode: (raw: i16, scale: f64, offset: f64, nodata: i16) -> (value: f64)
            ),
            inner_loop!(
                decode: (raw: i16, scale: f64, offset: f64, nodata: i64) -> (value: f64)
            ),
            inner_loop!(
                decode_wide: (raw: i64, scale: f64, offset: f64, nodata: i64) -> (value: f64)
            ),
        ],
    )?;
    register_ufunc(
        module,
        c"encode",
        c"Packed 16-bit integers nearest to the values, halves away from zero; nodata for NaN.

Arguments in order: value, scale, offset, nodata. Values beyond the integers are clamped to
+-32767, and a value that would land on nodata moves to the neighbour nearer to zero. A scale of 0,
a scale or offset that is not finite, and a nodata beyond 16 bits raise MesonetError.

Examples
--------
>>> import numpy as np, mesonet
>>> mesonet.encode([263.15, np.nan, 1e9], 0.01, 273.15, -32768)
array([ -1000, -32768,  32767], dtype=int16)",
        [
            inner_loop!(
                encode: (value: f64, scale: f64, offset: f64, nodata: i16) -> (raw: i16)
            ),
            inner_loop!(
                encode: (value: f64, scale: f64, offset: f64, nodata: i64) -> (raw: i16)
            ),
        ],
    )?;
    module.add_function(wrap_pyfunction!(decode_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(encode_blocks, module)?)?;
    module.add_function(wrap_pyfunction!(decode_bytes, module)?)
}
