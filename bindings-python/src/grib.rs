//! The fields of GRIB2 files.

use mesonet::grib::{Field, GribError, Level, MAX_POINTS, fields};
use mesonet::grid::NativeGrid;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;

use crate::error::refused;

/// The content of a file. Its fields are found again by their numbers, without a copy.
#[pyclass(frozen, module = "mesonet._mesonet")]
struct GribFile(PyBackedBytes);

/// A field or a broken message: its description, or why it cannot be read.
type Entry<'py> = (Option<Bound<'py, PyDict>>, Option<String>);
/// The description of a field, or why it cannot be read.
type Description<'py> = Result<Bound<'py, PyDict>, String>;

#[pymethods]
impl GribFile {
    #[new]
    #[pyo3(signature = (content, /))]
    fn new(content: PyBackedBytes) -> Self {
        Self(content)
    }

    /// For each field and each broken message, in the order of the file: its description, or why it
    /// cannot be read.
    fn inventory<'py>(&self, py: Python<'py>) -> PyResult<Vec<Entry<'py>>> {
        let described = fields(&self.0).map(|field| match field {
            Ok(field) => match described(py, &field)? {
                Ok(described) => Ok((Some(described), None)),
                Err(reason) => Ok((None, Some(reason))),
            },
            Err(error) => Ok((None, Some(error.to_string()))),
        });
        described.collect()
    }

    /// The values of a field, row after row.
    #[pyo3(signature = (number, /))]
    fn values<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let read = || {
            let field = self.field(number)?;
            let grid = field.grid()?;
            Ok(([grid.rows(), grid.columns()], field.values(MAX_POINTS)?))
        };
        let (shape, values) = py.detach(read).map_err(|error: GribError| refused(error))?;
        PyArray1::from_vec(py, values).reshape(shape)
    }
}

impl GribFile {
    fn field(&self, number: usize) -> Result<Field<'_>, GribError> {
        let end = GribError::Truncated { got: self.0.len(), needed: u64::MAX };
        fields(&self.0).nth(number).unwrap_or(Err(end))
    }
}

fn level(of: Level) -> (u8, Option<f64>) {
    (of.kind, of.value)
}

fn described<'py>(py: Python<'py>, field: &Field<'_>) -> PyResult<Description<'py>> {
    let of = || Ok((field.parameter()?, field.product()?, field.reference_ms()?));
    let (parameter, product, reference_ms) = match of() {
        Ok(of) => of,
        Err(error) => {
            let error: GribError = error;
            let named = field.parameter().map(|parameter| format!("{parameter}: "));
            return Ok(Err(format!("{}{error}", named.unwrap_or_default())));
        }
    };
    let described = PyDict::new(py);
    let name = parameter.name();
    described.set_item("parameter", parameter.to_string())?;
    described.set_item(
        "numbers",
        (parameter.centre, parameter.discipline, parameter.category, parameter.number),
    )?;
    described.set_item("wgrib2_name", name.map(|name| name.wgrib2))?;
    described.set_item("eccodes_name", name.and_then(|name| name.eccodes))?;
    described.set_item("units", name.map(|name| name.unit))?;
    described.set_item("level", level(product.level))?;
    described.set_item("second_level", product.second_level.map(level))?;
    described.set_item("kind", product.kind.to_string())?;
    described.set_item("template", product.template)?;
    described.set_item("reference_ms", reference_ms)?;
    described.set_item("valid_ms", product.valid_ms)?;
    described.set_item("interval_ms", product.interval_ms)?;
    let code = product.statistic.map(|code| format!("statistic {code}"));
    described.set_item("statistic", product.statistic_name().map(str::to_owned).or(code))?;
    described.set_item("packing", field.packing().ok())?;
    match grid(field) {
        Ok((definition, is_reduced, attributes)) => {
            described.set_item("grid", definition)?;
            described.set_item("is_reduced", is_reduced)?;
            described.set_item("attributes", attributes)?;
        }
        Err(reason) => described.set_item("refusal", reason)?,
    }
    Ok(Ok(described))
}

/// Names and texts.
type Attributes = Vec<(&'static str, String)>;

/// The definition of the grid as JSON, whether it is reduced, and the attributes of the CF
/// conventions.
fn grid(field: &Field<'_>) -> Result<(String, bool, Attributes), String> {
    let grid = field.grid().map_err(|error| error.to_string())?;
    let native = NativeGrid::try_from(&grid).map_err(|error| error.to_string())?;
    let definition =
        serde_json::to_string(native.definition()).map_err(|error| error.to_string())?;
    let attributes = field.cf_attributes().map_err(|error| error.to_string())?;
    Ok((definition, grid.is_reduced(), attributes.into_iter().collect()))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<GribFile>()
}
