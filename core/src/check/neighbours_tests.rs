use proptest::prelude::*;

use super::super::{Checker, Config};
use super::*;
use crate::geo::LonLat;

/// Stations 20 km apart in a row, at altitudes.
fn sites(altitudes_m: &[f64]) -> Vec<StationSite> {
    let site = |(i, &altitude_m): (usize, &f64)| StationSite {
        coordinates: LonLat::new(-100.0, 45.0 + i as f64 * 0.18).unwrap(),
        altitude_m: Some(altitude_m),
    };
    altitudes_m.iter().enumerate().map(site).collect()
}

fn check(
    variable: Variable,
    sites: &[StationSite],
    value: &[f64],
    so_far: Quality,
) -> Vec<Quality> {
    let index = StationIndex::new(sites.iter().map(|site| site.coordinates));
    let source = vec![Quality::UNCHECKED; value.len()];
    let verdict = vec![so_far; value.len()];
    let of =
        Surroundings { variable, sites, index: &index, value, source: &source, verdict: &verdict };
    let mut out = vec![Quality::UNCHECKED; value.len()];
    Checker::default().check_neighbours(&of, &mut out).unwrap();
    out
}

const DISAGREE: Quality = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Disagree };

#[test]
fn a_value_unlike_those_around_is_doubtful_and_never_more() {
    let sites = sites(&[200.0; 7]);
    let value = [10.0, 11.0, 9.0, 60.0, 10.5, 9.5, 10.0];
    let out = check(Variable::AirTemperature, &sites, &value, Quality::GOOD);
    assert_eq!(out[3], DISAGREE);
    assert_eq!(out[2], Quality::GOOD);
    let unknown = check(Variable::AirTemperature, &sites, &value, Quality::UNCHECKED);
    assert_eq!(unknown, out);
}

#[test]
fn a_worse_verdict_is_kept_and_does_not_affect_the_others() {
    let sites = sites(&[200.0; 7]);
    let error = Quality { base: BaseQuality::Error, reason: ReasonQuality::Range };
    let out = check(Variable::AirTemperature, &sites, &[10.0; 7], error);
    assert_eq!(out, [error; 7]);
    let stuck = Quality { base: BaseQuality::Instrumentation, reason: ReasonQuality::Inert };
    let value = [10.0, 11.0, 9.0, 60.0, 10.5, 9.5, 10.0];
    let out = check(Variable::AirTemperature, &sites, &value, stuck);
    assert_eq!((out[3], out[0]), (DISAGREE, stuck));
}

#[test]
fn with_fewer_than_four_neighbours_nothing_is_said() {
    let four = sites(&[200.0; 4]);
    let value = [10.0, 11.0, 9.0, 60.0];
    assert_eq!(check(Variable::AirTemperature, &four, &value, Quality::GOOD), [Quality::GOOD; 4]);
    let five = sites(&[200.0; 5]);
    let value = [10.0, 11.0, 9.0, 60.0, f64::NAN];
    let out = check(Variable::AirTemperature, &five, &value, Quality::UNCHECKED);
    assert_eq!(out, [Quality::UNCHECKED; 5]);
}

#[test]
fn temperatures_are_brought_to_the_altitude_of_the_station() {
    // At −0.0065 K/m a station 600 m above the others is 3.9 K colder.
    let hill = sites(&[200.0, 200.0, 200.0, 800.0, 200.0, 200.0, 200.0]);
    let value = [20.0, 20.0, 20.0, 16.1, 20.0, 20.0, 20.0];
    let report = report_on(Variable::AirTemperature, &hill, &value, 3);
    assert!(found(&report, "standardizedDifference").abs() < 1e-6);
    assert!((report.neighbours[0].rise_m + 600.0).abs() < 1e-9);
    assert!((report.neighbours[0].value - 20.0).abs() < 1e-9, "as it was measured");
}

/// Mount Washington above an inversion, 2022-10-23: 9 °C where the lapse rate gives −9 °C from
/// the valleys. KLXV on a clear night, and Angel Fire (KAXX) in a thunderstorm, are less unlike.
#[test]
fn a_mountain_need_not_be_like_its_valleys() {
    let mountain = sites(&[200.0, 200.0, 200.0, 1911.0, 200.0, 200.0, 200.0]);
    let value = [2.0, 2.0, 2.0, 9.0, 2.0, 2.0, 2.0];
    let out = check(Variable::AirTemperature, &mountain, &value, Quality::GOOD);
    assert_eq!(out, [Quality::GOOD; 7]);
}

/// Two neighbouring stations that are equally wrong condemn no other, and are found themselves if
/// there are enough others.
#[test]
fn one_or_two_bad_neighbours_condemn_no_good_one() {
    let sites = sites(&[200.0; 9]);
    for variable in [Variable::AirTemperature, Variable::Mslp] {
        for wrong in [8.0, -8.0, 30.0, -30.0] {
            for bad in [vec![4], vec![4, 5], vec![3, 5], vec![2, 6], vec![0, 1]] {
                let mut value = [1010.0; 9];
                for &which in &bad {
                    value[which] += wrong;
                }
                let out = check(variable, &sites, &value, Quality::GOOD);
                for (which, &verdict) in out.iter().enumerate().filter(|(i, _)| !bad.contains(i)) {
                    assert_eq!(verdict, Quality::GOOD, "{variable} {wrong} {bad:?} {which}");
                }
                if bad.len() == 1 {
                    assert_eq!(out[bad[0]], DISAGREE, "{variable} {wrong} {bad:?}");
                }
            }
        }
    }
}

/// A bad value says nothing about its neighbours, however many there are.
#[test]
fn doubtful_and_worse_values_do_not_count() {
    let sites = sites(&[200.0; 9]);
    let mut value = [10.0; 9];
    let mut verdict = [Quality::GOOD; 9];
    for which in [0, 2, 4, 6] {
        value[which] = 40.0;
        verdict[which] = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Range };
    }
    let index = StationIndex::new(sites.iter().map(|site| site.coordinates));
    let source = [Quality::UNCHECKED; 9];
    let of = Surroundings {
        variable: Variable::AirTemperature,
        sites: &sites,
        index: &index,
        value: &value,
        source: &source,
        verdict: &verdict,
    };
    let mut out = verdict;
    Checker::default().check_neighbours(&of, &mut out).unwrap();
    assert_eq!(out, verdict);
}

/// A station pressure is compared as an altimeter setting, at any altitude.
#[test]
fn station_pressures_are_compared_as_altimeter_settings() {
    let altitudes_m = [200.0, 210.0, 190.0, 240.0, 150.0, 230.0, 180.0];
    let sites = sites(&altitudes_m);
    let mut value = altitudes_m.map(|m| crate::derived::station_pressure_hpa(1013.0, m).unwrap());
    let variable = Variable::BarometricPressure;
    assert_eq!(check(variable, &sites, &value, Quality::GOOD), [Quality::GOOD; 7]);
    value[3] += 5.0;
    let out = check(variable, &sites, &value, Quality::GOOD);
    assert_eq!(out.iter().filter(|&&verdict| verdict == DISAGREE).count(), 1);
    assert_eq!(out[3], DISAGREE);
    let report = report_on(variable, &sites, &value, 3);
    assert!((found(&report, "altimeterSetting") - 1018.0).abs() < 0.3);
    assert!((found(&report, "fromNeighbours") - 1013.0).abs() < 0.01);
}

/// A gradient is not an error: pressure falls by 10 hPa in 120 km, as around a tropical storm.
#[test]
fn a_steady_gradient_is_not_doubtful() {
    let sites = sites(&[10.0; 7]);
    let value = [0, 1, 2, 3, 4, 5, 6].map(|i| 1005.0 + f64::from(i) * 10.0 / 6.0);
    assert_eq!(check(Variable::Mslp, &sites, &value, Quality::GOOD), [Quality::GOOD; 7]);
}

/// If the neighbours differ from each other more than usual, more is allowed.
#[test]
fn where_values_differ_much_more_is_allowed() {
    let sites = sites(&[10.0; 9]);
    let calm = [10.0, 10.0, 10.0, 10.0, 18.0, 10.0, 10.0, 10.0, 10.0];
    assert_eq!(check(Variable::AirTemperature, &sites, &calm, Quality::GOOD)[4], DISAGREE);
    // Sea breeze and hot land in turns.
    let coast = [20.0, 25.0, 20.0, 26.0, 18.0, 27.0, 19.0, 26.0, 20.0];
    assert_eq!(check(Variable::AirTemperature, &sites, &coast, Quality::GOOD), [Quality::GOOD; 9]);
}

#[test]
fn pressures_need_no_altitude() {
    let mut sites = sites(&[200.0; 7]);
    sites[3].altitude_m = None;
    let value = [1013.0, 1013.5, 1012.5, 1000.0, 1013.2, 1012.8, 1013.0];
    assert_eq!(check(Variable::Mslp, &sites, &value, Quality::GOOD)[3], DISAGREE);
    let temperature = check(Variable::AirTemperature, &sites, &value, Quality::GOOD);
    assert_eq!(temperature[3], Quality::GOOD);
}

#[test]
fn the_good_of_a_source_is_kept() {
    let sites = sites(&[200.0; 7]);
    let index = StationIndex::new(sites.iter().map(|site| site.coordinates));
    let value = [10.0, 11.0, 9.0, 60.0, 10.5, 9.5, 10.0];
    let good = [Quality::GOOD; 7];
    let of = Surroundings {
        variable: Variable::AirTemperature,
        sites: &sites,
        index: &index,
        value: &value,
        source: &good,
        verdict: &good,
    };
    let mut out = [Quality::UNCHECKED; 7];
    let checker = Checker::new(Config::default());
    checker.check_neighbours(&of, &mut out).unwrap();
    assert_eq!(out, good);
    assert!(checker.check_neighbours(&of, &mut out[..6]).is_err());
    let report = checker.explain_neighbours(&of, 3).unwrap();
    assert!(report.ran && report.outcome == Some(DISAGREE));
    assert_eq!(found(&report, "neighbours"), 6.0);
    assert!((found(&report, "fromNeighbours") - 10.0).abs() < 0.5);
    let weights: f64 = report.neighbours.iter().map(|neighbour| neighbour.weight).sum();
    assert!((weights - 1.0).abs() < 0.01);
    let nearest: Vec<_> = report.neighbours.iter().map(|neighbour| neighbour.place).collect();
    assert!(nearest[..2] == [2, 4] || nearest[..2] == [4, 2]);
    assert!(checker.explain_neighbours(&of, 7).is_err());
}

fn report_on(
    variable: Variable,
    sites: &[StationSite],
    value: &[f64],
    which: usize,
) -> CheckReport {
    let index = StationIndex::new(sites.iter().map(|site| site.coordinates));
    let (source, verdict) =
        (vec![Quality::UNCHECKED; value.len()], vec![Quality::GOOD; value.len()]);
    let of =
        Surroundings { variable, sites, index: &index, value, source: &source, verdict: &verdict };
    Checker::shared().explain_neighbours(&of, which).unwrap()
}

fn found(report: &CheckReport, name: &str) -> f64 {
    report.inputs.iter().find(|input| input.name == name).unwrap().value
}

/// A checker with custom limits of air temperature.
fn own(limits: &str) -> Checker {
    let text = format!(
        "[neighbours.airTemperature]\nsource = \"own\"\ndeviation = 1\nvariance_per_km = 0.01\n\
         km_per_m = 0.1\nchange_per_hour = 1\nbetween_hours = 2\nbeside_hours = 1\n{limits}\n"
    );
    Checker::new(Config::from_toml(&text).unwrap())
}

/// The result of the check for a value, with others to the east at their distances, nearest first.
fn judged(checker: &Checker, value: f64, others: &[(f64, NeighbourValue)]) -> CheckReport {
    let near = others.iter().enumerate().map(|(i, &(distance_km, _))| (i, distance_km));
    let spot = |km: f64| Spot::new(LonLat::new(km / 111.2, 0.0).unwrap(), Some(0.0));
    let held = |i: usize| Some(NeighbourValue { spot: spot(others[i].0), ..others[i].1 });
    checker.explain_held(Variable::AirTemperature, self::held(value), near, held)
}

fn held(value: f64) -> NeighbourValue {
    let spot = Spot::new(LonLat::new(0.0, 0.0).unwrap(), Some(0.0));
    NeighbourValue { value, spot, base: BaseQuality::Good, unsure_hours: 0.0 }
}

#[test]
fn a_neighbour_counts_up_to_the_radius_if_it_is_not_doubtful() {
    let checker = own("radius_km = 50\nnearest = 12\nat_least = 2\nthreshold = 4");
    let ran = |distance_km, base| {
        let last = NeighbourValue { base, ..held(10.0) };
        judged(&checker, 10.0, &[(1.0, held(10.0)), (distance_km, last)]).ran
    };
    assert!(ran(50.0, BaseQuality::Good));
    assert!(!ran(50.0_f64.next_up(), BaseQuality::Good));
    for base in BaseQuality::ALL {
        assert_eq!(ran(50.0, base), base > BaseQuality::Doubtful, "{base}");
    }
}

#[test]
fn the_nearest_with_a_value_are_used() {
    let checker = own("radius_km = 500\nnearest = 6\nat_least = 2\nthreshold = 4");
    let none = NeighbourValue { base: BaseQuality::Error, ..held(99.0) };
    let mut others: Vec<(f64, NeighbourValue)> =
        (1..=5_i32).map(|i| (f64::from(i) * 10.0, held(10.0))).collect();
    others.splice(2..2, [(25.0, none), (26.0, held(f64::NAN))]);
    others.push((60.0, held(12.5)));
    others.push((61.0, held(1000.0)));
    let report = judged(&checker, 10.0, &others);
    assert_eq!(found(&report, "neighbours"), 6.0);
    let used: Vec<_> = report.neighbours.iter().map(|neighbour| neighbour.place).collect();
    assert_eq!(used, [0, 1, 4, 5, 6, 7]);
}

/// A value that is hours old says less.
#[test]
fn a_value_of_another_time_weighs_less() {
    let checker = own("radius_km = 500\nnearest = 6\nat_least = 2\nthreshold = 4");
    let weight = |unsure_hours| {
        let others = [(10.0, NeighbourValue { unsure_hours, ..held(10.0) }), (10.0, held(12.0))];
        judged(&checker, 10.0, &others).neighbours[0].weight
    };
    assert!((weight(0.0) - 0.5).abs() < 0.01);
    assert!(weight(1.0) < 0.45, "{}", weight(1.0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// For any values, the verdict is no worse than Doubtful and never better than before, and does
    /// not change if a number is added to all values.
    #[test]
    fn the_verdict_is_at_most_doubtful_and_only_of_differences(
        stations in prop::collection::vec(
            (-1.0..1.0_f64, -1.0..1.0_f64, -40.0..40.0_f64, 0.0..2500.0_f64, 0..8_u8),
            2..40,
        ),
        offset in -20.0..20.0_f64,
    ) {
        let sites: Vec<StationSite> = stations
            .iter()
            .map(|&(lon, lat, _, altitude_m, _)| StationSite {
                coordinates: LonLat::new(lon, 45.0 + lat).unwrap(),
                altitude_m: Some(altitude_m),
            })
            .collect();
        let verdict: Vec<Quality> = stations
            .iter()
            .map(|station| Quality {
                base: BaseQuality::try_from(station.4).unwrap(),
                reason: ReasonQuality::None,
            })
            .collect();
        let index = StationIndex::new(sites.iter().map(|site| site.coordinates));
        let source = vec![Quality::UNCHECKED; sites.len()];
        let out = |offset: f64| {
            let value: Vec<f64> = stations.iter().map(|station| station.2 + offset).collect();
            let of = Surroundings {
                variable: Variable::DewPointTemperature,
                sites: &sites,
                index: &index,
                value: &value,
                source: &source,
                verdict: &verdict,
            };
            let mut out = verdict.clone();
            Checker::shared().check_neighbours(&of, &mut out).unwrap();
            out
        };
        let judged = out(0.0);
        for (after, before) in judged.iter().zip(&verdict) {
            let unknown_is_good = before.base == BaseQuality::Unknown && *after == Quality::GOOD;
            prop_assert!(after == before || *after == DISAGREE || unknown_is_good);
            prop_assert!(after.base <= before.base);
        }
        prop_assert_eq!(judged, out(offset));
    }
}
