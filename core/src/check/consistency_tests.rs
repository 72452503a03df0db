use super::super::config::Config;
use super::*;
use crate::observation::ReasonQuality::{
    AverageInconsistent, Difference, Disagree, GreaterThan, LessThan,
};

macro_rules! of {
    ($reason:expr) => {
        Some(inconsistent($reason))
    };
}

#[test]
fn the_tolerance_is_that_of_the_precision_of_both() {
    let config = Config::default();
    let limits = config.consistency.dew_point.as_ref().unwrap();
    assert_eq!(tolerance(limits, 10.0, 11.0), 1.5);
    assert_eq!(tolerance(limits, 10.5, 11.0), 1.0);
    assert_eq!(tolerance(limits, 10.1, 11.0), 0.6);
    assert_eq!(tolerance(limits, 10.04, 11.0), 0.6);
}

#[test]
fn both_sides_of_a_bound_say_it_from_their_side() {
    assert_eq!(ordered(10.0, 10.0, 0.0, Side::Lower), None);
    assert_eq!(ordered(10.04, 10.0, 0.05, Side::Lower), None);
    assert_eq!(ordered(10.1, 10.0, 0.05, Side::Lower), of!(GreaterThan));
    assert_eq!(ordered(10.0, 10.1, 0.05, Side::Upper), of!(LessThan));
    assert_eq!(ordered(10.1, 10.0, 0.05, Side::AverageLower), of!(AverageInconsistent));
    assert_eq!(ordered(10.0, 10.1, 0.05, Side::AverageUpper), of!(AverageInconsistent));
}

#[test]
fn pressure_is_ordered_the_other_way_round_below_sea_level() {
    let order = |station, mslp, altitude_m| {
        let of = |of_station| pressure_order(station, mslp, altitude_m, 1e-4, of_station);
        [of(true), of(false)]
    };
    assert_eq!(order(990.0, 1013.0, 200.0), [None; 2]);
    // Within a ten-thousandth.
    assert_eq!(order(1013.1, 1013.0, 2.0), [None; 2]);
    assert_eq!(order(1013.2, 1013.0, 2.0), [of!(GreaterThan), of!(LessThan)]);
    // Death Valley, 60 m below sea level.
    assert_eq!(order(1020.2, 1013.0, -60.0), [None; 2]);
    assert_eq!(order(1005.0, 1013.0, -60.0), [of!(LessThan), of!(GreaterThan)]);
    // At sea level both are the same; a small difference there counts as above it.
    assert_eq!(order(1013.0, 1013.0, 0.0), [None; 2]);
    assert_eq!(order(1012.0, 1013.0, 0.0), [None; 2]);
    assert_eq!(order(1014.0, 1013.0, 0.0), [of!(GreaterThan), of!(LessThan)]);
}

#[test]
fn rounding_in_a_conversion_is_no_contradiction() {
    assert_eq!(ordered(0.1 + 0.2, 0.3, 0.0, Side::Lower), None);
    assert_eq!(ordered(0.300_002, 0.3, 0.0, Side::Lower), of!(GreaterThan));
}

#[test]
fn sea_level_pressure_is_near_the_reduced_one() {
    let reduction =
        |mslp| pressure_reduction(950.9654, mslp, 500.0, 30.0, 15.0).map(|(_, tripped)| tripped);
    // MetPy's documentation: 1006.089 hPa.
    assert_eq!(reduction(1006.1), Some(None));
    assert_eq!(reduction(1021.0), Some(None));
    assert_eq!(reduction(1021.1), Some(of!(Difference)));
    assert_eq!(reduction(991.0), Some(of!(Difference)));
    assert_eq!(pressure_reduction(0.0, 1006.0, 500.0, 30.0, 15.0), None);
    // Just the limit is allowed.
    let (reduced, _) = pressure_reduction(950.9654, 1006.1, 500.0, 30.0, 15.0).unwrap();
    let exact = pressure_reduction(950.9654, reduced, 500.0, 30.0, 0.0).unwrap();
    assert_eq!(exact, (reduced, None));
}

#[test]
fn a_gust_is_above_the_mean_but_not_far() {
    let gust =
        |mean, gust| [wind_gust(mean, gust, 138.9, true), wind_gust(mean, gust, 138.9, false)];
    assert_eq!(gust(20.0, 20.0), [None; 2]);
    assert_eq!(gust(20.0, 158.8), [None; 2]);
    assert_eq!(gust(20.0, 158.9), [of!(Difference); 2]);
    assert_eq!(gust(20.0, 19.9), [of!(GreaterThan), of!(LessThan)]);
}

#[test]
fn a_calm_has_direction_0_and_north_is_360() {
    assert_eq!(calm_wind(0.0, 0.0, 0.0), None);
    assert_eq!(calm_wind(360.0, 5.0, 0.0), None);
    assert_eq!(calm_wind(90.0, 0.0, 0.0), of!(Disagree));
    assert_eq!(calm_wind(0.0, 5.0, 0.0), of!(Disagree));
    // Up to a speed that counts as calm.
    assert_eq!(calm_wind(0.0, 2.0, 2.0), None);
    assert_eq!(calm_wind(90.0, 2.0, 2.0), of!(Disagree));
    assert_eq!(calm_wind(90.0, 2.1, 2.0), None);
}
