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
