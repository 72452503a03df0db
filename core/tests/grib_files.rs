//! Compares real files of six producers with what ecCodes reads from them: `tests/data/grib`.
//!
//! `GRIB_FILES=FOLDER` does the same with another folder of files (`.grib2`, plain or gzip) that
//! has its own `eccodes.json`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use mesonet::{Iso8601, grib};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    parameter: String,
    rows: usize,
    columns: usize,
    missing: usize,
    min: f64,
    max: f64,
    mean: f64,
    /// Row, column and value; null if it is missing.
    points: Vec<(usize, usize, Option<f64>)>,
    /// As yyyyMMddHHmm.
    validity: String,
}

fn folder() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/grib");
    std::env::var_os("GRIB_FILES").map_or(own, PathBuf::from)
}

fn read(name: &str) -> Vec<u8> {
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server-example/sample");
    let places = [folder(), sample].map(|folder| folder.join(name));
    let gzipped = |path: &PathBuf| path.with_file_name(format!("{name}.gz"));
    if let Some(plain) = places.iter().find(|path| path.is_file()) {
        return fs::read(plain).unwrap();
    }
    let packed = places.iter().map(gzipped).find(|path| path.is_file()).expect(name);
    let mut bytes = Vec::new();
    MultiGzDecoder::new(fs::File::open(packed).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn every_field_of_every_file_is_what_eccodes_reads() {
    let golden = fs::read_to_string(folder().join("eccodes.json")).unwrap();
    let golden: BTreeMap<String, Vec<Golden>> = serde_json::from_str(&golden).unwrap();
    let mut compared = 0;
    for (name, fields) in &golden {
        let bytes = read(name);
        let read: Vec<_> = grib::fields(&bytes).collect();
        assert_eq!(read.len(), fields.len(), "{name}");
        for (index, (field, golden)) in read.iter().zip(fields).enumerate() {
            let label = format!("{name}, field {index}");
            let field = field.as_ref().expect(&label);
            assert_eq!(field.parameter().unwrap().to_string(), golden.parameter, "{label}");
            let valid = Iso8601(field.product().unwrap().valid_ms).to_string();
            let digits: String = valid.chars().filter(char::is_ascii_digit).take(12).collect();
            assert_eq!(digits, golden.validity, "{label}");
            let grid = match field.grid() {
                Ok(grid) => grid,
                Err(error) => {
                    assert!(error.to_string().contains("grid template 32769"), "{label}: {error}");
                    continue;
                }
            };
            assert_eq!((grid.rows(), grid.columns()), (golden.rows, golden.columns), "{label}");
            let values = field.values(grib::MAX_POINTS).expect(&label);
            check(&label, golden, &values);
            compared += 1;
        }
    }
    println!("{compared} fields of {} files", golden.len());
    let whole = std::env::var_os("GRIB_FILES").is_none();
    assert!(!whole || (compared, golden.len()) == (18, 10), "{compared} of {}", golden.len());
}

/// Compares the values of a field with those of ecCodes, within the last bits of `f32`.
fn check(label: &str, golden: &Golden, values: &[f32]) {
    // ecCodes does not know the numbers that a producer uses for "nothing here".
    let sentinel = |value: f64| match &*golden.parameter {
        "161:209.3.57" => value == -999.0 || value == -99.0,
        "54:0.7.6" => (value + 1.0).abs() < 1e-6,
        _ => false,
    };
    let close =
        |got: f64, expected: f64| (got - expected).abs() <= 1e-7 * expected.abs().max(1e-30);
    for &(row, column, expected) in &golden.points {
        let got = values[row * golden.columns + column];
        match expected.filter(|&value| !sentinel(value)) {
            None => assert!(got.is_nan(), "{label}: {got} at {row}, {column}"),
            Some(expected) => assert!(
                close(got.into(), expected),
                "{label}: {got} for {expected} at {row}, {column}"
            ),
        }
    }
    let known: Vec<f64> = values.iter().filter(|v| !v.is_nan()).map(|&v| v.into()).collect();
    let max = known.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    assert!(close(max, golden.max), "{label}: {max} for {}", golden.max);
    if sentinel(golden.min) {
        assert!(values.len() - known.len() > golden.missing, "{label}");
        return;
    }
    let min = known.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    assert_eq!(values.len() - known.len(), golden.missing, "{label}");
    assert!(close(min, golden.min), "{label}: {min} for {}", golden.min);
    let span = golden.min.abs().max(golden.max.abs()).max(1e-9);
    assert!((mean - golden.mean).abs() <= 1e-6 * span, "{label}: {mean} for {}", golden.mean);
}
