//! `tests/vectors/metar.json` against the Rust library.

use mesonet::feed::metar::{Decoded, Metar};
use mesonet::feed::{FileContext, Kind};
use mesonet::observation::Qualifier;
use serde_json::{Value, json};

use super::{assert_count, list, text, vectors};

/// Whether two values of JSON are equal, whole numbers with and without a point alike.
fn is_same(got: &Value, wanted: &Value) -> bool {
    match (got, wanted) {
        (Value::Number(got), Value::Number(wanted)) => got.as_f64() == wanted.as_f64(),
        (Value::Array(got), Value::Array(wanted)) => {
            got.len() == wanted.len() && got.iter().zip(wanted).all(|(got, of)| is_same(got, of))
        }
        (Value::Object(got), Value::Object(wanted)) => {
            got.len() == wanted.len()
                && wanted.iter().all(|(name, of)| got.get(name).is_some_and(|got| is_same(got, of)))
        }
        (got, wanted) => got == wanted,
    }
}

#[track_caller]
fn assert_same(got: &Value, wanted: &Value, name: &str) {
    assert!(is_same(got, wanted), "{name}: got {got}, wanted {wanted}");
}

#[test]
fn metar() {
    let file = vectors("metar.json");
    let mut ran = 0;
    for case in list(&file, "reports") {
        let (name, report) = (text(case, "name"), text(case, "text"));
        let decoded = serde_json::to_value(Decoded::parse(report).unwrap()).unwrap();
        for (path, wanted) in case["members"].as_object().unwrap() {
            let got = path.split('.').fold(&decoded, |of, member| of.get(member).unwrap());
            assert_same(got, wanted, &format!("{name}: {path}"));
        }
        if let Some(received_ms) = case["received_ms"].as_i64() {
            let ts_ms = Metar::parse(report).unwrap().time_ms(received_ms);
            assert_eq!(Some(ts_ms), case["ts_ms"].as_i64(), "{name}");
        }
        ran += 1;
    }
    for case in list(&file, "refused") {
        let error = Decoded::parse(text(case, "text")).unwrap_err();
        assert_eq!(error.to_string(), text(case, "message"), "{case}");
        ran += 1;
    }
    for case in list(&file, "files") {
        assert_file(case);
        ran += 1;
    }
    assert_count(ran, &file);
}

fn assert_file(case: &Value) {
    let (name, content) = (text(case, "name"), text(case, "content"));
    let kind = Kind::detect("", content.as_bytes()).unwrap();
    assert_eq!(kind.name(), text(case, "kind"), "{name}");
    let context = FileContext::new("", case["received_ms"].as_i64().unwrap());
    let mut readings = Vec::new();
    let mut places = Vec::new();
    let summary = kind
        .read(&mut content.as_bytes(), &context, &mut |item| {
            let of = item.into_report().unwrap();
            let lat_lon = of.station.place.map(|place| (place.lat(), place.lon()));
            places.extend(lat_lon.map(|(lat, lon)| json!([lat, lon, of.station.altitude_m])));
            for report in of.earlier.iter().chain([&of.report]) {
                readings.extend(report.readings.iter().map(|reading| {
                    let series = &reading.series;
                    json!([
                        of.station.native_id,
                        report.ts_ms,
                        series.variable.name(),
                        series.interval_type.name(),
                        series.interval_minutes,
                        reading.value,
                        series.reported_unit,
                        reading.qualifier.map(Qualifier::name),
                        series.bucket,
                        series.calculated
                    ])
                }));
            }
        })
        .unwrap();
    assert_same(&Value::from(readings), &case["readings"], name);
    assert_eq!(Some(summary.read), case["read"].as_u64(), "{name}");
    let refusals: Vec<_> = summary.refusals.iter().map(ToString::to_string).collect();
    assert_same(&Value::from(refusals), &case["refusals"], name);
    let wanted = case.get("place").map(|place| vec![place.clone()]).unwrap_or_default();
    assert_same(&Value::from(places), &Value::from(wanted), name);
}
