//! Natural logarithm, exponential and arctangent without branches, so that loops over them are
//! vectorised.
//!
//! They are those of the `libm` crate (FreeBSD's `e_log.c`, `e_exp.c` and `s_atan.c`), operation for operation,
//! so each result has the same bits. What `libm` branches on is computed for all arguments and
//! selected; integers are converted by adding 2⁵², because older vector instructions convert none
//! of 64 bits.
//!
//! WebAssembly is built without vectors, and its modules are to be small: there they are `libm`'s own.

#![allow(clippy::inline_always, reason = "each caller has the instructions that it may use")]

/// Doubles from here to 2⁵³ are the integers: the low bits of a sum with it are an integer.
const TWO_52: f64 = 4_503_599_627_370_496.0;
/// The natural logarithm of 2 as a sum: multiples of the first part are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// The double that has these upper 32 bits, and zeros below.
const fn high(bits: u32) -> f64 {
    f64::from_bits((bits as u64) << 32)
}

/// The natural logarithm, with the bits of `libm::log`. NaN below 0.
#[inline(always)]
pub(super) fn log(x: f64) -> f64 {
    const SQRT_HALF: u64 = 0x3fe6_a09e << 32;
    const ONE: u64 = 0x3ff0_0000 << 32;
    const FRACTION: u64 = 0x000f_ffff_ffff_ffff;
    // Numbers below 2⁻¹⁰²² are scaled by 2⁵⁴.
    let is_subnormal = x < f64::MIN_POSITIVE;
    let scaled = if is_subnormal { x * 18_014_398_509_481_984.0 } else { x };
    let bias = if is_subnormal { TWO_52 + 1077.0 } else { TWO_52 + 1023.0 };
    // x = 2^k (1 + f), with 1 + f between the roots of 1/2 and 2.
    let bits = scaled.to_bits().wrapping_add(ONE - SQRT_HALF);
    let k = f64::from_bits((bits >> 52) | TWO_52.to_bits()) - bias;
    let f = f64::from_bits((bits & FRACTION) + SQRT_HALF) - 1.0;
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w
        * (3.999_999_999_940_942e-1
            + w * (2.222_219_843_214_978_4e-1 + w * 1.531_383_769_920_937_3e-1));
    let odd = z
        * (6.666_666_666_666_735e-1
            + w * (2.857_142_874_366_239e-1
                + w * (1.818_357_216_161_805e-1 + w * 1.479_819_860_511_658_6e-1)));
    let logarithm =
        s * (half_square + (odd + even)) + k * LN_2_LOW - half_square + f + k * LN_2_HIGH;
    let logarithm = if x == f64::INFINITY { x } else { logarithm };
    let logarithm = if x == 0.0 { f64::NEG_INFINITY } else { logarithm };
    if x >= 0.0 { logarithm } else { f64::NAN }
}

/// The exponential, with the bits of `libm::exp`.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    const PER_LN_2: f64 = std::f64::consts::LOG2_E;
    let size = x.abs();
    // x = k ln 2 + r. Rounded to the nearest first: truncation is no vector instruction everywhere.
    let quotient = PER_LN_2 * size + 0.5;
    let nearest = (quotient + TWO_52) - TWO_52;
    let truncated = if nearest > quotient { nearest - 1.0 } else { nearest };
    let k = if size >= high(0x3ff0_a2b2) { truncated } else { 1.0 };
    let k = if size >= high(0x3fd6_2e43) { k } else { 0.0 };
    let k = k.copysign(x);
    let (above, below) = (x - k * LN_2_HIGH, k * LN_2_LOW);
    let r = above - below;
    let z = r * r;
    let c = r - z
        * (1.666_666_666_666_660_2e-1
            + z * (-2.777_777_777_701_559_3e-3
                + z * (6.613_756_321_437_934e-5
                    + z * (-1.653_390_220_546_525_2e-6 + z * 4.138_136_797_057_238e-8))));
    let power = 1.0 + (r * c / (2.0 - c) - below + above);
    // 2^k as a product of two: neither of them is subnormal, so the result is rounded once.
    let biased = (k + (TWO_52 + 2046.0)).to_bits() & 0xfff;
    let half = biased >> 1;
    let power = power * f64::from_bits(half << 52) * f64::from_bits((biased - half) << 52);
    let power = if size >= high(0x3e30_0001) { power } else { 1.0 + x };
    let power = if x > 709.782_712_893_384 { f64::INFINITY } else { power };
    let power = if x < -745.133_219_101_941_1 { 0.0 } else { power };
    if x.is_nan() { x } else { power }
}

/// The arctangent, with the bits of `libm::atan`.
#[inline(always)]
pub(super) fn atan(x: f64) -> f64 {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
    let size = x.abs();
    // The arctangent of a quotient, and that of 0, 1/2, 1, 3/2 or infinity, as a sum.
    let of = |from: u32, larger: [f64; 4], smaller: [f64; 4]| {
        if size >= high(from) { larger } else { smaller }
    };
    let reduced = [size, 1.0, 0.0, 0.0];
    let half =
        [2.0 * size - 1.0, 2.0 + size, 4.636_476_090_008_061e-1, 2.269_877_745_296_168_7e-17];
    let reduced = of(0x3fdc_0000, half, reduced);
    let one = [size - 1.0, size + 1.0, FRAC_PI_4, 3.061_616_997_868_383e-17];
    let reduced = of(0x3fe6_0000, one, reduced);
    let three_halves =
        [size - 1.5, 1.0 + 1.5 * size, 9.827_937_232_473_29e-1, 1.390_331_103_123_099_8e-17];
    let reduced = of(0x3ff3_0000, three_halves, reduced);
    let infinity = [-1.0, size, FRAC_PI_2, 6.123_233_995_736_766e-17];
    let [above, below, angle_high, angle_low] = of(0x4003_8000, infinity, reduced);
    let t = above / below;
    let z = t * t;
    let w = z * z;
    let odd = z
        * (3.333_333_333_333_293e-1
            + w * (1.428_571_427_250_346_6e-1
                + w * (9.090_887_133_436_507e-2
                    + w * (6.661_073_137_387_531e-2
                        + w * (4.976_877_994_615_932_4e-2 + w * 1.628_582_011_536_578_2e-2)))));
    let even = w
        * (-1.999_999_999_987_648_3e-1
            + w * (-1.111_111_040_546_235_6e-1
                + w * (-7.691_876_205_044_83e-2
                    + w * (-5.833_570_133_790_573_5e-2 + w * -3.653_157_274_421_691_6e-2))));
    (angle_high - (t * (odd + even) - angle_low - t)).copysign(x)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PER_PATH: usize = 10_000_000;

    #[multiversion::multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
    fn each(x: &[f64], logarithms: &mut [f64], powers: &mut [f64], angles: &mut [f64]) {
        for (((&x, logarithm), power), angle) in x.iter().zip(logarithms).zip(powers).zip(angles) {
            (*logarithm, *power, *angle) = (log(x), exp(x), atan(x));
        }
    }

    fn same(got: f64, wanted: f64) -> bool {
        got.to_bits() == wanted.to_bits() || (got.is_nan() && wanted.is_nan())
    }

    /// Random numbers by xorshift: every exponent, and the ranges in which both vary most.
    fn arguments() -> impl Iterator<Item = f64> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let unit = |bits: u64| (bits >> 11) as f64 / (1_u64 << 53) as f64;
        (0..PER_PATH as u64).map(move |i| match i % 4 {
            0 => f64::from_bits(next()),
            1 => unit(next()) * 1500.0 - 750.0,
            2 => unit(next()) * 4.0 - 2.0,
            // Each exponent in turn.
            _ => f64::from_bits((next() & 0x800f_ffff_ffff_ffff) | ((i / 4 % 2048) << 52)),
        })
    }

    /// The numbers beside those at which `libm` takes another branch.
    fn edges() -> impl Iterator<Item = f64> {
        let highs = [
            0,
            0x0010_0000,
            0x3e30_0000,
            0x3e30_0001,
            0x3e40_0000,
            0x3fd6_2e42,
            0x3fd6_2e43,
            0x3fdc_0000,
            0x3fe6_0000,
            0x3fe6_a09e,
            0x3ff0_0000,
            0x3ff0_a2b1,
            0x3ff0_a2b2,
            0x3ff3_0000,
            0x4003_8000,
            0x4086_232b,
            0x4086_2e42,
            0x4087_4910,
            0x4410_0000,
            0x7ff0_0000,
        ];
        let edges = highs.map(high).into_iter().chain([709.782_712_893_384, 745.133_219_101_941_1]);
        let near = |edge: f64| {
            (-3..=3).map(move |by| f64::from_bits(edge.to_bits().saturating_add_signed(by)))
        };
        edges.flat_map(near).flat_map(|x| [x, -x])
    }

    #[test]
    fn they_have_the_bits_of_libm_on_each_path() {
        let x: Vec<_> = edges().chain(arguments()).collect();
        let [mut logarithms, mut powers, mut angles] = [(); 3].map(|()| vec![0.0; x.len()]);
        each(&x, &mut logarithms, &mut powers, &mut angles);
        for (i, &x) in x.iter().enumerate() {
            let (logarithm, power, angle) = (libm::log(x), libm::exp(x), libm::atan(x));
            // The vectors of this processor, and the plain path.
            for (got, wanted) in [
                (logarithms[i], logarithm),
                (log(x), logarithm),
                (powers[i], power),
                (exp(x), power),
                (angles[i], angle),
                (atan(x), angle),
            ] {
                assert!(same(got, wanted), "{x:e}: {got:e}, not {wanted:e}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_number_gives_the_bits_of_libm(x: f64) {
            prop_assert!(same(log(x), libm::log(x)) && same(exp(x), libm::exp(x)));
            prop_assert!(same(atan(x), libm::atan(x)));
        }
    }
}
