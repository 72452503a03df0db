use proptest::prelude::*;

use super::*;

const NODATA: i16 = -32_768;

fn shape(planes: usize, rows: usize, columns: usize) -> ChunkShape {
    ChunkShape { planes, rows, columns }
}

/// Encodes a chunk, and checks that all ways of reading it give what was written.
#[track_caller]
fn check(values: &[i16], of: ChunkShape) -> Vec<u8> {
    let bytes = encode(values, of, NODATA).unwrap();
    if bytes.is_empty() {
        assert!(values.iter().all(|value| *value == NODATA));
        return bytes;
    }
    let mut decoded = vec![1; values.len()];
    decode(&bytes, of, &mut decoded).unwrap();
    assert_eq!(decoded, values);
    let chunk = Chunk::new(&bytes, of).unwrap();
    let mut column = vec![1; of.planes];
    for cell in 0..of.rows * of.columns {
        chunk.column(cell / of.columns, cell % of.columns, 0, &mut column).unwrap();
        let wanted = values.iter().skip(cell).step_by(of.rows * of.columns);
        assert!(column.iter().eq(wanted), "cell {cell}");
    }
    bytes
}

/// A smooth field with some noise, in steps of one.
fn field(rows: usize, columns: usize, noise: i32) -> Vec<i16> {
    let mut state = 1_u32;
    let value = |cell: usize| {
        let (row, column) = ((cell / columns) as i32, (cell % columns) as i32);
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (row * row / 7 + column * 3 - row * column / 50 + (state >> 24) as i32 % noise) as i16
    };
    (0..rows * columns).map(value).collect()
}

#[test]
fn a_smooth_field_takes_few_bits() {
    let values = field(64, 64, 8);
    let bytes = check(&values, shape(1, 64, 64));
    assert!(bytes.len() * 8 < values.len() * 11 / 2, "{} bytes", bytes.len());
}

/// Tenths of a kelvin that are stored in hundredths, binary steps in decimal ones, and percent.
#[test]
fn a_coarser_step_costs_nothing() {
    let numbers = field(64, 64, 8);
    let own = check(&numbers, shape(1, 64, 64)).len();
    for (step, offset) in
        [(10.0, 0.0), (6.25, 0.3), (12.207_031_25, -4000.25), (2.5, 0.1), (1.25, 0.0)]
    {
        let value = |number: &i16| (f64::from(*number) * step + offset).round() as i16;
        let values: Vec<i16> = numbers.iter().map(value).collect();
        let bytes = check(&values, shape(1, 64, 64));
        assert!(
            bytes.len() <= own + 24,
            "step {step}: {} bytes, {own} in steps of one",
            bytes.len()
        );
    }
}

#[test]
fn every_extreme_comes_back() {
    let all: Vec<i16> = (i16::MIN..=i16::MAX).collect();
    check(&all, shape(1, 256, 256));
    check(&all, shape(16, 64, 64));
    let ends = [i16::MIN + 1, i16::MAX, 0, -1].repeat(64);
    check(&ends, shape(1, 16, 16));
    // An exception of sixteen bits among zeros, in each corner.
    for place in [0, 15, 240, 255] {
        let mut values = vec![0; 256];
        values[place] = i16::MAX;
        check(&values, shape(1, 16, 16));
        values[place] = NODATA;
        check(&values, shape(1, 16, 16));
    }
    // Neighbours whose difference does not fit into 16 bits.
    check(&[-32_000, 32_000].repeat(128), shape(1, 16, 16));
    check(&vec![NODATA; 512], shape(2, 16, 16));
}

#[test]
fn a_missing_plane_takes_a_bit() {
    let one = field(32, 32, 8);
    let alone = check(&one, shape(1, 32, 32)).len();
    let among = [vec![NODATA; 10 * 1024], one.clone()].concat();
    assert_eq!(check(&among, shape(11, 32, 32)).len(), alone + 2);
    let two = [&one[..], &vec![NODATA; 15 * 1024], &one[..]].concat();
    check(&two, shape(17, 32, 32));
}

#[test]
fn a_long_chunk_has_wide_ends() {
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as i16
    };
    let values: Vec<i16> = (0..64 * 1024).map(|_| random()).collect();
    let bytes = check(&values, shape(64, 32, 32));
    assert_eq!(bytes[1], WIDE_ENDS);
    // What cannot be predicted takes little more than two bytes a value.
    assert!(bytes.len() < values.len() * 2 + 64 * 4 * 8 + 128, "{}", bytes.len());
}

#[test]
fn planes_with_other_steps_lie_in_one_chunk() {
    let numbers = field(32, 32, 8);
    let of = |step: i16| numbers.iter().map(move |number| number % 300 * step);
    let steps = [10, 4, 1, 25, 10];
    let values: Vec<i16> = steps.into_iter().flat_map(of).collect();
    let bytes = check(&values, shape(5, 32, 32));
    assert_eq!(u16::from_le_bytes([bytes[4], bytes[5]]), 4, "two planes share a step");
}

#[test]
fn parts_of_a_plane_are_those_of_the_whole() {
    let mut values = field(48, 80, 20);
    values.iter_mut().step_by(7).for_each(|value| *value = NODATA);
    let bytes = encode(&values, shape(1, 48, 80), NODATA).unwrap();
    let chunk = Chunk::new(&bytes, shape(1, 48, 80)).unwrap();
    for (rows, columns) in [(0..1, 0..1), (15..17, 15..33), (3..48, 64..80), (20..20, 5..9)] {
        let (stride, width) = (90, columns.len());
        let mut part = vec![7; rows.len() * stride + width];
        chunk.part(0, rows.clone(), columns.clone(), &mut part, stride).unwrap();
        for (number, row) in rows.enumerate() {
            let got = &part[number * stride..][..stride];
            assert_eq!(got[..width], values[row * 80..][columns.clone()]);
            assert!(got[width..].iter().all(|value| *value == 7), "nothing else is written");
        }
    }
}

#[test]
fn invalid_shapes_are_refused() {
    for of in [shape(1, 15, 16), shape(0, 16, 16), shape(257, 16, 16), shape(1, 0, 16)] {
        assert_eq!(encode(&[0; 256], of, NODATA), Err(BlocksError::Shape(of)));
    }
    let much = shape(256, 1 << 20, 1 << 40);
    assert_eq!(decode(&[1; 256], much, &mut []), Err(BlocksError::Shape(much)));
    let of = shape(1, 16, 16);
    let error = encode(&[0; 255], of, NODATA).unwrap_err();
    assert_eq!(error.to_string(), "the chunk has 256 values; got 255");
    let bytes = encode(&[3; 256], of, NODATA).unwrap();
    assert_eq!(decode(&bytes, of, &mut [0; 3]), Err(BlocksError::Length { needed: 256, got: 3 }));
    let later = [&[2], &bytes[1..]].concat();
    assert_eq!(
        decode(&later, of, &mut [0; 256]).unwrap_err().to_string(),
        "the chunk has version 2 of mesonet.blocks; supported is 1"
    );
    assert_eq!(decode(&[], of, &mut [0; 256]), Err(BlocksError::Damaged));
}

/// The form on disk: a change of it needs another version.
#[test]
fn the_bytes_of_a_chunk_are_stated() {
    // Rows that are ten apart, with a hole.
    let mut values: Vec<i16> = (0..256).map(|cell| cell / 16 * 10).collect();
    values[17] = NODATA;
    let bytes = encode(&values, shape(1, 16, 16), NODATA).unwrap();
    // Version, flags, nodata, one step of ten: the numbers are -7 to 8.
    let head = [&[1, 0, 0, 128, 1, 0][..], &[0, 0, 10, 0], &[255, 127, 70, 0]].concat();
    // Differences to the right with holes, no bits, the base; the hole in row 1, column 1.
    let mut holes = [0; 32];
    holes[2] = 2;
    let block = [&[2 | 4, 249, 255][..], &holes];
    // The first column has an exception in each row but the first: a difference of 1.
    let places: Vec<u8> = (1..16).map(|row| row * 16).collect();
    let exceptions = [&[15][..], &[2; 15], &places].concat();
    let block = [block.concat(), exceptions].concat();
    assert_eq!(bytes, [&head[..], &[block.len() as u8, 0], &block].concat());
}

/// Values as models have them: smooth, in coarse steps, with holes, or random.
fn values(of: ChunkShape) -> impl Strategy<Value = Vec<i16>> {
    let plane = (any::<u32>(), 0..6_u8, 1..400_i32, any::<i16>());
    prop::collection::vec(plane, of.planes).prop_map(move |planes| {
        let mut values = Vec::new();
        for (mut state, kind, step, first) in planes {
            for cell in 0..(of.rows * of.columns) as i32 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let noise = (state >> 24) as i32;
                let (row, column) = (cell / of.columns as i32, cell % of.columns as i32);
                values.push(match kind {
                    0 => first,
                    1 => (state >> 16) as i16,
                    2 if noise < 40 => NODATA,
                    2 | 3 => (row * 5 + column * row / 9 + noise % 4) as i16,
                    4 => (i32::from(first) + (row + column + noise % 3) * step * 5 / 4) as i16,
                    _ if noise < 250 => 0,
                    _ => (state >> 16) as i16,
                });
            }
        }
        values
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_encoded_is_decoded(values in values(shape(3, 32, 48))) {
        check(&values, shape(3, 32, 48));
    }

    /// Whatever the bytes are: an error or values, and never a panic.
    #[test]
    fn arbitrary_bytes_do_no_harm(
        values in values(shape(2, 16, 32)),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        kept in 0..=100_usize,
    ) {
        let of = shape(2, 16, 32);
        let mut bytes = encode(&values, of, NODATA).unwrap();
        for (place, byte) in changes {
            if !bytes.is_empty() {
                let at = place.index(bytes.len());
                bytes[at] = byte;
            }
        }
        bytes.truncate(bytes.len() * kept / 100);
        let mut decoded = vec![0; of.values()];
        let decoded = decode(&bytes, of, &mut decoded);
        if let Ok(chunk) = Chunk::new(&bytes, of) {
            let mut column = [0; 2];
            let read = (0..512).try_for_each(|at| chunk.column(at / 32, at % 32, 0, &mut column));
            // Reading one cell looks at less than reading all.
            prop_assert!(decoded.is_err() || read.is_ok());
        }
    }
}
