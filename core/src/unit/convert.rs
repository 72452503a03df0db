//! Conversion between two units of the same dimension.

use std::f64;

use super::{Dimension, Unit, UnitError};

/// A conversion from one unit to another: `(value − zero) · factor + zero`.
///
/// The factor is the exact ratio of two definitions, and the product is rounded once. So
/// - a value that is exact in the other unit converts exactly: 7 kt are 12.964 km/h;
/// - a round trip is at most 1 ulp off, if the zero does not move.
///
/// A decimal fraction is not exactly a double, and the difference is converted too: 0.07 in are
/// 1.7780000000000002 mm, but 7 of [`Unit::HundredthInch`] are 1.778 mm.
///
/// Temperatures are rounded up to three times: the difference from the zero, the product, and the
/// sum with the other zero. Near a zero that moves, a round trip keeps the absolute precision of
/// the larger number, not the relative one: 1e-20 °F comes back as 0.
///
/// NaN stays NaN, and infinities stay infinite. For magnitudes from 1e-280 to 1e290, results do not
/// depend on the processor, nor on whether values are converted singly or in slices; beyond, the
/// last digit may differ.
///
/// ```
/// use mesonet::unit::Conversion;
/// use mesonet::Unit;
/// let to_celsius = Conversion::between(Unit::DegreeFahrenheit, Unit::DegreeCelsius)?;
/// assert_eq!(to_celsius.apply(-40.0), -40.0);
/// let mut speeds = [7.0, f64::NAN];
/// Conversion::between(Unit::Knot, Unit::KilometrePerHour)?.apply_in_place(&mut speeds);
/// assert_eq!(speeds[0], 12.964);
/// assert!(speeds[1].is_nan());
/// assert_eq!(
///     Conversion::between(Unit::Kelvin, Unit::CelsiusDifference).unwrap_err().to_string(),
///     "K (kelvin) measures temperature, Δ°C (degree Celsius of difference) temperature \
///      difference; allowed are two units of one dimension",
/// );
/// # Ok::<(), mesonet::unit::UnitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    /// Subtracted first.
    zero: f64,
    factor: Factor,
    /// Subtracted last: the negated zero of the target unit. `x − 0` keeps the sign of a zero, `x +
    /// 0` does not.
    less: f64,
}

/// A real number with twice the precision of a double: `high + low`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Factor {
    high: f64,
    low: f64,
}

const ONE: Factor = Factor { high: 1.0, low: 0.0 };
const PI: Factor = Factor { high: f64::consts::PI, low: 1.224_646_799_147_353_2e-16 };
const PER_PI: Factor = Factor { high: f64::consts::FRAC_1_PI, low: -1.967_867_667_518_248_6e-17 };

impl Conversion {
    /// Returns the conversion between two units.
    ///
    /// # Errors
    /// The units have different dimensions: [`UnitError::Dimension`].
    pub const fn between(from: Unit, to: Unit) -> Result<Self, UnitError> {
        if from.dimension() as u8 == to.dimension() as u8 {
            Ok(Self::of(from, to, 1, 1))
        } else {
            Err(UnitError::Dimension { from, to })
        }
    }

    /// Like [`Conversion::between`], but also converts between a mass of water per area and its
    /// depth: 1 kg/m² is 1 mm, the density of water being 1000 kg/m³ by convention.
    ///
    /// Precipitation is measured either way (WMO-No. 8, volume I, 6.1.2). This is not for fallen
    /// snow: its depth differs from the depth of its water.
    ///
    /// # Errors
    /// The units have other different dimensions: [`UnitError::Dimension`].
    ///
    /// ```
    /// use mesonet::unit::Conversion;
    /// use mesonet::Unit;
    /// let (mass, depth) = (Unit::KilogramPerSquareMetre, Unit::Millimetre);
    /// assert_eq!(Conversion::of_liquid_water(mass, depth)?.apply(12.3), 12.3);
    /// assert!(Conversion::between(mass, depth).is_err());
    /// # Ok::<(), mesonet::unit::UnitError>(())
    /// ```
    pub const fn of_liquid_water(from: Unit, to: Unit) -> Result<Self, UnitError> {
        use Dimension::{Length, MassPerArea, MassPerAreaAndTime, Speed};
        match (from.dimension(), to.dimension()) {
            (MassPerArea, Length) | (MassPerAreaAndTime, Speed) => Ok(Self::of(from, to, 1, 1000)),
            (Length, MassPerArea) | (Speed, MassPerAreaAndTime) => Ok(Self::of(from, to, 1000, 1)),
            _ => Self::between(from, to),
        }
    }

    /// Returns [`Conversion::of_liquid_water`] if the values are of liquid water, and
    /// [`Conversion::between`] otherwise.
    ///
    /// # Errors
    /// The units have different dimensions: [`UnitError::Dimension`].
    ///
    /// ```
    /// use mesonet::unit::Conversion;
    /// use mesonet::Unit;
    /// let (mass, depth) = (Unit::KilogramPerSquareMetre, Unit::Millimetre);
    /// assert!(Conversion::new(mass, depth, true).is_ok());
    /// assert!(Conversion::new(mass, depth, false).is_err());
    /// ```
    pub const fn new(from: Unit, to: Unit, liquid_water: bool) -> Result<Self, UnitError> {
        if liquid_water { Self::of_liquid_water(from, to) } else { Self::between(from, to) }
    }

    /// Returns the conversion between two units, for constants: units of different dimensions fail
    /// to compile.
    pub(crate) const fn known(from: Unit, to: Unit) -> Self {
        assert!(from.dimension() as u8 == to.dimension() as u8, "units of different dimensions");
        Self::of(from, to, 1, 1)
    }

    /// Returns the conversion by sizes and zeros, if a base unit of one dimension is `num / den` of
    /// the other.
    const fn of(from: Unit, to: Unit, num: u128, den: u128) -> Self {
        // Otherwise the zero of a temperature would be subtracted and added back, with rounding.
        if from as u8 == to as u8 {
            return Self { zero: 0.0, factor: ONE, less: 0.0 };
        }
        let ((from_num, from_den), (to_num, to_den)) = (from.size(), to.size());
        let factor = Factor::ratio(
            from_num as u128 * to_den as u128 * num,
            from_den as u128 * to_num as u128 * den,
        );
        let factor = match (from, to) {
            (Unit::Radian, _) => factor.times(PER_PI),
            (_, Unit::Radian) => factor.times(PI),
            _ => factor,
        };
        Self { zero: from.zero(), factor, less: 0.0 - to.zero() }
    }

    /// Converts one value. NaN means missing and stays NaN.
    #[inline]
    pub const fn apply(self, value: f64) -> f64 {
        self.factor.of(value - self.zero) - self.less
    }

    /// Converts the values of a slice in place. `f32` values are converted in `f64` and the result
    /// is rounded.
    ///
    /// ```
    /// use mesonet::unit::Conversion;
    /// use mesonet::Unit;
    /// let mut pressures_hpa = [101_325.0_f32];
    /// Conversion::between(Unit::Pascal, Unit::Hectopascal)?.apply_in_place(&mut pressures_hpa);
    /// assert_eq!(pressures_hpa, [1013.25]);
    /// # Ok::<(), mesonet::unit::UnitError>(())
    /// ```
    pub fn apply_in_place<T: Sample>(self, values: &mut [T]) {
        loops::in_place(self, values);
    }

    /// Converts the values of a slice into the caller's buffer.
    ///
    /// # Errors
    /// The buffer has a different length: [`UnitError::Length`]. Nothing is written then.
    ///
    /// ```
    /// use mesonet::unit::Conversion;
    /// use mesonet::Unit;
    /// let mut depths_mm = [0.0; 2];
    /// let to_mm = Conversion::between(Unit::Inch, Unit::Millimetre)?;
    /// to_mm.apply_into(&[1.0, 7.0], &mut depths_mm)?;
    /// assert_eq!(depths_mm, [25.4, 177.8]);
    /// # Ok::<(), mesonet::unit::UnitError>(())
    /// ```
    pub fn apply_into<T: Sample>(self, values: &[T], out: &mut [T]) -> Result<(), UnitError> {
        if values.len() != out.len() {
            return Err(UnitError::Length { values: values.len(), room: out.len() });
        }
        loops::into(self, values, out);
        Ok(())
    }
}

impl Factor {
    /// Returns the ratio of two integers. Reduced, they are below 2⁵³ for every pair of units in
    /// the table, so they are exact doubles.
    const fn ratio(num: u128, den: u128) -> Self {
        let common = greatest_common_divisor(num, den);
        let (num, den) = ((num / common) as f64, (den / common) as f64);
        let high = num / den;
        let (product, error) = two_product(high, den);
        Self { high, low: (num - product + error) / den }
    }

    const fn times(self, other: Self) -> Self {
        let (product, error) = two_product(self.high, other.high);
        let rest = self.high * other.low + self.low * other.high - error;
        let high = product + rest;
        Self { high, low: rest - (high - product) }
    }

    /// Returns the product with a value, rounded once.
    #[inline]
    const fn of(self, value: f64) -> f64 {
        let (product, error) = two_product(value, self.high);
        self.sum(value, product, error)
    }

    /// Returns the product with a value, from its rounded first part and the error of that.
    #[inline(always)]
    #[allow(clippy::inline_always, reason = "each caller has the instructions that it may use")]
    const fn sum(self, value: f64, product: f64, error: f64) -> f64 {
        let sum = product - (error - value * self.low);
        // Infinities, and values near the maximum: their error is NaN.
        if sum.is_nan() { product } else { sum }
    }
}

/// Returns a product and its rounding error (Dekker 1971, with Veltkamp's splitting), the same as a
/// fused multiply-add, which WebAssembly and older processors lack.
#[inline]
const fn two_product(a: f64, b: f64) -> (f64, f64) {
    let product = a * b;
    let ((a_high, a_low), (b_high, b_low)) = (split(a), split(b));
    let error = (((product - a_high * b_high) - a_low * b_high) - a_high * b_low) - a_low * b_low;
    (product, error)
}

/// Splits a double into the sum of two with 26 bits.
#[inline]
const fn split(value: f64) -> (f64, f64) {
    let shifted = value * 134_217_729.0; // 2²⁷ + 1
    let high = shifted - (shifted - value);
    (high, value - high)
}

const fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// A type of number that a slice may hold: `f64` or `f32`.
///
/// ```
/// use mesonet::Unit;
/// use mesonet::unit::{Conversion, Sample, UnitError};
/// fn to_celsius<T: Sample>(temperatures_k: &mut [T]) -> Result<(), UnitError> {
///     Conversion::between(Unit::Kelvin, Unit::DegreeCelsius)?.apply_in_place(temperatures_k);
///     Ok(())
/// }
/// let (mut of_model, mut of_station) = ([300.0_f32], [300.0_f64]);
/// to_celsius(&mut of_model)?;
/// to_celsius(&mut of_station)?;
/// assert_eq!((of_model, of_station), ([26.85], [26.850000000000023]));
/// # Ok::<(), UnitError>(())
/// ```
pub trait Sample: Copy + sealed::Sample {}
impl Sample for f32 {}
impl Sample for f64 {}

#[allow(clippy::inline_always, reason = "each caller has the instructions that it may use")]
mod sealed {
    use super::Conversion;

    pub trait Sample: Copy {
        fn convert(self, conversion: Conversion) -> Self;
        /// The same, on a processor with a fused multiply-add.
        fn convert_fused(self, conversion: Conversion) -> Self;
    }

    impl Sample for f64 {
        #[inline(always)]
        fn convert(self, conversion: Conversion) -> Self {
            conversion.apply(self)
        }

        #[inline(always)]
        fn convert_fused(self, conversion: Conversion) -> Self {
            let Conversion { zero, factor, less } = conversion;
            let value = self - zero;
            let product = value * factor.high;
            let error = (-value).mul_add(factor.high, product);
            factor.sum(value, product, error) - less
        }
    }

    // A product in doubles has 29 more bits than the result, so its own rounding does not show.
    impl Sample for f32 {
        #[inline(always)]
        fn convert(self, conversion: Conversion) -> Self {
            let Conversion { zero, factor, less } = conversion;
            ((f64::from(self) - zero) * factor.high - less) as Self
        }

        #[inline(always)]
        fn convert_fused(self, conversion: Conversion) -> Self {
            self.convert(conversion)
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod loops {
    use super::{Conversion, Sample, plain};

    #[target_feature(enable = "avx2,fma")]
    fn in_place_fused<T: Sample>(conversion: Conversion, values: &mut [T]) {
        for value in values {
            *value = value.convert_fused(conversion);
        }
    }

    #[target_feature(enable = "avx2,fma")]
    fn into_fused<T: Sample>(conversion: Conversion, values: &[T], out: &mut [T]) {
        for (out, value) in out.iter_mut().zip(values) {
            *out = value.convert_fused(conversion);
        }
    }

    fn has_fused() -> bool {
        std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
    }

    pub(super) fn in_place<T: Sample>(conversion: Conversion, values: &mut [T]) {
        if has_fused() {
            // SAFETY: the processor has AVX2 and FMA, which is all that the function requires.
            unsafe { in_place_fused(conversion, values) }
        } else {
            plain::in_place(conversion, values);
        }
    }

    pub(super) fn into<T: Sample>(conversion: Conversion, values: &[T], out: &mut [T]) {
        if has_fused() {
            // SAFETY: the processor has AVX2 and FMA, which is all that the function requires.
            unsafe { into_fused(conversion, values, out) }
        } else {
            plain::into(conversion, values, out);
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
use plain as loops;

mod plain {
    use super::{Conversion, Sample};

    pub(super) fn in_place<T: Sample>(conversion: Conversion, values: &mut [T]) {
        for value in values {
            *value = value.convert(conversion);
        }
    }

    pub(super) fn into<T: Sample>(conversion: Conversion, values: &[T], out: &mut [T]) {
        for (out, value) in out.iter_mut().zip(values) {
            *out = value.convert(conversion);
        }
    }
}

/// Converts knots to km/h: the knot is 1852 m per hour (BIPM, SI Brochure, 8th edition, table 8).
///
/// ```
/// assert_eq!(mesonet::unit::knots_to_kmh(7.0), 12.964);
/// ```
#[inline]
pub fn knots_to_kmh(speed_kt: f64) -> f64 {
    const CONVERSION: Conversion = Conversion::known(Unit::Knot, Unit::KilometrePerHour);
    CONVERSION.apply(speed_kt)
}

/// Converts metres per second to km/h.
///
/// ```
/// assert_eq!(mesonet::unit::metres_per_second_to_kmh(12.5), 45.0);
/// ```
#[inline]
pub fn metres_per_second_to_kmh(speed_ms: f64) -> f64 {
    const CONVERSION: Conversion = Conversion::known(Unit::MetrePerSecond, Unit::KilometrePerHour);
    CONVERSION.apply(speed_ms)
}

/// Converts statute miles to kilometres: 1 mile is 1609.344 m (international mile, 1959).
///
/// ```
/// assert_eq!(mesonet::unit::statute_miles_to_km(10.0), 16.09344);
/// ```
#[inline]
pub fn statute_miles_to_km(distance_mi: f64) -> f64 {
    const CONVERSION: Conversion = Conversion::known(Unit::Mile, Unit::Kilometre);
    CONVERSION.apply(distance_mi)
}

/// Converts feet to metres: 1 ft is 0.3048 m (international foot, 1959).
///
/// ```
/// assert_eq!(mesonet::unit::feet_to_m(25_000.0), 7620.0);
/// ```
#[inline]
pub fn feet_to_m(height_ft: f64) -> f64 {
    const CONVERSION: Conversion = Conversion::known(Unit::Foot, Unit::Metre);
    CONVERSION.apply(height_ft)
}

/// Converts inches to millimetres: 1 in is 25.4 mm (international inch, 1959).
///
/// ```
/// assert_eq!(mesonet::unit::inches_to_mm(7.0), 177.8);
/// ```
#[inline]
pub fn inches_to_mm(depth_in: f64) -> f64 {
    const CONVERSION: Conversion = Conversion::known(Unit::Inch, Unit::Millimetre);
    CONVERSION.apply(depth_in)
}

/// Converts conventional inches of mercury to hectopascals: a column of 25.4 mm of mercury of 13
/// 595.1 kg/m³ under 9.80665 m/s² is 33.86388640341 hPa.
///
/// ```
/// assert_eq!(mesonet::unit::inches_of_mercury_to_hpa(29.92), 1013.2074811900272);
/// ```
#[inline]
pub fn inches_of_mercury_to_hpa(pressure_inhg: f64) -> f64 {
    const CONVERSION: Conversion = Conversion::known(Unit::InchOfMercury, Unit::Hectopascal);
    CONVERSION.apply(pressure_inhg)
}

#[cfg(test)]
#[path = "convert_tests.rs"]
mod tests;
