use super::*;

const ENDS: [Rgba; 2] = [[10, 200, 0, 255], [20, 100, 0, 0]];

#[test]
fn values_on_and_beyond_the_stops_have_their_colours() {
    let scale = ColourScale::new(&[0.0, 4.0], &ENDS).unwrap();
    for value in [f64::NEG_INFINITY, -1.0, 0.0] {
        assert_eq!(scale.colour(value), ENDS[0], "{value}");
    }
    for value in [4.0, 5.0, f64::INFINITY] {
        assert_eq!(scale.colour(value), ENDS[1], "{value}");
    }
}

#[test]
fn a_mixture_rounds_each_part_with_halves_up() {
    let scale = ColourScale::new(&[0.0, 4.0], &ENDS).unwrap();
    // 12.5, 175, 0 and 191.25.
    assert_eq!(scale.colour(1.0), [13, 175, 0, 191]);
    // 17.5, 125, 0 and 63.75.
    assert_eq!(scale.colour(3.0), [18, 125, 0, 64]);
}

#[test]
fn two_stops_of_one_value_are_an_edge() {
    let [a, b, c] = [[1; 4], [2; 4], [9; 4]];
    let scale = ColourScale::new(&[0.0, 1.0, 1.0, 2.0], &[a, a, b, c]).unwrap();
    assert_eq!(scale.colour(1.0_f64.next_down()), a);
    assert_eq!(scale.colour(1.0), b);
    let one = ColourScale::new(&[5.0], &[c]).unwrap();
    assert_eq!([one.colour(4.0), one.colour(5.0), one.colour(6.0)], [c; 3]);
}

#[test]
fn stops_that_are_not_those_of_a_scale_are_refused() {
    let refused = |values: &[f64], colours: &[Rgba]| {
        ColourScale::new(values, colours).unwrap_err().to_string()
    };
    assert_eq!(refused(&[], &[]), "a scale of colours needs at least one stop; got none");
    assert_eq!(
        refused(&[0.0], &ENDS),
        "each stop has a value and a colour; got 1 values and 2 colours"
    );
    assert_eq!(refused(&[0.0, f64::NAN], &ENDS), "stops must be finite; stop 1 is NaN");
    assert_eq!(refused(&[f64::NEG_INFINITY, 0.0], &ENDS), "stops must be finite; stop 0 is -inf");
}

#[test]
fn every_integer_is_painted_as_its_value_is_coloured() {
    for (scale, nodata) in [(0.01, i16::MIN), (-0.5, 7)] {
        let encoding = Encoding::new(scale, 20.0, nodata).unwrap();
        let colours =
            ColourScale::new(&[-300.0, 0.0, 300.0], &[ENDS[0], ENDS[1], [255; 4]]).unwrap();
        let raw: Vec<i16> = (i16::MIN..=i16::MAX).collect();
        let bytes: Vec<u8> = raw.iter().flat_map(|raw| raw.to_le_bytes()).collect();
        let mut rgba = vec![1; 4 * raw.len()];
        TileColours::new(encoding, &colours).paint_into(&bytes, &mut rgba).unwrap();
        for (raw, pixel) in raw.iter().zip(rgba.as_chunks::<4>().0) {
            assert_eq!(*pixel, colours.colour(encoding.decode(*raw)), "{raw}");
        }
    }
}

#[test]
fn buffers_that_do_not_fit_are_refused_and_not_written() {
    let encoding = Encoding::new(1.0, 0.0, 0).unwrap();
    let colours = TileColours::new(encoding, &ColourScale::new(&[0.0], &[[9; 4]]).unwrap());
    for (bytes, room) in [(3, 4), (4, 4), (4, 9), (2, 8)] {
        let mut rgba = vec![1; room];
        assert!(colours.paint_into(&vec![1; bytes], &mut rgba).is_err(), "{bytes} {room}");
        assert!(rgba.iter().all(|&part| part == 1));
    }
}
