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
fn a_wrong_number_says_what_is_allowed() {
    let message = |got: &str| {
        format!("{got} is not a quality code; allowed are 0 (Suppressed) to 7 (Unknown)")
    };
    assert_eq!(BaseQuality::try_from(8_u8).unwrap_err().to_string(), message("8"));
    assert_eq!(BaseQuality::try_from(-1_i32).unwrap_err().to_string(), message("-1"));
    assert_eq!(BaseQuality::try_from(256_i64).unwrap_err().to_string(), message("256"));
    assert_eq!(BaseQuality::try_from(1_i64 << 32).unwrap_err().to_string(), message("4294967296"));
    assert_eq!(BaseQuality::refused(2.5).to_string(), message("2.5"));
    assert_eq!(
        ReasonQuality::try_from(14_u8).unwrap_err().to_string(),
        "14 is not a quality code; allowed are 0 (None) to 13 (Unknown)"
    );
}

#[test]
fn wide_numbers_rank_like_bytes() {
    assert_eq!(worst_code(&[6_i64, 3, 7]), Ok(BaseQuality::Doubtful));
    assert_eq!(worst_code::<i64>(&[]), Ok(BaseQuality::Unknown));
    for (codes, named) in [([6_i64, 300], 300), ([-1, 6], -1), ([-7, -1], -7), ([-1, 9], 9)] {
        assert_eq!(worst_code(&codes), Err(BaseQuality::refused(named)));
    }
}

#[test]
fn columns_of_codes_are_verdicts() {
    let codes: Vec<_> = (0..8).map(|base| (base, base + 6)).collect();
    let (base, reason): (Vec<u8>, Vec<u8>) = codes.iter().copied().unzip();
    let verdicts = Quality::from_columns(&base, &reason).unwrap();
    assert_eq!(verdicts.into_iter().map(Quality::codes).collect::<Vec<_>>(), codes);
    assert_eq!(Quality::from_columns(&[6, 9], &[0, 14]), Err(BaseQuality::refused(9)));
    assert_eq!(Quality::from_columns(&[6, 6], &[0, 14]), Err(ReasonQuality::refused(14)));
    assert_eq!(Quality::try_from((8, 0)), Err(BaseQuality::refused(8)));
}

#[test]
fn distinct_numbers_name_the_same_wrong_one() {
    assert_eq!(distinct_codes_worst_first(&[8, 12, 9]), Err(BaseQuality::refused(12)));
    assert_eq!(distinct_codes_worst_first(&[]), Ok(vec![]));
}

#[test]
fn a_verdict_is_two_bytes() {
    assert_eq!(size_of::<Quality>(), 2);
}

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
    fn any_number_that_is_not_a_code_is_refused(mut codes in prop::collection::vec(0..8_u8, 0..20), bad in 8_u8..) {
        codes.push(bad);
        prop_assert!(worst_code(&codes).is_err());
    }
}

#[test]
fn verdicts_round_trip_through_bytes() {
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
