use proptest::prelude::*;

use super::*;

fn any_code() -> impl Strategy<Value = BaseQuality> {
    (0..8_u8).prop_map(|code| BaseQuality::try_from(code).unwrap())
}

#[test]
fn names_and_codes_round_trip() {
    for (code, base) in (0_u8..).zip(BaseQuality::ALL) {
        assert_eq!(base as u8, code);
        assert_eq!(BaseQuality::try_from(code), Ok(base));
        assert_eq!(base.name().parse(), Ok(base));
    }
    for (code, reason) in (0_u8..).zip(ReasonQuality::ALL) {
        assert_eq!(reason as u8, code);
        assert_eq!(ReasonQuality::try_from(code), Ok(reason));
        assert_eq!(reason.name().parse(), Ok(reason));
    }
}

#[test]
fn a_wrong_name_says_what_is_allowed() {
    let message = "good".parse::<BaseQuality>().unwrap_err().to_string();
    assert_eq!(
        message,
        "\"good\" is not a quality name; allowed are Suppressed, Missing, Error, Doubtful, \
         Inconsistent, Instrumentation, Good, Unknown"
    );
    assert!(ReasonQuality::try_from(14).is_err());
}

#[test]
fn a_verdict_is_two_bytes() {
    assert_eq!(size_of::<Quality>(), 2);
}

#[cfg(feature = "serde")]
#[test]
fn a_verdict_has_the_wire_shape_of_the_interface() {
    let wire = serde_json::to_string(&Quality::UNCHECKED).unwrap();
    assert_eq!(wire, r#"{"baseQuality":"Unknown","reasonQuality":"None"}"#);
    assert_eq!(serde_json::from_str::<Quality>(&wire).unwrap(), Quality::UNCHECKED);
}

proptest! {
    #[test]
    fn the_ranking_is_a_total_order(a in any_code(), b in any_code(), c in any_code()) {
        prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
        prop_assert_eq!(a == b, a.cmp(&b).is_eq());
        prop_assert!(!(a <= b && b <= c) || a <= c);
        prop_assert!(a <= b || b <= a);
        prop_assert_eq!(a.cmp(&b), (a as u8).cmp(&(b as u8)));
    }

    #[test]
    fn the_worst_is_a_member_and_none_is_worse(codes in prop::collection::vec(any_code(), 1..200)) {
        let found = worst(&codes);
        prop_assert!(codes.contains(&found));
        prop_assert!(codes.iter().all(|&code| found <= code));
        let numbers: Vec<u8> = codes.iter().map(|&code| code as u8).collect();
        prop_assert_eq!(worst_code(&numbers), Ok(found));
        prop_assert_eq!(distinct_worst_first(codes)[0], found);
    }

    #[test]
    fn distinct_codes_ascend(codes in prop::collection::vec(any_code(), 0..50)) {
        let distinct = distinct_worst_first(codes.clone());
        prop_assert!(distinct.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(codes.iter().all(|code| distinct.contains(code)));
        prop_assert!(distinct.iter().all(|code| codes.contains(code)));
    }

    #[test]
    fn any_number_that_is_no_code_is_refused(mut codes in prop::collection::vec(0..8_u8, 0..20), bad in 8_u8..) {
        codes.push(bad);
        prop_assert!(worst_code(&codes).is_err());
    }
}

#[test]
fn a_verdict_in_a_byte_is_the_verdict() {
    for base in BaseQuality::ALL {
        for reason in ReasonQuality::ALL {
            let quality = Quality { base, reason };
            assert_eq!(QualityCode::from(quality).quality(), quality);
        }
    }
    for no_code in [0x0e, 0x0f, 0x80, 0xff] {
        assert_eq!(QualityCode(no_code).quality().base, BaseQuality::Unknown);
    }
}
