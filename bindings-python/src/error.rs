//! The one exception for values that the core refuses.

use std::fmt::Display;

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    mesonet,
    MesonetError,
    PyValueError,
    "A value that mesonet refuses. The message says what was given and what is allowed."
);

/// The core's message as the exception of this package.
pub fn refused(error: impl Display) -> PyErr {
    MesonetError::new_err(error.to_string())
}

/// An error as a text, for what works without the interpreter.
pub fn text(error: impl Display) -> String {
    error.to_string()
}

/// A value as JSON.
pub fn json(of: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string(of).map_err(text)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("MesonetError", module.py().get_type::<MesonetError>())
}
