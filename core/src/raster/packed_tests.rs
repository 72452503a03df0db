use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use flate2::read::GzDecoder;

use super::*;
use crate::grib::{GRIB_MAX_POINTS, grib_fields};
use crate::raster::RasterCatalogue;

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/grib").join(name);
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn catalogue(parameter: &str, scale: f64) -> RasterCatalogue {
    let text = format!(
        "[own]\ntitle = \"<Own> & other\"\nunit = \"Pa\"\nscale = {scale}\noffset = 100000\n\
         fields = [{{ parameter = \"{parameter}\" }}]\n"
    );
    RasterCatalogue::from_toml(&text).unwrap()
}

/// Mean sea level pressure, 65 rows from the south, 93 columns.
pub(in crate::raster) fn pressure(scale: f64) -> (Vec<f32>, Raster) {
    let bytes = file("nam211_prmsl_simple.grib2.gz");
    let field = grib_fields(&bytes).next().unwrap().unwrap();
    let catalogue = catalogue("7:0.3.1", scale);
    let raster = Raster::new(&field, catalogue.get("own").unwrap(), GRIB_MAX_POINTS).unwrap();
    (field.values(GRIB_MAX_POINTS).unwrap(), raster)
}

#[test]
fn values_are_within_half_a_step_and_rows_run_south() {
    let (values, raster) = pressure(0.5);
    assert_eq!((raster.width(), raster.height(), raster.clamped()), (93, 65, 0));
    let mut greatest = 0.0_f64;
    for (row, values) in values.chunks(93).rev().enumerate() {
        for (column, &value) in values.iter().enumerate() {
            let decoded = raster.encoding().decode(raster.samples()[row * 93 + column]);
            greatest = greatest.max((decoded - f64::from(value)).abs());
        }
    }
    assert!(greatest > 0.1 && greatest <= 0.25, "{greatest}");
    assert_eq!(raster.max_error(), greatest);
    assert_eq!(Iso8601(raster.valid_ms()).to_string(), "2018-09-17T00:00:00Z");
}

#[test]
fn values_beyond_the_integers_are_counted() {
    let (values, raster) = pressure(0.01);
    let beyond = values.iter().filter(|&&value| (f64::from(value) - 1e5).abs() > 327.675).count();
    assert!(beyond > 1000);
    assert_eq!(raster.clamped(), beyond);
    assert!(raster.max_error() <= 0.005_001);
}

#[test]
fn a_rotated_grid_is_refused_plainly() {
    let bytes = file("hrdps_20260219T00Z_f000_cape.grib2.gz");
    let field = grib_fields(&bytes).next().unwrap().unwrap();
    let catalogue = catalogue("54:0.7.6", 1.0);
    let error = Raster::new(&field, catalogue.get("own").unwrap(), GRIB_MAX_POINTS).unwrap_err();
    assert_eq!(error, RasterError::Rotated);
}

/// Readers of GeoTIFFs look at the whole of it in `tests/python/test_products.py`.
#[test]
fn a_file_says_first_where_all_of_it_lies() {
    let (_, raster) = pressure(0.5);
    let mut file = Cursor::new(Vec::new());
    raster.write_cog(&mut file).unwrap();
    let bytes = file.into_inner();
    assert_eq!(bytes[..4], *b"II*\0");
    assert!(bytes[8..].starts_with(b"GDAL_STRUCTURAL_METADATA_SIZE=000140 bytes\nLAYOUT="));
    let first = u32::from_le_bytes(*bytes[4..].first_chunk().unwrap()) as usize;
    assert_eq!(first % 2, 0);
    let text = String::from_utf8_lossy(&bytes);
    for item in [
        "<Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.5</Item>",
        "<Item name=\"OFFSET\" sample=\"0\" role=\"offset\">100000</Item>",
        "<Item name=\"UNITTYPE\" sample=\"0\" role=\"unittype\">Pa</Item>",
        "role=\"description\">&lt;Own&gt; &amp; other</Item>",
        "<Item name=\"VALID_TIME\">2018-09-17T00:00:00Z</Item>",
        "<Item name=\"PACKING_ERROR\">0.25</Item>",
    ] {
        assert!(text.contains(item), "{item}");
    }
    assert!(!text.contains("CLAMPED_VALUES"));
    assert!(text.contains("<Item name=\"CHECKSUM\">CRC-32C</Item>"));
    // One tile with its last octets once more, then the checksum of all.
    let (data, seal) = bytes.split_at(bytes.len() - 12);
    let [.., a, b] = data.as_rchunks::<4>().1 else { panic!() };
    assert_eq!(a, b);
    let checksum = crc32c::crc32c(data).to_le_bytes();
    assert_eq!((&seal[..8], &seal[8..]), (&b"CRC-32C:"[..], &checksum[..]));
}
