use proptest::prelude::*;

use super::*;

fn ulps(a: f64, b: f64) -> u64 {
    (a.to_bits() as i64).abs_diff(b.to_bits() as i64)
}

#[test]
fn whole_numbers_convert_to_the_nearest_double() {
    assert_eq!(knots_to_kmh(14.0), 25.928);
    assert_eq!(metres_per_second_to_kmh(3.0), 10.8);
    assert_eq!(statute_miles_to_km(10.0), 16.09344);
    assert_eq!(feet_to_m(1900.0), 579.12);
    assert_eq!(inches_to_mm(7.0), 177.8);
}

#[test]
fn columns_of_mercury_are_their_definition() {
    // In units of 1e-10 Pa: mm × kg/m³ × m/s².
    let mmhg = 135_951_u64 * 980_665;
    assert_eq!(Unit::MillimetreOfMercury.size(), (mmhg, 1_000_000_000));
    assert_eq!(Unit::InchOfMercury.size(), (mmhg * 254 / 10, 1_000_000_000));
}

#[test]
fn the_integers_of_every_factor_are_doubles() {
    for &from in Unit::ALL {
        for &to in Unit::ALL.iter().filter(|to| to.dimension() == from.dimension()) {
            let ((a, b), (c, d)) = (from.size(), to.size());
            let (num, den) = (u128::from(a) * u128::from(d), u128::from(b) * u128::from(c));
            let common = greatest_common_divisor(num, den);
            assert!(num / common < 1 << 53 && den / common < 1 << 53, "{from} to {to}");
        }
    }
}

/// Returns the product with a ratio in exact integers, rounded once, for values of at most 2⁵³.
fn exact_product(value: u64, num: u128, den: u128) -> f64 {
    let scaled = u128::from(value) * num;
    let mut exponent = 0_i32;
    let (mut quotient, mut den) = (scaled / den, den);
    let mut numerator = scaled;
    while quotient < 1 << 54 && numerator < 1 << 120 {
        numerator <<= 1;
        exponent -= 1;
        quotient = numerator / den;
    }
    while quotient >= 1 << 60 {
        den <<= 1;
        exponent += 1;
        quotient = numerator / den;
    }
    // A sticky bit for the remainder; converting an integer rounds to nearest, ties to even.
    let sticky = u128::from(!numerator.is_multiple_of(den));
    ((quotient << 1 | sticky) as f64) * 2_f64.powi(exponent - 1)
}

proptest! {
    #[test]
    fn products_are_rounded_once(value in 1_u64..1 << 20) {
        for (from, to) in proportional_pairs() {
            if from == Unit::Radian || to == Unit::Radian {
                continue;
            }
            let ((a, b), (c, d)) = (from.size(), to.size());
            let (num, den) = (u128::from(a) * u128::from(d), u128::from(b) * u128::from(c));
            let common = greatest_common_divisor(num, den);
            let wanted = exact_product(value, num / common, den / common);
            let got = Conversion::between(from, to).unwrap().apply(value as f64);
            prop_assert_eq!(got.to_bits(), wanted.to_bits(), "{} {} to {}", value, from, to);
        }
    }

    #[test]
    fn there_and_back_is_one_ulp_at_most(value in -1e200..1e200_f64) {
        for (from, to) in proportional_pairs() {
            let there = Conversion::between(from, to).unwrap().apply(value);
            let back = Conversion::between(to, from).unwrap().apply(there);
            prop_assert!(ulps(value, back) <= 1, "{value} {from} to {to} and back: {back}");
        }
    }

    #[test]
    fn temperatures_come_back_to_the_precision_of_the_greater_number(value in -1000.0..2000.0_f64) {
        for (from, to) in pairs().filter(|(from, _)| from.dimension() == Dimension::Temperature) {
            let there = Conversion::between(from, to).unwrap().apply(value);
            let back = Conversion::between(to, from).unwrap().apply(there);
            let greatest = value.abs().max(there.abs()).max(460.0);
            prop_assert!((value - back).abs() <= 3.0 * greatest * f64::EPSILON, "{from} {to}");
        }
    }

    #[test]
    fn slices_convert_like_single_values(
        values in proptest::collection::vec(prop_oneof![
            -1e290..1e290_f64,
            -1e3..1e3_f64,
            proptest::num::f64::INFINITE | proptest::num::f64::ZERO,
            Just(f64::NAN),
        ], 0..40),
    ) {
        for (from, to) in [
            (Unit::Knot, Unit::KilometrePerHour),
            (Unit::DegreeFahrenheit, Unit::Kelvin),
            (Unit::Metre, Unit::Metre),
        ] {
            let conversion = Conversion::between(from, to).unwrap();
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            let wanted: Vec<f64> = values.iter().map(|&value| conversion.apply(value)).collect();
            let (mut in_place, mut out) = (values.clone(), vec![0.0; values.len()]);
            conversion.apply_in_place(&mut in_place);
            conversion.apply_into(&values, &mut out).unwrap();
            prop_assert_eq!(bits(&in_place), bits(&wanted));
            prop_assert_eq!(bits(&out), bits(&wanted));

            let singles: Vec<f32> = values.iter().map(|&value| value as f32).collect();
            let mut in_place = singles.clone();
            conversion.apply_in_place(&mut in_place);
            for (&single, got) in singles.iter().zip(in_place) {
                let wanted = conversion.apply(f64::from(single)) as f32;
                let near = (got - wanted).abs() <= wanted.abs() * f32::EPSILON;
                prop_assert!(near || got == wanted || got.is_nan() && wanted.is_nan());
            }
        }
    }
}

fn pairs() -> impl Iterator<Item = (Unit, Unit)> {
    Unit::ALL.iter().flat_map(|&from| {
        let of_one = move |to: &Unit| to.dimension() == from.dimension();
        Unit::ALL.iter().copied().filter(of_one).map(move |to| (from, to))
    })
}

fn proportional_pairs() -> impl Iterator<Item = (Unit, Unit)> {
    pairs().filter(|(from, _)| from.dimension() != Dimension::Temperature)
}

#[test]
fn non_finite_values_stay_non_finite() {
    for (from, to) in pairs() {
        let apply = |value| Conversion::between(from, to).unwrap().apply(value);
        assert!(apply(f64::NAN).is_nan(), "{from} to {to}");
        assert_eq!(apply(f64::INFINITY), f64::INFINITY, "{from} to {to}");
        assert_eq!(apply(f64::NEG_INFINITY), f64::NEG_INFINITY, "{from} to {to}");
        // Near the maximum, the product is rounded twice or overflows to infinity.
        assert!(!apply(f64::MAX).is_nan(), "{from} to {to}");
        if from.dimension() != Dimension::Temperature {
            assert_eq!(apply(-0.0).to_bits(), (-0.0_f64).to_bits(), "{from} to {to}");
        }
    }
}

#[test]
fn converting_a_unit_to_itself_changes_nothing() {
    for &unit in Unit::ALL {
        for value in [0.1, -7.3, f64::MAX, 5e-324] {
            let same = Conversion::between(unit, unit).unwrap().apply(value);
            assert_eq!(same.to_bits(), value.to_bits(), "{unit}");
        }
    }
}

#[test]
fn other_dimensions_are_refused_with_both_names() {
    let message = |from, to| Conversion::between(from, to).unwrap_err().to_string();
    assert_eq!(
        message(Unit::Knot, Unit::Hectopascal),
        "kt (knot) measures speed, hPa (hectopascal) pressure; allowed are two units of one dimension",
    );
    assert_eq!(
        message(Unit::One, Unit::Metre),
        "1 (one) measures ratio, m (metre) length; allowed are two units of one dimension",
    );
    let mut refused = 0;
    for &from in Unit::ALL {
        for &to in Unit::ALL {
            let between = Conversion::between(from, to);
            assert_eq!(between.is_ok(), from.dimension() == to.dimension());
            refused += usize::from(between.is_err());
        }
    }
    assert!(refused > 2000);
}

#[test]
fn a_temperature_difference_is_not_a_temperature() {
    let apply = |from, to, value| Conversion::between(from, to).unwrap().apply(value);
    assert_eq!(apply(Unit::KelvinDifference, Unit::FahrenheitDifference, 10.0), 18.0);
    assert_eq!(apply(Unit::Kelvin, Unit::DegreeFahrenheit, 273.15), 32.0);
    assert!(Conversion::between(Unit::Kelvin, Unit::KelvinDifference).is_err());
}

#[test]
fn water_is_a_depth_and_a_mass() {
    let water = |from, to| Conversion::of_liquid_water(from, to);
    let rate = water(Unit::KilogramPerSquareMetreSecond, Unit::MillimetrePerHour).unwrap();
    assert_eq!(rate.apply(0.001), 3.6);
    assert_eq!(water(Unit::Inch, Unit::KilogramPerSquareMetre).unwrap().apply(1.0), 25.4);
    assert_eq!(
        water(Unit::Inch, Unit::Millimetre),
        Conversion::between(Unit::Inch, Unit::Millimetre)
    );
    assert!(water(Unit::KilogramPerSquareMetre, Unit::MillimetrePerHour).is_err());
}

#[test]
fn a_buffer_of_another_length_is_refused() {
    let conversion = Conversion::between(Unit::Foot, Unit::Metre).unwrap();
    let mut out = [7.0];
    let error = conversion.apply_into(&[1.0, 2.0], &mut out).unwrap_err();
    assert_eq!(
        error.to_string(),
        "2 values were given room for 1; the output must have the same length",
    );
    assert_eq!(out, [7.0]);
}
