//! Winds between a grid's axes and true north: the ufunc `rotate`.

use std::convert::Infallible;

use mesonet::grid::Rotation;
use pyo3::prelude::*;

use crate::ufunc::{Operand, Output, inner_loop, register as register_ufunc};

#[expect(clippy::unnecessary_wraps, reason = "the shape of every inner loop")]
fn rotate(
    cos: Operand<'_, f64>,
    sin: Operand<'_, f64>,
    u: Operand<'_, f64>,
    v: Operand<'_, f64>,
    mut u_true: Output<'_, f64>,
    mut v_true: Output<'_, f64>,
) -> Result<(), Infallible> {
    for (((cos, sin), u), v) in cos.zip(sin).zip(u).zip(v) {
        let (u, v) = Rotation { cos, sin }.apply(u, v);
        u_true.push(u);
        v_true.push(v);
    }
    Ok(())
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_ufunc(
        module,
        c"rotate",
        c"Earth-relative wind components from grid-relative ones, in the unit of the input.

Arguments in order: cos, sin (the cell's rotation), u, v (components along the grid's axes), all
float64. Gives the pair ``cos * u + sin * v`` and ``-sin * u + cos * v``; NaN stays NaN. To go back,
negate sin.

Examples
--------
>>> import mesonet
>>> u, v = mesonet.rotate(0.0, 1.0, 3.0, 10.0)
>>> float(u), float(v)
(10.0, -3.0)",
        [inner_loop!(rotate: (cos: f64, sin: f64, u: f64, v: f64) -> (u_true: f64, v_true: f64))],
    )
}
