use proptest::prelude::*;

use super::*;

fn any_encoding() -> impl Strategy<Value = Encoding> {
    (0.001..1000.0_f64, -1e4..1e4_f64, any::<i16>())
        .prop_map(|(scale, offset, nodata)| Encoding::new(scale, offset, nodata).unwrap())
}

#[test]
fn nonsense_is_refused_with_what_was_got() {
    let message = |result: Result<Encoding, EncodingError>| result.unwrap_err().to_string();
    assert_eq!(message(Encoding::new(0.0, 0.0, 0)), "scale must be finite and not 0; got 0");
    assert_eq!(message(Encoding::new(f64::NAN, 0.0, 0)), "scale must be finite and not 0; got NaN");
    assert_eq!(message(Encoding::new(1.0, f64::INFINITY, 0)), "offset must be finite; got inf");

    let plain = Encoding::new(1.0, 0.0, i16::MIN).unwrap();
    let mut values = [7.0; 2];
    assert_eq!(
        plain.decode_into(&[1, 2, 3], &mut values).unwrap_err().to_string(),
        "3 values were given room for 2; the output must have the same length"
    );
    assert_eq!(
        plain.decode_bytes_into(&[1, 2, 3], &mut values).unwrap_err().to_string(),
        "a tile is pairs of bytes; got 3 bytes"
    );
    assert_eq!(values, [7.0; 2]);
    let mut single = [7.0_f32; 2];
    assert_eq!(
        plain.decode_bytes_into_f32(&[1, 2], &mut single).unwrap_err().to_string(),
        "1 values were given room for 2; the output must have the same length"
    );
    assert_eq!(single, [7.0; 2]);
}

#[test]
fn values_beyond_the_integers_are_clamped_and_never_become_nodata() {
    let plain = Encoding::new(1.0, 0.0, i16::MIN).unwrap();
    assert_eq!(plain.encode(1e9), 32767);
    assert_eq!(plain.encode(f64::NEG_INFINITY), -32767);
    assert_eq!(plain.encode(f64::NAN), i16::MIN);
    let zero_is_nodata = Encoding::new(1.0, 0.0, 0).unwrap();
    assert_eq!(zero_is_nodata.encode(0.2), 1);
    let top_is_nodata = Encoding::new(1.0, 0.0, 32767).unwrap();
    assert_eq!(top_is_nodata.encode(1e9), 32766);
}

proptest! {
    #[test]
    fn raw_integers_survive_a_round_trip(encoding in any_encoding(), raw in -32767..=32767_i16) {
        prop_assume!(raw != encoding.nodata());
        prop_assert_eq!(encoding.encode(encoding.decode(raw)), raw);
    }

    #[test]
    fn packing_is_within_half_a_step(encoding in any_encoding(), at in -32766.0..32766.0_f64) {
        let value = at * encoding.scale() + encoding.offset();
        let raw = encoding.encode(value);
        let step = encoding.scale();
        let distance = (encoding.decode(raw) - value).abs();
        let moved_off_nodata = raw.abs_diff(encoding.nodata()) == 1;
        let tolerance = if moved_off_nodata { 1.501 } else { 0.501 };
        prop_assert!(distance <= step * tolerance);
    }

    #[test]
    fn slices_bytes_and_scalars_agree_to_the_bit(
        encoding in any_encoding(),
        raw in prop::collection::vec(any::<i16>(), 0..1500),
    ) {
        let mut values = vec![0.0; raw.len()];
        encoding.decode_into(&raw, &mut values).unwrap();
        let bytes: Vec<u8> = raw.iter().flat_map(|raw| raw.to_le_bytes()).collect();
        let mut from_bytes = vec![0.0; raw.len()];
        encoding.decode_bytes_into(&bytes, &mut from_bytes).unwrap();
        let mut single = vec![0.0_f32; raw.len()];
        encoding.decode_bytes_into_f32(&bytes, &mut single).unwrap();
        for (((&raw, value), from_bytes), single) in raw.iter().zip(values).zip(from_bytes).zip(single) {
            prop_assert_eq!(value.to_bits(), encoding.decode(raw).to_bits());
            prop_assert_eq!(from_bytes.to_bits(), value.to_bits());
            prop_assert_eq!(single.to_bits(), (value as f32).to_bits());
        }
    }
}

#[test]
fn decimals_are_those_that_scale_and_offset_have() {
    let factor = |scale, offset| Encoding::new(scale, offset, i16::MIN).unwrap().decimal_factor();
    for (scale, offset, expected) in [
        (0.01, 273.15, 100.0),
        (1.0, 0.0, 1.0),
        (5.0, 100_000.0, 1.0),
        (0.2, 2500.0, 10.0),
        (1e-7, 0.0, 1e7),
        (0.5, 0.125, 1000.0),
        (-0.1, 0.0, 10.0),
    ] {
        assert_eq!(factor(scale, offset), Some(expected), "{scale} {offset}");
    }
    for (scale, offset) in [(1.0 / 3.0, 0.0), (0.01, 1.0 / 7.0), (1e-15, 0.0), (1e-300, 0.0)] {
        assert_eq!(factor(scale, offset), None, "{scale} {offset}");
    }
}

#[cfg(all(feature = "grib", feature = "model"))]
#[test]
fn many_values_are_packed_as_one_by_one() {
    let mut values: Vec<f32> = (-4000..4000_i16).map(|number| f32::from(number) / 16.0).collect();
    values.extend([f32::NAN, 1e9, -1e9, f32::INFINITY, -0.0, 327.67, -327.67, 327.68]);
    for (scale, offset, nodata) in [(0.01, 0.0, i16::MIN), (-0.125, 20.0, 0), (1.0, -3.0, i16::MAX)]
    {
        let encoding = Encoding::new(scale, offset, nodata).unwrap();
        for length in [0, 1, 7, 8, 9, values.len()] {
            let values = &values[values.len() - length..];
            let (mut one, mut all) = (PackingLoss::default(), PackingLoss::default());
            let wanted: Vec<i16> =
                values.iter().map(|value| one.pack(encoding, f64::from(*value))).collect();
            let mut raw = vec![1; length];
            all.pack_all(encoding, values, &mut raw);
            assert_eq!((&raw, all), (&wanted, one), "{scale} {length}");
        }
    }
}
