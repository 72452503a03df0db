use proptest::prelude::*;

use super::*;

#[test]
fn instants_are_rfc_3339_with_an_offset() {
    let ok = |text: &str| Iso8601(parse_instant(text).unwrap()).to_string();
    assert_eq!(ok("2024-08-03T21:19:00Z"), "2024-08-03T21:19:00Z");
    assert_eq!(ok("2024-08-03T21:19Z"), "2024-08-03T21:19:00Z");
    assert_eq!(ok("2024-08-03T17:19:00-04:00"), "2024-08-03T21:19:00Z");
    assert_eq!(ok("2024-08-04T02:49:00.250+05:30"), "2024-08-03T21:19:00.250Z");
    assert_eq!(ok("2024-08-03T21:19:00.0019Z"), "2024-08-03T21:19:00.001Z");
    // RFC 3339 (5.6): the letters may be lower-case.
    assert_eq!(ok("2024-08-03t21:19:00z"), "2024-08-03T21:19:00Z");
    assert_eq!(ok("2024-08-03t17:19:00.5-04:00"), "2024-08-03T21:19:00.500Z");
    assert_eq!(ok("2024-08-03t21:19z"), "2024-08-03T21:19:00Z");
    assert_eq!(ok("2024-08-03t17:19-04:00"), "2024-08-03T21:19:00Z");
    for bad in [
        "",
        "2024-08-03",
        "2024-08-03T21:19:00",
        "2024-08-03 21:19:00Z",
        "2024-08-03_21:19:00Z",
        "2024-08-03x21:19Z",
        "2024-13-03T21:19:00Z",
        "2024-08-03T25:19:00Z",
        "1722719940",
        "now",
        "+12024-08-03T21:19:00Z",
        "２０２４-08-03T21:19:00Z",
    ] {
        assert_eq!(parse_instant(bad), Err(TimeError::Instant(bad.to_owned())), "{bad}");
    }
}

#[test]
fn instants_may_be_in_the_basic_form_and_offsets_without_a_colon() {
    for text in [
        "20240803T211900Z",
        "20240803T2119Z",
        "20240803t2119z",
        "20240803T211900.000Z",
        "20240803T171900-0400",
        "20240803T1719-04",
        "20240803T171900-04:00",
        "20240804T0249+0530",
        "2024-08-03T21:19:00+00",
        "2024-08-03T21:19:00+0000",
        "2024-08-03T21:19:00+00:00",
        "2024-08-03T21:19+00",
        "2024-08-03T17:19-0400",
        "2024-08-03T21:19:00.000+0000",
    ] {
        let ts_ms = parse_instant(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Iso8601(ts_ms).to_string(), "2024-08-03T21:19:00Z", "{text}");
    }
    for bad in [
        "20240803T211900",
        "20240803T21Z",
        "20240803T21190Z",
        "2024803T211900Z",
        "20240803T21:19:00Z",
        "2024-08-03T211900Z",
        "20240803 211900Z",
        "20241303T211900Z",
        "20240803T256000Z",
        "20240803T2119.5Z",
        "2024-08-03T21:19.5Z",
        "2024-08-03T21:19:00+0",
        "2024-08-03T21:19:00+000",
        "2024-08-03T21:19:00+00000",
        "2024-08-03T21:19:00+2500",
        "2024-08-03T21:19:00+00 ",
        "2024-08-03T21:19:00Z0",
        "-20240803T211900Z",
        "T211900Z",
        "20240803TZ",
    ] {
        assert_eq!(parse_instant(bad), Err(TimeError::Instant(bad.to_owned())), "{bad}");
    }
}

proptest! {
    /// The plain shape gives the same result as chrono, whether the instant is possible or not.
    #[test]
    fn plain_instants_are_read_as_by_chrono(
        text in "[0-9]{4}-[0-3][0-9]-[0-3][0-9]T[0-2][0-9]:[0-7][0-9]:[0-6][0-9]Z|0000-02-2[89]T00:00:60Z",
    ) {
        let wanted = DateTime::parse_from_rfc3339(&text).map(|instant| instant.timestamp_millis());
        prop_assert_eq!(parse_instant(&text).ok(), wanted.ok());
    }
}

#[test]
fn spans_are_positive_whole_numbers_with_a_unit() {
    assert_eq!(parse_window("12h"), Ok(12 * HOUR_MS));
    assert_eq!(parse_max_age("2d"), Ok(2 * DAY_MS));
    for bad in [
        "",
        "d",
        "7",
        "7m",
        "-7d",
        "+7d",
        "1.5d",
        "7 d",
        "7D",
        "0d",
        "00h",
        "7d7h",
        "99999999999999999999",
        "99999999999999999999m",
        "-99999999999999999999d",
    ] {
        assert!(parse_window(bad).is_err(), "{bad}");
    }
    for long in ["99999999999999999999d", "999999999999999d", "2562047788016h"] {
        assert_eq!(parse_window(long), Ok(i64::MAX), "{long}");
        assert_eq!(parse_max_age(long), Ok(i64::MAX), "{long}");
    }
    assert_eq!(
        parse_max_age("soon").unwrap_err().to_string(),
        "\"soon\" is not a span; allowed is a positive whole number followed by d, h or m, for example 90m"
    );
}

#[test]
fn steps_are_whole_and_positive() {
    assert_eq!("60".parse::<Step>().unwrap().ms(), HOUR_MS);
    assert_eq!("2147483647".parse::<Step>().unwrap().minutes(), 2_147_483_647);
    for bad in ["", "0", "-5", "1.5", "x", "+5", " 5", "2147483648", "99999999999999999999"] {
        assert_eq!(bad.parse::<Step>(), Err(TimeError::Step(format!("\"{bad}\""))));
    }
}

#[test]
fn windows_differ_only_in_their_end() {
    let column = [0, 10, 20, 30];
    let closed = ClosedWindow::new(10, 30).unwrap();
    let half_open = HalfOpenWindow::new(10, 30).unwrap();
    assert_eq!(closed.range_in(&column), 1..4);
    assert_eq!(half_open.range_in(&column), 1..3);
    assert!(closed.contains(30) && !half_open.contains(30));
    assert!(closed.contains(10) && half_open.contains(10));
    assert_eq!(
        ClosedWindow::new(1000, 1000).unwrap_err().to_string(),
        "start must be before end; got start 1970-01-01T00:00:01Z and end 1970-01-01T00:00:01Z"
    );
}

proptest! {
    #[test]
    fn instants_round_trip(ts_ms in -62_167_219_200_000..253_402_300_800_000_i64) {
        prop_assert_eq!(parse_instant(&Iso8601(ts_ms).to_string()), Ok(ts_ms));
    }

    #[test]
    fn a_writer_writes_each_instant_as_the_calendar_does(
        seconds in proptest::collection::vec(-99_999_999_999_999_i64 / 100..999_999_999_999, 1..4),
        repeated in proptest::collection::vec((0_usize..4, 0_i64..3, 0_i64..1000), 1..30),
    ) {
        let mut writer = InstantWriter::default();
        for (at, later_s, ms) in repeated {
            let ts_ms = (seconds[at % seconds.len()] + later_s * 43_200) * 1000 + ms * (ms % 2);
            let mut text = Vec::new();
            writer.write(ts_ms, &mut text);
            let expected = DateTime::from_timestamp_millis(ts_ms).unwrap().naive_utc();
            let format = if ts_ms % 1000 == 0 { "%FT%TZ" } else { "%FT%T%.3fZ" };
            prop_assert_eq!(String::from_utf8(text).unwrap(), expected.format(format).to_string());
        }
    }

    #[test]
    fn no_text_panics(text in ".{0,40}") {
        let _ = (parse_instant(&text), parse_window(&text), parse_max_age(&text));
    }

    #[test]
    fn no_instant_panics(ts_ms in any::<i64>()) {
        prop_assert!(!Iso8601(ts_ms).to_string().is_empty());
    }
}

proptest! {
    #[test]
    fn instants_passed_are_counted_at_any_spacing(
        mut ts_ms in prop_oneof![
            prop::collection::vec(-50..50_i64, 0..60),
            prop::collection::vec(any::<i64>(), 0..60),
            // Even, except for a few far away.
            (0..60_i64, prop::collection::vec(any::<i64>(), 0..3))
                .prop_map(|(count, far)| (0..count).map(|i| i * 10).chain(far).collect()),
        ],
        at_ms in prop_oneof![-60..60_i64, any::<i64>()],
        place in any::<prop::sample::Index>(),
    ) {
        ts_ms.sort_unstable();
        ts_ms.dedup();
        let mut ask = vec![at_ms, i64::MIN, i64::MAX];
        if !ts_ms.is_empty() {
            let one = ts_ms[place.index(ts_ms.len())];
            ask.extend([one, one.saturating_sub(1), one.saturating_add(1)]);
        }
        for at_ms in ask {
            prop_assert_eq!(passed(&ts_ms, at_ms), ts_ms.iter().filter(|&&ts| ts <= at_ms).count());
        }
    }

    #[test]
    fn the_range_of_a_window_holds_what_the_window_contains(
        mut ts_ms in prop::collection::vec(prop_oneof![-50..50_i64, any::<i64>()], 0..40),
        ends in prop_oneof![(-60..60_i64, -60..60_i64), any::<(i64, i64)>()],
    ) {
        prop_assume!(ends.0 != ends.1);
        ts_ms.sort_unstable();
        let window = ClosedWindow::new(ends.0.min(ends.1), ends.0.max(ends.1)).unwrap();
        let inside: Vec<i64> = ts_ms.iter().copied().filter(|&ts| window.contains(ts)).collect();
        prop_assert_eq!(&ts_ms[window.range_in(&ts_ms)], &*inside);
    }
}
