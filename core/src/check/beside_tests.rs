//! Which reading accuses which: the cases that were reported.

use super::super::tests::{Column, site};
use super::super::{Checker, StationSite};
use crate::geo::LonLat;
use crate::observation::{BaseQuality, Quality, ReasonQuality, Variable};

fn verdicts(site: &StationSite, columns: &[Column]) -> Vec<Vec<Quality>> {
    let series: Vec<_> = columns.iter().map(Column::readings).collect();
    Checker::shared().check_station(site, &series).unwrap()
}

/// KLXV, KGUC, KBCE, KLAR, KBPI: no pressure is reduced by this formula above 750 m.
#[test]
fn the_reduction_does_not_judge_high_stations() {
    let leadville =
        StationSite { coordinates: LonLat::new(-106.32, 39.22).unwrap(), altitude_m: Some(3027.0) };
    let columns = [
        Column::moment(Variable::BarometricPressure, &[(0, 706.0)]),
        Column::moment(Variable::Mslp, &[(0, 1007.2)]),
        Column::moment(Variable::AirTemperature, &[(0, 25.0)]),
    ];
    assert_eq!(verdicts(&leadville, &columns)[..2], [[Quality::GOOD], [Quality::GOOD]]);
    // Lower down both would be suspect.
    let below = StationSite { altitude_m: Some(740.0), ..leadville };
    let said = Quality { base: BaseQuality::Inconsistent, reason: ReasonQuality::Difference };
    assert_eq!(verdicts(&below, &columns)[..2], [[said], [said]]);
}

/// CXBW, 2022-10-23, and many others: in saturated air a dew point of its own sensor is a little
/// above the air temperature.
#[test]
fn in_saturated_air_the_dew_point_may_be_a_little_higher() {
    let of = |air, dew| {
        let columns = [
            Column::moment(Variable::AirTemperature, &[(0, air)]),
            Column::moment(Variable::DewPointTemperature, &[(0, dew)]),
        ];
        verdicts(&site(), &columns)[0][0] == Quality::GOOD
    };
    assert!(of(-0.4, -0.3) && of(3.2, 3.8) && of(17.0, 18.0));
    assert!(!of(3.2, 3.9) && !of(17.0, 19.0));
}

/// A past bug: the altimeter setting was 20 hPa off for a day, and every sea level pressure beside
/// it was called inconsistent.
#[test]
fn an_altimeter_that_jumped_accuses_no_sea_level_pressure() {
    let hourly = |variable, mean: f64| {
        let of: Vec<_> =
            (0..240_i64).map(|hour| (hour * 60, mean + ((hour * 37) % 11) as f64 / 10.0)).collect();
        Column::moment(variable, &of)
    };
    let mut station = hourly(Variable::BarometricPressure, 977.0);
    for value in &mut station.value[200..=224] {
        *value += 20.0;
    }
    let columns = [station, hourly(Variable::Mslp, 1013.0), hourly(Variable::AirTemperature, 10.0)];
    let found = verdicts(&site(), &columns);
    assert!(found[1].iter().all(|&verdict| verdict == Quality::GOOD), "{:?}", found[1]);
    let wrong = |hour: usize| (200..=224).contains(&hour);
    for (hour, verdict) in found[0].iter().enumerate() {
        assert_eq!(verdict.base == BaseQuality::Doubtful, wrong(hour), "{hour}: {verdict:?}");
    }
}
