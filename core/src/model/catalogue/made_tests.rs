use std::io::Read;

use super::*;
use crate::grib;
use crate::model::Catalogue;

fn read(name: &str) -> Vec<u8> {
    let path = format!("{}/../tests/data/grib/{name}", env!("CARGO_MANIFEST_DIR"));
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

#[test]
fn every_field_of_real_files_is_taken_by_the_source_that_is_made_from_them() {
    for name in [
        "nam211_20180917T00Z_f000.grib2.gz",
        "hrrr_20240101T00Z_f000_refc.grib2.gz",
        "ndfd_20231102T11Z_minrh_scan80.grib2.gz",
        "arome_20260413T21Z_f001_tcdc_ccsds.grib2.gz",
    ] {
        let bytes = read(name);
        let mut made = MadeSource::default();
        for field in grib::fields(&bytes) {
            made.add(&field.unwrap()).unwrap();
        }
        assert_eq!(made.elsewhere(), 0);
        let text = made.toml("own").unwrap();
        let catalogue = Catalogue::from_toml(&text).expect(&text);
        let source = catalogue.get("own").unwrap();
        for field in grib::fields(&bytes).flatten() {
            let (parameter, product) = (field.parameter().unwrap(), field.product().unwrap());
            let run = field.reference_ms().unwrap();
            let taker = |of: &&crate::model::SourceProduct| of.is_of(parameter, &product, run);
            let takers = source.products().iter().filter(taker).count();
            assert_eq!(takers, 1, "{name}: {parameter}\n{text}");
        }
    }
}

#[test]
fn names_say_the_level_the_statistic_and_the_kind() {
    let bytes = read("nam211_20180917T00Z_f000.grib2.gz");
    let mut made = MadeSource::default();
    grib::fields(&bytes).for_each(|field| made.add(&field.unwrap()).unwrap());
    let names: Vec<_> = made.products.iter().map(MadeProduct::name).collect();
    assert_eq!(names, ["prmsl_msl", "gust_surface", "hgt", "ugrd", "vgrd"]);
    assert!(made.toml("own").unwrap().contains("winds = [[\"ugrd\", \"vgrd\"]]"));
    let other = read("hrrr_20240101T00Z_f000_refc.grib2.gz");
    made.add(&grib::fields(&other).next().unwrap().unwrap()).unwrap();
    assert_eq!(made.elsewhere(), 1);
    assert_eq!(MadeSource::default().toml("own"), None);
}

/// The fields of a file that was once read wrongly: `tests/data/reported/grib`.
fn reported(name: &str) -> Vec<u8> {
    let path = format!("{}/../tests/data/reported/grib/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).unwrap()
}

/// The products that a source made from files has for each of their fields.
fn takers(bytes: &[u8]) -> (Vec<Vec<String>>, String) {
    let mut made = MadeSource::default();
    grib::fields(bytes).for_each(|field| made.add(&field.unwrap()).unwrap());
    let text = made.toml("own").unwrap();
    let catalogue = Catalogue::from_toml(&text).expect(&text);
    let products = catalogue.get("own").unwrap().products();
    let of_field = |field: Field<'_>| {
        let (parameter, product) = (field.parameter().unwrap(), field.product().unwrap());
        let run = field.reference_ms().unwrap();
        let taken = products.iter().filter(|of| of.is_of(parameter, &product, run));
        taken.map(|of| of.name().to_owned()).collect()
    };
    (grib::fields(bytes).flatten().map(of_field).collect(), text)
}

#[test]
fn fields_that_are_told_apart_have_products_of_their_own() {
    for name in [
        "std_only_and_mean.grib2",
        "std_and_rms.grib2",
        "depth_then_layer.grib2",
        "surface_two_values.grib2",
    ] {
        let (takers, text) = takers(&reported(name));
        assert!(
            takers.len() > 1 && takers.iter().all(|of| of.len() == 1),
            "{name}: {takers:?}\n{text}"
        );
        let mut names = takers.concat();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), takers.len(), "{name}\n{text}");
        assert!(!text.contains("\"any\""), "{text}");
        for product in text.lines().filter(|line| line.contains("parameter =")) {
            for key in ["level = ", "second_level = ", "field = ", "process = ", "rest = "] {
                assert!(product.contains(key), "{key} in {product}");
            }
        }
    }
}

#[test]
fn what_is_stored_of_reported_files_is_every_field() {
    for name in [
        "std_only_and_mean.grib2",
        "std_and_rms.grib2",
        "depth_then_layer.grib2",
        "surface_two_values.grib2",
        "latlon_two_shapes.grib2",
    ] {
        let bytes = reported(name);
        let mut made = MadeSource::default();
        grib::fields(&bytes).for_each(|field| made.add(&field.unwrap()).unwrap());
        assert_eq!(made.elsewhere(), 0, "{name}: places decide, not what else is said of the grid");
        let catalogue = Catalogue::from_toml(&made.toml("own").unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = crate::model::RunStore::new(folder.path());
        let source = catalogue.get("own").unwrap();
        let mut delivery = crate::model::Delivery::in_memory(source, &store);
        delivery.add(name, &bytes);
        let report = delivery.write(i64::MAX / 2, || ());
        assert!(report.is_whole(), "{name}: {report:?}");
        let lost = (report.other_fields, report.replaced, report.refused);
        assert_eq!((report.used, lost), (report.fields, (0, 0, 0)), "{name}");
    }
}

/// A message with one octet of its section 4 changed, and whether that octet moves a field within
/// its product: its time, or the pressure of its level.
fn with_octet(message: &[u8], octet: usize, value: u8) -> Vec<u8> {
    let mut at = 16;
    while message[at + 4] != 4 {
        at += u32::from_be_bytes(message[at..at + 4].try_into().unwrap()) as usize;
    }
    let mut changed = message.to_vec();
    changed[at + octet - 1] = value;
    changed
}

/// Whether a bit belongs to a number that can be written in two ways, -0 or 60 minutes.
fn is_notation(octet: usize, bit: usize) -> bool {
    matches!(octet, 18..=22 | 49..=53) || bit == 7 && matches!(octet, 24 | 25 | 30 | 31)
}

#[test]
fn no_two_fields_that_differ_in_one_octet_of_their_definition_share_a_product() {
    let mut pairs = 0;
    for name in ["std_and_rms.grib2", "depth_then_layer.grib2", "surface_two_values.grib2"] {
        let bytes = reported(name);
        let message = grib::fields(&bytes).next().unwrap().unwrap().to_message();
        let section = message.len();
        for octet in (6..section.min(60)).filter(|octet| !matches!(octet, 8 | 9)) {
            for bit in 0..8 {
                let original = || {
                    let mut at = 16;
                    while message[at + 4] != 4 {
                        at += u32::from_be_bytes(message[at..at + 4].try_into().unwrap()) as usize;
                    }
                    let length =
                        u32::from_be_bytes(message[at..at + 4].try_into().unwrap()) as usize;
                    (octet <= length).then(|| message[at + octet - 1])
                };
                let Some(value) = original() else { break };
                let changed = with_octet(&message, octet, value ^ (1 << bit));
                let read = |bytes: &[u8]| {
                    let field = grib::fields(bytes).next()?.ok()?;
                    let of = (field.parameter().ok()?, field.product().ok()?);
                    Some((of, MadeProduct::new(of.0, &of.1, field.reference_ms().ok()?)))
                };
                let Some((of_changed, made_changed)) = read(&changed) else { continue };
                let (of_message, made) = read(&message).unwrap();
                pairs += 1;
                // At another time, or over another interval since the start, it has a place of its own.
                let moves = of_changed.1.valid_ms != of_message.1.valid_ms
                    || of_changed.1.level != of_message.1.level && made.has_levels;
                // The same time in another notation, such as -0 hours; a delivery names the second.
                let is_same = of_changed == of_message;
                assert!(
                    made != made_changed || moves || is_same && is_notation(octet, bit),
                    "{name}: octet {octet}, bit {bit}: {made:?}"
                );
            }
        }
    }
    assert!(pairs > 300, "{pairs}");
}
