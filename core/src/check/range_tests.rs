use super::super::config::Config;
use super::*;
use crate::observation::Variable;
use crate::time::parse_instant;

const WINTER: &str = "2021-01-15T12:00:00Z";
const SUMMER: &str = "2021-07-15T12:00:00Z";

/// The base quality of a value by the default limits.
fn base(variable: Variable, value: f64, latitude: f64, instant: &str) -> BaseQuality {
    let config = Config::default();
    let seasons = Seasons::new(&config.range[&variable], latitude);
    let band = seasons.at(parse_instant(instant).unwrap()).unwrap();
    range(value, band, None).map_or(BaseQuality::Good, |quality| quality.base)
}

#[test]
fn published_limits_of_wmo_in_high_latitudes() {
    use BaseQuality::{Doubtful, Error, Good};
    for (variable, instant, low_error, low, high, high_error) in [
        (Variable::AirTemperature, WINTER, -90.0, -80.0, 35.0, 40.0),
        (Variable::DewPointTemperature, WINTER, -99.0, -85.0, 30.0, 35.0),
        (Variable::Mslp, WINTER, 910.0, 940.0, 1080.0, 1100.0),
        (Variable::Mslp, SUMMER, 920.0, 950.0, 1080.0, 1100.0),
        (Variable::BarometricPressure, SUMMER, 300.0, 400.0, 1080.0, 1100.0),
    ] {
        let at = |value| base(variable, value, 60.0, instant);
        assert_eq!([at(low), at(high)], [Good; 2], "{variable}");
        assert_eq!([at(low - 0.1), at(high + 0.1)], [Doubtful; 2], "{variable}");
        assert_eq!([at(low_error), at(high_error)], [Doubtful; 2], "{variable}");
        assert_eq!([at(low_error - 0.1), at(high_error + 0.1)], [Error; 2], "{variable}");
    }
    let wind = |value, instant| base(Variable::WindSpeed, value, 60.0, instant);
    assert_eq!(wind(180.0, WINTER), Good);
    assert_eq!(wind(180.1, WINTER), Doubtful);
    assert_eq!(wind(360.1, WINTER), Error);
    assert_eq!(wind(144.1, SUMMER), Doubtful);
    assert_eq!(wind(270.1, SUMMER), Error);
}

#[test]
fn published_limits_of_wmo_in_low_latitudes() {
    use BaseQuality::{Doubtful, Error, Good};
    assert_eq!(base(Variable::Mslp, 870.0, 30.0, WINTER), Good);
    assert_eq!(base(Variable::Mslp, 869.9, 30.0, WINTER), Error);
    assert_eq!(base(Variable::Mslp, 850.0, 30.0, SUMMER), Good);
    assert_eq!(base(Variable::WindSpeed, 450.1, 30.0, WINTER), Error);
    assert_eq!(base(Variable::WindSpeed, 540.0, 30.0, SUMMER), Good);
    assert_eq!(base(Variable::AirTemperature, -40.1, 40.0, WINTER), Doubtful);
    assert_eq!(base(Variable::AirTemperature, 60.1, 40.0, SUMMER), Error);
}

#[test]
fn winter_is_mirrored_in_the_south() {
    let cold = |latitude, instant| base(Variable::AirTemperature, -60.0, latitude, instant);
    assert_eq!(cold(60.0, WINTER), BaseQuality::Good);
    assert_eq!(cold(60.0, SUMMER), BaseQuality::Doubtful);
    assert_eq!(cold(-60.0, SUMMER), BaseQuality::Good);
    assert_eq!(cold(-60.0, WINTER), BaseQuality::Doubtful);
}

/// WMO's low latitudes are those from 45° south to 45° north, both included.
#[test]
fn latitude_45_is_low_and_what_lies_beyond_is_high() {
    let cold = |latitude, instant| base(Variable::AirTemperature, -60.0, latitude, instant);
    assert_eq!(cold(45.0, WINTER), BaseQuality::Doubtful);
    assert_eq!(cold(45.0_f64.next_up(), WINTER), BaseQuality::Good);
    assert_eq!(cold(-45.0, SUMMER), BaseQuality::Doubtful);
    assert_eq!(cold((-45.0_f64).next_down(), SUMMER), BaseQuality::Good);
}

#[test]
fn the_equator_has_the_seasons_of_the_north() {
    let storm = |latitude, instant| base(Variable::WindSpeed, 450.1, latitude, instant);
    for equator in [0.0, -0.0] {
        assert_eq!(storm(equator, WINTER), BaseQuality::Error);
        assert_eq!(storm(equator, SUMMER), BaseQuality::Good);
    }
    let south = (-0.0_f64).next_down();
    assert_eq!(storm(south, WINTER), BaseQuality::Good);
    assert_eq!(storm(south, SUMMER), BaseQuality::Error);
}

#[test]
fn seasons_begin_in_april_and_october_utc() {
    let summer = |instant| is_april_to_september(parse_instant(instant).unwrap());
    assert!(!summer("2021-03-31T23:59:59Z"));
    assert!(summer("2021-04-01T00:00:00Z"));
    assert!(summer("2021-09-30T23:59:59Z"));
    assert!(!summer("2021-10-01T00:00:00Z"));
    assert!(!is_april_to_september(i64::MIN) && !is_april_to_september(i64::MAX));
}

/// Verified extremes are doubtful at worst.
#[test]
fn real_extremes_are_never_error() {
    for (variable, value, latitude, instant) in [
        // Snag, Yukon: the North American record.
        (Variable::AirTemperature, -63.0, 62.37, "1947-02-03T15:00:00Z"),
        (Variable::AirTemperature, -50.0, 63.0, "2021-01-20T12:00:00Z"),
        // Arctic April.
        (Variable::AirTemperature, -45.0, 79.98, "1979-04-05T12:00:00Z"),
        // Peter Sinks, Utah.
        (Variable::AirTemperature, -56.5, 41.9, "1985-02-01T12:00:00Z"),
        (Variable::DewPointTemperature, -60.0, 41.9, "1985-02-01T12:00:00Z"),
        // Lytton, British Columbia, and Furnace Creek, California.
        (Variable::AirTemperature, 49.6, 50.23, "2021-06-29T23:00:00Z"),
        (Variable::AirTemperature, 56.7, 36.46, "1913-07-10T22:00:00Z"),
        // Labor Day hurricane, Wilma, and Fiona in Nova Scotia.
        (Variable::Mslp, 892.0, 24.8, "1935-09-03T02:00:00Z"),
        (Variable::Mslp, 882.0, 17.3, "2005-10-19T12:00:00Z"),
        (Variable::Mslp, 931.6, 45.35, "2022-09-24T07:00:00Z"),
        // Northway, Alaska: the North American record of high pressure.
        (Variable::Mslp, 1078.6, 62.96, "1989-01-31T12:00:00Z"),
        // A gust on Mount Washington, 231 mph.
        (Variable::WindGust, 371.8, 44.27, "1934-04-12T18:00:00Z"),
    ] {
        assert!(
            base(variable, value, latitude, instant) > BaseQuality::Error,
            "{variable} {value}"
        );
    }
}

#[test]
fn amounts_are_limited_by_the_length_of_their_interval() {
    let limits = &Config::default().accumulation[&Variable::Precipitation];
    assert_eq!(limits.max(10), 350.0);
    assert_eq!(limits.max(60), 350.0);
    assert_eq!(limits.max(180), 1050.0);
    assert_eq!(limits.max(360), 1118.0);
    assert_eq!(limits.max(1440), 1118.0);
    assert_eq!(limits.max(2880), 2236.0);
    let band = Band { doubtful: None, error: None };
    assert_eq!(range(350.0, band, Some(350.0)), None);
    assert_eq!(range(350.1, band, Some(350.0)).unwrap().base, BaseQuality::Doubtful);
}
