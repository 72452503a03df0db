//! Compares real files of six producers with what ecCodes reads from them: `tests/data/grib`.
//!
//! `GRIB_FILES=FOLDER` does the same with another folder of files (`.grib2`, plain or gzip) that
//! has its own `eccodes.json`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use mesonet::grid::NativeGrid;
use mesonet::{Iso8601, LonLat, grib};
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
            let grid = field.grid().expect(&label);
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

#[derive(Deserialize)]
struct GoldenGrid {
    /// Index in the message, value, latitude and longitude.
    points: Vec<(usize, f64, f64, f64)>,
}

/// Gaussian grids, ellipsoids, rotated globes and IEEE numbers: values and places as ecCodes, pyproj
/// and NCAR's formulas have them (`grids/SOURCES.md`).
#[test]
fn the_points_of_every_kind_of_grid_are_where_others_have_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/grib/grids");
    let golden = fs::read_to_string(folder.join("golden.json")).unwrap();
    let golden: BTreeMap<String, GoldenGrid> = serde_json::from_str(&golden).unwrap();
    let mut compared = 0;
    for (name, GoldenGrid { points }) in &golden {
        let bytes = fs::read(folder.join(format!("{name}.grib2"))).unwrap();
        let field = grib::fields(&bytes).next().unwrap().unwrap();
        let grid = field.grid().unwrap();
        let native = NativeGrid::try_from(&grid).expect(name);
        let values = field.values(grib::MAX_POINTS).expect(name);
        for &(index, value, lat, lon) in points {
            let at = LonLat::new(if lon > 180.0 { lon - 360.0 } else { lon }, lat).unwrap();
            let (row, column) = native.nearest(at).expect(name);
            let got = f64::from(values[row * native.columns() + column]);
            assert!((got - value).abs() <= 6e-8 * value.abs(), "{name}: {got} for {value}");
            compared += 1;
            if grid.is_reduced() {
                continue;
            }
            assert_eq!(row * native.columns() + column, index, "{name}");
            let apart_m = native.position(row, column).unwrap().distance_km(at) * 1000.0;
            assert!(apart_m < 1e-3, "{name}: {apart_m} m apart at {lat}, {lon}");
        }
    }
    assert_eq!((golden.len(), compared), (15, 120));
}

#[test]
fn what_is_not_supported_is_refused_by_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/grib/grids");
    let refusal = |name: &str| {
        let bytes = fs::read(folder.join(name)).unwrap();
        let first = grib::fields(&bytes).next().unwrap();
        let values = first.and_then(|field| field.values(grib::MAX_POINTS).map(drop));
        values.unwrap_err().to_string()
    };
    assert_eq!(refusal("refused_edition_1.grib"), "unsupported GRIB edition 1: it must be 2");
    let start = "unsupported grid template (unstructured, as the icosahedral grid of ICON) 101;";
    assert!(refusal("refused_icosahedral_icon.grib2").starts_with(start));
    let start = "unsupported packing template (logarithms) 61; supported: 0 (simple)";
    assert!(refusal("refused_logarithms.grib2").starts_with(start));
    assert_eq!(
        refusal("refused_constant_with_decimal_scale.grib2"),
        "a constant field whose value is 7 or, by its decimal scale, 0.07: its producer may mean \
         either"
    );
}

/// Compares the values of a field with those of ecCodes, within the last bits of `f32`.
fn check(label: &str, golden: &Golden, values: &[f32]) {
    // ecCodes does not know the numbers that a producer uses for "nothing here".
    let sentinel = |value: f64| match &*golden.parameter {
        "161:209.3.57" => value == -999.0,
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
