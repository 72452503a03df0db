//! A packing that fits the fields of a product: `packing = "auto"`.
//!
//! The packing uses the steps of the fields themselves, if 16 bits hold the values in these steps:
//! then packing changes no value. Otherwise it uses the steps that the range of the values needs,
//! with a quarter of the range to spare on either side. If values arrive later that the packing of
//! a run does not hold, its steps are doubled until it does, and the product is packed again.

use crate::grib::Steps;
use crate::grid::Encoding;

/// The steps between the least and the greatest integer; −32768 stands for no value.
const STEPS: f64 = 65_534.0;

/// The least integer.
const LEAST: f64 = -32_767.0;

/// The sizes that a step may have, times a power of ten.
const SIZES: [f64; 8] = [1.0, 1.2, 1.5, 2.0, 2.5, 4.0, 5.0, 8.0];

/// The requirements of the fields of a product on a packing.
#[derive(Clone, Copy, Debug)]
pub(super) struct ValueRange {
    least: f64,
    greatest: f64,
    steps: FieldSteps,
}

/// The steps of several fields.
#[derive(Clone, Copy, Debug)]
enum FieldSteps {
    /// So far, only fields with a single value.
    Any,
    /// The same steps for all fields.
    Common(Steps),
    /// Fields with different steps, or without steps.
    None,
}

impl Default for ValueRange {
    fn default() -> Self {
        Self { least: f64::INFINITY, greatest: f64::NEG_INFINITY, steps: FieldSteps::Any }
    }
}

impl ValueRange {
    /// Adds the values of a field, NaN where one is missing.
    pub(super) fn add(&mut self, values: &[f32], steps: Option<Steps>) {
        for value in values.iter().copied().map(f64::from).filter(|value| !value.is_nan()) {
            self.least = self.least.min(value);
            self.greatest = self.greatest.max(value);
        }
        self.steps = match (self.steps, steps) {
            (known, None) if values.len() == 1 => known,
            (FieldSteps::Any, Some(steps)) => FieldSteps::Common(steps),
            (FieldSteps::Common(known), Some(steps)) if is_same(known, steps) => self.steps,
            _ => FieldSteps::None,
        };
    }

    /// Returns a packing for the values. An existing packing of the run is kept if it holds them;
    /// otherwise its steps are doubled as often as needed.
    pub(super) fn encoding(&self, known: Option<Encoding>) -> Option<Encoding> {
        let (least, greatest) = (self.least, self.greatest);
        if least > greatest {
            // No value at all.
            return known.or_else(|| packed(1.0, 0.0));
        }
        if let Some(known) = known {
            return widened(known, least, greatest);
        }
        if let FieldSteps::Common(steps) = self.steps
            && let Some(exact) = exact(steps, least, greatest)
        {
            return Some(exact);
        }
        let spread = greatest - least;
        if spread == 0.0 {
            let step = step_of(least.abs().max(1.0) / STEPS)?;
            return packed(step, least);
        }
        let is_amount = is_amount(least, greatest);
        let lower = if is_amount { 0.0 } else { least - spread / 4.0 };
        let upper = greatest + spread / if is_amount { 2.0 } else { 4.0 };
        let step = step_of((upper - lower) / STEPS)?;
        // Zero is a multiple of the step, both for amounts and for signed values.
        let offset = if is_amount {
            -LEAST * step
        } else {
            libm::round(f64::midpoint(lower, upper) / step) * step
        };
        packed(step, offset)
    }
}

/// Whether values are amounts that begin at zero.
fn is_amount(least: f64, greatest: f64) -> bool {
    least >= 0.0 && least <= greatest - least
}

/// Whether two fields have their values on the same steps.
fn is_same(one: Steps, other: Steps) -> bool {
    let apart = (one.reference - other.reference) / one.binary;
    one.binary == other.binary
        && one.decimal == other.decimal
        && (apart - libm::round(apart)).abs() < 1e-3
}

/// Returns the packing with the steps of the fields; `None` if the values are more steps apart than
/// 16 bits hold.
fn exact(steps: Steps, least: f64, greatest: f64) -> Option<Encoding> {
    let Steps { reference, binary, decimal } = steps;
    let number = |value: f64| libm::round((value * decimal - reference) / binary);
    let (mut first, last) = (number(least), number(greatest));
    let zero = libm::ceil(-reference / binary);
    let from_zero = is_amount(least, greatest) && last - zero <= STEPS;
    if from_zero {
        first = first.min(zero);
    }
    if last - first > STEPS {
        return None;
    }
    // The integer 0 is in the middle; amounts that grow from zero have room above.
    let middle = if from_zero { first - LEAST } else { libm::floor(f64::midpoint(first, last)) };
    packed(binary / decimal, (reference + middle * binary) / decimal)
}

/// Returns a packing that holds all values of another one, and more.
fn widened(known: Encoding, least: f64, greatest: f64) -> Option<Encoding> {
    let ends = [LEAST, -LEAST].map(|raw| raw * known.scale() + known.offset());
    let half = known.scale() / 2.0;
    if least >= ends[0] - half && greatest <= ends[1] + half {
        return Some(known);
    }
    let (lower, upper) = (least.min(ends[0]), greatest.max(ends[1]));
    let mut step = known.scale();
    while (upper - lower) / step > STEPS {
        step *= 2.0;
    }
    let middle = libm::round((f64::midpoint(lower, upper) - known.offset()) / step);
    packed(step, known.offset() + middle * step)
}

/// Returns the smallest step of a few digits that is not below a size.
fn step_of(size: f64) -> Option<f64> {
    let power = libm::floor(libm::log10(size));
    let sizes = |power: f64| SIZES.map(|size| size * libm::pow(10.0, power));
    let mut steps = sizes(power).into_iter().chain(sizes(power + 1.0));
    steps.find(|step| *step >= size)
}

fn packed(step: f64, offset: f64) -> Option<Encoding> {
    Encoding::new(step, offset, i16::MIN).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(values: &[f32], steps: Option<Steps>) -> ValueRange {
        let mut range = ValueRange::default();
        range.add(values, steps);
        range
    }

    fn error(encoding: Encoding, value: f64) -> f64 {
        (encoding.decode(encoding.encode(value)) - value).abs()
    }

    /// (R + n · 2^E) / 10^D, with the bits of ECMWF's open data.
    #[test]
    fn values_in_steps_that_fit_are_not_changed() {
        let steps =
            Steps { reference: 220.436_294_555_664_06, binary: 0.001_953_125, decimal: 1.0 };
        let values: Vec<f32> = (0..=65_534)
            .map(|number| (steps.reference + f64::from(number) * steps.binary) as f32)
            .collect();
        let encoding = range(&values, Some(steps)).encoding(None).unwrap();
        assert_eq!(encoding.scale(), steps.binary);
        for &value in &values {
            assert_eq!(
                (encoding.decode(encoding.encode(value.into())) as f32).to_bits(),
                value.to_bits()
            );
        }
    }

    #[test]
    fn amounts_grow_from_zero_and_others_both_ways() {
        let tenths = Steps { reference: 0.0, binary: 1.0, decimal: 10.0 };
        let rain = range(&[0.0, 0.3, 12.5], Some(tenths)).encoding(None).unwrap();
        assert_eq!((rain.scale(), rain.encode(0.0), rain.decode(32_767)), (0.1, -32_767, 6553.4));
        let wind = range(&[-3.0, 9.0], Some(tenths)).encoding(None).unwrap();
        assert_eq!((wind.scale(), wind.offset()), (0.1, 3.0));
    }

    #[test]
    fn other_values_are_packed_within_their_range() {
        for values in [[-40.0, 50.0], [0.0, 1e-4], [98_000.0, 104_000.5], [-2.0, -1.0], [0.3, 0.3]]
        {
            let encoding = range(&values.map(|value| value as f32), None).encoding(None).unwrap();
            let spread: f64 = values[1] - values[0];
            for part in [0.0, 0.3, 1.0] {
                let value = f64::from((values[0] + part * spread) as f32);
                assert!(error(encoding, value) <= spread / 30_000.0, "{values:?}");
            }
        }
        assert!(ValueRange::default().encoding(None).is_some(), "a field without a value");
    }

    #[test]
    fn a_packing_is_kept_or_its_steps_are_doubled() {
        let known = Encoding::new(0.1, 0.0, i16::MIN).unwrap();
        assert_eq!(range(&[-3276.7, 3276.7], None).encoding(Some(known)), Some(known));
        let wider = range(&[3300.0], None).encoding(Some(known)).unwrap();
        assert_eq!(wider.scale(), 0.2);
        for value in [-3276.7, 0.0, 3300.0] {
            assert!(error(wider, value) <= 0.100_001, "{value}");
        }
    }
}
