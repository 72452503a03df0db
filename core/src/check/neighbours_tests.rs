use super::super::{CheckConfig, Checker};
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
fn a_worse_verdict_is_kept_and_says_nothing_of_the_others() {
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
    // a threshold of 4, 8.5 K below them is like them, and was it not for that, it would not be.
    let hill = sites(&[200.0, 200.0, 200.0, 400.0, 200.0, 200.0, 200.0]);
    let value = [20.0, 20.0, 20.0, 11.5, 20.0, 20.0, 20.0];
    assert_eq!(check(Variable::AirTemperature, &hill, &value, Quality::GOOD)[3], Quality::GOOD);
    let flat = check(Variable::AirTemperature, &sites(&[200.0; 7]), &value, Quality::GOOD);
    assert_eq!(flat[3], DISAGREE);
}

#[test]
fn a_mountain_is_not_held_against_the_valleys() {
    // Mount Washington above an inversion, 2022-10-23: 9 °C where the lapse rate makes −9 °C of the
    // valleys.
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
    let checker = Checker::new(CheckConfig::default());
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
