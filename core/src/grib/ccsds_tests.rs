use std::fs::File;
use std::path::Path;

use flate2::read::GzDecoder;
use proptest::prelude::*;
use serde::Deserialize;

use super::*;

/// Numbers, and the stream that libaec makes of them: `tests/data/grib/SOURCES.md`.
#[derive(Deserialize)]
struct Case {
    bits: u32,
    flags: u8,
    block: u8,
    interval: u16,
    stream: String,
    numbers: Vec<u32>,
}

impl Case {
    fn coding(&self) -> Coding {
        Coding::new(self.bits, self.flags, self.block, self.interval).unwrap()
    }

    fn stream(&self) -> Vec<u8> {
        let octets = self.stream.as_bytes().chunks(2);
        octets.map(|hex| u8::from_str_radix(str::from_utf8(hex).unwrap(), 16).unwrap()).collect()
    }
}

fn cases() -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/grib/ccsds.json.gz");
    serde_json::from_reader(GzDecoder::new(File::open(path).unwrap())).unwrap()
}

fn reason(error: &GribError) -> String {
    error.to_string().split_once(": ").unwrap().1.to_owned()
}

#[test]
fn streams_of_libaec_are_decoded() {
    let cases = cases();
    for (number, case) in cases.iter().enumerate() {
        let decoded = case.coding().decode(&case.stream(), case.numbers.len(), |number| number);
        assert!(decoded.as_ref() == Ok(&case.numbers), "case {number}: {:?}", case.coding());
    }
    assert_eq!(cases.len(), 64);
}

#[test]
fn a_stream_that_is_cut_is_an_error() {
    for case in cases().iter().step_by(5) {
        let stream = case.stream();
        for length in 0..stream.len() - 1 {
            let decoded = case.coding().decode(&stream[..length], case.numbers.len(), |n| n);
            assert!(decoded.is_err(), "{length} of {} octets", stream.len());
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    let refused = |bits, flags, block, interval| {
        reason(&Coding::new(bits, flags, block, interval).map(drop).unwrap_err())
    };
    assert_eq!(refused(12, 1, 32, 128), "signed numbers are not supported");
    assert_eq!(refused(0, 8, 32, 128), "numbers of 0 bits; allowed: 1 to 32");
    assert_eq!(refused(12, 8, 24, 128), "blocks of 24 numbers; allowed: 8, 16, 32, 64");
    assert_eq!(refused(12, 8, 32, 0), "intervals of 0 blocks; allowed: 1 to 65535");

    let failed = |interval, stream: &[u8], count| {
        let coding = Coding::new(8, 8, 8, interval).unwrap();
        reason(&coding.decode(stream, count, |number| number).unwrap_err())
    };
    assert_eq!(failed(128, &[0; 2], 8193), "2 octets for 8193 values");
    // Raw numbers, one of which is missing.
    assert_eq!(failed(128, &[0xe0, 0, 0, 0, 0, 0, 0, 0], 8), "got 53; expected 56");
    assert_eq!(failed(128, &[0x20, 0, 0], 8), "it is cut short");
    // No low bits, a reference of 0, and 300 zeros.
    let zeros = [&[0b0010_0000, 0][..], &[0; 37], &[0xff; 9]].concat();
    assert_eq!(failed(128, &zeros, 8), "a code of 301; the greatest allowed is 255");
    // Of 9 bits, with 13 low ones.
    let wide = Coding::new(9, 0, 8, 1).unwrap().decode(&[0xef; 16], 8, |number| number);
    assert_eq!(reason(&wide.unwrap_err()), "13 low bits of numbers of 9 bits");
    // Zero blocks, a reference of 0, and a run of two.
    let run = [0b0000_0000, 0b0000_0100, 0xff];
    assert_eq!(failed(1, &run, 16), "a run of 2 blocks where 1 are left in the interval");
    assert_eq!(Coding::new(8, 8, 8, 2).unwrap().decode(&run, 16, |n| n), Ok(vec![0; 16]));
}

/// Where options begin that have more low bits than the numbers have bits, and elsewhere.
fn bits() -> impl Strategy<Value = u32> {
    prop_oneof![1_u32..=3, 9_u32..=11, 17_u32..=19, 1_u32..=32]
}

proptest! {
    /// Whatever the octets are, there are as many numbers as were asked for, within their range, or
    /// an error.
    #[test]
    fn any_octets_are_decoded_or_refused(
        stream in proptest::collection::vec(prop_oneof![Just(0), Just(0xff), any::<u8>()], 0..200),
        (bits, flags, interval) in (bits(), any::<u8>(), 1_u16..200),
        block in prop_oneof![Just(8), Just(16), Just(32), Just(64)],
        count in prop_oneof![0_usize..100, 0_usize..20_000],
    ) {
        let coding = Coding::new(bits, flags & !1, block, interval).unwrap();
        if let Ok(numbers) = coding.decode(&stream, count, |number| number) {
            prop_assert_eq!(numbers.len(), count);
            prop_assert!(numbers.iter().all(|number| *number <= u32::MAX >> (32 - bits)));
        }
    }
}
