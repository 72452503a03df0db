//! Dew point, relative humidity and wet bulb.
//!
//! All are based on one vapour pressure: Magnus's formula over water with the coefficients of
//! Sonntag (Z. Meteorol. 40, 1990), e = 6.112 · exp(17.62 t / (243.12 + t)) hPa, which WMO-No. 8
//! (part I, chapter 4, annex 4.B) gives for −45 to 60 °C. Water is assumed below 0 °C too, as in
//! reports of humidity. Bolton's coefficients (1980), which MetPy used until 1.6, hold only from
//! −35 to 35 °C; the published dew points and the published wet bulb are reproduced with either.

#![allow(clippy::inline_always, reason = "each caller has the instructions that it may use")]

use std::ops::RangeInclusive;

use super::elementary::{atan, exp, log};
use super::pressure::{DRY_AIR_J_PER_KG_K, STATION_HPA, ZERO_CELSIUS_K};
use super::slices::{DerivedLengthError, slice_form};

/// The range for which WMO-No. 8 gives the formula over water.
const MAGNUS_C: RangeInclusive<f64> = -45.0..=60.0;
const MAGNUS_SLOPE: f64 = 17.62;
const MAGNUS_POLE_C: f64 = 243.12;
const TRIPLE_POINT_HPA: f64 = 6.112;
/// Specific heat of dry air at constant pressure over its gas constant: 7/2 for a diatomic gas.
const HEAT_BY_GAS_CONSTANT: f64 = 3.5;

/// Exponent of the saturation vapour pressure at a temperature.
#[inline(always)]
fn magnus(temperature_c: f64) -> f64 {
    MAGNUS_SLOPE * temperature_c / (MAGNUS_POLE_C + temperature_c)
}

#[inline(always)]
fn saturation_hpa(temperature_c: f64) -> f64 {
    TRIPLE_POINT_HPA * exp(magnus(temperature_c))
}

/// Dew point in °C from the air temperature in °C and the relative humidity over water in percent,
/// by the inverse of Magnus's formula with the coefficients of Sonntag (1990), as in WMO-No. 8
/// (part I, chapter 4, annex 4.B).
///
/// `None` unless the humidity is above 0 and at most 100 %, if the temperature or the dew point is
/// outside −45 to 60 °C, for which the formula is given, and for NaN.
///
/// ```
/// use mesonet::derived::dew_point_c;
/// assert_eq!(dew_point_c(25.0, 85.0).unwrap().round(), 22.0);
/// assert_eq!(dew_point_c(0.0, 100.0), Some(0.0));
/// assert_eq!(dew_point_c(25.0, 0.0), None);
/// assert_eq!(dew_point_c(-50.0, 80.0), None);
/// ```
#[inline(always)]
pub fn dew_point_c(air_temperature_c: f64, relative_humidity_pct: f64) -> Option<f64> {
    let defined = MAGNUS_C.contains(&air_temperature_c)
        && relative_humidity_pct > 0.0
        && relative_humidity_pct <= 100.0;
    let exponent = log(relative_humidity_pct / 100.0) + magnus(air_temperature_c);
    let dew_point_c = MAGNUS_POLE_C * exponent / (MAGNUS_SLOPE - exponent);
    // Rounding must not move the dew point of nearly saturated air out of the domain or above the
    // temperature: the inverse would be undefined.
    (defined && exponent >= magnus(*MAGNUS_C.start()))
        .then(|| dew_point_c.max(*MAGNUS_C.start()).min(air_temperature_c))
}
slice_form!(dew_point_c_into, dew_point_c(air_temperature_c, relative_humidity_pct));

/// Relative humidity over water in percent from the air temperature and the dew point in °C: the
/// ratio of the vapour pressures by Magnus's formula with the coefficients of Sonntag (1990), as in
/// WMO-No. 8 (part I, chapter 4, annex 4.B).
///
/// `None` for a dew point above the temperature, outside −45 to 60 °C, for which the formula is
/// given, and for NaN.
///
/// ```
/// use mesonet::derived::relative_humidity_pct;
/// assert_eq!(relative_humidity_pct(25.0, 12.0).unwrap().round(), 44.0);
/// assert_eq!(relative_humidity_pct(-3.0, -3.0), Some(100.0));
/// assert_eq!(relative_humidity_pct(10.0, 10.1), None);
/// ```
#[inline(always)]
pub fn relative_humidity_pct(air_temperature_c: f64, dew_point_c: f64) -> Option<f64> {
    let defined = MAGNUS_C.contains(&air_temperature_c)
        && MAGNUS_C.contains(&dew_point_c)
        && dew_point_c <= air_temperature_c;
    let humidity_pct = 100.0 * exp(magnus(dew_point_c) - magnus(air_temperature_c));
    defined.then_some(humidity_pct)
}
slice_form!(relative_humidity_pct_into, relative_humidity_pct(air_temperature_c, dew_point_c));

/// Wet-bulb temperature in °C from the pressure at the station in hPa and the air temperature and
/// dew point in °C, by Normand's rule, as in MetPy: air is lifted dry-adiabatically until it is
/// saturated and brought back to its pressure along a moist adiabat.
///
/// The air is saturated where the dry adiabat meets the dew point of its vapour by Magnus's
/// formula; the moist adiabat dT/dln p = (R T + L r) / (c + L² r ε / (R T²)) is integrated by a
/// fourth-order Runge–Kutta method in sixteen steps, with an error of less than a thousandth of a
/// degree. It never warms less than the dew point does, so that the wet bulb lies between the dew
/// point and the temperature. Water is assumed below 0 °C too. A psychrometer, which mixes at
/// constant pressure, reads some tenths of a degree more in dry air.
///
/// `None` for a dew point above the temperature, outside −45 to 60 °C, for a pressure outside
/// 300 to 1100 hPa, and for NaN.
///
/// ```
/// use mesonet::derived::wet_bulb_c;
/// // As in MetPy.
/// let wet_bulb = wet_bulb_c(1000.0, 25.0, 15.0).unwrap();
/// assert_eq!((wet_bulb * 100.0).round() / 100.0, 18.34);
/// assert_eq!(wet_bulb_c(1000.0, 15.0, 25.0), None);
/// ```
pub fn wet_bulb_c(
    station_pressure_hpa: f64,
    air_temperature_c: f64,
    dew_point_c: f64,
) -> Option<f64> {
    if !is_defined(station_pressure_hpa, air_temperature_c, dew_point_c) {
        return None;
    }
    let air = Adiabat::lifted(station_pressure_hpa, air_temperature_c, dew_point_c, STEPS);
    let air = (0..STEPS).fold(air, |air, _| air.sunk());
    Some(reached_c(air.temperature_k, air_temperature_c, dew_point_c))
}

/// [`wet_bulb_c`] for each position, into `out`: NaN where the scalar returns `None`.
///
/// # Errors
/// If the arrays have different lengths; nothing is written.
pub fn wet_bulb_c_into(
    station_pressure_hpa: &[f64],
    air_temperature_c: &[f64],
    dew_point_c: &[f64],
    out: &mut [f64],
) -> Result<(), DerivedLengthError> {
    DerivedLengthError::check(&[
        ("station_pressure_hpa", station_pressure_hpa.len()),
        ("air_temperature_c", air_temperature_c.len()),
        ("dew_point_c", dew_point_c.len()),
        ("out", out.len()),
    ])?;
    let inputs = station_pressure_hpa
        .chunks(TOGETHER)
        .zip(air_temperature_c.chunks(TOGETHER))
        .zip(dew_point_c.chunks(TOGETHER));
    for (((pressure_hpa, air_c), dew_c), out) in inputs.zip(out.chunks_mut(TOGETHER)) {
        wet_bulbs_c(pressure_hpa, air_c, dew_c, out);
    }
    Ok(())
}

/// So many sink together, one step each: a loop over them is vectorised, one over steps is not.
const TOGETHER: usize = 64;

/// Without vectors, one after the other.
#[cfg(target_arch = "wasm32")]
fn wet_bulbs_c(pressure_hpa: &[f64], air_c: &[f64], dew_point_c: &[f64], out: &mut [f64]) {
    let inputs = pressure_hpa.iter().zip(air_c).zip(dew_point_c);
    for (out, ((&pressure_hpa, &air_c), &dew_point_c)) in out.iter_mut().zip(inputs) {
        *out = wet_bulb_c(pressure_hpa, air_c, dew_point_c).unwrap_or(f64::NAN);
    }
}

#[cfg(not(target_arch = "wasm32"))]
#[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
fn wet_bulbs_c(pressure_hpa: &[f64], air_c: &[f64], dew_point_c: &[f64], out: &mut [f64]) {
    let count = out.len().min(TOGETHER);
    let (pressure_hpa, air_c, dew_point_c) =
        (&pressure_hpa[..count], &air_c[..count], &dew_point_c[..count]);
    // A column for each number of an adiabat: vectors hold the same number of several.
    let [mut temperature_k, mut above_hpa, mut step, mut half_step_ratio] = [[0.0; TOGETHER]; 4];
    for i in 0..count {
        let air = Adiabat::lifted(pressure_hpa[i], air_c[i], dew_point_c[i], STEPS);
        temperature_k[i] = air.temperature_k;
        above_hpa[i] = air.pressure_hpa;
        step[i] = air.step;
        half_step_ratio[i] = air.half_step_ratio;
    }
    for _ in 0..STEPS {
        for i in 0..TOGETHER {
            let air = Adiabat {
                temperature_k: temperature_k[i],
                pressure_hpa: above_hpa[i],
                step: step[i],
                half_step_ratio: half_step_ratio[i],
            };
            let air = air.sunk();
            temperature_k[i] = air.temperature_k;
            above_hpa[i] = air.pressure_hpa;
        }
    }
    for i in 0..count {
        let wet_bulb_c = reached_c(temperature_k[i], air_c[i], dew_point_c[i]);
        let is_defined = is_defined(pressure_hpa[i], air_c[i], dew_point_c[i]);
        out[i] = if is_defined { wet_bulb_c } else { f64::NAN };
    }
}

/// Steps in which air sinks to its pressure.
const STEPS: u16 = 16;

/// Whether there is a wet bulb of air.
#[inline]
fn is_defined(pressure_hpa: f64, air_c: f64, dew_point_c: f64) -> bool {
    MAGNUS_C.contains(&air_c)
        && MAGNUS_C.contains(&dew_point_c)
        && dew_point_c <= air_c
        && STATION_HPA.contains(&pressure_hpa)
}

/// The wet bulb of air that has reached a temperature: between dew point and temperature, which it
/// is but for the last digits.
#[inline]
fn reached_c(temperature_k: f64, air_c: f64, dew_point_c: f64) -> f64 {
    let wet_bulb_c = (temperature_k - ZERO_CELSIUS_K).max(dew_point_c).min(air_c);
    if dew_point_c == air_c { air_c } else { wet_bulb_c }
}

/// Air on its way down a moist adiabat, from where it is saturated to the pressure it came from.
#[derive(Clone, Copy)]
struct Adiabat {
    temperature_k: f64,
    pressure_hpa: f64,
    /// Of the logarithm of the pressure.
    step: f64,
    half_step_ratio: f64,
}

impl Adiabat {
    /// Lifts air until it is saturated.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn lifted(pressure_hpa: f64, air_c: f64, dew_point_c: f64, steps: u16) -> Self {
        let air_k = air_c + ZERO_CELSIUS_K;
        let saturated_k = saturated_k(air_c, dew_point_c);
        // Poisson's equation along the dry adiabat gives the logarithm of the ratio of the
        // pressures.
        let lift = HEAT_BY_GAS_CONSTANT * log(air_k / saturated_k);
        let step = lift / f64::from(steps);
        Self {
            temperature_k: saturated_k,
            pressure_hpa: pressure_hpa * exp(-lift),
            step,
            half_step_ratio: exp(step / 2.0),
        }
    }

    /// The air after one step down, by the fourth-order Runge–Kutta method.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn sunk(self) -> Self {
        let Self { temperature_k, pressure_hpa: above_hpa, step, half_step_ratio } = self;
        let middle_hpa = above_hpa * half_step_ratio;
        let below_hpa = middle_hpa * half_step_ratio;
        let first = moist_slope_k(above_hpa, temperature_k);
        let second = moist_slope_k(middle_hpa, temperature_k + first * step / 2.0);
        let third = moist_slope_k(middle_hpa, temperature_k + second * step / 2.0);
        let fourth = moist_slope_k(below_hpa, temperature_k + third * step);
        let warmer_k = step / 6.0 * (first + 2.0 * second + 2.0 * third + fourth);
        Self { temperature_k: temperature_k + warmer_k, pressure_hpa: below_hpa, ..self }
    }
}

/// The temperature in K at which air that rises without losing heat or vapour is saturated: the
/// root of magnus(t) − magnus(dew point) = 7/2 ln(T / air), as the vapour pressure falls with the
/// pressure.
///
/// Bolton's formula (Mon. Wea. Rev. 108, 1980, eq. 15) is within 0.15 K of it; two steps of
/// Newton's method leave only rounding errors.
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
fn saturated_k(air_c: f64, dew_point_c: f64) -> f64 {
    let (air_k, dew_point_k) = (air_c + ZERO_CELSIUS_K, dew_point_c + ZERO_CELSIUS_K);
    let bolton_k = 56.0 + 1.0 / (1.0 / (dew_point_k - 56.0) + log(air_k / dew_point_k) / 800.0);
    (0..2).fold(bolton_k, |k, _| {
        let excess = magnus(k - ZERO_CELSIUS_K)
            - magnus(dew_point_c)
            - HEAT_BY_GAS_CONSTANT * log(k / air_k);
        k - excess / (1.0 / dew_point_slope_k(k) - HEAT_BY_GAS_CONSTANT / k)
    })
}

/// Change of the dew point of air of constant composition with the logarithm of pressure.
#[inline(always)]
fn dew_point_slope_k(dew_point_k: f64) -> f64 {
    let from_pole = MAGNUS_POLE_C + dew_point_k - ZERO_CELSIUS_K;
    from_pole * from_pole / (MAGNUS_SLOPE * MAGNUS_POLE_C)
}

/// Change of temperature with the logarithm of pressure along a moist adiabat (AMS Glossary,
/// pseudoadiabatic lapse rate, without the small terms; Bakhshaii and Stull 2013, eq. 3).
#[cfg_attr(not(target_arch = "wasm32"), inline(always))]
fn moist_slope_k(pressure_hpa: f64, temperature_k: f64) -> f64 {
    /// Latent heat of vaporization at 0 °C.
    const LATENT_J_PER_KG: f64 = 2.500_84e6;
    /// Ratio of the molar mass of water to that of dry air.
    const EPSILON: f64 = 18.015_268 / 28.965_46;
    let gas = DRY_AIR_J_PER_KG_K;
    let vapour_hpa = saturation_hpa(temperature_k - ZERO_CELSIUS_K);
    let mixing_ratio = EPSILON * vapour_hpa / (pressure_hpa - vapour_hpa);
    let latent = LATENT_J_PER_KG * mixing_ratio;
    let heat = HEAT_BY_GAS_CONSTANT * gas
        + LATENT_J_PER_KG * latent * EPSILON / (gas * temperature_k * temperature_k);
    // Saturated air that sinks takes up vapour, so its dew point, which is its temperature, rises
    // more than that of air of constant composition. With one latent heat for all temperatures the
    // ratio does not reflect this if there is more than half as much vapour as air.
    ((gas * temperature_k + latent) / heat).max(dew_point_slope_k(temperature_k))
}

/// Wet-bulb temperature in °C near sea level from the air temperature in °C and the relative
/// humidity in percent, by Stull's regression (J. Appl. Meteor. Climatol. 50, 2011, eq. 1): within
/// −1.0 to 0.65 °C of the psychrometric one at 1013.25 hPa.
///
/// `None` outside −20 to 50 °C and 5 to 99 %, and for NaN. Stull also gives no value for air
/// that is both cold and dry; such air is accepted here.
///
/// ```
/// use mesonet::derived::stull_wet_bulb_c;
/// assert_eq!((stull_wet_bulb_c(20.0, 50.0).unwrap() * 10.0).round(), 137.0);
/// assert_eq!(stull_wet_bulb_c(20.0, 100.0), None);
/// ```
#[inline(always)]
pub fn stull_wet_bulb_c(air_temperature_c: f64, relative_humidity_pct: f64) -> Option<f64> {
    let (air_c, pct) = (air_temperature_c, relative_humidity_pct);
    let defined = (-20.0..=50.0).contains(&air_c) && (5.0..=99.0).contains(&pct);
    // A power of 3/2 is a root, which every processor has, and a product.
    let wet_bulb_c = air_c * atan(0.151_977 * f64::sqrt(pct + 8.313_659)) + atan(air_c + pct)
        - atan(pct - 1.676_331)
        + 0.003_918_38 * (pct * f64::sqrt(pct)) * atan(0.023_101 * pct)
        - 4.686_035;
    defined.then_some(wet_bulb_c)
}
slice_form!(stull_wet_bulb_c_into, stull_wet_bulb_c(air_temperature_c, relative_humidity_pct));

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Without the last clamp.
    fn normand_c(pressure_hpa: f64, air_c: f64, dew_point_c: f64, steps: u16) -> f64 {
        let air = Adiabat::lifted(pressure_hpa, air_c, dew_point_c, steps);
        let air = (0..steps).fold(air, |air, _| air.sunk());
        air.temperature_k - ZERO_CELSIUS_K
    }

    #[test]
    fn sixteen_steps_are_enough() {
        for air_c in [-40.0, 0.0, 25.0, 45.0, 60.0] {
            for depression_c in [0.5, 5.0, 20.0, 60.0, 100.0] {
                for pressure_hpa in [400.0, 700.0, 1000.0] {
                    let dew_point_c = air_c - depression_c;
                    if let Some(got) = wet_bulb_c(pressure_hpa, air_c, dew_point_c) {
                        let fine = normand_c(pressure_hpa, air_c, dew_point_c, 1000);
                        assert!((got - fine).abs() < 1e-3, "{pressure_hpa} {air_c} {dew_point_c}");
                    }
                }
            }
        }
    }

    /// Hot air that is nearly saturated at a low pressure came out 0.0003 °C below its dew point,
    /// as the ratio of the moist adiabat implies there.
    #[test]
    fn the_wet_bulb_of_hot_damp_thin_air_is_not_below_its_dew_point() {
        let (air_c, dew_point_c) = (57.508_553_427_060_32, 57.292_551_967_832_44);
        let got = wet_bulb_c(300.0, air_c, dew_point_c).unwrap();
        assert!(dew_point_c <= got && got < air_c, "{got}");
        let uncut = normand_c(300.0, air_c, dew_point_c, 16);
        assert!((got - uncut).abs() < 1e-11, "{uncut}");
    }

    /// The method keeps it between them; the final clamp only removes rounding.
    #[test]
    fn the_wet_bulb_lies_between_dew_point_and_temperature_up_to_rounding() {
        for pressure_hpa in [300.0, 320.0, 400.0, 1100.0] {
            for air_c in (-45..=60).map(f64::from) {
                for depression_c in [1e-9, 1e-3, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 20.0, 105.0] {
                    let dew_point_c = air_c - depression_c;
                    if dew_point_c >= -45.0 {
                        let got = normand_c(pressure_hpa, air_c, dew_point_c, 16);
                        let between = dew_point_c - 1e-11 <= got && got <= air_c + 1e-11;
                        assert!(between, "{pressure_hpa} {air_c} {dew_point_c} {got}");
                    }
                }
            }
        }
    }

    #[test]
    fn rising_air_saturates_at_its_saturation_vapour_pressure() {
        for air_c in [-40.0, 0.0, 25.0, 60.0] {
            for dew_point_c in [-45.0, -40.0, -5.0, 12.0, 24.9, 59.0] {
                if dew_point_c <= air_c {
                    let found_k = saturated_k(air_c, dew_point_c);
                    let pressures_ratio = libm::pow(found_k / (air_c + ZERO_CELSIUS_K), 3.5);
                    let vapour_hpa = saturation_hpa(dew_point_c) * pressures_ratio;
                    let ratio = vapour_hpa / saturation_hpa(found_k - ZERO_CELSIUS_K);
                    assert!((ratio - 1.0).abs() < 1e-10, "{air_c} {dew_point_c}: {ratio}");
                }
            }
        }
    }

    #[test]
    fn the_ends_of_the_domain() {
        assert!(dew_point_c(60.0, 100.0).is_some() && dew_point_c(-45.0, 100.0).is_some());
        assert_eq!(dew_point_c(60.0_f64.next_up(), 100.0), None);
        assert_eq!(dew_point_c(-45.0, 99.0), None);
        assert_eq!(dew_point_c(20.0, 100.0_f64.next_up()), None);
        assert_eq!(relative_humidity_pct(20.0, (-45.0_f64).next_down()), None);
        assert_eq!(wet_bulb_c(1100.0_f64.next_up(), 20.0, 10.0), None);
        assert_eq!(wet_bulb_c(300.0, 20.0, 10.0).map(f64::is_finite), Some(true));
    }

    proptest! {
        #[test]
        fn any_input_gives_a_finite_value_or_none(a: f64, b: f64, c: f64) {
            prop_assert!(dew_point_c(a, b).is_none_or(f64::is_finite));
            prop_assert!(relative_humidity_pct(a, b).is_none_or(f64::is_finite));
            prop_assert!(wet_bulb_c(a, b, c).is_none_or(f64::is_finite));
            prop_assert!(stull_wet_bulb_c(a, b).is_none_or(f64::is_finite));
        }

        /// Arrays are computed in blocks of several values at once.
        #[test]
        fn an_array_has_the_bits_of_the_scalars(
            rows in prop::collection::vec((250.0_f64..1150.0, -50.0_f64..65.0, -50.0_f64..65.0), 0..150),
        ) {
            let column = |of: fn(&(f64, f64, f64)) -> f64| rows.iter().map(of).collect::<Vec<_>>();
            let (pressure_hpa, air_c, dew_c) = (column(|row| row.0), column(|row| row.1), column(|row| row.2));
            let mut out = vec![0.0; rows.len()];
            wet_bulb_c_into(&pressure_hpa, &air_c, &dew_c, &mut out).unwrap();
            for (&(pressure_hpa, air_c, dew_c), out) in rows.iter().zip(out) {
                let wanted = wet_bulb_c(pressure_hpa, air_c, dew_c);
                prop_assert_eq!(Some(out.to_bits()).filter(|_| !out.is_nan()), wanted.map(f64::to_bits));
            }
        }

        #[test]
        fn humidity_and_dew_point_are_inverse(air_c in -45.0_f64..60.0, pct in 1.0_f64..=100.0) {
            if let Some(dew_c) = dew_point_c(air_c, pct) {
                prop_assert!(dew_c <= air_c);
                prop_assert!((relative_humidity_pct(air_c, dew_c).unwrap() - pct).abs() < 1e-11);
                if let Some(damper_c) = dew_point_c(air_c, pct * 1.001) {
                    prop_assert!(damper_c > dew_c);
                }
            }
        }

        #[test]
        fn the_wet_bulb_lies_between_dew_point_and_temperature(
            pressure_hpa in 300.0_f64..1100.0,
            air_c in -45.0_f64..60.0,
            // As often damp as dry.
            dry in (0.0_f64..1.0).prop_map(|dry| dry.powi(4)),
        ) {
            let dew_c = (air_c - 105.0 * dry).max(-45.0);
            let wet_c = wet_bulb_c(pressure_hpa, air_c, dew_c).unwrap();
            prop_assert!(dew_c <= wet_c && wet_c <= air_c);
        }
    }
}
