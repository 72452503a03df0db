use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use flate2::read::GzDecoder;

use super::*;
use crate::grib;
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
    let field = grib::fields(&bytes).next().unwrap().unwrap();
    let catalogue = catalogue("7:0.3.1", scale);
    let raster = Raster::new(&field, catalogue.get("own").unwrap(), grib::MAX_POINTS).unwrap();
    (field.values(grib::MAX_POINTS).unwrap(), raster)
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

/// Returns the message with its packing section changed.
fn with_packing(message: &[u8], change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut message = message.to_vec();
    let mut at = 16;
    while message[at + 4] != 5 {
        at += u32::from_be_bytes(message[at..at + 4].try_into().unwrap()) as usize;
    }
    let octets = u32::from_be_bytes(message[at..at + 4].try_into().unwrap()) as usize;
    change(&mut message[at..at + octets]);
    message
}

#[test]
fn a_field_of_one_value_makes_the_file_that_its_pixels_would_make() {
    let packed = file("nam211_prmsl_simple.grib2.gz");
    let catalogue = catalogue("7:0.3.1", 0.5);
    // Unchanged, with a reference of 101325 Pa, and with a reference that is too large to pack.
    for (reference, clamped) in [(None, 0), (Some(101_325_f32), 0), (Some(2e6), 65 * 93)] {
        let message = with_packing(&packed, |section| {
            section[19] = 0;
            if let Some(reference) = reference {
                section[11..15].copy_from_slice(&reference.to_be_bytes());
                section[15..19].fill(0);
            }
        });
        let field = grib::fields(&message).next().unwrap().unwrap();
        let values = field.values(grib::MAX_POINTS).unwrap();
        let one = field.one_value(grib::MAX_POINTS).unwrap().unwrap();
        assert!(reference.is_none_or(|reference| reference == one));
        assert!(values.len() == 65 * 93 && values.iter().all(|value| *value == one));
        assert!(field.one_value(65 * 93 - 1).is_err(), "more points than there may be");
        assert!(field.work_cells().unwrap() < 300_000);

        let raster = Raster::new(&field, catalogue.get("own").unwrap(), grib::MAX_POINTS).unwrap();
        assert!(matches!(raster.level.samples, Samples::All(_)));
        assert_eq!(raster.clamped(), clamped);
        let mut expanded = raster.clone();
        expanded.level.samples = Samples::Each(raster.samples().into_owned());
        let cog = |raster: &Raster| {
            let mut out = Cursor::new(Vec::new());
            raster.write_cog(&mut out).unwrap();
            out.into_inner()
        };
        assert_eq!(cog(&raster), cog(&expanded));
    }
    // Other fields are not constant; they cost as much as their cells.
    let field = grib::fields(&packed).next().unwrap().unwrap();
    assert_eq!(field.one_value(grib::MAX_POINTS), Ok(None));
    assert!(field.work_cells().unwrap() > (1 << 18) + 65 * 93);
    let message = with_packing(&packed, |section| section[5..9].fill(9));
    let message = with_packing(&message, |section| section[19] = 0);
    let field = grib::fields(&message).next().unwrap().unwrap();
    let lies = field.one_value(grib::MAX_POINTS).unwrap_err();
    assert_eq!(Err(lies), field.values(grib::MAX_POINTS));
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
    let field = grib::fields(&bytes).next().unwrap().unwrap();
    let catalogue = catalogue("54:0.7.6", 1.0);
    let error = Raster::new(&field, catalogue.get("own").unwrap(), grib::MAX_POINTS).unwrap_err();
    assert_eq!(error, RasterError::Grid("a rotated grid of longitudes and latitudes"));
}

/// GeoTIFF readers check all of it in `tests/python/test_products.py`.
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
    // One tile with its last octets repeated, then the checksum of everything.
    let (data, seal) = bytes.split_at(bytes.len() - 12);
    let [.., a, b] = data.as_rchunks::<4>().1 else { panic!() };
    assert_eq!(a, b);
    let checksum = crc32c::crc32c(data).to_le_bytes();
    assert_eq!((&seal[..8], &seal[8..]), (&b"CRC-32C:"[..], &checksum[..]));
}
