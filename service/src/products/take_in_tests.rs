use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use mesonet::raster;

use super::*;
use crate::files::FileLimits;

fn unbounded() -> Budget {
    Budget::new(FileLimits::default(), 0)
}

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/grib").join(name);
    let mut bytes = Vec::new();
    GzDecoder::new(fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Pressure in two products, wind in one.
fn catalogue() -> raster::RasterCatalogue {
    let own = "\
        [pressure]\ntitle = \"Pressure\"\nunit = \"Pa\"\nscale = 1\noffset = 100000\n\
        fields = [{ parameter = \"7:0.3.1\" }]\n\
        [pressureToo]\ntitle = \"Pressure\"\nunit = \"Pa\"\nscale = 0.01\noffset = 100000\n\
        fields = [{ parameter = \"7:0.3.1\" }]\n\
        [jet]\ntitle = \"Wind at 100 hPa\"\nunit = \"m/s\"\nscale = 0.01\n\
        fields = [{ parameter = \"7:0.2.2\", level = \"100:10000\" }]\n";
    raster::RasterCatalogue::from_toml(own).unwrap()
}

/// Every file below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> =
        paths.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect();
    all.sort();
    all
}

#[test]
fn fields_are_told_apart_and_what_may_be_two_products_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = ProductFiles::new(folder.path(), catalogue());
    let bytes = file("nam211_20180917T00Z_f000.grib2.gz");
    let mut summary = ProductSummary::default();
    take_in(ProductSink { files: &files, only: None }, "nam", &bytes, &unbounded(), &mut summary)
        .unwrap();
    assert_eq!((summary.files, summary.written.count, summary.other_fields), (1, 1, 5));
    assert_eq!(
        summary.refused.first[0].error,
        "a field of 7:0.3.1 may belong to pressure (instant), \
        pressureToo (instant); choose one with --product"
    );
    let jet = &summary.written.first[0];
    assert_eq!((&*jet.product, &*jet.duration), ("jet", "instant"));
    assert_eq!((&*jet.timestamp, jet.width, jet.height), ("2018-09-17T00:00:00Z", 93, 65));
    assert!(jet.packing_error <= 0.005 && jet.clamped == 0);
    let written = below(folder.path());
    assert_eq!(written.len(), 1);
    assert!(written[0].ends_with("products/jet/instant/20180917T000000Z.tif"));
    assert_eq!(fs::metadata(&written[0]).unwrap().len(), jet.bytes);
}

#[test]
fn a_product_that_is_named_takes_its_fields_only_and_replaces_a_file_that_differs() {
    let folder = tempfile::tempdir().unwrap();
    let files = ProductFiles::new(folder.path(), catalogue());
    let bytes = file("nam211_20180917T00Z_f000.grib2.gz");
    let mut lengths = Vec::new();
    let take = |name| {
        let catalogue = files.catalogue();
        let only = catalogue.get(name);
        let mut summary = ProductSummary::default();
        take_in(ProductSink { files: &files, only }, "nam", &bytes, &unbounded(), &mut summary)
            .unwrap();
        summary
    };
    for name in ["pressure", "pressureToo", "pressureToo"] {
        let summary = take(name);
        assert_eq!((summary.written.count, summary.unchanged, summary.other_fields), (1, 0, 6));
        lengths.push((summary.written.first[0].bytes, summary.written.first[0].clamped));
        // A file of another version.
        if name == "pressureToo" {
            let all = below(folder.path());
            let path = all.iter().find(|path| path.to_string_lossy().contains(name)).unwrap();
            assert_eq!(fs::metadata(path).unwrap().len(), lengths[1].0);
            fs::write(path, "other").unwrap();
        }
    }
    assert!(lengths[0].1 == 0 && lengths[1].1 > 1000 && lengths[1] == lengths[2]);
    assert_eq!((take("pressure").written.count, take("pressure").unchanged), (0, 1));
    assert_eq!(below(folder.path()).len(), 2, "nothing temporary is left");
}

#[test]
fn a_file_without_a_product_says_what_it_holds() {
    let folder = tempfile::tempdir().unwrap();
    let files = ProductFiles::new(folder.path(), raster::RasterCatalogue::default());
    let refusal = |only, bytes: &[u8]| {
        let catalogue = files.catalogue();
        let only = catalogue.get(only);
        let mut summary = ProductSummary::default();
        take_in(ProductSink { files: &files, only }, "x", bytes, &unbounded(), &mut summary)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refusal("", &file("nam211_20180917T00Z_f000.grib2.gz")),
        "none of its fields belongs to a product of the catalogue; it holds 7:0.3.1, \
         7:0.2.22, 7:0.3.5, 7:0.2.2, 7:0.2.3, …; a file of a model goes into the folder models/NAME/ of a \
         watched folder, or is read with --model NAME"
    );
    assert_eq!(
        refusal("hailSize", b"METAR CYYZ"),
        "none of its fields belongs to the product hailSize; it holds no fields"
    );
    let whole = file("nam211_prmsl_simple.grib2.gz");
    assert_eq!(refusal("", &whole[..1000]), "the message is cut short: got 1000 of 10767 octets");
    assert!(below(folder.path()).is_empty());
}
