//! Rotation of wind components between a grid's axes and true north.

use crate::lengths::check_lengths;

/// The angle between a grid's axes and true north at one cell, as its cosine and sine: earth-relative
/// u = cos · u + sin · v, and v = −sin · u + cos · v.
///
/// `u` and `v` on the right are the components along the grid's axes. The factors depend only on the
/// cell, so they apply at every level. Arithmetic is in `f64` and rounded once.
///
/// ```
/// use mesonet::grid::Rotation;
/// // A quarter turn: what blows along the grid's y axis blows towards the east.
/// let quarter = Rotation { cos: 0.0, sin: 1.0 };
/// assert_eq!(quarter.apply(0.0, 10.0), (10.0, 0.0));
/// assert_eq!(Rotation::IDENTITY.apply(3.0, 4.0), (3.0, 4.0));
/// // There and back again.
/// let lean = Rotation::from_angle_rad(15_f64.to_radians());
/// let (u, v) = lean.apply(3.0, 4.0);
/// let (u, v) = lean.inverse().apply(u, v);
/// assert!((u - 3.0).abs() < 1e-12 && (v - 4.0).abs() < 1e-12);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = WindRotation))]
pub struct Rotation {
    /// Cosine of the angle.
    pub cos: f64,
    /// Sine of the angle.
    pub sin: f64,
}

/// The error for arrays of different lengths.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("array lengths must match; got {lengths}")]
pub struct RotationLengthError {
    lengths: String,
}

impl RotationLengthError {
    /// Compares the lengths of arrays, each with its name.
    fn check(arrays: &[(&str, usize)]) -> Result<(), Self> {
        check_lengths(arrays).map_err(|lengths| Self { lengths })
    }
}

impl Rotation {
    /// The rotation for winds that are already earth-relative.
    pub const IDENTITY: Self = Self { cos: 1.0, sin: 0.0 };

    /// Returns the rotation by an angle in radians, using `libm` so that every platform agrees on
    /// the bits.
    pub fn from_angle_rad(angle_rad: f64) -> Self {
        Self { cos: libm::cos(angle_rad), sin: libm::sin(angle_rad) }
    }

    /// Returns the earth-relative components of a grid-relative wind, in the unit of the input.
    #[inline]
    pub fn apply(self, u: f64, v: f64) -> (f64, f64) {
        (self.cos * u + self.sin * v, -self.sin * u + self.cos * v)
    }

    /// Returns the inverse: from an earth-relative wind to grid-relative components.
    #[inline]
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { cos: self.cos, sin: -self.sin }
    }

    /// Rotates a column of winds at this cell in place. NaN stays NaN.
    ///
    /// # Errors
    /// If `u` and `v` have different lengths: nothing is changed.
    ///
    /// ```
    /// use mesonet::grid::Rotation;
    /// let (mut u, mut v) = ([0.0, 5.0], [10.0, 0.0]);
    /// Rotation { cos: 0.0, sin: 1.0 }.apply_slices(&mut u, &mut v)?;
    /// assert_eq!((u, v), ([10.0, 0.0], [0.0, -5.0]));
    /// # Ok::<(), mesonet::grid::RotationLengthError>(())
    /// ```
    pub fn apply_slices(self, u: &mut [f64], v: &mut [f64]) -> Result<(), RotationLengthError> {
        RotationLengthError::check(&[("u", u.len()), ("v", v.len())])?;
        for (u, v) in u.iter_mut().zip(v) {
            (*u, *v) = self.apply(*u, *v);
        }
        Ok(())
    }
}

/// Rotates a field of winds in place, each cell by its own factors. NaN stays NaN.
///
/// # Errors
/// If the arrays have different lengths: nothing is changed.
///
/// ```
/// use mesonet::grid::rotate_field;
/// let (mut u, mut v) = ([3.0, 0.0], [4.0, 10.0]);
/// rotate_field(&[1.0, 0.0], &[0.0, 1.0], &mut u, &mut v)?;
/// assert_eq!((u, v), ([3.0, 10.0], [4.0, 0.0]));
/// # Ok::<(), mesonet::grid::RotationLengthError>(())
/// ```
///
/// The factors and the places of all cells of a grid, here of 3 × 4 cells on a rotated globe:
///
/// ```
/// use mesonet::grid::rotate_field;
/// # use mesonet::grid::{self, GridProjection, LatLonGlobe, NativeGrid};
/// # let grid = NativeGrid::new(grid::Definition {
/// #     rows: 3,
/// #     columns: 4,
/// #     projection: GridProjection::Globe(LatLonGlobe::RotatedLatLon {
/// #         south_pole_lat: -36.08852,
/// #         south_pole_lon: 245.305142,
/// #     }),
/// #     first_lon: 345.0,
/// #     first_lat: -12.0,
/// #     column_step: 10.0,
/// #     row_step: 10.0,
/// #     grid_relative_winds: true,
/// # })?;
/// let [mut cos, mut sin, mut lon, mut lat] = [[0.0; 12]; 4];
/// grid.wind_rotations_into(&mut cos, &mut sin)?;
/// grid.positions_into(&mut lon, &mut lat)?;
/// let (mut u, mut v) = ([10.0; 12], [0.0; 12]);
/// rotate_field(&cos, &sin, &mut u, &mut v)?;
/// assert!(u.iter().zip(&v).all(|(u, v)| (u.hypot(*v) - 10.0).abs() < 1e-12));
///
/// // Of the cells at the corners alone.
/// let (mut corner_cos, mut corner_sin) = ([0.0; 2], [0.0; 2]);
/// grid.cell_wind_rotations_into(&[0, 2], &[0, 3], &mut corner_cos, &mut corner_sin)?;
/// assert_eq!((corner_cos, corner_sin), ([cos[0], cos[11]], [sin[0], sin[11]]));
/// assert_eq!((lon[11], lat[11]), (grid.position(2, 3)?.lon(), grid.position(2, 3)?.lat()));
/// # Ok::<(), mesonet::Error>(())
/// ```
pub fn rotate_field(
    cos: &[f64],
    sin: &[f64],
    u: &mut [f64],
    v: &mut [f64],
) -> Result<(), RotationLengthError> {
    let lengths = [("u", u.len()), ("v", v.len()), ("cos", cos.len()), ("sin", sin.len())];
    RotationLengthError::check(&lengths)?;
    for (((&cos, &sin), u), v) in cos.iter().zip(sin).zip(u).zip(v) {
        (*u, *v) = Rotation { cos, sin }.apply(*u, *v);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published rotation of the HRRR grid at row 0, column 0 (NCEPLIBS-ip 5.0).
    const HRRR_CORNER: Rotation = Rotation { cos: 0.962693988296, sin: -0.270592470143 };

    #[test]
    fn a_rotation_and_its_inverse_cancel() {
        let (u, v) = HRRR_CORNER.apply(12.5, -3.25);
        let (u, v) = HRRR_CORNER.inverse().apply(u, v);
        assert!((u - 12.5).abs() < 1e-11 && (v + 3.25).abs() < 1e-11);
    }

    #[test]
    fn slices_and_fields_agree_with_scalars() {
        let winds: [(f64, f64); 3] = [(12.5, -3.25), (0.0, 0.0), (-7.0, 40.0)];
        let (mut u, mut v): (Vec<_>, Vec<_>) = winds.into_iter().unzip();
        let (mut field_u, mut field_v) = (u.clone(), v.clone());
        HRRR_CORNER.apply_slices(&mut u, &mut v).unwrap();
        rotate_field(&[HRRR_CORNER.cos; 3], &[HRRR_CORNER.sin; 3], &mut field_u, &mut field_v)
            .unwrap();
        for (i, (from_u, from_v)) in winds.into_iter().enumerate() {
            assert_eq!((u[i], v[i]), HRRR_CORNER.apply(from_u, from_v));
            assert_eq!((field_u[i], field_v[i]), (u[i], v[i]));
        }
    }

    #[test]
    fn missing_stays_missing() {
        let (u, v) = HRRR_CORNER.apply(f64::NAN, 1.0);
        assert!(u.is_nan() && v.is_nan());
    }

    #[test]
    fn different_lengths_are_refused_and_nothing_changes() {
        let (mut u, mut v) = ([1.0, 2.0], [3.0]);
        let error = HRRR_CORNER.apply_slices(&mut u, &mut v).unwrap_err();
        assert_eq!(error.to_string(), "array lengths must match; got 2 for u, 1 for v");
        assert_eq!(u, [1.0, 2.0]);
        let error = rotate_field(&[1.0], &[0.0, 0.0], &mut [1.0], &mut [1.0]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "array lengths must match; got 1 for u, 1 for v, 1 for cos, 2 for sin"
        );
    }

    #[test]
    fn angles_give_unit_factors() {
        let turned = Rotation::from_angle_rad(0.25);
        assert!((turned.cos.hypot(turned.sin) - 1.0).abs() < 1e-15);
        assert_eq!(Rotation::from_angle_rad(0.0), Rotation::IDENTITY);
    }
}
