//! Deliveries in any steps: a file a level, a variable or an hour, in any order.

use mesonet::{grib, model};

use super::messages::{message, octet, own};
use super::support::{deliver, grib, new_store};

/// The fields of the deliveries, each a file: levels of the wind, pressure and gust, at some hours.
fn files() -> Vec<Vec<u8>> {
    let fields = [(3, 0), (5, 0), (0, 0), (1, 0), (3, 1), (5, 1), (0, 1), (3, 2), (0, 3), (1, 3)];
    fields.map(|(number, hour)| message(number, hour, 0)).into()
}

/// Returns the files in an order of their own for each seed.
fn shuffled(seed: u64) -> Vec<Vec<u8>> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut files: Vec<(u64, Vec<u8>)> = files()
        .into_iter()
        .map(|file| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state, file)
        })
        .collect();
    files.sort();
    files.into_iter().map(|(_, file)| file).collect()
}

/// Everything that a run shows.
fn content(run: &model::Run) -> Vec<(String, usize, usize, Vec<i16>)> {
    let definition = run.definition();
    let grid = definition.grid;
    let mut content = Vec::new();
    for product in &definition.products {
        for hour in run.published().iter().map(|published| published.hour) {
            for level in 0..product.levels() {
                let mut plane = vec![0; grid.rows * grid.columns];
                let of = run.product(&product.name).unwrap();
                of.part_into(hour, level, 0..grid.rows, 0..grid.columns, &mut plane).unwrap();
                content.push((product.name.clone(), hour, level, plane));
            }
        }
    }
    content
}

#[test]
fn in_whatever_order_fields_arrive_the_run_is_the_same() {
    let catalogue = own();
    for model in ["stated", "open"] {
        let source = catalogue.get(model).unwrap();
        let (_folder, all) = new_store();
        let files = files();
        let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
        assert_eq!(deliver(source, &all, &files, 1).used, 10);
        let all = all.newest_run(model).unwrap();
        for seed in 1..6 {
            let (_folder, store) = new_store();
            for file in shuffled(seed) {
                let report = deliver(source, &store, &[&file], 1);
                assert_eq!((report.used, report.refused, report.is_whole()), (1, 0, true));
                // Readers see whole fields only, at every step.
                let run = store.newest_run(model).unwrap();
                assert_eq!(run.verify(), []);
                let found = store.check_run(model, run.definition().run).unwrap();
                assert_eq!((found.faults, found.surplus), (vec![], vec![]));
            }
            let run = store.newest_run(model).unwrap();
            assert_eq!((run.definition(), run.published()), (all.definition(), all.published()));
            assert!(content(&run) == content(&all), "{model} {seed}");
        }
    }
}

fn automatic() -> model::Catalogue {
    let product = |name: &str, parameter: &str, level: &str| {
        format!(
            "{{ name = \"{name}\", unit = \"1\", packing = \"auto\", parameter = \"{parameter}\", \
             level = \"{level}\" }},"
        )
    };
    let products = product("pressure", "7:0.3.1", "101") + &product("wind", "7:0.2.2", "100");
    let text = format!("[auto]\ntitle = \"a\"\nproducts = [{products}]");
    model::Catalogue::from_toml(&text).unwrap()
}

/// The packing is that of the message, if its integers fit 16 bits.
#[test]
fn a_packing_that_is_chosen_changes_no_value_that_fits_it() {
    let ((_folder, store), catalogue) = (new_store(), automatic());
    let source = catalogue.get("auto").unwrap();
    let file = grib("nam211_20180917T00Z_f000");
    let report = deliver(source, &store, &[&file], 1);
    assert_eq!((report.used, report.refused), (3, 0));
    let run = store.newest_run("auto").unwrap();
    for field in grib::fields(&file).map(Result::unwrap) {
        let (parameter, product) = (field.parameter().unwrap(), field.product().unwrap());
        let (name, level) = match (parameter.to_string().as_str(), product.level.value) {
            ("7:0.3.1", _) => ("pressure", 0),
            ("7:0.2.2", Some(pa)) => ("wind", usize::from(pa < 12_500.0)),
            _ => continue,
        };
        let of = run.product(name).unwrap();
        for (cell, value) in field.values(grib::MAX_POINTS).unwrap().into_iter().enumerate() {
            let got = of.value(0, level, cell / 93, cell % 93).unwrap().unwrap();
            if name == "pressure" {
                assert_eq!((got as f32).to_bits(), value.to_bits(), "{cell}: {got}, not {value}");
            }
            // Its levels have steps of their own.
            let half_step = of.definition().encoding.scale() / 2.0;
            let error = (got - f64::from(value)).abs();
            assert!(error <= half_step * 1.001, "{name} {cell}: {got}, not {value}");
            assert!(name == "pressure" || half_step < 0.0025, "{half_step}");
        }
    }
}

fn pressure(run: &model::Run, hour: usize, cell: usize) -> f64 {
    run.product("pressure").unwrap().value(hour, 0, cell, cell).unwrap().unwrap()
}

/// Values that come later and do not fit make the steps larger; what was there stays, within them.
#[test]
fn a_packing_that_is_chosen_grows_with_what_arrives() {
    let ((_folder, store), catalogue) = (new_store(), automatic());
    let source = catalogue.get("auto").unwrap();
    deliver(source, &store, &[&message(0, 0, 0)], 1);
    let before = store.newest_run("auto").unwrap();
    let was: Vec<f64> = (0..60).map(|cell| pressure(&before, 0, cell)).collect();
    // Ten to the power of one less: ten times the pressure.
    let mut high = message(0, 1, 0);
    let decimal = i16::from_be_bytes([*octet(&mut high, 5, 18), *octet(&mut high, 5, 19)]) - 1;
    // A negative number has its sign in the first bit.
    let bytes = if decimal < 0 { decimal.unsigned_abs() | 0x8000 } else { decimal as u16 };
    for (at, byte) in (18..).zip(bytes.to_be_bytes()) {
        *octet(&mut high, 5, at) = byte;
    }
    let report = deliver(source, &store, &[&high], 2);
    assert_eq!((report.used, report.refused), (1, 0), "{report:?}");
    let after = store.newest_run("auto").unwrap();
    let steps = |run: &model::Run| run.product("pressure").unwrap().definition().encoding.scale();
    assert!(steps(&after) > steps(&before));
    for cell in 0..60 {
        let (was, is) = (was[cell], pressure(&after, 0, cell));
        assert!((was - is).abs() <= steps(&after) * 0.501, "{was} {is}");
        let later = pressure(&after, 1, cell);
        assert!(
            (later - 10.0 * was).abs() <= steps(&after) * 0.6,
            "{later} {was} {}",
            steps(&after)
        );
    }
}
