//! The slice form of a formula: arrays in, the caller's buffer out.

use crate::lengths::check_lengths;

/// Arrays that must have the same length do not.
///
/// ```
/// use mesonet::derived::{DerivedLengthError, dew_point_c_into};
/// let (air_c, humidity_pct, mut dew_point_c) = ([20.0, 21.0], [50.0], [0.0; 2]);
/// let refused: Result<(), DerivedLengthError> =
///     dew_point_c_into(&air_c, &humidity_pct, &mut dew_point_c);
/// assert_eq!(
///     refused.unwrap_err().to_string(),
///     "array lengths must match; got 2 for air_temperature_c, 1 for relative_humidity_pct, \
///      2 for out",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("array lengths must match; got {lengths}")]
pub struct DerivedLengthError {
    lengths: String,
}

impl DerivedLengthError {
    /// Compares the lengths of arrays, each with its name.
    pub(super) fn check(arrays: &[(&str, usize)]) -> Result<(), Self> {
        check_lengths(arrays).map_err(|lengths| Self { lengths })
    }
}

/// Writes the slice form of a scalar function. It takes the scalar's inputs, each as an array, in
/// the scalar's order, then the buffer; it allocates only to report an error.
macro_rules! slice_form {
    ($name:ident, $scalar:ident($($input:ident),+)) => {
        #[doc = concat!("[`", stringify!($scalar), "`] for each position, into `out`: ")]
        #[doc = "NaN where the scalar returns `None`."]
        #[doc = ""]
        #[doc = "# Errors"]
        #[doc = "If the arrays have different lengths; nothing is written."]
        pub fn $name(
            $($input: &[f64],)+
            out: &mut [f64],
        ) -> Result<(), $crate::derived::DerivedLengthError> {
            /// Compiled for each set of vectors; the processor decides.
            #[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
            fn each($($input: &[f64],)+ out: &mut [f64]) {
                // Of one length, which is known to the compiler too.
                $(let $input = &$input[..out.len()];)+
                for (i, out) in out.iter_mut().enumerate() {
                    *out = $scalar($($input[i]),+).unwrap_or(f64::NAN);
                }
            }
            $crate::derived::DerivedLengthError::check(
                &[$((stringify!($input), $input.len()),)+ ("out", out.len())],
            )?;
            each($($input,)+ out);
            Ok(())
        }
    };
}
pub(super) use slice_form;

#[cfg(test)]
mod tests {
    use crate::derived::{dew_point_c, dew_point_c_into, wet_bulb_c, wet_bulb_c_into};

    #[test]
    fn arrays_agree_with_scalars_and_undefined_is_nan() {
        let (air_c, humidity_pct) = ([25.0, f64::NAN, 10.0], [50.0, 50.0, 0.0]);
        let mut out = [1.0; 3];
        dew_point_c_into(&air_c, &humidity_pct, &mut out).unwrap();
        assert_eq!(Some(out[0]), dew_point_c(25.0, 50.0));
        assert!(out[1].is_nan() && out[2].is_nan());
        let mut out = [0.0];
        wet_bulb_c_into(&[1000.0], &[25.0], &[15.0], &mut out).unwrap();
        assert_eq!(Some(out[0]), wet_bulb_c(1000.0, 25.0, 15.0));
        dew_point_c_into(&[], &[], &mut []).unwrap();
    }

    #[test]
    fn different_lengths_are_refused_and_nothing_is_written() {
        let mut out = [7.0; 2];
        let error = dew_point_c_into(&[20.0, 21.0], &[50.0], &mut out).unwrap_err();
        assert_eq!(
            error.to_string(),
            "array lengths must match; got 2 for air_temperature_c, \
             1 for relative_humidity_pct, 2 for out"
        );
        assert_eq!(out, [7.0; 2]);
    }
}
