use super::super::{Checker, LonLat, SeriesReadings, StationSite};
use super::*;
use crate::quality::ReasonQuality;
use crate::series::{IntervalType, SeriesKey};
use crate::variable::Variable;

fn told() -> Explanation {
    let key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
    let series = [SeriesReadings {
        key: &key,
        ts_ms: &[0, HOUR_MS],
        value: &[10.0, -20.5],
        source: &[Quality::UNCHECKED; 2],
    }];
    let site = StationSite { coordinates: LonLat::new(-100.0, 50.0).unwrap(), altitude_m: None };
    Checker::default().explain(&site, &series, 0, 1).unwrap()
}

#[test]
fn a_verdict_can_be_traced_to_check_limit_and_source() {
    let told = told();
    assert_eq!(told.decided_by, Some(Check::Step));
    let step = told.checks.iter().find(|report| report.check == Check::Step).unwrap();
    let wire = serde_json::to_value(step).unwrap();
    let wanted = serde_json::json!({
        "check": "step",
        "ran": true,
        "inputs": [
            {"name": "airTemperature", "value": 10.0, "unit": "°C", "timestamp": "1970-01-01T00:00:00Z"},
            {"name": "airTemperature", "value": -20.5, "unit": "°C", "timestamp": "1970-01-01T01:00:00Z"},
            {"name": "elapsed", "value": 1.0, "unit": "h"},
        ],
        "limits": [{
            "name": "instrumentation", "min": -19.4, "max": 19.4, "unit": "°C",
            "source": "MADIS level 1 (35 °F in an hour), growing with time as WMO-No. 305 (1993) VI.21 does",
        }],
        "outcome": {"baseQuality": "Instrumentation", "reasonQuality": "Decrease"},
    });
    assert_eq!(wire, wanted);
}

#[test]
fn every_check_is_listed_in_order_and_says_why_it_did_not_run() {
    let told = told();
    let checks: Vec<_> = told.checks.iter().map(|report| report.check).collect();
    assert_eq!(checks, Check::ALL);
    let why =
        |check| told.checks.iter().find(|report| report.check == check).unwrap().not_run_because;
    assert_eq!(why(Check::Range), None);
    assert_eq!(why(Check::Spike), Some(NotRun::NoNext.text()));
    assert_eq!(why(Check::DewPoint), Some(NotRun::NoRelatedSeries.text()));
    assert_eq!(why(Check::Rainfall), Some(NotRun::NoLimit.text()));
    assert_eq!(why(Check::Neighbours), Some(NotRun::OtherStations.text()));
}

#[test]
fn the_report_of_the_neighbours_takes_its_place() {
    let mut told = told();
    let doubtful = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Disagree };
    told.add(CheckReport {
        check: Check::Neighbours,
        ran: true,
        not_run_because: None,
        inputs: Vec::new(),
        limits: Vec::new(),
        outcome: Some(doubtful),
    });
    assert_eq!(told.checks.len(), Check::ALL.len());
    assert_eq!((told.verdict, told.decided_by), (doubtful, Some(Check::Neighbours)));
}

/// Why the step and the range were not checked of a series.
fn why_not(change: impl FnOnce(&mut SeriesKey)) -> [Option<&'static str>; 2] {
    let mut key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
    change(&mut key);
    let (ts_ms, value) = (&[0, HOUR_MS], &[10.0, 11.0]);
    let series = [SeriesReadings { key: &key, ts_ms, value, source: &[Quality::UNCHECKED; 2] }];
    let site = StationSite { coordinates: LonLat::new(-100.0, 50.0).unwrap(), altitude_m: None };
    let told = Checker::default().explain(&site, &series, 0, 1).unwrap();
    [Check::Step, Check::Range].map(|check| {
        told.checks.iter().find(|report| report.check == check).unwrap().not_run_because
    })
}

#[test]
fn a_check_says_that_a_series_is_of_another_kind_or_unit() {
    let kind = Some(NotRun::SeriesKind.text());
    assert_eq!(why_not(|_| {}), [None, None]);
    assert_eq!(why_not(|key| key.interval_type = IntervalType::Max), [kind, None]);
    assert_eq!(why_not(|key| key.bucket = "a".into()), [kind, kind]);
    assert_eq!(why_not(|key| key.reported_unit = "K".into()), [Some(NotRun::Unit.text()); 2]);
}
