//! The native grid of a model over NumPy arrays.

use mesonet::grid::{self, NativeGrid as Grid};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::error::refused;

/// Two columns of the same length.
type Pair<'py, T> = (Bound<'py, PyArray1<T>>, Bound<'py, PyArray1<T>>);
/// Two fields of the whole grid.
type Fields<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);
type Numbers<'py> = PyReadonlyArray1<'py, f64>;
type Indices<'py> = PyReadonlyArray1<'py, i64>;

/// See `mesonet.NativeGrid`, which passes contiguous columns of the same length.
#[pyclass(frozen, module = "mesonet._mesonet")]
struct NativeGrid(Grid);

#[pymethods]
#[expect(clippy::needless_pass_by_value, reason = "NumPy arrays are passed by value")]
impl NativeGrid {
    #[new]
    #[pyo3(signature = (definition, /))]
    fn new(definition: &Bound<'_, PyDict>) -> PyResult<Self> {
        let definition = grid::Definition::from_members(|name| member(definition, name));
        Ok(Self(Grid::new(definition.map_err(refused)?).map_err(refused)?))
    }

    /// The definition as JSON, without unknown members.
    fn definition(&self) -> PyResult<String> {
        serde_json::to_string(self.0.definition()).map_err(refused)
    }

    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn columns(&self) -> usize {
        self.0.columns()
    }

    fn proj_string(&self) -> String {
        self.0.definition().proj_string()
    }

    fn first_xy(&self) -> (f64, f64) {
        self.0.first_xy()
    }

    #[pyo3(signature = (lon, lat, /))]
    fn locate<'py>(
        &self,
        py: Python<'py>,
        lon: Numbers<'py>,
        lat: Numbers<'py>,
    ) -> PyResult<Pair<'py, f64>> {
        let (lon, lat) = (lon.as_slice()?, lat.as_slice()?);
        columns(py, lon.len(), |row, column| self.0.locate_into(lon, lat, row, column))
    }

    #[pyo3(signature = (lon, lat, /))]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        lon: Numbers<'py>,
        lat: Numbers<'py>,
    ) -> PyResult<Pair<'py, i64>> {
        let (lon, lat) = (lon.as_slice()?, lat.as_slice()?);
        let find = || {
            let (mut row, mut column) = (vec![0; lon.len()], vec![0; lon.len()]);
            self.0.nearest_into(lon, lat, &mut row, &mut column)?;
            // The definition limits the cells of a grid, so indices fit.
            let signed = |of: Vec<usize>| of.into_iter().map(|index| index as i64).collect();
            Ok::<(Vec<i64>, Vec<i64>), grid::NativeGridError>((signed(row), signed(column)))
        };
        let (row, column) = py.detach(find).map_err(refused)?;
        Ok((row.to_pyarray(py), column.to_pyarray(py)))
    }

    #[pyo3(signature = (row, column, /))]
    fn position<'py>(
        &self,
        py: Python<'py>,
        row: Indices<'py>,
        column: Indices<'py>,
    ) -> PyResult<Pair<'py, f64>> {
        let (row, column) = cells(row.as_slice()?, column.as_slice()?)?;
        columns(py, row.len(), |lon, lat| self.0.cell_positions_into(&row, &column, lon, lat))
    }

    #[pyo3(signature = (row, column, /))]
    fn wind_rotation<'py>(
        &self,
        py: Python<'py>,
        row: Indices<'py>,
        column: Indices<'py>,
    ) -> PyResult<Pair<'py, f64>> {
        let (row, column) = cells(row.as_slice()?, column.as_slice()?)?;
        columns(py, row.len(), |cos, sin| self.0.cell_wind_rotations_into(&row, &column, cos, sin))
    }

    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Fields<'py>> {
        self.fields(py, |lon, lat| self.0.positions_into(lon, lat))
    }

    fn wind_rotations<'py>(&self, py: Python<'py>) -> PyResult<Fields<'py>> {
        self.fields(py, |cos, sin| self.0.wind_rotations_into(cos, sin))
    }
}

impl NativeGrid {
    /// Two fields of the grid, filled without the GIL.
    fn fields<'py>(
        &self,
        py: Python<'py>,
        fill: impl FnOnce(&mut [f64], &mut [f64]) -> Result<(), grid::NativeGridError> + Send,
    ) -> PyResult<Fields<'py>> {
        let shape = [self.0.rows(), self.0.columns()];
        let (first, second) =
            (PyArray2::zeros(py, shape, false), PyArray2::zeros(py, shape, false));
        {
            let (mut first, mut second) = (first.readwrite(), second.readwrite());
            let (first, second) = (first.as_slice_mut()?, second.as_slice_mut()?);
            py.detach(|| fill(first, second)).map_err(refused)?;
        }
        Ok((first, second))
    }
}

fn member(of: &Bound<'_, PyDict>, name: &str) -> grid::MemberValue {
    let Ok(Some(value)) = of.get_item(name) else { return grid::MemberValue::Missing };
    // Python's booleans are numbers too.
    if let Ok(flag) = value.cast::<PyBool>() {
        grid::MemberValue::Flag(flag.is_true())
    } else if let Ok(text) = value.cast::<PyString>() {
        grid::MemberValue::Text(text.to_string_lossy().into_owned())
    } else if let Ok(number) = value.extract::<f64>() {
        grid::MemberValue::Number(number)
    } else if let Ok(pair) = value.extract::<[f64; 2]>() {
        grid::MemberValue::Pair(pair)
    } else {
        grid::MemberValue::Other
    }
}

/// Checks that rows and columns are not negative; the core checks that they are on the grid.
fn cells(row: &[i64], column: &[i64]) -> PyResult<(Vec<usize>, Vec<usize>)> {
    let indices = |what: &str, of: &[i64]| -> PyResult<Vec<usize>> {
        let refuse = |index| refused(format!("{what} must not be negative; got {index}"));
        of.iter().map(|&index| usize::try_from(index).map_err(|_| refuse(index))).collect()
    };
    Ok((indices("row", row)?, indices("column", column)?))
}

/// Two columns, filled without the GIL.
fn columns(
    py: Python<'_>,
    length: usize,
    fill: impl FnOnce(&mut [f64], &mut [f64]) -> Result<(), grid::NativeGridError> + Send,
) -> PyResult<Pair<'_, f64>> {
    let (mut first, mut second) = (vec![0.0; length], vec![0.0; length]);
    py.detach(|| fill(&mut first, &mut second)).map_err(refused)?;
    Ok((first.to_pyarray(py), second.to_pyarray(py)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NativeGrid>()
}
