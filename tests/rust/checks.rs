//! The golden vectors of the quality checks.

use mesonet::check::{Checker, SeriesReadings, StationSite};
use mesonet::observation::{
    BUFR_033020, Crosswalk, GHCNH_CHECKS, ISD, MADIS, QARTOD, SWOB_QA_SUMMARY,
};
use mesonet::time::{MINUTE_MS, parse_instant};
use mesonet::{BaseQuality, LonLat, Quality, SeriesKey, check};
use serde_json::Value;

use super::{all, assert_count, list, number, text, vectors};

/// "Error/Range" as a verdict.
fn verdict(of: &Value) -> Quality {
    let (base, reason) = of.as_str().unwrap().split_once('/').unwrap();
    Quality { base: base.parse().unwrap(), reason: reason.parse().unwrap() }
}

struct Column {
    key: SeriesKey,
    ts_ms: Vec<i64>,
    value: Vec<f64>,
    source: Vec<Quality>,
    wanted: Vec<Quality>,
}

fn column(of: &Value) -> Column {
    let minutes = of["intervalMinutes"].as_i64().unwrap().try_into().unwrap();
    let kind = text(of, "intervalType").parse().unwrap();
    let mut key = SeriesKey::new(text(of, "variable").parse().unwrap(), kind, minutes);
    if let Some(unit) = of["reportedUnit"].as_str() {
        key.reported_unit = unit.to_owned().into();
    }
    let start_ms = parse_instant(text(of, "start")).unwrap();
    let ts_ms = all(of, "minutes", |minute| start_ms + minute.as_i64().unwrap() * MINUTE_MS);
    let source = match of.get("source") {
        Some(_) => all(of, "source", verdict),
        None => Vec::new(),
    };
    Column {
        key,
        ts_ms,
        value: all(of, "values", number),
        source,
        wanted: all(of, "verdicts", verdict),
    }
}

fn station(case: &Value) {
    let name = text(case, "name");
    let place = &case["site"];
    let site = StationSite {
        coordinates: LonLat::new(number(&place["longitude"]), number(&place["latitude"])).unwrap(),
        altitude_m: place["altitudeM"].as_f64(),
    };
    let checker = Checker::with_limits(case["limits"].as_str()).unwrap();
    let columns: Vec<_> = list(case, "series").iter().map(column).collect();
    let series: Vec<_> = columns
        .iter()
        .map(|Column { key, ts_ms, value, source, .. }| SeriesReadings {
            key,
            ts_ms,
            value,
            source,
        })
        .collect();
    let verdicts = checker.check_station(&site, &series).unwrap();
    for (which, of) in columns.iter().enumerate() {
        assert_eq!(verdicts[which], of.wanted, "{name}: {}", of.key.variable);
        for (reading, &wanted) in of.wanted.iter().enumerate() {
            let told = checker.explain(&site, &series, which, reading).unwrap();
            assert_eq!(told.verdict, wanted, "{name}: {} explained", of.key.variable);
        }
    }
}

fn crosswalk<F: Copy + PartialEq + std::fmt::Debug>(
    scheme: &Crosswalk<F>,
    case: &Value,
    flag: impl Fn(&Value) -> Option<F>,
) {
    let base: BaseQuality = text(case, "base").parse().unwrap();
    assert_eq!(scheme.quality(flag(&case["flag"]).unwrap()).base, base, "{case}");
    assert_eq!(scheme.flag(base), flag(&case["written"]), "{case}");
}

#[test]
fn checks() {
    let file = vectors("checks.json");
    let mut ran = 0;
    for case in list(&file, "stations") {
        station(case);
        ran += 1;
    }
    for case in list(&file, "refused") {
        let error = check::Config::from_toml(text(case, "limits")).unwrap_err();
        assert_eq!(error.to_string(), text(case, "message"), "{}", case["name"]);
        ran += 1;
    }
    let code = |flag: &Value| flag.as_i64().map(|flag| flag.try_into().unwrap());
    let letter = |flag: &Value| flag.as_str().and_then(|flag| flag.chars().next());
    for case in list(&file, "crosswalks") {
        match text(case, "scheme") {
            "SWOB_QA_SUMMARY" => crosswalk(&SWOB_QA_SUMMARY, case, code),
            "BUFR_033020" => crosswalk(&BUFR_033020, case, code),
            "MADIS" => crosswalk(&MADIS, case, letter),
            "QARTOD" => crosswalk(&QARTOD, case, code),
            "ISD" => crosswalk(&ISD, case, letter),
            "GHCNH_CHECKS" => crosswalk(&GHCNH_CHECKS, case, letter),
            other => panic!("unknown scheme {other}"),
        }
        ran += 1;
    }
    assert_count(ran, &file);
}
