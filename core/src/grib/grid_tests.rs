use super::*;

/// Section 3 of a grid of latitudes and longitudes in millionths of a degree.
fn lat_lon(columns: u32, rows: u32, corners: [i32; 4], steps: [u32; 2], scan: u8) -> Vec<u8> {
    let mut section = vec![0; 72];
    let mut put = |octet: usize, number: u32| {
        section[octet - 1..octet + 3].copy_from_slice(&number.to_be_bytes());
    };
    put(7, columns * rows);
    put(31, columns);
    put(35, rows);
    put(43, u32::MAX);
    let signed = |number: i32| number.unsigned_abs() | if number < 0 { 1 << 31 } else { 0 };
    put(47, signed(corners[0]));
    put(51, signed(corners[1]));
    put(56, signed(corners[2]));
    put(60, signed(corners[3]));
    put(64, steps[0]);
    put(68, steps[1]);
    section[14] = 6;
    section[71] = scan;
    section
}

fn read(bytes: &[u8]) -> Result<Grid, GribError> {
    Grid::read(Octets { section: 3, bytes })
}

#[track_caller]
fn axes(bytes: &[u8]) -> LatLonAxes {
    match read(bytes).unwrap().geometry() {
        GridGeometry::LatLon(axes) => axes,
        other => panic!("{other:?}"),
    }
}

#[test]
fn axes_go_the_way_the_flags_say() {
    let corners = [54_995_000, 230_005_000, 20_005_001, 299_994_998];
    let mrms = axes(&lat_lon(7000, 3500, corners, [10_000, 10_000], 0));
    assert_eq!((mrms.first_lon, mrms.lon_step), (230.005, 0.01));
    assert_eq!((mrms.first_lat, mrms.lat_step), (54.995, -0.01));
    let corners = [-10_000_000, 30_000_000, 10_000_000, 10_000_000];
    let west = axes(&lat_lon(3, 3, corners, [10_000_000, 10_000_000], 0xc0));
    assert_eq!((west.lon_step, west.lat_step), (-10.0, 10.0));
}

#[test]
fn steps_that_are_missing_or_rounded_come_from_the_ends() {
    let corners = [90_000_000, 0, -90_000_000, 359_916_667];
    let rounded = axes(&lat_lon(4320, 3, corners, [83_333, 90_000_000], 0));
    assert!((rounded.lon_step - 1.0 / 12.0).abs() < 1e-9, "{}", rounded.lon_step);
    let missing = axes(&lat_lon(4320, 3, corners, [u32::MAX, u32::MAX], 0));
    assert_eq!((missing.lon_step, missing.lat_step), (rounded.lon_step, -90.0));
    // Across the meridian of Greenwich, and all the way round with both ends.
    let across =
        axes(&lat_lon(21, 2, [0, 350_000_000, 1_000_000, 10_000_000], [u32::MAX; 2], 0x40));
    assert_eq!(across.lon_step, 1.0);
    let round = axes(&lat_lon(361, 2, [0, 0, 1_000_000, 360_000_000], [u32::MAX; 2], 0x40));
    assert_eq!(round.lon_step, 1.0);
    let error = read(&lat_lon(1, 1, [0; 4], [u32::MAX; 2], 0)).unwrap_err();
    assert_eq!(error.to_string(), "invalid grid: the step between its points is not given");
}

/// In millionths of a degree: the stated step counts unless the ends would be missed by more than
/// three of them, or the ends imply quite a different step.
#[test]
fn a_rounded_step_gives_way_to_the_ends_only_where_these_would_miss() {
    let unit = 1e-6;
    let of = |how: AxisStep, raw, span, points| how.of_axis(raw, unit, span, points).unwrap();
    let is = |got: f64, expected: f64| assert!((got - expected).abs() < 1e-12, "{got} {expected}");
    for how in [AxisStep::Stated, AxisStep::OfEnds] {
        // Twelve to the degree, over half the globe: 0.00072° off at the end.
        is(of(how, 83_333, 180.0, 2_161), 180.0 / 2_160.0);
        // Another step than that of the ends: these may be given round the globe.
        is(of(how, 1_000_000, 2.0, 2), 1.0);
        is(of(how, 250_002, 0.25, 2), 0.250_002);
        // Without usable ends.
        is(of(how, 250_000, 0.0, 10), 0.25);
        is(of(how, 250_000, 10.0, 1), 0.25);
        // Without a stated step.
        is(of(how, u32::MAX, 1.0, 5), 0.25);
        is(of(how, 0, 1.0, 5), 0.25);
        assert!(how.of_axis(0, unit, 1.0, 1).is_err() && how.of_axis(0, unit, 0.0, 5).is_err());
    }
    // Thirds of a degree, off by a millionth at the end.
    is(of(AxisStep::Stated, 333_333, 1.0, 4), 0.333_333);
    is(of(AxisStep::OfEnds, 333_333, 1.0, 4), 1.0 / 3.0);
}

#[test]
fn invalid_grids_are_refused() {
    let good = lat_lon(3, 3, [0, 0, 2_000_000, 2_000_000], [1_000_000; 2], 0x40);
    let with = |octet: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[octet - 1] = byte;
        read(&bytes).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(with(72, 0x40), Ok(()));
    for (octet, byte, refusal) in [
        (10, 8, "unexpected number of points: got 9; expected 8"),
        (34, 0, "invalid grid: it has no points"),
        (11, 1, "unsupported meaning of the lengths of rows 0; supported: 1, 2"),
        (15, 10, "unsupported shape of the Earth 10; supported: 0 to 9"),
        (47, 0x7f, "invalid grid: its first point is not on the globe"),
        (
            72,
            0x41,
            "unsupported scanning mode 65; supported: modes without an offset of points \
             (bits 5–8)",
        ),
        (
            13,
            0x80,
            "unsupported grid template (Arakawa E-staggered, rotated) 32768; supported: 0 \
             (latitude and longitude), 1 (rotated), 10 (Mercator), 20 (polar stereographic), 30 \
             (Lambert), 40 (Gaussian), 32769 (NCEP's rotated)",
        ),
    ] {
        assert_eq!(with(octet, byte), Err(refusal.to_owned()));
    }
    assert_eq!(
        read(&good[..71]).unwrap_err().to_string(),
        "section 3 is cut short: it has 71 octets"
    );
}

#[test]
fn values_are_put_in_rows_that_run_one_way() {
    let rows = |columns, rows, scan: u8| {
        let grid = lat_lon(columns, rows, [0, 0, 9, 9], [9; 2], scan);
        let section = Octets { section: 3, bytes: &grid };
        read(&grid).unwrap().in_rows((1..=6_i8).map(f32::from).collect(), section)
    };
    assert_eq!(rows(3, 2, 0x00), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(rows(3, 2, 0x50), [1.0, 2.0, 3.0, 6.0, 5.0, 4.0]);
    assert_eq!(rows(3, 2, 0x20), [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    assert_eq!(rows(3, 2, 0x30), [1.0, 4.0, 5.0, 2.0, 3.0, 6.0]);
}
