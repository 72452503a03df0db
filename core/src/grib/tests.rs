use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;

use super::*;

/// Reads a real file of `tests/data/grib`.
fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/grib").join(name);
    let mut bytes = Vec::new();
    GzDecoder::new(File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

fn only(bytes: &[u8]) -> Field<'_> {
    let mut fields = fields(bytes);
    let field = fields.next().unwrap().unwrap();
    assert_eq!(fields.next(), None);
    field
}

const NAM: &str = "nam211_20180917T00Z_f000.grib2.gz";
const SIMPLE: &str = "nam211_prmsl_simple.grib2.gz";

#[test]
fn a_message_of_two_fields_has_two() {
    let bytes = file(NAM);
    let names: Vec<String> =
        fields(&bytes).map(|field| field.unwrap().parameter().unwrap().to_string()).collect();
    assert_eq!(
        names,
        ["7:0.3.1", "7:0.2.22", "7:0.3.5", "7:0.2.2", "7:0.2.3", "7:0.2.2", "7:0.2.3"]
    );
    let winds: Vec<_> = fields(&bytes).skip(3).take(2).map(Result::unwrap).collect();
    assert_eq!(winds[0].product().unwrap().level, Level { kind: 100, value: Some(10_000.0) });
    assert!(winds.iter().all(|wind| wind.grid().unwrap().grid_relative_winds()));
    let [u, v] = [winds[0], winds[1]].map(|wind| wind.values(MAX_POINTS).unwrap());
    assert_ne!(u, v);
}

#[test]
fn a_field_says_what_it_is_without_its_values() {
    let bytes = file("ndfd_20231102T11Z_minrh_scan80.grib2.gz");
    let field = only(&bytes);
    let product = field.product().unwrap();
    assert_eq!((product.template, product.statistic), (8, Some(3)));
    assert_eq!(product.interval_ms, 12 * crate::time::HOUR_MS);
    assert_eq!(
        crate::time::Iso8601(field.reference_ms().unwrap()).to_string(),
        "2023-11-02T11:00:00Z"
    );
    assert_eq!(crate::time::Iso8601(product.valid_ms).to_string(), "2023-11-03T06:00:00Z");
    assert_eq!(product.level, Level { kind: 103, value: Some(2.0) });
}

/// As in Canada's precipitation analysis: its interval lies before its reference time.
#[test]
fn the_length_of_an_interval_may_be_a_negative_number() {
    let mut bytes = file("ndfd_20231102T11Z_minrh_scan80.grib2.gz");
    let section = bytes.windows(5).position(|bytes| bytes == [0, 0, 0, 58, 4]).unwrap();
    bytes[section + 49..section + 53].copy_from_slice(&(-24_i32).to_be_bytes());
    assert_eq!(only(&bytes).product().unwrap().interval_ms, 24 * crate::time::HOUR_MS);
}

/// Longitudes and latitudes of corners as ecCodes gives them.
#[test]
fn the_corners_of_maps_are_where_they_are() {
    let corners = [
        ("hrrr_20240101T00Z_f000_refc.grib2.gz", [287.710282, 21.140547], [299.082807, 47.842195]),
        (
            "ndfd_20231102T11Z_minrh_scan80.grib2.gz",
            [290.79184, 20.331773],
            [299.114442, 50.105547],
        ),
        ("safrica_20100308T12Z_f000_ps.grib2.gz", [78.710737, -33.184361], [52.961057, -0.461795]),
        (NAM, [294.908725, 14.334642], [310.614903, 57.289404]),
    ];
    for (name, end_of_first_row, end_of_last_row) in corners {
        let bytes = file(name);
        let grid = fields(&bytes).next().unwrap().unwrap().grid().unwrap();
        let GridGeometry::Projected { projection, first_lon, first_lat, dx_m, dy_m } =
            grid.geometry()
        else {
            panic!("{name}: {grid:?}")
        };
        let first = projection.forward(first_lon, first_lat);
        for ([lon, lat], row) in [(end_of_first_row, 0), (end_of_last_row, grid.rows() - 1)] {
            let (x, y) = projection.forward(lon, lat);
            let column = (x - first.0) / dx_m;
            // ecCodes rounds to millionths of a degree, a tenth of a metre.
            assert!((column - (grid.columns() - 1) as f64).abs() < 1e-4, "{name}: {column}");
            assert!(((y - first.1) / dy_m - row as f64).abs() < 1e-4, "{name}: row {row}");
        }
    }
}

#[test]
fn data_between_messages_are_skipped_and_a_broken_message_affects_no_other() {
    let whole = file(SIMPLE);
    let mut broken = whole.clone();
    // The length of section 1.
    broken[19] = 200;
    let bytes = [b"GRIB\0\0\0\x01", &whole[..], b"\r\r\nHEADER\n", &broken, &whole].concat();
    let read: Vec<_> = fields(&bytes).collect();
    assert_eq!(read.len(), 4);
    assert_eq!(read[0], Err(GribError::Edition(1)));
    assert!(matches!(read[2], Err(GribError::Sections { .. } | GribError::Order { .. })));
    assert_eq!(read[1].as_ref().unwrap(), read[3].as_ref().unwrap());
}

#[test]
fn a_file_that_is_cut_is_an_error_wherever_it_is_cut() {
    let whole = file(SIMPLE);
    for length in (8..whole.len()).step_by(7) {
        let errors = fields(&whole[..length]).filter(Result::is_err).count();
        assert_eq!((fields(&whole[..length]).count(), errors), (1, 1), "{length}");
    }
}

#[test]
fn no_changed_octet_makes_it_panic() {
    for name in [SIMPLE, NAM, "safrica_20100308T12Z_f000_ps.grib2.gz"] {
        let mut bytes = file(name);
        let end = bytes.len().min(600);
        for at in 8..end {
            for change in [0x01, 0x80, 0xff] {
                bytes[at] ^= change;
                for field in fields(&bytes).take(1).flatten() {
                    let _ = (field.parameter(), field.product(), field.grid());
                    let _ = field.values(10_000);
                }
                bytes[at] ^= change;
            }
        }
    }
}

#[test]
fn an_image_that_would_take_memory_for_nothing_is_refused() {
    let whole = file("safrica_20100308T12Z_f000_ps.grib2.gz");
    let start = whole.windows(4).position(|bytes| bytes == b"\xff\x4f\xff\x51").unwrap();
    let coding = start + whole[start..].windows(2).position(|bytes| bytes == b"\xff\x52").unwrap();
    let with = |at: usize, octets: &[u8]| {
        let mut bytes = whole.clone();
        bytes[at..at + octets.len()].copy_from_slice(octets);
        let field = fields(&bytes).next().unwrap().unwrap();
        field.values(MAX_POINTS).map(drop).map_err(|error| error.to_string())
    };
    let refusal = |reason: &str| Err(format!("cannot unpack the JPEG 2000 data: {reason}"));
    assert_eq!(with(coding, b"\xff\x52"), Ok(()));
    assert_eq!(with(coding + 4, &[1]), refusal("it defines precincts"));
    assert_eq!(with(coding + 10, &[1, 2]), refusal("its code-blocks are too small"));
    assert_eq!(with(start + 27, &[1]), refusal("it has several tiles"));
    assert_eq!(with(start + 11, &[209]), refusal("it has 209 × 140 pixels for 29400 values"));
    assert_eq!(with(start + 41, &[2]), refusal("it must have exactly one component"));
}

#[test]
fn a_field_of_too_many_points_is_refused_before_anything_is_unpacked() {
    let bytes = file(SIMPLE);
    assert_eq!(
        only(&bytes).values(6_044).unwrap_err().to_string(),
        "the field has 6045 points; the limit is 6044"
    );
}

#[test]
fn numbers_that_mark_missing_values_are_not_values() {
    let bytes = file("hrdps_20260219T00Z_f000_cape.grib2.gz");
    let values = only(&bytes).values(MAX_POINTS).unwrap();
    // ecCodes finds 2943598 values of −1.
    assert_eq!(values.iter().filter(|value| value.is_nan()).count(), 2_943_598);
}

/// A past bug: MRMS's −99 was missing like −999, so a clear sky looked like a place without radar
/// coverage.
#[test]
fn no_echo_is_a_value_and_no_coverage_is_none() {
    let bytes = file(
        "../../../server-example/sample/mrms_20230406T120039Z_reflectivity_at_lowest_altitude.grib2.gz",
    );
    let field = only(&bytes);
    let values = field.values(MAX_POINTS).unwrap();
    // The counts of −999 and −99 among its 24,500,000 values are those of ecCodes.
    assert_eq!(values.iter().filter(|value| value.is_nan()).count(), 8_528_048);
    let no_echo = field.parameter().unwrap().no_echo().unwrap();
    assert_eq!(values.iter().filter(|&&value| value == no_echo).count(), 15_041_671);
    assert!(values[21 * 7000 + 260].is_nan() && values[44 * 7000 + 1074] == -99.0);
    assert!(values.iter().all(|&value| value.is_nan() || value == no_echo || value >= -31.0));
    assert_eq!(
        field.cf_attributes().unwrap()["comment"],
        "-99 is no echo where a radar sees; a place that none sees has no value"
    );
}

/// A message like those of NDFD: complex packing with missing values and no bits for its
/// references.
#[test]
fn a_group_of_width_0_without_bits_for_its_reference_is_missing() {
    let path = "/../tests/data/reported/grib/c1_nbits0_zero_width_group_is_missing.grib2";
    let bytes = std::fs::read(format!("{}{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let field = fields(&bytes).next().unwrap().unwrap();
    let values = field.values(MAX_POINTS).unwrap();
    assert_eq!(values.iter().filter(|value| value.is_nan()).count(), 345);
}
