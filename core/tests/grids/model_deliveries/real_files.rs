//! Whole files, compared with what ecCodes and NCEP's library read from them.

use std::collections::BTreeMap;

use mesonet::model::RunStamp;
use mesonet::time::HOUR_MS;
use mesonet::{grib, model};
use serde::Deserialize;
use tempfile::TempDir;

use super::support::{NOW_MS, deliver, grib, new_store, sample};

const NAM: &str = "nam211_20180917T00Z_f000_181msg.grib2";
const SAFRICA: &str = "safrica_ps_20100308T12Z_25hours.grib2";

#[derive(Deserialize)]
struct Golden {
    nam211_point: BTreeMap<String, serde_json::Value>,
    safrica_series: GoldenSeries,
}

#[derive(Deserialize)]
struct GoldenSeries {
    run: RunStamp,
    row: usize,
    col: usize,
    hours: Vec<i64>,
    values: Vec<f64>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("../../../../tests/data/model_grids/golden_runs.json"))
        .unwrap()
}

/// Makes a run of the catalogue that ships from one file.
fn run_of(model: &str, file: &[u8]) -> (TempDir, model::Run, model::DeliveryReport) {
    let (folder, store) = new_store();
    let catalogue = model::Catalogue::default();
    let report = deliver(catalogue.get(model).unwrap(), &store, &[file], 0);
    let run = store.newest_run(model).unwrap();
    (folder, run, report)
}

#[track_caller]
fn near(got: f64, wanted: f64, tolerance: f64) {
    assert!((got - wanted).abs() <= tolerance, "{got}, not {wanted}");
}

#[test]
fn the_column_and_the_surface_of_a_cell_are_those_that_eccodes_reads() {
    let (_folder, run, report) = run_of("nam211", &sample(NAM));
    assert_eq!((report.fields, report.used, report.other_fields), (181, 138, 43));
    assert_eq!((report.refused, report.replaced, report.there_already), (0, 0, 0));
    assert_eq!((report.files, report.unused_files.len()), (1, 0));
    let [written] = &*report.runs else { panic!("{report:?}") };
    assert_eq!((written.run.to_string().as_str(), &*written.hours), ("20180917T000000Z", &[0][..]));
    assert!(run.is_complete() && run.published()[0].published_ms == NOW_MS);

    let golden = golden().nam211_point;
    let index = |name: &str| golden[name].as_u64().unwrap() as usize;
    let (row, column) = (index("row"), index("col"));
    let levels: Vec<f64> = serde_json::from_value(golden["levels_hpa"].clone()).unwrap();
    let wanted = |name: &str| -> Vec<f64> { serde_json::from_value(golden[name].clone()).unwrap() };
    let column_of = |name: &str| {
        let product = run.product(name).unwrap();
        assert_eq!(product.definition().levels_hpa.as_deref(), Some(&*levels));
        let mut values = vec![0.0; levels.len()];
        product.column_into(0, row, column, &mut values).unwrap();
        (values, product.definition().encoding.scale() / 2.0 * 1.001)
    };
    for (name, of_golden) in [
        ("temperature", "t"),
        ("u_wind", "u"),
        ("v_wind", "v"),
        ("geopotential_height", "gh"),
        ("relative_humidity", "r"),
    ] {
        let (values, half) = column_of(name);
        assert_eq!(values.len(), 19);
        for (got, wanted) in values.into_iter().zip(wanted(of_golden)) {
            near(got, wanted, half);
        }
    }
    for (name, of_golden) in [
        ("temperature_2m", "t2"),
        ("u_wind_10m", "u10"),
        ("v_wind_10m", "v10"),
        ("pressure_msl", "prmsl"),
    ] {
        let product = run.product(name).unwrap();
        let half = product.definition().encoding.scale() / 2.0 * 1.001;
        let got = product.value(0, 0, row, column).unwrap().unwrap();
        near(got, golden[of_golden].as_f64().unwrap(), half);
    }
    // Earth-relative winds: half a step of each component, turned.
    let rotation = run.grid().wind_rotation(row, column).unwrap();
    near(rotation.cos, golden["wind_rotation"]["cos"].as_f64().unwrap(), 1e-9);
    near(rotation.sin, golden["wind_rotation"]["sin"].as_f64().unwrap(), 1e-9);
    let ((u, half), (v, _)) = (column_of("u_wind"), column_of("v_wind"));
    let (u_true, v_true) = (wanted("u_true"), wanted("v_true"));
    for level in 0..19 {
        let (east, north) = rotation.apply(u[level], v[level]);
        near(east, u_true[level], 1.5 * half);
        near(north, v_true[level], 1.5 * half);
    }
}

#[test]
fn the_series_of_a_cell_is_the_one_that_eccodes_reads() {
    let (_folder, run, report) = run_of("safrica", &sample(SAFRICA));
    assert_eq!((report.fields, report.used, report.other_fields), (75, 50, 25));
    assert_eq!(report.runs[0].hours, (0..25).collect::<Vec<_>>());
    let GoldenSeries { run: stamp, row, col, hours, values } = golden().safrica_series;
    assert_eq!(run.definition().run, stamp);
    let valid: Vec<i64> = hours.iter().map(|hour| stamp.start_ms() + hour * HOUR_MS).collect();
    assert_eq!(run.definition().valid_ms, valid);
    let product = run.product("precipitable_water").unwrap();
    let mut series = vec![0.0; 25];
    product.series_into(0..25, 0, row, col, &mut series).unwrap();
    for (got, wanted) in series.into_iter().zip(values) {
        near(got, wanted, 0.005 * 1.001);
    }
    // The values of the cell whose factors of the southern pole are known.
    for (row, column, cos, sin) in [
        (0, 0, 0.633_237_697_557_895_5, 0.773_957_375_048_248_6),
        (70, 105, 0.999_994_825_239_950_8, -0.003_217_062_840_582_203),
    ] {
        let rotation = run.grid().wind_rotation(row, column).unwrap();
        near(rotation.cos, cos, 1e-9);
        near(rotation.sin, sin, 1e-9);
    }
}

/// Every value of every field that belongs to a product is within half a step of the unpacked
/// value, and missing if that is missing.
#[test]
fn packing_moves_no_value_by_more_than_half_a_step() {
    let catalogue = model::Catalogue::default();
    let mut compared = 0;
    for (model, name) in [("nam211", NAM), ("safrica", SAFRICA)] {
        let bytes = sample(name);
        let (_folder, run, report) = run_of(model, &bytes);
        let definition = run.definition();
        let (rows, columns) = (definition.grid.rows, definition.grid.columns);
        for field in grib::fields(&bytes).map(Result::unwrap) {
            let (parameter, of) = (field.parameter().unwrap(), field.product().unwrap());
            let products = catalogue.get(model).unwrap().products().iter();
            let reference_ms = field.reference_ms().unwrap();
            for source in products.filter(|one| one.is_of(parameter, &of, reference_ms)) {
                let product = run.product(source.name()).unwrap();
                let hour = definition.valid_ms.binary_search(&of.valid_ms).unwrap();
                let hpa = of.level.value.map(|pa| pa / 100.0);
                let level = product.definition().levels_hpa.as_ref().map_or(0, |levels| {
                    levels.iter().position(|level| Some(*level) == hpa).unwrap()
                });
                let mut raw = vec![0; rows * columns];
                product.part_into(hour, level, 0..rows, 0..columns, &mut raw).unwrap();
                let encoding = product.definition().encoding;
                for (raw, value) in raw.into_iter().zip(field.values(grib::MAX_POINTS).unwrap()) {
                    let got = encoding.decode(raw);
                    assert_eq!(got.is_nan(), value.is_nan(), "{}", source.name());
                    if !value.is_nan() {
                        near(got, value.into(), encoding.scale() / 2.0 * 1.0001);
                    }
                }
                compared += 1;
            }
        }
        for product in &report.runs[0].products {
            assert_eq!(product.missing_levels, 0, "{product:?}");
            assert!(product.packing_error <= product.half_step * 1.0001, "{product:?}");
        }
        let moved = |product: &&model::WrittenProduct| product.packing_error > 0.0;
        assert!(report.runs[0].products.iter().filter(moved).count() >= 2);
        assert_eq!(run.verify(), []);
    }
    assert_eq!(compared, 138 + 50);
}

/// The steps that a message states for a rotated grid are rounded; its ends are what counts.
#[test]
fn a_rotated_grid_ends_where_its_message_says() {
    let bytes = grib("hrdps_20260219T00Z_f000_cape");
    let field = grib::fields(&bytes).next().unwrap().unwrap();
    let grid = mesonet::grid::NativeGrid::try_from(&field.grid().unwrap()).unwrap();
    for (row, column, lat, lon, cos, sin) in [
        (0, 0, 39.626_033_829_665, -133.629_519_519_369, 0.963_311_498_455, -0.268_385_835_959),
        (1289, 0, 66.568_540_881_139, -152.730_666_071_147, 0.854_260_878_715, -0.519_844_545_126),
        (
            1000,
            500,
            63.907_061_653_001,
            -122.707_083_128_856,
            0.993_429_529_706,
            -0.114_445_487_056,
        ),
    ] {
        let position = grid.position(row, column).unwrap();
        near(position.lat(), lat, 1e-9);
        near(position.lon(), lon, 1e-9);
        let rotation = grid.wind_rotation(row, column).unwrap();
        near(rotation.cos, cos, 1e-9);
        near(rotation.sin, sin, 1e-9);
    }
}

#[test]
fn each_field_is_the_same_as_a_message_of_its_own() {
    let files = [
        sample(NAM),
        grib("arome_20260413T21Z_f001_tcdc_ccsds"),
        grib("safrica_20100308T12Z_f000_ps"),
    ];
    let mut fields = 0;
    for field in files.iter().flat_map(|bytes| grib::fields(bytes)).map(Result::unwrap) {
        let message = field.to_message();
        let mut alone = grib::fields(&message);
        let own = alone.next().unwrap().unwrap();
        assert_eq!(alone.next(), None);
        assert_eq!(own.parameter(), field.parameter());
        assert_eq!(own.product(), field.product());
        assert_eq!(own.grid(), field.grid());
        let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
        let values = own.values(grib::MAX_POINTS).map(bits);
        assert_eq!(values, field.values(grib::MAX_POINTS).map(bits));
        fields += 1;
    }
    assert_eq!(fields, 181 + 1 + 3);
}
