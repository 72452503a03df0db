use mesonet::time::parse_instant;

use super::*;

fn at(name: &str, instant: &str) -> Option<String> {
    let zone = TimeZone::get(name).unwrap();
    standard(&zone, parse_instant(instant).unwrap()).map(|offset| offset.to_string())
}

#[test]
fn the_offset_of_a_zone_is_that_of_its_standard_time_in_summer_too() {
    let cases = [
        ("America/Toronto", "2024-08-03T00:00:00Z", "-05:00"),
        ("America/Toronto", "2024-01-03T00:00:00Z", "-05:00"),
        ("America/St_Johns", "2024-07-01T00:00:00Z", "-03:30"),
        ("america/phoenix", "2024-07-01T00:00:00Z", "-07:00"),
        ("Pacific/Honolulu", "2024-07-01T00:00:00Z", "-10:00"),
        // Yukon stayed on what had been its summer time, which became the standard time.
        ("America/Whitehorse", "2019-07-01T00:00:00Z", "-08:00"),
        ("America/Whitehorse", "2024-07-01T00:00:00Z", "-07:00"),
        ("UTC", "2024-07-01T00:00:00Z", "+00:00"),
    ];
    for (name, instant, wanted) in cases {
        assert_eq!(at(name, instant).as_deref(), Some(wanted), "{name} at {instant}");
    }
    // Local mean time, to the second.
    assert_eq!(at("America/Toronto", "1850-01-01T00:00:00Z"), None);
}
