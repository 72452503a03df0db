use super::super::{Checker, Config, LonLat, SeriesReadings, StationSite};
use super::*;
use crate::observation::{IntervalType, ReasonQuality, SeriesKey, Variable};
use crate::time::HOUR_MS;

fn explanation() -> Explanation {
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
    let explanation = explanation();
    assert_eq!(explanation.decided_by, Some(Check::Step));
    let step = explanation.checks.iter().find(|report| report.check == Check::Step).unwrap();
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
fn as_text_each_check_that_ran_has_a_line() {
    let text = explanation().to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "airTemperature -20.5 °C at 1970-01-01T01:00:00Z: Instrumentation, Decrease, from the \
         check step"
    );
    assert_eq!(lines.len(), 1 + explanation().checks.iter().filter(|check| check.ran).count());
    let step = "  step: Instrumentation, airTemperature 10 °C, airTemperature -20.5 °C, elapsed 1 h, \
                limit of instrumentation from -19.4 °C to 19.4 °C";
    assert!(lines.contains(&step), "{text}");
}

#[test]
fn every_check_of_the_variable_is_listed_in_order_and_says_why_it_did_not_run() {
    let explanation = explanation();
    let checks: Vec<_> = explanation.checks.iter().map(|report| report.check).collect();
    let of_air_temperature = [
        Check::Value,
        Check::Range,
        Check::Record,
        Check::Spike,
        Check::Step,
        Check::Jump,
        Check::Persistence,
        Check::DewPoint,
        Check::WetBulb,
        Check::Average,
        Check::Neighbours,
        Check::NeighbourChange,
    ];
    assert_eq!(checks, of_air_temperature);
    let why = |check| {
        explanation.checks.iter().find(|report| report.check == check).unwrap().not_run_because
    };
    assert_eq!(why(Check::Range), None);
    assert_eq!(why(Check::Spike), Some(NotRun::NoNext.text()));
    assert_eq!(why(Check::DewPoint), Some(NotRun::NoRelatedSeries.text()));
    assert_eq!(why(Check::Neighbours), Some(NotRun::OtherStations.text()));
}

#[test]
fn the_report_of_the_neighbours_takes_its_place() {
    let mut explanation = explanation();
    let count = explanation.checks.len();
    let doubtful = Quality { base: BaseQuality::Doubtful, reason: ReasonQuality::Disagree };
    explanation.add(CheckReport {
        check: Check::Neighbours,
        ran: true,
        not_run_because: None,
        inputs: Vec::new(),
        limits: Vec::new(),
        neighbours: vec![],
        outcome: Some(doubtful),
    });
    assert_eq!(explanation.checks.len(), count);
    assert_eq!((explanation.verdict, explanation.decided_by), (doubtful, Some(Check::Neighbours)));
}

/// Why the step and range checks did not run on a series.
fn why_not(change: impl FnOnce(&mut SeriesKey)) -> [Option<&'static str>; 2] {
    let mut key = SeriesKey::new(Variable::AirTemperature, IntervalType::Instantaneous, 0);
    change(&mut key);
    let (ts_ms, value) = (&[0, HOUR_MS], &[10.0, 11.0]);
    let series = [SeriesReadings { key: &key, ts_ms, value, source: &[Quality::UNCHECKED; 2] }];
    let site = StationSite { coordinates: LonLat::new(-100.0, 50.0).unwrap(), altitude_m: None };
    let explanation = Checker::default().explain(&site, &series, 0, 1).unwrap();
    [Check::Step, Check::Range].map(|check| {
        explanation.checks.iter().find(|report| report.check == check).unwrap().not_run_because
    })
}

#[test]
fn a_check_reports_a_series_of_another_kind_or_unit() {
    let kind = Some(NotRun::SeriesKind.text());
    assert_eq!(why_not(|_| {}), [None, None]);
    assert_eq!(why_not(|key| key.interval_type = IntervalType::Max), [kind, None]);
    assert_eq!(why_not(|key| key.bucket = "a".into()), [kind, kind]);
    // 11 K are -262 °C: the range is judged in every unit that the value may be in.
    assert_eq!(why_not(|key| key.reported_unit = "K".into()), [Some(NotRun::Unit.text()), None]);
    assert_eq!(why_not(|key| key.reported_unit = "F".into()), [Some(NotRun::Unit.text()); 2]);
}

#[test]
fn a_relation_without_its_limit_is_told_from_one_without_the_other_series() {
    let lone = |checker: &Checker, variable: Variable, check: Check| {
        let key = SeriesKey::new(variable, IntervalType::Instantaneous, 0);
        let series = [SeriesReadings {
            key: &key,
            ts_ms: &[0],
            value: &[if variable == Variable::Mslp { 1000.0 } else { 10.0 }],
            source: &[Quality::UNCHECKED],
        }];
        let coordinates = LonLat::new(-100.0, 50.0).unwrap();
        let site = StationSite { coordinates, altitude_m: Some(0.0) };
        let explanation = checker.explain(&site, &series, 0, 0).unwrap();
        explanation.checks.iter().find(|report| report.check == check).unwrap().not_run_because
    };
    for (entry, check, variable) in [
        ("dewPoint", Check::DewPoint, Variable::DewPointTemperature),
        ("wetBulb", Check::WetBulb, Variable::WetBulbTemperature),
        ("pressureOrder", Check::PressureOrder, Variable::Mslp),
        ("pressureReduction", Check::PressureReduction, Variable::Mslp),
        ("windGust", Check::WindGust, Variable::WindGust),
        ("calmWind", Check::CalmWind, Variable::WindDirection),
        ("rainfall", Check::Rainfall, Variable::Rainfall),
        ("waveHeight", Check::WaveHeight, Variable::WaveHeight),
        ("average", Check::Average, Variable::AirTemperature),
    ] {
        let lonely = Some(NotRun::NoRelatedSeries.text());
        assert_eq!(lone(&Checker::default(), variable, check), lonely, "{entry}");
        let without = format!("without = [\"consistency.{entry}\"]");
        let checker = Checker::new(Config::from_toml(&without).unwrap());
        assert_eq!(lone(&checker, variable, check), Some(NotRun::NoLimit.text()), "{entry}");
    }
}
