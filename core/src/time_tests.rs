use proptest::prelude::*;

use super::*;

#[test]
fn instants_are_iso_8601_with_an_offset() {
    let ok = |text: &str| Iso8601(parse_instant(text).unwrap()).to_string();
    assert_eq!(ok("2024-08-03T21:19:00Z"), "2024-08-03T21:19:00Z");
    assert_eq!(ok("2024-08-03T21:19Z"), "2024-08-03T21:19:00Z");
    assert_eq!(ok("2024-08-03T17:19:00-04:00"), "2024-08-03T21:19:00Z");
    assert_eq!(ok("2024-08-04T02:49:00.250+05:30"), "2024-08-03T21:19:00.250Z");
    assert_eq!(ok("2024-08-03T21:19:00.0019Z"), "2024-08-03T21:19:00.001Z");
    for bad in [
        "",
        "2024-08-03",
        "2024-08-03T21:19:00",
        "2024-08-03 21:19:00Z",
        "2024-13-03T21:19:00Z",
        "2024-08-03T25:19:00Z",
        "20240803T211900Z",
        "1722719940",
        "now",
        "+12024-08-03T21:19:00Z",
        "２０２４-08-03T21:19:00Z",
    ] {
        assert_eq!(parse_instant(bad), Err(TimeError::Instant(bad.to_owned())), "{bad}");
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
        "99999999999999999999d",
        "999999999999999d",
        "7d7h",
    ] {
        assert!(parse_window(bad).is_err(), "{bad}");
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
    fn what_is_written_is_read_back(ts_ms in -62_167_219_200_000..253_402_300_800_000_i64) {
        prop_assert_eq!(parse_instant(&Iso8601(ts_ms).to_string()), Ok(ts_ms));
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
