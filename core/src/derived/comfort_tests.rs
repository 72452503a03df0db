use proptest::prelude::*;

use super::*;

/// The column for +5 °C of Environment Canada's "Wind Chill Calculation Chart" (archived
/// 2006-02-08), for winds of 5 to 80 km/h in steps of 5. The chart continues above 0 °C, where its
/// formula is no longer used; the other 176 cells are golden vectors.
const CHART_AT_5_C: [f64; 16] =
    [4., 3., 2., 1., 1., 0., 0., -1., -1., -1., -2., -2., -2., -2., -3., -3.];

#[test]
fn the_chart_of_wind_chill_above_zero_has_the_same_formula() {
    for (i, wanted) in CHART_AT_5_C.into_iter().enumerate() {
        let wind_kmh = 5.0 * (i + 1) as f64;
        assert_eq!(libm::round(strong_wind_chill_c(5.0, wind_kmh)), wanted, "{wind_kmh} km/h");
        assert_eq!(wind_chill_c(5.0, wind_kmh), None);
    }
}

#[test]
fn the_branches_of_wind_chill_meet_at_5_kmh() {
    for air_c in [0.0, -10.0, -25.0, -50.0, -90.0] {
        let gap = light_wind_chill_c(air_c, 5.0) - strong_wind_chill_c(air_c, 5.0);
        assert!(gap.abs() < 0.05, "{air_c}: {gap}");
    }
}

#[test]
fn canada_and_the_united_states_agree() {
    let canada_f = wind_chill_c(-20.0, 32.18688).unwrap() * 9.0 / 5.0 + 32.0;
    assert!((wind_chill_f(-4.0, 20.0).unwrap() - canada_f).abs() < 0.1);
}

#[test]
fn the_ends_of_the_domains() {
    assert!(wind_chill_c(0.0, 410.0).is_some());
    assert_eq!(wind_chill_c(0.0_f64.next_up(), 20.0), None);
    assert_eq!(wind_chill_c(-10.0, -0.1), None);
    assert_eq!(wind_chill_f(50.0_f64.next_up(), 20.0), None);
    assert!(heat_index_c(20.0, 0.0).is_some() && heat_index_c(50.0, 100.0).is_some());
    assert_eq!(heat_index_c(20.0_f64.next_down() - 1e-12, 50.0), None);
    assert_eq!(heat_index_f(90.0, 100.0_f64.next_up()), None);
    assert_eq!(humidex(25.0, 25.0_f64.next_up()), None);
}

proptest! {
    #[test]
    fn any_input_gives_a_finite_value_or_none(a: f64, b: f64) {
        for formula in [heat_index_f, heat_index_c, humidex, wind_chill_c, wind_chill_f] {
            prop_assert!(formula(a, b).is_none_or(f64::is_finite));
            for far in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300] {
                prop_assert_eq!(formula(far, b), None);
                prop_assert_eq!(formula(a, far), None);
                prop_assert_eq!(formula(-20.0, far), None);
                prop_assert_eq!(formula(30.0, far), None);
            }
        }
    }

    #[test]
    fn the_power_of_the_wind_is_that_of_libm(speed in 3.0_f64..410.0) {
        let power = libm::pow(speed, 0.16);
        prop_assert!((power_of_wind(speed) / power - 1.0).abs() < 5e-16);
    }

    #[test]
    fn wind_makes_it_colder(air_c in -60.0_f64..=0.0, wind_kmh in 0.0_f64..120.0) {
        let chill = |air_c, wind_kmh| wind_chill_c(air_c, wind_kmh).unwrap();
        prop_assert!(chill(air_c, wind_kmh) <= air_c);
        prop_assert!(chill(air_c, wind_kmh + 1.0) < chill(air_c, wind_kmh));
        prop_assert!(chill(air_c - 0.1, wind_kmh) < chill(air_c, wind_kmh));
    }

    #[test]
    fn damp_air_feels_warmer(air_c in 20.0_f64..45.0, dew_c in -40.0_f64..20.0) {
        let value = humidex(air_c, dew_c).unwrap();
        prop_assert!(value > humidex(air_c, dew_c - 0.1).unwrap());
        prop_assert!(value >= air_c - 50.0 / 9.0);
        // 10 hPa are close to a dew point of 7 °C.
        prop_assert!(dew_c < 7.1 || value > air_c);
    }

    #[test]
    fn the_heat_index_grows_with_temperature_over_the_chart(
        air_f in 80.0_f64..110.0,
        pct in 40.0_f64..85.0,
    ) {
        prop_assert!(heat_index_f(air_f + 1.0, pct).unwrap() > heat_index_f(air_f, pct).unwrap());
    }
}
