//! The whole numbers that values were reported as.
//!
//! Most values are short decimals, in the unit of their variable or in the unit of the report. Such
//! a value is a whole number, a number of decimals and a pair of units, and comes back bit for bit.

use serde_json::json;

use crate::unit::{Conversion, Unit};

/// What makes a value of a whole number: it is divided by a power of ten, then converted.
#[derive(Debug)]
pub(super) struct Scale {
    decimals: usize,
    /// To the value, and back.
    conversions: Option<(Conversion, Conversion)>,
}

const POWERS: [f64; 7] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];

const fn decimal(decimals: usize) -> Scale {
    Scale { decimals, conversions: None }
}

const fn reported(from: Unit, to: Unit, decimals: usize) -> Scale {
    let conversions = (Conversion::known(from, to), Conversion::known(to, from));
    Scale { decimals, conversions: Some(conversions) }
}

/// Files hold the position of a scale in this list: add at the end, and change nothing.
///
/// The first that fits is used, so those with fewer digits come first: 10 miles are 10, not 16.09344
/// kilometres.
pub(super) static SCALES: [Scale; 33] = [
    decimal(0),
    decimal(1),
    reported(Unit::Knot, Unit::KilometrePerHour, 0),
    reported(Unit::Knot, Unit::KilometrePerHour, 1),
    reported(Unit::MetrePerSecond, Unit::KilometrePerHour, 0),
    reported(Unit::MetrePerSecond, Unit::KilometrePerHour, 1),
    reported(Unit::MilePerHour, Unit::KilometrePerHour, 0),
    reported(Unit::MilePerHour, Unit::KilometrePerHour, 1),
    reported(Unit::Mile, Unit::Kilometre, 0),
    reported(Unit::NauticalMile, Unit::Kilometre, 0),
    reported(Unit::NauticalMile, Unit::Kilometre, 1),
    reported(Unit::Foot, Unit::Metre, 0),
    reported(Unit::Foot, Unit::Metre, 1),
    reported(Unit::HundredthInch, Unit::Millimetre, 0),
    reported(Unit::Inch, Unit::Centimetre, 0),
    reported(Unit::Inch, Unit::Centimetre, 1),
    reported(Unit::DegreeFahrenheit, Unit::DegreeCelsius, 0),
    reported(Unit::DegreeFahrenheit, Unit::DegreeCelsius, 1),
    decimal(2),
    reported(Unit::MetrePerSecond, Unit::KilometrePerHour, 2),
    reported(Unit::InchOfMercury, Unit::Hectopascal, 2),
    reported(Unit::InchOfMercury, Unit::Hectopascal, 3),
    reported(Unit::Mile, Unit::Kilometre, 2),
    reported(Unit::Mile, Unit::Kilometre, 4),
    reported(Unit::Inch, Unit::Millimetre, 2),
    reported(Unit::Inch, Unit::Millimetre, 3),
    reported(Unit::Kelvin, Unit::DegreeCelsius, 1),
    reported(Unit::Kelvin, Unit::DegreeCelsius, 2),
    reported(Unit::Knot, Unit::KilometrePerHour, 2),
    decimal(3),
    decimal(4),
    decimal(5),
    decimal(6),
];

impl Scale {
    /// Replaces whole numbers by their values.
    pub(super) fn apply(&self, numbers: &mut [f64]) {
        if self.decimals > 0 {
            // The nearest double to a decimal: both operands are exact.
            let power = POWERS[self.decimals];
            for number in &mut *numbers {
                *number /= power;
            }
        }
        if let Some((to_value, _)) = self.conversions {
            to_value.apply_in_place(numbers);
        }
    }

    /// Returns the whole number that gives a value bit for bit, if there is one.
    #[inline]
    fn number(&self, value: f64) -> Option<i32> {
        let power = POWERS[self.decimals];
        let reported = self.conversions.map_or(value, |(_, to_number)| to_number.apply(value));
        let scaled = reported * power;
        // The nearest one; if it is not, or does not fit, it does not give the value. Whole numbers
        // have no negative zero.
        let number = (scaled + 0.5_f64.copysign(scaled)) as i32;
        let decimal = f64::from(number) / power;
        let again = self.conversions.map_or(decimal, |(to_value, _)| to_value.apply(decimal));
        (again.to_bits() == value.to_bits()).then_some(number)
    }
}

/// Returns the scales as JSON, for programs that open a file elsewhere. Their values differ from ours
/// in the last digits at most.
pub(super) fn scales_text() -> String {
    let scales = SCALES.iter().map(|scale| {
        let convert =
            |value| scale.conversions.map_or(value, |(to_value, _)| to_value.apply(value));
        let offset = convert(0.0);
        json!({ "decimals": scale.decimals, "factor": convert(1.0) - offset, "offset": offset })
    });
    scales.collect::<serde_json::Value>().to_string()
}

/// Finds the first scale that fits all values, and their whole numbers.
pub(super) fn find_scale(values: &[f64], numbers: &mut Vec<i32>) -> Option<u8> {
    let fits = |scale: &Scale| {
        numbers.clear();
        values.iter().all(|&value| {
            let number = scale.number(value);
            numbers.extend(number);
            number.is_some()
        })
    };
    SCALES.iter().position(fits).map(|at| at as u8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn through(values: &[f64]) -> Option<(u8, Vec<f64>)> {
        let mut numbers = Vec::new();
        let scale = find_scale(values, &mut numbers)?;
        let mut again: Vec<f64> = numbers.iter().map(|&number| f64::from(number)).collect();
        SCALES[usize::from(scale)].apply(&mut again);
        Some((scale, again))
    }

    #[test]
    fn what_feeds_give_is_the_whole_number_that_was_reported() {
        let altimeter = crate::unit::inches_of_mercury_to_hpa(f64::from(2993_u16) / 100.0);
        let visibility = crate::unit::statute_miles_to_km(10.0);
        let wind = Conversion::known(Unit::MetrePerSecond, Unit::KilometrePerHour).apply(3.1);
        let gust = Conversion::known(Unit::Knot, Unit::KilometrePerHour).apply(23.0);
        for (value, number) in
            [(21.7, 217), (altimeter, 2993), (visibility, 10), (wind, 31), (gust, 23)]
        {
            let mut numbers = Vec::new();
            find_scale(&[value], &mut numbers).unwrap();
            assert_eq!(numbers, [number], "{value}");
        }
    }

    #[test]
    fn what_no_scale_gives_is_left() {
        for value in [-0.0, f64::MIN_POSITIVE, 1e300, 1.0 / 3.0, 12.964_000_1e9] {
            assert_eq!(through(&[value]), None, "{value}");
        }
    }

    proptest! {
        #[test]
        fn every_number_of_every_scale_comes_back(at in 0..SCALES.len(), number: i32) {
            let mut value = [f64::from(number)];
            SCALES[at].apply(&mut value);
            // Another scale may give the same value with fewer digits.
            if let Some((_, again)) = through(&value) {
                prop_assert_eq!(again[0].to_bits(), value[0].to_bits());
            } else {
                prop_assert!(number == i32::MIN, "{} of scale {}", number, at);
            }
        }

        #[test]
        fn no_value_changes(bits: u64) {
            let value = f64::from_bits(bits);
            if let Some((_, again)) = through(&[value]) {
                prop_assert_eq!(again[0].to_bits(), bits);
            }
        }
    }
}
