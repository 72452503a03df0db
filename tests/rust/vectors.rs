//! The golden vectors of `tests/vectors` against the Rust library.
//!
//! `tests/python` and `tests/js` run the same files. Each test counts its cases and compares them
//! with the count in the file, so that a section that nobody reads is noticed.

#[path = "alerts.rs"]
mod alerts;
#[path = "checks.rs"]
mod checks;
#[path = "metar.rs"]
mod metar;
#[path = "native_grid.rs"]
mod native_grid;
#[path = "time_grid.rs"]
mod time_grid;
#[path = "units.rs"]
mod units;

use std::path::Path;

use mesonet::derived::{
    dew_point_c, dew_point_c_into, heat_index_c, heat_index_c_into, heat_index_f,
    heat_index_f_into, humidex, humidex_into, mean_sea_level_pressure_hpa,
    mean_sea_level_pressure_hpa_into, relative_humidity_pct, relative_humidity_pct_into,
    station_pressure_hpa, station_pressure_hpa_into, stull_wet_bulb_c, stull_wet_bulb_c_into,
    wet_bulb_c, wet_bulb_c_into, wind_at_10m, wind_at_10m_into, wind_chill_c, wind_chill_c_into,
    wind_chill_f, wind_chill_f_into,
};
use mesonet::grid::{Encoding, Rotation, rotate_field};
use mesonet::observation::{distinct_worst_first, worst, worst_code};
use mesonet::{BaseQuality, ReasonQuality};
use serde_json::Value;

fn vectors(file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(file);
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{file}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().unwrap_or_else(|| panic!("{key} is not a list in {of}"))
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_else(|| panic!("{key} is not a text in {of}"))
}

/// Returns a number; null is NaN, "inf" and "-inf" are infinite.
fn number(value: &Value) -> f64 {
    match value {
        Value::Null => f64::NAN,
        Value::String(text) => text.parse().unwrap(),
        value => value.as_f64().unwrap(),
    }
}

fn integer(value: &Value) -> i16 {
    value.as_i64().and_then(|value| value.try_into().ok()).unwrap()
}

fn all<'a, T>(of: &'a Value, key: &str, read: impl Fn(&'a Value) -> T) -> Vec<T> {
    list(of, key).iter().map(read).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

fn assert_count(ran: usize, file: &Value) {
    assert_eq!(ran as u64, file["cases"].as_u64().unwrap(), "cases run, cases in the file");
}

#[track_caller]
fn assert_close(got: &[f64], wanted: &[f64], tolerance: f64, name: &str) {
    assert_eq!(got.len(), wanted.len(), "{name}");
    for (&got, &wanted) in got.iter().zip(wanted) {
        let equal = got == wanted || got.is_nan() && wanted.is_nan();
        assert!(equal || (got - wanted).abs() <= tolerance, "{name}: got {got}, wanted {wanted}");
    }
}

#[test]
fn quality_ranking() {
    let file = vectors("quality_ranking.json");
    assert_eq!(all(&file, "base", name_of), BaseQuality::ALL.map(BaseQuality::name));
    assert_eq!(all(&file, "reason", name_of), ReasonQuality::ALL.map(ReasonQuality::name));
    let mut ran = 2;
    for case in list(&file, "worst") {
        let codes = all(case, "codes", |code| name_of(code).parse::<BaseQuality>().unwrap());
        let numbers: Vec<u8> = codes.iter().map(|&code| code as u8).collect();
        let wanted = text(case, "worst");
        assert_eq!(worst(&codes).name(), wanted, "{}", case["name"]);
        assert_eq!(worst_code(&numbers).unwrap().name(), wanted, "{}", case["name"]);
        let distinct: Vec<_> =
            distinct_worst_first(codes).into_iter().map(BaseQuality::name).collect();
        assert_eq!(distinct, all(case, "distinct", name_of), "{}", case["name"]);
        ran += 1;
    }
    for case in list(&file, "refused") {
        let codes = list(case, "codes");
        let error = if codes[0].is_string() {
            codes.iter().find_map(|code| name_of(code).parse::<BaseQuality>().err())
        } else {
            worst_code(&all(case, "codes", |code| code.as_u64().unwrap() as u8)).err()
        };
        assert_eq!(error.unwrap().to_string(), text(case, "message"), "{}", case["name"]);
        ran += 1;
    }
    assert_count(ran, &file);
}

fn name_of(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn encoding(case: &Value) -> Result<Encoding, mesonet::grid::EncodingError> {
    let of = &case["encoding"];
    Encoding::new(number(&of["scale"]), number(&of["offset"]), integer(&of["nodata"]))
}

#[test]
fn tile() {
    let file = vectors("tile.json");
    let mut ran = 0;
    for case in list(&file, "decode") {
        let name = text(case, "name");
        let (encoding, raw) = (encoding(case).unwrap(), all(case, "raw", integer));
        let (wanted, tolerance) = (all(case, "values", number), number(&case["tolerance"]));
        let mut values = vec![0.0; raw.len()];
        encoding.decode_into(&raw, &mut values).unwrap();
        assert_close(&values, &wanted, tolerance, name);
        encoding.decode_bytes_into(&bytes(text(case, "bytes")), &mut values).unwrap();
        assert_close(&values, &wanted, tolerance, name);
        let singly: Vec<f64> = raw.into_iter().map(|raw| encoding.decode(raw)).collect();
        assert_close(&singly, &wanted, tolerance, name);
        ran += 1;
    }
    for case in list(&file, "encode") {
        let (encoding, values) = (encoding(case).unwrap(), all(case, "values", number));
        let mut raw = vec![0; values.len()];
        encoding.encode_into(&values, &mut raw).unwrap();
        assert_eq!(raw, all(case, "raw", integer), "{}", case["name"]);
        ran += 1;
    }
    for case in list(&file, "refused") {
        let bytes = bytes(text(case, "bytes"));
        let error = encoding(case)
            .and_then(|encoding| {
                encoding.decode_bytes_into(&bytes, &mut vec![0.0; bytes.len() / 2])
            })
            .unwrap_err();
        assert_eq!(error.to_string(), text(case, "message"), "{}", case["name"]);
        ran += 1;
    }
    assert_count(ran, &file);
}

#[test]
fn wind_rotation() {
    let file = vectors("wind_rotation.json");
    let unit_length_tolerance = number(&file["unit_length_tolerance"]);
    let mut ran = 0;
    for case in list(&file, "factors") {
        let rotation = Rotation { cos: number(&case["cos"]), sin: number(&case["sin"]) };
        let length = rotation.cos.hypot(rotation.sin);
        assert!((length - 1.0).abs() <= unit_length_tolerance, "{}", case["name"]);
        assert_eq!(rotation.apply(1.0, 0.0), (rotation.cos, -rotation.sin), "{}", case["name"]);
        assert_eq!(rotation.apply(0.0, 1.0), (rotation.sin, rotation.cos), "{}", case["name"]);
        ran += 1;
    }
    for case in list(&file, "winds") {
        let of = |key: &str| number(&case[key]);
        let (name, tolerance) = (text(case, "name"), of("tolerance"));
        let wanted = [of("u_true"), of("v_true")];
        let (u, v) = Rotation { cos: of("cos"), sin: of("sin") }.apply(of("u"), of("v"));
        assert_close(&[u, v], &wanted, tolerance, name);
        let (mut u, mut v) = ([of("u")], [of("v")]);
        rotate_field(&[of("cos")], &[of("sin")], &mut u, &mut v).unwrap();
        assert_close(&[u[0], v[0]], &wanted, tolerance, name);
        ran += 1;
    }
    assert_count(ran, &file);
}

/// Returns a derived value: the scalar, and the slice form for one place with NaN for no value.
fn derived_value(function: &str, inputs: &[f64]) -> (Option<f64>, f64) {
    let mut out = [0.0];
    macro_rules! call {
        ($scalar:ident, $slices:ident, $($input:ident),+) => {{
            let [$($input),+] = *inputs else { panic!("{function}: {inputs:?}") };
            $slices($(&[$input],)+ &mut out).unwrap();
            $scalar($($input),+)
        }};
    }
    let value = match function {
        "dew_point_c" => call!(dew_point_c, dew_point_c_into, a, b),
        "heat_index_c" => call!(heat_index_c, heat_index_c_into, a, b),
        "heat_index_f" => call!(heat_index_f, heat_index_f_into, a, b),
        "humidex" => call!(humidex, humidex_into, a, b),
        "mean_sea_level_pressure_hpa" => {
            call!(mean_sea_level_pressure_hpa, mean_sea_level_pressure_hpa_into, a, b, c)
        }
        "relative_humidity_pct" => call!(relative_humidity_pct, relative_humidity_pct_into, a, b),
        "station_pressure_hpa" => call!(station_pressure_hpa, station_pressure_hpa_into, a, b),
        "stull_wet_bulb_c" => call!(stull_wet_bulb_c, stull_wet_bulb_c_into, a, b),
        "wet_bulb_c" => call!(wet_bulb_c, wet_bulb_c_into, a, b, c),
        "wind_at_10m" => call!(wind_at_10m, wind_at_10m_into, a, b, c),
        "wind_chill_c" => call!(wind_chill_c, wind_chill_c_into, a, b),
        "wind_chill_f" => call!(wind_chill_f, wind_chill_f_into, a, b),
        _ => panic!("unknown function {function}"),
    };
    (value, out[0])
}

#[test]
fn derived() {
    let file = vectors("derived.json");
    let mut ran = 0;
    for case in list(&file, "derived") {
        let (value, of_slice) = derived_value(text(case, "function"), &all(case, "inputs", number));
        let (name, wanted) = (case.to_string(), number(&case["expected"]));
        assert_eq!(value.is_none(), wanted.is_nan(), "{name}: got {value:?}");
        let value = value.unwrap_or(f64::NAN);
        assert_eq!(of_slice.to_bits(), value.to_bits(), "{name}: the slice form");
        match case["decimals"].as_i64() {
            Some(decimals) => {
                let power = 10_f64.powi(decimals as i32);
                assert_close(&[(value * power).round() / power], &[wanted], 0.0, &name);
            }
            None => assert_close(&[value], &[wanted], number(&case["tolerance"]), &name),
        }
        ran += 1;
    }
    assert_count(ran, &file);
}
