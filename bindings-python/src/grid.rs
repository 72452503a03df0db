//! The native grid of a model over arrays of NumPy.

use mesonet::{GridDefinition, GridMember, LonLat, NativeGrid as Grid};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use crate::error::refused;

/// Two columns of one length.
type Pair<'py, T> = (Bound<'py, PyArray1<T>>, Bound<'py, PyArray1<T>>);
/// Two fields of the whole grid.
type Fields<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>);
type Numbers<'py> = PyReadonlyArray1<'py, f64>;
type Indices<'py> = PyReadonlyArray1<'py, i64>;

/// See `mesonet.NativeGrid`, which hands over contiguous columns of one length.
#[pyclass(frozen, module = "mesonet._mesonet")]
struct NativeGrid(Grid);

#[pymethods]
#[expect(clippy::needless_pass_by_value, reason = "arrays of NumPy come by value")]
impl NativeGrid {
    #[new]
    #[pyo3(signature = (definition, /))]
    fn new(definition: &Bound<'_, PyDict>) -> PyResult<Self> {
        let definition = GridDefinition::from_members(|name| member(definition, name));
        Ok(Self(Grid::new(definition.map_err(refused)?).map_err(refused)?))
    }

    /// The definition as JSON, without what it does not know.
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

    #[pyo3(signature = (lat, lon, /))]
    fn locate<'py>(
        &self,
        py: Python<'py>,
        lat: Numbers<'py>,
        lon: Numbers<'py>,
    ) -> PyResult<Pair<'py, f64>> {
        let (lat, lon) = (lat.as_slice()?, lon.as_slice()?);
        let (mut row, mut column) = (vec![0.0; lat.len()], vec![0.0; lat.len()]);
        py.detach(|| self.0.locate_into(lat, lon, &mut row, &mut column)).map_err(refused)?;
        Ok((row.to_pyarray(py), column.to_pyarray(py)))
    }

    #[pyo3(signature = (lat, lon, /))]
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        lat: Numbers<'py>,
        lon: Numbers<'py>,
    ) -> PyResult<Pair<'py, i64>> {
        pairs(py, lat.as_slice()?, lon.as_slice()?, |lat, lon| {
            let at = LonLat::new(lon, lat).map_err(|error| error.to_string())?;
            let (row, column) = self.0.nearest(at).map_err(|error| error.to_string())?;
            // A grid has at most MAX_GRID_CELLS of them.
            Ok((row as i64, column as i64))
        })
    }

    #[pyo3(signature = (row, column, /))]
    fn position<'py>(
        &self,
        py: Python<'py>,
        row: Indices<'py>,
        column: Indices<'py>,
    ) -> PyResult<Pair<'py, f64>> {
        pairs(py, row.as_slice()?, column.as_slice()?, |row, column| {
            let (row, column) = cell(row, column)?;
            let at = self.0.position(row, column).map_err(|error| error.to_string())?;
            Ok((at.lat(), at.lon()))
        })
    }

    #[pyo3(signature = (row, column, /))]
    fn wind_rotation<'py>(
        &self,
        py: Python<'py>,
        row: Indices<'py>,
        column: Indices<'py>,
    ) -> PyResult<Pair<'py, f64>> {
        pairs(py, row.as_slice()?, column.as_slice()?, |row, column| {
            let (row, column) = cell(row, column)?;
            let turn = self.0.wind_rotation(row, column).map_err(|error| error.to_string())?;
            Ok((turn.cos, turn.sin))
        })
    }

    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Fields<'py>> {
        self.fields(py, |lat, lon| self.0.positions_into(lon, lat))
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
        fill: impl FnOnce(&mut [f64], &mut [f64]) -> Result<(), mesonet::NativeGridError> + Send,
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

fn member(of: &Bound<'_, PyDict>, name: &str) -> GridMember {
    let Ok(Some(value)) = of.get_item(name) else { return GridMember::Missing };
    // Python's truth values are numbers too.
    if let Ok(flag) = value.cast::<PyBool>() {
        GridMember::Flag(flag.is_true())
    } else if let Ok(text) = value.cast::<PyString>() {
        GridMember::Text(text.to_string_lossy().into_owned())
    } else if let Ok(number) = value.extract::<f64>() {
        GridMember::Number(number)
    } else if let Ok(pair) = value.extract::<[f64; 2]>() {
        GridMember::Pair(pair)
    } else {
        GridMember::Other
    }
}

/// A row and column that are not negative; that they are of the grid, the core checks.
fn cell(row: i64, column: i64) -> Result<(usize, usize), String> {
    let index = |what: &str, index: i64| {
        usize::try_from(index).map_err(|_| format!("{what} must not be negative; got {index}"))
    };
    Ok((index("row", row)?, index("column", column)?))
}

/// `of` every two elements, without the GIL.
fn pairs<'py, I: Copy + Sync, O: Copy + Send + numpy::Element>(
    py: Python<'py>,
    first: &[I],
    second: &[I],
    of: impl Fn(I, I) -> Result<(O, O), String> + Sync,
) -> PyResult<Pair<'py, O>> {
    let pairs = first.iter().zip(second);
    let both = || pairs.map(|(&first, &second)| of(first, second)).collect::<Result<_, _>>();
    let (first, second): (Vec<O>, Vec<O>) = py.detach(both).map_err(refused)?;
    Ok((first.to_pyarray(py), second.to_pyarray(py)))
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<NativeGrid>()
}
