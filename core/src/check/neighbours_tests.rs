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
    // The two at the ends have four neighbours within 100 km.
    assert_eq!(unknown[1..6], out[1..6]);
    assert_eq!(unknown[0], Quality::UNCHECKED);
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
fn with_fewer_than_five_neighbours_nothing_is_said() {
    let five = sites(&[200.0; 5]);
    let value = [10.0, 11.0, 9.0, 60.0, 10.0];
    assert_eq!(check(Variable::AirTemperature, &five, &value, Quality::GOOD), [Quality::GOOD; 5]);
    let six = sites(&[200.0; 6]);
    let value = [10.0, 11.0, 9.0, 60.0, 10.0, f64::NAN];
    let out = check(Variable::AirTemperature, &six, &value, Quality::UNCHECKED);
    assert_eq!(out, [Quality::UNCHECKED; 6]);
}

#[test]
fn temperatures_are_brought_to_the_altitude_of_the_station() {
    // At −0.0065 K/m a station 200 m above the others is 1.3 K colder: with a deviation of 2 K and
    // a threshold of 4, 8.5 K below them still passes, and without the adjustment it would not.
    let hill = sites(&[200.0, 200.0, 200.0, 400.0, 200.0, 200.0, 200.0]);
    let value = [20.0, 20.0, 20.0, 11.5, 20.0, 20.0, 20.0];
    assert_eq!(check(Variable::AirTemperature, &hill, &value, Quality::GOOD)[3], Quality::GOOD);
    let flat = check(Variable::AirTemperature, &sites(&[200.0; 7]), &value, Quality::GOOD);
    assert_eq!(flat[3], DISAGREE);
}

#[test]
fn a_mountain_is_not_compared_with_the_valleys() {
    // Mount Washington above an inversion, 2022-10-23: 9 °C where the lapse rate gives −9 °C from
    // the valleys.
    let mountain = sites(&[200.0, 200.0, 200.0, 1911.0, 200.0, 200.0, 200.0]);
    let value = [2.0, 2.0, 2.0, 9.0, 2.0, 2.0, 2.0];
    let out = check(Variable::AirTemperature, &mountain, &value, Quality::GOOD);
    assert_eq!(out[3], Quality::GOOD);
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
    let inputs: Vec<_> = report.inputs.iter().map(|input| (input.name, input.value)).collect();
    assert_eq!(inputs[1], ("neighbours", 6.0));
    assert_eq!(inputs[2], ("meanOfNeighbours", 10.0));
    assert!(checker.explain_neighbours(&of, 7).is_err());
}

/// A checker with custom limits of air temperature.
fn own(limits: &str) -> Checker {
    let text = format!("[neighbours.airTemperature]\nsource = \"own\"\n{limits}\n");
    Checker::new(Config::from_toml(&text).unwrap())
}

/// What the check says about a value at sea level, among others at their distances, nearest first.
fn judged(checker: &Checker, value: f64, others: &[(f64, Held)]) -> Tally {
    let of = held(value, 0.0);
    let near = others.iter().enumerate().map(|(i, &(distance_km, _))| (i, distance_km));
    checker.check_held(Variable::AirTemperature, of, near, |i| Some(others[i].1))
}

fn held(value: f64, altitude_m: f64) -> Held {
    Held { value, altitude_m: Some(altitude_m), base: BaseQuality::Good }
}

#[test]
fn a_neighbour_counts_up_to_the_radius_and_up_to_the_rise() {
    let limits = "radius_km = 50\nat_least = 2\nmax_rise_m = 100\nmin_deviation = 1\nthreshold = 4";
    let checker = own(limits);
    let ran = |distance_km, altitude_m, base| {
        let last = Held { base, ..held(10.0, altitude_m) };
        judged(&checker, 10.0, &[(1.0, held(10.0, 0.0)), (distance_km, last)]).ran()
    };
    assert!(ran(50.0, 100.0, BaseQuality::Good) && ran(50.0, -100.0, BaseQuality::Good));
    assert!(!ran(50.0_f64.next_up(), 0.0, BaseQuality::Good));
    assert!(!ran(50.0, 100.1, BaseQuality::Good) && !ran(50.0, -100.1, BaseQuality::Good));
    // A doubtful or worse value does not count as a neighbour, an unjudged one does.
    for base in BaseQuality::ALL {
        assert_eq!(ran(50.0, 0.0, base), base > BaseQuality::Doubtful, "{base}");
    }
}

#[test]
fn a_value_just_at_the_threshold_is_like_those_around() {
    let checker = own("radius_km = 50\nat_least = 2\nmin_deviation = 1\nthreshold = 4");
    let around = [(1.0, held(10.0, 0.0)), (2.0, held(10.0, 0.0))];
    assert_eq!(judged(&checker, 14.0, &around).tripped(), None);
    assert_eq!(judged(&checker, 6.0, &around).tripped(), None);
    assert_eq!(judged(&checker, 14.1, &around).tripped(), Some(DISAGREE));
    assert_eq!(judged(&checker, 5.9, &around).tripped(), Some(DISAGREE));
}

/// In a dense network, exactly the nearest fifty with a value are used.
#[test]
fn the_nearest_fifty_with_a_value_are_used() {
    let checker = own("radius_km = 500\nat_least = 2\nmin_deviation = 0.001\nthreshold = 4");
    let none = Held { base: BaseQuality::Error, ..held(99.0, 0.0) };
    let mut others: Vec<(f64, Held)> =
        (0..49_i32).map(|i| (f64::from(i), held(10.0, 0.0))).collect();
    others.splice(20..20, [(19.5, none), (19.6, held(f64::NAN, 0.0))]);
    others.push((60.0, held(12.5, 0.0)));
    others.push((61.0, held(1000.0, 0.0)));
    let of = held(10.0, 0.0);
    let near = others.iter().enumerate().map(|(i, &(distance_km, _))| (i, distance_km));
    let report = checker.explain_held(Variable::AirTemperature, of, near, |i| Some(others[i].1));
    let found = |name| report.inputs.iter().find(|input| input.name == name).unwrap().value;
    assert_eq!(found("neighbours"), 50.0);
    assert!((found("meanOfNeighbours") - 10.05).abs() < 1e-12);
    // s² = 2.5² · (1/50 − 1/50²) · 50/49 = 0.125; √(s² + s²/50).
    assert!((found("deviationOfNeighbours") - (0.125_f64 * 1.02).sqrt()).abs() < 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The same computed naively, in two passes, from the distances between the stations.
    #[test]
    fn the_verdict_is_that_of_mean_and_deviation_of_those_that_count(
        stations in prop::collection::vec(
            (-1.0..1.0_f64, -1.0..1.0_f64, 5.0..25.0_f64, prop::option::of(0.0..500.0_f64), 0..8_u8),
            2..90,
        ),
    ) {
        let sites: Vec<StationSite> = stations
            .iter()
            .map(|&(lon, lat, _, altitude_m, _)| {
                StationSite { coordinates: LonLat::new(lon, 45.0 + lat).unwrap(), altitude_m }
            })
            .collect();
        let value: Vec<f64> = stations.iter().map(|station| station.2).collect();
        let base = |i: usize| BaseQuality::try_from(stations[i].4.max(2)).unwrap();
        let verdict: Vec<Quality> = (0..stations.len())
            .map(|i| Quality { base: base(i), reason: ReasonQuality::None })
            .collect();
        let index = StationIndex::new(sites.iter().map(|site| site.coordinates));
        let source = vec![Quality::UNCHECKED; value.len()];
        let variable = Variable::AirTemperature;
        let of = Surroundings {
            variable, sites: &sites, index: &index, value: &value, source: &source, verdict: &verdict,
        };
        let checker = own(
            "radius_km = 80\nat_least = 4\nlapse_per_m = 0.0065\nmax_rise_m = 200\n\
             min_deviation = 0.5\nthreshold = 1.5",
        );
        let mut out = verdict.clone();
        checker.check_neighbours(&of, &mut out).unwrap();
        for i in 0..stations.len() {
            let Some(altitude_m) = sites[i].altitude_m else {
                prop_assert_eq!(out[i], verdict[i]);
                continue;
            };
            let mut near: Vec<(f64, f64)> = (0..stations.len())
                .filter(|&j| j != i && base(j) > BaseQuality::Doubtful)
                .filter_map(|j| {
                    let rise_m = sites[j].altitude_m? - altitude_m;
                    let distance_km = sites[i].coordinates.distance_km(sites[j].coordinates);
                    let counts = rise_m.abs() <= 200.0 && distance_km <= 80.0;
                    counts.then_some((distance_km, value[j] + 0.0065 * rise_m))
                })
                .collect();
            near.sort_by(|a, b| a.0.total_cmp(&b.0));
            near.truncate(50);
            let n = near.len() as f64;
            let mean = near.iter().map(|&(_, value)| value).sum::<f64>() / n;
            let squares = near.iter().map(|&(_, value)| (value - mean).powi(2)).sum::<f64>();
            let deviation = (squares / (n - 1.0) * (1.0 + 1.0 / n)).sqrt().max(0.5);
            let excess = (value[i] - mean).abs() - 1.5 * deviation;
            prop_assume!(near.len() < 4 || excess.abs() > 1e-9);
            let unlike = near.len() >= 4 && excess > 0.0 && base(i) > BaseQuality::Error;
            let expected = if unlike && base(i) > BaseQuality::Doubtful {
                DISAGREE
            } else if base(i) == BaseQuality::Unknown && near.len() >= 4 {
                Quality::GOOD
            } else {
                verdict[i]
            };
            prop_assert_eq!(out[i], expected, "station {} with {} neighbours", i, near.len());
        }
    }
}
