//! A store made from real fields: its bytes, and its values compared with those that ecCodes reads.
//!
//! `tests/data/model_grids/store` holds what is written here, for other programs to open.
//! `MESONET_WRITE_STORE=1` rewrites it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use mesonet::grid::{Encoding, NativeGrid};
use mesonet::model::{ProductDefinition, RunDefinition, RunStamp};
use mesonet::time::HOUR_MS;
use mesonet::{grib, model};
use serde::Deserialize;

const FILE: &str = "nam211_20180917T00Z_f000.grib2";
const RUN: &str = "20180917T000000Z";

#[derive(Deserialize)]
struct Golden {
    points: Vec<(usize, usize, Option<f64>)>,
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data")
}

fn product(
    name: &str,
    unit: &str,
    levels_hpa: &[f64],
    scale: f64,
    offset: f64,
) -> ProductDefinition {
    ProductDefinition {
        name: name.to_owned(),
        unit: unit.to_owned(),
        levels_hpa: (!levels_hpa.is_empty()).then(|| levels_hpa.to_vec()),
        member: None,
        attributes: BTreeMap::new(),
        encoding: Encoding::new(scale, offset, i16::MIN).unwrap(),
    }
}

/// Writes sea-level pressure, and winds at two levels, for the first of two hours.
fn write(store: &model::RunStore) {
    let mut bytes = Vec::new();
    let packed = fs::File::open(data().join("grib").join(format!("{FILE}.gz"))).unwrap();
    GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    let fields: Vec<_> = grib::fields(&bytes).map(Result::unwrap).collect();
    let run_ms = fields[0].reference_ms().unwrap();
    let definition = RunDefinition {
        model: "nam211".to_owned(),
        run: RunStamp::from_ms(run_ms).unwrap(),
        grid: *NativeGrid::try_from(&fields[0].grid().unwrap()).unwrap().definition(),
        valid_ms: vec![run_ms, run_ms + 3 * HOUR_MS],
        products: vec![
            product("prmsl", "Pa", &[], 0.1, 101_000.0),
            product("u", "m/s", &[150.0, 100.0], 0.01, 0.0),
            product("v", "m/s", &[150.0, 100.0], 0.01, 0.0),
        ],
    };
    let mut writer = store.write_run(definition.clone()).unwrap();
    // Fields in the order of the file; the upper level of the winds comes before the lower one.
    for (product, numbers) in definition.products.iter().zip([&[0][..], &[5, 3], &[6, 4]]) {
        let raw: Vec<i16> = numbers
            .iter()
            .flat_map(|&number| fields[number].values(grib::MAX_POINTS).unwrap())
            .map(|value| product.encoding.encode(value.into()))
            .collect();
        writer.write(0, &product.name, &raw).unwrap();
    }
    writer.publish(&[0], run_ms + 2 * HOUR_MS).unwrap();
}

/// Returns the files below a folder by their relative names.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|extension| extension != "lock") {
                files
                    .insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(path).unwrap());
            }
        }
    }
    files
}

#[test]
fn the_store_that_others_open_is_the_one_that_is_written() {
    let kept = data().join("model_grids/store");
    let folder = tempfile::tempdir().unwrap();
    write(&model::RunStore::new(folder.path()));
    if std::env::var_os("MESONET_WRITE_STORE").is_some() {
        for (name, bytes) in files(folder.path()) {
            let path = kept.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
    }
    let (written, kept) = (files(folder.path()), files(&kept));
    assert_eq!(written.len(), 18);
    assert!(written.keys().eq(kept.keys()), "{:?}", kept.keys());
    for (name, bytes) in &written {
        let document = |bytes| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
        if name.ends_with("zarr.json") {
            // The order of the names in it does not matter.
            assert_eq!(document(bytes), document(&kept[name]), "{}", name.display());
        } else {
            assert!(*bytes == kept[name], "{}", name.display());
        }
    }
}

#[test]
fn values_are_those_that_eccodes_reads() {
    let golden = fs::read_to_string(data().join("grib/eccodes.json")).unwrap();
    let mut golden: BTreeMap<String, serde_json::Value> = serde_json::from_str(&golden).unwrap();
    let golden: Vec<Golden> = serde_json::from_value(golden.remove(FILE).unwrap()).unwrap();
    let store = model::RunStore::new(data().join("model_grids/store"));
    let run = store.run("nam211", RUN.parse().unwrap()).unwrap();
    assert_eq!(run.verify(), []);
    let mut compared = 0;
    for (field, product, level) in
        [(0, "prmsl", 0), (5, "u", 0), (6, "v", 0), (3, "u", 1), (4, "v", 1)]
    {
        let product = run.product(product).unwrap();
        let half = product.definition().encoding.scale() / 2.0;
        for &(row, column, wanted) in &golden[field].points {
            let got = product.value(0, level, row, column).unwrap().unwrap();
            assert!((got - wanted.unwrap()).abs() <= half * 1.001, "{field} {row} {column}: {got}");
            compared += 1;
        }
    }
    assert_eq!(compared, 30);
}
