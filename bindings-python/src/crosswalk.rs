//! Quality flags of other schemes.

use mesonet::BaseQuality;
use mesonet::observation::{
    BUFR_033020, Crosswalk, GHCNH_CHECKS, ISD, MADIS, QARTOD, SWOB_QA_SUMMARY,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::error::refused;

/// Adds `NAME_quality(flag)`, `NAME_flag(code)` and `NAME_flags` for a scheme of integers or of
/// letters.
macro_rules! scheme {
    ($module:ident, $scheme:ident, $flag:ty, $quality:ident, $written:ident, $flags:ident) => {{
        #[pyfunction]
        #[pyo3(signature = (flag, /))]
        fn $quality(flag: &Bound<'_, PyAny>) -> PyResult<(u8, u8)> {
            if flag.is_instance_of::<PyBool>() {
                return Err(PyTypeError::new_err("a flag is a number or a letter; got bool"));
            }
            Ok($scheme.quality(flag.extract::<$flag>()?).codes())
        }
        #[pyfunction]
        #[pyo3(signature = (code, /))]
        fn $written(code: u8) -> PyResult<Option<$flag>> {
            Ok($scheme.flag(BaseQuality::try_from(code).map_err(refused)?))
        }
        $module.add_function(wrap_pyfunction!($quality, $module)?)?;
        $module.add_function(wrap_pyfunction!($written, $module)?)?;
        $module.add(stringify!($flags), flags(&$scheme))?;
    }};
}

fn flags<F: Copy + PartialEq>(scheme: &Crosswalk<F>) -> Vec<F> {
    scheme.rows().iter().map(|&(flag, _)| flag).collect()
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    scheme!(
        module,
        SWOB_QA_SUMMARY,
        i32,
        swob_qa_summary_quality,
        swob_qa_summary_flag,
        swob_qa_summary_flags
    );
    scheme!(module, BUFR_033020, i32, bufr_033020_quality, bufr_033020_flag, bufr_033020_flags);
    scheme!(module, MADIS, char, madis_quality, madis_flag, madis_flags);
    scheme!(module, QARTOD, i32, qartod_quality, qartod_flag, qartod_flags);
    scheme!(module, ISD, char, isd_quality, isd_flag, isd_flags);
    scheme!(
        module,
        GHCNH_CHECKS,
        char,
        ghcnh_checks_quality,
        ghcnh_checks_flag,
        ghcnh_checks_flags
    );
    Ok(())
}
